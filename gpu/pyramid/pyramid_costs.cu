/*
 * M = Cmax - C of the cells that the tiles of a scale search. Must equal sx_cost_max() minus sx_cost_row(),
 * byte for byte.
 *
 * Work:    a block makes one tile, a thread one pixel: POPC of left ^ right for the 8 disparities of each
 *          block.
 * Memory:  the 23 right columns that a block of disparities meets are staged in shared memory, 8 rows for
 *          each slot. The pitch of a row puts the 4 by 8 pixels of a warp in different banks. Costs are
 *          stored in order, 8 bytes for each pixel and slot. A crowded scale stores none.
 * Shapes:  any size, D and minimal disparity. M of pixels outside the image is 0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/pyramid/pyramid.cuh"
#include "stages/stereo/census.h"
#include "stages/stereo/sgm.h"

#define THREADS SX_PYRAMID_TILE_PIXELS
#define HIGH SX_SEARCH_TILE_HEIGHT
#define MEETS (SX_SEARCH_TILE_WIDTH + SX_SEARCH_BLOCK - 1) /* right columns of a block of disparities */

namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

struct cost_work {
	struct sx_pyramid_view v;
	int largest; /* the largest cost */
};

template <typename Word, bool NO_VIEW>
__global__ void __launch_bounds__(THREADS) cost_kernel(const struct cost_work w)
{
	constexpr int pitch = sizeof(Word) == 4 ? 28 : 26;
	__shared__ Word right[SX_PYRAMID_SLOTS][HIGH][pitch];
	const int q = (int)blockIdx.x, j = (int)blockIdx.y, me = (int)threadIdx.x;
	const int row = me % HIGH, column = me / HIGH;
	const int x0 = q * SX_SEARCH_TILE_WIDTH, y0 = j * HIGH, x = x0 + column, y = y0 + row;
	const struct sx_pyramid_list list = sx_pyramid_list_at(w.v, q, j);
	const uint64_t tile = list.tile;
	const int count = sx_pyramid_tile_count(tile);
	uint8_t *const volume = sx_pyramid_volumes_of(w.v).cost;
	const bool inside = sx_pyramid_is_inside(w.v, x, y);
	const Word left = sx_pyramid_descriptor<Word>(w.v, 0, x, y);

	if (!volume)
		return;
	uint2 *const to = reinterpret_cast<uint2 *>(volume + sx_pyramid_cells(list)) + me;

	for (int i = me; i < count * HIGH * MEETS; i += THREADS) {
		const int slot = i / (HIGH * MEETS), r = i / MEETS % HIGH, k = i % MEETS;
		const int d = sx_pyramid_tile_block(tile, slot) * SX_SEARCH_BLOCK;
		const int first = x0 - w.v.min_disparity - d - (SX_SEARCH_BLOCK - 1);

		right[slot][r][k] = sx_pyramid_descriptor<Word>(w.v, 1, first + k, y0 + r);
	}
	__syncthreads();
	for (int slot = 0; slot < count; slot++) {
		const Word *meets = &right[slot][row][column + SX_SEARCH_BLOCK - 1];
		const int met = x - w.v.min_disparity - sx_pyramid_tile_block(tile, slot) * SX_SEARCH_BLOCK;
		uint32_t m[SX_SEARCH_BLOCK];

#pragma unroll
		for (int d = 0; d < SX_SEARCH_BLOCK; d++) {
			const uint32_t cost = sx_pyramid_ones((Word)(left ^ meets[-d]));

			m[d] = NO_VIEW && (met - d < 0 || met - d >= w.v.width) ? 0
										: (uint32_t)w.largest - cost;
		}
		/* M of pixels outside the image is 0 */
		to[slot * SX_PYRAMID_TILE_PIXELS] = inside ? sx_pyramid_row_words(m) : make_uint2(0, 0);
	}
}

template <typename Word> void launch(const struct cost_work &w, bool no_view, cudaStream_t stream)
{
	const dim3 grid((unsigned)w.v.tiles_x, (unsigned)w.v.tiles_y);

	if (no_view)
		SX_LAUNCH((cost_kernel<Word, true>), grid, THREADS, 0, stream, w);
	else
		SX_LAUNCH((cost_kernel<Word, false>), grid, THREADS, 0, stream, w);
}

} // namespace

extern "C" cudaError_t sx_pyramid_costs_launch(const struct sx_pyramid_view *v,
					       const struct sx_stereo_params *p, cudaStream_t stream)
{
	const struct cost_work w = {*v, sx_cost_max(p->cost)};
	/* a right column outside the image has the largest cost, or else the cost of descriptor 0 */
	const bool no_view = p->out_of_view == SX_OUT_OF_VIEW_MAX;

	if (v->wide)
		launch<uint64_t>(w, no_view, stream);
	else
		launch<uint32_t>(w, no_view, stream);
	return SX_LAUNCHED();
}
