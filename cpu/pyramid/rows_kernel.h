/*
 * Horizontal paths of a row of tiles, S, and the winners or the hits. stages/stereo/sgm.h,
 * stages/stereo/winner.h and stages/pyramid/pyramid.h define the results.
 *
 * Work:   the 8 rows walk together. Then, a tile at a time, S as words S << 4 | column of the tile:
 *
 *             [block][d][x][y]   8 rows y are 16 bytes; 8 columns beside the tile hold WORD_MOST
 *
 *         Lanes are pixels, so that winners need no minimum over lanes. Right column x - d of disparity d is
 *         one column further on in the next row d, so that it is a minimum of vectors, too. Of equal S, the
 *         lower column wins, which is the lower disparity of a right column.
 * Ranges: S <= 2040 (sgm.h), words <= 32655.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_PYRAMID_ROWS_KERNEL_H
#define SX_CPU_PYRAMID_ROWS_KERNEL_H

#include "cpu/kernels/divide.h"
#include "cpu/pyramid/path_kernel.h"

#include "stages/stereo/winner.h"

#define PIXEL SX_SEARCH_BLOCK /* bytes of a pixel in a block; words of the rows of a column */
#define WORD_PIXELS (VEC_WORDS / PIXEL)
#define COLUMN_BITS 4
#define WORD_MOST 0x7fff /* above every word */
#define SUM_NONE (WORD_MOST >> COLUMN_BITS)
#define SUM_MARGIN SX_SUM_MARGIN /* columns */
#define SUM_ROW SX_SUM_ROW
#define SUM_BLOCK (PIXEL * SUM_ROW)
#define TILE_PIXELS (SX_SEARCH_TILE_WIDTH * SX_SEARCH_TILE_HEIGHT)
#define TILES_AHEAD 2 /* tiles whose cells are prefetched */
#define PLACES 64     /* places of a list of up to 6 blocks with gaps */

/* The walk through a row of tiles. */
struct row_walk {
	const struct sx_search_level *l;
	struct sx_search_scratch *s;
	const struct sx_search_list *lists; /* lists of the row of tiles */
	int y0, rows;
	uint8_t p2[SX_TILE_COLUMN_BYTES];
};

static size_t row_cells(const struct row_walk *w, int q)
{
	return (size_t)(w->lists[q].at - w->lists[0].at) * SX_BLOCK_CELLS;
}

#define TURN_PIXELS (VEC_BYTES / PIXEL)

/*
 * Exchanges rows and columns of groups of 8 cells of a block. from_row, to_row: bytes of a row; a row of one
 * has as many groups as the other has rows.
 */
static ALWAYS_INLINE void turn_block(const uint8_t *restrict from, uint8_t *restrict to, int from_row,
				     int to_row)
{
	for (int i = 0; i < SX_BLOCK_CELLS / from_row; i += TURN_PIXELS)
		for (int n = 0; n < from_row; n += VEC_BYTES) {
			vb v[TURN_PIXELS];

			UNROLL for (int k = 0; k < TURN_PIXELS; k++) v[k] =
				vb_load(from + (i + k) * from_row + n);
			vb_turn_groups(v);
			UNROLL for (int k = 0; k < TURN_PIXELS; k++)
				vb_store(to + (n / PIXEL + k) * to_row + i * PIXEL, v[k]);
		}
}

/* Exchanges rows and columns of groups of 8 cells of tile q: from [y][x][d] to [x][y][d]. */
static ALWAYS_INLINE void turn_costs(const struct row_walk *w, int q)
{
	const uint8_t *cost = w->l->cost + (size_t)w->lists[q].at * SX_BLOCK_CELLS;
	uint8_t *turned = w->s->turned + row_cells(w, q);

	for (int k = 0; k < w->lists[q].count; k++)
		turn_block(cost + k * SX_BLOCK_CELLS, turned + k * SX_BLOCK_CELLS, SX_TILE_ROW_BYTES,
			   SX_TILE_COLUMN_BYTES);
}

static ALWAYS_INLINE void row_set_p2(struct row_walk *w, int x, int from)
{
	const struct sx_search_level *l = w->l;

	if (l->m.p.p2_edge == 0 || from < 0 || from >= l->scale.width)
		return;
	for (int y = 0; y < w->rows; y++) {
		const uint8_t *grey = sx_image_row(&l->f.grey[0], w->y0 + y);

		search_spread(w->p2 + y * SX_SEARCH_BLOCK,
			      l->m.edge_p2[true][grey[x] < grey[from] ? grey[from] - grey[x]
								      : grey[x] - grey[from]]);
	}
}

