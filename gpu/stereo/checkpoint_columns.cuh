/*
 * Vertical and diagonal paths of the checkpoint flow, down and up. Only the sum of both is stored.
 *
 * Work:    a block walks 16 neighbouring columns, a warp eight of them, a group of eight lanes two. Down: V
 *          of every eighth row is stored. Up: in bands of eight rows from the bottom: first the costs of a
 *          band; then, for each column, down again from the checkpoint, with V kept in registers; then up,
 *          where both are added. A diagonal is a column that moves by skew columns per row; a block walks the
 *          rows of it that have pixels of the image. Where a diagonal is outside, M is 0 for all disparities.
 *          Then V, whatever its value, is the same for all disparities, so a path that enters the image
 *          starts with H = P2, as a new path does (sx_path_start()).
 * Memory:  descriptors of a band in shared memory (5 KB with D = 128); down also the descriptors of the next
 *          band. Up: M of a band, for each lane: 16 KB with D = 128.
 * Ranges:  2 (P2 + Cmax) <= 255, so the sum is a byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_CHECKPOINT_COLUMNS_CUH
#define SX_GPU_STEREO_CHECKPOINT_COLUMNS_CUH

#include "gpu/stereo/checkpoint.cuh"

#define ROWS SX_CHECKPOINT_EVERY
#define WARPS 2 /* warps of a block */
#define COLUMNS (8 * WARPS)
#define THREADS (32 * WARPS)
/* Blocks whose registers should fit a multiprocessor. */
#define DOWN_BLOCKS(N) (((N) > 4 ? 8 : 20) / WARPS)
#define UP_BLOCKS(N) (((N) > 4 ? 8 : 16) / WARPS)

namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

/* Returns the number of rows to unroll: as many as keep the instructions in their cache. */
template <int N> __host__ __device__ constexpr int unrolled()
{
	return N > 4 ? 1 : 2;
}

/*
 * Returns the words of a row of a band: COLUMNS left descriptors, and the right descriptors from D columns
 * before the block's first column on.
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

/* Place of a lane. */
struct column_place {
	int g, column;	 /* g: lane in the group; column: its first column, in the block */
	int x, skew;	 /* x: column in the image at row 0; skew: columns that it moves per row */
	int first, last; /* bands in which the block has pixels of the image */
};

template <bool DIAGONAL> __device__ __forceinline__ int column_at(const struct column_place &p, int y)
{
	return DIAGONAL ? p.x + p.skew * y : p.x;
}

template <bool DIAGONAL>
__device__ __forceinline__ struct column_place find_column(const struct sx_checkpoint_work &w, int block)
{
	const int last_row = w.height - 1;
	int x0 = block * COLUMNS;
	struct column_place p;

	p.skew = 0;
	p.first = 0;
	p.last = w.bands - 1;
	if (DIAGONAL) {
		int first, last;

		p.skew = blockIdx.y ? -1 : 1;
		x0 -= blockIdx.y ? 0 : last_row;
		first = blockIdx.y ? x0 - (w.width - 1) : -(x0 + COLUMNS - 1);
		last = blockIdx.y ? x0 + COLUMNS - 1 : w.width - 1 - x0;
		p.first = max(first, 0) / ROWS;
		p.last = min(last, last_row) / ROWS;
	}
	p.g = (int)threadIdx.x % 32 / SX_CHECKPOINT_APART;
	p.column = (int)threadIdx.x / 32 * 8 + (int)threadIdx.x % SX_CHECKPOINT_APART * 2;
	p.x = x0 + p.column;
	return p;
}

/*
 * Fetches a band of a diagonal. Its rows begin anywhere, so words are fetched one at a time. Right
 * descriptors of pixels outside the image may belong to another row or to the slack.
 */
