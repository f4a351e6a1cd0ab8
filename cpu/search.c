/*
 * Scales of the pyramid search, their memory, and the order of their steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cpu/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/kernel_sets.h"
#include "stages/stereo/cost.h"
#include "stages/stereo/sgm.h"

#define WHOLE_VECTORS 64 /* disparities: bytes of the longest vector */
#define KERNEL_SIZE 32	 /* px: least width and height for the kernels of descriptors and costs */
#define TASK_ROWS 8

struct sx_stereo_params sx_search_params(const struct sx_stereo_params *p)
{
	struct sx_stereo_params of = *p;

	of.disparities = (p->disparities + WHOLE_VECTORS - 1) / WHOLE_VECTORS * WHOLE_VECTORS;
	return of;
}

/* ---- memory ---- */

static void *search_take(struct sx_searcher *s, size_t bytes)
{
	void *memory;

	bytes = sx_matcher_padded(bytes);
	memory = aligned_alloc(SX_MATCHER_ALIGNMENT, bytes);
	if (!memory)
		return NULL;
	memset(memory, 0, bytes);
	s->bytes += bytes;
	return memory;
}

/* Takes an image with a margin at both ends, where vectors may read. */
static int take_image(struct sx_searcher *s, struct sx_image *img, enum sx_pixel pixel, int width, int height)
{
	size_t pitch = sx_matcher_padded((size_t)width * sx_pixel_bytes(pixel));
	uint8_t *data = search_take(s, pitch * (size_t)height + 2 * SX_MATCHER_MARGIN);

	if (!data)
		return -ENOMEM;
	*img = (struct sx_image){data + SX_MATCHER_MARGIN, width, height, pitch, pixel};
	return 0;
}

static void free_image(struct sx_image *img)
{
	if (img->data)
		free((uint8_t *)img->data - SX_MATCHER_MARGIN);
}

/* Takes the images of a scale above 0. */
static int take_images(struct sx_searcher *s, struct sx_search_level *l, const struct sx_matcher *m)
{
	const struct sx_stereo_params p = sx_pyramid_params(&m->p, &l->scale), of = sx_search_params(&p);
	int r = sx_matcher_init(&l->m, m->kernels, &of, l->scale.width, l->scale.height);

	s->bytes += sx_matcher_bytes(&l->m);
	for (int side = 0; side < 2 && r == 0; side++) {
		r = take_image(s, &l->f.grey[side], SX_PIXEL_U8, l->scale.width, l->scale.height);
		if (r == 0)
			r = take_image(s, &l->f.census[side], sx_descriptor_pixel(of.cost), l->scale.width,
				       l->scale.height);
	}
	if (r < 0)
		return r;
	l->f.planes = search_take(s, sx_matcher_planes_bytes(&l->m) + SX_MATCHER_MARGIN);
	l->hits = search_take(s, sizeof(*l->hits) * (size_t)l->scale.width * (size_t)l->scale.height);
	if (l->f.planes)
		l->f.planes += SX_MATCHER_MARGIN;
	return l->f.planes && l->hits ? 0 : -ENOMEM;
}

static int take_near(struct sx_searcher *s, struct sx_search_level *l, const struct sx_stereo_params *p)
{
	const int most = sx_sgm_largest(p);

	l->near = search_take(s, sizeof(*l->near) * ((size_t)most + 1));
	for (int least = 0; l->near && least <= most; least++)
		l->near[least] = (uint16_t)(sx_pyramid_near(least) < most ? sx_pyramid_near(least) : most);
	return l->near ? 0 : -ENOMEM;
}

/* Fills in what the cells of a block hit. */
static void make_patterns(struct sx_search_level *l)
{
	const int shift = 2 * l->scale.min_disparity - l[-1].scale.min_disparity;
	const int block = 1, most = SX_PYRAMID_BLOCKS_MAX * SX_SEARCH_BLOCK; /* no end is near */

	for (int e = 0; e < SX_SEARCH_BLOCK; e++) {
		const int d = block * SX_SEARCH_BLOCK + e, from = 2 * block - 1;

		l->hit_pattern[e] = (uint8_t)(1 << (sx_pyramid_hit_first(d, shift, most) - from) |
					      1 << (sx_pyramid_hit_last(d, shift, most) - from));
	}
}

