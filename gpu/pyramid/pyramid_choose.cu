/*
 * Which blocks the tiles of a scale search: hits, votes, favourites and the choice. Must equal
 * sx_pyramid_choose_tiles() (stages/pyramid/pyramid_tiles.h). Evidence: gpu/pyramid/pyramid_evidence.cu.
 *
 * Work:    hits: a block makes a tile of the coarser scale, a thread one pixel. Choice: a block makes a row
 *          of tiles. Its warps count the votes of one tile after the other, its threads add up the row and
 *          find the favourite, then each thread chooses for one tile.
 * Memory:  hits: the volumes of paths, 8 bytes for each slot of a pixel, and one word of hits. Choice: the
 *          strengths of 128 tiles in shared memory, 2 bytes for each block of disparities: 16 KB. A longer row
 *          of tiles is counted in parts, the votes of its favourite over all of them. A list of 32 bytes for
 *          each tile; a block of threads takes the slots of its tiles with one atomic addition.
 * Ranges:  votes <= 96.
 * Shapes:  any size; up to 64 blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/pyramid/pyramid.cuh"
#include "gpu/stereo/winner.cuh"
#include "gpu/warp.cuh"
#include "stages/stereo/sgm.h"

#define WARPS 16
#define THREADS (32 * WARPS)
#define PIXELS SX_PYRAMID_TILE_PIXELS
#define BLOCKS SX_PYRAMID_BLOCKS_MAX
#define PART 128 /* tiles of a row that are in shared memory */
/* pixels of the coarser scale that vote for a tile */
#define VOTERS_X (SX_SEARCH_TILE_WIDTH / 2 + 2 * SX_PYRAMID_MARGIN)
#define VOTERS_Y (SX_SEARCH_TILE_HEIGHT / 2 + 2 * SX_PYRAMID_MARGIN)
#define VOTERS (VOTERS_X * VOTERS_Y)

namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

struct hit_work {
	struct sx_pyramid_view v;
	int largest; /* sx_sgm_largest() */
	int shift, disparities;
	uint32_t *fine_used;
};

template <bool USUAL> __global__ void __launch_bounds__(PIXELS) hit_kernel(const struct hit_work w)
{
	const int q = (int)blockIdx.x, j = (int)blockIdx.y, me = (int)threadIdx.x;
	const int column = me / SX_SEARCH_TILE_HEIGHT, row = me % SX_SEARCH_TILE_HEIGHT;
	const int x = q * SX_SEARCH_TILE_WIDTH + column, y = j * SX_SEARCH_TILE_HEIGHT + row;
	const struct sx_pyramid_list list = sx_pyramid_list_at(w.v, q, j);
	const uint64_t tile = list.tile;
	const int count = sx_pyramid_tile_count(tile);
	const struct sx_pyramid_places at = sx_pyramid_places_of(w.v, list, column, row);
	struct sx_pyramid_row sum[SX_PYRAMID_SLOTS];
	uint64_t hits = 0;
	int most = 0;

#pragma unroll
	for (int s = 0; s < SX_PYRAMID_SLOTS; s++) {
		if (s >= count)
			break;
		sum[s] = sx_pyramid_row_sum<USUAL>(w.v, at, s);
#pragma unroll
		for (int d = 0; d < SX_SEARCH_BLOCK; d++)
			most = max(most, sx_pyramid_cell(sum[s], d));
	}
	const int near = sx_pyramid_near(w.largest - most);

#pragma unroll
	for (int s = 0; s < SX_PYRAMID_SLOTS; s++) {
		const int first = sx_pyramid_tile_block(tile, s) * SX_SEARCH_BLOCK;

		if (s >= count)
			break;
#pragma unroll
		for (int d = 0; d < SX_SEARCH_BLOCK; d++) {
			if (w.largest - sx_pyramid_cell(sum[s], d) > near)
				continue;
			hits |= 1ull << sx_pyramid_hit_first(first + d, w.shift, w.disparities) |
				1ull << sx_pyramid_hit_last(first + d, w.shift, w.disparities);
		}
	}
	if (q == 0 && j == 0 && me == 0)
		*w.fine_used = 0;
	w.v.hits[(size_t)(j * w.v.tiles_x + q) * PIXELS + (size_t)me] =
		sx_pyramid_is_inside(w.v, x, y) ? hits : 0;
}

