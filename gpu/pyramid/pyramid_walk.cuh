/*
 * The recurrence of one path over tiles that search different blocks of disparities. A thread walks a path
 * and keeps V of all blocks of its pixel: no lane needs another. Notation and ranges:
 * gpu/stereo/sgm_path.cuh. Cells that are not searched have V = SX_PATH_ABSENT.
 *
 * A slot behind the blocks of a lane's tile is dead: other lanes of the warp may have more blocks. Its M is
 * 0, so its V never exceeds the largest V of the blocks, and its neighbours are absent. It enters as absent.
 *
 * Code is unrolled for the number of slots that the warp needs: without branches between slots their
 * instructions overlap, and the code of a step stays in the instruction cache.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_PYRAMID_PYRAMID_WALK_CUH
#define SX_GPU_PYRAMID_PYRAMID_WALK_CUH

#include "gpu/pyramid/pyramid.cuh"
#include "gpu/stereo/sgm_path.cuh"
#include "gpu/warp.cuh"

/* Words of a warp in shared memory, where V of a pixel goes from the old tile's slots to the new tile's. */
#define SX_PYRAMID_TURN_WORDS ((SX_PYRAMID_SLOTS + 1) * 32 * 4)

/*
 * State at a pixel.
 * m: P2 - max of V, in both halves.
 * blocks: bit b: the pixel's tile searches block b. most: most blocks of a tile of the warp's lanes.
 * joined: bit s: the block of slot s follows that of slot s - 1.
 * below, above: V of the disparities before and after each block, in the high and in the low half; set before
 * the step into a tile.
 */
struct sx_pyramid_state {
	uint32_t v[SX_PYRAMID_SLOTS][4], below[SX_PYRAMID_SLOTS], above[SX_PYRAMID_SLOTS], m, joined;
	uint64_t blocks;
	int most;
};

/* Returns the blocks of a tile as bits. Sets *joined. */
__device__ __forceinline__ uint64_t sx_pyramid_blocks(uint64_t tile, uint32_t *joined)
{
	uint64_t blocks = 0;

	*joined = 0;
	for (int s = 0; s < sx_pyramid_tile_count(tile); s++) {
		const int block = sx_pyramid_tile_block(tile, s);

		if (block > 0 && blocks >> (block - 1) & 1)
			*joined |= 1u << s;
		blocks |= 1ull << block;
	}
	return blocks;
}

/* Starts a path: every cell has L = P2, so that the next step yields V = P2 + M. */
__device__ __forceinline__ void sx_pyramid_start(struct sx_pyramid_state *s, uint64_t tile, int most,
						 uint32_t p2, uint32_t *turn)
{
	const int lane = (int)threadIdx.x % 32;

#pragma unroll
	for (int i = 0; i < SX_PYRAMID_SLOTS; i++) {
#pragma unroll
		for (int k = 0; k < 4; k++)
			s->v[i][k] = 0;
		s->below[i] = s->above[i] = SX_PATH_ABSENT;
	}
	s->m = p2;
	s->most = most;
	s->blocks = sx_pyramid_blocks(tile, &s->joined);
	reinterpret_cast<uint4 *>(turn)[SX_PYRAMID_SLOTS * 32 + lane] =
		make_uint4(SX_PATH_ABSENT, SX_PATH_ABSENT, SX_PATH_ABSENT, SX_PATH_ABSENT);
}

/*
 * Enters another tile: arranges V of the last pixel by the blocks of the new tile. most: of the new tiles of
 * the warp. turn: the warp's SX_PYRAMID_TURN_WORDS words.
 */
