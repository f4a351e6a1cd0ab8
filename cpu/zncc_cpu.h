/*
 * Windows and costs of zero-mean normalised cross-correlation; meaning in stages/zncc.h.
 *
 * Work:   words: sums of window columns, to which a row of the image comes and from which one goes, then l of them a
 *         pixel. Costs: the same with products. Per column and VEC_BYTES disparities the sum of a window column's
 *         products (a row that comes and one that goes are one dot product of pairs; small windows sum all their
 *         rows anew), added to the window's sum while the column l before leaves it, then four float operations a
 *         cell.
 * Memory: products of a row's window columns in the worker's scratch, 4 bytes a cell of a row, read and written once a
 *         row; small windows keep the last 16 columns alone. Columns go in tiles, disparities inside them, so that a
 *         pixel's costs, and sums in registers, are finished while they are near.
 * Ranges: grey levels are taken 128 lower, which a covariance does not see: I' in -128..127, n I' and S1' in
 *         -28800..28800 fit words; n sum L' R' and S1' S1' are below 8.3e8, so no sum reaches 2^31. By Cauchy-Schwarz
 *         |z| exceeds 1 by rounding alone, so costs need no clamp.
 * Shapes: any width; costs out of view are written over afterwards.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_ZNCC_CPU_H
#define SX_CPU_ZNCC_CPU_H

#include <math.h>
#include <string.h>

#include "cpu/cost_cpu.h"
#include "cpu/matcher.h"
#include "stages/zncc.h"

#define VEC_INTS (VEC_BYTES / 4)
#define ZNCC_TILE 16 /* columns */
/* Adding this rounds a small float to an integer, to nearest, ties to even, in the low bits of the sum. */
#define ZNCC_ROUND 12582912.0f /* 1.5 * 2^23 */
#define ZNCC_ROUND_BITS 0x4b400000

