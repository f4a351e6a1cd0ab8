/*
 * Places of tiles and cells of a pyramid's scale, on the device (gpu/pyramid/pyramid_kernels.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_PYRAMID_PYRAMID_CUH
#define SX_GPU_PYRAMID_PYRAMID_CUH

#include "gpu/cuda.cuh"
#include "gpu/pyramid/pyramid_kernels.h"
#include "gpu/simd.cuh"

/* Returns the word of a tile: number of blocks in the lowest byte, then the blocks. */
__device__ __forceinline__ uint64_t sx_pyramid_tile(const struct sx_pyramid_view &v, int q, int j)
{
	return reinterpret_cast<const uint64_t *>(v.tiles + (size_t)j * v.tiles_pitch)[q];
}

__device__ __forceinline__ int sx_pyramid_tile_count(uint64_t tile)
{
	return (int)(tile & 255);
}

__device__ __forceinline__ int sx_pyramid_tile_block(uint64_t tile, int slot)
{
	return (int)(tile >> 8 * (slot + 1) & 255);
}

/*
 * Returns the place of a pixel among the cell rows of a slot, not of vertical paths. column, row: in the
 * tile.
 */
__device__ __forceinline__ int sx_pyramid_pixel(int column, int row)
{
	return column * SX_SEARCH_TILE_HEIGHT + row;
}

/* Returns the offset of a tile's first cell row in a volume, bytes. */
__device__ __forceinline__ size_t sx_pyramid_cells(const struct sx_pyramid_view &v, int q, int j)
{
	return (size_t)(j * v.tiles_x + q) * (size_t)v.slots * SX_PYRAMID_SLOT_BYTES;
}

/* Pairs (d, d + 4) of a cell row: sums over paths, or V of one. */
struct sx_pyramid_row {
	uint32_t pair[4];
};

__device__ __forceinline__ struct sx_pyramid_row sx_pyramid_row_of(uint2 words)
{
	struct sx_pyramid_row r;

	r.pair[0] = sx_pair_even(words.x);
	r.pair[1] = sx_pair_odd(words.x);
	r.pair[2] = sx_pair_even(words.y);
	r.pair[3] = sx_pair_odd(words.y);
	return r;
}

/*
 * Places of a pixel's cell row of slot 0, in the volume of the first path and in that of the first vertical
 * one.
 */
struct sx_pyramid_places {
	const uint8_t *along, *down;
};

/* Returns the places of a pixel. column, row: in tile (q, j). */
__device__ __forceinline__ struct sx_pyramid_places sx_pyramid_places_of(const struct sx_pyramid_view &v,
									 int q, int j, int column, int row)
{
	const uint8_t *tile = v.path + sx_pyramid_cells(v, q, j);
	const int down = row * SX_SEARCH_TILE_WIDTH + column;

	return (struct sx_pyramid_places){tile + sx_pyramid_pixel(column, row) * SX_PYRAMID_ROW_BYTES,
					  tile + 2 * v.path_bytes + down * SX_PYRAMID_ROW_BYTES};
}

__device__ __forceinline__ uint2 sx_pyramid_load(const uint8_t *at)
{
	return *reinterpret_cast<const uint2 *>(at);
}

__device__ __forceinline__ void sx_pyramid_add(struct sx_pyramid_row *sum, uint2 words)
{
	const struct sx_pyramid_row r = sx_pyramid_row_of(words);

#pragma unroll
	for (int k = 0; k < 4; k++)
		sum->pair[k] += r.pair[k];
}

/* Returns the sum of V over all paths. USUAL: there are 4 paths, and two V fit a byte. */
template <bool USUAL>
__device__ __forceinline__ struct sx_pyramid_row sx_pyramid_row_sum(const struct sx_pyramid_view &v,
								    const struct sx_pyramid_places &at,
								    int slot)
{
	const uint8_t *along = at.along + slot * SX_PYRAMID_SLOT_BYTES,
		      *down = at.down + slot * SX_PYRAMID_SLOT_BYTES;
	struct sx_pyramid_row sum = {};

	for (int i = 0; i < (USUAL ? 0 : v.paths); i++)
		sx_pyramid_add(&sum, sx_pyramid_load(i / 2 == 1 ? down + (size_t)(i - 2) * v.path_bytes
								: along + (size_t)i * v.path_bytes));
	if (USUAL) {
		const uint2 a = sx_pyramid_load(along), b = sx_pyramid_load(along + v.path_bytes),
			    c = sx_pyramid_load(down), d = sx_pyramid_load(down + v.path_bytes);

		sx_pyramid_add(&sum, make_uint2(a.x + b.x, a.y + b.y));
		sx_pyramid_add(&sum, make_uint2(c.x + d.x, c.y + d.y));
	}
	return sum;
}

/* Returns cell d, 0 .. 7, of a row. */
__device__ __forceinline__ int sx_pyramid_cell(const struct sx_pyramid_row &r, int d)
{
	return (int)(r.pair[d % 4] >> (d < 4 ? 0 : 16) & 0xffff);
}

/* Returns true if a pixel with coordinates of 0 or more is in the image. */
__device__ __forceinline__ bool sx_pyramid_is_inside(const struct sx_pyramid_view &v, int x, int y)
{
	return x < v.width && y < v.height;
}

/* Returns the descriptor of a pixel, 0 outside the image. */
template <typename Word>
__device__ __forceinline__ Word sx_pyramid_descriptor(const struct sx_pyramid_view &v, int side, int x, int y)
{
	if (x < 0 || y < 0 || !sx_pyramid_is_inside(v, x, y))
		return 0;
	return reinterpret_cast<const Word *>(v.descriptor[side] + (size_t)y * v.descriptor_pitch[side])[x];
}

__device__ __forceinline__ uint32_t sx_pyramid_ones(uint32_t v)
{
	return (uint32_t)__popc(v);
}

__device__ __forceinline__ uint32_t sx_pyramid_ones(uint64_t v)
{
	return (uint32_t)__popcll(v);
}

#endif
