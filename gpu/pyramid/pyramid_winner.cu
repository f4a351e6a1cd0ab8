/*
 * Winner-takes-all on the cells that tiles search. Must equal sx_winner() on the same S, byte for byte.
 *
 * Work:    a block makes some rows of a row of tiles, a thread one pixel after the other. It keeps the sums
 *          of all its cells in registers, finds the winner and then its neighbours and rivals. Each cell is
 *          offered to the pixel of the right image that it belongs to.
 * Memory:  the volumes of paths, 8 bytes for each slot of a pixel. The best cells of the right image are in
 *          shared memory, 4 bytes for each pixel of the rows: four rows, whose V fill a sector of 32 bytes, or
 *          two on a large device, which so has more blocks; fewer if they do not fit 48 KB.
 * Ranges:  S <= 2040.
 * Shapes:  any size up to 12288 columns; up to 512 disparities.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/pyramid/pyramid.cuh"
#include "gpu/stereo/winner.cuh"

#define THREADS 512
#define SHARED_MAX 49152
#define LOWEST 0xffffu /* part of a key: LOWEST - d, so that of equal V the lowest d wins */

namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

struct winner_work {
	struct sx_pyramid_view v;
	uint8_t *left, *right, *confidence;
	size_t left_pitch, right_pitch, confidence_pitch;
	int rows; /* rows of a block: a divisor of the rows of a tile */
	int largest;
	struct sx_winner_options options;
	enum sx_cost cost;
};

/* Returns a key whose maximum is the winner. */
__device__ __forceinline__ uint32_t key_of(int v, int d)
{
	return (uint32_t)v << 16 | (LOWEST - (uint32_t)d);
}

/* Sums of the cells of a pixel. */
struct cells {
	struct sx_pyramid_row row[SX_PYRAMID_SLOTS];
	uint64_t tile;
	int count;
};

/* Returns the sum at disparity d, -1 if it is not searched. */
template <bool USUAL>
__device__ __forceinline__ int cell_at(const struct winner_work &w, const struct sx_pyramid_places &at,
				       uint64_t tile, int d)
{
	const int count = sx_pyramid_tile_count(tile), block = d >= 0 ? d / SX_SEARCH_BLOCK : -1;
	int slot = 0;

	while (slot < count && sx_pyramid_tile_block(tile, slot) != block)
		slot++;
	if (slot == count)
		return -1;
	return sx_pyramid_cell(sx_pyramid_row_sum<USUAL>(w.v, at, slot), d % SX_SEARCH_BLOCK);
}

/* Returns the largest V of the cells more than 1 from d0. A block has eight cells, so there are some. */
__device__ __forceinline__ int find_rival(const struct cells &c, int d0)
{
	uint32_t most = 0;

#pragma unroll
	for (int s = 0; s < SX_PYRAMID_SLOTS; s++) {
		const int before = d0 - 1 - sx_pyramid_tile_block(c.tile, s) * SX_SEARCH_BLOCK;
		/* bit k + 1: cell k of the slot is d0 or beside it */
		const uint32_t near = before > -3 && before < SX_SEARCH_BLOCK ? 14u << (before + 2) >> 2 : 0;

		if (s >= c.count)
			break;
#pragma unroll
		for (int k = 0; k < 4; k++) {
			const uint32_t low = near >> (k + 1) & 1 ? 0 : 0xffffu,
				       high = near >> (k + 5) & 1 ? 0 : 0xffff0000u;

			most = sx_pair_max(most, c.row[s].pair[k] & (low | high));
		}
	}
	return (int)max(most & 0xffff, most >> 16);
}

