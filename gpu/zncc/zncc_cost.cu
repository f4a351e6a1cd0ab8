/*
 * The cost volume of correlations. Must equal sx_cost_max() minus sx_cost_row(), byte for byte, in the layout
 * of gpu/stereo/volume.cuh. This file handles windows of 3 to 7, row by row; gpu/zncc/zncc_zigzag.cu handles
 * larger windows, several rows at a time.
 *
 * Work:    a block processes WALKS stretches of a row, with D/8 threads each. A thread computes eight
 *          disparities (four and their partners at + D/2), pixel after pixel to the right, see
 *          gpu/zncc/zncc_row.cuh.
 * Memory:  columns of the row and statistics of windows, staged in shared memory in four classes by column
 *          mod 4, so that threads, whose disparities are 4 apart, read neighbours. Right columns stay in
 *          registers for the four pixels that need them. Each thread stores 8 bytes per pixel, beside its
 *          neighbours.
 * Ranges:  gpu/zncc/zncc_cell.cuh.
 * Shapes:  any width, height, D, minimal disparity and window.
 * Speed:   bound by issued instructions; tests/lab/lab-performance.md, CUDA: ZNCC.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/zncc/zncc_cuda.h"
#include "gpu/zncc/zncc_row.cuh"

#define WALKS 8
namespace /* anonymous: else the linker would merge types and templates of the same name from two files */
{

/* Sizes of a block for windows of L x L. */
template <int L> struct shape : sx_zncc_shape<L> {
	static constexpr int pixels = L == 3 ? 36 : 32; /* pixels of a walk: a multiple of the period */
	static constexpr int columns = WALKS * pixels;	/* columns of a block */
	/* Staged columns of a class. */
	static constexpr int left = (columns + 2 * (L / 2) + 3) / 4;
	static constexpr int right = (columns + SX_ZNCC_DISPARITIES_MAX + 2 * (L / 2) + 3) / 4;
};

/* Shared memory of a block. stat: S1 and 1 / sqrt(V); S1 of the left image is negated. */
template <int L> struct shared {
	uint2 left_stat[4 * shape<L>::left], right_stat[4 * shape<L>::right];
	uint32_t left[4 * shape<L>::left * shape<L>::stride], right[4 * shape<L>::right * shape<L>::stride];
};

/* Stages columns first .. first + count - 1 of one image. Windows outside the image contribute nothing. */
template <int L>
__device__ __forceinline__ void stage(uint32_t *columns, uint2 *stats, int of_class,
				      const struct sx_zncc_work &w, int side, int first, int count, int y)
{
	for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x) {
		const int at = i % 4 * of_class + i / 4, x = first + i;
		const int inside = min(max(x, 0), w.width - 1);

#pragma unroll
		for (int q = 0; q < shape<L>::quads; q++)
			columns[at * shape<L>::stride + q] = sx_zncc_column_word<L>(w, side, inside, y, q);
		stats[at] = sx_zncc_stat<L>(w, side, x, y, side ? 1 : -1);
	}
}

/*
 * Place of a thread. Columns are as in gpu/zncc/zncc_row.cuh, counted from the first column of the walk's
 * first window.
 */
template <int L> struct place {
	const struct shared<L> *s;
	int left_base, right_base[2];
	int x, count; /* first pixel; number of pixels in the image */
	int partner;  /* right column of the first pixel at disparity 4 lane */
	uint8_t *to;

	__device__ __forceinline__ int left_at(int c) const
	{
		return (c & 3) * shape<L>::left + left_base + (c >> 2);
	}
	__device__ __forceinline__ int right_at(int half, int c) const
	{
		return (c & 3) * shape<L>::right + right_base[half] + (c >> 2);
	}
	__device__ __forceinline__ struct sx_zncc_column<L> left(int c) const {
		return sx_zncc_column_load<L>(s->left, left_at(c));
	} __device__ __forceinline__ struct sx_zncc_column<L> right(int half, int c) const {
		return sx_zncc_column_load<L>(s->right, right_at(half, c));
	} __device__ __forceinline__ uint2 right_stat(int half, int c) const
	{
		return s->right_stat[right_at(half, c)];
	}
};

/* Stores the cells of pixel i, whose window is complete. */
template <int L>
__device__ __forceinline__ void finish(struct sx_zncc_window<L> &w, const struct place<L> &p,
				       const struct sx_zncc_work &work, bool check, int i, int i0)
{
	const int c = i + shape<L>::radius;
	const uint2 left = p.s->left_stat[p.left_at(c)];
	uint32_t cells[2][4];
	uint2 words;

	sx_zncc_meet<L>(w, p, c);
#pragma unroll
	for (int h = 0; h < 2; h++)
#pragma unroll
		for (int k = 0; k < 4; k++)
			cells[h][k] = sx_zncc_rounded<L>(sx_zncc_products<L>(w, h, k), left,
							 w.stat[h][(c + 3 - k) & 3]);
	words = make_uint2(sx_zncc_cells(cells[0][0], cells[0][1], cells[1][0], cells[1][1]),
			   sx_zncc_cells(cells[0][2], cells[0][3], cells[1][2], cells[1][3]));
	if (check) {
		words.x &= sx_zncc_visible(work, p.partner + i0 + i);
		words.y &= sx_zncc_visible(work, p.partner + i0 + i - 2);
	}
	if (i0 + i < p.count)
		*reinterpret_cast<uint2 *>(p.to + (size_t)i * (size_t)work.disparities) = words;
}

