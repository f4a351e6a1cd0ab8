/*
 * Left-right consistency check.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/left_right.h"

#include <stdlib.h>

static bool is_consistent(const uint16_t *right, int width, int x, int d, const struct sx_filter_params *f,
			  const struct sx_stereo_params *p)
{
	int k = x - d, partner = k - p->min_disparity;

	if (f->left_right < 0)
		return true;
	if (k >= 0 && abs(right[k] - d) > f->left_right)
		return false;
	return f->left_right_keep ||
	       (k >= 0 && partner >= 0 && partner < width && x < width - sx_left_right_border(p));
}

void sx_left_right(const struct sx_image *left, const struct sx_image *right, const struct sx_image *dst,
		   const struct sx_filter_params *f, const struct sx_stereo_params *p)
{
	for (int y = 0; y < left->height; y++) {
		const uint16_t *l = sx_image_row(left, y), *r = sx_image_row(right, y);
		uint16_t *out = sx_image_row(dst, y);

		for (int x = 0; x < left->width; x++) {
			int q4 = l[x] + 16 * p->min_disparity;

			if (l[x] == SX_DISPARITY_INVALID ||
			    !is_consistent(r, left->width, x, l[x] >> 4, f, p))
				out[x] = SX_DISPARITY_INVALID;
			else
				out[x] = (uint16_t)(q4 > 0 ? q4 : 0);
		}
	}
}
