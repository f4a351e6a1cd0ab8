/*
 * Horizontal paths of the checkpoint flow. A warp walks four rows in segments of eight columns; a group of
 * eight lanes walks one row. This file has the descriptors of such a warp, and the walks that make
 * checkpoints: to the left, one every eighth column; to the right, one where a second part of the row begins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_CHECKPOINT_WALK_CUH
#define SX_GPU_STEREO_CHECKPOINT_WALK_CUH

#include "gpu/stereo/checkpoint.cuh"

#define SEGMENT SX_CHECKPOINT_EVERY
#define GROUPS SX_CHECKPOINT_APART /* groups of a warp, one row each */
#define AHEAD 4			   /* segments whose right descriptors are fetched ahead */

namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

/* Place of a lane. Groups below the image walk its last row too and store nothing. */
struct row_place {
	int g, group, y;
	bool live;
	const uint32_t *left, *right; /* descriptors of the row */
};

/* Returns the place of the calling lane. warp: index of the warp in the grid. */
__device__ __forceinline__ struct row_place find_row(const struct sx_checkpoint_work &w, int warp)
{
	struct row_place p;
	const int y = warp * GROUPS + (int)threadIdx.x % SX_CHECKPOINT_APART;

	p.g = (int)threadIdx.x % 32 / SX_CHECKPOINT_APART;
	p.group = (int)threadIdx.x % SX_CHECKPOINT_APART;
	p.y = min(y, w.height - 1);
	p.live = y < w.height;
	p.left = w.left + (size_t)p.y * (size_t)w.left_pitch;
	p.right = w.right + (size_t)p.y * (size_t)w.right_pitch;
	return p;
}

/* Descriptors of a segment: right columns from 2 N before the first column on, near, and D/2 before these. */
template <int N> struct window {
	struct sx_match_left left[SEGMENT / 2];
	struct sx_match_two right[2][N + SEGMENT / 2];
};

__device__ __forceinline__ void load_left(struct sx_match_left (&left)[SEGMENT / 2],
					  const struct row_place &p, int x0)
{
#pragma unroll
	for (int i = 0; i < SEGMENT / 2; i++)
		left[i] = sx_match_load(p.left + x0 + 2 * i);
}

/*
 * Returns the size of the ring of right descriptors of a warp's rows, words. The ring holds the descriptors
 * that a segment's lanes meet and some that are fetched ahead. The segment at column 8 b meets words 8 b .. 8
 * b + 32 N + 7 of w.right's row.
 */
template <int N> __host__ __device__ constexpr int ring_words()
{
	return N > 6 ? 512 : 256;
}

/*
 * Returns the words from one group's ring to the next. Lanes that read at the same time use different banks.
 */
template <int N> __host__ __device__ constexpr int ring_stride()
{
	return ring_words<N>() + 4;
}

/* Fetches words from .. from + 7 of each row, if they exist. */
template <int N>
__device__ __forceinline__ void fetch_ring(uint32_t *ring, const struct row_place &p, int from,
					   const struct sx_checkpoint_work &w)
{
	const int at = from + 4 * p.g;

	if (p.g < SEGMENT / 4 && at >= 0 && at < w.right_pitch)
		sx_words_copy<4>(ring + at % ring_words<N>(),
				 reinterpret_cast<const uint8_t *>(p.right + at));
	sx_words_commit();
}

/* Loads `count` pairs of columns of the window, from pair `first` on. */
template <int N>
__device__ __forceinline__ void load_ring(struct window<N> *n, const uint32_t *ring, int x0, int first,
					  int count, int g)
{
	/* pairs of columns that never cross the ring's end */
	constexpr int together = N % 4 == 0 ? 4 : N % 2 == 0 ? 2 : 1;

#pragma unroll
	for (int h = 0; h < 2; h++)
#pragma unroll
		for (int k = first; k < first + count; k++) {
			const int at = x0 + 30 * N - 2 * N * g + 2 * (k - k % together) - 16 * N * h;

			n->right[h][k] = sx_match_two_at(ring + at % ring_words<N>() + 2 * (k % together));
		}
}

/* Moves the window to the segment before; the shared columns move up. */
template <int N> __device__ __forceinline__ void slide_left(struct window<N> *n)
{
#pragma unroll
	for (int h = 0; h < 2; h++)
#pragma unroll
		for (int k = N - 1; k >= 0; k--)
			n->right[h][k + SEGMENT / 2] = n->right[h][k];
}

/* Computes M of columns i and i + 1. */
template <int N, bool RARE>
__device__ __forceinline__ void match_two(uint32_t (&first)[2 * N], uint32_t (&second)[2 * N],
					  const struct window<N> &n, int i, int x0, const struct row_place &p,
					  const struct sx_checkpoint_work &w)
{
	sx_match_pairs<N>(first, second, sx_match_ready(n.left[i / 2]), n.right[0] + i / 2,
			  n.right[1] + i / 2);
	if (RARE && w.beyond_is_max) {
		sx_match_hide<N>(first, x0 + i - w.min_disparity - 2 * N * p.g, w.width);
		sx_match_hide<N>(second, x0 + i + 1 - w.min_disparity - 2 * N * p.g, w.width);
	}
}

/* Steps to column x, in direction dx. */
template <int N, bool RARE>
__device__ __forceinline__ void step_row(struct sx_path_state<N> *s, const struct sx_path_lane &lane,
					 const uint32_t (&match)[2 * N], const uint32_t *p2_table, int x,
					 int dx, const struct row_place &p,
					 const struct sx_checkpoint_work &w)
{
	sx_checkpoint_step_pairs<N, RARE>(s, lane, match,
					  RARE ? sx_checkpoint_p2_cut(p2_table, w, x, p.y, -dx, 0) : 0);
}

