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
#define GAIN_ROWS SX_MATCHER_GAIN_ROWS
#define VOLUME_AHEAD 16 /* columns */

/*
 * Rows [y, y + rows). Costs of a few pixels, then their steps, of one row after the other: the latency of a step
 * hides behind the costs of what follows, and behind the other row's.
 */
static ALWAYS_INLINE void gain_left_to_right(const struct sx_matcher *m, const struct sx_matcher_frame *f,
					     int y, int rows, const struct sx_matcher_scratch *s, int vectors)
{
	size_t cells = (size_t)(vectors * VEC_BYTES);
	struct gain_path c[GAIN_ROWS];

	for (int r = 0; r < rows; r++) {
		c[r] = gain_path_of(m->p.p1, m->p.p2);
		gain_path_start(&c[r], vectors);
	}
	for (int x = 0; x < m->width; x += 4) {
		int n = m->width - x < 4 ? m->width - x : 4;
		size_t at = (size_t)x * cells;

		for (int r = 0; r < rows; r++)
			gain_costs(m, f, y + r, x, n, s[r].row_cost + at, vectors);
		for (int i = 0; i < n; i++, at += cells)
			for (int r = 0; r < rows; r++)
				gain_path_step(&c[r], s[r].row_cost + at, s[r].row_right + at, vectors);
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
					    const struct sx_matcher_scratch *s)
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

/* A row on its way from right to left. */
struct gain_row {
	struct gain_path path;
	vw2 right[GAIN_VECTORS_MAX]; /* the right image's, by the disparity of the pixel before */
	const uint8_t *volume;
};

static ALWAYS_INLINE void gain_row_start(struct gain_row *g, const struct sx_matcher *m,
					 const struct sx_matcher_frame *f, int y, int vectors)
{
	size_t row = (size_t)y * (size_t)m->width * (size_t)(vectors * VEC_BYTES);

	g->path = gain_path_of(m->p.p1, m->p.p2);
	gain_path_start(&g->path, vectors);
	memset(g->right, 0, sizeof(g->right));
	g->volume = (const uint8_t *)f->volume + row;
}

/* Column x of row y. */
static ALWAYS_INLINE void gain_row_step(struct gain_row *g, const struct sx_matcher *m,
					const struct sx_matcher_frame *f, int y, int x, const vb *rank,
					const struct sx_matcher_scratch *s, int vectors)
{
	size_t at = (size_t)x * (size_t)(vectors * VEC_BYTES);
	uint8_t horizontal[SX_MATCHER_GAIN_DISPARITIES] __attribute__((aligned(64)));
	vw2 word[GAIN_VECTORS_MAX], last = vw2_down(g->right[0]);
	vw most = vw_set1(0), limit;
	int all, d0;

	gain_path_step(&g->path, s->row_cost + at, NULL, vectors);
	for (int k = 0; k < vectors; k++) {
		vb sum = vb_add(g->path.gain[k], vb_load(s->row_right + at + k * VEC_BYTES));
		vw2 moved = k + 1 < vectors ? g->right[k + 1] : last;

		vb_store(horizontal + k * VEC_BYTES, sum);
		word[k] = vw2_sum(sum, vb_load(g->volume + at + k * VEC_BYTES), rank[k]);
		most = vw_umax(most, vw_umax(word[k].lo, word[k].hi));
		g->right[k] = (vw2){vw_umax(moved.lo, word[k].lo), vw_umax(moved.hi, word[k].hi)};
	}
	s->right_x[x] = (uint16_t)vw_first(g->right[0].lo);
	all = vw_umax_all(most);
	d0 = GAIN_RANK_MOST - (all & GAIN_RANK_MOST);
	limit = vw_set1(m->rival_limit[all >> GAIN_RANK_BITS]);
	gain_store_winner(m, x, all, horizontal, g->volume + at,
			  gain_has_rival(word, rank, d0, limit, vectors), s);
	if (f->sum.data)
		gain_keep_sums(m, f, y, x, horizontal, g->volume + at);
}

static ALWAYS_INLINE void gain_right_to_left(const struct sx_matcher *m, const struct sx_matcher_frame *f,
					     int y, int rows, const struct sx_matcher_scratch *s, int vectors)
{
	size_t cells = (size_t)(vectors * VEC_BYTES);
	struct gain_row g[GAIN_ROWS];
	vb rank[GAIN_VECTORS_MAX];

	for (int r = 0; r < rows; r++)
		gain_row_start(&g[r], m, f, y + r, vectors);
	for (int k = 0; k < vectors; k++)
		rank[k] = vb_load(m->gain_rank + k * VEC_BYTES);
	for (int x = m->width - 1; x >= 0; x--) {
		for (int r = 0; r < rows; r++) {
			/* whatever lies there: nothing is written, and before the image are other rows, or nobody's */
			prefetch_read(g[r].volume + (ptrdiff_t)(x - VOLUME_AHEAD) * (ptrdiff_t)cells, cells);
			gain_row_step(&g[r], m, f, y + r, x, rank, &s[r], vectors);
		}
	}
}

static void gain_store_right(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
			     const struct sx_matcher_scratch *s)
{
	uint16_t *right = sx_image_row(&f->winner_right, y);

	for (int x = 0; x < m->width; x++)
		right[x] = (uint16_t)(GAIN_RANK_MOST - (s->right_x[x] & GAIN_RANK_MOST));
}

static ALWAYS_INLINE void gain_rows_of(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
				       int rows, const struct sx_matcher_scratch *s, int vectors)
{
	gain_left_to_right(m, f, y, rows, s, vectors);
	gain_right_to_left(m, f, y, rows, s, vectors);
}

/* Row r's part of what two rows need. */
static struct sx_matcher_scratch gain_scratch(const struct sx_matcher *m, const struct sx_matcher_scratch *s,
					      int r)
{
	struct sx_matcher_scratch part = *s;
	size_t columns = (size_t)r * (size_t)m->width, cells = columns * (size_t)m->p.disparities;

	part.row_cost += cells;
	part.row_right += cells;
	part.right_x += columns;
	part.s0 += columns;
	part.side_low += columns;
	part.side_high += columns;
	part.d0 += columns;
	return part;
}

static void gain_rows(const struct sx_matcher *m, const struct sx_matcher_frame *f, int i,
		      struct sx_matcher_scratch *s)
{
	struct sx_matcher_scratch part[GAIN_ROWS] = {gain_scratch(m, s, 0), gain_scratch(m, s, 1)};
	int y = i * GAIN_ROWS, rows = m->height - y < GAIN_ROWS ? m->height - y : GAIN_ROWS;

	if (m->residues != 128 / VEC_BYTES)
		gain_rows_of(m, f, y, rows, part, m->residues);
	else if (rows == GAIN_ROWS)
		gain_rows_of(m, f, y, GAIN_ROWS, part, 128 / VEC_BYTES);
	else
		gain_rows_of(m, f, y, 1, part, 128 / VEC_BYTES);
	for (int r = 0; r < rows; r++) {
		winner_store_disparity(m, f, y + r, &part[r]);
		winner_store_confidence(m, f, y + r, &part[r]);
		gain_store_right(m, f, y + r, &part[r]);
	}
}

#endif
