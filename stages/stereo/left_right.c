/*
 * Left-right consistency check.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/left_right.h"

#include <stdbool.h>
#include <stdlib.h>

#include "stages/stereo/flat.h"

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

static bool any_is_flat(const uint8_t *flat, int tiles)
{
	uint8_t all = 0;

	for (int i = 0; i < tiles; i++)
		all |= flat[i];
	return all & SX_TILE_FLAT;
}

/*
 * Hides the pixels of one row in flat tiles. left: the row with the disparities to the partners; out: the row
 * that is changed.
 */
static void hide_flat_row(const uint16_t *left, const uint8_t *flat_left, const uint8_t *flat_right,
			  int width, int min_disparity, uint16_t *out)
{
	const int tiles = SX_FLAT_TILES(width);
	const bool in_left = any_is_flat(flat_left, tiles), in_right = any_is_flat(flat_right, tiles);

	for (int x = 0; in_left && x < width; x++)
		if (flat_left[x / SX_FLAT_TILE] & SX_TILE_FLAT)
			out[x] = SX_DISPARITY_INVALID;
	for (int x = 0; in_right && x < width; x++) {
		const int partner = x - (left[x] >> 4) - min_disparity;

		if (partner >= 0 && partner < width && flat_right[partner / SX_FLAT_TILE] & SX_TILE_FLAT)
			out[x] = SX_DISPARITY_INVALID;
	}
}

void sx_left_right_hide_flat(const struct sx_image *left, const struct sx_image flat[2],
			     const struct sx_image *dst, int min_disparity, int y0, int y1)
{
	for (int y = y0; y < y1; y++)
		hide_flat_row(sx_image_row(left, y), sx_image_row(&flat[0], y / SX_FLAT_TILE),
			      sx_image_row(&flat[1], y / SX_FLAT_TILE), left->width, min_disparity,
			      sx_image_row(dst, y));
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
