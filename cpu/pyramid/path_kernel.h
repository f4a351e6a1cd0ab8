/*
 * Paths over blocks of 8 disparities: one step of a row of pixels, or a walk through a tile.
 * stages/stereo/sgm.h defines the result.
 *
 *   a row: 16 px beside each other (vertical and diagonal paths) or 8 px above each other (horizontal paths)
 *
 *           lane   0 ... 7         8 ... 15        ...
 *     [k]        | px 0, d ... + 7 | px 1, d ... + 7 | ...     d: first disparity of the k-th block
 *
 * Work:   a state holds N = L - m of each cell, m: the least L of its pixel; 255 where a cell is not
 *         searched. So N of two tiles with different lists need no m, and an absent N is above every P2.
 *         Within a tile L stays in registers, and m is subtracted after the minimum of the neighbours, so
 *         that it is found beside them.
 * Ranges: N <= Cmax + P2, N + P1 <= 255 (sx_params_check).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_PYRAMID_PATH_KERNEL_H
#define SX_CPU_PYRAMID_PATH_KERNEL_H

#include <string.h>

#include "cpu/kernels/cost_kernel.h"
#include "cpu/search.h"

typedef uint64_t vq __attribute__((vector_size(VEC_BYTES)));

/* Rows of the previous pixels' N at d, d - 1 and d + 1 of a block. */
struct search_from {
	const uint8_t *at, *before, *next;
};

