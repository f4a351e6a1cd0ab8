/*
 * FastDT of columns and the winner. stages/stereo/fastdt.h and stages/stereo/winner.h define the results;
 * cpu/fastdt.h describes the order of work.
 *
 *   Words (U, V, S) of a pixel: lane i of vector k is disparity k * VEC_WORDS + i.
 *   Words of a row of a band of n columns are merged by pixel t of the right image, counted from the right.
 *   In the figure, words in one column have the same t; image column i has disparity t - (n - 1) + i there.
 *   lowest[t]: the first image column that has a word of t.
 *
 *     column n - 1  | d 0 | d 1 | d 2 | ...
 *     column n - 2        | d 0 | d 1 | d 2 | ...          t = 0, 1, 2 .. from left to right
 *     column n - 3              | d 0 | d 1 | d 2 | ...
 *
 * Work:   vectors hold disparities of a pixel. Down: a step. Up: a step, S, and the winner, from registers
 *         and the first-level cache. The least S of the right image is merged together with the row below. O
 *         and G: vectors of columns.
 * Memory: sums of the pass down stay in the worker's scratch, about 0.75 MB. The volume is read once; S is
 *         not stored.
 * Ranges: sums of three passes are below 12000 (65535 (1 - K) plus rounding), so only the pass up must be
 *         clamped to 16 bits. V(d) - V(O) is 0..65535; R >= 65536, so S is clamped to 65535.
 * Shapes: any; a band's last columns may be missing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_FASTDT_KERNEL_H
#define SX_CPU_KERNELS_FASTDT_KERNEL_H

#include "cpu/kernels/fastdt_row_kernel.h"
#include "cpu/kernels/winner_kernel.h"

static ALWAYS_INLINE int dt_hold(int v)
{
	return v < INT16_MIN ? INT16_MIN : v > INT16_MAX ? INT16_MAX : v;
}

/*
 * Step n pixels of O or G. before: the pixels before them. These are separate functions, because compilers
 * lose `restrict` when they inline them.
 */
static __attribute__((noinline)) void dt_step_free(int32_t *restrict at, const int32_t *restrict before,
						   const int32_t *restrict weights, int n)
{
	for (int i = 0; i < n; i++)
		at[i] += dt_scale(before[i], weights[i]);
}

static __attribute__((noinline)) void dt_step_held(int32_t *restrict at, const int32_t *restrict before,
						   const int32_t *restrict weights, int n)
{
	for (int i = 0; i < n; i++)
		at[i] = dt_hold(at[i] + dt_scale(before[i], weights[i]));
}

/*
 * Turns G into the factor of S. A double holds both numbers and distinguishes their quotient from the next
 * integer.
 */
static void dt_plane_end(int32_t *gain, int n)
{
	for (int i = 0; i < n; i++)
		gain[i] = (int32_t)((double)UINT32_C(0xffff0000) / (double)gain[i]);
}

typedef void dt_step_fn(int32_t *restrict at, const int32_t *restrict before, const int32_t *restrict weights,
			int n);

/* Runs one of the two planes down, then up, in columns from x0 on. */
static void dt_plane(const struct sx_matcher *m, const struct sx_matcher_frame *f, int32_t *plane, int x0,
		     int n, dt_step_fn *step)
{
	const int32_t *weights = f->maps.down + x0;
	ptrdiff_t width = m->width;

	plane += x0;
	for (ptrdiff_t y = 1; y < m->height; y++)
		step(plane + y * width, plane + (y - 1) * width, weights + y * width, n);
	for (ptrdiff_t y = m->height - 2; y >= 0; y--)
		step(plane + y * width, plane + (y + 1) * width, weights + (y + 1) * width, n);
}

static void fastdt_planes(const struct sx_matcher *m, const struct sx_matcher_frame *f, int i)
{
	int x0 = i * SX_FASTDT_PLANE_COLUMNS;
	int n = m->width - x0 < SX_FASTDT_PLANE_COLUMNS ? m->width - x0 : SX_FASTDT_PLANE_COLUMNS;

	dt_plane(m, f, f->maps.least, x0, n, dt_step_held);
	dt_plane(m, f, f->maps.gain, x0, n, dt_step_free);
	for (int y = 0; y < m->height; y++)
		dt_plane_end(f->maps.gain + (size_t)y * (size_t)m->width + x0, n);
}

/* The columns of a band. */
struct dt_band {
	int x0, n, all; /* n: columns; all: columns of a whole band */
	size_t pitch;	/* pitch, words */
};

