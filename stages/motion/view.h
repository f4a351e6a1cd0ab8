/*
 * View of a frame: what its images become once, before features are searched in it or from it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_VIEW_H
#define SX_STAGES_MOTION_VIEW_H

#include "stages/motion/motion.h"

#define SX_MOTION_CENSUS_RADIUS 2 /* px */

/*
 * Computes descriptors of 24 bits: census of 5x5. grey: U8. descriptors: U32, same size. Bit k, from the most
 * significant of the 24 down, is I(x + dx, y + dy) > I(x, y) for dy = -2..2, dx = -2..2 without the centre.
 * 0 where the window is not wholly inside. Zabih, Woodfill: Non-parametric local transforms.
 */
void sx_motion_census(const struct sx_image *grey, const struct sx_image *descriptors);

/*
 * Makes a view of copies of a frame's rectified left image (U8) and its final disparity map (U16 Q4), which
 * have the same size. Computes half (sx_pyramid_halve()) and the descriptors. -EINVAL: formats or sizes
 * differ; -ENOMEM. finish frees the view, accepts a zeroed one, and zeroes it.
 */
int sx_motion_view_init(struct sx_motion_view *ret, const struct sx_image *grey,
			const struct sx_image *disparity);
void sx_motion_view_finish(struct sx_motion_view *view);
/* Frees a view, and allocates the images of another one. Returns 0, -EINVAL or -ENOMEM; then the view is zeroed. */
int sx_motion_view_take(struct sx_motion_view *view, int width, int height);
/* Fills a view that was taken in this size, as sx_motion_view_init() does. */
void sx_motion_view_fill(struct sx_motion_view *view, const struct sx_image *grey,
			 const struct sx_image *disparity);
size_t sx_motion_view_bytes(const struct sx_motion_view *view); /* memory of its images */

/*
 * Returns the disparity at a pixel, 1/256 px: the mean of those of the 3x3 neighbours that differ from it by
 * less than 1 px, rounded, half up. 0: the pixel has none, or lies in the first or last row or column.
 */
SX_MOTION_INLINE int32_t sx_motion_disparity_q8(const struct sx_image *disparity, int x, int y)
{
	const uint16_t *rows =
		(const uint16_t *)((const char *)disparity->data + (size_t)y * disparity->pitch);
	const ptrdiff_t pitch = (ptrdiff_t)(disparity->pitch / sizeof(*rows));
	int32_t sum = 0, count = 0, centre;

	if (x < 1 || y < 1 || x >= disparity->width - 1 || y >= disparity->height - 1)
		return 0;
	centre = rows[x];
	if (centre == SX_DISPARITY_INVALID)
		return 0;
	for (int dy = -1; dy <= 1; dy++) {
		const uint16_t *row = rows + dy * pitch;

		for (int dx = -1; dx <= 1; dx++) {
			const int32_t d = row[x + dx];

			if (d == SX_DISPARITY_INVALID || d - centre >= 16 || centre - d >= 16)
				continue;
			sum += d;
			count++;
		}
	}
	return (32 * sum + count) / (2 * count);
}

/* Returns true if all grey levels of two views are equal: a camera that repeats its picture. */
bool sx_motion_view_repeats(const struct sx_motion_view *a, const struct sx_motion_view *b);

#endif