template <int L>
__device__ __forceinline__ void walk(struct place<L> &p, const struct sx_zncc_work &work, bool check)
{
	struct sx_zncc_window<L> w;

	sx_zncc_begin<L>(w, p);
#pragma unroll
	for (int c = 0; c < L - 1; c++)
		sx_zncc_enter<L>(w, p, c);
#pragma unroll 1
	for (int i0 = 0; i0 < p.count; i0 += shape<L>::period) {
#pragma unroll
		for (int i = 0; i < shape<L>::period; i++) {
			sx_zncc_enter<L>(w, p, i + L - 1);
			finish<L>(w, p, work, check, i, i0);
			sx_zncc_leave<L>(w, p, i);
		}
		p.left_base += shape<L>::period / 4;
		p.right_base[0] += shape<L>::period / 4;
		p.right_base[1] += shape<L>::period / 4;
		p.to += (size_t)shape<L>::period * (size_t)work.disparities;
	}
}

template <int L>
__device__ __forceinline__ struct place<L> find_place(const struct shared<L> *s, const struct sx_zncc_work &w,
						      int block_x, int y) {
	const int lanes = w.disparities / SX_ZNCC_LANE_CELLS, lane = (int)threadIdx.x % lanes,
		  first = (int)threadIdx.x / lanes * shape<L>::pixels;
	struct place<L> p;

	p.s = s;
	p.left_base = first / 4;
	p.right_base[0] = first / 4 + w.disparities / 4 - 1 - lane;
	p.right_base[1] = p.right_base[0] - w.disparities / 8;
	p.x = block_x + first;
	p.count = min(shape<L>::pixels, w.width - p.x);
	p.partner = p.x - w.min_disparity - 4 * lane;
	p.to = w.volume + ((ptrdiff_t)y * w.width + p.x) * (ptrdiff_t)w.disparities +
	       SX_ZNCC_LANE_CELLS * (ptrdiff_t)lane;
	return p;
}

template <int L>
__global__ void __launch_bounds__(SX_ZNCC_DISPARITIES_MAX) row_kernel(const struct sx_zncc_work w)
{
	SX_DYNAMIC_SHARED(struct shared<L>, s);
	const int y = (int)blockIdx.y, x = (int)blockIdx.x * shape<L>::columns;
	/* first right column that the block meets */
	const int right = x - w.min_disparity - (w.disparities - 1);
	struct place<L> p = find_place<L>(s, w, x, y);

	stage<L>(s->left, s->left_stat, shape<L>::left, w, 0, x - shape<L>::radius,
		 shape<L>::columns + 2 * shape<L>::radius, y);
	stage<L>(s->right, s->right_stat, shape<L>::right, w, 1, right - shape<L>::radius,
		 shape<L>::columns + w.disparities - 1 + 2 * shape<L>::radius, y);
	__syncthreads();
	walk<L>(p, w, w.no_view && sx_zncc_any_hidden(w, x, shape<L>::columns));
}

template <int L> void launch_row(const struct sx_zncc_work &w, cudaStream_t stream)
{
	SX_LAUNCH((row_kernel<L>),
		  dim3((unsigned)((w.width + shape<L>::columns - 1) / shape<L>::columns), (unsigned)w.height),
		  dim3((unsigned)(WALKS * w.disparities / SX_ZNCC_LANE_CELLS)), sizeof(struct shared<L>),
		  stream, w);
}

} // namespace

/*
 * Chooses the kernel, as measured (tests/lab/lab-performance.md). The columns of small windows are one or two
 * DP4A, so rows have little to share. With windows of 7, both kernels are equal on few multiprocessors.
 */
extern "C" cudaError_t sx_zncc_cost_cuda_run(const struct sx_image grey[2], const struct sx_image words[2],
					     const struct sx_stereo_params *p, uint8_t *volume,
					     cudaStream_t stream)
{
	struct sx_zncc_work w = {};

	for (int side = 0; side < 2; side++) {
		w.grey[side] = (const uint8_t *)grey[side].data;
		w.grey_pitch[side] = grey[side].pitch;
		w.words[side] = (const uint8_t *)words[side].data;
		w.words_pitch[side] = words[side].pitch;
	}
	w.volume = volume;
	w.width = grey[0].width;
	w.height = grey[0].height;
	w.disparities = p->disparities;
	w.min_disparity = p->min_disparity;
	w.no_view = p->out_of_view == SX_OUT_OF_VIEW_MAX;
	switch (p->zncc_window) {
	case 3:
		launch_row<3>(w, stream);
		break;
	case 5:
		launch_row<5>(w, stream);
		break;
	case 7:
		launch_row<7>(w, stream);
		break;
	default:
		return sx_zncc_zigzag_run(w, p->zncc_window, stream);
	}
	return SX_LAUNCHED();
}
