/*
 * Path aggregation of SGM, recompute flow: as gpu/stereo/sgm.cu, but without a cost volume. Each path
 * computes its costs from descriptors, by products of bits (gpu/stereo/match.cuh).
 *
 * Work:    all paths in one launch, the longest first. Horizontal: a warp walks four rows, a group of eight
 *          lanes one (gpu/stereo/checkpoint_walk.cuh). Vertical: a warp walks eight neighbouring columns, a
 *          group two (gpu/stereo/checkpoint_columns.cuh).
 * Memory:  D bytes of V per pixel and path are written; descriptors are read through shared memory.
 * Ranges:  gpu/stereo/sgm_path.cuh.
 * Shapes:  any width, height; D any multiple of 32 from 32 to 256; horizontal and vertical paths.
 * Speed:   tests/lab/lab-performance.md, "CUDA: path aggregation".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/stereo/checkpoint_columns.cuh"
#include "gpu/stereo/checkpoint_walk.cuh"
#include "gpu/stereo/sgm_recompute.cuh"

/* Blocks whose registers should fit a multiprocessor. */
#define RECOMPUTE_BLOCKS(N) (((N) > 4 ? 8 : (N) > 2 ? 16 : 20) / WARPS)

namespace
{

/* Stores V of one pixel. */
template <int N> __device__ __forceinline__ void store_path(uint8_t *to, const struct sx_path_state<N> &s)
{
	uint32_t words[N];

	sx_path_words<N>(words, s.v);
	sx_words_store<N>(to, words);
}

/*
 * Walks a segment. to: place of the lane's words at the row's first pixel. whole: all columns of the segment
 * are in the image.
 */
template <int N, bool RARE, bool whole>
__device__ __forceinline__ void walk_segment(struct sx_path_state<N> *s, const struct sx_path_lane &lane,
					     struct window<N> *n, const uint32_t *ring,
					     const uint32_t *p2_table, int x0, bool leftwards, uint8_t *to,
					     const struct row_place &p, const struct sx_checkpoint_work &w)
{
#pragma unroll
	for (int k = 0; k < SEGMENT; k += 2) {
		const int i = leftwards ? SEGMENT - 2 - k : k;
		uint32_t match[2][2 * N];

		__syncwarp(); /* operands of all pairs at once would not fit the registers */
		load_ring<N>(n, ring, x0, leftwards ? i / 2 : i / 2 + N, 1, p.g);
		match_two<N, RARE>(match[0], match[1], *n, i, x0, p, w);
#pragma unroll
		for (int h = 0; h < 2; h++) {
			const int u = leftwards ? 1 - h : h, x = x0 + i + u;

			if (whole || x < w.width) {
				step_row<N, RARE>(s, lane, match[u], p2_table, x, leftwards ? -1 : 1, p, w);
				if (p.live)
					store_path<N>(to + (size_t)x * (32 * N), *s);
			}
		}
	}
}

/* Walks a row to the left. warp: index in the grid. ring: of the lane's group. path: V of the direction. */
template <int N, bool RARE>
__device__ __forceinline__ void walk_row_left(uint32_t *ring, const uint32_t *p2_table, int warp,
					      uint8_t *path, const struct sx_checkpoint_work &w)
{
	const struct row_place p = find_row(w, warp);
	const int last = w.segments - 1;
	uint8_t *const to = path + (size_t)p.y * (size_t)w.width * (32 * N) + 4 * N * p.g;
	struct sx_path_lane lane;
	struct sx_path_state<N> s;
	struct sx_match_left next[SEGMENT / 2];
	struct window<N> n;

	sx_checkpoint_lane<N>(&lane, w, 1);
	sx_path_start(&s, &lane);
	for (int i = 4 * N; i > -AHEAD; i--)
		fetch_ring<N>(ring, p, SEGMENT * (last + i), w);
	load_left(n.left, p, SEGMENT * last);
	load_left(next, p, SEGMENT * max(last - 1, 0));
	sx_words_wait<AHEAD - 1>();
	__syncwarp();
	load_ring<N>(&n, ring, SEGMENT * last, SEGMENT / 2, N, p.g);
	walk_segment<N, RARE, false>(&s, lane, &n, ring, p2_table, SEGMENT * last, true, to, p, w);
	for (int b = last - 1; b >= 0; b--) {
#pragma unroll
		for (int i = 0; i < SEGMENT / 2; i++)
			n.left[i] = next[i];
		load_left(next, p, SEGMENT * max(b - 1, 0));
		fetch_ring<N>(ring, p, SEGMENT * (b + 1 - AHEAD), w);
		sx_words_wait<AHEAD - 1>();
		__syncwarp();
		slide_left(&n);
		walk_segment<N, RARE, true>(&s, lane, &n, ring, p2_table, SEGMENT * b, true, to, p, w);
	}
	sx_words_wait<0>();
}

template <int N, bool RARE>
__device__ __forceinline__ void walk_row_right(uint32_t *ring, const uint32_t *p2_table, int warp,
					       uint8_t *path, const struct sx_checkpoint_work &w)
{
	const struct row_place p = find_row(w, warp);
	const int whole = w.width / SEGMENT;
	uint8_t *const to = path + (size_t)p.y * (size_t)w.width * (32 * N) + 4 * N * p.g;
	struct sx_path_lane lane;
	struct sx_path_state<N> s;
	struct sx_match_left next[SEGMENT / 2];
	struct window<N> n;

	sx_checkpoint_lane<N>(&lane, w, 1);
	sx_path_start(&s, &lane);
	for (int i = 0; i <= 4 * N + AHEAD - 1; i++)
		fetch_ring<N>(ring, p, SEGMENT * i, w);
	load_left(next, p, 0);
	sx_words_wait<AHEAD - 1>();
	__syncwarp();
	load_ring<N>(&n, ring, -SEGMENT, SEGMENT / 2, N, p.g); /* columns that the first segment shares */
	for (int b = 0; b < w.segments; b++) {
#pragma unroll
		for (int i = 0; i < SEGMENT / 2; i++)
			n.left[i] = next[i];
		load_left(next, p, SEGMENT * min(b + 1, w.segments - 1));
		fetch_ring<N>(ring, p, SEGMENT * (b + AHEAD) + 32 * N, w);
		sx_words_wait<AHEAD>();
		__syncwarp();
#pragma unroll
		for (int h = 0; h < 2; h++)
#pragma unroll
			for (int k = 0; k < N; k++)
				n.right[h][k] = n.right[h][k + SEGMENT / 2];
		if (b < whole)
			walk_segment<N, RARE, true>(&s, lane, &n, ring, p2_table, SEGMENT * b, false, to, p,
						    w);
		else
			walk_segment<N, RARE, false>(&s, lane, &n, ring, p2_table, SEGMENT * b, false, to, p,
						     w);
	}
	sx_words_wait<0>();
}

/* Walks the rows of the bands in the path's direction. shared: as in walk_down(). */
template <int N, bool RARE, bool UP>
__device__ __forceinline__ void walk_columns(uint32_t *bands, int block, uint8_t *path,
					     const struct sx_checkpoint_work &w)
{
	uint32_t *const p2_table = bands + down_words<N>();
	const struct column_place p = find_column<false>(w, block);
	const size_t row = (size_t)w.width * (32 * N);
	const int last = w.bands - 1;
	uint8_t *const to = path + (size_t)p.x * (32 * N) + 4 * N * p.g;
	struct sx_path_lane lane;
	struct sx_path_state<N> s[2];

	sx_checkpoint_lane<N>(&lane, w, 0);
	sx_path_start(&s[0], &lane);
	sx_path_start(&s[1], &lane);
	fetch_band<N, false>(bands, w, p, UP ? last : 0);
	sx_words_wait<0>();
	__syncthreads();
	for (int i = 0; i < w.bands; i++) {
		const int b = UP ? last - i : i, count = min(ROWS, w.height - b * ROWS);
		const uint32_t *band = bands + (i & 1) * band_words<N>();

		fetch_band<N, false>(bands + (~i & 1) * band_words<N>(), w, p, UP ? b - 1 : b + 1);
#pragma unroll unrolled < N>()
		for (int j = 0; j < ROWS; j++) {
			const int k = UP ? ROWS - 1 - j : j, y = b * ROWS + k;
			uint32_t match[2][2 * N], p2_cut[2];

			if (k >= count) /* the same for all threads */
				continue;
			match_row<N, RARE, false>(match, band + k * row_words<N>(), p.x, p, w);
#pragma unroll
			for (int c = 0; c < 2; c++)
				p2_cut[c] =
					RARE ? sx_checkpoint_p2_cut(p2_table, w, p.x + c, y, 0, UP ? 1 : -1)
					     : 0;
			sx_path_step_two<N, SX_CHECKPOINT_GROUP, RARE, SX_CHECKPOINT_APART>(s, &lane, match,
											    p2_cut);
#pragma unroll
			for (int c = 0; c < 2; c++)
				if (p.x + c < w.width)
					store_path<N>(to + (size_t)y * row + c * (32 * N), s[c]);
		}
		sx_words_wait<0>();
		__syncthreads();
	}
}

/*
 * Blocks that walk right come first, then the blocks that walk left, down and up, so that the longest paths
 * begin first.
 */
template <int N, bool RARE>
__global__ void __launch_bounds__(THREADS, RECOMPUTE_BLOCKS(N))
	recompute_kernel(const struct sx_recompute_work c)
{
	SX_DYNAMIC_SHARED(uint32_t, shared);
	const struct sx_checkpoint_work &w = c.w;
	const int warp = (int)threadIdx.x / 32, vertical = (int)blockIdx.x - 2 * c.along;
	const bool horizontal = vertical < 0, second = horizontal ? vertical >= -c.along : vertical >= c.down;
	const int block = horizontal ? (int)blockIdx.x - second * c.along : vertical - second * c.down;
	const int row_warp = block * WARPS + warp;
	uint32_t *const ring =
		shared + (warp * GROUPS + (int)threadIdx.x % SX_CHECKPOINT_APART) * ring_stride<N>();
	uint32_t *const p2_table =
		shared + (horizontal ? WARPS * GROUPS * ring_stride<N>() : down_words<N>());
	uint8_t *const path = c.path + (size_t)(2 * !horizontal + second) * c.path_bytes;

	if (RARE)
		sx_p2_table_copy(p2_table, w.p2_table, horizontal, (int)blockDim.x);
	if (horizontal && row_warp * GROUPS >= w.height)
		return;
	if (horizontal && !second)
		walk_row_right<N, RARE>(ring, p2_table, row_warp, path, w);
	else if (horizontal)
		walk_row_left<N, RARE>(ring, p2_table, row_warp, path, w);
	else if (!second)
		walk_columns<N, RARE, false>(shared, block, path, w);
	else
		walk_columns<N, RARE, true>(shared, block, path, w);
}

template <int N, bool RARE> struct recompute_form {
	static constexpr int rings = WARPS * GROUPS * ring_stride<N>();
	static constexpr size_t bytes = 4 * (size_t)(down_words<N>() > rings ? down_words<N>() : rings) +
					(RARE ? SX_P2_TABLE_SHARED : 0);

	static cudaError_t prepare()
	{
		return sx_checkpoint_prepare(recompute_kernel<N, RARE>, bytes);
	}
	static void launch(const struct sx_recompute_work &c, cudaStream_t stream)
	{
		SX_LAUNCH((recompute_kernel<N, RARE>), dim3(2 * (unsigned)(c.along + c.down)), dim3(THREADS),
			  bytes, stream, c);
	}
};

} // namespace

cudaError_t sx_recompute_prepare(struct sx_recompute_work *c, int disparities)
{
	c->along = (c->w.height + WARPS * GROUPS - 1) / (WARPS * GROUPS);
	c->down = c->paths > 2 ? (c->w.width + COLUMNS - 1) / COLUMNS : 0;
	return sx_checkpoint_with(disparities, c->w.rare,
				  [](auto f) { return recompute_form<f.n, f.rare>::prepare(); });
}

cudaError_t sx_recompute_run(const struct sx_recompute_work *c, int disparities, cudaStream_t stream)
{
	sx_checkpoint_with(disparities, c->w.rare,
			   [=](auto f) { recompute_form<f.n, f.rare>::launch(*c, stream); });
	return SX_LAUNCHED();
}