/* Sets P2 of the steps to n columns of a tile, from column x on in the direction of the walk. */
static ALWAYS_INLINE void row_set_tile_p2(struct row_walk *w, int x, int dx, int n, uint8_t *p2)
{
	for (int i = 0; i < n; i++, x += dx) {
		row_set_p2(w, x, x - dx);
		memcpy(p2 + i * SX_TILE_COLUMN_BYTES, w->p2, SX_TILE_COLUMN_BYTES);
	}
}

/* A path through the row of tiles. */
struct row_path {
	int dx;
	uint8_t *all; /* amounts that the path adds to the cells of the row of tiles */
	struct search_rows rows;
	struct search_run run;
	const struct sx_search_list *before; /* list of the tile before; NULL: none */
};

static void row_path_start(const struct row_walk *w, struct row_path *p, int dx, uint8_t *all, uint8_t *state)
{
	p->dx = dx;
	p->all = all;
	p->run = (struct search_run){.rows = &p->rows,
				     .step = dx * SX_TILE_COLUMN_BYTES,
				     .p2_step = w->l->m.p.p2_edge ? SX_TILE_COLUMN_BYTES : 0,
				     .p1 = w->l->m.p.p1,
				     .state = state};
	p->before = NULL;
	search_rows_start(&p->rows, search_zero);
}

/* Walks a path through tile q. */
static ALWAYS_INLINE void path_walk(struct row_walk *w, struct row_path *p, int q, bool is_sum, bool adds)
{
	uint8_t p2[SX_SEARCH_TILE_WIDTH * SX_TILE_COLUMN_BYTES] __attribute__((aligned(64)));
	const struct sx_search_list *list = &w->lists[q];
	const int x0 = q * SX_SEARCH_TILE_WIDTH, rest = w->l->scale.width - x0;
	const int n = rest < SX_SEARCH_TILE_WIDTH ? rest : SX_SEARCH_TILE_WIDTH;
	const size_t at = row_cells(w, q) + (size_t)(p->dx < 0 ? (n - 1) * SX_TILE_COLUMN_BYTES : 0);

	if (w->l->m.p.p2_edge)
		row_set_tile_p2(w, p->dx < 0 ? x0 + n - 1 : x0, p->dx, n, p2);
	p->run.list = list;
	p->run.steps = n;
	p->run.p2 = w->l->m.p.p2_edge ? p2 : w->p2;
	p->run.cost = w->s->turned + at;
	p->run.sum = p->all + at;
	search_run(&p->run, SX_TILE_COLUMN_BYTES, is_sum, adds);
	if (p->before)
		search_rows_remove(&p->rows, p->before);
	else
		search_rows_start(&p->rows, search_absent);
	search_rows_set(&p->rows, list, p->run.state, SX_TILE_COLUMN_BYTES);
	p->before = list;
}

/*
 * Walks both paths at once, because they hide each other's latency. usual: the path that comes second to a
 * tile adds to what the first one left there.
 */
static ALWAYS_INLINE void walk_row(struct row_walk *w, bool usual)
{
	const int last = w->l->scale.tiles_x - 1;
	struct row_path right, left;

	row_path_start(w, &right, 1, w->s->right, w->s->state[0]);
	row_path_start(w, &left, -1, usual ? w->s->right : w->s->left, w->s->state[1]);
	for (int q = 0; q <= last; q++) {
		const int back = last - q;

		if (q <= back)
			turn_costs(w, q);
		if (q < back)
			turn_costs(w, back);
		if (usual && q > back)
			path_walk(w, &right, q, usual, true);
		else
			path_walk(w, &right, q, usual, false);
		if (usual && back <= q)
			path_walk(w, &left, back, usual, true);
		else
			path_walk(w, &left, back, usual, false);
	}
}

#define C8(x) x, x, x, x, x, x, x, x
static const uint16_t tile_columns[TILE_PIXELS] = {C8(0),  C8(1),  C8(2),  C8(3), C8(4),  C8(5),
						   C8(6),  C8(7),  C8(8),  C8(9), C8(10), C8(11),
						   C8(12), C8(13), C8(14), C8(15)};
#undef C8

/* Summands of sum_block(): costs, what the horizontal paths add to them, and what the others do. */
struct sum_terms {
	const uint8_t *cost;	     /* NULL: the others have them */
	const uint8_t *right, *left; /* left: NULL: right has both */
	const uint8_t *volume;	     /* bytes, or NULL */
	const uint16_t *wide;	     /* words, or NULL */
	int path_bits;
};

