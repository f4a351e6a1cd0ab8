/*
 * Horizontal paths, S and the winner of one row, on similarities (similarity_kernel.h). stages/stereo/sgm.h
 * and stages/stereo/winner.h define the results.
 *
 * Work:   from left to right: similarities of matching costs, of the path, and of the paths up, which
 *         continue in the rows above. Two rows are processed together, the upper one a column behind. From
 *         right to left: similarities of the path. With the volume they yield, pixel by pixel, words from
 *         which both winners come:
 *
 *   bits 15 .. 7                   | 6 .. 0
 *   sum of the four similarities   | 127 - d
 *
 *         The greatest word of a pixel is its winner, with the lowest of equal disparities. Words of the
 *         right image move with the pixels: the word at disparity d belongs to right column x - d, so at the
 *         next pixel it has disparity d - 1. At each pixel the words move down by one disparity and become
 *         the maximum of themselves and the pixel's words. The word at disparity 0 has met all its pixels.
 * Memory: rows share only the paths up, one row of the image. A task waits until the previous task has left a
 *         column behind. Apart from these, rows store only their results.
 * Ranges: sums of similarities <= 510; S = similarity_most - sum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_SIMILARITY_WINNER_KERNEL_H
#define SX_CPU_KERNELS_SIMILARITY_WINNER_KERNEL_H

#include "cpu/kernels/similarity_kernel.h"
#include "cpu/kernels/winner_kernel.h"
#include "cpu/pool.h"

#define SIMILARITY_RANK_BITS 7
#define SIMILARITY_RANK_MOST 127
#define SIMILARITY_ROWS SX_MATCHER_SIMILARITY_ROWS
#define SIMILARITY_STRIDE 32 /* columns between checks of the rows below */
#define VOLUME_AHEAD 16	     /* columns */

/* Waits until the task of the rows below has finished the paths up of columns [.., x). */
static ALWAYS_INLINE void similarity_wait(const struct sx_matcher_up *up, int task, int x)
{
	if (task == 0)
		return;
	for (unsigned turn = 0; atomic_load_explicit(&up->walked[task - 1].columns, memory_order_acquire) < x;
	     turn++)
		sx_pool_pause(turn);
}

/* Steps one pixel of a row, at byte `at` of it. up: state at the row below. Stores the sum of both paths. */
static ALWAYS_INLINE void similarity_ascend(struct similarity_path *up, struct similarity_path *right,
					    size_t at, const struct sx_matcher_scratch *s, int vectors)
{
	similarity_path_step(up, s->row_cost + at, vectors);
	similarity_path_step(right, s->row_cost + at, vectors);
	for (int k = 0; k < vectors; k++)
		vb_store(s->row_right + at + k * VEC_BYTES, vb_add(up->similarity[k], right->similarity[k]));
}

/*
 * Steps column x of the first row and column x - 1 of the second row, which continues the first row's paths
 * up.
 */
static ALWAYS_INLINE void similarity_ascend_both(const struct sx_matcher *m, const struct sx_matcher_frame *f,
						 int x, int rows, struct similarity_path *up,
						 struct similarity_path *right,
						 const struct sx_matcher_scratch *s, int vectors)
{
	size_t cells = (size_t)(vectors * VEC_BYTES), at = (size_t)x * cells;

	if (rows > 1 && x > 0) {
		similarity_ascend(up, &right[1], at - cells, &s[1], vectors);
		similarity_path_store(up, f->up.similarity + at - cells, &f->up.least[x - 1], vectors);
	}
	if (x == m->width)
		return;
	similarity_path_load(up, f->up.similarity + at, &f->up.least[x], vectors);
	similarity_ascend(up, &right[0], at, &s[0], vectors);
	if (rows == 1)
		similarity_path_store(up, f->up.similarity + at, &f->up.least[x], vectors);
}

/*
 * Computes the costs of a few pixels of both rows, then their steps. So no operation waits for a result that
 * is still being computed.
 */
static ALWAYS_INLINE void similarity_left_to_right(const struct sx_matcher *m,
						   const struct sx_matcher_frame *f, int task, int y,
						   int rows, const struct sx_matcher_scratch *s, int vectors)
{
	struct similarity_path up = similarity_path_of(m->p.p1_vertical, m->p.p2_vertical),
			       right[SIMILARITY_ROWS];
	size_t cells = (size_t)(vectors * VEC_BYTES);

	for (int r = 0; r < rows; r++) {
		right[r] = similarity_path_of(m->p.p1, m->p.p2);
		similarity_path_start(&right[r], vectors);
	}
	for (int x = 0; x < m->width; x += SIMILARITY_PIXELS) {
		int n = m->width - x < SIMILARITY_PIXELS ? m->width - x : SIMILARITY_PIXELS;

		if (x % SIMILARITY_STRIDE == 0)
			similarity_wait(&f->up, task,
					x + SIMILARITY_STRIDE < m->width ? x + SIMILARITY_STRIDE : m->width);
		for (int r = 0; r < rows; r++)
			similarity_costs(m, f, y - r, x, n, s[r].row_cost + (size_t)x * cells, vectors);
		for (int i = 0; i < n; i++)
			similarity_ascend_both(m, f, x + i, rows, &up, right, s, vectors);
		if (x % SIMILARITY_STRIDE == SIMILARITY_STRIDE - SIMILARITY_PIXELS)
			atomic_store_explicit(&f->up.walked[task].columns, x + n - 1, memory_order_release);
	}
	if (rows > 1)
		similarity_ascend_both(m, f, m->width, rows, &up, right, s, vectors);
	atomic_store_explicit(&f->up.walked[task].columns, m->width, memory_order_release);
}