/* Prefetches the values per pixel, which are pieces of rows far apart. */
static ALWAYS_INLINE void dt_prefetch(const struct sx_matcher *m, const struct sx_matcher_frame *f,
				      const struct dt_band *b, const struct sx_matcher_scratch *s, int y,
				      int disparities)
{
	size_t at = (size_t)y * (size_t)m->width + (size_t)b->x0, right;

	if (y < 0)
		return;
	right = (size_t)y * sx_fastdt_right_pitch(m) + (size_t)(m->width - b->x0 - b->n);
	prefetch_read((const uint8_t *)(f->maps.down + at), (size_t)b->n * sizeof(*f->maps.down) + LINE - 1);
	prefetch_read((const uint8_t *)(f->maps.least + at),
		      (size_t)b->n * sizeof(*f->maps.least) + LINE - 1);
	prefetch_read((const uint8_t *)(f->maps.gain + at), (size_t)b->n * sizeof(*f->maps.gain) + LINE - 1);
	prefetch_read((const uint8_t *)(s->fastdt.right_sum + right),
		      (size_t)disparities * sizeof(uint16_t) + LINE);
	prefetch_read((const uint8_t *)(s->fastdt.right_x + right),
		      (size_t)disparities * sizeof(uint16_t) + LINE);
}

static ALWAYS_INLINE void dt_down_words(const struct sx_matcher *m, const struct sx_matcher_frame *f,
					const struct dt_band *b, struct sx_matcher_scratch *s,
					int disparities, bool coded)
{
	size_t band_row = (size_t)b->all * (size_t)disparities;
	uint16_t *u = s->fastdt.sums;

	memset(u, 0, band_row * sizeof(*u));
	for (int y = 0; y < m->height; y++, u += band_row) {
		size_t at = (size_t)y * (size_t)m->width + (size_t)b->x0;
		size_t in = sx_fastdt_pixel(m, b->x0, y) * (size_t)disparities;

		for (int i = 0; i < b->n; i++) {
			vw w = vw_set1(f->maps.down[at + (size_t)i]);

			for (int d = 0; d < disparities; d += VEC_WORDS, in += VEC_WORDS) {
				uint16_t *before = u + i * disparities + d;
				vw v = coded ? dt_decode(vw_swiden((const uint8_t *)f->volume + in))
					     : vw_load((const uint16_t *)f->volume + in);

				vw_store(before + band_row, vw_add(v, vw_scale(vw_load(before), w)));
			}
		}
	}
}

