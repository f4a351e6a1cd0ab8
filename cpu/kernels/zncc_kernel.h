/*
 * Windows and costs of zero-mean normalised cross-correlation. stages/stereo/zncc.h defines the results.
 *
 * Work:   words: sums of window columns. In each step a row of the image enters these sums and another row
 *         leaves them. Then l of them are added per pixel. Costs: the same with products. Per column and
 *         VEC_BYTES disparities, the sum of a window column's products is updated (the entering and the
 *         leaving row are one dot product of pairs; windows of 3 add up their rows again). It is added to the
 *         window's sum, from which the column l before is subtracted. Then follow four float operations per
 *         cell.
 * Memory: products of a row's window columns in the worker's scratch, 4 bytes per cell of a row, read and
 *         written once per row. Windows of 3 keep two columns in registers. Columns go in tiles, disparities
 *         inside them, so that sums stay in registers and costs are written in whole cache lines.
 * Ranges: 128 is subtracted from grey levels, which does not change a covariance. I' in -128..127, n I' and
 *         S1' in -28800..28800 fit words. n sum L' R' and S1' S1' are below 8.3e8, so no sum reaches 2^31. By
 *         Cauchy-Schwarz |z| exceeds 1 only by rounding, so costs need no clamp.
 * Shapes: any width; costs out of view are overwritten afterwards.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_ZNCC_KERNEL_H
#define SX_CPU_KERNELS_ZNCC_KERNEL_H

#include <math.h>
#include <string.h>

#include "cpu/kernels/cost_kernel.h"
#include "cpu/matcher.h"
#include "stages/stereo/zncc.h"

#define VEC_INTS (VEC_BYTES / 4)
/* Adding this rounds a small float to the nearest integer, ties to even, in the low bits of the sum. */
#define ZNCC_ROUND 12582912.0f /* 1.5 * 2^23 */
#define ZNCC_ROUND_BITS 0x4b400000

static ALWAYS_INLINE int held_between(int v, int least, int most)
{
	return v < least ? least : v > most ? most : v;
}

static const uint8_t *zncc_grey_row(const struct sx_image *grey, int y)
{
	return sx_image_row(grey, held_between(y, 0, grey->height - 1));
}

/* Repeats the first and the last of width values r times beside them. */
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

/*
 * Computes S1 and V from sums of window columns. It writes up to VEC_INTS - 1 values past the end; their
 * sources may hold anything, so the arithmetic is unsigned. n S2 can also exceed 31 bits, which V cannot.
 */
static void sum_windows(const int32_t *sum, const int32_t *square, int width, int l, int32_t *s1, int32_t *v)
{
	for (int x = 0; x < width; x += VEC_INTS) {
		vu a = {0}, b = {0};

		for (int i = -(l / 2); i <= l / 2; i++) {
			a += (vu)vi_load(sum + x + i);
			b += (vu)vi_load(square + x + i);
		}
		vi_store(s1 + x, (vi)a);
		vi_store(v + x, (vi)(b * (uint32_t)(l * l) - a * a));
	}
}