static void set_geometry(struct sx_searcher *s, int k, const struct sx_matcher *m,
			 const struct sx_stereo_params *p)
{
	struct sx_search_level *l = &s->level[k];

	l->scale = sx_pyramid_scale(p, m->width, m->height, k);
	l->is_coarsest = k == s->scales - 1;
	l->is_small = l->scale.width < KERNEL_SIZE || l->scale.height < KERNEL_SIZE;
	l->is_wide = (p->paths - 2) * p->p2_vertical > UINT8_MAX;
	l->blocks = l->scale.disparities / SX_SEARCH_BLOCK;
	l->most_blocks =
		l->is_coarsest || l->blocks < SX_SEARCH_TILE_BLOCKS ? l->blocks : SX_SEARCH_TILE_BLOCKS;
	if (k > 0)
		make_patterns(l);
}

/* Lists all blocks in every tile of the coarsest scale. */
static void list_all(struct sx_search_level *l)
{
	for (int i = 0; i < sx_search_tiles(l); i++) {
		l->lists[i].at = (uint32_t)(i * l->blocks);
		l->lists[i].count = (uint8_t)l->blocks;
		for (int b = 0; b < l->blocks; b++)
			l->lists[i].block[b] = (uint8_t)b;
	}
}

static int take_level(struct sx_searcher *s, int k, const struct sx_matcher *m,
		      const struct sx_stereo_params *p)
{
	struct sx_search_level *l = &s->level[k];
	int r;

	set_geometry(s, k, m, p);
	l->m = *m;
	r = k > 0 ? take_images(s, l, m) : 0;
	if (r == 0 && k > 0)
		r = take_near(s, l, p);
	if (r < 0)
		return r;
	l->lists = search_take(s, sizeof(*l->lists) * (size_t)sx_search_tiles(l));
	if (!l->lists)
		return -ENOMEM;
	if (l->is_coarsest)
		list_all(l);
	return 0;
}

static size_t diagonal_bytes(const struct sx_searcher *s)
{
	size_t bytes = 0;

	for (int k = 0; k < s->scales; k++) {
		const struct sx_search_level *l = &s->level[k];
		const size_t of = (size_t)(l->scale.tiles_x * l->most_blocks) * SX_TILE_ROW_BYTES;

		bytes = of > bytes ? of : bytes;
	}
	return bytes;
}

int sx_search_create(struct sx_searcher **ret, struct sx_pool *pool, const struct sx_search_kernels *kernels,
		     const struct sx_matcher *m, const struct sx_stereo_params *p)
{
	struct sx_searcher *s = calloc(1, sizeof(*s));
	int r = 0;

	if (!s)
		return -ENOMEM;
	s->pool = pool;
	s->bytes = sizeof(*s);
	s->scales = sx_pyramid_scales(p->disparities);
	for (int k = 0; k < s->scales && r == 0; k++) {
		s->level[k].kernels = kernels;
		r = take_level(s, k, m, p);
	}
	for (int i = 0; p->paths == 8 && i < 2 && r == 0; i++) {
		s->diagonal[i] = search_take(s, diagonal_bytes(s));
		r = s->diagonal[i] ? 0 : -ENOMEM;
	}
	if (r < 0) {
		sx_search_destroy(s);
		return r;
	}
	*ret = s;
	return 0;
}

void sx_search_destroy(struct sx_searcher *s)
{
	if (!s)
		return;
	for (int k = 0; k < s->scales; k++) {
		struct sx_search_level *l = &s->level[k];

		free(l->lists);
		free(l->near);
		if (k == 0)
			continue;
		for (int side = 0; side < 2; side++) {
			free_image(&l->f.grey[side]);
			free_image(&l->f.census[side]);
		}
		free(l->f.planes ? l->f.planes - SX_MATCHER_MARGIN : NULL);
		free(l->hits);
		sx_matcher_finish(&l->m);
	}
	free(s->diagonal[0]);
	free(s->diagonal[1]);
	free(s);
}

static size_t level_cells(const struct sx_search_level *l)
{
	return (size_t)sx_search_tiles(l) * (size_t)l->most_blocks * SX_BLOCK_CELLS;
}

size_t sx_search_volume_bytes(const struct sx_searcher *s)
{
	size_t bytes = 0;

	for (int k = 0; k < s->scales; k++) {
		const struct sx_search_level *l = &s->level[k];
		const size_t of = level_cells(l) * (l->m.p.paths == 2 ? 1 : l->is_wide ? 3 : 2);

		bytes = of > bytes ? of : bytes;
	}
	return bytes;
}