struct choose_work {
	struct sx_pyramid_view v, coarse;
	int blocks;
};

/* Returns the hits of a pixel of the coarser scale, 0 outside the image. */
__device__ __forceinline__ uint64_t hits_at(const struct sx_pyramid_view &c, int x, int y)
{
	if (x < 0 || y < 0 || !sx_pyramid_is_inside(c, x, y))
		return 0;
	const int tile = y / SX_SEARCH_TILE_HEIGHT * c.tiles_x + x / SX_SEARCH_TILE_WIDTH;

	return c.hits[(size_t)tile * PIXELS +
		      (size_t)sx_pyramid_pixel(x % SX_SEARCH_TILE_WIDTH, y % SX_SEARCH_TILE_HEIGHT)];
}

/* Counts the votes of tile (q, j) with a warp. votes: of the tile's blocks, 0 before. */
__device__ __forceinline__ void count_votes(const struct choose_work &w, int q, int j, uint16_t *votes)
{
	const int lane = (int)threadIdx.x % 32;
	const int x0 = q * SX_SEARCH_TILE_WIDTH / 2 - SX_PYRAMID_MARGIN,
		  y0 = j * SX_SEARCH_TILE_HEIGHT / 2 - SX_PYRAMID_MARGIN;
	uint32_t half[2][VOTERS / 32];

#pragma unroll
	for (int i = 0; i < VOTERS / 32; i++) {
		const int voter = 32 * i + lane;
		const uint64_t hits = hits_at(w.coarse, x0 + voter / VOTERS_Y, y0 + voter % VOTERS_Y);

		half[0][i] = (uint32_t)hits;
		half[1][i] = (uint32_t)(hits >> 32);
	}
#pragma unroll
	for (int h = 0; h < 2; h++) {
		uint32_t any = 0;

#pragma unroll
		for (int i = 0; i < VOTERS / 32; i++)
			any |= half[h][i];
		for (any = sx_warp_or(any); any; any &= any - 1) {
			const int bit = __ffs((int)any) - 1;
			int n = 0;

#pragma unroll
			for (int i = 0; i < VOTERS / 32; i++)
				n += __popc(__ballot_sync(SX_WARP_ALL_LANES, half[h][i] >> bit & 1));
			if (lane == 0)
				votes[32 * h + bit] = (uint16_t)n;
		}
	}
}

/* Counts the votes of the tiles from first on, up to PART. Ends with all threads at a barrier. */
__device__ __forceinline__ void count_part(const struct choose_work &w, int first, int j, uint16_t *strength)
{
	const int tiles = min(w.v.tiles_x - first, PART);

	__syncthreads();
	for (int i = (int)threadIdx.x; i < tiles * w.blocks; i += THREADS)
		strength[i] = 0;
	__syncthreads();
	for (int i = (int)threadIdx.x / 32; i < tiles; i += WARPS)
		count_votes(w, first + i, j, strength + i * w.blocks);
	__syncthreads();
}

/* Returns the word of a tile. */
__device__ __forceinline__ uint64_t word_of(const struct sx_search_tile &tile)
{
	uint64_t word = tile.count;

	for (int i = 0; i < SX_SEARCH_TILE_BLOCKS; i++)
		word |= (uint64_t)tile.block[i] << 8 * (i + 1);
	return word;
}

/* Returns the list of a tile, without its first slot. */
__device__ __forceinline__ struct sx_pyramid_list list_of(uint64_t tile)
{
	struct sx_pyramid_list list = {tile, 0, 0, 0, {0, 0}};

	for (int s = 0; s < sx_pyramid_tile_count(tile); s++) {
		const int block = sx_pyramid_tile_block(tile, s);

		if (block > 0 && list.blocks >> (block - 1) & 1)
			list.joined |= 1u << s;
		list.blocks |= 1ull << block;
	}
	return list;
}

/*
 * Chooses for the tiles from first on. favourite: block that all keep, or -1. used: number of slots of the
 * block's tiles. Which slots a tile has depends on the order of blocks and threads; their contents do not.
 * Ends with all threads at a barrier.
 */
