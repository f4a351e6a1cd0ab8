/*
 * Smoothing of the finished map, see smooth.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/smooth.h"

enum { R = SX_SMOOTH_RADIUS };

/*
 * Returns the smoothed value of the pixel `at` in a line whose pixels are `step` elements apart. `before`
 * pixels of the line lie before it, `behind` after it.
 */
static uint16_t smooth_pixel(const uint16_t *at, ptrdiff_t step, int before, int behind)
{
	uint16_t sorted[2 * R + 1];
	int n = 0;

	for (int i = before < R ? -before : -R; i <= R && i <= behind; i++) {
		const uint16_t d = at[i * step];
		int k = n;

		if (d == SX_DISPARITY_INVALID)
			continue;
		for (; k > 0 && sorted[k - 1] > d; k--)
			sorted[k] = sorted[k - 1];
		sorted[k] = d;
		n++;
	}
	return *at != SX_DISPARITY_INVALID || n >= SX_SMOOTH_CLOSES ? sorted[n / 2] : SX_DISPARITY_INVALID;
}

void sx_smooth(const struct sx_image *src, const struct sx_image *dst)
{
	const int width = src->width, height = src->height;
	const ptrdiff_t down = (ptrdiff_t)(src->pitch / sizeof(uint16_t));

	for (int y = 0; y < height; y++) {
		const uint16_t *in = sx_image_row(src, y);
		uint16_t *out = sx_image_row(dst, y);
		uint16_t kept[R]; /* values of this row that the second pass has overwritten */

		for (int x = 0; x < width; x++)
			out[x] = smooth_pixel(in + x, down, y, height - 1 - y);
		for (int x = 0; x < width; x++) {
			uint16_t line[2 * R + 1];
			int before = x < R ? x : R, behind = width - 1 - x < R ? width - 1 - x : R;

			for (int i = -before; i <= behind; i++)
				line[R + i] = i < 0 ? kept[(x + i) % R] : out[x + i];
			kept[x % R] = out[x];
			out[x] = smooth_pixel(line + R, 1, before, behind);
		}
	}
}
