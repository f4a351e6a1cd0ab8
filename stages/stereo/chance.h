/*
 * Dim areas that were matched by chance: both images show something there, but not the same thing. It is the noise of
 * a sensor in the dark or behind a cover. Aggregation carries a disparity through such an area, and the left-right
 * check agrees with it, but the descriptors of matched pixels differ there as much as those of any two pixels.
 *
 * Unrelated descriptors, of which shares a and b of the bits are set, differ in a (1 - b) + b (1 - a) of their bits.
 * Measured on pictures of KITTI 2015 with 31 bits: the median of areas with a right disparity is 0.38 of that, and
 * 0.80 in one of a hundred; of noise 0.88, and 0.81 in one of a hundred. Bright areas are not asked: under noise the
 * weak texture of a lit wall is hard to tell from none, and two thirds of what is measured of it is right.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_CHANCE_H
#define SX_STAGES_STEREO_CHANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/image.h"
#include "stages/params/params.h"
#include "stages/stereo/census.h"
#include "stages/stereo/flat.h"

#define SX_CHANCE_WIDTH 4096		     /* px of an image at most */
#define SX_CHANCE_REACH (SX_FLAT_SQUARE - 2) /* tiles that the squares of a tile reach to each side */
#define SX_CHANCE_PIXELS 60		     /* of a square that must have a disparity, out of 200 */

/* Sums over the pixels of a tile, or of more of them, in even rows that have a disparity and two descriptors. */
struct sx_chance_sums {
	int16_t pixels;
	int16_t differ;	     /* bits that differ between a pixel and its partner */
	int16_t left, right; /* bits that are set in the left, and in the right descriptor */
};

/* True if descriptors differ by at least 3/4 of what unrelated ones do. bits: of a descriptor, 63 at most. */
SX_FLAT_INLINE bool sx_chance_is(const struct sx_chance_sums *s, int bits)
{
	const int32_t all = s->pixels * bits;

	/* at most 200 pixels: no product is above 3 * 12600^2 */
	return s->pixels >= SX_CHANCE_PIXELS &&
	       4 * s->differ * all >= 3 * (s->left * (all - s->right) + s->right * (all - s->left));
}

/*
 * Column of the partner of a pixel in column x, from its value v in the map of sx_winner(). -1: the pixel has no
 * disparity, or one of the two has no descriptor.
 */
SX_FLAT_INLINE int sx_chance_partner(int x, int v, int width, int min_disparity)
{
	const int partner = x - ((v + 8) >> 4) - min_disparity;

	if (v == SX_DISPARITY_INVALID || x < SX_CENSUS_RADIUS_X || x >= width - SX_CENSUS_RADIUS_X ||
	    partner < SX_CENSUS_RADIUS_X || partner >= width - SX_CENSUS_RADIUS_X)
		return -1;
	return partner;
}

/* True if row y counts: it is even, and its pixels have descriptors. */
SX_FLAT_INLINE bool sx_chance_row(int y, int height)
{
	return y % 2 == 0 && y >= SX_CENSUS_RADIUS_Y && y < height - SX_CENSUS_RADIUS_Y;
}

/* True if any tile of rows row0 to row1 - 1 is dim; rows outside of the image have none. */
bool sx_chance_any(const struct sx_image *flat, int row0, int row1);

/*
 * sums: of all tiles, rows of tiles_x without a gap. bits: of a descriptor. flat: tiles of row `row` of the left image
 * (sx_flat()), of which those that are dim and lie inside of a square of SX_FLAT_SQUARE by SX_FLAT_SQUARE tiles that
 * was matched by chance, and not at its edge, get SX_TILE_FLAT. Squares lie inside of the image.
 */
void sx_chance_mark_row(const struct sx_chance_sums *sums, int tiles_x, int tiles_y, int bits, int row,
			uint8_t *flat);

/* Both steps for a whole image. sums: memory for those of all tiles. Thread: any; allocates nothing. */
void sx_chance(const struct sx_image *winner, const struct sx_image descriptor[2],
	       const struct sx_image *flat, const struct sx_stereo_params *p, struct sx_chance_sums *sums);

/* True if there are descriptors of bits: not with the map of another process, nor with cost zncc. */
bool sx_chance_looks(const struct sx_stereo_params *p);

#endif
