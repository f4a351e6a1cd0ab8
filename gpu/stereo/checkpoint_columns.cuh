/*
 * Vertical paths of the checkpoint flow: down and up, of which only the sum of both is stored.
 *
 * Work:    a block walks 16 neighbouring columns, a warp eight of them, a group of eight lanes two. Down: V
 *          of every eighth row is stored. Up: in bands of eight rows from the bottom; costs of a band, then
 *          for each column down again from the checkpoint, V stays in registers, and up, where both are
 *          added.
 * Memory:  descriptors of a band in shared memory (5 KB with D = 128), down those of the next one as well.
 *          Up: M of a band, each lane its own: 16 KB with D = 128.
 * Ranges:  2 (P2 + Cmax) <= 255, so that the sum is a byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_CHECKPOINT_COLUMNS_CUH
#define SX_GPU_STEREO_CHECKPOINT_COLUMNS_CUH

#include "gpu/stereo/checkpoint.cuh"

#define ROWS SX_CHECKPOINT_EVERY
#define WARPS 2 /* of a block */
#define COLUMNS (8 * WARPS)
#define THREADS (32 * WARPS)

namespace /* types and templates of one name in two files would be one for the linker */
{

/* Rows that are written one after the other: as many as instructions stay in their cache. */
template <int N> __host__ __device__ constexpr int unrolled()
{
	return N > 4 ? 1 : 2;
}

/*
 * A row of a band: COLUMNS left descriptors, and the right ones from D columns before the block's first on.
 */
template <int N> __host__ __device__ constexpr int row_words()
{
	return 2 * COLUMNS + 32 * N;
}

template <int N> __host__ __device__ constexpr int band_words()
{
	return ROWS * row_words<N>();
}

template <int N> __host__ __device__ constexpr int match_words()
{
	return ROWS * 2 * THREADS * N;
}

/* By THREADS / ROWS threads a row, 16 bytes each. Bands and rows beyond the image are its last ones again. */
template <int N>
__device__ __forceinline__ void fetch_band(uint32_t *to, const struct sx_checkpoint_work &w, int band)
{
	constexpr int threads = THREADS / ROWS;
	const int row = (int)threadIdx.x / threads, i = (int)threadIdx.x % threads,
		  x0 = (int)blockIdx.x * COLUMNS + 4 * i;
	const int y = min(max(band, 0) * ROWS + row, w.height - 1);
	const uint32_t *left = w.left + (size_t)y * (size_t)w.left_pitch + x0,
		       *right = w.right + (size_t)y * (size_t)w.right_pitch + x0 - COLUMNS;

	to += row * row_words<N>() + 4 * i;
	sx_words_copy<4>(to, reinterpret_cast<const uint8_t *>(i < COLUMNS / 4 ? left : right));
#pragma unroll
	for (int k = 4 * threads; k < row_words<N>(); k += 4 * threads)
		sx_words_copy<4>(to + k, reinterpret_cast<const uint8_t *>(right + k));
	sx_words_commit();
}

/* What a lane knows about its place. */
struct column_place {
	int g, column, x; /* of the group's first column, in the block and in the image */
};

__device__ __forceinline__ struct column_place find_column()
{
	struct column_place p;

	p.g = (int)threadIdx.x % 32 / SX_CHECKPOINT_APART;
	p.column = (int)threadIdx.x / 32 * 8 + (int)threadIdx.x % SX_CHECKPOINT_APART * 2;
	p.x = (int)blockIdx.x * COLUMNS + p.column;
	return p;
}

/* M of both columns at a row of a band. */
template <int N, bool RARE>
__device__ __forceinline__ void match_row(uint32_t (&match)[2][2 * N], const uint32_t *row,
					  const struct column_place &p, const struct sx_checkpoint_work &w)
{
	const uint32_t *near = row + COLUMNS + 30 * N + p.column - 2 * N * p.g;
	struct sx_match_two twos[2][N + 1];

#pragma unroll
	for (int k = 0; k <= N; k++) {
		twos[0][k] = sx_match_two_at(near + 2 * k);
		twos[1][k] = sx_match_two_at(near + 2 * k - 16 * N);
	}
	sx_match_pairs<N>(match[0], match[1], sx_match_ready(sx_match_load(row + p.column)), twos[0],
			  twos[1]);
	if (RARE && w.beyond_is_max)
#pragma unroll
		for (int c = 0; c < 2; c++)
			sx_match_hide<N>(match[c], p.x + c - w.min_disparity - 2 * N * p.g, w.width);
}

/* shared: down_words(), and the table of falls behind. */
template <int N> __host__ __device__ constexpr int down_words()
{
	return 2 * band_words<N>();
}

template <int N, bool RARE>
__device__ __forceinline__ void walk_down(uint32_t *bands, const struct sx_checkpoint_work &w)
{
	uint32_t *const falls = bands + down_words<N>();
	const struct column_place p = find_column();
	const size_t row = (size_t)w.width * (32 * N);
	uint8_t *to = w.down + (size_t)p.x * (32 * N) + 4 * N * p.g;
	struct sx_path_lane lane;
	struct sx_path_state<N> s[2];

	if (RARE)
		sx_falls_copy(falls, w.falls, 0, (int)blockDim.x);
	sx_checkpoint_lane<N>(&lane, w, 0);
	sx_path_start(&s[0], &lane);
	sx_path_start(&s[1], &lane);
	fetch_band<N>(bands, w, 0);
	sx_words_wait<0>();
	__syncthreads();
	for (int b = 0; b + 1 < w.bands; b++, to += row) { /* nobody asks for the last band's end */
		const uint32_t *band = bands + (b & 1) * band_words<N>();

		fetch_band<N>(bands + (~b & 1) * band_words<N>(), w, b + 1);
#pragma unroll unrolled < N>()
		for (int k = 0; k < ROWS; k++) {
			uint32_t match[2][2 * N], fall[2];

			match_row<N, RARE>(match, band + k * row_words<N>(), p, w);
#pragma unroll
			for (int c = 0; c < 2; c++)
				fall[c] =
					RARE ? sx_checkpoint_fall(falls, w, p.x + c, b * ROWS + k, 0, -1) : 0;
			sx_path_step_two<N, SX_CHECKPOINT_GROUP, RARE, SX_CHECKPOINT_APART>(s, &lane, match,
											    fall);
		}
#pragma unroll
		for (int c = 0; c < 2; c++) {
			uint32_t words[N];

			sx_path_words<N>(words, s[c].v);
			if (p.x + c < w.width)
				sx_words_store<N>(to + c * (32 * N), words);
		}
		sx_words_wait<0>();
		__syncthreads();
	}
}

/* Column c of the group in a band of n rows; up goes on. whole: n is ROWS. */
template <int N, bool RARE, bool whole>
__device__ __forceinline__ void join_band(struct sx_path_state<N> *up, struct sx_path_state<N> *down,
					  const struct sx_path_lane &lane, const uint32_t *match, uint8_t *to,
					  size_t row, int n, const uint32_t *falls,
					  const struct sx_checkpoint_work &w, int x, int y)
{
	uint32_t there[ROWS][N], m[N], v[N];

#pragma unroll
	for (int k = 0; k < ROWS; k++)
		if (whole || k < n) {
			sx_words_load<N>(m, match + k * (2 * THREADS * N));
			sx_checkpoint_step<N, RARE>(down, lane, m,
						    RARE ? sx_checkpoint_fall(falls, w, x, y + k, 0, -1) : 0,
						    there[k]);
		}
#pragma unroll
	for (int k = ROWS - 1; k >= 0; k--)
		if (whole || k < n) {
			sx_words_load<N>(m, match + k * (2 * THREADS * N));
			sx_checkpoint_step<N, RARE>(
				up, lane, m, RARE ? sx_checkpoint_fall(falls, w, x, y + k, 0, 1) : 0, v);
#pragma unroll
			for (int i = 0; i < N; i++)
				v[i] += there[k][i]; /* as bytes: no carry */
			if (x < w.width)
				sx_words_store<N>(to + k * row, v);
		}
}

/* V down of both columns at the end of a band. Columns beyond the image go on from what is not theirs. */
template <int N>
__device__ __forceinline__ void load_checkpoints(uint32_t (&words)[2][N], const struct sx_checkpoint_work &w,
						 const struct column_place &p, int band)
{
#pragma unroll
	for (int c = 0; c < 2; c++) {
		const size_t pixel = (size_t)band * (size_t)w.width + (size_t)min(p.x + c, w.width - 1);

		sx_words_load<N>(words[c],
				 reinterpret_cast<const uint32_t *>(w.down + pixel * (32 * N) + 4 * N * p.g));
	}
}

/* shared: up_words(), and the table of falls behind. */
template <int N> __host__ __device__ constexpr int up_words()
{
	return band_words<N>() + match_words<N>();
}

template <int N, bool RARE>
__device__ __forceinline__ void walk_up(uint32_t *band, const struct sx_checkpoint_work &w)
{
	uint32_t *const matches = band + band_words<N>() + threadIdx.x * N;
	uint32_t *const falls = band + up_words<N>();
	const struct column_place p = find_column();
	const size_t row = (size_t)w.width * (32 * N), at = (size_t)p.x * (32 * N) + 4 * N * p.g;
	struct sx_path_lane lane;
	struct sx_path_state<N> up, other, down; /* other: of the other column */

	if (RARE)
		sx_falls_copy(falls, w.falls, 0, (int)blockDim.x);
	sx_checkpoint_lane<N>(&lane, w, 0);
	sx_path_start(&up, &lane);
	other = up;
	fetch_band<N>(band, w, w.bands - 1);
	for (int b = w.bands - 1; b >= 0; b--) {
		const int n = min(w.height - b * ROWS, ROWS);
		uint32_t checkpoint[2][N];

		load_checkpoints<N>(checkpoint, w, p, max(b - 1, 0));
		sx_words_wait<0>();
		__syncthreads();
#pragma unroll unrolled < N>()
		for (int k = 0; k < ROWS; k++) {
			uint32_t match[2][2 * N], words[N];

			match_row<N, RARE>(match, band + k * row_words<N>(), p, w);
#pragma unroll
			for (int c = 0; c < 2; c++) {
				sx_path_words<N>(words, match[c]);
				sx_words_store<N>(
					reinterpret_cast<uint8_t *>(matches + (2 * k + c) * (THREADS * N)),
					words);
			}
		}
		__syncthreads();
		fetch_band<N>(band, w, b - 1);
#pragma unroll 1 /* twice as many instructions gain nothing */
		for (int c = 0; c < 2; c++) {
			const struct sx_path_state<N> before = other;
			const uint32_t *match = matches + c * (THREADS * N);
			uint8_t *to = w.vertical + (size_t)b * ROWS * row + at + c * (32 * N);

			if (b > 0)
				sx_path_resume<N, SX_CHECKPOINT_GROUP, SX_CHECKPOINT_APART>(&down, &lane,
											    checkpoint[0]);
			else
				sx_path_start(&down, &lane);
			if (n == ROWS)
				join_band<N, RARE, true>(&up, &down, lane, match, to, row, n, falls, w,
							 p.x + c, b * ROWS);
			else
				join_band<N, RARE, false>(&up, &down, lane, match, to, row, n, falls, w,
							  p.x + c, b * ROWS);
			other = up;
			up = before;
#pragma unroll
			for (int i = 0; i < N; i++)
				checkpoint[0][i] = checkpoint[1][i];
		}
	}
	sx_words_wait<0>();
}

} // namespace

#endif
