/*
 * Horizontal paths, S and the winner of one row. stages/stereo/sgm.h and stages/stereo/winner.h define the
 * results.
 *
 * Work:   from left to right: matching cost C, and the excess cost E = L - C of the left-to-right path. From
 *         right to left in blocks of 16 columns (8 with 8 paths): E of the right-to-left path, then S and the
 *         winner of each column, then the least S of the right image's columns that the block touches.
 *
 *   a vector of bytes (C, E, L): one column, lane i = disparity k * VEC_BYTES + i of its k-th vector
 *
 *           lane     0       1       2            VEC_BYTES - 1
 *     L     [k]    | d     | d + 1 | d + 2 | ...| d + VEC_BYTES - 1 |
 *     before       | d - 1 | d     | d + 1 | ...  vb_prev(): the last lane of vector k - 1 comes in at 0
 *     next         | d + 1 | d + 2 | d + 3 | ...  vb_next(): the first lane of vector k + 1 comes in last
 *
 *   a word of 16 bits, for each column and disparity
 *     bit 15  | bits 14 .. word_bits  | word_bits - 1 .. 0
 *       0     | S (sum of path costs) | column of the block
 *
 * Words:  the low bits are the same within a column, so comparing words of one column compares S. The minimum
 *         over the columns of a block is, of equal S, the lowest column, which is the lowest disparity of a
 *         right column. Blocks run from right to left, so that a later block wins ties for the same reason.
 * Ranges: S <= 1020 with word_bits 4, <= 2040 with word_bits 3 (8 paths): words <= 16335. Weights fit 7 bits:
 *         paths << word_bits <= 64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_WINNER_KERNEL_H
#define SX_CPU_KERNELS_WINNER_KERNEL_H

#include "cpu/kernels/divide.h"
#include "cpu/kernels/sgm_kernel.h"
#include "stages/stereo/winner.h"

#define COSTS_AHEAD 4096   /* bytes */
#define NOT_UNIQUE 0x8000u /* bit of a winning disparity: the uniqueness test has failed */
#define WORD_MOST 0x7fff   /* above every word */
#define SUBPIXEL 16
#define CONFIDENCE_MOST 255

struct winner_path {
	vb l[SX_MATCHER_DISPARITIES_MAX / VEC_BYTES], least, p1, p2;
};

/* Starts a path. L = 0 before the first pixel makes its excess cost 0, so that L = C there. */
static ALWAYS_INLINE void winner_path_start(struct winner_path *c, const struct sx_matcher *m, int vectors)
{
	for (int k = 0; k < vectors; k++)
		c->l[k] = vb_set1(0);
	c->least = vb_set1(0);
	c->p1 = vb_set1(m->p.p1);
	c->p2 = vb_set1(m->p.p2);
}

/* Steps to the next pixel of a path, whose L stays in registers. e: receives its excess cost. */
static ALWAYS_INLINE void winner_path_step(struct winner_path *c, const uint8_t *cost, uint8_t *e,
					   int vectors)
{
	vb none = vb_set1(255), before = none, min = none;

	for (int k = 0; k < vectors; k++) {
		vb at = c->l[k], next = k + 1 < vectors ? c->l[k + 1] : none;
		vb step = path_step(at, vb_prev(before, at), vb_next(at, next), c->least, c->p1, c->p2);

		vb_store(e + k * VEC_BYTES, step);
		c->l[k] = vb_add(step, vb_load(cost + k * VEC_BYTES));
		min = vb_min(min, c->l[k]);
		before = at;
	}
	c->least = vb_min_all(min);
}

/*
 * Returns the costs of a row, width x disparities: stored costs, or the costs that winner_left_to_right()
 * writes to the scratch.
 */
static ALWAYS_INLINE const uint8_t *winner_costs(const struct sx_matcher *m, const struct sx_matcher_frame *f,
						 int y, const struct sx_matcher_scratch *s)
{
	return f->costs ? stored_costs(m, f, y, 0) : s->row_cost;
}

/*
 * Computes the costs of a few pixels, then their steps. The costs of the next pixels hide the latency of a
 * step.
 */
