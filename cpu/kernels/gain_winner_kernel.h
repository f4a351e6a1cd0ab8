/*
 * Horizontal paths, S and the winner of one row, on gains (gain_kernel.h); meaning in stages/stereo/sgm.h and
 * stages/stereo/winner.h.
 *
 * Work:   from left to right: gains of matching costs, and the path's. From right to left: the path's, and with
 *         the volume, pixel by pixel, words from which both winners come:
 *
 *   bits 15 .. 7            | 6 .. 0
 *   sum of the four gains   | 127 - d
 *
 *         The greatest word of a pixel is its winner, with the lowest of equal disparities. The right image's
 *         winners come from words that walk with the pixels: those at disparity d belong to right column
 *         x - d, at the next pixel's disparity d - 1. So they move down by one and take the greater of
 *         themselves and the pixel's words; what is at disparity 0 has met all its pixels.
 * Memory: nothing leaves the row but its results.
 * Ranges: sums of gains <= 510; S = gain_most - sum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_GAIN_WINNER_KERNEL_H
#define SX_CPU_KERNELS_GAIN_WINNER_KERNEL_H

#include "cpu/kernels/gain_kernel.h"
#include "cpu/kernels/winner_kernel.h"

#define GAIN_RANK_BITS 7
#define GAIN_RANK_MOST 127

/* Costs of a few pixels, then their steps: the latency of a step hides behind the cost of what follows. */
static ALWAYS_INLINE void gain_left_to_right(const struct sx_matcher *m, const struct sx_matcher_frame *f,
					     int y, struct sx_matcher_scratch *s, int vectors)
{
	size_t cells = (size_t)(vectors * VEC_BYTES);
	const uint8_t *volume = (const uint8_t *)f->volume + (size_t)y * (size_t)m->width * cells;
	struct gain_path c = gain_path_of(m->p.p1, m->p.p2);

	gain_path_start(&c, vectors);
	for (int x = 0; x < m->width; x += 4) {
		int n = m->width - x < 4 ? m->width - x : 4;
		size_t at = (size_t)x * cells;

		prefetch_far(volume + at, (size_t)n * cells); /* gain_right_to_left() reads it */
		gain_costs(m, f, y, x, n, s->row_cost + at, vectors);
		for (int i = 0; i < n; i++, at += cells)
			gain_path_step(&c, s->row_cost + at, s->row_right + at, vectors);
	}
}

/* Whether a word above limit is neither that of d0 nor of a neighbour. */
static ALWAYS_INLINE int gain_has_rival(const vw2 *word, const vb *rank, int d0, vw limit, int vectors)
{
	vb beside = vb_set1(GAIN_RANK_MOST - 1 - d0), rival = vb_set1(0);

	for (int k = 0; k < vectors; k++) {
		vw2 above = {vw_usub_held(word[k].lo, limit), vw_usub_held(word[k].hi, limit)};
		vb far = vb_sub_held(vb_sub(rank[k], beside), vb_set1(2)); /* 0: d0 - 1, d0 or d0 + 1 */

		rival = vb_or(rival, vb_min(vw2_narrow(above), far));
	}
	return vb_any(rival);
}

/* The winner of column x. most: its greatest word; horizontal, vertical: sums of its gains. */
static ALWAYS_INLINE void gain_store_winner(const struct sx_matcher *m, int x, int most,
					    const uint8_t *horizontal, const uint8_t *vertical, int rival,
					    struct sx_matcher_scratch *s)
{
	int d0 = GAIN_RANK_MOST - (most & GAIN_RANK_MOST);
	int low = m->gain_place[d0], high = m->gain_place[d0 + 2];

	s->s0[x] = (uint16_t)(m->gain_most - (most >> GAIN_RANK_BITS));
	s->side_low[x] = (uint16_t)(m->gain_most - horizontal[low] - vertical[low]);
	s->side_high[x] = (uint16_t)(m->gain_most - horizontal[high] - vertical[high]);
	s->d0[x] = (uint16_t)(d0 | (rival ? NOT_UNIQUE : 0));
}

