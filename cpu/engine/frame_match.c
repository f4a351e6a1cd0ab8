/*
 * First half of a frame: grey images (rectified if they come raw), descriptors, costs, paths, winner.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "cpu/engine/frame_priv.h"
#include "cpu/rectify.h"
#include "cpu/stretch.h"
#include "stages/context.h"
#include "stages/stereo/chance.h"
#include "stages/stereo/cost.h"
#include "stages/stereo/external.h"
#include "stages/stereo/flat.h"
#include "stages/stereo/ingest.h"
#include "stages/stixels/cells.h"

/* one task per image, before the describing tasks because it takes longer than they do */
#define FLAT_TASKS 2
#define ZNCC_ROWS 16 /* rows per task of the zncc costs; a task begins by summing a window's rows */

static const struct sx_image *image_of(const struct sx_frame *f, int side)
{
	return side ? &f->x->pair->right : &f->x->pair->left;
}

/*
 * Converts raw images that are not grey. Tasks count from the top of the left image to the bottom of the
 * right image.
 */
static void ingest_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	const struct sx_image *to = f->x->config.rectify ? f->x->raw_grey : f->match.grey;
	int height = f->x->pair->left.height, side = index >= sx_frame_tasks_of(height, SX_FRAME_ROWS);
	int y0 = (index - side * sx_frame_tasks_of(height, SX_FRAME_ROWS)) * SX_FRAME_ROWS,
	    y1 = sx_frame_end_of(y0, SX_FRAME_ROWS, height);
	struct sx_image src = sx_frame_rows_of(image_of(f, side), y0, y1),
			grey = sx_frame_rows_of(&to[side], y0, y1);

	(void)worker;
	if (!sx_ingest_is_grey(src.pixel)) {
		sx_ingest(&src, &grey, f->stretch);
		return;
	}
	for (int y = 0; y < y1 - y0; y++)
		memcpy(sx_image_row(&grey, y), sx_image_row(&src, y), (size_t)src.width);
}

static void rectify_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	int height = f->x->config.height, side = index >= sx_frame_tasks_of(height, SX_FRAME_ROWS);
	int y0 = (index - side * sx_frame_tasks_of(height, SX_FRAME_ROWS)) * SX_FRAME_ROWS;
	const struct sx_image *raw = image_of(f, side);

	(void)worker;
	sx_rectify_rows(sx_ingest_is_grey(raw->pixel) ? raw : &f->x->raw_grey[side], &f->match.grey[side],
			&f->x->map[side], y0, sx_frame_end_of(y0, SX_FRAME_ROWS, height));
}

static void frame_ingest(struct sx_frame *f)
{
	const struct sx_pair *pair = f->x->pair;
	struct sx_pool *pool = f->x->device->pool;
	bool rectify = f->x->config.rectify;

	if (pair->left.pixel == SX_PIXEL_Y16)
		f->stretch = sx_stretch_find(pool, &pair->left, &pair->right, f->x->stretch_counts);
	f->x->result.stretch = f->stretch;
	if (!rectify || !sx_ingest_is_grey(pair->left.pixel))
		sx_pool_for(pool, 2 * sx_frame_tasks_of(pair->left.height, SX_FRAME_ROWS), ingest_task, f);
	if (rectify)
		sx_pool_for(pool, 2 * sx_frame_tasks_of(f->x->config.height, SX_FRAME_ROWS), rectify_task, f);
}

static void views_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	const struct sx_rectify_map *map = f->x->map;
	int y0 = index * SX_FRAME_ROWS;

	(void)worker;
	sx_views_hide(&f->match.winner, map[0].view, map[1].view, f->x->config.params.stereo.min_disparity,
		      y0, sx_frame_end_of(y0, SX_FRAME_ROWS, f->x->config.height));
}

/* Invalidates pixels outside the view of either raw camera. */
static void hide(struct sx_frame *f)
{
	if (f->x->hides)
		sx_pool_for(f->x->device->pool, sx_frame_tasks_of(f->x->config.height, SX_FRAME_ROWS),
			    views_task, f);
}

static void chance_sum_task(void *arg, int row, int worker)
{
	struct sx_frame *f = arg;

	(void)worker;
	f->x->matcher.kernels->chance_sum_row(&f->match.winner, f->match.census,
					      f->x->config.params.stereo.min_disparity, row,
					      &f->x->chance_sums[row * SX_FLAT_TILES(f->x->config.width)]);
}

static void chance_mark_task(void *arg, int row, int worker)
{
	struct sx_frame *f = arg;
	const struct sx_image *flat = &f->x->taps[SX_TAP_LEFT_FLAT];

	(void)worker;
	sx_chance_mark_row(f->x->chance_sums, flat->width, flat->height,
			   sx_cost_max(f->x->config.params.stereo.cost), row,
			   sx_chance_search(&f->x->taps[SX_TAP_TILES], row), sx_image_row(flat, row));
}

