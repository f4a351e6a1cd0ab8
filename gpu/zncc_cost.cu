/*
 * The cost volume of correlations. Must equal sx_cost_max() less sx_cost_row(), byte for byte, in the layout of
 * gpu/volume.cuh. Row by row; gpu/zncc_zigzag.cu has several rows at a time.
 *
 * Work:    a block does WALKS stretches of a row, D/8 threads each: a thread eight disparities (four and their partners D/2
 *          further on), pixel after pixel to the right. Grey levels lie in columns of four rows a word, so that a column of a
 *          window is one to four DP4A. From pixel to pixel the column that enters is added and the one that leaves is
 *          subtracted; windows of 3 keep the sums of their three columns in registers instead. Plain: every window anew.
 * Memory:  columns of the row and what windows bring, staged in shared memory in four classes by column mod 4, so that
 *          threads, whose disparities are 4 apart, find neighbours; right columns stay in registers for the four pixels that
 *          need them. 8 bytes a thread and pixel stored, neighbours side by side.
 * Ranges:  gpu/zncc_cell.cuh.
 * Shapes:  any width, height, D, minimal disparity and window.
 * Speed:   not measured yet; docs/performance.md, CUDA: ZNCC.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/zncc_cell.cuh"
#include "gpu/zncc_cuda.h"

#define WALKS 8
#define LANE_CELLS 8 /* of a thread and pixel */
namespace	     /* types and templates of one name in two files would be one for the linker */
{

/* What follows from a window of L x L. */
template <int L> struct shape {
	static constexpr int radius = L / 2;
	static constexpr int quads = (L + 3) / 4;	      /* of rows in a column */
	static constexpr int stride = quads == 3 ? 4 : quads; /* words of a column, for vector loads */
	static constexpr bool ring = L == 3;		      /* of column sums */
	static constexpr int period = ring ? 12 : 4; /* pixels after which registers have their roles again */
	static constexpr int pixels = ring ? 36 : 32;  /* of a walk */
	static constexpr int columns = WALKS * pixels; /* of a block */
	/* Staged columns of a class. */
	static constexpr int left = (columns + 2 * radius + 3) / 4;
	static constexpr int right = (columns + SX_ZNCC_DISPARITIES_MAX + 2 * radius + 3) / 4;
	/* Of P in a register: P itself, or bits of P + MAGIC; a ring adds three of its share. */
	static constexpr uint32_t bias = sx_zncc_bias<L>();
	static constexpr uint32_t share = ring ? 0xc3c00000u : 0;
	static_assert(!ring || 3u * share == bias, "three shares are a bias");
};

/* A block's shared memory. stat: S1 and 1 / sqrt(V), of the left image with the sign of S1 turned. */
template <int L> struct shared {
	uint2 left_stat[4 * shape<L>::left], right_stat[4 * shape<L>::right];
	uint32_t left[4 * shape<L>::left * shape<L>::stride], right[4 * shape<L>::right * shape<L>::stride];
};

/* Rows of a column, four a word; what is beyond the window is 0. */
template <int L>
__device__ __forceinline__ uint32_t column_word(const struct sx_zncc_work &w, int side, int x, int y,
						int quad)
{
	uint32_t word = 0;

#pragma unroll
	for (int b = 0; b < 4; b++)
		if (4 * quad + b < L)
			word |= sx_zncc_level(w, side, x, y - shape<L>::radius + 4 * quad + b) << 8 * b;
	return word;
}

/* Columns first .. first + count - 1 of one image; outside it, windows bring nothing. */
template <int L>
__device__ __forceinline__ void stage(uint32_t *columns, uint2 *stats, int of_class,
				      const struct sx_zncc_work &w, int side, int first, int count, int y)
{
	for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
		const int at = i % 4 * of_class + i / 4, x = first + i;
		const int inside = min(max(x, 0), w.width - 1);

#pragma unroll
		for (int q = 0; q < shape<L>::quads; q++)
			columns[at * shape<L>::stride + q] = column_word<L>(w, side, inside, y, q);
		stats[at] = sx_zncc_stat<L>(w, side, x, y, side ? 1 : -1);
	}
}

/* A column's words. */
template <int L> struct column {
	uint32_t word[shape<L>::stride];
};