/*
 * Returns true if a + b > limit at a disparity other than d0 and its neighbours. a + b + odd exceeds an even
 * limit if half of it, rounded up, exceeds half the limit.
 */
static ALWAYS_INLINE int similarity_has_rival(const uint8_t *a, const uint8_t *b, const vb *rank, int d0,
					      int limit, int vectors)
{
	vb odd = vb_set1(limit & 1), half = vb_set1((limit + 1) >> 1), rival = vb_set1(0);
	vb beside = vb_set1(SIMILARITY_RANK_MOST - 1 - d0);

	for (int k = 0; k < vectors; k++) {
		vb mean = vb_mean(vb_add(vb_load(a + k * VEC_BYTES), odd), vb_load(b + k * VEC_BYTES));
		vb far = vb_sub_held(vb_sub(rank[k], beside), vb_set1(2)); /* 0 at d0 - 1, d0 and d0 + 1 */

		rival = vb_or(rival, vb_min(vb_sub_held(mean, half), far));
	}
	return vb_any(rival);
}

static void similarity_keep_sums(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y, int x,
				 const uint8_t *a, const uint8_t *b)
{
	uint16_t *out = (uint16_t *)sx_image_row(&f->sum, y) + (size_t)x * (size_t)m->p.disparities;

	for (int d = 0; d < m->p.disparities; d++) {
		int at = m->similarity_place[d + 1];

		out[d] = (uint16_t)(m->similarity_most - a[at] - b[at]);
	}
}

/* State of a row on its way from right to left. */
struct similarity_row {
	struct similarity_path path;
	vw2 right[SIMILARITY_VECTORS_MAX]; /* words of the right image, by the previous pixel's disparity */
	vw most;			   /* words of the previous pixel; the winner has the greatest */
};

/* Memory of a row. sum: sums of the paths left and down, of two pixels. */
struct similarity_row_place {
	int y;
	const uint8_t *volume;
	uint8_t (*sum)[SX_MATCHER_SIMILARITY_DISPARITIES];
	const struct sx_matcher_scratch *s;
};

/* Computes the words of column x, for both images. */
static ALWAYS_INLINE void similarity_row_step(struct similarity_row *g, const struct similarity_row_place *w,
					      int x, const vb *rank, int vectors)
{
	size_t at = (size_t)x * (size_t)(vectors * VEC_BYTES);
	vw2 last = vw2_down(g->right[0]);
	vw most = vw_set1(0);

	similarity_path_step(&g->path, w->s->row_cost + at, vectors);
	for (int k = 0; k < vectors; k++) {
		vb sum = vb_add(g->path.similarity[k], vb_load(w->volume + at + k * VEC_BYTES));
		vw2 moved = k + 1 < vectors ? g->right[k + 1] : last, word;

		vb_store(w->sum[x & 1] + k * VEC_BYTES, sum);
		word = vw2_sum(sum, vb_load(w->s->row_right + at + k * VEC_BYTES), rank[k]);
		most = vw_umax(most, vw_umax(word.lo, word.hi));
		g->right[k] = (vw2){vw_umax(moved.lo, word.lo), vw_umax(moved.hi, word.hi)};
	}
	g->most = most;
	w->s->right_x[x] = (uint16_t)vw_first(g->right[0].lo);
}

static ALWAYS_INLINE void similarity_row_start(struct similarity_row *g, const struct similarity_row_place *w,
					       const struct sx_matcher *m, const vb *rank, int vectors)
{
	g->path = similarity_path_of(m->p.p1, m->p.p2);
	similarity_path_start(&g->path, vectors);
	for (int k = 0; k < SIMILARITY_VECTORS_MAX; k++)
		g->right[k] = (vw2){vw_set1(0), vw_set1(0)};
	similarity_row_step(g, w, m->width - 1, rank, vectors);
}

/* Finds the winner of column x from its words. */
static ALWAYS_INLINE void similarity_row_end(const struct similarity_row *g,
					     const struct similarity_row_place *w, const struct sx_matcher *m,
					     const struct sx_matcher_frame *f, int x, const vb *rank,
					     int vectors)
{
	const struct sx_matcher_scratch *s = w->s;
	const uint8_t *a = w->sum[x & 1], *b = s->row_right + (size_t)x * (size_t)(vectors * VEC_BYTES);
	int most = vw_umax_all(g->most), d0 = SIMILARITY_RANK_MOST - (most & SIMILARITY_RANK_MOST);
	int low = m->similarity_place[d0], high = m->similarity_place[d0 + 2],
	    sum = most >> SIMILARITY_RANK_BITS;
	int rival = similarity_has_rival(a, b, rank, d0, m->rival_limit[sum], vectors);

	s->s0[x] = (uint16_t)(m->similarity_most - sum);
	s->side_low[x] = (uint16_t)(m->similarity_most - a[low] - b[low]);
	s->side_high[x] = (uint16_t)(m->similarity_most - a[high] - b[high]);
	s->d0[x] = (uint16_t)(d0 | (rival ? NOT_UNIQUE : 0));
	if (f->sum.data)
		similarity_keep_sums(m, f, w->y, x, a, b);
}