/* Marks areas that were matched by chance. */
static void find_chance(struct sx_frame *f)
{
	struct sx_pool *pool = f->x->device->pool;
	const int rows = f->x->taps[SX_TAP_LEFT_FLAT].height;

	if (!f->x->chance_sums)
		return;
	sx_pool_for(pool, rows, chance_sum_task, f);
	sx_pool_for(pool, rows, chance_mark_task, f);
}

/*
 * Finds the part of a describing task. The first tasks find the flat tiles of one image each, and are done here: -1 is
 * returned. The other tasks describe `rows` rows of an image. Returns its side, and in y0 the first row.
 */
static int describing_part(struct sx_frame *f, int index, int rows, int *y0)
{
	const int tasks = sx_frame_tasks_of(f->x->config.height, rows), part = index - FLAT_TASKS;
	struct sx_image *tap = f->x->taps;

	if (part < 0) {
		sx_flat(&f->match.grey[index], &tap[index ? SX_TAP_RIGHT_FLAT : SX_TAP_LEFT_FLAT],
			f->x->flat_scratch[index]);
		return -1;
	}
	*y0 = part % tasks * rows;
	return part / tasks;
}

static void census_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	int y0, side = describing_part(f, index, SX_FRAME_ROWS, &y0);

	if (side >= 0)
		f->x->matcher.kernels->census_rows(&f->x->matcher, &f->match, side, y0,
						   sx_frame_end_of(y0, SX_FRAME_ROWS, f->x->config.height),
						   &f->x->device->laid_out[worker]);
}

static void words_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	int y0, side = describing_part(f, index, ZNCC_ROWS, &y0);

	if (side >= 0)
		f->x->matcher.kernels->zncc_words_rows(&f->x->matcher, &f->match, side, y0,
						       sx_frame_end_of(y0, ZNCC_ROWS, f->x->config.height),
						       &f->x->device->laid_out[worker]);
}

static void zncc_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	int y0 = index * ZNCC_ROWS;

	f->x->matcher.kernels->zncc_rows(&f->x->matcher, &f->match, y0,
					 sx_frame_end_of(y0, ZNCC_ROWS, f->x->config.height),
					 &f->x->device->laid_out[worker]);
}

static void sgm_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;

	sx_matcher_band(&f->x->matcher, &f->match, f->shear, index, f->first,
			&f->x->device->laid_out[worker]);
}

static void winner_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;

	sx_matcher_rows(&f->x->matcher, &f->match, index, &f->x->device->laid_out[worker]);
}

/* Computes the costs and horizontal passes of one row. */
static void fastdt_row_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;

	f->x->matcher.kernels->fastdt_row(&f->x->matcher, &f->match, index, &f->x->device->laid_out[worker]);
}

/*
 * Resets the right image's minima of one worker (tasks below the number of threads), or computes the planes O
 * and G. Only the bands need the minima.
 */
static void fastdt_planes_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	const struct sx_matcher *m = &f->x->matcher;
	int threads = sx_pool_threads(f->x->device->pool);
	struct sx_fastdt_scratch *s = &f->x->device->laid_out[index].fastdt;
	size_t bytes = (size_t)m->height * sx_fastdt_right_pitch(m) * sizeof(*s->right_sum);

	(void)worker;
	if (index >= threads) {
		m->kernels->fastdt_planes(m, &f->match, index - threads);
		return;
	}
	memset(s->right_sum, 255, bytes);
	memset(s->right_x, 255, bytes);
}

static void fastdt_band_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;

	f->x->matcher.kernels->fastdt_band(&f->x->matcher, &f->match, index, &f->x->device->laid_out[worker]);
}

static void fastdt_winners_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	const struct sx_device *d = f->x->device;

	(void)worker;
	for (int y = index * SX_FRAME_ROWS;
	     y < sx_frame_end_of(index * SX_FRAME_ROWS, SX_FRAME_ROWS, f->x->config.height); y++)
		f->x->matcher.kernels->fastdt_winners(&f->x->matcher, &f->match, y, d->laid_out,
						      sx_pool_threads(d->pool));
}

static void frame_aggregate_fastdt(struct sx_frame *f)
{
	struct sx_pool *pool = f->x->device->pool;
	int width = f->x->config.width, height = f->x->config.height;

	sx_pool_for(pool, height, fastdt_row_task, f);
	sx_pool_for(pool, sx_pool_threads(pool) + sx_frame_tasks_of(width, SX_FASTDT_PLANE_COLUMNS),
		    fastdt_planes_task, f);
	sx_pool_for(pool, sx_fastdt_bands(&f->x->matcher), fastdt_band_task, f);
	sx_frame_book(f, SX_STAGE_AGGREGATE);
	sx_pool_for(pool, sx_frame_tasks_of(height, SX_FRAME_ROWS), fastdt_winners_task, f);
	hide(f);
	find_chance(f);
	sx_frame_book(f, SX_STAGE_WINNER);
}