/* Judges the winner: V of d0 is v. */
template <bool USUAL>
__device__ __forceinline__ struct sx_winner_result judge(const struct winner_work &w, const struct cells &c,
							 const struct sx_pyramid_places &at, int d0, int v)
{
	const int below = cell_at<USUAL>(w, at, c.tile, d0 - 1),
		  above = cell_at<USUAL>(w, at, c.tile, d0 + 1);
	const bool alone = below < 0 || above < 0;
	const int before = v - below, after = v - above, rival = find_rival(c, d0);
	const int rise = sx_winner_divide(max(before, after) * 255, w.options.rise);
	struct sx_winner_result r;
	int q4 = 16 * d0;

	if (!alone && w.options.subpixel != SX_SUBPIXEL_OFF)
		q4 += sx_winner_refine(before, after, w.options.subpixel);
	/* 100 S(d0) >= uniqueness S(rival) */
	if (100 * (w.largest - v) >= w.options.uniqueness * (w.largest - rival))
		q4 = SX_DISPARITY_INVALID;
	r.disparity = (uint16_t)q4;
	r.confidence = (uint8_t)(alone ? SX_WINNER_CONFIDENCE_END : min(rise, 255));
	return r;
}

/* Offers the cells of a slot to a row of the right image; x: column of disparity 0. Returns the best key. */
template <bool INSIDE>
__device__ __forceinline__ uint32_t offer(const struct sx_pyramid_row &row, int first, int x, uint32_t *right)
{
	uint32_t best = 0;

#pragma unroll
	for (int k = 0; k < SX_SEARCH_BLOCK; k++) {
		const uint32_t key = key_of(sx_pyramid_cell(row, k), first + k);

		best = max(best, key);
		if (INSIDE || x >= k)
			atomicMax(right + x - k, key);
	}
	return best;
}

/* Makes pixel (x, y) of the left image from its cells on row `from`, which it offers to a row of the right image. */
template <bool USUAL>
__device__ __forceinline__ void make_pixel(const struct winner_work &w, int x, int y, int from,
					   uint32_t *right)
{
	const int q = x / SX_SEARCH_TILE_WIDTH, j = from / SX_SEARCH_TILE_HEIGHT;
	const struct sx_pyramid_list list = sx_pyramid_list_at(w.v, q, j);
	const struct sx_pyramid_places at =
		sx_pyramid_places_of(w.v, list, x % SX_SEARCH_TILE_WIDTH, from % SX_SEARCH_TILE_HEIGHT);
	struct cells c;
	uint32_t best = 0;

	c.tile = list.tile;
	c.count = sx_pyramid_tile_count(c.tile);
#pragma unroll
	for (int s = 0; s < SX_PYRAMID_SLOTS; s++) {
		const int first = sx_pyramid_tile_block(c.tile, s) * SX_SEARCH_BLOCK, met = x - first;

		if (s >= c.count)
			break;
		c.row[s] = sx_pyramid_row_sum<USUAL>(w.v, at, s);
		best = max(best, met >= SX_SEARCH_BLOCK ? offer<true>(c.row[s], first, met, right)
							: offer<false>(c.row[s], first, met, right));
	}
	const struct sx_winner_result r =
		judge<USUAL>(w, c, at, (int)(LOWEST - (best & LOWEST)), (int)(best >> 16));

	reinterpret_cast<uint16_t *>(w.left + (size_t)y * w.left_pitch)[x] = r.disparity;
	w.confidence[(size_t)y * w.confidence_pitch + (size_t)x] = r.confidence;
}

template <bool USUAL> __global__ void __launch_bounds__(THREADS) winner_kernel(const struct winner_work w)
{
	SX_DYNAMIC_SHARED(uint32_t, right);
	const int y0 = (int)blockIdx.x * w.rows, me = (int)threadIdx.x, width = w.v.width;

	for (int i = me; i < w.rows * width; i += THREADS)
		right[i] = 0;
	__syncthreads();
	for (int i = me; i < w.rows * width; i += THREADS) {
		const int row = i % w.rows, x = i / w.rows;

		if (y0 + row < w.v.height)
			make_pixel<USUAL>(w, x, y0 + row, sx_pyramid_winner_row(y0 + row, w.v.height, w.cost),
					  right + row * width);
	}
	__syncthreads();
	for (int row = 0; row < w.rows && y0 + row < w.v.height; row++) {
		uint16_t *to = reinterpret_cast<uint16_t *>(w.right + (size_t)(y0 + row) * w.right_pitch);

		for (int x = me; x < width; x += THREADS) {
			const uint32_t key = right[row * width + x];

			to[x] = key ? (uint16_t)(LOWEST - (key & LOWEST)) : 0;
		}
	}
}