static const uint16_t dt_lanes[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
				      16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

/* R of a pixel: n R >> 16 = n high + (n low >> 16). most: the largest n for which n high fits 16 bits. */
struct dt_gain {
	vw high, low, most;
};

static ALWAYS_INLINE struct dt_gain dt_gain_of(int r)
{
	/*
	 * Quotients are further from integers than the rounding of floats. high is 0 if rounding has made G
	 * exceed 65535.
	 */
	int high = r >> 16, most = (int)(65535.0f / (float)(high + !high));

	return (struct dt_gain){vw_set1(high), vw_set1(r & 0xffff), vw_set1(most)};
}

static ALWAYS_INLINE vw dt_sum(vw n, const struct dt_gain *g)
{
	vw sum = vw_uadd_held(vw_low(n, g->high), vw_high(n, g->low));

	return vw_where_equal(vw_umin(n, g->most), n, sum, vw_set1(0xffff));
}

/* The least S of each element, and the lowest disparity with that S. */
struct dt_least {
	vw sum, d, next;
};

static ALWAYS_INLINE struct dt_least dt_start_least(void)
{
	return (struct dt_least){vw_set1(0xffff), vw_load(dt_lanes), vw_load(dt_lanes)};
}

static ALWAYS_INLINE void dt_take(struct dt_least *l, vw sum, uint16_t *w)
{
	vw least = vw_umin(l->sum, sum);

	vw_store(w, sum);
	l->d = vw_where_equal(least, l->sum, l->d, l->next);
	l->sum = least;
	l->next = vw_add(l->next, vw_set1(VEC_WORDS));
}

/* Writes S of a pixel to w. u: sums of the pass down. */
static ALWAYS_INLINE struct dt_least dt_up_words(const uint16_t *u, uint16_t *state, int weight, int least,
						 int r, uint16_t *w, int disparities)
{
	vw weights = vw_set1(weight), subtracted = vw_set1(least);
	struct dt_least all = dt_start_least();
	struct dt_gain gain = dt_gain_of(r);

	for (int d = 0; d < disparities; d += VEC_WORDS) {
		vw v = vw_sadd_held(vw_load(u + d), vw_scale(vw_load(state + d), weights));
		vw sum = dt_sum(vw_sub(v, subtracted), &gain);

		vw_store(state + d, v);
		dt_take(&all, sum, w + d);
	}
	return all;
}

/* Finds the winner of a pixel. w: S of the pixel. */
static ALWAYS_INLINE void dt_winner(const struct sx_matcher *m, const struct sx_fastdt_maps *maps, size_t at,
				    const uint16_t *w, const struct dt_least *least, int disparities)
{
	uint32_t s0 = (uint32_t)vw_min_all(least->sum), limit;
	int rivals = 0,
	    d0 = vw_min_all(vw_where_equal(least->sum, vw_set1((int)s0), least->d, vw_set1(0xffff)));
	vw rival;

	/* S(k) is a rival if 100 S0 >= uniqueness * S(k), that is, S(k) <= floor(100 S0 / uniqueness) */
	limit = (uint32_t)(100 * s0 * m->uniqueness_inverse >> 40);
	limit = limit < UINT16_MAX ? limit : UINT16_MAX;
	rival = vw_set1((int)limit);
	for (int d = 0; d < disparities; d += VEC_BYTES) {
		vw lo = vw_load(w + d), hi = vw_load(w + d + VEC_WORDS);

		rivals += __builtin_popcountll(vw_bits_up_to(lo, hi, rival));
	}
	/* the winner and its neighbours are no rivals */
	rivals -= (s0 <= limit) + ((d0 > 0) & (w[d0 - 1] <= limit)) +
		  ((d0 < disparities - 1) & (w[d0 + 1] <= limit));
	maps->s0[at] = (uint16_t)s0;
	maps->side_low[at] = w[d0 - 1];
	maps->side_high[at] = w[d0 + 1];
	maps->d0[at] = (uint16_t)(d0 | (rivals > 0 ? NOT_UNIQUE : 0));
}

/*
 * Computes lowest[t]: the first column of the band that has a disparity for pixel t of the right image. t
 * counts from the right as in planes, so d = t - (n - 1) + column. If no column has one, lowest[t] is beyond
 * all columns.
 */
static void dt_start_merge(const struct dt_band *b, struct sx_matcher_scratch *s, int disparities)
{
	for (int t = 0; t < (int)b->pitch; t++)
		s->fastdt.lowest[t] = (uint16_t)(t >= disparities + b->n - 1 ? 0x8000
						 : t < b->n - 1		     ? b->n - 1 - t
									     : 0);
	memset(s->fastdt.words, 255, 2 * (size_t)b->all * b->pitch * sizeof(*s->fastdt.words));
}

/*
 * Merges a row of the band into the least S by right pixel. The lowest column has the lowest disparity, so it
 * wins ties. Words beside a pixel's S are never below the S already there. If all S are 65535, lowest[] is
 * the result.
 */
static ALWAYS_INLINE void dt_merge(const struct sx_matcher *m, const struct dt_band *b, int y,
				   const uint16_t *words, const struct sx_matcher_scratch *s, int disparities)
{
	size_t at = (size_t)y * sx_fastdt_right_pitch(m) + (size_t)(m->width - b->x0 - b->n);
	vw first = vw_set1(b->x0), one = vw_set1(1);

	for (int t = 0; t < disparities + b->n - 1; t += VEC_WORDS) {
		uint16_t *sum = s->fastdt.right_sum + at + t, *column = s->fastdt.right_x + at + t;
		vw min = vw_set1(0xffff), x = vw_load(s->fastdt.lowest + t), i = vw_set1(0);
		vw old = vw_load(sum), old_x = vw_load(column), least;

		for (int k = 0; k < b->n; k++, i = vw_add(i, one)) {
			least = vw_umin(min, vw_load(words + (size_t)k * b->pitch + t - (b->n - 1) + k));
			x = vw_where_equal(least, min, x, i);
			min = least;
		}
		x = vw_add(x, first);
		least = vw_umin(min, old);
		x = vw_where_equal(min, old, vw_umin(x, old_x), vw_where_equal(least, min, x, old_x));
		vw_store(column, x);
		vw_store(sum, least);
	}
}

static void dt_keep_sums(const struct sx_matcher_frame *f, int x, int y, const uint16_t *w, int disparities)
{
	memcpy((uint16_t *)sx_image_row(&f->sum, y) + (size_t)x * (size_t)disparities, w,
	       (size_t)disparities * sizeof(*w));
}

/*
 * Runs a band up. It finds winners when all S of a row are ready, and merges a row while it computes the
 * next. So the words have reached the cache, and the latencies of the columns overlap.
 */
static ALWAYS_INLINE void dt_band_up(const struct sx_matcher *m, const struct sx_matcher_frame *f,
				     const struct dt_band *b, struct sx_matcher_scratch *s, int disparities)
{
	size_t band_row = (size_t)b->all * (size_t)disparities, half = (size_t)b->all * b->pitch;
	uint16_t *words = s->fastdt.words + SX_MATCHER_MARGIN / 2;
	struct dt_least least[SX_FASTDT_COLUMNS_MAX];

	memset(s->fastdt.state, 0, band_row * sizeof(*s->fastdt.state));
	for (int y = m->height - 1; y >= 0; y--) {
		size_t at = (size_t)y * (size_t)m->width + (size_t)b->x0, sums = (size_t)(y + 1) * band_row,
		       state = 0;
		const int32_t *weight = f->maps.down + at + m->width;
		uint16_t *w = words + (y & 1 ? half : 0);

		dt_prefetch(m, f, b, s, y - AHEAD, disparities);
		for (int i = 0; i < b->n; i++, state += (size_t)disparities)
			least[i] =
				dt_up_words(s->fastdt.sums + sums + state, s->fastdt.state + state, weight[i],
					    f->maps.least[at + (size_t)i], f->maps.gain[at + (size_t)i],
					    w + (size_t)i * b->pitch, disparities);
		for (int i = 0; i < b->n; i++) {
			dt_winner(m, &f->maps, at + (size_t)i, w + (size_t)i * b->pitch, &least[i],
				  disparities);
			if (f->sum.data)
				dt_keep_sums(f, b->x0 + i, y, w + (size_t)i * b->pitch, disparities);
		}
		if (y < m->height - 1)
			dt_merge(m, b, y + 1, words + (y & 1 ? 0 : half), s, disparities);
	}
	dt_merge(m, b, 0, words, s, disparities);
}

static ALWAYS_INLINE void fastdt_band_of(const struct sx_matcher *m, const struct sx_matcher_frame *f, int i,
					 struct sx_matcher_scratch *s, int disparities)
{
	struct dt_band b = {.all = sx_fastdt_columns(m), .pitch = sx_matcher_sum_pitch(m)};

	b.x0 = i * b.all;
	b.n = m->width - b.x0 < b.all ? m->width - b.x0 : b.all;
	dt_start_merge(&b, s, disparities);
	if (m->p.fastdt == SX_FASTDT_INT8)
		dt_down_words(m, f, &b, s, disparities, true);
	else
		dt_down_words(m, f, &b, s, disparities, false);
	dt_band_up(m, f, &b, s, disparities);
}

static void fastdt_band(const struct sx_matcher *m, const struct sx_matcher_frame *f, int i,
			struct sx_matcher_scratch *s)
{
	if (m->p.disparities == 128)
		fastdt_band_of(m, f, i, s, 128);
	else
		fastdt_band_of(m, f, i, s, m->p.disparities);
}

/* Merges the minima of two workers: the lesser S wins; if equal, the lower column. */
static void dt_join_right(uint16_t *sum, uint16_t *column, const uint16_t *other, const uint16_t *other_x,
			  int n)
{
	for (int t = 0; t < n; t += VEC_WORDS) {
		vw a = vw_load(sum + t), b = vw_load(other + t), x = vw_load(column + t),
		   y = vw_load(other_x + t);
		vw least = vw_umin(a, b);

		vw_store(column + t, vw_where_equal(a, b, vw_umin(x, y), vw_where_equal(least, a, x, y)));
		vw_store(sum + t, least);
	}
}

static void fastdt_winners(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
			   const struct sx_matcher_scratch *workers, int count)
{
	size_t right = (size_t)y * sx_fastdt_right_pitch(m), at = (size_t)y * (size_t)m->width;
	struct sx_matcher_scratch row = {.right_sum = workers[0].fastdt.right_sum + right,
					 .right_x = workers[0].fastdt.right_x + right,
					 .s0 = f->maps.s0 + at,
					 .side_low = f->maps.side_low + at,
					 .side_high = f->maps.side_high + at,
					 .d0 = f->maps.d0 + at};

	for (int i = 1; i < count; i++)
		dt_join_right(row.right_sum, row.right_x, workers[i].fastdt.right_sum + right,
			      workers[i].fastdt.right_x + right, m->width);
	winner_store_disparity(m, f, y, &row);
	winner_store_confidence(m, f, y, &row);
	winner_store_right(m, f, y, &row);
}

#endif