static size_t lay_out(struct sx_search_scratch *s, const struct sx_search_level *l, uint8_t *memory)
{
	const size_t columns = (size_t)l->scale.width + (size_t)l->scale.disparities + SX_MATCHER_MARGIN;
	const size_t most = (size_t)l->most_blocks, row = (size_t)l->scale.tiles_x * most * SX_BLOCK_CELLS;
	const size_t groups = ((size_t)l->scale.width / SX_PYRAMID_GROUP + 1) * (size_t)l->m.p.disparities;
	size_t used = sx_matcher_scratch_bytes(&l->m);

	if (memory)
		sx_matcher_scratch_init(&s->matcher, &l->m, memory);
	s->dense_rows = sx_matcher_dense_rows(&l->m);
	s->turned = sx_matcher_take(memory, &used, row);
	s->right = sx_matcher_take(memory, &used, row);
	s->left = sx_matcher_take(memory, &used, row);
	for (int i = 0; i < 2; i++)
		s->turn[i] = sx_matcher_take(memory, &used, SX_BLOCK_CELLS);
	for (int i = 0; i < SX_COLUMNS_TOGETHER; i++)
		s->state[i] = sx_matcher_take(memory, &used, most * SX_TILE_ROW_BYTES);
	s->sum = sx_matcher_take(memory, &used,
				 (most * SX_SEARCH_BLOCK * SX_SUM_ROW + SX_MATCHER_MARGIN) * sizeof(*s->sum));
	s->right_words = columns * SX_SEARCH_TILE_HEIGHT;
	s->best = sx_matcher_take(memory, &used, s->right_words * sizeof(*s->best));
	s->best_x = sx_matcher_take(memory, &used, s->right_words * sizeof(*s->best_x));
	if (l->is_coarsest)
		return used;
	for (int i = 0; i < 4; i++)
		s->groups[i] = sx_matcher_take(memory, &used, groups * sizeof(**s->groups));
	s->none = sx_matcher_take(memory, &used, (size_t)l->m.p.disparities * sizeof(*s->none));
	s->strip = sx_matcher_take(memory, &used, (size_t)l->m.p.disparities * sizeof(*s->strip));
	for (int k = 0; k < 2; k++)
		s->votes[k] =
			sx_matcher_take(memory, &used, (size_t)((2 * l->scale.tiles_x + 1) * l->blocks));
	s->strength =
		sx_matcher_take(memory, &used, (size_t)(l->scale.tiles_x * l->blocks) * sizeof(*s->strength));
	return used;
}

size_t sx_search_scratch_bytes(const struct sx_searcher *s)
{
	struct sx_search_scratch none;
	size_t bytes = 0;

	for (int k = 0; k < s->scales; k++) {
		const size_t of = lay_out(&none, &s->level[k], NULL);

		bytes = of > bytes ? of : bytes;
	}
	return bytes;
}

/* ---- steps of a frame ---- */

struct step {
	struct sx_searcher *s;
	struct sx_search_level *l;
	int dx; /* columns per row of a diagonal path */
};

static int tasks_of(int rows)
{
	return (rows + TASK_ROWS - 1) / TASK_ROWS;
}

static struct sx_image rows_of(const struct sx_image *img, int y0, int y1)
{
	struct sx_image part = *img;

	part.data = sx_image_row(img, y0);
	part.height = (y1 < img->height ? y1 : img->height) - y0;
	return part;
}

static void halve_task(void *arg, int index, int worker)
{
	const struct step *t = arg;
	const int height = t->l->scale.height, side = index >= tasks_of(height);
	const int y0 = (index - side * tasks_of(height)) * TASK_ROWS, y1 = y0 + TASK_ROWS;
	const struct sx_image from = rows_of(&t->l[-1].f.grey[side], 2 * y0, 2 * y1),
			      to = rows_of(&t->l->f.grey[side], y0, y1);

	(void)worker;
	sx_pyramid_halve(&from, &to);
}

static void describe_task(void *arg, int index, int worker)
{
	const struct step *t = arg;
	const struct sx_search_level *l = t->l;
	const int height = l->scale.height, side = index >= tasks_of(height);
	const int y0 = (index - side * tasks_of(height)) * TASK_ROWS;
	const int y1 = y0 + TASK_ROWS < height ? y0 + TASK_ROWS : height;
	struct sx_matcher_scratch *scratch = &t->s->scratch[worker].matcher;

	if (l->m.p.cost == SX_COST_ZNCC)
		l->m.kernels->zncc_words_rows(&l->m, &l->f, side, y0, y1, scratch);
	else
		l->m.kernels->census_rows(&l->m, &l->f, side, y0, y1, scratch);
}