template <int N>
__device__ __forceinline__ void fetch_skewed(uint32_t *to, const struct sx_checkpoint_work &w,
					     const struct column_place &p, int band)
{
	constexpr int threads = THREADS / ROWS;
	const int row = (int)threadIdx.x / threads, i = (int)threadIdx.x % threads;
	const int y = min(max(band, 0) * ROWS + row, w.height - 1);
	const int x0 = min(max(column_at<true>(p, y) - p.column, -COLUMNS), w.width);
	const uint32_t *left = w.left + (size_t)y * (size_t)w.left_pitch,
		       *right = w.right + ((ptrdiff_t)y * w.right_pitch + (x0 + i));

	static_assert(COLUMNS + 1 <= SX_CHECKPOINT_SLACK, "words outside the rows that are read");
	to += row * row_words<N>() + i;
#pragma unroll
	for (int k = 0; k < COLUMNS; k += threads)
		sx_words_copy<1>(to + k, reinterpret_cast<const uint8_t *>(
						 left + min(max(x0 + i + k, 0), w.width - 1)));
#pragma unroll
	for (int k = 0; k < row_words<N>() - COLUMNS; k += threads)
		sx_words_copy<1>(to + COLUMNS + k, reinterpret_cast<const uint8_t *>(right + k));
	sx_words_commit();
}

/*
 * Fetches a band, with THREADS / ROWS threads per row, 16 bytes each. For bands and rows beyond the image it
 * fetches the last ones again.
 */