static ALWAYS_INLINE void winner_left_to_right(const struct sx_matcher *m, const struct sx_matcher_frame *f,
					       int y, struct sx_matcher_scratch *s, bool edges, int vectors)
{
	int disparities = vectors * VEC_BYTES, bytes = m->volume_kind == SX_VOLUME_WORDS ? 2 : 1;
	const uint8_t *volume = f->volume, *grey = sx_image_row(&f->grey[0], y);
	const uint8_t *cost = winner_costs(m, f, y, s);
	struct winner_path chain;

	winner_path_start(&chain, m, vectors);
	if (volume)
		volume += (size_t)y * (size_t)m->width * (size_t)(disparities * bytes);
	for (int x = 0; x < m->width; x += 4) {
		int n = m->width - x < 4 ? m->width - x : 4;
		size_t at = (size_t)x * (size_t)disparities;

		if (volume) /* winner_right_to_left() reads it */
			prefetch_far(volume + at * (size_t)bytes, (size_t)(n * disparities * bytes));
		if (f->costs)
			prefetch_far(cost + at + COSTS_AHEAD, (size_t)(n * disparities));
		else
			cost_pixels(m, f, y, x, n, s->row_cost + at, disparities);
		for (int i = 0; i < n; i++, at += (size_t)disparities) {
			if (edges)
				chain.p2 = edge_p2(m, true, grey[x + i], grey[x + i - 1]);
			winner_path_step(&chain, cost + at, s->row_right + at, vectors);
		}
	}
}

struct winner_terms {
	/* matching costs and excess costs of both paths, of one column */
	const uint8_t *cost, *right, *left;
	const uint8_t *bytes;  /* volume, or zero */
	const uint16_t *words; /* volume, or NULL */
	vpair horizontal, vertical;
};

static ALWAYS_INLINE vw2 winner_words(const struct winner_terms *s, int d, vw column)
{
	vw2 a = vw2_dot(vb_load(s->right + d), vb_load(s->left + d), s->horizontal), b;

	if (s->words) {
		b = vw2_dot(vb_set1(0), vb_load(s->cost + d), s->vertical);
		a.lo = vw_add(a.lo, vw_load(s->words + d));
		a.hi = vw_add(a.hi, vw_load(s->words + d + VEC_WORDS));
	} else {
		b = vw2_dot(s->bytes ? vb_load(s->bytes + d) : vb_set1(0), vb_load(s->cost + d), s->vertical);
	}
	return (vw2){vw_add(vw_add(a.lo, b.lo), column), vw_add(vw_add(a.hi, b.hi), column)};
}

/*
 * Returns the first bit that is set. Has no branch for up to 128 disparities, because it is hard to predict
 * which half has the winner.
 */
static ALWAYS_INLINE int winner_first_bit(const uint64_t *mask, int bits)
{
	int i = 0;

	while (2 * 64 < bits - i * 64 && !(mask[i] | mask[i + 1]))
		i += 2;
	return i * 64 +
	       (mask[i] ? __builtin_ctzll(mask[i]) : 64 + __builtin_ctzll(mask[i + 1] | UINT64_C(1) << 63));
}

/* Finds the winner of column x, which is column xl of its block. w: words of the column in block_sum. */
static ALWAYS_INLINE void winner_column(const struct sx_matcher *m, const struct winner_terms *sums, int x,
					int xl, uint16_t *w, struct sx_matcher_scratch *s, int vectors)
{
	uint64_t equal[SX_MATCHER_DISPARITIES_MAX / 64] = {0};
	vw2 v[SX_MATCHER_DISPARITIES_MAX / VEC_BYTES];
	vw column = vw_set1(xl), least = vw_set1(WORD_MOST), limit;
	int min, d0, rivals = 0;

	for (int k = 0; k < vectors; k++) {
		v[k] = winner_words(sums, k * VEC_BYTES, column);
		vw2_store_in_order(w + k * VEC_BYTES, v[k]);
		least = vw_min(least, vw_min(v[k].lo, v[k].hi));
	}
	min = vw_min_all(least);
	least = vw_set1(min);
	s->s0[x] = (uint16_t)(min >> m->word_bits);
	limit = vw_set1(m->rival_limit[s->s0[x]]);
	for (int k = 0; k < vectors; k++) {
		equal[k * VEC_BYTES / 64] |= vw2_mask_equal(v[k], least) << (k * VEC_BYTES % 64);
		rivals += vw2_count_below(v[k], limit);
	}
	d0 = winner_first_bit(equal, vectors * VEC_BYTES);
	/* the winner and its neighbours are no rivals; words beside the row are above every limit */
	for (int i = -1; i <= 1; i++)
		rivals -= w[d0 + i] < m->rival_limit[s->s0[x]];
	s->side_low[x] = (uint16_t)(w[d0 - 1] >> m->word_bits);
	s->side_high[x] = (uint16_t)(w[d0 + 1] >> m->word_bits);
	s->d0[x] = (uint16_t)(d0 | (rivals > 0 ? NOT_UNIQUE : 0));
}

/*
 * Merges n columns from x0 on, with words at w, into the least S by right column. Right columns count from
 * the right as in planes.
 */
