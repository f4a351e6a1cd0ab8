/*
 * Flat areas: areas of an image that show nothing that could be matched, as a lens cover, a black border, a
 * mask or an overexposed area. Their costs are all equal, or depend on noise alone, and aggregation carries
 * in a disparity from neighbouring areas. The left-right check takes no disparity from or to a flat area
 * (stages/stereo/left_right.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_FLAT_H
#define SX_STAGES_STEREO_FLAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/image.h"

#define SX_FLAT_TILE 4	 /* px: width and height of a tile */
#define SX_FLAT_SQUARE 5 /* tiles: width and height of the smallest area that counts */
#define SX_FLAT_LEVELS 2 /* greatest difference between all grey levels of a flat square */
#define SX_FLAT_ALONG 1	 /* or greatest difference within each row of its pixels */
#define SX_FLAT_BLACK 4	 /* a row of pixels without a level above this counts as even */
#define SX_FLAT_DARK 32	 /* highest level of a dark flat square */
#define SX_FLAT_DIM 64	 /* highest level of a dim square, flat or not */
#define SX_FLAT_RANGE 6	 /* greatest difference between all grey levels of a square with SX_TILE_RANGE_1 */

/* Values of a tile: 0, or these bits. */
#define SX_TILE_FLAT 1
#define SX_TILE_DARK 2	 /* the tile is flat and dark: night, a cover, a border, a mask */
#define SX_TILE_DIM 4	 /* the tile is dim, flat or not: it shows much noise (stages/stereo/chance.h) */
#define SX_TILE_CHANCE 8 /* the tile was matched by chance: it shows no ground (stages/stereo/chance.h) */
/* the grey levels of a square differ by SX_FLAT_RANGE at most, by twice or by four times of it */
#define SX_TILE_RANGE_1 16
#define SX_TILE_RANGE_2 32
#define SX_TILE_RANGE_4 64
#define SX_TILE_RANGES (SX_TILE_RANGE_1 | SX_TILE_RANGE_2 | SX_TILE_RANGE_4)

/* Number of tiles in px of width or height. The last tile may lie partly outside the image. */
#define SX_FLAT_TILES(px) (((px) + SX_FLAT_TILE - 1) / SX_FLAT_TILE)

#ifdef __CUDACC__
#define SX_FLAT_INLINE static __host__ __device__ inline
#else
#define SX_FLAT_INLINE static inline
#endif

/* Returns the range of levels in a row of pixels of a square, from its lowest and its highest level. */
SX_FLAT_INLINE uint8_t sx_flat_along(uint8_t least, uint8_t most)
{
	return (uint8_t)(most <= SX_FLAT_BLACK ? 0 : most - least);
}

/* Returns the bits SX_TILE_RANGE_... of a square whose levels differ by `range` at most. */
SX_FLAT_INLINE int sx_flat_ranges(int range)
{
	return (range <= SX_FLAT_RANGE ? SX_TILE_RANGE_1 : 0) |
	       (range <= 2 * SX_FLAT_RANGE ? SX_TILE_RANGE_2 : 0) |
	       (range <= 4 * SX_FLAT_RANGE ? SX_TILE_RANGE_4 : 0);
}

/*
 * Returns the bits of a square, from its lowest and its highest level and the widest range of its rows of
 * pixels.
 */
SX_FLAT_INLINE uint8_t sx_flat_bits(uint8_t least, uint8_t most, uint8_t along)
{
	const int flat = along <= SX_FLAT_ALONG || most - least <= SX_FLAT_LEVELS;
	const int bits = !flat ? 0 : most <= SX_FLAT_DARK ? SX_TILE_FLAT | SX_TILE_DARK : SX_TILE_FLAT;

	return (uint8_t)((most <= SX_FLAT_DIM ? bits | SX_TILE_DIM : bits) | sx_flat_ranges(most - least));
}

/*
 * Returns true if one of two tiles shows more than twice the contrast of the other: the range of all squares of the
 * one is above a limit, and the range of a square of the other is at most half of that limit. a, b: bits of the
 * tiles.
 */
SX_FLAT_INLINE bool sx_flat_differs(int a, int b)
{
	return ((((a & SX_TILE_RANGES) << 1) & ~b) | (((b & SX_TILE_RANGES) << 1) & ~a)) &
	       (SX_TILE_RANGE_2 | SX_TILE_RANGE_4);
}

/*
 * Finds the flat, dark and dim tiles of an image, and the ranges of their levels. grey: U8. flat: U8,
 * SX_FLAT_TILES() of its width by those of its height. Every tile is written: bits SX_TILE_... or 0. scratch:
 * sx_flat_scratch_bytes().
 *
 * A square of SX_FLAT_SQUARE by SX_FLAT_SQUARE tiles is flat if its highest and its lowest grey level differ
 * by SX_FLAT_LEVELS at most, or if the levels of each row of its pixels differ by SX_FLAT_ALONG at most. If
 * levels change only from row to row, as on a dim floor, every disparity fits. A row without a level above
 * SX_FLAT_BLACK counts as even. A flat square is also dark if no level is above SX_FLAT_DARK. Any square is
 * dim if no level is above SX_FLAT_DIM.
 *
 * A tile has the bits of all squares that it lies inside of, not at their edge. So every window of the census
 * around its pixels shows only flat pixels. Squares may reach beyond the image by one tile; the tiles at the
 * edge of the image are repeated there. Thread: any, with its own scratch; allocates nothing.
 */
void sx_flat(const struct sx_image *grey, const struct sx_image *flat, void *scratch);
size_t sx_flat_scratch_bytes(int width, int height);

#endif