static void describe(struct sx_searcher *s, struct sx_search_level *l)
{
	struct step t = {.s = s, .l = l};

	sx_pool_for(s->pool, 2 * tasks_of(l->scale.height), halve_task, &t);
	if (!l->is_small) {
		sx_pool_for(s->pool, 2 * tasks_of(l->scale.height), describe_task, &t);
		return;
	}
	for (int side = 0; side < 2; side++)
		sx_describe(&l->f.grey[side], &l->f.census[side], &l->m.p);
}

const uint8_t *sx_search_dense(const struct sx_search_level *l, int y0, int y1, struct sx_search_scratch *s)
{
	const size_t row = (size_t)l->scale.width * (size_t)l->m.p.disparities;
	const struct sx_cost_input in = {.grey = {l->f.grey[0], l->f.grey[1]},
					 .descriptor = {l->f.census[0], l->f.census[1]}};
	uint8_t *out = s->matcher.row_cost;
	struct sx_matcher_frame f = l->f;

	if (!l->is_small && l->m.p.cost == SX_COST_ZNCC) {
		/* the kernel adds the offset of row y0 again */
		f.costs = (uint8_t *)((uintptr_t)out - (size_t)y0 * row);
		l->m.kernels->zncc_rows(&l->m, &f, y0, y1, &s->matcher);
		return out;
	}
	for (int y = y0; y < y1; y++)
		if (l->is_small)
			sx_cost_row(&in, y, &l->m.p, out + (size_t)(y - y0) * row);
		else
			l->kernels->cost_row(&l->m, &l->f, y, out + (size_t)(y - y0) * row);
	return out;
}

static void costs_task(void *arg, int index, int worker)
{
	const struct step *t = arg;

	t->l->kernels->search_costs(t->l, index, &t->s->scratch[worker]);
}

static void columns_task(void *arg, int index, int worker)
{
	const struct step *t = arg;

	t->l->kernels->search_columns(t->l, index, &t->s->scratch[worker]);
}

static void diagonals_task(void *arg, int index, int worker)
{
	const struct step *t = arg;

	(void)index;
	for (int dx = -1; dx <= 1; dx += 2)
		for (int dy = -1; dy <= 1; dy += 2)
			t->l->kernels->search_diagonal(t->l, dx, dy, t->s->diagonal, &t->s->scratch[worker]);
}

static void rows_task(void *arg, int index, int worker)
{
	const struct step *t = arg;

	t->l->kernels->search_rows(t->l, index, &t->s->scratch[worker]);
}

/* Gives every worker the scratch of a scale. */
static void enter(struct sx_searcher *s, const struct sx_search_level *l, uint8_t *const scratch[])
{
	for (int i = 0; i < sx_pool_threads(s->pool); i++)
		lay_out(&s->scratch[i], l, scratch[i]);
}

static void sum_paths(struct sx_searcher *s, struct sx_search_level *l, uint8_t *volume)
{
	const struct sx_search_list *last = &l->lists[sx_search_tiles(l) - 1];
	struct step t = {.s = s, .l = l};

	l->cost = volume;
	l->volume = volume + ((size_t)last->at + last->count) * SX_BLOCK_CELLS;
	sx_pool_for(s->pool, l->scale.tiles_y, costs_task, &t);
	if (l->m.p.paths > 2)
		sx_pool_for(s->pool, (l->scale.tiles_x + SX_COLUMNS_TOGETHER - 1) / SX_COLUMNS_TOGETHER,
			    columns_task, &t);
	if (l->m.p.paths == 8)
		sx_pool_for(s->pool, 1, diagonals_task, &t);
}

void sx_search_finish(struct sx_searcher *s)
{
	struct step t = {.s = s, .l = &s->level[0]};

	sx_pool_for(s->pool, s->level[0].scale.tiles_y, rows_task, &t);
}

void sx_search_begin(struct sx_searcher *s, const struct sx_matcher_frame *f, const struct sx_image *tiles,
		     uint8_t *volume, uint8_t *const scratch[])
{
	s->level[0].f = *f;
	for (int k = 1; k < s->scales; k++) {
		enter(s, &s->level[k], scratch);
		describe(s, &s->level[k]);
	}
	for (int k = s->scales - 1; k >= 0; k--) {
		struct sx_search_level *l = &s->level[k];
		struct step t = {.s = s, .l = l};

		enter(s, l, scratch);
		if (!l->is_coarsest) {
			l->tiles = *tiles;
			l->tiles.data = sx_image_row(tiles, l->scale.first_row);
			sx_search_choose(s, k);
		}
		sum_paths(s, l, volume);
		if (k > 0)
			sx_pool_for(s->pool, l->scale.tiles_y, rows_task, &t);
	}
}
