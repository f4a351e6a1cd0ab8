/*
 * View of a frame, see view.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/view.h"

#include <errno.h>
#include <string.h>

#include "stages/pyramid/pyramid.h"

#define R SX_MOTION_CENSUS_RADIUS

static uint32_t describe(const struct sx_image *grey, int x, int y)
{
	const uint8_t centre = ((const uint8_t *)sx_image_row(grey, y))[x];
	uint32_t bits = 0;

	for (int dy = -R; dy <= R; dy++) {
		const uint8_t *row = sx_image_row(grey, y + dy);

		for (int dx = -R; dx <= R; dx++)
			if (dx || dy)
				bits = bits << 1 | (row[x + dx] > centre);
	}
	return bits;
}

void sx_motion_census(const struct sx_image *grey, const struct sx_image *descriptors)
{
	for (int y = 0; y < grey->height; y++) {
		uint32_t *row = sx_image_row(descriptors, y);
		const bool rows = y >= R && y < grey->height - R;

		for (int x = 0; x < grey->width; x++)
			row[x] = rows && x >= R && x < grey->width - R ? describe(grey, x, y) : 0;
	}
}

int sx_motion_view_take(struct sx_motion_view *view, int width, int height)
{
	struct sx_motion_view v = {0};
	int r;

	sx_motion_view_finish(view);
	r = sx_image_init(&v.grey, SX_PIXEL_U8, width, height);
	if (r == 0)
		r = sx_image_init(&v.disparity, SX_PIXEL_U16, width, height);
	if (r == 0)
		r = sx_image_init(&v.half, SX_PIXEL_U8, (width + 1) / 2, (height + 1) / 2);
	if (r == 0)
		r = sx_image_init(&v.census, SX_PIXEL_U32, width, height);
	if (r == 0)
		r = sx_image_init(&v.half_census, SX_PIXEL_U32, (width + 1) / 2, (height + 1) / 2);
	if (r < 0) {
		sx_motion_view_finish(&v);
		return r;
	}
	*view = v;
	return 0;
}

int sx_motion_view_init(struct sx_motion_view *ret, const struct sx_image *grey,
			const struct sx_image *disparity)
{
	struct sx_motion_view v = {0};
	int r;

	if (grey->pixel != SX_PIXEL_U8 || disparity->pixel != SX_PIXEL_U16 ||
	    disparity->width != grey->width || disparity->height != grey->height)
		return -EINVAL;
	r = sx_motion_view_take(&v, grey->width, grey->height);
	if (r < 0)
		return r;
	sx_motion_view_fill(&v, grey, disparity);
	*ret = v;
	return 0;
}

void sx_motion_view_fill(struct sx_motion_view *view, const struct sx_image *grey,
			 const struct sx_image *disparity)
{
	sx_image_copy(&view->grey, grey);
	sx_image_copy(&view->disparity, disparity);
	sx_pyramid_halve(&view->grey, &view->half);
	sx_motion_census(&view->grey, &view->census);
	sx_motion_census(&view->half, &view->half_census);
}

size_t sx_motion_view_bytes(const struct sx_motion_view *view)
{
	const struct sx_image *images[] = {&view->grey, &view->half, &view->census, &view->half_census,
					   &view->disparity};
	size_t bytes = 0;

	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++)
		bytes += images[i]->pitch * (size_t)images[i]->height;
	return bytes;
}

void sx_motion_view_finish(struct sx_motion_view *view)
{
	sx_image_finish(&view->grey);
	sx_image_finish(&view->half);
	sx_image_finish(&view->census);
	sx_image_finish(&view->half_census);
	sx_image_finish(&view->disparity);
}

bool sx_motion_view_repeats(const struct sx_motion_view *a, const struct sx_motion_view *b)
{
	if (a->grey.width != b->grey.width || a->grey.height != b->grey.height)
		return false;
	for (int y = 0; y < a->grey.height; y++)
		if (memcmp(sx_image_row(&a->grey, y), sx_image_row(&b->grey, y), (size_t)a->grey.width))
			return false;
	return true;
}