/* Sums the path costs of a block: words S << COLUMN_BITS | column. */
static ALWAYS_INLINE void sum_block(const struct sum_terms *t, uint16_t *sum)
{
	for (int x = 0; x < SX_SEARCH_TILE_WIDTH; x += WORD_PIXELS) {
		vw v[PIXEL];

		for (int y = 0; y < SX_SEARCH_TILE_HEIGHT; y++) {
			const int at = y * SX_TILE_ROW_BYTES + x * PIXEL;
			vw s = vw_widen(t->right + at);

			if (t->cost)
				s = vw_add(s, vw_shift_left(vw_widen(t->cost + at), t->path_bits));
			if (t->left)
				s = vw_add(s, vw_widen(t->left + at));
			if (t->volume)
				s = vw_add(s, vw_widen(t->volume + at));
			if (t->wide)
				s = vw_add(s, vw_load(t->wide + at));
			v[y] = s;
		}
		vw_turn8(v);
		for (int d = 0; d < PIXEL; d++)
			vw_store(sum + d * SUM_ROW + x * PIXEL,
				 vw_or(vw_shift_left(v[d], COLUMN_BITS), vw_load(tile_columns + x * PIXEL)));
	}
}

/* Sums the path costs of tile q with n columns. usual: search_is_usual(). */
static void sum_tile(const struct row_walk *w, int q, int n, bool usual)
{
	const struct sx_search_level *l = w->l;
	uint8_t *right = w->s->turn[0], *left = w->s->turn[1];

	for (int k = 0; k < w->lists[q].count; k++) {
		const size_t cells = ((size_t)w->lists[q].at + (size_t)k) * SX_BLOCK_CELLS;
		const size_t in_row = row_cells(w, q) + (size_t)k * SX_BLOCK_CELLS;
		uint16_t *sum = w->s->sum + (size_t)k * SUM_BLOCK + SUM_MARGIN * PIXEL;
		struct sum_terms t = {.right = right};

		turn_block(w->s->right + in_row, right, SX_TILE_COLUMN_BYTES, SX_TILE_ROW_BYTES);
		if (usual) {
			t.volume = l->volume + cells;
			sum_block(&t, sum);
			continue;
		}
		t.cost = l->cost + cells;
		t.left = left;
		turn_block(w->s->left + in_row, left, SX_TILE_COLUMN_BYTES, SX_TILE_ROW_BYTES);
		t.path_bits = l->m.p.paths == 8 ? 3 : l->m.p.paths / 2;
		if (l->is_wide)
			t.wide = (const uint16_t *)(const void *)l->volume + cells;
		else if (l->m.p.paths > 2)
			t.volume = l->volume + cells;
		sum_block(&t, sum);
	}
	for (int i = 0; n < SX_SEARCH_TILE_WIDTH && i < w->lists[q].count * PIXEL; i++)
		for (int x = n * PIXEL; x < SX_SEARCH_TILE_WIDTH * PIXEL; x++)
			w->s->sum[i * SUM_ROW + SUM_MARGIN * PIXEL + x] = WORD_MOST;
}

/* Winners of the pixels of a tile, [x][y]: words of S, and places in the list. */
struct winners {
	uint16_t least[TILE_PIXELS], place[TILE_PIXELS], low[TILE_PIXELS], high[TILE_PIXELS];
	uint16_t second[TILE_PIXELS];  /* least S of the others, neighbours left out */
	uint16_t d0[PLACES];	       /* disparity of each place */
	uint16_t rows[2][TILE_PIXELS]; /* disparities and confidences, [y][x] */
	int places[SX_SEARCH_TILE_BLOCKS];
};

/* Places the cells of a list from 1 on, with a gap between blocks that are apart. */
static void make_places(const struct sx_search_list *list, struct winners *of)
{
	int place = 1;

	for (int k = 0; k < list->count; k++) {
		if (k > 0 && list->block[k] != list->block[k - 1] + 1)
			place++;
		of->places[k] = place;
		for (int e = 0; e < PIXEL; e++)
			of->d0[place++] = (uint16_t)(list->block[k] * PIXEL + e);
	}
}