static ALWAYS_INLINE void winner_merge_right(const struct sx_matcher *m, const uint16_t *w, int x0, int n,
					     struct sx_matcher_scratch *s, int disparities)
{
	size_t pitch = sx_matcher_sum_pitch(m), at = (size_t)(m->width - x0 - n);
	vw low = vw_set1((1 << m->word_bits) - 1), x = vw_set1(x0);

	for (int t = 0; t < disparities + n - 1; t += VEC_WORDS) {
		uint16_t *sum = s->right_sum + at + t, *column = s->right_x + at + t;
		vw min = vw_set1(WORD_MOST), new, old = vw_load(sum);

		for (int xl = 0; xl < n; xl++)
			min = vw_min(min, vw_load(w + (size_t)xl * pitch + t - (n - 1) + xl));
		new = vw_shift_right(min, m->word_bits);
		vw_store(column, vw_where_greater(new, old, vw_load(column), vw_add(x, vw_and(min, low))));
		vw_store(sum, vw_min(new, old));
	}
}

static void winner_keep_sums(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y, int x,
			     const uint16_t *w)
{
	uint16_t *out = (uint16_t *)sx_image_row(&f->sum, y) + (size_t)x * (size_t)m->p.disparities;

	for (int d = 0; d < m->p.disparities; d++)
		out[d] = (uint16_t)(w[d] >> m->word_bits);
}

/* A block of columns in winner_right_to_left(). */
struct winner_block {
	int x0, n;
	uint8_t *left; /* excess cost of the right-to-left path */
	uint16_t *words;
};

static ALWAYS_INLINE struct winner_block winner_block_at(const struct sx_matcher *m,
							 struct sx_matcher_scratch *s, int i)
{
	int size = 1 << m->word_bits, x0 = i * size;
	size_t half = (size_t)(i & 1) * (size_t)size;

	return (struct winner_block){.x0 = x0,
				     .n = m->width - x0 < size ? m->width - x0 : size,
				     .left = s->block_left + half * (size_t)m->p.disparities,
				     .words = s->block_sum + SX_MATCHER_MARGIN / 2 +
					      half * sx_matcher_sum_pitch(m)};
}

/* Steps a block. grey: row of the left image, or NULL if P2 is constant. */
static ALWAYS_INLINE void winner_block_step(const struct sx_matcher *m, const uint8_t *cost,
					    struct winner_path *chain, const struct winner_block *b, int xl,
					    const uint8_t *grey, int vectors)
{
	int disparities = vectors * VEC_BYTES, x = b->x0 + xl;

	if (grey)
		chain->p2 = edge_p2(m, true, grey[x], grey[x + 1]);
	winner_path_step(chain, cost + x * disparities, b->left + xl * disparities, vectors);
}

/*
 * Walks from right to left, with three blocks at once. The steps of the next block alternate with the winners
 * of this block, so that neither waits for its own latency. The words of the block before have reached the
 * cache when they are merged.
 */
static ALWAYS_INLINE void winner_right_to_left(const struct sx_matcher *m, const struct sx_matcher_frame *f,
					       int y, struct sx_matcher_scratch *s, bool edges, int vectors)
{
	int disparities = vectors * VEC_BYTES, weight = 1 << m->word_bits,
	    last = (m->width - 1) >> m->word_bits;
	size_t pitch = sx_matcher_sum_pitch(m), row = (size_t)y * (size_t)m->width * (size_t)disparities;
	const uint8_t *grey = sx_image_row(&f->grey[0], y), *cost = winner_costs(m, f, y, s);
	struct winner_block this = winner_block_at(m, s, last), before = {0};
	struct winner_terms sums = {.horizontal = vpair_make(weight, weight),
				    .vertical = vpair_make(weight, weight * m->p.paths)};
	struct winner_path chain;

	winner_path_start(&chain, m, vectors);
	for (int xl = this.n - 1; xl >= 0; xl--)
		winner_block_step(m, cost, &chain, &this, xl, edges ? grey : NULL, vectors);
	for (int i = last; i >= 0; i--) {
		struct winner_block next = i > 0 ? winner_block_at(m, s, i - 1) : (struct winner_block){0};
		int ahead = next.n; /* steps left in the next block */

		for (int xl = 0; xl < this.n || ahead > 0; xl++) {
			size_t at = (size_t)((this.x0 + xl) * disparities);

			if (ahead-- > 0)
				winner_block_step(m, cost, &chain, &next, ahead, edges ? grey : NULL,
						  vectors);
			if (xl >= this.n)
				continue;
			sums.cost = cost + at;
			sums.right = s->row_right + at;
			sums.left = this.left + xl * disparities;
			if (m->volume_kind == SX_VOLUME_BYTES)
				sums.bytes = (const uint8_t *)f->volume + row + at;
			else if (m->volume_kind == SX_VOLUME_WORDS)
				sums.words = (const uint16_t *)f->volume + row + at;
			winner_column(m, &sums, this.x0 + xl, xl, this.words + (size_t)xl * pitch, s,
				      vectors);
			if (f->sum.data)
				winner_keep_sums(m, f, y, this.x0 + xl, this.words + (size_t)xl * pitch);
		}
		if (before.n)
			winner_merge_right(m, before.words, before.x0, before.n, s, disparities);
		before = this;
		this = next;
	}
	winner_merge_right(m, before.words, before.x0, before.n, s, disparities);
}