template <int N, bool DIAGONAL>
__device__ __forceinline__ void fetch_band(uint32_t *to, const struct sx_checkpoint_work &w,
					   const struct column_place &p, int band)
{
	constexpr int threads = THREADS / ROWS;

	if (DIAGONAL) {
		fetch_skewed<N>(to, w, p, band);
		return;
	}
	const int row = (int)threadIdx.x / threads, i = (int)threadIdx.x % threads,
		  x0 = p.x - p.column + 4 * i;
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

/* Computes M of both columns at a row of a band. They are columns x and x + 1 of the image. */
template <int N, bool RARE, bool DIAGONAL>
__device__ __forceinline__ void match_row(uint32_t (&match)[2][2 * N], const uint32_t *row, int x,
					  const struct column_place &p, const struct sx_checkpoint_work &w)
{
	const uint32_t *near = row + COLUMNS + 30 * N + p.column - 2 * N * p.g;
	const struct sx_match_left left = sx_match_load(row + p.column);
	struct sx_match_two twos[2][N + 1];

#pragma unroll
	for (int k = 0; k <= N; k++) {
		twos[0][k] = sx_match_two_at(near + 2 * k);
		twos[1][k] = sx_match_two_at(near + 2 * k - 16 * N);
	}
	sx_match_pairs<N>(match[0], match[1],
			  DIAGONAL ? sx_match_ready_inside(left, x, w.width) : sx_match_ready(left), twos[0],
			  twos[1]);
	if (RARE && w.beyond_is_max)
#pragma unroll
		for (int c = 0; c < 2; c++)
			sx_match_hide<N>(match[c], x + c - w.min_disparity - 2 * N * p.g, w.width);
}

/* Returns the cut of P2 for the step by (dx, dy) to column x of row y. */
template <bool RARE, bool DIAGONAL>
__device__ __forceinline__ uint32_t p2_cut_of(const uint32_t *p2_table, const struct sx_checkpoint_work &w,
					      int x, int y, int dx, int dy)
{
	return RARE ? sx_checkpoint_p2_cut(p2_table, w, DIAGONAL ? max(x, 0) : x, y, -dx, -dy) : 0;
}

/* Returns true if column x is in the image. */
template <bool DIAGONAL> __device__ __forceinline__ bool is_inside(const struct sx_checkpoint_work &w, int x)
{
	return DIAGONAL ? (unsigned)x < (unsigned)w.width : x < w.width;
}

/* Walks down. shared: down_words() words, followed by the P2 table. */
template <int N> __host__ __device__ constexpr int down_words()
{
	return 2 * band_words<N>();
}

template <int N> constexpr size_t down_bytes()
{
	return 4 * down_words<N>();
}

template <bool DIAGONAL>
__device__ __forceinline__ uint8_t *down_of(const struct sx_checkpoint_work &w, const struct column_place &p)
{
	return !DIAGONAL ? w.down : p.skew > 0 ? w.down_diagonal[0] : w.down_diagonal[1];
}

template <int N, bool RARE, bool DIAGONAL>
__device__ __forceinline__ void walk_down(uint32_t *bands, const struct sx_checkpoint_work &w)
{
	uint32_t *const p2_table = bands + down_words<N>();
	const struct column_place p = find_column<DIAGONAL>(w, (int)blockIdx.x);
	const ptrdiff_t row = ((ptrdiff_t)w.width + ROWS * p.skew) * (32 * N);
	uint8_t *to = down_of<DIAGONAL>(w, p) + p.first * row +
		      (ptrdiff_t)column_at<DIAGONAL>(p, ROWS - 1) * (32 * N) + 4 * N * p.g;
	struct sx_path_lane lane;
	struct sx_path_state<N> s[2];

	if (RARE)
		sx_p2_table_copy(p2_table, w.p2_table, 0, (int)blockDim.x);
	sx_checkpoint_lane<N>(&lane, w, 0);
	sx_path_start(&s[0], &lane);
	sx_path_start(&s[1], &lane);
	fetch_band<N, DIAGONAL>(bands + (p.first & 1) * band_words<N>(), w, p, p.first);
	sx_words_wait<0>();
	__syncthreads();
	/* the state after the last band is never used */
	for (int b = p.first; DIAGONAL ? b < p.last : b + 1 < w.bands; b++, to += row) {
		const uint32_t *band = bands + (b & 1) * band_words<N>();

		fetch_band<N, DIAGONAL>(bands + (~b & 1) * band_words<N>(), w, p, b + 1);
#pragma unroll unrolled < N>()
		for (int k = 0; k < ROWS; k++) {
			const int y = b * ROWS + k, x = column_at<DIAGONAL>(p, y);
			uint32_t match[2][2 * N], p2_cut[2];

			match_row<N, RARE, DIAGONAL>(match, band + k * row_words<N>(), x, p, w);
#pragma unroll
			for (int c = 0; c < 2; c++)
				p2_cut[c] = p2_cut_of<RARE, DIAGONAL>(p2_table, w, x + c, y, p.skew, 1);
			sx_path_step_two<N, SX_CHECKPOINT_GROUP, RARE, SX_CHECKPOINT_APART>(s, &lane, match,
											    p2_cut);
		}
#pragma unroll
		for (int c = 0; c < 2; c++) {
			uint32_t words[N];

			sx_path_words<N>(words, s[c].v);
			if (is_inside<DIAGONAL>(w, column_at<DIAGONAL>(p, b * ROWS + ROWS - 1) + c))
				sx_words_store<N>(to + c * (32 * N), words);
		}
		sx_words_wait<0>();
		__syncthreads();
	}
}

/*
 * Processes one column of the group in a band of n rows that begins at row y and column x; up continues its
 * path. whole: n is ROWS.
 */
template <int N, bool RARE, bool DIAGONAL, bool whole>
__device__ __forceinline__ void join_band(struct sx_path_state<N> *up, struct sx_path_state<N> *down,
					  const struct sx_path_lane &lane, const uint32_t *match, uint8_t *to,
					  ptrdiff_t row, int n, const uint32_t *p2_table,
					  const struct sx_checkpoint_work &w, int x, int y, int skew)
{
	uint32_t there[ROWS][N], m[N], v[N];

#pragma unroll
	for (int k = 0; k < ROWS; k++)
		if (whole || k < n) {
			sx_words_load<N>(m, match + k * (2 * THREADS * N));
			sx_checkpoint_step<N, RARE>(
				down, lane, m,
				p2_cut_of<RARE, DIAGONAL>(p2_table, w, x + skew * k, y + k, skew, 1),
				there[k]);
		}
#pragma unroll
	for (int k = ROWS - 1; k >= 0; k--)
		if (whole || k < n) {
			sx_words_load<N>(m, match + k * (2 * THREADS * N));
			sx_checkpoint_step<N, RARE>(
				up, lane, m,
				p2_cut_of<RARE, DIAGONAL>(p2_table, w, x + skew * k, y + k, -skew, -1), v);
#pragma unroll
			for (int i = 0; i < N; i++)
				v[i] += there[k][i]; /* added as bytes: there is no carry */
			if (is_inside<DIAGONAL>(w, x + skew * k))
				sx_words_store<N>(to + k * row, v);
		}
}

/*
 * Loads V down of both columns at the end of a band. Vertical columns beyond the image continue from foreign
 * values. A diagonal that is outside there continues from 0, which is equivalent to sx_path_start().
 */
template <int N, bool DIAGONAL>
__device__ __forceinline__ void load_checkpoints(uint32_t (&words)[2][N], const struct sx_checkpoint_work &w,
						 const struct column_place &p, int band)
{
	const int x = column_at<DIAGONAL>(p, band * ROWS + ROWS - 1);

#pragma unroll
	for (int c = 0; c < 2; c++) {
		const int inside = min(DIAGONAL ? max(x + c, 0) : x + c, w.width - 1);
		const size_t pixel = (size_t)band * (size_t)w.width + (size_t)inside;

		sx_words_load<N>(words[c], reinterpret_cast<const uint32_t *>(
						   down_of<DIAGONAL>(w, p) + pixel * (32 * N) + 4 * N * p.g));
		if (DIAGONAL && inside != x + c)
#pragma unroll
			for (int i = 0; i < N; i++)
				words[c][i] = 0;
	}
}

/* Walks up. shared: up_words() words, followed by the P2 table. */
template <int N> __host__ __device__ constexpr int up_words()
{
	return band_words<N>() + match_words<N>();
}

template <int N, bool RARE, bool DIAGONAL>
__device__ __forceinline__ void walk_up(uint32_t *band, const struct sx_checkpoint_work &w)
{
	uint32_t *const matches = band + band_words<N>() + threadIdx.x * N;
	uint32_t *const p2_table = band + up_words<N>();
	const struct column_place p = find_column<DIAGONAL>(w, (int)blockIdx.x);
	const ptrdiff_t row = ((ptrdiff_t)w.width + p.skew) * (32 * N),
			at = (ptrdiff_t)p.x * (32 * N) + 4 * N * p.g;
	uint8_t *const sums = !DIAGONAL ? w.vertical : p.skew > 0 ? w.diagonal[0] : w.diagonal[1];
	struct sx_path_lane lane;
	struct sx_path_state<N> up, other, down; /* other: of the other column */

	if (RARE)
		sx_p2_table_copy(p2_table, w.p2_table, 0, (int)blockDim.x);
	sx_checkpoint_lane<N>(&lane, w, 0);
	sx_path_start(&up, &lane);
	other = up;
	fetch_band<N, DIAGONAL>(band, w, p, p.last);
	for (int b = DIAGONAL ? p.last : w.bands - 1; b >= p.first; b--) {
		const int n = min(w.height - b * ROWS, ROWS), x = column_at<DIAGONAL>(p, b * ROWS);
		uint32_t checkpoint[2][N];

		load_checkpoints<N, DIAGONAL>(checkpoint, w, p, max(b - 1, 0));
		sx_words_wait<0>();
		__syncthreads();
#pragma unroll unrolled < N>()
		for (int k = 0; k < ROWS; k++) {
			uint32_t match[2][2 * N], words[N];

			match_row<N, RARE, DIAGONAL>(match, band + k * row_words<N>(),
						     column_at<DIAGONAL>(p, b * ROWS + k), p, w);
#pragma unroll
			for (int c = 0; c < 2; c++) {
				sx_path_words<N>(words, match[c]);
				sx_words_store<N>(
					reinterpret_cast<uint8_t *>(matches + (2 * k + c) * (THREADS * N)),
					words);
			}
		}
		__syncthreads();
		fetch_band<N, DIAGONAL>(band, w, p, b - 1);
#pragma unroll 1 /* unrolling to twice as many instructions gains nothing */
		for (int c = 0; c < 2; c++) {
			const struct sx_path_state<N> before = other;
			const uint32_t *match = matches + c * (THREADS * N);
			uint8_t *to = sums + (ptrdiff_t)b * ROWS * row + at + c * (32 * N);

			if (b > 0)
				sx_path_resume<N, SX_CHECKPOINT_GROUP, SX_CHECKPOINT_APART>(&down, &lane,
											    checkpoint[0]);
			else
				sx_path_start(&down, &lane);
			if (n == ROWS)
				join_band<N, RARE, DIAGONAL, true>(&up, &down, lane, match, to, row, n,
								   p2_table, w, x + c, b * ROWS, p.skew);
			else
				join_band<N, RARE, DIAGONAL, false>(&up, &down, lane, match, to, row, n,
								    p2_table, w, x + c, b * ROWS, p.skew);
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