template <int L> __device__ __forceinline__ struct column<L> load(const uint32_t *columns, int at) {
	struct column<L> c;

	if (shape<L>::stride == 4) {
		const uint4 v = reinterpret_cast<const uint4 *>(columns)[at];

		c.word[0] = v.x, c.word[1 % shape<L>::stride] = v.y;
		c.word[2 % shape<L>::stride] = v.z, c.word[3 % shape<L>::stride] = v.w;
	} else if (shape<L>::stride == 2) {
		const uint2 v = reinterpret_cast<const uint2 *>(columns)[at];

		c.word[0] = v.x, c.word[1 % shape<L>::stride] = v.y;
	} else {
		c.word[0] = columns[at];
	}
	return c;
}

/* Sum of products of two columns. */
template <int L>
__device__ __forceinline__ uint32_t dot(const struct column<L> &a, const struct column<L> &b, uint32_t sum)
{
#pragma unroll
	for (int q = 0; q < shape<L>::quads; q++)
		sum = (uint32_t)__dp4a((int)a.word[q], (int)b.word[q], (int)sum);
	return sum;
}

/*
 * Where a thread is. Of column c, counted from the first of the walk's first window, the left words are at left + at(c), the right
 * ones that meet it at disparity 4 lane + k are those of column c + 3 - k at right[0] (right[1]: D/2 further on).
 */
struct place {
	int left, right[2];
	int x, count; /* first pixel, pixels in the image */
	int partner;  /* right column of the first pixel at disparity 4 lane */
	uint8_t *to;
};

template <int L> __device__ __forceinline__ int left_at(const struct place &p, int c)
{
	return (c & 3) * shape<L>::left + p.left + (c >> 2);
}

template <int L> __device__ __forceinline__ int right_at(const struct place &p, int half, int c)
{
	return (c & 3) * shape<L>::right + p.right[half] + (c >> 2);
}

/* The last four right columns of each half, by column mod 4, and of those in the middle of windows what they bring. */
template <int L> struct window {
	struct column<L> enter[2][4], leave[2][4];
	uint2 stat[2][4];
	uint32_t p[2][4];	/* of the disparities k and their partners */
	uint32_t ring[3][2][4]; /* sums of columns, by column mod 3 */
};

/* Column c of the walk's windows, c from 0: takes in its right column and adds its products. */
template <int L>
__device__ __forceinline__ void enter(struct window<L> &w, const struct shared<L> *s, const struct place &p,
				      int c)
{
	const struct column<L> left = load<L>(s->left, left_at<L>(p, c));

#pragma unroll
	for (int h = 0; h < 2; h++) {
		w.enter[h][(c + 3) & 3] = load<L>(s->right, right_at<L>(p, h, c + 3));
#pragma unroll
		for (int k = 0; k < 4; k++) {
			if (shape<L>::ring)
				w.ring[c % 3][h][k] =
					dot<L>(left, w.enter[h][(c + 3 - k) & 3], shape<L>::share);
			else
				w.p[h][k] = dot<L>(left, w.enter[h][(c + 3 - k) & 3], w.p[h][k]);
		}
	}
}

template <int L>
__device__ __forceinline__ void leave(struct window<L> &w, const struct shared<L> *s, const struct place &p,
				      int c)
{
	const struct column<L> left = load<L>(s->left, left_at<L>(p, c));

#pragma unroll
	for (int h = 0; h < 2; h++) {
		w.leave[h][(c + 3) & 3] = load<L>(s->right, right_at<L>(p, h, c + 3));
#pragma unroll
		for (int k = 0; k < 4; k++)
			w.p[h][k] -= dot<L>(left, w.leave[h][(c + 3 - k) & 3], 0);
	}
}

/* The products of all columns of the window that begins at c. */
template <int L>
__device__ __forceinline__ void add_window(struct window<L> &w, const struct shared<L> *s,
					   const struct place &p, int c)
{
#pragma unroll
	for (int h = 0; h < 2; h++)
#pragma unroll
		for (int k = 0; k < 4; k++) {
			w.p[h][k] = shape<L>::bias;
#pragma unroll
			for (int j = 0; j < L; j++)
				w.p[h][k] = dot<L>(load<L>(s->left, left_at<L>(p, c + j)),
						   load<L>(s->right, right_at<L>(p, h, c + j + 3 - k)),
						   w.p[h][k]);
		}
}