static void winner_store_disparity(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
				   const struct sx_matcher_scratch *s)
{
	const uint16_t *restrict d0s = s->d0, *restrict s0s = s->s0;
	const uint16_t *restrict lows = s->side_low, *restrict highs = s->side_high;
	uint16_t *restrict out = sx_image_row(&f->winner, y);
	int last = m->p.disparities - 1, width = m->width;
	int refine = m->p.subpixel != SX_SUBPIXEL_OFF, down = m->p.subpixel == SX_SUBPIXEL_FLOOR;

	for (int x = 0; x < width; x++) {
		int d0 = d0s[x] & (NOT_UNIQUE - 1), low = lows[x], high = highs[x];
		int inside = (d0 != 0) & (d0 != last) & refine;
		int den = low - 2 * s0s[x] + high, a = SUBPIXEL * (low - high) + den, b = 2 * den;
		/* divides 0 by 1 where inside is 0, so the offset is 0 there */
		int q = divide(a & -inside, (b & -inside) | (inside ^ 1));

		q = SUBPIXEL * d0 + q - (down & inside & (q * b > a));
		out[x] = (uint16_t)(q | -(d0s[x] >> 15));
	}
}

static void winner_store_confidence(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
				    const struct sx_matcher_scratch *s)
{
	const uint16_t *restrict d0s = s->d0, *restrict s0s = s->s0;
	const uint16_t *restrict lows = s->side_low, *restrict highs = s->side_high;
	uint8_t *restrict out = sx_image_row(&f->confidence, y);
	int fastdt = m->p.aggregation == SX_AGGREGATION_FASTDT;
	int last = m->p.disparities - 1, gamma = sx_winner_rise(&m->p), width = m->width;

	for (int x = 0; x < width; x++) {
		int d0 = d0s[x] & (NOT_UNIQUE - 1), low = lows[x], high = highs[x];
		int c = divide(((low > high ? low : high) - s0s[x]) * CONFIDENCE_MOST, gamma);

		int end = -((d0 == 0) | (d0 == last)), none = -((d0 == 0) & (high == s0s[x]) & fastdt);

		c = c < CONFIDENCE_MOST ? c : CONFIDENCE_MOST;
		out[x] = (uint8_t)(((c & ~end) | (SX_WINNER_CONFIDENCE_END & end)) & ~none);
	}
}

static void winner_store_right(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
			       const struct sx_matcher_scratch *s)
{
	uint16_t *right = sx_image_row(&f->winner_right, y);

	for (int x = 0; x < m->width; x++)
		right[x] = (uint16_t)(s->right_x[m->width - 1 - x] - x);
}

static ALWAYS_INLINE void winner_row_of(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
					struct sx_matcher_scratch *s, bool edges, int vectors)
{
	winner_left_to_right(m, f, y, s, edges, vectors);
	winner_right_to_left(m, f, y, s, edges, vectors);
}

static void winner_row(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
		       struct sx_matcher_scratch *s)
{
	int vectors = m->p.disparities / VEC_BYTES;

	for (int j = 0; j < m->width + m->p.disparities + SX_MATCHER_MARGIN / 2; j++)
		s->right_sum[j] = WORD_MOST;
	if (m->p.p2_edge && vectors == 128 / VEC_BYTES)
		winner_row_of(m, f, y, s, true, 128 / VEC_BYTES);
	else if (m->p.p2_edge)
		winner_row_of(m, f, y, s, true, vectors);
	else if (vectors == 128 / VEC_BYTES)
		winner_row_of(m, f, y, s, false, 128 / VEC_BYTES);
	else if (vectors == 64 / VEC_BYTES)
		winner_row_of(m, f, y, s, false, 64 / VEC_BYTES);
	else
		winner_row_of(m, f, y, s, false, vectors);
	winner_store_disparity(m, f, y, s);
	winner_store_confidence(m, f, y, s);
	winner_store_right(m, f, y, s);
}

#endif