__device__ __forceinline__ void sx_pyramid_enter(struct sx_pyramid_state *s, uint64_t tile, int most,
						 uint32_t *turn)
{
	uint4 *own = reinterpret_cast<uint4 *>(turn) + (int)threadIdx.x % 32;
	const uint64_t from = s->blocks;

#pragma unroll
	for (int i = 0; i < SX_PYRAMID_SLOTS; i++) {
		if (i >= s->most)
			break;
		own[32 * i] = make_uint4(s->v[i][0], s->v[i][1], s->v[i][2], s->v[i][3]);
	}
	s->most = most;
	s->blocks = sx_pyramid_blocks(tile, &s->joined);
#pragma unroll
	for (int i = 0; i < SX_PYRAMID_SLOTS; i++) {
		int before = SX_PYRAMID_SLOTS, here = SX_PYRAMID_SLOTS, after = SX_PYRAMID_SLOTS;

		if (i >= most)
			break;
		if (i < sx_pyramid_tile_count(tile)) {
			const int block = sx_pyramid_tile_block(tile, i);
			const int slot = __popcll(from & ((1ull << block) - 1));
			const int has = (int)(from >> block & 1);

			here = has ? slot : here;
			before = block > 0 && (from >> (block - 1) & 1) ? slot - 1 : before;
			after = block + 1 < SX_PYRAMID_BLOCKS_MAX && (from >> (block + 1) & 1) ? slot + has
											       : after;
		}
		const uint4 v = own[32 * here];

		s->v[i][0] = v.x, s->v[i][1] = v.y, s->v[i][2] = v.z, s->v[i][3] = v.w;
		s->below[i] = own[32 * before].w;
		s->above[i] = own[32 * after].x;
	}
}

/* Sets below and above inside a tile. N: number of slots. */
template <int N> __device__ __forceinline__ void sx_pyramid_stay(struct sx_pyramid_state *s)
{
#pragma unroll
	for (int i = 0; i < N; i++) {
		s->below[i] = i > 0 && (s->joined >> i & 1) ? s->v[(i + N - 1) % N][3] : SX_PATH_ABSENT;
		s->above[i] = i + 1 < N && (s->joined >> (i + 1) & 1) ? s->v[(i + 1) % N][0] : SX_PATH_ABSENT;
	}
}

/*
 * Steps to the next pixel. N: number of slots. match: M of each slot's cell row, 0 in dead slots. cut: F of
 * gpu/stereo/sgm_path.cuh as a pair; read only with EDGES.
 */
template <int N, bool EDGES>
__device__ __forceinline__ void sx_pyramid_step(struct sx_pyramid_state *s, const uint2 (&match)[N],
						uint32_t p1, uint32_t p2, uint32_t cut)
{
	const uint32_t m = EDGES ? sx_pair_sub(s->m, cut) : s->m;
	uint32_t largest[N];

#pragma unroll
	for (int i = 0; i < N; i++) {
		const struct sx_pyramid_row row = sx_pyramid_row_of(match[i]);
		uint32_t(&v)[4] = s->v[i];
		uint32_t less[4], h[4];

#pragma unroll
		for (int k = 0; k < 4; k++)
			less[k] = sx_pair_sub(v[k], p1);
		/* the pairs (-1, 3) and (4, 8) */
		const uint32_t below = __byte_perm(less[3], sx_pair_sub(s->below[i], p1), 0x1076),
			       above = __byte_perm(less[0], sx_pair_sub(s->above[i], p1), 0x5432);

		h[0] = sx_pair_max(sx_pair_max(below, less[1]), v[0]);
		h[1] = sx_pair_max(sx_pair_max(less[0], less[2]), v[1]);
		h[2] = sx_pair_max(sx_pair_max(less[1], less[3]), v[2]);
		h[3] = sx_pair_max(sx_pair_max(less[2], above), v[3]);
#pragma unroll
		for (int k = 0; k < 4; k++)
			v[k] = sx_pair_add_clamp(h[k], m) + row.pair[k] + (EDGES ? cut : 0);
		largest[i] = sx_pair_max_of<4>(v);
	}
	s->m = sx_pair_sub(p2, sx_pair_max_across(sx_pair_max_of<N>(largest)));
}

/* Returns V of a slot as a cell row. */
__device__ __forceinline__ uint2 sx_pyramid_stored(const struct sx_pyramid_state &s, int slot)
{
	return make_uint2(sx_pair_bytes(s.v[slot][0], s.v[slot][1]),
			  sx_pair_bytes(s.v[slot][2], s.v[slot][3]));
}

#endif