__device__ __forceinline__ void choose_part(const struct choose_work &w, int first, int j, int favourite,
					    uint16_t *strength, uint32_t *used, uint32_t *base)
{
	const int tiles = min(w.v.tiles_x - first, PART), i = (int)threadIdx.x; /* PART <= THREADS */
	struct sx_pyramid_list list = {};

	if (i == 0)
		*used = 0;
	__syncthreads();
	if (i < tiles) {
		const size_t q = (size_t)(first + i);
		uint16_t *own = strength + i * w.blocks;
		uint64_t kept = w.v.kept[(size_t)(j * w.v.tiles_x) + q];

		if (favourite >= 0)
			kept |= 1ull << favourite;
		for (; kept; kept &= kept - 1)
			own[__ffsll((long long)kept) - 1] |= SX_PYRAMID_KEPT;
		list = list_of(word_of(sx_pyramid_choose(own, w.blocks)));
		list.first = atomicAdd(used, (uint32_t)sx_pyramid_tile_count(list.tile));
		reinterpret_cast<uint64_t *>(w.v.tiles + (size_t)j * w.v.tiles_pitch)[q] = list.tile;
	}
	__syncthreads();
	if (i == 0)
		*base = atomicAdd(w.v.used, *used);
	__syncthreads();
	if (i < tiles) {
		uint4 *const to = reinterpret_cast<uint4 *>(w.v.lists + j * w.v.tiles_x + first + i);

		to[0] = make_uint4((uint32_t)list.tile, (uint32_t)(list.tile >> 32), (uint32_t)list.blocks,
				   (uint32_t)(list.blocks >> 32));
		to[1] = make_uint4(*base + list.first, list.joined, 0, 0);
	}
	__syncthreads();
}

__global__ void __launch_bounds__(THREADS) choose_kernel(const struct choose_work w)
{
	__shared__ uint16_t strength[PART * BLOCKS];
	__shared__ uint32_t sum[BLOCKS], best, used, base;
	const int j = (int)blockIdx.x, me = (int)threadIdx.x, parts = (w.v.tiles_x + PART - 1) / PART;
	const bool has_favourite = sx_pyramid_row_has_favourite(j, w.v.tiles_y);
	int favourite = -1;

	if (me < BLOCKS)
		sum[me] = 0;
	if (me == 0)
		best = 0;
	if (has_favourite || parts == 1)
		for (int part = 0; part < parts; part++) {
			const int tiles = min(w.v.tiles_x - part * PART, PART);

			count_part(w, part * PART, j, strength);
			for (int i = me; has_favourite && i < tiles * w.blocks; i += THREADS)
				if (strength[i])
					atomicAdd(&sum[i % w.blocks], strength[i]);
		}
	__syncthreads();
	/* the most votes, and of equal ones the lowest block */
	if (has_favourite && me < w.blocks && sum[me])
		atomicMax(&best, sum[me] << 8 | (uint32_t)(BLOCKS - 1 - me));
	__syncthreads();
	if (best)
		favourite = BLOCKS - 1 - (int)(best & 255);
	for (int part = 0; part < parts; part++) {
		if (parts > 1)
			count_part(w, part * PART, j, strength);
		choose_part(w, part * PART, j, favourite, strength, &used, &base);
	}
}

} // namespace

extern "C" cudaError_t sx_pyramid_hits_launch(const struct sx_pyramid_view *v,
					      const struct sx_pyramid_view *fine,
					      const struct sx_stereo_params *p, cudaStream_t stream)
{
	struct hit_work w = {};
	const dim3 grid((unsigned)v->tiles_x, (unsigned)v->tiles_y);

	w.v = *v;
	w.largest = sx_sgm_largest(p);
	w.shift = 2 * v->min_disparity - fine->min_disparity;
	w.disparities = fine->disparities;
	w.fine_used = fine->used;
	if (p->paths == 4 && v->sums)
		SX_LAUNCH(hit_kernel<true>, grid, PIXELS, 0, stream, w);
	else
		SX_LAUNCH(hit_kernel<false>, grid, PIXELS, 0, stream, w);
	return SX_LAUNCHED();
}

extern "C" cudaError_t sx_pyramid_choose_launch(const struct sx_pyramid_view *v,
						const struct sx_pyramid_view *coarse, cudaStream_t stream)
{
	const struct choose_work w = {*v, *coarse, v->disparities / SX_SEARCH_BLOCK};

	SX_LAUNCH(choose_kernel, (unsigned)v->tiles_y, THREADS, 0, stream, w);
	return SX_LAUNCHED();
}
