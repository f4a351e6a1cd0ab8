/*
 * Correlations along a row, for gpu/zncc/zncc_cost.cu. A thread has eight disparities, four and their
 * partners D/2 further on. Grey levels lie in columns of four rows a word, so that a column of a window is
 * one to four DP4A. From pixel to pixel the column that enters is added and the one that leaves is
 * subtracted; windows of 3 keep the sums of their three columns in registers instead.
 *
 * Columns are counted from the first of a window. PLACE says where they are: of column c left(c) is the left
 * one, right(h, c) the right one that meets column c + k at disparity 4 lane + k and h D/2 more,
 * right_stat(h, c) what its window brings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_ZNCC_ZNCC_ROW_CUH
#define SX_GPU_ZNCC_ZNCC_ROW_CUH

#include "gpu/zncc/zncc_cell.cuh"

#define SX_ZNCC_LANE_CELLS 8 /* of a thread and pixel */

/* What follows from a window of L x L. */
template <int L> struct sx_zncc_shape {
	static constexpr int radius = L / 2;
	static constexpr int quads = (L + 3) / 4;	      /* of rows in a column */
	static constexpr int stride = quads == 3 ? 4 : quads; /* words of a column, for vector loads */
	static constexpr bool ring = L == 3;		      /* of column sums */
	static constexpr int period = ring ? 12 : 4; /* pixels after which registers have their roles again */
	/* Of P in a register: P itself, or bits of P + MAGIC; a ring adds three of its share. */
	static constexpr uint32_t bias = sx_zncc_bias<L>();
	static constexpr uint32_t share = ring ? 0xc3c00000u : 0;
	static_assert(!ring || 3u * share == bias, "three shares are a bias");
};

/* Rows of a column, four a word; what is beyond the window is 0. */
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

/* A column's words. */
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

/* Sum of products of two columns. */
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
 * The last four right columns of each half, by column mod 4, and of those in the middle of windows what they
 * bring.
 */
template <int L> struct sx_zncc_window {
	struct sx_zncc_column<L> enter[2][4], leave[2][4];
	uint2 stat[2][4];
	uint32_t p[2][4];	/* of the disparities k and their partners */
	uint32_t ring[3][2][4]; /* sums of columns, by column mod 3 */
};

/* Takes in column c and adds its products. */
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

/* Column c is behind. */
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

/* Before the first pixel: right columns that were there before the first one enters; no products yet. */
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

/* What the right windows around column c bring. */
template <int L, typename PLACE>
__device__ __forceinline__ void sx_zncc_meet(struct sx_zncc_window<L> &w, const PLACE &place, int c)
{
#pragma unroll
	for (int h = 0; h < 2; h++)
		w.stat[h][(c + 3) & 3] = place.right_stat(h, c + 3);
}

/* The sum of products of the window that is complete, and bias. */
template <int L>
__device__ __forceinline__ uint32_t sx_zncc_products(const struct sx_zncc_window<L> &w, int h, int k)
{
	return sx_zncc_shape<L>::ring ? w.ring[0][h][k] + w.ring[1][h][k] + w.ring[2][h][k] : w.p[h][k];
}

#endif
