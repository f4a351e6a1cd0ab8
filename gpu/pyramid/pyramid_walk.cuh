/*
 * The recurrence of one path over tiles that search different blocks of disparities. G lanes share a path:
 * lane g has the slots g N to g N + N - 1 of a pixel's tile, where N is the least number with which the
 * longest list of the warp's tiles fits. Notation and ranges: gpu/stereo/sgm_path.cuh. Cells that are not
 * searched have V = SX_PATH_ABSENT.
 *
 * Lanes exchange messages for each pixel: one half of a word is the largest V of the sender, the other half V
 * - P1 of the cell beside the receiver's. A lane's last cell goes up to lane g + 1 in the high half, its first
 * one goes down to lane g - 1 in the low half. With two lanes one message goes each way. A cell that lies
 * beside no cell of the receiver is ignored.
 *
 * A slot behind the blocks of a tile is dead. Its M is 0, so its V never exceeds the largest V of the blocks,
 * and its neighbours are absent. It enters as absent.
 *
 * Code is unrolled for the number of slots of a lane: without branches between slots their instructions
 * overlap, and the code of a step stays in the instruction cache.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_PYRAMID_PYRAMID_WALK_CUH
#define SX_GPU_PYRAMID_PYRAMID_WALK_CUH

#include "gpu/pyramid/pyramid.cuh"
#include "gpu/stereo/sgm_path.cuh"
#include "gpu/warp.cuh"

/* Returns the most slots of a lane. Two lanes share six slots at most, four lanes eight. */
template <int G> __host__ __device__ constexpr int sx_pyramid_lane_slots()
{
	return G == 1 ? SX_PYRAMID_SLOTS : G == 2 ? SX_SEARCH_TILE_BLOCKS / 2 : 2;
}

/* Returns the paths of a warp. */
template <int G> __host__ __device__ constexpr int sx_pyramid_warp_paths()
{
	return 32 / G;
}

/*
 * Returns the words of a warp in shared memory, where V of a pixel goes from the old tile's slots to the new
 * tile's. They are rows of one slot of all paths; the last row is absent.
 */
template <int G> __host__ __device__ constexpr int sx_pyramid_turn_words()
{
	return (G * sx_pyramid_lane_slots<G>() + 1) * sx_pyramid_warp_paths<G>() * 4;
}

/*
 * Constants of a lane. g: index of the lane in its group. lower, upper: lanes of the warp with g - 1 and g + 1,
 * modulo G. cell: mask of the half of a message that holds a cell, if two lanes share a path. turn: place of
 * the path in sx_pyramid_turn_words() words.
 */
struct sx_pyramid_lane {
	int g, lower, upper;
	uint32_t cell, p1, p2, *turn;
};

/*
 * State at a pixel.
 * m: P2 - max of V, in both halves.
 * blocks: bit b: the pixel's tile searches block b. slots: N.
 * joined: bit s: the block of the lane's slot s follows that of the slot before, which may be another lane's.
 * below, above: V - P1 of the disparities before and after each block, in the high and in the low half; set
 * before the step to the next pixel. from_lower, from_upper: messages of the lanes beside this one.
 */
template <int G> struct sx_pyramid_state {
	uint32_t v[sx_pyramid_lane_slots<G>()][4];
	uint32_t below[sx_pyramid_lane_slots<G>()], above[sx_pyramid_lane_slots<G>()];
	uint32_t m, joined, from_lower, from_upper;
	uint64_t blocks;
	int slots;
};

template <int G>
__device__ __forceinline__ void sx_pyramid_lane_init(struct sx_pyramid_lane *lane, int p1, int p2,
						     uint32_t *turn)
{
	constexpr int paths = sx_pyramid_warp_paths<G>();
	const int me = (int)threadIdx.x % 32;

	lane->g = me / paths;
	lane->lower = (me + 32 - paths) % 32;
	lane->upper = (me + paths) % 32;
	lane->cell = lane->g & 1 ? 0x0000ffffu : 0xffff0000u;
	lane->p1 = sx_pair(p1);
	lane->p2 = sx_pair(p2);
	lane->turn = turn + me % paths * 4;
	*reinterpret_cast<uint4 *>(lane->turn + G * sx_pyramid_lane_slots<G>() * paths * 4) =
		make_uint4(SX_PATH_ABSENT, SX_PATH_ABSENT, SX_PATH_ABSENT, SX_PATH_ABSENT);
}

