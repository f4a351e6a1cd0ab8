/*
 * Which blocks the tiles of a scale search: steps 3 to 6 of stages/pyramid/pyramid.h, for bands of tile rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "cpu/kernel_sets.h"
#include "cpu/search.h"

#define TILE_GROUPS_X (SX_SEARCH_TILE_WIDTH / SX_PYRAMID_GROUP)
#define TILE_GROUPS_Y (SX_SEARCH_TILE_HEIGHT / SX_PYRAMID_GROUP)
#define BANDS_OF_THREAD 2 /* a band begins with two rows of groups that its neighbour computes too */

struct choice {
	struct sx_searcher *s;
	struct sx_search_level *l;
	int bands;
};

static int groups_of(int px)
{
	return (px + SX_PYRAMID_GROUP - 1) / SX_PYRAMID_GROUP;
}

/*
 * Counts the votes of row g of squares of 4 by 4 px of the coarser scale: x from 4 i - 2 and y from 4 g - 2 on.
 * A tile has three squares by two.
 */
static void count_votes(const struct sx_search_level *l, int g, struct sx_search_scratch *s)
{
	const struct sx_pyramid_scale *coarse = &l[1].scale;
	const int square = 2 * SX_PYRAMID_MARGIN, y0 = square * g - SX_PYRAMID_MARGIN;
	uint8_t *votes = s->votes[g % 2];

	memset(votes, 0, (size_t)((2 * l->scale.tiles_x + 1) * l->blocks));
	for (int y = y0 < 0 ? 0 : y0; y < y0 + square && y < coarse->height; y++) {
		const uint64_t *hits = l[1].hits + (size_t)y * (size_t)coarse->width;

		for (int x = 0; x < coarse->width; x++)
			for (uint64_t h = hits[x]; h; h &= h - 1)
				votes[(x + SX_PYRAMID_MARGIN) / square * l->blocks + __builtin_ctzll(h)]++;
	}
}

/* Sums the votes of tile q of a row of tiles. */
static void vote(const struct sx_search_level *l, int q, const struct sx_search_scratch *s,
		 uint16_t *strength)
{
	const int n = l->blocks;
	const uint8_t *a = s->votes[0] + (size_t)(2 * q * n), *b = s->votes[1] + (size_t)(2 * q * n);

	for (int i = 0; i < n; i++)
		strength[i] = (uint16_t)(a[i] + a[i + n] + a[i + 2 * n] + b[i] + b[i + n] + b[i + 2 * n]);
}

static void keep(uint16_t *strength, int first, int last)
{
	for (int b = first; b <= last; b++)
		strength[b] |= SX_PYRAMID_KEPT;
}

/* Keeps the block with most votes in a row of tiles. strength: votes only. */
static void keep_favourite(const struct sx_search_level *l, uint16_t *strength)
{
	uint32_t votes[SX_PYRAMID_BLOCKS_MAX] = {0};
	int favourite = 0;

	for (int q = 0; q < l->scale.tiles_x; q++)
		for (int b = 0; b < l->blocks; b++)
			votes[b] += strength[q * l->blocks + b];
	for (int b = 1; b < l->blocks; b++)
		if (votes[b] > votes[favourite])
			favourite = b;
	for (int q = 0; votes[favourite] > 0 && q < l->scale.tiles_x; q++)
		keep(strength + (size_t)q * (size_t)l->blocks, favourite, favourite);
}

/* Keeps the blocks of one strip if it is clear. The strip has nx by ny groups, from (x0, y0) on. */
static void look_at_strip(const struct sx_search_level *l, int x0, int y0, int nx, int ny,
			  struct sx_search_scratch *s, uint16_t *strength)
{
	const int groups_x = groups_of(l->scale.width), groups_y = groups_of(l->scale.height);
	const int n = l->scale.disparities;
	const uint16_t *of[4] = {s->none, s->none, s->none, s->none};
	int count = 0, least, rival, b0;

