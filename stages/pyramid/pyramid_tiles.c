/*
 * Which blocks the tiles of a scale search.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/pyramid/pyramid_tiles.h"

#include <string.h>

#define GROUPS(px) (((px) + SX_PYRAMID_GROUP - 1) / SX_PYRAMID_GROUP)
#define TILE_GROUPS_X (SX_SEARCH_TILE_WIDTH / SX_PYRAMID_GROUP)
#define TILE_GROUPS_Y (SX_SEARCH_TILE_HEIGHT / SX_PYRAMID_GROUP)
#define DISPARITIES_MAX (SX_PYRAMID_BLOCKS_MAX * SX_SEARCH_BLOCK)

struct choice {
	const struct sx_pyramid_scale *coarse;
	const struct sx_cost_input *in;
	const struct sx_stereo_params *p;
	int width, height, tiles_x, tiles_y, blocks, groups_x, groups_y;
	uint64_t *hits;	    /* bit b of a pixel of the coarser scale: it hits block b */
	uint8_t *cost;	    /* costs of one row */
	uint16_t *groups;   /* G[Y][X][d] */
	uint16_t *strength; /* strength of each block of each tile of a row */
};

static size_t lay_out(struct choice *c, char *at)
{
	const size_t row = (size_t)c->width * (size_t)c->p->disparities;
	char *from = at;

	c->hits = (uint64_t *)(void *)at;
	at += sizeof(*c->hits) * (size_t)c->coarse->width * (size_t)c->coarse->height;
	c->groups = (uint16_t *)(void *)at;
	at += sizeof(*c->groups) * (size_t)c->groups_x * (size_t)c->groups_y * (size_t)c->p->disparities;
	c->strength = (uint16_t *)(void *)at;
	at += sizeof(*c->strength) * (size_t)c->tiles_x * (size_t)c->blocks;
	c->cost = (uint8_t *)at;
	at += row;
	return (size_t)(at - from);
}

static void set_size(struct choice *c, int width, int height)
{
	c->width = width;
	c->height = height;
	c->tiles_x = SX_SEARCH_TILES_X(width);
	c->tiles_y = SX_SEARCH_TILES_Y(height);
	c->blocks = c->p->disparities / SX_SEARCH_BLOCK;
	c->groups_x = GROUPS(width);
	c->groups_y = GROUPS(height);
}

size_t sx_pyramid_tiles_scratch_bytes(const struct sx_pyramid_scale *fine,
				      const struct sx_pyramid_scale *coarse)
{
	static char none[1];
	const struct sx_stereo_params p = {.disparities = fine->disparities};
	struct choice c = {.coarse = coarse, .p = &p};

	set_size(&c, fine->width, fine->height);
	return lay_out(&c, none);
}

static void find_hits(const struct choice *c, const struct sx_image *sum)
{
	const int n = c->coarse->disparities, shift = 2 * c->coarse->min_disparity - c->p->min_disparity;
	uint64_t *h = c->hits;

	memset(h, 0, sizeof(*h) * (size_t)c->coarse->width * (size_t)c->coarse->height);
	for (int y = 0; y < c->coarse->height; y++) {
		const uint16_t *s = sx_image_row(sum, y);

		for (int x = 0; x < c->coarse->width; x++, s += n, h++) {
			int least = SX_SUM_ABSENT;

			for (int d = 0; d < n; d++)
				least = s[d] < least ? s[d] : least;
			for (int d = 0; d < n; d++) {
				int first = sx_pyramid_hit_first(d, shift, c->p->disparities);
				int last = sx_pyramid_hit_last(d, shift, c->p->disparities);

				if (s[d] > sx_pyramid_near(least))
					continue;
				*h |= UINT64_C(1) << first | UINT64_C(1) << last;
			}
		}
	}
}

/* Sums the costs of the even rows over groups. */
static void sum_groups(const struct choice *c)
{
	const int n = c->p->disparities;

	memset(c->groups, 0, sizeof(*c->groups) * (size_t)(c->groups_x * c->groups_y) * (size_t)n);
	for (int y = 0; y < c->height; y += 2) {
		uint16_t *row = c->groups + (size_t)(y / SX_PYRAMID_GROUP * c->groups_x) * (size_t)n;

		sx_cost_row(c->in, y, c->p, c->cost);
		for (int x = 0; x < c->width; x++) {
			const uint8_t *cost = c->cost + (size_t)x * (size_t)n;
			uint16_t *g = row + (size_t)(x / SX_PYRAMID_GROUP) * (size_t)n;

			for (int d = 0; d < n; d++)
				g[d] = (uint16_t)(g[d] + cost[d]);
		}
	}
}