template <int G>
__device__ __forceinline__ void sx_pyramid_set_list(struct sx_pyramid_state<G> *s,
						    const struct sx_pyramid_lane &lane,
						    const struct sx_pyramid_list &list, int slots)
{
	s->blocks = list.blocks;
	s->joined = list.joined >> (lane.g * slots);
	s->slots = slots;
}

/* Starts a path: every cell has L = P2, so that the next step yields V = P2 + M. */
template <int G>
__device__ __forceinline__ void sx_pyramid_start(struct sx_pyramid_state<G> *s,
						 const struct sx_pyramid_lane &lane,
						 const struct sx_pyramid_list &list, int slots)
{
#pragma unroll
	for (int i = 0; i < sx_pyramid_lane_slots<G>(); i++) {
#pragma unroll
		for (int k = 0; k < 4; k++)
			s->v[i][k] = 0;
		s->below[i] = s->above[i] = SX_PATH_ABSENT;
	}
	s->m = lane.p2;
	s->from_lower = s->from_upper = SX_PATH_ABSENT;
	sx_pyramid_set_list<G>(s, lane, list, slots);
}

/*
 * Enters another tile: arranges V of the last pixel by the blocks of the new tile. slots: N of the new tile.
 * All lanes of the warp must call it.
 */
template <int G>
__device__ __forceinline__ void sx_pyramid_enter(struct sx_pyramid_state<G> *s,
						 const struct sx_pyramid_lane &lane,
						 const struct sx_pyramid_list &list, int slots)
{
	constexpr int most = sx_pyramid_lane_slots<G>(), absent = G * most;
	constexpr int row = sx_pyramid_warp_paths<G>();
	uint4 *own = reinterpret_cast<uint4 *>(lane.turn);
	const uint64_t from = s->blocks;

	__syncwarp();
#pragma unroll
	for (int i = 0; i < most; i++) {
		if (i >= s->slots)
			break;
		own[(lane.g * s->slots + i) * row] =
			make_uint4(s->v[i][0], s->v[i][1], s->v[i][2], s->v[i][3]);
	}
	__syncwarp();
	sx_pyramid_set_list<G>(s, lane, list, slots);
#pragma unroll
	for (int i = 0; i < most; i++) {
		const int slot = lane.g * slots + i;
		int before = absent, here = absent, after = absent;

		if (i >= slots)
			break;
		if (slot < sx_pyramid_tile_count(list.tile)) {
			const int block = sx_pyramid_tile_block(list.tile, slot);
			const int old = __popcll(from & ((1ull << block) - 1));
			const int has = (int)(from >> block & 1);

			here = has ? old : here;
			before = block > 0 && (from >> (block - 1) & 1) ? old - 1 : before;
			after = block + 1 < SX_PYRAMID_BLOCKS_MAX && (from >> (block + 1) & 1) ? old + has
											       : after;
		}
		const uint4 v = own[here * row];

		s->v[i][0] = v.x, s->v[i][1] = v.y, s->v[i][2] = v.z, s->v[i][3] = v.w;
		s->below[i] = sx_pair_sub(own[before * row].w, lane.p1);
		s->above[i] = sx_pair_sub(own[after * row].x, lane.p1);
	}
}

/* Sets below and above inside a tile. N: number of slots. */
template <int G, int N>
__device__ __forceinline__ void sx_pyramid_stay(struct sx_pyramid_state<G> *s,
						const struct sx_pyramid_lane &lane)
{
#pragma unroll
	for (int i = 0; i < N; i++) {
		s->below[i] = !(s->joined >> i & 1) ? SX_PATH_ABSENT
			      : i == 0		    ? s->from_lower
						    : sx_pair_sub(s->v[(i + N - 1) % N][3], lane.p1);
		s->above[i] = !(s->joined >> (i + 1) & 1) ? SX_PATH_ABSENT
			      : i == N - 1		  ? s->from_upper
							  : sx_pair_sub(s->v[(i + 1) % N][0], lane.p1);
	}
}

