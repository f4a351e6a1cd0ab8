/*
 * Vertical and diagonal paths of a scale: what they add to the cells.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_PYRAMID_COLUMNS_KERNEL_H
#define SX_CPU_PYRAMID_COLUMNS_KERNEL_H

#include "cpu/pyramid/path_kernel.h"

/* Adds excess costs of n cells to sums that are words. */
static ALWAYS_INLINE void search_widen(const uint8_t *excess, uint16_t *sum, int n, bool adds)
{
	for (int i = 0; i < n; i++)
		sum[i] = (uint16_t)((adds ? sum[i] : 0) + excess[i]);
}

/* A walk over rows of tiles, up or down or along a diagonal. */
struct search_walk {
	const struct sx_search_level *l;
	struct sx_search_scratch *s;
	uint8_t p2[SX_TILE_ROW_BYTES];
	int dx, dy;
	bool adds;
};

/* Sets P2 of the steps to row y of tile column q. */
static ALWAYS_INLINE void walk_set_p2(struct search_walk *w, int q, int y)
{
	const struct sx_search_level *l = w->l;
	const int x0 = q * SX_SEARCH_TILE_WIDTH;
	const uint8_t *here = sx_image_row(&l->f.grey[0], y), *there;

	if (l->m.p.p2_edge == 0 || y - w->dy < 0 || y - w->dy >= l->scale.height)
		return;
	there = sx_image_row(&l->f.grey[0], y - w->dy);
	for (int i = 0; i < SX_SEARCH_TILE_WIDTH; i++) {
		const int x = x0 + i, from = x - w->dx;

		if (x >= l->scale.width || from < 0 || from >= l->scale.width)
			continue;
		search_spread(w->p2 + i * SX_SEARCH_BLOCK,
			      l->m.edge_p2[false][here[x] < there[from] ? there[from] - here[x]
									: here[x] - there[from]]);
	}
}

/* Steps one row of a tile. */
static ALWAYS_INLINE void walk_step(struct search_walk *w, const struct search_from *from, int q, int y,
				    uint8_t *to)
{
	const struct sx_search_level *l = w->l;
	const struct sx_search_list *list = sx_search_list_at(l, q, y / SX_SEARCH_TILE_HEIGHT);
	const size_t at =
		(size_t)list->at * SX_BLOCK_CELLS + (size_t)(y % SX_SEARCH_TILE_HEIGHT) * SX_TILE_ROW_BYTES;
	const struct search_step step = {.from = from,
					 .count = list->count,
					 .cost = l->cost + at,
					 .excess = l->is_wide ? w->s->left : l->volume + at,
					 .p2 = w->p2,
					 .p1 = l->m.p.p1_vertical,
					 .to = to};

	walk_set_p2(w, q, y);
	if (w->adds && !l->is_wide)
		search_step(&step, SX_TILE_ROW_BYTES, true);
	else
		search_step(&step, SX_TILE_ROW_BYTES, false);
	if (l->is_wide)
		for (int k = 0; k < list->count; k++)
			search_widen(w->s->left + k * SX_BLOCK_CELLS,
				     (uint16_t *)(void *)l->volume + at + k * SX_BLOCK_CELLS,
				     SX_TILE_ROW_BYTES, w->adds);
}

static struct search_walk walk_of(const struct sx_search_level *l, int dx, int dy, bool adds,
				  struct sx_search_scratch *s)
{
	struct search_walk w = {.l = l, .s = s, .dx = dx, .dy = dy, .adds = adds};

	memset(w.p2, l->m.p.p2_vertical, sizeof(w.p2));
	return w;
}

/* Sets P2 of the steps to the rows of a tile, first row first in the direction of the walk. */
static ALWAYS_INLINE void walk_set_tile_p2(struct search_walk *w, int q, int y, int rows, uint8_t *p2)
{
	for (int i = 0; i < rows; i++, y += w->dy) {
		walk_set_p2(w, q, y);
		memcpy(p2 + i * SX_TILE_ROW_BYTES, w->p2, SX_TILE_ROW_BYTES);
	}
}

/* A column of tiles that a walk goes through. */
struct search_column {
	int q;
	struct search_rows rows;
	struct search_run run;
};

static void column_start(const struct search_walk *w, struct search_column *c, int q, uint8_t *state)
{
	c->q = q;
	c->run = (struct search_run){.rows = &c->rows,
				     .step = w->dy * SX_TILE_ROW_BYTES,
				     .p2 = w->p2,
				     .p1 = w->l->m.p.p1_vertical,
				     .state = state};
	search_rows_start(&c->rows, search_zero);
}

