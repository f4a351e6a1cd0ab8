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

/* Returns what tile (q, j) searches. */
__device__ __forceinline__ struct sx_pyramid_list sx_pyramid_list_of(const struct sx_pyramid_list *at)
{
	const uint4 a = reinterpret_cast<const uint4 *>(at)[0], b = reinterpret_cast<const uint4 *>(at)[1];

	return (struct sx_pyramid_list){
		a.x | (uint64_t)a.y << 32, a.z | (uint64_t)a.w << 32, b.x, b.y, {0, 0}};
}

__device__ __forceinline__ struct sx_pyramid_list sx_pyramid_list_at(const struct sx_pyramid_view &v, int q,
								     int j)
{
	return sx_pyramid_list_of(v.lists + j * v.tiles_x + q);
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
__device__ __forceinline__ size_t sx_pyramid_cells(const struct sx_pyramid_list &list)
{
	return (size_t)list.first * SX_PYRAMID_SLOT_BYTES;
}

/* The volumes of a scale. cost is NULL if the scale is crowded. bytes: size of a volume. */
struct sx_pyramid_volumes {
	uint8_t *cost, *path;
	size_t bytes;
};

__device__ __forceinline__ struct sx_pyramid_volumes sx_pyramid_volumes_of(const struct sx_pyramid_view &v)
{
	const bool crowded = v.used && *v.used > v.capacity;
	const size_t slots =
		crowded ? (size_t)v.tiles_x * (size_t)v.tiles_y * SX_SEARCH_TILE_BLOCKS : (size_t)v.capacity;
	const size_t bytes = slots * SX_PYRAMID_SLOT_BYTES;

	return (struct sx_pyramid_volumes){crowded ? NULL : v.room, v.room + (crowded ? 0 : bytes), bytes};
}

/* Returns the index of the volume of path 0 to 7: right, left, down, up and the diagonals. */
__device__ __forceinline__ int sx_pyramid_volume(const struct sx_pyramid_view &v, int path)
{
	return !v.sums ? path : path < 4 ? path / 2 : path - 2;
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
 * Places of a pixel's cell row of slot 0, in the first volume and in the first one of vertical paths. bytes: of
 * a volume.
 */
struct sx_pyramid_places {
	const uint8_t *along, *down;
	size_t bytes;
};

/* Returns the places of a pixel. column, row: in the tile of the list. */
__device__ __forceinline__ struct sx_pyramid_places sx_pyramid_places_of(const struct sx_pyramid_view &v,
									 const struct sx_pyramid_list &list,
									 int column, int row)
{
	const struct sx_pyramid_volumes volumes = sx_pyramid_volumes_of(v);
	const uint8_t *tile = volumes.path + sx_pyramid_cells(list);
	const int down = row * SX_SEARCH_TILE_WIDTH + column;

	return (struct sx_pyramid_places){tile + sx_pyramid_pixel(column, row) * SX_PYRAMID_ROW_BYTES,
					  tile + (size_t)sx_pyramid_volume(v, 2) * volumes.bytes +
						  down * SX_PYRAMID_ROW_BYTES,
					  volumes.bytes};
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

/* Returns the sum of V over all paths. USUAL: there are two volumes, each of sums of two paths. */
template <bool USUAL>
__device__ __forceinline__ struct sx_pyramid_row sx_pyramid_row_sum(const struct sx_pyramid_view &v,
								    const struct sx_pyramid_places &at,
								    int slot)
{
	const uint8_t *along = at.along + slot * SX_PYRAMID_SLOT_BYTES,
		      *down = at.down + slot * SX_PYRAMID_SLOT_BYTES;
	const int vertical = sx_pyramid_volume(v, 2);
	struct sx_pyramid_row sum = {};

	for (int i = 0; i < (USUAL ? 0 : v.volumes); i++)
		sx_pyramid_add(&sum,
			       sx_pyramid_load(i / vertical == 1 ? down + (size_t)(i - vertical) * at.bytes
								 : along + (size_t)i * at.bytes));
	if (USUAL) {
		sum = sx_pyramid_row_of(sx_pyramid_load(along));
		sx_pyramid_add(&sum, sx_pyramid_load(down));
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

/* Joins the values of eight cells to a cell row. */
__device__ __forceinline__ uint2 sx_pyramid_row_words(const uint32_t (&m)[SX_SEARCH_BLOCK])
{
	return make_uint2(m[0] | m[1] << 8 | m[4] << 16 | m[5] << 24,
			  m[2] | m[3] << 8 | m[6] << 16 | m[7] << 24);
}

#endif
