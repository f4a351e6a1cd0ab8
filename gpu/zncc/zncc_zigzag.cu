/*
 * The cost volume of correlations by zigzag scanning: Chang et al., Real-time stereo matching on embedded
 * GPUs with Z2-ZNCC and FastDT. The bytes equal the bytes of gpu/zncc/zncc_cost.cu.
 *
 * Work:    a block processes ROWS rows and WALKS stretches of columns, with D/4 threads each. A thread
 *          computes two disparities and their partners at + D/2, for the pixels of all rows in a column, then
 *          for the next column. The windows of the rows share all rows of a column except ROWS - 1. Products
 *          of the shared rows are added up once for all windows, four rows per DP4A; each window needs one
 *          more DP4A for its other rows. (The paper goes from row to row by four products at the corners.)
 *          From column to column the entering products are added and the leaving products are subtracted. One
 *          sum of products per row stays in a register.
 * Memory:  columns and statistics of windows, staged in shared memory in two classes by column mod 2, so that
 *          threads, whose disparities are 2 apart, read neighbours. A right column stays in registers for
 *          both pixels that need it. Each thread stores 4 bytes per pixel, beside its neighbours.
 * Ranges:  gpu/zncc/zncc_cell.cuh.
 * Shapes:  any width, height, D, minimal disparity and window; shared memory at most 35 KB.
 * Speed:   tests/lab/lab-performance.md, CUDA: ZNCC.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/zncc/zncc_cell.cuh"

#define WALKS 4

namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

/*
 * Sizes of a block. L: window. ROWS: 2 or 4, the paper's VZ. PIXELS: columns of a walk, even, the paper's HZ.
 */
template <int L, int ROWS, int PIXELS> struct shape {
	static constexpr int radius = L / 2;
	static constexpr int shared_rows = L - (ROWS - 1);
	static constexpr int quads = (shared_rows + 3) / 4;   /* words of shared rows */
	static constexpr int stride = quads == 3 ? 4 : quads; /* words of a column, for vector loads */
	static constexpr int columns = WALKS * PIXELS;
	/* Columns begin one column before the first window, so that a column can leave. */
	static constexpr int before = radius + 1;
	static constexpr int left_count = columns + before + radius;
	static constexpr int left = (left_count + 1) / 2; /* columns of a class */
	static constexpr int right = (left_count + SX_ZNCC_DISPARITIES_MAX) / 2;
};

/* The words of a column: rows that all windows share, and the other rows of each window. */
template <typename S, int ROWS> struct column {
	uint32_t all[S::stride], own[ROWS];
};

/* Columns of one image in shared memory. stat: statistics of the rows' windows. */
template <typename S, int ROWS, int COUNT> struct staged {
	__align__(16) uint32_t all[2 * COUNT * S::stride];
	__align__(16) uint32_t own[2 * COUNT * ROWS];
	uint2 stat[ROWS][2 * COUNT];
};

template <typename S, int ROWS> struct shared {
	struct staged<S, ROWS, S::left> left;
	struct staged<S, ROWS, S::right> right;
};

template <int N> __device__ __forceinline__ void load_words(uint32_t (&w)[N], const uint32_t *from, int at)
{
	if (N == 4) {
		const uint4 v = reinterpret_cast<const uint4 *>(from)[at];

		w[0] = v.x, w[1 % N] = v.y, w[2 % N] = v.z, w[3 % N] = v.w;
	} else if (N == 2) {
		const uint2 v = reinterpret_cast<const uint2 *>(from)[at];

		w[0] = v.x, w[1 % N] = v.y;
	} else {
		w[0] = from[at];
	}
}

/*
 * Returns the rows that only one window has. For the sums of rows y .. y + ROWS - 1 in a column, they are the
 * rows above and below the rows that all windows share.
 */
template <int L, int ROWS>
__device__ __forceinline__ uint32_t own_word(const struct sx_zncc_work &w, int side, int x, int y, int v)
{
	uint32_t word = 0;

#pragma unroll
	for (int b = 0; b < ROWS - 1; b++) {
		const int row = b < ROWS - 1 - v ? y - L / 2 + v + b : y + L / 2 + b - (ROWS - 2 - v);

		word |= sx_zncc_level(w, side, x, row) << 8 * b;
	}
	return word;
}

template <typename S, int ROWS>
__device__ __forceinline__ uint32_t shared_word(const struct sx_zncc_work &w, int side, int x, int y,
						int quad)
{
	uint32_t word = 0;

#pragma unroll
	for (int b = 0; b < 4; b++)
		if (4 * quad + b < S::shared_rows)
			word |= sx_zncc_level(w, side, x, y + ROWS - 1 - S::radius + 4 * quad + b) << 8 * b;
	return word;
}