/* Finds the winners of a tile. sum: of its column 0. */
static void winners_of(const uint16_t *sum, int count, struct winners *of)
{
	const vw most = vw_set1(WORD_MOST), one = vw_set1(1), two = vw_set1(2);

	for (int i = 0; i < TILE_PIXELS; i += VEC_WORDS) {
		vw least = most, place = vw_set1(0), low = most, high = most, second = most;

		for (int k = 0; k < count; k++) {
			vw at = vw_set1(of->places[k]);

			for (int e = 0; e < PIXEL; e++, at = vw_add(at, one)) {
				const vw s = vw_load(sum + (k * PIXEL + e) * SUM_ROW + i);

				place = vw_where_greater(least, s, at, place);
				least = vw_min(least, s);
			}
		}
		place = vw_sub(place, one);
		for (int k = 0; k < count; k++) {
			vw at = vw_sub(vw_set1(of->places[k]),
				       place); /* 0: below the winner, 1: it, 2: above */

			for (int e = 0; e < PIXEL; e++, at = vw_add(at, one)) {
				const vw s = vw_load(sum + (k * PIXEL + e) * SUM_ROW + i);

				low = vw_where_equal(at, vw_set1(0), s, low);
				high = vw_where_equal(at, two, s, high);
				second = vw_min(second, vw_where_equal(vw_umin(at, two), at, most, s));
			}
		}
		vw_store(of->least + i, least);
		vw_store(of->place + i, vw_add(place, one));
		vw_store(of->low + i, low);
		vw_store(of->high + i, high);
		vw_store(of->second + i, second);
	}
}

/* Stores the disparities and confidences of tile q, n columns. */
static void store_winners(const struct row_walk *w, struct winners *of, int q, int n)
{
	const struct sx_stereo_params *p = &w->l->m.p;
	const int refine = p->subpixel != SX_SUBPIXEL_OFF, down = p->subpixel == SX_SUBPIXEL_FLOOR;
	const int rise = sx_winner_rise(p), uniqueness = p->uniqueness;
	uint16_t *restrict disparity = of->place, *restrict confidence = of->second;

	for (int i = 0; i < TILE_PIXELS; i++)
		disparity[i] = of->d0[of->place[i]];
	for (int i = 0; i < TILE_PIXELS; i++) {
		const int low = of->low[i] >> COLUMN_BITS, high = of->high[i] >> COLUMN_BITS;
		const int least = of->least[i] >> COLUMN_BITS, second = of->second[i] >> COLUMN_BITS;
		const int end = (low == SUM_NONE) | (high == SUM_NONE), inside = refine & (end ^ 1);
		const int den = low - 2 * least + high, a = 16 * (low - high) + den, b = 2 * den;
		/* divides 0 by 1 where inside is 0, so the offset is 0 there */
		const int part = divide(a & -inside, (b & -inside) | (inside ^ 1));
		const int d = 16 * disparity[i] + part - (down & inside & (part * b > a));
		const int c = divide((((low > high ? low : high) - least) & (end - 1)) * 255, rise);
		const int rival = (second != SUM_NONE) & (100 * least >= uniqueness * second);

		disparity[i] = (uint16_t)(d | -rival);
		confidence[i] =
			(uint16_t)(((c < 255 ? c : 255) & (end - 1)) | (SX_WINNER_CONFIDENCE_END & -end));
	}
	for (int x = 0; x < SX_SEARCH_TILE_WIDTH; x += PIXEL) {
		vec_turn_words(disparity + x * PIXEL, of->rows[0] + x, SX_SEARCH_TILE_WIDTH);
		vec_turn_words(confidence + x * PIXEL, of->rows[1] + x, SX_SEARCH_TILE_WIDTH);
	}
	for (int y = 0; y < w->rows; y++) {
		uint16_t *d = (uint16_t *)sx_image_row(&w->l->f.winner, w->y0 + y) + q * SX_SEARCH_TILE_WIDTH;
		uint8_t *c =
			(uint8_t *)sx_image_row(&w->l->f.confidence, w->y0 + y) + q * SX_SEARCH_TILE_WIDTH;
		uint8_t narrow[SX_SEARCH_TILE_WIDTH];

		for (int x = 0; x < SX_SEARCH_TILE_WIDTH; x++)
			narrow[x] = (uint8_t)of->rows[1][y * SX_SEARCH_TILE_WIDTH + x];
		if (n == SX_SEARCH_TILE_WIDTH) { /* a constant number of bytes is one store */
			memcpy(d, of->rows[0] + y * SX_SEARCH_TILE_WIDTH, SX_SEARCH_TILE_WIDTH * sizeof(*d));
			memcpy(c, narrow, SX_SEARCH_TILE_WIDTH);
		} else {
			memcpy(d, of->rows[0] + y * SX_SEARCH_TILE_WIDTH, (size_t)n * sizeof(*d));
			memcpy(c, narrow, (size_t)n);
		}
	}
}