	for (int y = y0; y < y0 + ny; y++)
		for (int x = x0; x < x0 + nx; x++)
			if (x >= 0 && x < groups_x && y >= 0 && y < groups_y)
				of[count++] = s->groups[y % 4] + (size_t)x * (size_t)l->m.p.disparities;
	if (count == 0)
		return;
	b0 = l->kernels->search_strip(of, n, s->strip, &least, &rival);
	if (sx_pyramid_strip_is_clear(least, rival))
		keep(strength, sx_pyramid_strip_first(b0, n), sx_pyramid_strip_last(b0, n));
}

static void look_at_strips(const struct sx_search_level *l, int q, int j, struct sx_search_scratch *s,
			   uint16_t *strength)
{
	for (int i = 0; i < TILE_GROUPS_X; i++)
		look_at_strip(l, TILE_GROUPS_X * q + i, TILE_GROUPS_Y * j - 1, 1, TILE_GROUPS_Y + 2, s,
			      strength);
	for (int i = 0; i < TILE_GROUPS_Y; i++)
		look_at_strip(l, TILE_GROUPS_X * q, TILE_GROUPS_Y * j + i, TILE_GROUPS_X, 1, s, strength);
}

/* Sums the costs of row y of groups, if the image has it. */
static void sum_groups(const struct sx_search_level *l, int y, struct sx_search_scratch *s)
{
	if (y >= 0 && y < groups_of(l->scale.height))
		l->kernels->search_groups(l, y, s);
}

static void choose_row(const struct choice *c, int j, struct sx_search_scratch *s)
{
	struct sx_search_level *l = c->l;
	struct sx_search_list *list = &l->lists[j * l->scale.tiles_x];
	struct sx_search_tile *tap = sx_image_row(&l->tiles, j);
	const size_t pitch = (size_t)l->blocks;

	count_votes(l, j + 1, s);
	for (int q = 0; q < l->scale.tiles_x; q++)
		vote(l, q, s, s->strength + (size_t)q * pitch);
	if (sx_pyramid_row_has_favourite(j, l->scale.tiles_y))
		keep_favourite(l, s->strength);
	memset(tap, 0, sizeof(*tap) * (size_t)l->tiles.width);
	for (int q = 0; q < l->scale.tiles_x; q++) {
		look_at_strips(l, q, j, s, s->strength + (size_t)q * pitch);
		tap[q] = sx_pyramid_choose(s->strength + (size_t)q * pitch, l->blocks);
		list[q].count = tap[q].count;
		memcpy(list[q].block, tap[q].block, sizeof(tap[q].block));
	}
}

static void band_task(void *arg, int index, int worker)
{
	const struct choice *c = arg;
	const struct sx_search_level *l = c->l;
	struct sx_search_scratch *s = &c->s->scratch[worker];
	const int j0 = l->scale.tiles_y * index / c->bands, j1 = l->scale.tiles_y * (index + 1) / c->bands;

	memset(s->none, 0, sizeof(*s->none) * (size_t)l->m.p.disparities);
	count_votes(l, j0, s);
	for (int y = -1; y <= 0; y++)
		sum_groups(l, TILE_GROUPS_Y * j0 + y, s);
	for (int j = j0; j < j1; j++) {
		for (int y = 1; y <= TILE_GROUPS_Y; y++)
			sum_groups(l, TILE_GROUPS_Y * j + y, s);
		choose_row(c, j, s);
	}
}

void sx_search_choose(struct sx_searcher *s, int k)
{
	struct choice c = {.s = s, .l = &s->level[k]};
	const int threads = sx_pool_threads(s->pool), tiles_y = c.l->scale.tiles_y;
	uint32_t at = 0;

	c.bands = threads == 1 ? 1 : BANDS_OF_THREAD * threads;
	if (c.bands > tiles_y)
		c.bands = tiles_y;
	sx_pool_for(s->pool, c.bands, band_task, &c);
	for (int i = 0; i < sx_search_tiles(c.l); i++) {
		c.l->lists[i].at = at;
		at += c.l->lists[i].count;
	}
}