static const uint8_t search_absent[SX_TILE_ROW_BYTES] __attribute__((aligned(64))) = {
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
static const uint8_t search_zero[SX_TILE_ROW_BYTES] __attribute__((aligned(64)));

/* Returns true for the usual settings: the sum of L of two paths is a byte. */
static inline bool search_is_usual(const struct sx_search_level *l)
{
	const struct sx_stereo_params *p = &l->m.p;

	return p->paths == 4 && 2 * (l->m.cost_max + p->p2) <= UINT8_MAX &&
	       2 * (l->m.cost_max + p->p2_vertical) <= UINT8_MAX;
}

/* Input and output of a step. cost, excess: of the first block; the next block is SX_BLOCK_CELLS further. */
struct search_step {
	const struct search_from *from;
	int count; /* number of blocks */
	const uint8_t *cost;
	uint8_t *excess;
	const uint8_t *p2; /* P2 of each lane */
	int p1;
	uint8_t *to; /* N: rows of the blocks, one after the other */
};

/* Steps one vector of a block. Returns its L. */
static ALWAYS_INLINE vb search_step_block(const struct search_step *s, int k, int i, vb p2, bool adds)
{
	const size_t cell = (size_t)k * SX_BLOCK_CELLS + (size_t)i;
	const vb at = vb_load(s->from[k].at + i);
	const vb beside = vb_min(vb_before8(at, vb_load(s->from[k].before + i)),
				 vb_after8(at, vb_load(s->from[k].next + i)));
	const vb e = vb_min(vb_min(at, vb_add_held(beside, vb_set1(s->p1))), p2);
	const vb l = vb_add(e, vb_load(s->cost + cell));

	vb_store(s->excess + cell, adds ? vb_add(e, vb_load(s->excess + cell)) : e);
	return l;
}

/* Steps one row of `count` blocks of `bytes` lanes. adds: the step adds to the excess costs that are there. */
static ALWAYS_INLINE void search_step_of(const struct search_step *s, int count, int bytes, bool adds)
{
	for (int i = 0; i < bytes; i += VEC_BYTES) {
		const vb p2 = vb_load(s->p2 + i);
		vb l[SX_SEARCH_TILE_BLOCKS], least = vb_set1(255);

		for (int k = 0; k < count; k++) {
			l[k] = search_step_block(s, k, i, p2, adds);
			least = vb_min(least, l[k]);
		}
		least = vb_least8(least);
		for (int k = 0; k < count; k++)
			vb_store(s->to + k * bytes + i, vb_sub(l[k], least));
	}
}

/* The same for the many blocks of the coarsest scale. */
static ALWAYS_INLINE void search_step_many(const struct search_step *s, int bytes, bool adds)
{
	for (int i = 0; i < bytes; i += VEC_BYTES) {
		const vb p2 = vb_load(s->p2 + i);
		vb least = vb_set1(255);

		for (int k = 0; k < s->count; k++) {
			const vb l = search_step_block(s, k, i, p2, adds);

			vb_store(s->to + k * bytes + i, l);
			least = vb_min(least, l);
		}
		least = vb_least8(least);
		for (int k = 0; k < s->count; k++)
			vb_store(s->to + k * bytes + i, vb_sub(vb_load(s->to + k * bytes + i), least));
	}
}

static ALWAYS_INLINE void search_step(const struct search_step *s, int bytes, bool adds)
{
	switch (s->count) {
	case 1:
		search_step_of(s, 1, bytes, adds);
		break;
	case 2:
		search_step_of(s, 2, bytes, adds);
		break;
	case 3:
		search_step_of(s, 3, bytes, adds);
		break;
	case 4:
		search_step_of(s, 4, bytes, adds);
		break;
	case 5:
		search_step_of(s, 5, bytes, adds);
		break;
	case 6:
		search_step_of(s, 6, bytes, adds);
		break;
	default:
		search_step_many(s, bytes, adds);
	}
}

/* Returns the row of a block in the state of a tile with this list, or of absent cells. */
static const uint8_t *search_row_of(const struct sx_search_list *list, const uint8_t *state, int block,
				    int bytes)
{
	for (int k = 0; k < list->count; k++)
		if (list->block[k] == block)
			return state + k * bytes;
	return search_absent;
}

/* Places of the rows of each block before a path enters a tile. A block without rows has search_absent. */
struct search_rows {
	const uint8_t *of[SX_PYRAMID_BLOCKS_MAX + 2]; /* block b has [b + 1] */
};

static void search_rows_start(struct search_rows *rows, const uint8_t *start)
{
	for (int i = 0; i < SX_PYRAMID_BLOCKS_MAX + 2; i++)
		rows->of[i] = start;
}

/* Sets the rows of a list, or removes them. */
static ALWAYS_INLINE void search_rows_set(struct search_rows *rows, const struct sx_search_list *list,
					  const uint8_t *state, int bytes)
{
	for (int k = 0; k < list->count; k++)
		rows->of[list->block[k] + 1] = state + k * bytes;
}
static ALWAYS_INLINE void search_rows_remove(struct search_rows *rows, const struct sx_search_list *list)
{
	for (int k = 0; k < list->count; k++)
		rows->of[list->block[k] + 1] = search_absent;
}

/*
 * A path through a tile, in its direction. cost, sum: of the first row and the first block; the next block is
 * SX_BLOCK_CELLS further. rows: N of the row before. state: receives N of the last row.
 */
struct search_run {
	const struct sx_search_list *list;
	const struct search_rows *rows;
	const uint8_t *cost;
	uint8_t *sum;
	ptrdiff_t step; /* bytes to the next row */
	const uint8_t *p2;
	ptrdiff_t p2_step; /* 0: the same for all rows */
	int steps, p1;
	uint8_t *state;
};

#define RUN_TOGETHER 2 /* most vectors of a row that are walked together */

/* Values that a run keeps in registers: L of each block, and m. */
struct search_lanes {
	vb l[SX_LIST_BLOCKS_MAX][RUN_TOGETHER], m[RUN_TOGETHER];
};

/* Finishes a row. lanes->l: the lesser of L at d and L beside d plus P1, of the row before. */
static ALWAYS_INLINE void run_row(const struct search_run *r, struct search_lanes *lanes, int row, int i,
				  int count, int n, bool is_sum, bool adds)
{
	const uint8_t *cost = r->cost + row * r->step + i;
	uint8_t *sum = r->sum + row * r->step + i;

	UNROLL for (int v = 0; v < n; v++)
	{
		const vb p2 = vb_load(r->p2 + row * r->p2_step + i + v * VEC_BYTES);
		vb least = vb_set1(255);

		UNROLL for (int k = 0; k < count; k++)
		{
			const size_t at = (size_t)k * SX_BLOCK_CELLS + (size_t)(v * VEC_BYTES);
			const vb e = vb_min(vb_sub(lanes->l[k][v], lanes->m[v]), p2);
			const vb l = vb_add(e, vb_load(cost + at)), out = is_sum ? l : e;

			vb_store(sum + at, adds ? vb_add(out, vb_load(sum + at)) : out);
			lanes->l[k][v] = l;
			least = vb_min(least, l);
		}
		lanes->m[v] = vb_least8(least);
	}
}

/*
 * Walks n vectors of each row. is_sum: a sum is one of L, not of the excess of L over the cost. adds: the run
 * adds to the present sums, and does not overwrite them.
 */
static ALWAYS_INLINE void run_part(const struct search_run *r, int i, int count, int bytes, int n,
				   bool is_sum, bool adds)
{
	const vb p1 = vb_set1(r->p1), absent = vb_set1(255);
	vb gap[SX_LIST_BLOCKS_MAX];
	struct search_lanes lanes;

	UNROLL for (int k = 0; k < count; k++)
	{
		const uint8_t *const *rows = &r->rows->of[r->list->block[k]];

		gap[k] = vb_set1(k > 0 && r->list->block[k] == r->list->block[k - 1] + 1 ? 0 : 255);
		UNROLL for (int v = 0; v < n; v++)
		{
			const int at = i + v * VEC_BYTES;
			const vb here = vb_load(rows[1] + at);
			const vb beside = vb_min(vb_before8(here, vb_load(rows[0] + at)),
						 vb_after8(here, vb_load(rows[2] + at)));

			lanes.l[k][v] = vb_min(here, vb_add_held(beside, p1));
		}
	}
	UNROLL for (int v = 0; v < n; v++) lanes.m[v] = vb_set1(0);
	run_row(r, &lanes, 0, i, count, n, is_sum, adds);
	for (int row = 1; row < r->steps; row++) {
		UNROLL for (int v = 0; v < n; v++)
		{
			vb before = absent;

			UNROLL for (int k = 0; k < count; k++)
			{
				const vb here = lanes.l[k][v];
				const vb next = k + 1 < count ? vb_or(lanes.l[k + 1][v], gap[k + 1]) : absent;
				const vb beside =
					vb_min(vb_before8(here, k > 0 ? vb_or(before, gap[k]) : absent),
					       vb_after8(here, next));

				lanes.l[k][v] = vb_min(here, vb_add_held(beside, p1));
				before = here;
			}
		}
		run_row(r, &lanes, row, i, count, n, is_sum, adds);
	}
	UNROLL for (int k = 0; k < count; k++) UNROLL for (int v = 0; v < n; v++)
		vb_store(r->state + k * bytes + i + v * VEC_BYTES, vb_sub(lanes.l[k][v], lanes.m[v]));
}

static ALWAYS_INLINE void run_of(const struct search_run *r, int count, int bytes, bool is_sum, bool adds)
{
	const int n = bytes / VEC_BYTES < RUN_TOGETHER ? bytes / VEC_BYTES : RUN_TOGETHER;

	for (int i = 0; i < bytes; i += n * VEC_BYTES)
		run_part(r, i, count, bytes, n, is_sum, adds);
}

static ALWAYS_INLINE void search_run(const struct search_run *r, int bytes, bool is_sum, bool adds)
{
	switch (r->list->count) {
	case 1:
		run_of(r, 1, bytes, is_sum, adds);
		break;
	case 2:
		run_of(r, 2, bytes, is_sum, adds);
		break;
	case 3:
		run_of(r, 3, bytes, is_sum, adds);
		break;
	case 4:
		run_of(r, 4, bytes, is_sum, adds);
		break;
	case 5:
		run_of(r, 5, bytes, is_sum, adds);
		break;
	case 6:
		run_of(r, 6, bytes, is_sum, adds);
		break;
	default:
		run_of(r, 7, bytes, is_sum, adds);
	}
}

/* Prefetches the cells of a tile into the second-level cache. */
static ALWAYS_INLINE void search_prefetch(const uint8_t *cells, const struct sx_search_list *list)
{
	const uint8_t *p = cells + (size_t)list->at * SX_BLOCK_CELLS;

	for (int i = 0; i < list->count * SX_BLOCK_CELLS; i += 64)
		__builtin_prefetch(p + i, 0, 2);
}

/* Starts paths: N = 0 before the first pixel makes its excess cost 0, so that L = C there. */
static void search_link_start(struct search_from *from, int count)
{
	for (int k = 0; k < count; k++)
		from[k] = (struct search_from){search_zero, search_zero, search_zero};
}

/* Writes P2 to the 8 lanes of a pixel. */
static ALWAYS_INLINE void search_spread(uint8_t *lanes, uint8_t p2)
{
	const uint64_t all = p2 * UINT64_C(0x0101010101010101);

	memcpy(lanes, &all, sizeof(all));
}

#endif