/*
 * Merges a block of tile q into the least S by right column: best and best_x, [right column][y]. Tiles come
 * from right to left and blocks from the last to the first, so that of equal S the later is the lower
 * disparity. sum: of column 0.
 */
static void merge_right(const struct row_walk *w, const uint16_t *sum, int q, int block)
{
	const int x0 = q * SX_SEARCH_TILE_WIDTH;
	const size_t to = (size_t)(x0 + w->l->scale.disparities - block * PIXEL - SUM_MARGIN) * PIXEL;
	uint16_t *best = w->s->best + to, *best_x = w->s->best_x + to;
	const vw column = vw_set1((1 << COLUMN_BITS) - 1), first = vw_set1(x0);

	sum -= SUM_MARGIN * PIXEL;
	for (int i = 0; i < (SX_SEARCH_TILE_WIDTH + SUM_MARGIN) * PIXEL; i += VEC_WORDS) {
		const vw old = vw_load(best + i);
		vw least = vw_load(sum + i), s;

		for (int e = 1; e < PIXEL; e++)
			least = vw_min(least, vw_load(sum + e * (SUM_ROW + PIXEL) + i));
		s = vw_shift_right(least, COLUMN_BITS);
		vw_store(best_x + i,
			 vw_where_greater(s, old, vw_load(best_x + i), vw_add(first, vw_and(least, column))));
		vw_store(best + i, vw_min(s, old));
	}
}

static void start_right(const struct row_walk *w)
{
	for (size_t i = 0; i < w->s->right_words; i++)
		w->s->best[i] = SUM_NONE;
	memset(w->s->best_x, 0, w->s->right_words * sizeof(*w->s->best_x));
}

static void store_right(const struct row_walk *w)
{
	const uint16_t *best = w->s->best + w->l->scale.disparities * PIXEL;
	const uint16_t *best_x = w->s->best_x + w->l->scale.disparities * PIXEL;

	for (int r = 0; r < w->l->scale.width; r += PIXEL) {
		const int rest = w->l->scale.width - r;
		uint16_t d[PIXEL * PIXEL], rows[PIXEL * PIXEL];

		for (int i = 0; i < PIXEL * PIXEL; i++) {
			const int at = r * PIXEL + i;

			d[i] = (uint16_t)(best[at] < SUM_NONE ? best_x[at] - (at / PIXEL) : 0);
		}
		vec_turn_words(d, rows, PIXEL);
		for (int y = 0; y < w->rows; y++) {
			uint16_t *out = (uint16_t *)sx_image_row(&w->l->f.winner_right, w->y0 + y) + r;

			if (rest >= PIXEL)
				memcpy(out, rows + y * PIXEL, PIXEL * sizeof(*out));
			else
				memcpy(out, rows + y * PIXEL, (size_t)rest * sizeof(*out));
		}
	}
}

/* Writes S of tile q to the tap. */
static void keep_sums(const struct row_walk *w, int q, int n, const uint16_t *sum)
{
	const struct sx_search_list *list = &w->lists[q];
	const int all = w->l->scale.disparities;

	for (int y = 0; y < w->rows; y++) {
		uint16_t *out = (uint16_t *)sx_image_row(&w->l->f.sum, w->y0 + y) +
				(size_t)(q * SX_SEARCH_TILE_WIDTH) * (size_t)all;

		memset(out, 0xff, (size_t)(n * all) * sizeof(*out));
		for (int x = 0; x < n; x++, out += all)
			for (int i = 0; i < list->count * PIXEL; i++)
				out[list->block[i / PIXEL] * PIXEL + i % PIXEL] =
					sum[i * SUM_ROW + x * PIXEL + y] >> COLUMN_BITS;
	}
}

static ALWAYS_INLINE void find_winners(const struct row_walk *w, int q, int n)
{
	const struct sx_search_list *list = &w->lists[q];
	const uint16_t *sum = w->s->sum + SUM_MARGIN * PIXEL;
	struct winners of;

	make_places(list, &of);
	winners_of(sum, list->count, &of);
	store_winners(w, &of, q, n);
	for (int k = list->count - 1; k >= 0; k--)
		merge_right(w, sum + k * SUM_BLOCK, q, list->block[k]);
	if (w->l->f.sum.data)
		keep_sums(w, q, n, sum);
}