/* Returns the bits of a that are in mask, and the others of b. */
__device__ __forceinline__ uint32_t sx_pyramid_mix(uint32_t mask, uint32_t a, uint32_t b)
{
	return (a & mask) | (b & ~mask);
}

/* Sets m and messages from V of the pixel. most: the largest V of the lane, in both halves. */
template <int G, int N>
__device__ __forceinline__ void sx_pyramid_exchange(struct sx_pyramid_state<G> *s,
						    const struct sx_pyramid_lane &lane, uint32_t most)
{
	constexpr uint32_t high = 0xffff0000u, low = 0x0000ffffu;
	constexpr int apart = sx_pyramid_warp_paths<G>();

	if (G > 1) {
		const uint32_t first = sx_pair_sub(s->v[0][0], lane.p1),
			       last = sx_pair_sub(s->v[N - 1][3], lane.p1);

		if (G == 2) {
			const uint32_t message = sx_pyramid_mix(lane.cell, lane.g ? first : last, most);

			s->from_lower = s->from_upper = __shfl_xor_sync(SX_WARP_ALL_LANES, message, apart);
			most = sx_pyramid_mix(lane.cell, s->from_lower, most);
		} else {
			const uint32_t up = sx_pyramid_mix(high, last, most),
				       down = sx_pyramid_mix(low, first, most);
			const uint32_t across = __shfl_xor_sync(SX_WARP_ALL_LANES, most, 2 * apart);

			s->from_lower = __shfl_sync(SX_WARP_ALL_LANES, up, lane.lower);
			s->from_upper = __shfl_sync(SX_WARP_ALL_LANES, down, lane.upper);
			most = sx_pair_max(sx_pair_max(most, across),
					   sx_pyramid_mix(low, s->from_lower, s->from_upper));
		}
		most = sx_pair_max_across(most);
	}
	s->m = sx_pair_sub(lane.p2, most);
}

/*
 * Steps to the next pixel. N: number of slots. match: M of each slot's cell row, 0 in dead slots; receives V.
 * cut: F of gpu/stereo/sgm_path.cuh in each of four bytes; read only with EDGES. All lanes of the warp must
 * call it.
 */
template <int G, int N, bool EDGES>
__device__ __forceinline__ void sx_pyramid_step(struct sx_pyramid_state<G> *s,
						const struct sx_pyramid_lane &lane, uint2 (&match)[N],
						uint32_t cut)
{
	const uint32_t m = EDGES ? sx_pair_sub(s->m, sx_pair_even(cut)) : s->m;
	uint32_t largest[N];

#pragma unroll
	for (int i = 0; i < N; i++) {
		uint32_t(&v)[4] = s->v[i];
		uint32_t less[4], h[4];

#pragma unroll
		for (int k = 0; k < 4; k++)
			less[k] = sx_pair_sub(v[k], lane.p1);
		/* the pairs (-1, 3) and (4, 8) */
		const uint32_t below = __byte_perm(less[3], s->below[i], 0x1076),
			       above = __byte_perm(less[0], s->above[i], 0x5432);

		h[0] = sx_pair_max(sx_pair_max(below, less[1]), v[0]);
		h[1] = sx_pair_max(sx_pair_max(less[0], less[2]), v[1]);
		h[2] = sx_pair_max(sx_pair_max(less[1], less[3]), v[2]);
		h[3] = sx_pair_max(sx_pair_max(less[2], above), v[3]);
#pragma unroll
		for (int k = 0; k < 4; k++)
			h[k] = sx_pair_add_clamp(h[k], m);
		match[i].x = sx_pair_bytes(h[0] + match[i].x + (EDGES ? cut : 0), h[1]);
		match[i].y = sx_pair_bytes(h[2] + match[i].y + (EDGES ? cut : 0), h[3]);

		const struct sx_pyramid_row row = sx_pyramid_row_of(match[i]);

#pragma unroll
		for (int k = 0; k < 4; k++)
			v[k] = row.pair[k];
		largest[i] = sx_pair_max_of<4>(v);
	}
	sx_pyramid_exchange<G, N>(s, lane, sx_pair_max_across(sx_pair_max_of<N>(largest)));
}

#endif