/* The window of pixel i is complete: stores its cells. */
template <int L, bool PLAIN>
__device__ __forceinline__ void finish(struct window<L> &w, const struct shared<L> *s, const struct place &p,
				       const struct sx_zncc_work &work, bool check, int i, int i0)
{
	const int c = i + shape<L>::radius;
	const uint2 left = s->left_stat[left_at<L>(p, c)];
	uint32_t cells[2][4];
	uint2 words;

#pragma unroll
	for (int h = 0; h < 2; h++) {
		w.stat[h][(c + 3) & 3] = s->right_stat[right_at<L>(p, h, c + 3)];
#pragma unroll
		for (int k = 0; k < 4; k++)
			cells[h][k] = sx_zncc_cell<L>(
				shape<L>::ring && !PLAIN ? w.ring[0][h][k] + w.ring[1][h][k] + w.ring[2][h][k]
							 : w.p[h][k],
				left, w.stat[h][(c + 3 - k) & 3]);
	}
	words = make_uint2(sx_zncc_cells(cells[0][0], cells[0][1], cells[1][0], cells[1][1]),
			   sx_zncc_cells(cells[0][2], cells[0][3], cells[1][2], cells[1][3]));
	if (check) {
		words.x &= sx_zncc_visible(work, p.partner + i0 + i);
		words.y &= sx_zncc_visible(work, p.partner + i0 + i - 2);
	}
	if (i0 + i < p.count)
		*reinterpret_cast<uint2 *>(p.to + (size_t)i * (size_t)work.disparities) = words;
}

/* Before the first pixel: right columns that were there before the first ones enter, and all columns but the last. */
template <int L, bool PLAIN>
__device__ __forceinline__ void start(struct window<L> &w, const struct shared<L> *s, const struct place &p)
{
#pragma unroll
	for (int h = 0; h < 2; h++)
#pragma unroll
		for (int k = 0; k < 3; k++) {
			const int middle = k + shape<L>::radius;

			w.stat[h][middle & 3] = s->right_stat[right_at<L>(p, h, middle)];
			if (!PLAIN)
				w.enter[h][k] = w.leave[h][k] = load<L>(s->right, right_at<L>(p, h, k));
		}
#pragma unroll
	for (int h = 0; h < 2; h++)
#pragma unroll
		for (int k = 0; k < 4; k++)
			w.p[h][k] = shape<L>::bias;
	if (!PLAIN)
#pragma unroll
		for (int c = 0; c < L - 1; c++)
			enter<L>(w, s, p, c);
}

template <int L, bool PLAIN>
__device__ __forceinline__ void walk(const struct shared<L> *s, struct place &p,
				     const struct sx_zncc_work &work, bool check)
{
	struct window<L> w;

	start<L, PLAIN>(w, s, p);
#pragma unroll 1
	for (int i0 = 0; i0 < p.count; i0 += shape<L>::period) {
#pragma unroll
		for (int i = 0; i < shape<L>::period; i++) {
			if (PLAIN)
				add_window<L>(w, s, p, i);
			else
				enter<L>(w, s, p, i + L - 1);
			finish<L, PLAIN>(w, s, p, work, check, i, i0);
			if (!PLAIN && !shape<L>::ring)
				leave<L>(w, s, p, i);
		}
		p.left += shape<L>::period / 4;
		p.right[0] += shape<L>::period / 4;
		p.right[1] += shape<L>::period / 4;
		p.to += (size_t)shape<L>::period * (size_t)work.disparities;
	}
}

template <int L>
__device__ __forceinline__ struct place find_place(const struct sx_zncc_work &w, int block_x, int y)
{
	const int lanes = w.disparities / LANE_CELLS, lane = (int)threadIdx.x % lanes,
		  first = (int)threadIdx.x / lanes * shape<L>::pixels;
	struct place p;

	p.left = first / 4;
	p.right[0] = first / 4 + w.disparities / 4 - 1 - lane;
	p.right[1] = p.right[0] - w.disparities / 8;
	p.x = block_x + first;
	p.count = min(shape<L>::pixels, w.width - p.x);
	p.partner = p.x - w.min_disparity - 4 * lane;
	p.to = w.volume + ((ptrdiff_t)y * w.width + p.x) * (ptrdiff_t)w.disparities +
	       LANE_CELLS * (ptrdiff_t)lane;
	return p;
}