/* Stages columns first .. first + count - 1, for the rows from y on. */
template <int L, int ROWS, typename S, int COUNT>
__device__ __forceinline__ void stage(struct staged<S, ROWS, COUNT> &s, const struct sx_zncc_work &w,
				      int side, int first, int count, int y)
{
	for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
		const int at = i % 2 * COUNT + i / 2, x = first + i, inside = min(max(x, 0), w.width - 1);

#pragma unroll
		for (int q = 0; q < S::quads; q++)
			s.all[at * S::stride + q] = shared_word<S, ROWS>(w, side, inside, y, q);
#pragma unroll
		for (int v = 0; v < ROWS; v++) {
			s.own[at * ROWS + v] = own_word<L, ROWS>(w, side, inside, y, v);
			s.stat[v][at] = sx_zncc_stat<L>(w, side, x, y + v, side ? 1 : -1);
		}
	}
}

/*
 * Place of a thread. Columns c are counted from the column before the walk's first window. Left words of
 * column c are at at(left, c). At disparity 2 lane + k it meets right column c + 1 - k, whose words are at
 * right[0], and D/2 further on at right[1].
 */
struct place {
	int left, right[2];
	int count, rows; /* pixels and rows in the image */
	int partner;	 /* right column of the pixel at disparity 2 lane */
	uint8_t *to;
};

/* Returns the place of column c. class_size: columns of a class. base: first column of the walk, halved. */
__device__ __forceinline__ int place_of(int class_size, int base, int c)
{
	return (c & 1) * class_size + base + (c >> 1);
}

template <typename S, int ROWS, int COUNT>
__device__ __forceinline__ struct column<S, ROWS> load(const struct staged<S, ROWS, COUNT> &s, int base,
						       int c) {
	struct column<S, ROWS> column;

	load_words(column.all, s.all, place_of(COUNT, base, c));
	load_words(column.own, s.own, place_of(COUNT, base, c));
	return column;
}

template <typename S, int ROWS>
__device__ __forceinline__ uint32_t dot(const struct column<S, ROWS> &a, const struct column<S, ROWS> &b)
{
	uint32_t sum = 0;

#pragma unroll
	for (int q = 0; q < S::quads; q++)
		sum = (uint32_t)__dp4a((int)a.all[q], (int)b.all[q], (int)sum);
	return sum;
}

/*
 * State of the windows: right columns of each half by column mod 2, and sums of products. k: the disparity
 * and the next one.
 */
template <typename S, int ROWS> struct window {
	struct column<S, ROWS> enter[2][2], leave[2][2];
	uint2 stat[ROWS][2][2];
	uint32_t p[ROWS][2][2];
};

/* Adds column c, and with LEAVES removes column c - L. */
template <int L, int ROWS, bool LEAVES, typename S>
__device__ __forceinline__ void move(struct window<S, ROWS> &w, const struct shared<S, ROWS> *s,
				     const struct place &p, int c)
{
	const int gone = LEAVES ? c - L : 0;
	const struct column<S, ROWS> enters = load(s->left, p.left, c), leaves = load(s->left, p.left, gone);

#pragma unroll
	for (int h = 0; h < 2; h++) {
		w.enter[h][(c + 1) & 1] = load(s->right, p.right[h], c + 1);
		if (LEAVES)
			w.leave[h][(gone + 1) & 1] = load(s->right, p.right[h], gone + 1);
#pragma unroll
		for (int k = 0; k < 2; k++) {
			const struct column<S, ROWS> &in = w.enter[h][(c + 1 - k) & 1],
						     &out = w.leave[h][(gone + 1 - k) & 1];
			const uint32_t sum = dot(enters, in) - (LEAVES ? dot(leaves, out) : 0);

#pragma unroll
			for (int v = 0; v < ROWS; v++) {
				const uint32_t less =
					LEAVES ? (uint32_t)__dp4a((int)leaves.own[v], (int)out.own[v], 0) : 0;

				w.p[v][h][k] = (uint32_t)__dp4a((int)enters.own[v], (int)in.own[v],
								(int)(w.p[v][h][k] + sum - less));
			}
		}
	}
}

/*
 * Stores the cells of the windows in column i of the walk, which are complete. i0: columns that p has moved
 * on.
 */
