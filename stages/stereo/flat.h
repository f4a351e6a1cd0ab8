/*
 * Flat areas: where an image shows nothing that could be matched, as a lens cover, a black border, a mask or
 * an overexposed area. Costs are equal there, or those of noise, and aggregation carries a disparity in from
 * beside. The left-right check takes no disparity from or to a flat area (stages/stereo/left_right.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_FLAT_H
#define SX_STAGES_STEREO_FLAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/image.h"

#define SX_FLAT_TILE 4	 /* px: width and height of a tile */
#define SX_FLAT_SQUARE 5 /* tiles: width and height of the least area that counts */
#define SX_FLAT_LEVELS 2 /* most that the grey levels of a flat square differ by, ... */
#define SX_FLAT_ALONG 1	 /* ... or those of each of its rows of pixels, ... */
#define SX_FLAT_BLACK 4	 /* ... but for rows up to this level */
#define SX_FLAT_DARK 32	 /* most level of a dark one */
#define SX_FLAT_DIM 64	 /* most level of a dim square, flat or not */

/* What a tile says: 0, or these bits. */
#define SX_TILE_FLAT 1
#define SX_TILE_DARK 2 /* and it is dark: night, a cover, a border, a mask */
#define SX_TILE_DIM 4  /* flat or not, it is dim: noise is much of what it shows (stages/stereo/chance.h) */

/* Tiles of width or height px; the last one may lie partly outside of the image. */
#define SX_FLAT_TILES(px) (((px) + SX_FLAT_TILE - 1) / SX_FLAT_TILE)

#ifdef __CUDACC__
#define SX_FLAT_INLINE static __host__ __device__ inline
#else
#define SX_FLAT_INLINE static inline
#endif

/* Range of a row of pixels of a square, from its least and its largest level. */
SX_FLAT_INLINE uint8_t sx_flat_along(uint8_t least, uint8_t most)
{
	return (uint8_t)(most <= SX_FLAT_BLACK ? 0 : most - least);
}

/* Bits of a square, from its least and its largest level and the widest range of its rows of pixels. */
SX_FLAT_INLINE uint8_t sx_flat_bits(uint8_t least, uint8_t most, uint8_t along)
{
	const int flat = along <= SX_FLAT_ALONG || most - least <= SX_FLAT_LEVELS;
	const int bits = !flat ? 0 : most <= SX_FLAT_DARK ? SX_TILE_FLAT | SX_TILE_DARK : SX_TILE_FLAT;

	return (uint8_t)(most <= SX_FLAT_DIM ? bits | SX_TILE_DIM : bits);
}

/*
 * grey: U8. flat: U8, SX_FLAT_TILES() of its width by those of its height; every tile is written:
 * bits SX_TILE_... or 0. scratch: sx_flat_scratch_bytes().
 *
 * A square of SX_FLAT_SQUARE by SX_FLAT_SQUARE tiles is flat if its largest and its least grey level differ
 * by SX_FLAT_LEVELS at most, or those of each row of its pixels by SX_FLAT_ALONG at most: where levels change
 * from row to row alone, as on a dim floor, every disparity fits. A row without a level above SX_FLAT_BLACK
 * counts as even. A flat square is dark, too, if no level is above SX_FLAT_DARK; any square is dim if none is above
 * SX_FLAT_DIM.
 * A tile has the bits of all squares that it lies inside of, not at their edge: so every window of the census
 * around its pixels shows only what is flat. Squares may reach beyond the image by one tile; there the image
 * goes on with the tiles of its edge. Thread: any, with a scratch of its own; allocates nothing.
 */
void sx_flat(const struct sx_image *grey, const struct sx_image *flat, void *scratch);
size_t sx_flat_scratch_bytes(int width, int height);

#endif
