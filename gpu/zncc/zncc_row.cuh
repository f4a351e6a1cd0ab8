/*
 * Correlations along a row, for gpu/zncc/zncc_cost.cu. A thread has eight disparities: four and their
 * partners at + D/2. A word holds the grey levels of four rows of a column, so that a column of a window is
 * one to four DP4A. From pixel to pixel the entering column is added and the leaving column is subtracted.
 * Windows of 3 keep the sums of their three columns in registers instead.
 *
 * Columns are counted from the first column of a window. PLACE gives their data: left(c) is left column c;
 * right(h, c) is the right column that meets left column c + k at disparity 4 lane + k + h D/2; right_stat(h,
 * c) is the statistics of its window.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_ZNCC_ZNCC_ROW_CUH
#define SX_GPU_ZNCC_ZNCC_ROW_CUH

#include "gpu/zncc/zncc_cell.cuh"

#define SX_ZNCC_LANE_CELLS 8 /* cells per thread and pixel */

/* Sizes that depend on the window L x L. */
template <int L> struct sx_zncc_shape {
	static constexpr int radius = L / 2;
	static constexpr int quads = (L + 3) / 4;	      /* words of rows in a column */
	static constexpr int stride = quads == 3 ? 4 : quads; /* words of a column, for vector loads */
	static constexpr bool ring = L == 3;		      /* keeps sums of columns in a ring */
	/* pixels after which registers have the same roles again */
	static constexpr int period = ring ? 12 : 4;
	/*
	 * Bias of P in a register: the register holds P itself, or the bits of P + MAGIC. A ring adds three
	 * shares of the bias.
	 */
	static constexpr uint32_t bias = sx_zncc_bias<L>();
	static constexpr uint32_t share = ring ? 0xc3c00000u : 0;
	static_assert(!ring || 3u * share == bias, "three shares are a bias");
};

/* Returns four rows of a column as a word. Rows beyond the window are 0. */
template <int L>
__device__ __forceinline__ uint32_t sx_zncc_column_word(const struct sx_zncc_work &w, int side, int x, int y,
							int quad)
{
	uint32_t word = 0;

#pragma unroll
	for (int b = 0; b < 4; b++)
		if (4 * quad + b < L)
			word |= sx_zncc_level(w, side, x, y - sx_zncc_shape<L>::radius + 4 * quad + b)
				<< 8 * b;
	return word;
}

/* The words of a column. */
template <int L> struct sx_zncc_column {
	uint32_t word[sx_zncc_shape<L>::stride];
};

template <int L>
__device__ __forceinline__ struct sx_zncc_column<L> sx_zncc_column_load(const uint32_t *columns, int at) {
	struct sx_zncc_column<L> c;

	if (sx_zncc_shape<L>::stride == 4) {
		const uint4 v = reinterpret_cast<const uint4 *>(columns)[at];

		c.word[0] = v.x, c.word[1 % sx_zncc_shape<L>::stride] = v.y;
		c.word[2 % sx_zncc_shape<L>::stride] = v.z, c.word[3 % sx_zncc_shape<L>::stride] = v.w;
	} else if (sx_zncc_shape<L>::stride == 2) {
		const uint2 v = reinterpret_cast<const uint2 *>(columns)[at];

		c.word[0] = v.x, c.word[1 % sx_zncc_shape<L>::stride] = v.y;
	} else {
		c.word[0] = columns[at];
	}
	return c;
}

/* Returns sum plus the products of two columns. */
template <int L>
__device__ __forceinline__ uint32_t sx_zncc_dot(const struct sx_zncc_column<L> &a,
						const struct sx_zncc_column<L> &b, uint32_t sum)
{
#pragma unroll
	for (int q = 0; q < sx_zncc_shape<L>::quads; q++)
		sum = (uint32_t)__dp4a((int)a.word[q], (int)b.word[q], (int)sum);
	return sum;
}

/*
 * State of a window: the last four right columns of each half, by column mod 4, and the statistics of the
 * right windows around the middle columns.
 */
template <int L> struct sx_zncc_window {
	struct sx_zncc_column<L> enter[2][4], leave[2][4];
	uint2 stat[2][4];
	uint32_t p[2][4];	/* sums of products for the disparities k and their partners */
	uint32_t ring[3][2][4]; /* sums of columns, by column mod 3 */
};

/* Adds column c and its products. */
template <int L, typename PLACE>
__device__ __forceinline__ void sx_zncc_enter(struct sx_zncc_window<L> &w, const PLACE &place, int c)
{
	typedef struct sx_zncc_shape<L> shape;
	const struct sx_zncc_column<L> left = place.left(c);

#pragma unroll
	for (int h = 0; h < 2; h++) {
		w.enter[h][(c + 3) & 3] = place.right(h, c + 3);
#pragma unroll
		for (int k = 0; k < 4; k++) {
			if (shape::ring)
				w.ring[c % 3][h][k] =
					sx_zncc_dot<L>(left, w.enter[h][(c + 3 - k) & 3], shape::share);
			else
				w.p[h][k] = sx_zncc_dot<L>(left, w.enter[h][(c + 3 - k) & 3], w.p[h][k]);
		}
	}
}

/* Removes column c, which has left the window. */
template <int L, typename PLACE>
__device__ __forceinline__ void sx_zncc_leave(struct sx_zncc_window<L> &w, const PLACE &place, int c)
{
	if (sx_zncc_shape<L>::ring)
		return;

	const struct sx_zncc_column<L> left = place.left(c);

#pragma unroll
	for (int h = 0; h < 2; h++) {
		w.leave[h][(c + 3) & 3] = place.right(h, c + 3);
#pragma unroll
		for (int k = 0; k < 4; k++)
			w.p[h][k] -= sx_zncc_dot<L>(left, w.leave[h][(c + 3 - k) & 3], 0);
	}
}

/*
 * Prepares the first pixel: loads the right columns before the first entering column; there are no products
 * yet.
 */
template <int L, typename PLACE>
__device__ __forceinline__ void sx_zncc_begin(struct sx_zncc_window<L> &w, const PLACE &place)
{
#pragma unroll
	for (int h = 0; h < 2; h++) {
#pragma unroll
		for (int k = 0; k < 3; k++) {
			const int middle = k + sx_zncc_shape<L>::radius;

			w.stat[h][middle & 3] = place.right_stat(h, middle);
			w.enter[h][k] = w.leave[h][k] = place.right(h, k);
		}
#pragma unroll
		for (int k = 0; k < 4; k++)
			w.p[h][k] = sx_zncc_shape<L>::bias;
	}
}

/* Loads the statistics of the right windows around column c. */
template <int L, typename PLACE>
__device__ __forceinline__ void sx_zncc_meet(struct sx_zncc_window<L> &w, const PLACE &place, int c)
{
#pragma unroll
	for (int h = 0; h < 2; h++)
		w.stat[h][(c + 3) & 3] = place.right_stat(h, c + 3);
}

/* Returns the sum of products of the complete window, plus the bias. */
template <int L>
__device__ __forceinline__ uint32_t sx_zncc_products(const struct sx_zncc_window<L> &w, int h, int k)
{
	return sx_zncc_shape<L>::ring ? w.ring[0][h][k] + w.ring[1][h][k] + w.ring[2][h][k] : w.p[h][k];
}

#endif