struct sum_work {
	struct sx_pyramid_view v;
	uint8_t *sum;
	size_t pitch;
	int largest;
};

__global__ void __launch_bounds__(SX_PYRAMID_TILE_PIXELS) sum_kernel(const struct sum_work w)
{
	const int q = (int)blockIdx.x, j = (int)blockIdx.y, me = (int)threadIdx.x;
	const int column = me / SX_SEARCH_TILE_HEIGHT, line = me % SX_SEARCH_TILE_HEIGHT;
	const int x = q * SX_SEARCH_TILE_WIDTH + column, y = j * SX_SEARCH_TILE_HEIGHT + line;
	const struct sx_pyramid_list list = sx_pyramid_list_at(w.v, q, j);
	const uint64_t tile = list.tile;
	const struct sx_pyramid_places at = sx_pyramid_places_of(w.v, list, column, line);

	if (!sx_pyramid_is_inside(w.v, x, y))
		return;
	uint16_t *to = reinterpret_cast<uint16_t *>(w.sum + (size_t)y * w.pitch) +
		       (size_t)x * (size_t)w.v.disparities;

	for (int d = 0; d < w.v.disparities; d++)
		to[d] = SX_SUM_ABSENT;
	for (int s = 0; s < sx_pyramid_tile_count(tile); s++) {
		const int first = sx_pyramid_tile_block(tile, s) * SX_SEARCH_BLOCK;
		const struct sx_pyramid_row row = sx_pyramid_row_sum<false>(w.v, at, s);

#pragma unroll
		for (int k = 0; k < SX_SEARCH_BLOCK; k++)
			to[first + k] = (uint16_t)(w.largest - sx_pyramid_cell(row, k));
	}
}

} // namespace

extern "C" cudaError_t sx_pyramid_winner_launch(const struct sx_pyramid_view *v,
						const struct sx_stereo_params *p, const struct sx_image *left,
						const struct sx_image *right,
						const struct sx_image *confidence, int sms,
						cudaStream_t stream)
{
	struct winner_work w = {};

	w.v = *v;
	w.left = (uint8_t *)left->data;
	w.left_pitch = left->pitch;
	w.right = (uint8_t *)right->data;
	w.right_pitch = right->pitch;
	w.confidence = (uint8_t *)confidence->data;
	w.confidence_pitch = confidence->pitch;
	w.largest = sx_sgm_largest(p);
	w.options = sx_winner_options_of(p);
	w.cost = p->cost;
	w.rows = sms >= SX_PYRAMID_LARGE_SMS ? 2 : 4;
	while (w.rows > 1 && (size_t)(w.rows * v->width) * sizeof(uint32_t) > SHARED_MAX)
		w.rows /= 2;
	const unsigned blocks = (unsigned)((v->height + w.rows - 1) / w.rows);
	const size_t shared = (size_t)(w.rows * v->width) * sizeof(uint32_t);

	if (p->paths == 4 && v->sums)
		SX_LAUNCH(winner_kernel<true>, blocks, THREADS, shared, stream, w);
	else
		SX_LAUNCH(winner_kernel<false>, blocks, THREADS, shared, stream, w);
	return SX_LAUNCHED();
}

extern "C" cudaError_t sx_pyramid_sum_launch(const struct sx_pyramid_view *v,
					     const struct sx_stereo_params *p, const struct sx_image *sum,
					     cudaStream_t stream)
{
	struct sum_work w = {*v, (uint8_t *)sum->data, sum->pitch, sx_sgm_largest(p)};

	SX_LAUNCH(sum_kernel, dim3((unsigned)v->tiles_x, (unsigned)v->tiles_y), SX_PYRAMID_TILE_PIXELS, 0,
		  stream, w);
	return SX_LAUNCHED();
}