/*
 * Walks left along a segment of which count columns are in the image. whole: all columns are; without
 * branches the work overlaps.
 */
template <int N, bool RARE, bool whole>
__device__ __forceinline__ void walk_left(struct sx_path_state<N> *s, const struct sx_path_lane &lane,
					  const struct window<N> &n, const uint32_t *p2_table, int x0,
					  int count, const struct row_place &p,
					  const struct sx_checkpoint_work &w)
{
#pragma unroll
	for (int i = SEGMENT - 2; i >= 0; i -= 2) {
		uint32_t first[2 * N], second[2 * N];

		match_two<N, RARE>(first, second, n, i, x0, p, w);
		if (whole || i + 1 < count)
			step_row<N, RARE>(s, lane, second, p2_table, x0 + i + 1, -1, p, w);
		if (whole || i < count)
			step_row<N, RARE>(s, lane, first, p2_table, x0 + i, -1, p, w);
	}
}

/*
 * Walks left. warp: index in the grid. rings: GROUPS * ring_stride() words of the warp. p2_table: of
 * horizontal paths.
 */
template <int N, bool RARE>
__device__ __forceinline__ void walk_leftwards(uint32_t *rings, const uint32_t *p2_table, int warp,
					       const struct sx_checkpoint_work &w)
{
	const struct row_place p = find_row(w, warp);
	const int last = w.segments - 1;
	uint32_t *const ring = rings + p.group * ring_stride<N>();
	uint8_t *const to = w.leftwards + (size_t)p.y * (size_t)w.segments * (32 * N) + 4 * N * p.g;
	struct sx_path_lane lane;
	struct sx_path_state<N> s;
	struct window<N> n;
	struct sx_match_left next[SEGMENT / 2];

	if (last == 0) /* the state after the first segment is never used */
		return;
	sx_checkpoint_lane<N>(&lane, w, 1);
	sx_path_start(&s, &lane);
	for (int i = 4 * N; i > -AHEAD; i--)
		fetch_ring<N>(ring, p, SEGMENT * (last + i), w);
	load_left(n.left, p, SEGMENT * last);
	load_left(next, p, SEGMENT * (last - 1));
	sx_words_wait<AHEAD - 1>();
	__syncwarp();
	load_ring<N>(&n, ring, SEGMENT * last, 0, N + SEGMENT / 2, p.g);
	walk_left<N, RARE, false>(&s, lane, n, p2_table, SEGMENT * last, w.width - SEGMENT * last, p, w);
	for (int b = last - 1;; b--) {
		uint32_t words[N];

		sx_path_words<N>(words, s.v);
		if (p.live)
			sx_words_store<N>(to + (size_t)b * (32 * N), words);
		if (b == 0)
			break;
#pragma unroll
		for (int i = 0; i < SEGMENT / 2; i++)
			n.left[i] = next[i];
		load_left(next, p, SEGMENT * (b - 1));
		fetch_ring<N>(ring, p, SEGMENT * (b + 1 - AHEAD), w);
		sx_words_wait<AHEAD - 1>();
		__syncwarp();
		slide_left(&n);
		load_ring<N>(&n, ring, SEGMENT * b, 0, SEGMENT / 2, p.g);
		walk_left<N, RARE, true>(&s, lane, n, p2_table, SEGMENT * b, SEGMENT, p, w);
	}
	sx_words_wait<0>();
}

/*
 * Walks right to where the second part begins, and stores V of the column before it. Arguments as of
 * walk_leftwards().
 */
template <int N, bool RARE>
__device__ __forceinline__ void walk_rightwards(uint32_t *rings, const uint32_t *p2_table, int warp,
						const struct sx_checkpoint_work &w)
{
	const struct row_place p = find_row(w, warp);
	uint32_t *const ring = rings + p.group * ring_stride<N>();
	uint8_t *const to = w.rightwards + (size_t)p.y * (32 * N) + 4 * N * p.g;
	struct sx_path_lane lane;
	struct sx_path_state<N> s;
	struct window<N> n;
	struct sx_match_left next[SEGMENT / 2];
	uint32_t words[N];

	sx_checkpoint_lane<N>(&lane, w, 1);
	sx_path_start(&s, &lane);
	for (int i = 0; i < 4 * N + AHEAD; i++)
		fetch_ring<N>(ring, p, SEGMENT * i, w);
	load_left(next, p, 0);
	for (int b = 0; b < w.second; b++) {
#pragma unroll
		for (int i = 0; i < SEGMENT / 2; i++)
			n.left[i] = next[i];
		load_left(next, p, SEGMENT * (b + 1));
		fetch_ring<N>(ring, p, SEGMENT * (b + AHEAD) + 32 * N, w);
		sx_words_wait<AHEAD>();
		__syncwarp();
		load_ring<N>(&n, ring, SEGMENT * b, 0, N + SEGMENT / 2, p.g);
#pragma unroll
		for (int i = 0; i < SEGMENT; i += 2) {
			uint32_t first[2 * N], second[2 * N];

			match_two<N, RARE>(first, second, n, i, SEGMENT * b, p, w);
			step_row<N, RARE>(&s, lane, first, p2_table, SEGMENT * b + i, 1, p, w);
			step_row<N, RARE>(&s, lane, second, p2_table, SEGMENT * b + i + 1, 1, p, w);
		}
	}
	sx_path_words<N>(words, s.v);
	if (p.live)
		sx_words_store<N>(to, words);
	sx_words_wait<0>();
}

} // namespace

#endif