template <int L, bool PLAIN>
__global__ void __launch_bounds__(SX_ZNCC_DISPARITIES_MAX) scan_kernel(const struct sx_zncc_work w)
{
	SX_DYNAMIC_SHARED(struct shared<L>, s);
	const int y = (int)blockIdx.y, x = (int)blockIdx.x * shape<L>::columns;
	const int right = x - w.min_disparity - (w.disparities - 1); /* first right column that is met */
	struct place p = find_place<L>(w, x, y);

	stage<L>(s->left, s->left_stat, shape<L>::left, w, 0, x - shape<L>::radius,
		 shape<L>::columns + 2 * shape<L>::radius, y);
	stage<L>(s->right, s->right_stat, shape<L>::right, w, 1, right - shape<L>::radius,
		 shape<L>::columns + w.disparities - 1 + 2 * shape<L>::radius, y);
	__syncthreads();
	walk<L, PLAIN>(s, p, w, w.no_view && sx_zncc_any_hidden(w, x, shape<L>::columns));
}

template <int L, bool PLAIN> void launch(const struct sx_zncc_work &w, cudaStream_t stream)
{
	SX_LAUNCH((scan_kernel<L, PLAIN>),
		  dim3((unsigned)((w.width + shape<L>::columns - 1) / shape<L>::columns), (unsigned)w.height),
		  dim3((unsigned)(WALKS * w.disparities / LANE_CELLS)), sizeof(struct shared<L>), stream, w);
}

/*
 * By count of instructions (docs/performance.md), not by measurement: the columns of small windows are one or two DP4A, and
 * rows have little to share. window / 2 is the index.
 */
const enum sx_zncc_scan chosen[SX_ZNCC_WINDOW_MAX / 2 + 1] = {
	SX_ZNCC_SCAN_ROW,    SX_ZNCC_SCAN_ROW,	  SX_ZNCC_SCAN_ROW,    SX_ZNCC_SCAN_ROW,
	SX_ZNCC_SCAN_ZIGZAG, SX_ZNCC_SCAN_ZIGZAG, SX_ZNCC_SCAN_ZIGZAG, SX_ZNCC_SCAN_ZIGZAG,
};

template <int L> void launch_scan(const struct sx_zncc_work &w, enum sx_zncc_scan how, cudaStream_t stream)
{
	if (how == SX_ZNCC_SCAN_CHOSEN)
		how = chosen[L / 2];
	if (how == SX_ZNCC_SCAN_PLAIN)
		launch<L, true>(w, stream);
	else if (how == SX_ZNCC_SCAN_ROW)
		launch<L, false>(w, stream);
	else
		sx_zncc_zigzag_launch(w, L, stream);
}

} // namespace

extern "C" cudaError_t sx_zncc_cost_cuda_run(const struct sx_image grey[2], const struct sx_image words[2],
					     const struct sx_stereo_params *p, uint8_t *volume,
					     enum sx_zncc_scan how, cudaStream_t stream)
{
	const struct sx_zncc_work w = {
		{(const uint8_t *)grey[0].data, (const uint8_t *)grey[1].data},
		{(const uint8_t *)words[0].data, (const uint8_t *)words[1].data},
		{grey[0].pitch, grey[1].pitch},
		{words[0].pitch, words[1].pitch},
		volume,
		grey[0].width,
		grey[0].height,
		p->disparities,
		p->min_disparity,
		p->out_of_view == SX_OUT_OF_VIEW_MAX,
	};

	switch (p->zncc_window) {
	case 3:
		launch_scan<3>(w, how, stream);
		break;
	case 5:
		launch_scan<5>(w, how, stream);
		break;
	case 7:
		launch_scan<7>(w, how, stream);
		break;
	case 9:
		launch_scan<9>(w, how, stream);
		break;
	case 11:
		launch_scan<11>(w, how, stream);
		break;
	case 13:
		launch_scan<13>(w, how, stream);
		break;
	case 15:
		launch_scan<15>(w, how, stream);
		break;
	default:
		return cudaErrorInvalidValue;
	}
	return SX_LAUNCHED();
}