static void gain_keep_sums(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y, int x,
			   const uint8_t *horizontal, const uint8_t *vertical)
{
	uint16_t *out = (uint16_t *)sx_image_row(&f->sum, y) + (size_t)x * (size_t)m->p.disparities;

	for (int d = 0; d < m->p.disparities; d++) {
		int at = m->gain_place[d + 1];

		out[d] = (uint16_t)(m->gain_most - horizontal[at] - vertical[at]);
	}
}

static ALWAYS_INLINE void gain_right_to_left(const struct sx_matcher *m, const struct sx_matcher_frame *f,
					     int y, struct sx_matcher_scratch *s, int vectors)
{
	size_t cells = (size_t)(vectors * VEC_BYTES);
	const uint8_t *volume = (const uint8_t *)f->volume + (size_t)y * (size_t)m->width * cells;
	struct gain_path c = gain_path_of(m->p.p1, m->p.p2);
	uint8_t horizontal[SX_MATCHER_GAIN_DISPARITIES] __attribute__((aligned(64)));
	vw2 right[GAIN_VECTORS_MAX];
	vb rank[GAIN_VECTORS_MAX];

	gain_path_start(&c, vectors);
	memset(right, 0, sizeof(right));
	for (int k = 0; k < vectors; k++)
		rank[k] = vb_load(m->gain_rank + k * VEC_BYTES);
	for (int x = m->width - 1; x >= 0; x--) {
		size_t at = (size_t)x * cells;
		vw2 word[GAIN_VECTORS_MAX], last = vw2_down(right[0]);
		vw most = vw_set1(0);
		int all;

		gain_path_step(&c, s->row_cost + at, NULL, vectors);
		for (int k = 0; k < vectors; k++) {
			vb sum = vb_add(c.gain[k], vb_load(s->row_right + at + k * VEC_BYTES));
			vw2 moved = k + 1 < vectors ? right[k + 1] : last;

			vb_store(horizontal + k * VEC_BYTES, sum);
			word[k] = vw2_sum(sum, vb_load(volume + at + k * VEC_BYTES), rank[k]);
			most = vw_umax(most, vw_umax(word[k].lo, word[k].hi));
			right[k] = (vw2){vw_umax(moved.lo, word[k].lo), vw_umax(moved.hi, word[k].hi)};
		}
		s->right_x[x] = (uint16_t)vw_first(right[0].lo);
		all = vw_umax_all(most);
		gain_store_winner(m, x, all, horizontal, volume + at,
				  gain_has_rival(word, rank, GAIN_RANK_MOST - (all & GAIN_RANK_MOST),
						 vw_set1(m->rival_limit[all >> GAIN_RANK_BITS]), vectors),
				  s);
		if (f->sum.data)
			gain_keep_sums(m, f, y, x, horizontal, volume + at);
	}
}

static void gain_store_right(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
			     const struct sx_matcher_scratch *s)
{
	uint16_t *right = sx_image_row(&f->winner_right, y);

	for (int x = 0; x < m->width; x++)
		right[x] = (uint16_t)(GAIN_RANK_MOST - (s->right_x[x] & GAIN_RANK_MOST));
}

static ALWAYS_INLINE void gain_row_of(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
				      struct sx_matcher_scratch *s, int vectors)
{
	gain_left_to_right(m, f, y, s, vectors);
	gain_right_to_left(m, f, y, s, vectors);
}

static void gain_row(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
		     struct sx_matcher_scratch *s)
{
	if (m->residues == 128 / VEC_BYTES)
		gain_row_of(m, f, y, s, 128 / VEC_BYTES);
	else
		gain_row_of(m, f, y, s, m->residues);
	winner_store_disparity(m, f, y, s);
	winner_store_confidence(m, f, y, s);
	gain_store_right(m, f, y, s);
}

#endif