/* Stores the words. Has no branch, so that compilers vectorise it. */
static void store_words(const int32_t *restrict s1, const int32_t *restrict v, int width,
			uint64_t *restrict words)
{
	for (int x = 0; x < width; x++) {
		int32_t flat = v[x] == 0;
		float inverse = 1.0f / sqrtf((float)(v[x] + flat));

		words[x] = sx_zncc_word((uint32_t)s1[x], inverse) & (((uint64_t)flat << 32) - 1);
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
 * Inputs of a row's costs. Left values are by column -r .. width-1+r. Right values are by j, as in the planes
 * of census_kernel.h: j belongs to right column width - 1 - min_disparity - j, clamped to the image. So the
 * disparities of left column u are j = width - 1 - u and the following.
 */
struct zncc_row {
	const int32_t *left,
		*right; /* pairs of grey levels of two image rows; one row of pairs for each term */
	size_t left_pitch, right_pitch;
	const int32_t *left_sum, *right_sum;	     /* -S1', with 0 in the high word, and S1' */
	const int32_t *left_inverse, *right_inverse; /* bits of floats */
	int32_t *products; /* n times the products of window columns: D for each column */
	int32_t *window;   /* sum of the columns before a tile (D), or the last two of these columns (2 D) */
	int width, disparities, r;
	uint8_t *costs; /* costs of this row */
};

/* Makes two words per value: (a - 128) wa in the low word, (b - 128) wb in the high word. */
static void pair_rows(const uint8_t *restrict a, const uint8_t *restrict b, int wa, int wb, int width,
		      int32_t *restrict out)
{
	for (int x = 0; x < width; x++)
		out[x] = (int32_t)((uint32_t)((a[x] - 128) * wa & 0xffff) | (uint32_t)((b[x] - 128) * wb)
										    << 16);
}

/*
 * Reorders values of a right row, one per column, by j from -r to width + disparities - 2 + r. Values more
 * than r beyond the image's first or last column matter only for costs out of view.
 */
static void turn_values(const struct sx_matcher *m, const int32_t *restrict in, int r, int32_t *restrict out)
{
	int last = m->width - 1 - m->p.min_disparity, end = m->width + m->p.disparities - 1 + r;
	int from = held_between(-m->p.min_disparity, -r, end), to = held_between(last + 1, from, end);

	for (int j = -r; j < from; j++)
		out[j] = in[m->width - 1];
	for (int j = from; j < to; j++)
		out[j] = in[last - j];
	for (int j = to; j < end; j++)
		out[j] = in[0];
}

/* Computes S1 times sign plus offset, masked, and the bits of 1/sqrt(V). */
static void split_words(const uint64_t *restrict words, int width, int sign, int offset, int mask,
			int32_t *restrict sum, int32_t *restrict inverse)
{
	for (int x = 0; x < width; x++) {
		sum[x] = ((int32_t)sx_zncc_sum(words[x]) * sign + offset) & mask;
		inverse[x] = (int32_t)(words[x] >> 32);
	}
}

static void prepare_words(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
			  struct sx_matcher_zncc *z)
{
	int mean = 128 * m->p.zncc_window * m->p.zncc_window;

	split_words(sx_image_row(&f->census[1], y), m->width, 1, -mean, -1, z->sum, z->variance);
	turn_values(m, z->sum, 0, z->right_sum);
	turn_values(m, z->variance, 0, z->right_inverse);
	split_words(sx_image_row(&f->census[0], y), m->width, -1, mean, 0xffff, z->left_sum, z->left_inverse);
}

/*
 * Computes n times the products of window column u, 4 vectors from disparity d on. from: values to which they
 * are added, or NULL.
 */
static ALWAYS_INLINE void column_products(const struct zncc_row *z, int u, int d, int terms,
					  const int32_t *from, vi v[4])
{
	const int32_t *right = z->right + z->width - 1 - u + d, *left = z->left + u;

	for (int k = 0; k < 4; k++)
		v[k] = from ? vi_load(from + k * VEC_INTS) : (vi){0};
	for (int t = 0; t < terms; t++, left += z->left_pitch, right += z->right_pitch)
		for (int k = 0; k < 4; k++)
			v[k] += vi_dot(vi_load(right + k * VEC_INTS), *left - (vi){0});
}

static ALWAYS_INLINE void load_4(const int32_t *p, vi v[4])
{
	for (int k = 0; k < 4; k++)
		v[k] = vi_load(p + k * VEC_INTS);
}

static ALWAYS_INLINE void store_4(int32_t *p, const vi v[4])
{
	for (int k = 0; k < 4; k++)
		vi_store(p + k * VEC_INTS, v[k]);
}

/* Computes the costs of column x from disparity d on, from n times the sums of products, into out. */
static ALWAYS_INLINE void window_costs(const struct zncc_row *z, int x, int d, const vi window[4],
				       uint8_t *out)
{
	size_t at = (size_t)(z->width - 1 - x + d);
	vi left_sum = z->left_sum[x] - (vi){0}, cost[4];
	vf left_inverse = (vf)(z->left_inverse[x] - (vi){0});

	for (int k = 0; k < 4; k++, at += VEC_INTS) {
		vi n = window[k] + vi_dot(vi_load(z->right_sum + at), left_sum);
		vf c = __builtin_convertvector(n, vf) * left_inverse * (vf)vi_load(z->right_inverse + at);

		cost[k] = ZNCC_ROUND_BITS + SX_ZNCC_SCALE - (vi)(c * (float)SX_ZNCC_SCALE + ZNCC_ROUND);
	}
	vb_store(out, vb_pack(cost[0], cost[1], cost[2], cost[3]));
}

/*
 * Computes the costs of columns [x0, x1) from disparity d on: adds the entering window column, makes the
 * cost, subtracts the leaving window column. products: of column x0 - r. out: costs, one pixel after the
 * other.
 */
static ALWAYS_INLINE void wide_tile(const struct zncc_row *z, int x0, int x1, int d, int terms, bool add,
				    uint8_t *out)
{
	int32_t *gone = z->products + (ptrdiff_t)(x0 - z->r) * z->disparities + d;
	int32_t *come = gone + 2 * z->r * z->disparities;
	vi window[4], v[4];

	load_4(z->window + d, window);
	for (int x = x0; x < x1; x++, gone += z->disparities, come += z->disparities, out += z->disparities) {
		column_products(z, x + z->r, d, terms, add ? come : NULL, v);
		store_4(come, v);
		for (int k = 0; k < 4; k++)
			window[k] += v[k];
		window_costs(z, x, d, window, out);
		for (int k = 0; k < 4; k++)
			window[k] -= vi_load(gone + k * VEC_INTS);
	}
	store_4(z->window + d, window);
}

/*
 * Computes the costs of wide_tile() for windows of 3. The two window columns before stay in registers, and
 * products are not stored.
 */
static ALWAYS_INLINE void small_tile(const struct zncc_row *z, int x0, int x1, int d, uint8_t *out)
{
	vi a[4], b[4], v[4], window[4];

	load_4(z->window + d, a);
	load_4(z->window + z->disparities + d, b);
	for (int x = x0; x < x1; x++, out += z->disparities) {
		column_products(z, x + 1, d, 2, NULL, v);
		for (int k = 0; k < 4; k++) {
			window[k] = a[k] + b[k] + v[k];
			a[k] = b[k];
			b[k] = v[k];
		}
		window_costs(z, x, d, window, out);
	}
	store_4(z->window + d, a);
	store_4(z->window + z->disparities + d, b);
}

/* Sums the window columns before column r, with which the first tile begins. */
static ALWAYS_INLINE void begin_wide(const struct zncc_row *z, int terms, bool add)
{
	vi v[4], window[4];

	for (int d = 0; d < z->disparities; d += VEC_BYTES) {
		for (int k = 0; k < 4; k++)
			window[k] = (vi){0};
		for (int u = -z->r; u < z->r; u++) {
			int32_t *at = z->products + (ptrdiff_t)u * z->disparities + d;

			column_products(z, u, d, terms, add ? at : NULL, v);
			store_4(at, v);
			for (int k = 0; k < 4; k++)
				window[k] += v[k];
		}
		store_4(z->window + d, window);
	}
}

static ALWAYS_INLINE void begin_small(const struct zncc_row *z)
{
	vi v[4];

	for (int u = -1; u < 1; u++)
		for (int d = 0; d < z->disparities; d += VEC_BYTES) {
			column_products(z, u, d, 2, NULL, v);
			store_4(z->window + (u + 1) * z->disparities + d, v);
		}
}

/*
 * Sets the costs of columns [x0, x1) whose right column is outside the image: the last disparities of a
 * column, or the first.
 */
static void tile_out_of_view(const struct sx_matcher *m, int x0, int x1, uint8_t *out)
{
	bool most = m->p.out_of_view == SX_OUT_OF_VIEW_MAX;
	int disparities = m->p.disparities;

	for (int x = x0; x < x1; x++) {
		int first = held_between(x - m->p.min_disparity - m->width + 1, 0, disparities);
		int last = held_between(x - m->p.min_disparity + 1, 0, disparities);
		size_t at = (size_t)(x - x0) * (size_t)disparities;

		memset(out + at, most ? 2 * SX_ZNCC_SCALE : SX_ZNCC_SCALE, (size_t)first);
		memset(out + at + last, most ? 2 * SX_ZNCC_SCALE : SX_ZNCC_SCALE,
		       (size_t)(disparities - last));
	}
}

/* Stores a tile's costs past the caches, because they are read only after all other costs are made. */
static ALWAYS_INLINE void finish_tile(const struct sx_matcher *m, const struct zncc_row *z, int x0, int x1,
				      uint8_t *tile)
{
	size_t pixel = (size_t)z->disparities, bytes = (size_t)(x1 - x0) * pixel;
	uint8_t *out = z->costs + (size_t)x0 * pixel;

	if (x0 < z->disparities - 1 + m->p.min_disparity || x1 > z->width + m->p.min_disparity)
		tile_out_of_view(m, x0, x1, tile);
	for (size_t i = 0; i < bytes; i += VEC_BYTES)
		vb_stream(out + i, vb_load(tile + i));
}

/* Computes the costs of a row. terms 0: windows of 3. add: add to the products of the row before. */
static ALWAYS_INLINE void zncc_row_of(const struct sx_matcher *m, const struct zncc_row *z, int terms,
				      bool add, uint8_t *tile)
{
	if (terms)
		begin_wide(z, terms, add);
	else
		begin_small(z);
	for (int x = 0; x < z->width; x += SX_MATCHER_TILE) {
		int end = x + SX_MATCHER_TILE < z->width ? x + SX_MATCHER_TILE : z->width;

		for (int d = 0; d < z->disparities; d += VEC_BYTES)
			if (terms)
				wide_tile(z, x, end, d, terms, add, tile + d);
			else
				small_tile(z, x, end, d, tile + d);
		finish_tile(m, z, x, end, tile);
	}
}

/*
 * Prepares term t of a row's products: rows a and b of both sides; the left rows are multiplied by wa and wb.
 */
static void prepare_term(const struct sx_matcher *m, const struct sx_matcher_frame *f, int a, int b, int wa,
			 int wb, int t, struct sx_matcher_zncc *z)
{
	int32_t *left = z->left + (size_t)t * z->left_pitch, *right = z->right + (size_t)t * z->right_pitch;
	int r = m->p.zncc_window / 2;

	pair_rows(zncc_grey_row(&f->grey[0], a), zncc_grey_row(&f->grey[0], b), wa, wb, m->width, left);
	repeat_ends(left, m->width, r);
	pair_rows(zncc_grey_row(&f->grey[1], a), zncc_grey_row(&f->grey[1], b), 1, 1, m->width, z->sum);
	turn_values(m, z->sum, r, right);
}

/* Prepares all rows of the windows of row y, two rows per term. */
static int prepare_all_rows(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
			    struct sx_matcher_zncc *z)
{
	int l = m->p.zncc_window, r = l / 2, n = l * l;

	for (int t = 0; t < r; t++)
		prepare_term(m, f, y - r + 2 * t, y - r + 2 * t + 1, n, n, t, z);
	prepare_term(m, f, y + r, y + r, n, 0, r, z); /* l is odd */
	return r + 1;
}

/* Prepares the row that enters the windows of row y, and the row that leaves them. */
static int prepare_two_rows(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
			    struct sx_matcher_zncc *z)
{
	int l = m->p.zncc_window, r = l / 2, n = l * l;

	prepare_term(m, f, y + r, y - r - 1, n, -n, 0, z);
	return 1;
}

static struct zncc_row make_zncc_row(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
				     struct sx_matcher_scratch *s)
{
	size_t row = (size_t)y * (size_t)m->width * (size_t)m->p.disparities;

	prepare_words(m, f, y, &s->zncc);
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
		.costs = f->costs + row,
	};
}

static void zncc_rows(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y0, int y1,
		      struct sx_matcher_scratch *s)
{
	for (int y = y0; y < y1; y++) {
		struct zncc_row z = make_zncc_row(m, f, y, s);
		bool all = m->p.zncc_window == 3 || y == y0;
		int terms = all ? prepare_all_rows(m, f, y, &s->zncc) : prepare_two_rows(m, f, y, &s->zncc);

		if (m->p.zncc_window == 3)
			zncc_row_of(m, &z, 0, false, s->zncc.tile);
		else if (all)
			zncc_row_of(m, &z, terms, false, s->zncc.tile);
		else
			zncc_row_of(m, &z, 1, true, s->zncc.tile);
	}
}

#endif
