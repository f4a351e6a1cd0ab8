/*
 * Sums over the pixels of tiles, for areas matched by chance (chance.h). Inline, because the cpu engine
 * compiles them for several instruction sets, most of which have an instruction that counts bits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_CHANCE_SUM_H
#define SX_STAGES_STEREO_CHANCE_SUM_H

#include <string.h>

#include "stages/stereo/chance.h"

/* Returns the descriptor in column x of a row. */
static inline uint64_t sx_chance_bits(const void *row, int x, bool wide)
{
	return wide ? ((const uint64_t *)row)[x] : ((const uint32_t *)row)[x];
}

/* Adds one row of pixels of a tile to its sums. wide: descriptors are U64, else U32. */
static inline void sx_chance_add_tile(const uint16_t *winner, const void *left, const void *right, int width,
				      int min_disparity, int x0, bool wide, struct sx_chance_sums *s)
{
	int pixels = 0, differ = 0, set[2] = {0, 0};

	for (int x = x0; x < x0 + SX_FLAT_TILE; x++) {
		const int partner = sx_chance_partner(x, winner[x], width, min_disparity),
			  counts = partner >= 0;
		/* no branch: a pixel that does not count adds 0 bits */
		const uint64_t mask = (uint64_t)-counts, l = sx_chance_bits(left, x, wide) & mask,
			       r = sx_chance_bits(right, counts ? partner : 0, wide) & mask;

		pixels += counts;
		differ += __builtin_popcountll(l ^ r);
		set[0] += __builtin_popcountll(l);
		set[1] += __builtin_popcountll(r);
	}
	s->pixels = (int16_t)(s->pixels + pixels);
	s->differ = (int16_t)(s->differ + differ);
	s->left = (int16_t)(s->left + set[0]);
	s->right = (int16_t)(s->right + set[1]);
}

/*
 * Adds one row of pixels to the sums of its tiles. If the width is no multiple of a tile, the last tile lies
 * partly outside, where no pixel has a descriptor.
 */
static inline void sx_chance_add_row(const uint16_t *winner, const void *left, const void *right, int width,
				     int min_disparity, bool wide, struct sx_chance_sums *sums)
{
	for (int i = SX_CENSUS_RADIUS_X / SX_FLAT_TILE; (i + 1) * SX_FLAT_TILE <= width; i++)
		sx_chance_add_tile(winner, left, right, width, min_disparity, i * SX_FLAT_TILE, wide,
				   &sums[i]);
}

/*
 * Computes the sums of a row of tiles. winner: the map of sx_winner(), before the median. descriptor:
 * sx_census() of the left and of the right image, U32 or U64. sums: SX_FLAT_TILES() of the width.
 */
static inline void sx_chance_sum_row(const struct sx_image *winner, const struct sx_image descriptor[2],
				     int min_disparity, int row, struct sx_chance_sums *sums)
{
	const int width = winner->width;

	memset(sums, 0, (size_t)SX_FLAT_TILES(width) * sizeof(*sums));
	for (int y = row * SX_FLAT_TILE; y < (row + 1) * SX_FLAT_TILE; y++) {
		if (!sx_chance_row(y, winner->height))
			continue;
		if (descriptor[0].pixel == SX_PIXEL_U64)
			sx_chance_add_row(sx_image_row(winner, y), sx_image_row(&descriptor[0], y),
					  sx_image_row(&descriptor[1], y), width, min_disparity, true, sums);
		else
			sx_chance_add_row(sx_image_row(winner, y), sx_image_row(&descriptor[0], y),
					  sx_image_row(&descriptor[1], y), width, min_disparity, false, sums);
	}
}

#endif