/*
 * Finds the winner of column x while it computes the words of the next column, so that neither waits for the
 * other.
 */
static ALWAYS_INLINE void similarity_row_both(struct similarity_row *g, const struct similarity_row_place *w,
					      const struct sx_matcher *m, const struct sx_matcher_frame *f,
					      int x, const vb *rank, int vectors)
{
	size_t cells = (size_t)(vectors * VEC_BYTES);

	if (x > VOLUME_AHEAD)
		prefetch_read(w->volume + (size_t)(x - 1 - VOLUME_AHEAD) * cells, cells);
	similarity_row_end(g, w, m, f, x, rank, vectors);
	similarity_row_step(g, w, x - 1, rank, vectors);
}

static ALWAYS_INLINE void similarity_right_to_left(const struct sx_matcher *m,
						   const struct sx_matcher_frame *f, int y, int rows,
						   const struct sx_matcher_scratch *s, int vectors)
{
	uint8_t sum[SIMILARITY_ROWS][2][SX_MATCHER_SIMILARITY_DISPARITIES] __attribute__((aligned(64)));
	size_t row = (size_t)m->width * (size_t)(vectors * VEC_BYTES);
	const uint8_t *volume = (const uint8_t *)f->volume + (size_t)y * row;
	struct similarity_row_place first = {y, volume, sum[0], &s[0]},
				    second = {y - 1, rows > 1 ? volume - row : NULL, sum[1], &s[1]};
	struct similarity_row a, b; /* two variables, so that they stay in registers */
	vb rank[SIMILARITY_VECTORS_MAX];

	for (int k = 0; k < vectors; k++)
		rank[k] = vb_load(m->similarity_rank + k * VEC_BYTES);
	similarity_row_start(&a, &first, m, rank, vectors);
	b = a;
	if (rows > 1)
		similarity_row_start(&b, &second, m, rank, vectors);
	for (int x = m->width - 1; x > 0; x--) {
		similarity_row_both(&a, &first, m, f, x, rank, vectors);
		if (rows > 1)
			similarity_row_both(&b, &second, m, f, x, rank, vectors);
	}
	similarity_row_end(&a, &first, m, f, 0, rank, vectors);
	if (rows > 1)
		similarity_row_end(&b, &second, m, f, 0, rank, vectors);
}

static void similarity_store_right(const struct sx_matcher *m, const struct sx_matcher_frame *f, int y,
				   const struct sx_matcher_scratch *s)
{
	uint16_t *right = sx_image_row(&f->winner_right, y);

	for (int x = 0; x < m->width; x++)
		right[x] = (uint16_t)(SIMILARITY_RANK_MOST - (s->right_x[x] & SIMILARITY_RANK_MOST));
}

static ALWAYS_INLINE void similarity_rows_of(const struct sx_matcher *m, const struct sx_matcher_frame *f,
					     int task, int y, int rows, const struct sx_matcher_scratch *s,
					     int vectors)
{
	similarity_left_to_right(m, f, task, y, rows, s, vectors);
	similarity_right_to_left(m, f, y, rows, s, vectors);
}

/* Returns the part of the scratch for row r of two. */
static struct sx_matcher_scratch similarity_scratch(const struct sx_matcher *m,
						    const struct sx_matcher_scratch *s, int r)
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

/* Runs task i: two rows, counted from the image's lower end up. It waits for the tasks before it. */
static void similarity_rows(const struct sx_matcher *m, const struct sx_matcher_frame *f, int i,
			    struct sx_matcher_scratch *s)
{
	struct sx_matcher_scratch part[SIMILARITY_ROWS] = {similarity_scratch(m, s, 0),
							   similarity_scratch(m, s, 1)};
	int y = m->height - 1 - i * SIMILARITY_ROWS, rows = y + 1 < SIMILARITY_ROWS ? y + 1 : SIMILARITY_ROWS;

	if (rows < SIMILARITY_ROWS || (m->residues != 128 / VEC_BYTES && m->residues != 64 / VEC_BYTES))
		similarity_rows_of(m, f, i, y, rows, part, m->residues);
	else if (m->residues == 128 / VEC_BYTES)
		similarity_rows_of(m, f, i, y, SIMILARITY_ROWS, part, 128 / VEC_BYTES);
	else
		similarity_rows_of(m, f, i, y, SIMILARITY_ROWS, part, 64 / VEC_BYTES);
	for (int r = 0; r < rows; r++) {
		winner_store_disparity(m, f, y - r, &part[r]);
		winner_store_confidence(m, f, y - r, &part[r]);
		similarity_store_right(m, f, y - r, &part[r]);
	}
}

#endif