static void frame_aggregate_sgm(struct sx_frame *f, enum sx_shear shear, bool first)
{
	f->shear = shear;
	f->first = first;
	sx_pool_for(f->x->device->pool, sx_matcher_bands(&f->x->matcher, shear), sgm_task, f);
}

/* Computes the descriptors, and for zncc also the costs. */
static void frame_describe(struct sx_frame *f)
{
	struct sx_pool *pool = f->x->device->pool;
	int height = f->x->config.height;

	if (f->x->config.params.stereo.cost == SX_COST_ZNCC) {
		sx_pool_for(pool, FLAT_TASKS + 2 * sx_frame_tasks_of(height, ZNCC_ROWS), words_task, f);
		if (!f->x->search)
			sx_pool_for(pool, sx_frame_tasks_of(height, ZNCC_ROWS), zncc_task, f);
	} else {
		sx_pool_for(pool, FLAT_TASKS + 2 * sx_frame_tasks_of(height, SX_FRAME_ROWS), census_task, f);
	}
	sx_frame_book(f, SX_STAGE_CENSUS);
}

static void scores_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	struct sx_context *x = f->x;
	const struct sx_stixel_params *p = &x->config.params.stixels;
	int v0 = index * 4, v1 = sx_frame_end_of(v0, 4, x->segments.capacity);

	(void)worker;
	x->device->kernels->segment->reduce_scores(x->pair->scores, x->config.width, x->config.height,
						   p->width, sx_cell_height(p), v0, v1, &x->scores);
}

/*
 * Reduces the scores. It runs before the source gets the pair back, because the scores belong to the source
 * too.
 */
static void reduce_scores(struct sx_frame *f)
{
	struct sx_context *x = f->x;

	x->scored = sx_context_scores(&x->config, x->pair) != NULL;
	if (x->scored)
		sx_pool_for(x->device->pool, sx_frame_tasks_of(x->segments.capacity, 4), scores_task, f);
}

static void external_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	int y0 = index * SX_FRAME_ROWS;

	(void)worker;
	sx_external_rows(f->x->pair->disparity, &f->match.winner, &f->match.confidence,
			 &f->x->config.params.stereo, y0,
			 sx_frame_end_of(y0, SX_FRAME_ROWS, f->x->config.height));
}

/* Takes the map that the pair brings. It is read before the source gets the pair back. */
static void frame_take_map(struct sx_frame *f)
{
	struct sx_context *x = f->x;

	sx_frame_book(f, SX_STAGE_INGEST);
	sx_pool_for(x->device->pool, sx_frame_tasks_of(x->config.height, SX_FRAME_ROWS), external_task, f);
	if (x->images_read)
		x->images_read(x->user);
	hide(f);
	sx_frame_book(f, SX_STAGE_WINNER);
}

/* Matches with pyramid search. The scratch of the workers is laid out for each scale. */
static void frame_search(struct sx_frame *f)
{
	struct sx_context *x = f->x;
	struct sx_device *d = x->device;
	uint8_t *scratch[SX_POOL_THREADS_MAX];

	for (int i = 0; i < sx_pool_threads(d->pool); i++)
		scratch[i] = d->scratch[i].data;
	sx_search_begin(x->search, &f->match, &x->taps[SX_TAP_TILES], d->volume.data, scratch);
	sx_frame_book(f, SX_STAGE_AGGREGATE);
	sx_search_finish(x->search);
	sx_pyramid_edges(&x->config.params.stereo, &f->match.winner, &f->match.winner_right,
			 &f->match.confidence);
	hide(f);
	find_chance(f);
	sx_frame_book(f, SX_STAGE_WINNER);
}

void sx_frame_match(struct sx_frame *f)
{
	struct sx_context *x = f->x;
	struct sx_pool *pool = x->device->pool;

	frame_ingest(f);
	reduce_scores(f);
	if (x->config.params.stereo.matcher == SX_MATCH_EXTERNAL) {
		frame_take_map(f);
		return;
	}
	if (x->images_read)
		x->images_read(x->user);
	sx_frame_book(f, SX_STAGE_INGEST);
	frame_describe(f);
	if (x->search) {
		frame_search(f);
		return;
	}
	if (x->config.params.stereo.aggregation == SX_AGGREGATION_FASTDT) {
		frame_aggregate_fastdt(f);
		return;
	}
	if (x->config.params.stereo.paths >= 4)
		frame_aggregate_sgm(f, SX_SHEAR_DOWN, true);
	if (x->config.params.stereo.paths == 8) {
		frame_aggregate_sgm(f, SX_SHEAR_RIGHT, false);
		frame_aggregate_sgm(f, SX_SHEAR_LEFT, false);
	}
	sx_frame_book(f, SX_STAGE_AGGREGATE);
	sx_matcher_rows_begin(&x->matcher, &f->match);
	sx_pool_for(pool, sx_matcher_row_tasks(&x->matcher), winner_task, f);
	hide(f);
	find_chance(f);
	sx_frame_book(f, SX_STAGE_WINNER);
}
