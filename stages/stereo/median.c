/*
 * Median filter, 3x3.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/median.h"

static uint16_t pixel_at(const struct sx_image *img, int x, int y)
{
	return ((const uint16_t *)sx_image_row(img, y))[x];
}

static uint16_t median_around(const struct sx_image *img, int x, int y)
{
	uint16_t v[9];
	int n = 0;

	for (int dy = -1; dy <= 1; dy++) {
		for (int dx = -1; dx <= 1; dx++) {
			uint16_t p = pixel_at(img, x + dx, y + dy);
			int i = n++;

			for (; i > 0 && v[i - 1] > p; i--)
				v[i] = v[i - 1];
			v[i] = p;
		}
	}
	return v[4];
}

void sx_median(const struct sx_image *src, const struct sx_image *dst, enum sx_median_border border)
{
	for (int y = 0; y < src->height; y++) {
		uint16_t *out = sx_image_row(dst, y);

		for (int x = 0; x < src->width; x++) {
			if (x > 0 && x < src->width - 1 && y > 0 && y < src->height - 1)
				out[x] = median_around(src, x, y);
			else
				out[x] = border == SX_MEDIAN_BORDER_COPY ? pixel_at(src, x, y) : 0;
		}
	}
}
