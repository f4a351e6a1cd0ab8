/*
 * Rules of the pyramid search that every engine calls: which blocks a candidate hits, which blocks a strip
 * keeps, and which blocks a tile chooses. pyramid.h has the algorithm.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_PYRAMID_PYRAMID_RULES_H
#define SX_STAGES_PYRAMID_PYRAMID_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "stages/stereo/census.h"
#include "stages/stereo/sgm.h"

#define SX_PYRAMID_COARSEST 32	 /* disparities: no scale has fewer */
#define SX_PYRAMID_SCALES_MAX 5	 /* scales of 512 disparities */
#define SX_PYRAMID_BLOCKS_MAX 64 /* blocks of 512 disparities: hits of a pixel are bits of a word */

#define SX_PYRAMID_REACH 2  /* px around a candidate, and around the minimum of a strip */
#define SX_PYRAMID_NEAR 130 /* percent of the least S: candidates up to there hit */
#define SX_PYRAMID_MARGIN 2 /* px of the coarser scale around a tile: these vote too */
#define SX_PYRAMID_GROUP 4  /* px: width and height of a group of evidence */
#define SX_PYRAMID_STRIPS 6 /* strips of a tile */
#define SX_PYRAMID_APART 3  /* px: nearer sums are no rivals of a strip's least sum */
#define SX_PYRAMID_CLEAR 90 /* percent: the least sum of a strip must be below this share of its rivals */
#define SX_PYRAMID_ROAD 40  /* percent of the rows of tiles, from the top, that have no favourite */
#define SX_PYRAMID_KEPT 256 /* strength of a block that is kept, above every number of votes */

#ifdef __CUDACC__
#define SX_PYRAMID_INLINE static __host__ __device__ inline
#else
#define SX_PYRAMID_INLINE static inline
#endif

/* Returns the largest S of a candidate that hits. least: S of the winner. */
SX_PYRAMID_INLINE int sx_pyramid_near(int least)
{
	return SX_PYRAMID_NEAR * least / 100;
}

SX_PYRAMID_INLINE int sx_pyramid_block_at(int d, int disparities)
{
	return (d < 0 ? 0 : d < disparities ? d : disparities - 1) / SX_SEARCH_BLOCK;
}

/*
 * Return the first and the last block of scale k that candidate d of scale k + 1 hits: two blocks at most.
 * shift: 2 * min_disparity of scale k + 1, minus min_disparity of scale k; 0 or -1. disparities: of scale k.
 */
SX_PYRAMID_INLINE int sx_pyramid_hit_first(int d, int shift, int disparities)
{
	return sx_pyramid_block_at(2 * d + shift - SX_PYRAMID_REACH, disparities);
}
SX_PYRAMID_INLINE int sx_pyramid_hit_last(int d, int shift, int disparities)
{
	return sx_pyramid_block_at(2 * d + shift + 1 + SX_PYRAMID_REACH, disparities);
}

/* Return the first and the last block that a clear strip keeps. b0: disparity of its least sum. */
SX_PYRAMID_INLINE int sx_pyramid_strip_first(int b0, int disparities)
{
	return sx_pyramid_block_at(b0 - SX_PYRAMID_REACH, disparities);
}
SX_PYRAMID_INLINE int sx_pyramid_strip_last(int b0, int disparities)
{
	return sx_pyramid_block_at(b0 + SX_PYRAMID_REACH, disparities);
}

/* Returns true if a strip is clear. least: its least sum; rival: the least of its sums that are apart. */
SX_PYRAMID_INLINE bool sx_pyramid_strip_is_clear(int least, int rival)
{
	return 100 * least < SX_PYRAMID_CLEAR * rival;
}

/* Returns true if row `row` of `rows` rows of tiles has a favourite block. */
SX_PYRAMID_INLINE bool sx_pyramid_row_has_favourite(int row, int rows)
{
	return row >= SX_PYRAMID_ROAD * rows / 100;
}

/*
 * Returns the row whose S gives the winners of row y: row y itself, or the nearest one with descriptors. A row
 * without descriptors has equal costs in all its cells. There horizontal paths prefer blocks that the next tile
 * searches too, which says nothing about the scene.
 */
SX_PYRAMID_INLINE int sx_pyramid_winner_row(int y, int height, enum sx_cost cost)
{
	const int edge = cost == SX_COST_ZNCC ? 0 : SX_CENSUS_RADIUS_Y;

	return y < edge ? edge : y < height - edge ? y : height - 1 - edge;
}

/*
 * Chooses the blocks of a tile. strength: votes of each block, 96 at most, plus SX_PYRAMID_KEPT if it is kept.
 * Blocks of strength 0 are not chosen. Of the others the strongest are, and of equal ones the higher.
 */
SX_PYRAMID_INLINE struct sx_search_tile sx_pyramid_choose(const uint16_t *strength, int blocks)
{
	struct sx_search_tile tile = {0, {0}, 0};

	for (int b = 0; b < blocks; b++) {
		int weakest = 0;

		if (strength[b] == 0)
			continue;
		if (tile.count < SX_SEARCH_TILE_BLOCKS) {
			tile.block[tile.count++] = (uint8_t)b;
			continue;
		}
		for (int i = 1; i < SX_SEARCH_TILE_BLOCKS; i++)
			if (strength[tile.block[i]] < strength[tile.block[weakest]])
				weakest = i;
		if (strength[b] < strength[tile.block[weakest]])
			continue;
		for (int i = weakest; i + 1 < SX_SEARCH_TILE_BLOCKS; i++)
			tile.block[i] = tile.block[i + 1];
		tile.block[SX_SEARCH_TILE_BLOCKS - 1] = (uint8_t)b;
	}
	return tile;
}

#endif
