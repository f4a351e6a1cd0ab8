/*
 * Areas that were matched by chance: both images show something there, but not the same thing. They show the
 * noise of a sensor in the dark or behind a cover. Aggregation carries a disparity through such an area, and
 * the left-right check agrees with it. But the descriptors of matched pixels differ there as much as those of
 * any two pixels.
 *
 * Unrelated descriptors, of which shares a and b of the bits are set, differ in a (1 - b) + b (1 - a) of
 * their bits. Shares of this expected difference, measured on pictures of KITTI 2015 with 31 bits: areas with
 * a right disparity have a median of 0.38, and one of a hundred has 0.80; areas of noise have a median of
 * 0.88, and one of a hundred has 0.81.
 *
 * A dim area becomes flat from 3/4 on. Under noise the weak texture of a lit wall is hard to tell from none,
 * and two thirds of the disparities on such walls are right. So a bright area keeps its disparities. From 4/5
 * on, at any brightness, an area is no evidence of ground (stages/stixels/unmeasured.h).
 *
 * Pyramid search compares few cells, so that few rivals contradict a match by chance, and the tiles of an area
 * choose alike, so that its matches agree with each other. But where nothing fits, nearly all tiles are crowded:
 * they search as many blocks as they may. So a bright tile in a crowded one counts like a dim one. On pictures
 * of KITTI 2015, 2 to 14 % of the tiles are crowded; if the other lens is covered, 98 %. Where less than
 * three quarters have a disparity, a crowded tile is no evidence of ground from 1/2 on: behind a piece of tape few
 * matches by chance are left, which continue the road, in squares that also see the road beside it.
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
#include "stages/stereo/sgm.h"

#define SX_CHANCE_WIDTH 4096 /* largest width of an image, px */
#define SX_CHANCE_PIXELS 60  /* pixels of a square that must have a disparity, out of 200 */
#define SX_CHANCE_MANY 150   /* pixels of a square from which on most of it was matched */
#define SX_CHANCE_DOUBT 128  /* bit of a square, not of a tile: no evidence of ground in crowded tiles */

/*
 * Sums over the pixels of one or more tiles. Pixels count if they lie in an even row and have a disparity and
 * two descriptors.
 */
struct sx_chance_sums {
	int16_t pixels;
	int16_t differ;	     /* bits that differ between a pixel and its partner */
	int16_t left, right; /* bits that are set in the left descriptors, and in the right ones */
};

/*
 * Returns the bits of a square by its sums: SX_TILE_FLAT if descriptors differ by at least 3/4 of the
 * difference of unrelated ones, SX_TILE_CHANCE if by at least 4/5, SX_CHANCE_DOUBT if by at least 1/2 where less
 * than three quarters of the pixels have a disparity. bits: number of bits of a descriptor, 63 at most.
 */
SX_FLAT_INLINE uint8_t sx_chance_square(const struct sx_chance_sums *s, int bits)
{
	/* no product is above 5 * 12600^2, because a square has at most 200 pixels */
	const int32_t all = s->pixels * bits, differ = s->differ * all,
		      unrelated = s->left * (all - s->right) + s->right * (all - s->left);
	const uint8_t doubt = s->pixels < SX_CHANCE_MANY && 2 * differ >= unrelated ? SX_CHANCE_DOUBT : 0;

	if (s->pixels < SX_CHANCE_PIXELS)
		return 0;
	if (4 * differ < 3 * unrelated)
		return doubt;
	return (uint8_t)(doubt | (5 * differ < 4 * unrelated ? SX_TILE_FLAT : SX_TILE_FLAT | SX_TILE_CHANCE));
}

/*
 * Returns the bits of a tile inside of squares. tile: bits of sx_flat(); squares: bits of these squares; crowded:
 * the tile of pyramid search around it is (SX_SEARCH_IS_CROWDED).
 */
SX_FLAT_INLINE uint8_t sx_chance_tile(uint8_t tile, uint8_t squares, bool crowded)
{
	const uint8_t doubt = crowded && squares & SX_CHANCE_DOUBT ? SX_TILE_CHANCE : 0;
	const uint8_t found = tile & SX_TILE_DIM || crowded ? squares : squares & SX_TILE_CHANCE;

	return (uint8_t)(tile | doubt | (found & (SX_TILE_FLAT | SX_TILE_CHANCE)));
}

/* Return the row and the column of the tile of pyramid search around tile i of sx_flat(). */
#define SX_CHANCE_SEARCH_ROW(i) ((i) / (SX_SEARCH_TILE_HEIGHT / SX_FLAT_TILE))
#define SX_CHANCE_SEARCH_COLUMN(i) ((i) / (SX_SEARCH_TILE_WIDTH / SX_FLAT_TILE))

/*
 * Returns the column of the partner of a pixel in column x, from its value v in the map of sx_winner(). -1:
 * the pixel has no disparity, or one of the two pixels has no descriptor.
 */
SX_FLAT_INLINE int sx_chance_partner(int x, int v, int width, int min_disparity)
{
	const int partner = x - ((v + 8) >> 4) - min_disparity;

	if (v == SX_DISPARITY_INVALID || x < SX_CENSUS_RADIUS_X || x >= width - SX_CENSUS_RADIUS_X ||
	    partner < SX_CENSUS_RADIUS_X || partner >= width - SX_CENSUS_RADIUS_X)
		return -1;
	return partner;
}

/* Returns true if row y counts: it is even, and its pixels have descriptors. */
SX_FLAT_INLINE bool sx_chance_row(int y, int height)
{
	return y % 2 == 0 && y >= SX_CENSUS_RADIUS_Y && y < height - SX_CENSUS_RADIUS_Y;
}

/*
 * Marks tiles of one row of tiles that lie in squares that were matched by chance.
 * sums: of all tiles, rows of tiles_x without a gap. bits: number of bits of a descriptor. flat: tiles of row
 * `row` of the left image (sx_flat()). A tile gets SX_TILE_CHANCE, or if it is dim or crowded SX_TILE_FLAT, if
 * it lies inside such a square of SX_FLAT_SQUARE by SX_FLAT_SQUARE tiles and not at its edge. Squares lie inside
 * the image. search: sx_chance_search() of the row.
 */
void sx_chance_mark_row(const struct sx_chance_sums *sums, int tiles_x, int tiles_y, int bits, int row,
			const struct sx_search_tile *search, uint8_t *flat);

/* Returns the tiles of pyramid search around row `row` of tiles. search: SX_TAP_TILES. NULL: full search. */
const struct sx_search_tile *sx_chance_search(const struct sx_image *search, int row);

/*
 * Sums and marks a whole image. search: SX_TAP_TILES; data NULL: full search. sums: memory for all tiles.
 * Thread: any; allocates nothing.
 */
void sx_chance(const struct sx_image *winner, const struct sx_image descriptor[2],
	       const struct sx_image *flat, const struct sx_image *search, const struct sx_stereo_params *p,
	       struct sx_chance_sums *sums);

/*
 * Returns true if there are descriptors of bits. There are none with the map of another process or with cost
 * zncc.
 */
bool sx_chance_looks(const struct sx_stereo_params *p);

#endif