static ALWAYS_INLINE vi vi_load(const void *p)
{
	vi v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static ALWAYS_INLINE void vi_store(void *p, vi v)
{
	memcpy(p, &v, sizeof(v));
}

static ALWAYS_INLINE vf vf_load(const float *p)
{
	vf v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static ALWAYS_INLINE int held_between(int v, int least, int most)
{
	return v < least ? least : v > most ? most : v;
}

static const uint8_t *zncc_grey_row(const struct sx_image *grey, int y)
{
	return sx_image_row(grey, held_between(y, 0, grey->height - 1));
}

/* The first and last of width values once more, r times, beside them. */
static ALWAYS_INLINE void repeat_ends(int32_t *v, int width, int r)
{
	for (int i = 1; i <= r; i++) {
		v[-i] = v[0];
		v[width - 1 + i] = v[width - 1];
	}
}

static void add_column_sums(const uint8_t *restrict in, int width, int32_t *restrict sum,
			    int32_t *restrict square)
{
	for (int x = 0; x < width; x++) {
		sum[x] += in[x];
		square[x] += in[x] * in[x];
	}
}

static void move_column_sums(const uint8_t *restrict in, const uint8_t *restrict out, int width,
			     int32_t *restrict sum, int32_t *restrict square)
{
	for (int x = 0; x < width; x++) {
		sum[x] += in[x] - out[x];
		square[x] += in[x] * in[x] - out[x] * out[x];
	}
}

/* S1 and V from sums of window columns; runs up to VEC_INTS - 1 values past the end. */
static void sum_windows(const int32_t *sum, const int32_t *square, int width, int l, int32_t *s1, int32_t *v)
{
	for (int x = 0; x < width; x += VEC_INTS) {
		vi a = {0}, b = {0};

		for (int i = -(l / 2); i <= l / 2; i++) {
			a += vi_load(sum + x + i);
			b += vi_load(square + x + i);
		}
		vi_store(s1 + x, a);
		/* unsigned: n S2 can exceed 31 bits, V cannot */
		vi_store(v + x, (vi)((vu)b * (uint32_t)(l * l) - (vu)a * (vu)a));
	}
}

static void store_words(const int32_t *restrict s1, const int32_t *restrict v, int width,
			uint64_t *restrict words)
{
	for (int x = 0; x < width; x++) {
		float inverse = 1.0f / sqrtf((float)(v[x] ? v[x] : 1));

		words[x] = sx_zncc_word((uint32_t)s1[x], v[x] ? inverse : 0.0f);
	}
}

static void zncc_words_rows(const struct sx_matcher *m, const struct sx_matcher_frame *f, int side, int y0,
			    int y1, struct sx_matcher_scratch *s)
{
	const struct sx_image *grey = &f->grey[side];
	int32_t *sum = s->zncc.column_sum, *square = s->zncc.column_square;
	int r = m->p.zncc_window / 2, width = m->width;

	memset(sum, 0, (size_t)width * sizeof(*sum));
	memset(square, 0, (size_t)width * sizeof(*square));
	for (int j = -r; j <= r; j++) /* the window of the row before */
		add_column_sums(zncc_grey_row(grey, y0 - 1 + j), width, sum, square);
	for (int y = y0; y < y1; y++) {
		move_column_sums(zncc_grey_row(grey, y + r), zncc_grey_row(grey, y - 1 - r), width, sum,
				 square);
		repeat_ends(sum, width, r);
		repeat_ends(square, width, r);
		sum_windows(sum, square, width, m->p.zncc_window, s->zncc.sum, s->zncc.variance);
		store_words(s->zncc.sum, s->zncc.variance, width, sx_image_row(&f->census[side], y));
	}
}

/*
 * What a row's costs are made from. Left values are by column -r .. width-1+r, right ones by j, as in the planes of
 * census_cpu.h: j belongs to right column width - 1 - min_disparity - j, held to the image, so that disparities of left
 * column u are j = width - 1 - u and the following.
 */
struct zncc_row {
	const int32_t *left, *right; /* pairs of grey levels of two rows, a row of pairs for each term */
	size_t left_pitch, right_pitch;
	const int32_t *left_sum, *right_sum; /* -S1', with 0 above, and S1' */
	const float *left_inverse, *right_inverse;
	int32_t *
		products; /* sums of window columns' products times n: D for each column from 0 on, or for u % SX_MATCHER_RING */
	int32_t *window; /* sums of the window's, D: of the columns before a tile */
	int width, disparities, r;
	uint8_t *costs;	   /* of this row */
	float *real_costs; /* or NULL */
};

/* Two words a value: (a - 128) wa below, (b - 128) wb above. */
static void pair_left(const uint8_t *restrict a, const uint8_t *restrict b, int wa, int wb, int width, int r,
		      int32_t *restrict out)
{
	for (int x = 0; x < width; x++)
		out[x] = (int32_t)((uint32_t)((a[x] - 128) * wa & 0xffff) | (uint32_t)((b[x] - 128) * wb)
										    << 16);
	repeat_ends(out, width, r);
}

/* Range of j whose columns are in the image, of those from -r to width + disparities + r. */
static ALWAYS_INLINE void clip_turned(const struct sx_matcher *m, int r, int *from, int *to)
{
	int end = m->width + m->p.disparities - 1 + r;

	*from = held_between(-m->p.min_disparity, -r, end);
	*to = held_between(m->width - m->p.min_disparity, *from, end);
}

static void pair_right(const struct sx_matcher *m, const uint8_t *restrict a, const uint8_t *restrict b,
		       int r, int32_t *restrict out)
{
	int last = m->width - 1 - m->p.min_disparity, end = m->width + m->p.disparities - 1 + r, from, to;
	int32_t before = (int32_t)((uint32_t)((a[m->width - 1] - 128) & 0xffff) |
				   (uint32_t)(b[m->width - 1] - 128) << 16),
		after = (int32_t)((uint32_t)((a[0] - 128) & 0xffff) | (uint32_t)(b[0] - 128) << 16);

	clip_turned(m, r, &from, &to);
	for (int j = -r; j < from; j++)
		out[j] = before;
	for (int j = from; j < to; j++)
		out[j] = (int32_t)((uint32_t)((a[last - j] - 128) & 0xffff) | (uint32_t)(b[last - j] - 128)
										      << 16);
	for (int j = to; j < end; j++)
		out[j] = after;
}

static void left_words(const struct sx_matcher *m, const uint64_t *restrict words, int32_t *restrict sum,
		       float *restrict inverse)
{
	int32_t mean = 128 * m->p.zncc_window * m->p.zncc_window;

	for (int x = 0; x < m->width; x++) {
		sum[x] = (mean - (int32_t)sx_zncc_sum(words[x])) & 0xffff;
		inverse[x] = sx_zncc_inverse(words[x]);
	}
}

/* Out of view: 0, whatever is correlated with it. */
static void right_words(const struct sx_matcher *m, const uint64_t *restrict words, int32_t *restrict sum,
			float *restrict inverse)
{
	int last = m->width - 1 - m->p.min_disparity, end = m->width + m->p.disparities - 1, from, to;
	int32_t mean = 128 * m->p.zncc_window * m->p.zncc_window;

	clip_turned(m, 0, &from, &to);
	memset(inverse, 0, (size_t)end * sizeof(*inverse));
	memset(sum, 0, (size_t)end * sizeof(*sum));
	for (int j = from; j < to; j++) {
		sum[j] = (int32_t)sx_zncc_sum(words[last - j]) - mean;
		inverse[j] = sx_zncc_inverse(words[last - j]);
	}
}

/* Products of window column u, 4 vectors from disparity d on; add: to those of the row before. */
static ALWAYS_INLINE void column_products(const struct zncc_row *z, int u, int d, int terms, bool add,
					  int32_t *at, vi v[4])
{
	const int32_t *right = z->right + z->width - 1 - u + d;

	for (int k = 0; k < 4; k++)
		v[k] = add ? vi_load(at + k * VEC_INTS) : (vi){0};
	for (int t = 0; t < terms; t++) {
		vi left = z->left[(ptrdiff_t)z->left_pitch * t + u] - (vi){0};

		for (int k = 0; k < 4; k++)
			v[k] += vi_dot(vi_load(right + z->right_pitch * (size_t)t + k * VEC_INTS), left);
	}
	for (int k = 0; k < 4; k++)
		vi_store(at + k * VEC_INTS, v[k]);
}

/* Costs of column x from disparity d on, from n times the products' sums. */
static ALWAYS_INLINE void window_costs(const struct zncc_row *z, int x, int d, const vi window[4], bool real)
{
	size_t at = (size_t)(z->width - 1 - x + d), cell = (size_t)x * (size_t)z->disparities + (size_t)d;
	vi left_sum = z->left_sum[x] - (vi){0}, cost[4];
	vf left_inverse = z->left_inverse[x] - (vf){0};

	for (int k = 0; k < 4; k++, at += VEC_INTS) {
		vi n = window[k] + vi_dot(vi_load(z->right_sum + at), left_sum);
		vf c = __builtin_convertvector(n, vf) * left_inverse * vf_load(z->right_inverse + at);

		if (real)
			vi_store(z->real_costs + cell + k * VEC_INTS, (vi)(1.0f - c));
		cost[k] = ZNCC_ROUND_BITS + SX_ZNCC_SCALE - (vi)(c * (float)SX_ZNCC_SCALE + ZNCC_ROUND);
	}
	if (!real)
		vb_store(z->costs + cell, vb_pack(cost[0], cost[1], cost[2], cost[3]));
}

static ALWAYS_INLINE int32_t *products_at(const struct zncc_row *z, int u, int d, bool ring)
{
	int column = ring ? u & (SX_MATCHER_RING - 1) : u;

	return z->products + (ptrdiff_t)column * z->disparities + d;
}

/* Columns [x0, x1) from disparity d on: a window column comes, the cost is made, a window column goes. */
static ALWAYS_INLINE void zncc_tile(const struct zncc_row *z, int x0, int x1, int d, int terms, bool add,
				    bool ring, bool real)
{
	vi window[4], v[4];

	for (int k = 0; k < 4; k++)
		window[k] = vi_load(z->window + d + k * VEC_INTS);
	for (int x = x0; x < x1; x++) {
		const int32_t *gone = products_at(z, x - z->r, d, ring);

		column_products(z, x + z->r, d, terms, add, products_at(z, x + z->r, d, ring), v);
		for (int k = 0; k < 4; k++)
			window[k] += v[k];
		window_costs(z, x, d, window, real);
		for (int k = 0; k < 4; k++)
			window[k] -= vi_load(gone + k * VEC_INTS);
	}
	for (int k = 0; k < 4; k++)
		vi_store(z->window + d + k * VEC_INTS, window[k]);
}

static ALWAYS_INLINE void zncc_row_as(const struct zncc_row *z, int terms, bool add, bool ring, bool real)
{
	memset(z->window, 0, (size_t)z->disparities * sizeof(*z->window));
	for (int d = 0; d < z->disparities; d += VEC_BYTES)
		for (int u = -z->r; u < z->r; u++) {
			vi v[4];

			column_products(z, u, d, terms, add, products_at(z, u, d, ring), v);
			for (int k = 0; k < 4; k++)
				vi_store(z->window + d + k * VEC_INTS,
					 vi_load(z->window + d + k * VEC_INTS) + v[k]);
		}
	for (int x = 0; x < z->width; x += ZNCC_TILE) {
		int end = x + ZNCC_TILE < z->width ? x + ZNCC_TILE : z->width;

		for (int d = 0; d < z->disparities; d += VEC_BYTES)
			zncc_tile(z, x, end, d, terms, add, ring, real);
	}
}

static ALWAYS_INLINE void zncc_row_of(const struct zncc_row *z, int terms, bool add, bool ring)
{
	if (z->real_costs)
		zncc_row_as(z, terms, add, ring, true);
	else
		zncc_row_as(z, terms, add, ring, false);
}

/* Costs whose right column is outside: the last disparities of the first columns, or the first of the last. */
static void zncc_out_of_view(const struct sx_matcher *m, const struct zncc_row *z)
{
	bool most = m->p.out_of_view == SX_OUT_OF_VIEW_MAX;

	for (int x = 0; x < z->width; x++) {
		int first = held_between(x - m->p.min_disparity - z->width + 1, 0, z->disparities);
		int last = held_between(x - m->p.min_disparity + 1, 0, z->disparities);
		size_t cell = (size_t)x * (size_t)z->disparities;

		if (!z->real_costs) {
			memset(z->costs + cell, most ? 2 * SX_ZNCC_SCALE : SX_ZNCC_SCALE, (size_t)first);
			memset(z->costs + cell + last, most ? 2 * SX_ZNCC_SCALE : SX_ZNCC_SCALE,
			       (size_t)(z->disparities - last));
			continue;
		}
		for (int d = 0; d < z->disparities; d++)
			if (d < first || d >= last)
				z->real_costs[cell + (size_t)d] = most ? 2.0f : 1.0f;
	}
}

/* Pairs of rows y - r .. y + r, two a term. */
static int pair_all_rows(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
			 struct sx_matcher_scratch *s)
{
	int l = m->p.zncc_window, r = l / 2, n = l * l;

	for (int t = 0; t <= r; t++) {
		int a = y - r + 2 * t, b = t < r ? a + 1 : a; /* l is odd: the last has a weight of 0 */

		pair_left(zncc_grey_row(&f->grey[0], a), zncc_grey_row(&f->grey[0], b), n, t < r ? n : 0,
			  m->width, r, s->zncc.left + (size_t)t * s->zncc.left_pitch);
		pair_right(m, zncc_grey_row(&f->grey[1], a), zncc_grey_row(&f->grey[1], b), r,
			   s->zncc.right + (size_t)t * s->zncc.right_pitch);
	}
	return r + 1;
}

/* The row that comes to the window columns of y, and the one that goes. */
static void pair_two_rows(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
			  struct sx_matcher_scratch *s)
{
	int l = m->p.zncc_window, r = l / 2, n = l * l;

	pair_left(zncc_grey_row(&f->grey[0], y + r), zncc_grey_row(&f->grey[0], y - r - 1), n, -n, m->width,
		  r, s->zncc.left);
	pair_right(m, zncc_grey_row(&f->grey[1], y + r), zncc_grey_row(&f->grey[1], y - r - 1), r,
		   s->zncc.right);
}

static struct zncc_row make_zncc_row(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
				     struct sx_matcher_scratch *s)
{
	size_t row = (size_t)y * (size_t)m->width * (size_t)m->p.disparities;

	left_words(m, sx_image_row(&f->census[0], y), s->zncc.left_sum, s->zncc.left_inverse);
	right_words(m, sx_image_row(&f->census[1], y), s->zncc.right_sum, s->zncc.right_inverse);
	return (struct zncc_row){
		.left = s->zncc.left,
		.right = s->zncc.right,
		.left_pitch = s->zncc.left_pitch,
		.right_pitch = s->zncc.right_pitch,
		.left_sum = s->zncc.left_sum,
		.right_sum = s->zncc.right_sum,
		.left_inverse = s->zncc.left_inverse,
		.right_inverse = s->zncc.right_inverse,
		.products = s->zncc.products,
		.window = s->zncc.window,
		.width = m->width,
		.disparities = m->p.disparities,
		.r = m->p.zncc_window / 2,
		.costs = f->costs ? f->costs + row : NULL,
		.real_costs = f->real_costs ? f->real_costs + row : NULL,
	};
}

static void zncc_rows(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y0, int y1,
		      struct sx_matcher_scratch *s)
{
	for (int y = y0; y < y1; y++) {
		struct zncc_row z = make_zncc_row(m, f, y, s);

		if (m->p.zncc_window <= SX_MATCHER_SMALL_WINDOW) {
			int terms = pair_all_rows(m, f, y, s);

			if (terms == 2)
				zncc_row_of(&z, 2, false, true);
			else
				zncc_row_of(&z, terms, false, true);
		} else if (y == y0) {
			zncc_row_of(&z, pair_all_rows(m, f, y, s), false, false);
		} else {
			pair_two_rows(m, f, y, s);
			zncc_row_of(&z, 1, true, false);
		}
		zncc_out_of_view(m, &z);
	}
}

#endif