/* Returns the blocks of the finer scale that the candidates of a block hit; of: bit i: 2 * block + i - 1. */
static ALWAYS_INLINE uint64_t hits_of(const struct sx_search_level *l, unsigned of, int block)
{
	const int rest = l[-1].blocks - (2 * block - 1); /* blocks from that of bit 0 on: 2 or more */

	if (block == 0)
		return of >> 1 | (of & 1);
	if (rest < 4 && of >> rest) /* blocks after the last one count as the last one */
		of = (of & ((1u << rest) - 1)) | 1u << (rest - 1);
	return (uint64_t)of << (2 * block - 1);
}

/* Finds the blocks of the finer scale that the pixels of tile q hit. */
static void find_hits(const struct row_walk *w, int q, int n)
{
	const struct sx_search_level *l = w->l;
	const struct sx_search_list *list = &w->lists[q];
	const uint16_t *sum = w->s->sum + SUM_MARGIN * PIXEL;
	uint16_t limit[TILE_PIXELS], hit[TILE_PIXELS];
	uint64_t hits[TILE_PIXELS] = {0};

	for (int i = 0; i < TILE_PIXELS; i += VEC_WORDS) {
		vw least = vw_load(sum + i);

		for (int k = 1; k < list->count * PIXEL; k++)
			least = vw_min(least, vw_load(sum + k * SUM_ROW + i));
		vw_store(limit + i, least);
	}
	for (int x = 0; x < n; x++)
		for (int y = 0; y < w->rows; y++)
			limit[x * PIXEL + y] =
				(uint16_t)(l->near[limit[x * PIXEL + y] >> COLUMN_BITS] << COLUMN_BITS | x);
	for (int k = 0; k < list->count; k++) {
		for (int i = 0; i < TILE_PIXELS; i += VEC_WORDS) {
			const vw most = vw_load(limit + i);
			vw of = vw_set1(0);

			for (int e = 0; e < PIXEL; e++)
				of = vw_or(of,
					   vw_where_greater(vw_load(sum + (k * PIXEL + e) * SUM_ROW + i),
							    most, vw_set1(0), vw_set1(l->hit_pattern[e])));
			vw_store(hit + i, of);
		}
		for (int i = 0; i < TILE_PIXELS; i++)
			hits[i] |= hits_of(l, hit[i], list->block[k]);
	}
	for (int y = 0; y < w->rows; y++)
		for (int x = 0; x < n; x++)
			l->hits[(w->y0 + y) * l->scale.width + q * SX_SEARCH_TILE_WIDTH + x] =
				hits[x * PIXEL + y];
}

/* Sums the path costs of tile q, and finds its winners or hits. */
static void finish_tile(const struct row_walk *w, int q, bool usual)
{
	const struct sx_search_level *l = w->l;
	const int rest = l->scale.width - q * SX_SEARCH_TILE_WIDTH;
	const int n = rest < SX_SEARCH_TILE_WIDTH ? rest : SX_SEARCH_TILE_WIDTH;

	if (q > TILES_AHEAD && l->m.p.paths > 2 && !l->is_wide)
		search_prefetch(l->volume, &w->lists[q - TILES_AHEAD]);
	if (usual)
		sum_tile(w, q, n, true);
	else
		sum_tile(w, q, n, false);
	if (l->hits)
		find_hits(w, q, n);
	else
		find_winners(w, q, n);
}

/* Computes the horizontal paths of a row of tiles, and the winners of scale 0 or the hits of another one. */
static void search_rows(const struct sx_search_level *l, int j, struct sx_search_scratch *s)
{
	struct row_walk w = {
		.l = l, .s = s, .lists = sx_search_list_at(l, 0, j), .y0 = j * SX_SEARCH_TILE_HEIGHT};
	const int left = l->scale.height - w.y0;
	const bool usual = search_is_usual(l);

	w.rows = left < SX_SEARCH_TILE_HEIGHT ? left : SX_SEARCH_TILE_HEIGHT;
	memset(w.p2, l->m.p.p2, sizeof(w.p2));
	for (int i = 0; i < l->most_blocks * SUM_BLOCK; i++)
		s->sum[i] = WORD_MOST;
	if (usual)
		walk_row(&w, true);
	else
		walk_row(&w, false);
	if (!l->hits)
		start_right(&w);
	for (int q = l->scale.tiles_x - 1; q >= 0; q--)
		finish_tile(&w, q, usual);
	if (!l->hits)
		store_right(&w);
}

#endif