/* Walks a column through row j of tiles. */
static ALWAYS_INLINE void column_walk(struct search_walk *w, struct search_column *c, int j, bool is_sum,
				      bool adds)
{
	uint8_t p2[SX_SEARCH_TILE_HEIGHT * SX_TILE_ROW_BYTES] __attribute__((aligned(64)));
	const struct sx_search_level *l = w->l;
	const struct sx_search_list *list = sx_search_list_at(l, c->q, j);
	const int y0 = j * SX_SEARCH_TILE_HEIGHT, rest = l->scale.height - y0;
	const int n = rest < SX_SEARCH_TILE_HEIGHT ? rest : SX_SEARCH_TILE_HEIGHT;
	const int before = j - w->dy, after = j + w->dy;
	const size_t at = w->dy < 0 ? (size_t)(n - 1) * SX_TILE_ROW_BYTES : 0;
	const size_t cells = (size_t)list->at * SX_BLOCK_CELLS;

	if (after >= 0 && after < l->scale.tiles_y)
		search_prefetch(l->cost, sx_search_list_at(l, c->q, after));
	if (l->m.p.p2_edge) {
		walk_set_tile_p2(w, c->q, w->dy > 0 ? y0 : y0 + n - 1, n, p2);
		c->run.p2 = p2;
		c->run.p2_step = SX_TILE_ROW_BYTES;
	}
	c->run.list = list;
	c->run.steps = n;
	c->run.cost = l->cost + cells + at;
	c->run.sum = (l->is_wide ? w->s->left : l->volume + cells) + at;
	search_run(&c->run, SX_TILE_ROW_BYTES, is_sum, adds && !l->is_wide);
	if (l->is_wide)
		search_widen(w->s->left, (uint16_t *)(void *)l->volume + cells, list->count * SX_BLOCK_CELLS,
			     adds);
	if (before >= 0 && before < l->scale.tiles_y)
		search_rows_remove(&c->rows, sx_search_list_at(l, c->q, before));
	else
		search_rows_start(&c->rows, search_absent);
	search_rows_set(&c->rows, list, c->run.state, SX_TILE_ROW_BYTES);
}

/* Walks up or down through the columns of tiles of a task, a tile of each in turn: they hide each other's latency. */
static ALWAYS_INLINE void walk_columns(const struct sx_search_level *l, int q, int dy, bool adds,
				       struct sx_search_scratch *s)
{
	struct search_walk w = walk_of(l, 0, dy, adds, s);
	const int rest = l->scale.tiles_x - q, n = rest < SX_COLUMNS_TOGETHER ? rest : SX_COLUMNS_TOGETHER;
	const bool is_sum = search_is_usual(l);
	struct search_column columns[SX_COLUMNS_TOGETHER];

	for (int k = 0; k < n; k++)
		column_start(&w, &columns[k], q + k, s->state[k]);
	for (int i = 0; i < l->scale.tiles_y; i++)
		for (int k = 0; k < n; k++)
			if (is_sum)
				column_walk(&w, &columns[k], dy > 0 ? i : l->scale.tiles_y - 1 - i, true,
					    adds);
			else
				column_walk(&w, &columns[k], dy > 0 ? i : l->scale.tiles_y - 1 - i, false,
					    adds);
}

/* Sums what the paths down and up add to the cells of the i-th columns of tiles. */
static void search_columns(const struct sx_search_level *l, int i, struct sx_search_scratch *s)
{
	walk_columns(l, i * SX_COLUMNS_TOGETHER, 1, false, s);
	walk_columns(l, i * SX_COLUMNS_TOGETHER, -1, true, s);
}

/* A row of N of all tiles, that a diagonal path has reached. */
struct search_reached {
	const uint8_t *state;
	const struct sx_search_list *lists; /* lists of its row of tiles */
};

static const uint8_t *reached_row(const struct search_reached *r, int q, int block)
{
	const uint8_t *state = r->state + (size_t)(r->lists[q].at - r->lists[0].at) * SX_TILE_ROW_BYTES;

	return search_row_of(&r->lists[q], state, block, SX_TILE_ROW_BYTES);
}

/* Copies the previous pixels' N of a block, one column aside, from tile q and the tile beside it. */
static void reached_aside(const struct search_walk *w, const struct search_reached *r, int q, int block,
			  uint8_t *to)
{
	const int px = SX_SEARCH_BLOCK, rest = SX_TILE_ROW_BYTES - px, beside = q - w->dx;
	const uint8_t *own = reached_row(r, q, block);
	const int last = w->l->scale.width - 1 - q * SX_SEARCH_TILE_WIDTH;

	memcpy(to + (w->dx > 0 ? px : 0), own + (w->dx > 0 ? 0 : px), (size_t)rest);
	if (beside >= 0 && beside < w->l->scale.tiles_x)
		memcpy(to + (w->dx > 0 ? 0 : rest), reached_row(r, beside, block) + (w->dx > 0 ? rest : 0),
		       (size_t)px);
	else /* paths start here */
		memset(to + (w->dx > 0 ? 0 : last * px), 0, (size_t)px);
}

/* Sums what one diagonal path adds to all cells. */
static void search_diagonal(const struct sx_search_level *l, int dx, int dy, uint8_t *const states[2],
			    struct sx_search_scratch *s)
{
	static const struct sx_search_list none = {0};
	struct search_walk w = walk_of(l, dx, dy, true, s);
	struct search_from from[SX_LIST_BLOCKS_MAX];
	uint8_t aside[3 * SX_LIST_BLOCKS_MAX][SX_TILE_ROW_BYTES] __attribute__((aligned(64)));
	struct search_reached r = {NULL, &none};

	for (int i = 0; i < l->scale.height; i++) {
		const int y = dy > 0 ? i : l->scale.height - 1 - i;
		const struct sx_search_list *lists = sx_search_list_at(l, 0, y / SX_SEARCH_TILE_HEIGHT);

		for (int q = 0; q < l->scale.tiles_x; q++) {
			const struct sx_search_list *list = &lists[q];

			search_link_start(from, list->count);
			for (int k = 0; k < list->count && i > 0; k++) {
				for (int n = 0; n < 3; n++)
					reached_aside(&w, &r, q, list->block[k] + n - 1, aside[3 * k + n]);
				from[k] = (struct search_from){.before = aside[3 * k],
							       .at = aside[3 * k + 1],
							       .next = aside[3 * k + 2]};
			}
			walk_step(&w, from, q, y,
				  states[i & 1] + (size_t)(list->at - lists[0].at) * SX_TILE_ROW_BYTES);
		}
		r = (struct search_reached){states[i & 1], lists};
	}
}

#endif