static void vote(const struct choice *c, int q, int j, uint16_t *strength)
{
	const int wide = SX_SEARCH_TILE_WIDTH / 2, high = SX_SEARCH_TILE_HEIGHT / 2;

	for (int y = high * j - SX_PYRAMID_MARGIN; y < high * (j + 1) + SX_PYRAMID_MARGIN; y++)
		for (int x = wide * q - SX_PYRAMID_MARGIN; x < wide * (q + 1) + SX_PYRAMID_MARGIN; x++) {
			uint64_t hits;

			if (x < 0 || x >= c->coarse->width || y < 0 || y >= c->coarse->height)
				continue;
			hits = c->hits[y * c->coarse->width + x];
			for (int b = 0; b < c->blocks; b++)
				strength[b] = (uint16_t)(strength[b] + (hits >> b & 1));
		}
}

static void keep(uint16_t *strength, int first, int last)
{
	for (int b = first; b <= last; b++)
		strength[b] |= SX_PYRAMID_KEPT;
}

/* Keeps the blocks of one strip if it is clear. The strip has nx by ny groups, from (x0, y0) on. */
static void look_at_strip(const struct choice *c, int x0, int y0, int nx, int ny, uint16_t *strength)
{
	const int n = c->p->disparities;
	int sum[DISPARITIES_MAX] = {0}, b0 = 0, rival = INT32_MAX / 100, groups = 0;

	for (int y = y0; y < y0 + ny; y++)
		for (int x = x0; x < x0 + nx; x++) {
			const uint16_t *g;

			if (x < 0 || x >= c->groups_x || y < 0 || y >= c->groups_y)
				continue;
			g = c->groups + (size_t)(y * c->groups_x + x) * (size_t)n;
			groups++;
			for (int d = 0; d < n; d++)
				sum[d] += g[d];
		}
	if (groups == 0)
		return;
	for (int d = 1; d < n; d++)
		if (sum[d] < sum[b0])
			b0 = d;
	for (int d = 0; d < n; d++)
		if ((d < b0 - SX_PYRAMID_APART || d > b0 + SX_PYRAMID_APART) && sum[d] < rival)
			rival = sum[d];
	if (sx_pyramid_strip_is_clear(sum[b0], rival))
		keep(strength, sx_pyramid_strip_first(b0, n), sx_pyramid_strip_last(b0, n));
}

static void look_at_strips(const struct choice *c, int q, int j, uint16_t *strength)
{
	for (int s = 0; s < TILE_GROUPS_X; s++)
		look_at_strip(c, TILE_GROUPS_X * q + s, TILE_GROUPS_Y * j - 1, 1, TILE_GROUPS_Y + 2,
			      strength);
	for (int s = 0; s < TILE_GROUPS_Y; s++)
		look_at_strip(c, TILE_GROUPS_X * q, TILE_GROUPS_Y * j + s, TILE_GROUPS_X, 1, strength);
}

/* Keeps the block with most votes in a row of tiles. strength: votes only. */
static void keep_favourite(const struct choice *c, uint16_t *strength)
{
	int most = 0, favourite = 0;

	for (int b = 0; b < c->blocks; b++) {
		int votes = 0;

		for (int q = 0; q < c->tiles_x; q++)
			votes += strength[q * c->blocks + b];
		if (votes > most) {
			most = votes;
			favourite = b;
		}
	}
	if (most == 0)
		return;
	for (int q = 0; q < c->tiles_x; q++)
		keep(strength + (size_t)q * (size_t)c->blocks, favourite, favourite);
}

void sx_pyramid_choose_tiles(const struct sx_image *coarse_sum, const struct sx_pyramid_scale *coarse,
			     const struct sx_cost_input *in, const struct sx_stereo_params *p,
			     const struct sx_image *tiles, void *scratch)
{
	struct choice c = {.coarse = coarse, .in = in, .p = p};

	set_size(&c, in->descriptor[0].width, in->descriptor[0].height);
	lay_out(&c, scratch);
	find_hits(&c, coarse_sum);
	sum_groups(&c);
	for (int j = 0; j < c.tiles_y; j++) {
		struct sx_search_tile *row = sx_image_row(tiles, j);

		memset(c.strength, 0, sizeof(*c.strength) * (size_t)c.tiles_x * (size_t)c.blocks);
		for (int q = 0; q < c.tiles_x; q++)
			vote(&c, q, j, c.strength + (size_t)q * (size_t)c.blocks);
		if (sx_pyramid_row_has_favourite(j, c.tiles_y))
			keep_favourite(&c, c.strength);
		for (int q = 0; q < c.tiles_x; q++) {
			uint16_t *strength = c.strength + (size_t)q * (size_t)c.blocks;

			look_at_strips(&c, q, j, strength);
			row[q] = sx_pyramid_choose(strength, c.blocks);
		}
	}
}
