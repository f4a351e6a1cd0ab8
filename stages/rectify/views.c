/*
 * Views: the part of a rectified pair that can be matched.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/rectify/views.h"

bool sx_views_are_whole(const struct sx_row_view *view, int width, int height)
{
	for (int y = 0; y < height; y++)
		if (view[y].first != 0 || view[y].end != width)
			return false;
	return true;
}

static bool contains(struct sx_row_view view, int x)
{
	return x >= view.first && x < view.end;
}

void sx_views_hide(const struct sx_image *winner, const struct sx_row_view *left,
		   const struct sx_row_view *right, int min_disparity, int y0, int y1)
{
	for (int y = y0; y < y1; y++) {
		uint16_t *row = sx_image_row(winner, y);

		for (int x = 0; x < winner->width; x++) {
			const int partner = x - (row[x] >> 4) - min_disparity;

			if (!contains(left[y], x) ||
			    (partner >= 0 && partner < winner->width && !contains(right[y], partner)))
				row[x] = SX_DISPARITY_INVALID;
		}
	}
}