template <int L, int ROWS, typename S>
__device__ __forceinline__ void finish(struct window<S, ROWS> &w, const struct shared<S, ROWS> *s,
				       const struct place &p, const struct sx_zncc_work &work, bool check,
				       int i, int i0)
{
	const int c = i + S::before;
	const uint32_t mask = check ? sx_zncc_visible(work, p.partner + i0 + i) : 0;
	uint8_t *to = p.to + i * work.disparities;

#pragma unroll
	for (int v = 0; v < ROWS; v++) {
		const uint2 left = s->left.stat[v][place_of(S::left, p.left, c)];
		uint32_t cells[2][2], word;

#pragma unroll
		for (int h = 0; h < 2; h++) {
			w.stat[v][h][(c + 1) & 1] = s->right.stat[v][place_of(S::right, p.right[h], c + 1)];
#pragma unroll
			for (int k = 0; k < 2; k++)
				cells[h][k] =
					sx_zncc_rounded<L>(w.p[v][h][k], left, w.stat[v][h][(c + 1 - k) & 1]);
		}
		word = sx_zncc_cells(cells[0][0], cells[0][1], cells[1][0], cells[1][1]);
		if (check)
			word &= mask;
		if (i0 + i < p.count && v < p.rows)
			*reinterpret_cast<uint32_t *>(to + (size_t)v * (size_t)work.width *
								   (size_t)work.disparities) = word;
	}
}

template <int L, int ROWS, typename S>
__device__ __forceinline__ void walk(const struct shared<S, ROWS> *s, struct place &p,
				     const struct sx_zncc_work &work, bool check)
{
	struct window<S, ROWS> w;

#pragma unroll
	for (int h = 0; h < 2; h++) {
		w.enter[h][0] = w.leave[h][0] = load(s->right, p.right[h], 0);
#pragma unroll
		for (int v = 0; v < ROWS; v++) {
			w.stat[v][h][S::before & 1] =
				s->right.stat[v][place_of(S::right, p.right[h], S::before)];
			w.p[v][h][0] = w.p[v][h][1] = sx_zncc_bias<L>();
		}
	}
#pragma unroll
	for (int c = 0; c < L; c++)
		move<L, ROWS, false>(w, s, p, c);
#pragma unroll 1
	for (int i0 = 0; i0 < p.count; i0 += 2) {
#pragma unroll
		for (int i = 0; i < 2; i++) {
			move<L, ROWS, true>(w, s, p, i + L);
			finish<L, ROWS>(w, s, p, work, check, i, i0);
		}
		p.left++;
		p.right[0]++;
		p.right[1]++;
		p.to += 2 * work.disparities;
	}
}

template <int L, int ROWS, int PIXELS>
__global__ void __launch_bounds__(SX_ZNCC_DISPARITIES_MAX) zigzag_kernel(const struct sx_zncc_work w)
{
	typedef struct shape<L, ROWS, PIXELS> S;
	typedef struct shared<S, ROWS> block;
	SX_DYNAMIC_SHARED(block, s);
	const int lanes = w.disparities / 4, lane = (int)threadIdx.x % lanes;
	const int first = (int)threadIdx.x / lanes * PIXELS; /* first column of the walk */
	const int x = (int)blockIdx.x * S::columns, y = (int)blockIdx.y * ROWS;
	struct place p;

	stage<L, ROWS>(s->left, w, 0, x - S::before, S::left_count, y);
	stage<L, ROWS>(s->right, w, 1, x - w.min_disparity - (w.disparities - 1) - S::before,
		       S::left_count + w.disparities - 1, y);
	__syncthreads();
	p.left = first / 2;
	p.right[0] = first / 2 + w.disparities / 2 - 1 - lane;
	p.right[1] = p.right[0] - w.disparities / 4;
	p.count = min(PIXELS, w.width - (x + first));
	p.rows = w.height - y;
	p.partner = x + first - w.min_disparity - 2 * lane;
	p.to = w.volume + ((size_t)y * (size_t)w.width + (size_t)(x + first)) * (size_t)w.disparities +
	       4 * (size_t)lane;
	if (p.count > 0)
		walk<L, ROWS>(s, p, w, w.no_view && sx_zncc_any_hidden(w, x, S::columns));
}

template <int L, int ROWS, int PIXELS> void launch(const struct sx_zncc_work &w, cudaStream_t stream)
{
	typedef struct shape<L, ROWS, PIXELS> S;

	SX_LAUNCH((zigzag_kernel<L, ROWS, PIXELS>),
		  dim3((unsigned)((w.width + S::columns - 1) / S::columns),
		       (unsigned)((w.height + ROWS - 1) / ROWS)),
		  dim3((unsigned)(WALKS * w.disparities / 4)), sizeof(struct shared<S, ROWS>), stream, w);
}

} // namespace

/* Rows and columns are chosen by counting instructions, not by measurement. */
cudaError_t sx_zncc_zigzag_run(const struct sx_zncc_work &w, int window, cudaStream_t stream)
{
	switch (window) {
	case 9:
		launch<9, 4, 32>(w, stream);
		break;
	case 11:
		launch<11, 4, 32>(w, stream);
		break;
	case 13:
		launch<13, 4, 32>(w, stream);
		break;
	case 15:
		launch<15, 4, 32>(w, stream);
		break;
	default:
		return cudaErrorInvalidValue;
	}
	return SX_LAUNCHED();
}
