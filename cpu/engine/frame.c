/*
 * One frame: runs the stages in their order, each on all workers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>
#include <unistd.h>

#include <stixel.h>

#include "cpu/engine/frame_priv.h"
#include "stages/context.h"
#include "stages/stereo/left_right.h"
#include "stages/stixels/cells.h"
#include "stages/stixels/compact.h"
#include "stages/stixels/unmeasured_part.h"
#include "stages/taps.h"

#define COLUMNS 4 /* stixel columns per task of the segmentation */

static void median_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	const struct sx_image *tap = f->x->taps;
	enum sx_median_border border = f->x->config.params.filters.median_border;
	int y0 = index * SX_FRAME_ROWS, y1 = sx_frame_end_of(y0, SX_FRAME_ROWS, f->x->config.height);

	(void)worker;
	f->x->matcher.kernels->median_rows(&tap[SX_TAP_WINNER], &tap[SX_TAP_MEDIAN], border, y0, y1);
	if (tap[SX_TAP_WINNER_RIGHT].data)
		f->x->matcher.kernels->median_rows(&tap[SX_TAP_WINNER_RIGHT], &tap[SX_TAP_MEDIAN_RIGHT],
						   border, y0, y1);
}

static void left_right_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	const struct sx_image *tap = f->x->taps;
	const struct sx_image *right =
		&tap[tap[SX_TAP_MEDIAN_RIGHT].data ? SX_TAP_MEDIAN_RIGHT : SX_TAP_MEDIAN];
	int y0 = index * SX_FRAME_ROWS, y1 = sx_frame_end_of(y0, SX_FRAME_ROWS, f->x->config.height);

	(void)worker;
	f->x->matcher.kernels->left_right_rows(&tap[SX_TAP_MEDIAN], right, &tap[SX_TAP_LEFT_RIGHT],
					       &f->x->config.params.filters, &f->x->config.params.stereo, y0,
					       y1);
	if (tap[SX_TAP_LEFT_FLAT].data)
		sx_left_right_hide_flat(&tap[SX_TAP_MEDIAN], &tap[SX_TAP_LEFT_FLAT], &tap[SX_TAP_LEFT_RIGHT],
					f->x->config.params.stereo.min_disparity, y0, y1);
}

static void speckle_task(void *arg, int index, int worker)
{
	struct sx_context *x = ((struct sx_frame *)arg)->x;

	(void)worker;
	sx_speckle_stripe(&x->speckle, &x->taps[SX_TAP_LEFT_RIGHT], &x->taps[SX_TAP_SPECKLE], index);
}

static void erase_task(void *arg, int index, int worker)
{
	struct sx_context *x = ((struct sx_frame *)arg)->x;

	(void)worker;
	sx_speckle_erase(&x->speckle, &x->taps[SX_TAP_SPECKLE], index);
}

static void smooth_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	int y0 = index * SX_FRAME_ROWS, y1 = sx_frame_end_of(y0, SX_FRAME_ROWS, f->x->config.height);

	(void)worker;
	f->x->matcher.kernels->smooth_rows(&f->x->taps[SX_TAP_SPECKLE], &f->x->taps[SX_TAP_DISPARITY], y0,
					   y1);
}

static void confidence_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	int y0 = index * SX_FRAME_ROWS, y1 = sx_frame_end_of(y0, SX_FRAME_ROWS, f->x->config.height);

	(void)worker;
	f->x->matcher.kernels->confidence_rows(&f->x->taps[SX_TAP_DISPARITY], &f->x->taps[SX_TAP_CONFIDENCE],
					       y0, y1);
}

static void frame_filter(struct sx_frame *f)
{
	struct sx_context *x = f->x;
	struct sx_pool *pool = x->device->pool;
	const struct sx_filter_params *p = &x->config.params.filters;
	int strips = sx_frame_tasks_of(x->config.height, SX_FRAME_ROWS);

	if (p->median)
		sx_pool_for(pool, strips, median_task, f);
	sx_frame_book(f, SX_STAGE_MEDIAN);
	sx_pool_for(pool, strips, left_right_task, f);
	sx_frame_book(f, SX_STAGE_LEFT_RIGHT);
	if (p->speckle_size > 0) {
		sx_pool_for(pool, sx_speckle_stripes(&x->speckle), speckle_task, f);
		sx_speckle_join(&x->speckle, &x->taps[SX_TAP_LEFT_RIGHT]);
		sx_pool_for(pool, sx_speckle_stripes(&x->speckle), erase_task, f);
	}
	sx_frame_book(f, SX_STAGE_SPECKLE);
	if (p->smooth)
		sx_pool_for(pool, strips, smooth_task, f);
	sx_frame_book(f, SX_STAGE_SMOOTH);
	sx_pool_for(pool, strips, confidence_task, f);
	sx_frame_book(f, SX_STAGE_CONFIDENCE);
}

#define CANDIDATES 16 /* road candidates per task */

static void road_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	struct sx_context *x = f->x;

	(void)worker;
	for (int i = index * CANDIDATES; i < (index + 1) * CANDIDATES; i++)
		x->road_scores[i] = f->round < 0 ? sx_road_score(x->road_finder, i)
						 : sx_road_bend_score(x->road_finder, f->round, i);
}

static void find_road(struct sx_frame *f)
{
	struct sx_context *x = f->x;

	if (sx_road_looks(x->road_finder)) {
		f->round = -1;
		sx_road_sample(x->road_finder, &x->taps[SX_TAP_LEFT_RIGHT]);
		sx_pool_for(x->device->pool, SX_ROAD_CANDIDATES / CANDIDATES, road_task, f);
		sx_road_measure(x->road_finder, x->road_scores);
		for (f->round = 0; x->road_finder->based && f->round < SX_ROAD_BEND_ROUNDS; f->round++) {
			if (f->round == 0)
				sx_road_sample_far(x->road_finder, &x->taps[SX_TAP_LEFT_RIGHT]);
			sx_pool_for(x->device->pool, SX_ROAD_BENDS / CANDIDATES, road_task, f);
			sx_road_choose_bend(x->road_finder, f->round, x->road_scores);
		}
	}
	sx_road_finish(x->road_finder, x->has_previous ? &x->previous : NULL, &x->result.road);
	sx_frame_book(f, SX_STAGE_ROAD);
}

/* Reduces a part of 8 stixel columns, which are neighbours in the image and rows of the result. */
static void reduce_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	const struct sx_stixel_params *p = &f->x->config.params.stixels;
	struct sx_image *tap = f->x->taps;
	int u0 = index * 8, u1 = sx_frame_end_of(u0, 8, tap[SX_TAP_COLUMNS].height), x0 = u0 * p->width;
	struct sx_image disparity = tap[SX_TAP_DISPARITY], confidence = tap[SX_TAP_CONFIDENCE];
	struct sx_image columns = sx_frame_rows_of(&tap[SX_TAP_COLUMNS], u0, u1);
	struct sx_image columns_confidence = sx_frame_rows_of(&tap[SX_TAP_COLUMNS_CONFIDENCE], u0, u1);

	(void)worker;
	disparity.data = (uint16_t *)disparity.data + x0;
	confidence.data = (uint8_t *)confidence.data + x0;
	disparity.width = confidence.width = (u1 - u0) * p->width;
	if (sx_is_slanted(p))
		f->x->device->kernels->segment->reduce_cells(&disparity, &confidence, p->width,
							     sx_cell_height(p), p->reduction, &columns,
							     &columns_confidence);
	else
		f->x->device->kernels->segment->reduce(&disparity, &confidence, p->width, p->reduction,
						       &columns, &columns_confidence);
}

static void segment_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	struct sx_context *x = f->x;
	int u0 = index * COLUMNS, u1 = sx_frame_end_of(u0, COLUMNS, x->segments.columns);

	sx_segmenter_columns(x->segmenter, &x->cells, u0, u1, worker, &x->segments);
	for (int u = u0; x->taps[SX_TAP_LEFT_FLAT].data && u < u1; u++) {
		const struct sx_unmeasured_column c =
			sx_taps_column(x->taps, &x->config, &x->result.road, u, f->reach_q7);

		x->segments.count[u] = (uint16_t)sx_unmeasured_column(&c, sx_segments_column(&x->segments, u),
								      x->segments.count[u]);
	}
	for (int u = u0; x->scored && u < u1; u++)
		x->segments.count[u] = (uint16_t)sx_class_cut_column(
			&x->class_cut, sx_image_row(&x->taps[SX_TAP_COLUMNS], u), sx_image_row(&x->scores, u),
			sx_segments_column(&x->segments, u), x->segments.count[u]);
}

static void compact_task(void *arg, int index, int worker)
{
	struct sx_frame *f = arg;
	struct sx_context *x = f->x;
	int u0 = index * COLUMNS, u1 = sx_frame_end_of(u0, COLUMNS, x->segments.columns);

	(void)worker;
	for (int u = u0; u < u1; u++)
		sx_compact_column(&x->segments, &x->taps[SX_TAP_COLUMNS], &x->taps[SX_TAP_COLUMNS_CONFIDENCE],
				  f->flags, u, x->offsets, x->stixels);
}

static void make_stixels(struct sx_frame *f)
{
	struct sx_context *x = f->x;
	struct sx_pool *pool = x->device->pool;
	int columns = x->segments.columns;

	sx_pool_for(pool, sx_frame_tasks_of(columns, 8), reduce_task, f);
	f->reach_q7 = sx_evidence_run(x);
	sx_frame_book(f, SX_STAGE_REDUCE);
	sx_segmenter_begin(x->segmenter, &x->result.road, &x->cells_confidence,
			   x->scored ? &x->scores : NULL);
	sx_pool_for(pool, sx_frame_tasks_of(columns, COLUMNS), segment_task, f);
	sx_frame_book(f, SX_STAGE_SEGMENT);
	f->flags = sx_compact_flags(&x->result.road, &x->config.params);
	x->result.count =
		sx_compact_offsets(&x->segments, x->config.params.stixels.max_per_column, x->offsets);
	sx_pool_for(pool, sx_frame_tasks_of(columns, COLUMNS), compact_task, f);
	sx_frame_book(f, SX_STAGE_COMPACT);
}

static void diagnostics_task(void *arg, int index, int worker)
{
	struct sx_context *x = ((struct sx_frame *)arg)->x;
	const struct sx_diagnostics_input in = sx_taps_diagnosed(x->taps);

	(void)worker;
	sx_diagnostics_part(&in, index, &x->monitored[index], x->result.diagnostics.vote[index]);
}

static void frame_diagnostics(struct sx_frame *f)
{
	sx_pool_for(f->x->device->pool, SX_DIAGNOSTICS_ROWS, diagnostics_task, f);
	sx_diagnostics_join(f->x->monitored, &f->x->result.diagnostics);
	sx_frame_book(f, SX_STAGE_DIAGNOSTICS);
}

/* Measures the motion since the frame before. Jobs of the pool run in the order of submit. */
static void frame_motion(struct sx_frame *f)
{
	struct sx_context *x = f->x;
	struct sx_motion_input in;
	struct sx_motion_by by;

	if (!x->config.chain)
		return;
	by = sx_cpu_motion_by(x->config.chain->twin);
	sx_taps_moved(x->taps, &x->config, &x->result, x->pair, &in);
	sx_motion_chain_run(&x->config.chain->motion, &by, &in, &x->motion);
	x->result.motion_span_ns = x->motion.pair.span_ns;
	sx_frame_book(f, SX_STAGE_MOTION);
}

static bool same_layout(const struct sx_matcher *a, const struct sx_matcher *b)
{
	return a->kernels == b->kernels && a->width == b->width && a->height == b->height &&
	       a->p.disparities == b->p.disparities && a->p.min_disparity == b->p.min_disparity &&
	       a->planes == b->planes && a->p.cost == b->p.cost && a->p.zncc_window == b->p.zncc_window &&
	       a->p.aggregation == b->p.aggregation && a->p.fastdt == b->p.fastdt &&
	       a->word_bits == b->word_bits && a->volume_kind == b->volume_kind &&
	       sx_is_pyramid(&a->p) == sx_is_pyramid(&b->p);
}

/*
 * Lays out planes and scratch. If the frame before had the same shape, which is usual, everything is already
 * in place.
 */
static void frame_lay_out(struct sx_context *x)
{
	struct sx_device *d = x->device;

	if (x->config.params.stereo.matcher == SX_MATCH_EXTERNAL || same_layout(&d->layout, &x->matcher))
		return;
	memset(d->planes.data, 0, SX_MATCHER_MARGIN + sx_matcher_planes_bytes(&x->matcher));
	for (int i = 0; i < sx_pool_threads(d->pool); i++)
		sx_matcher_scratch_init(&d->laid_out[i], &x->matcher, d->scratch[i].data);
	d->layout = x->matcher;
}

static struct sx_matcher_frame matcher_frame(const struct sx_context *x)
{
	const struct sx_image *tap = x->taps;

	struct sx_matcher_frame f = {
		.grey = {tap[SX_TAP_LEFT], tap[SX_TAP_RIGHT]},
		.census = {tap[SX_TAP_LEFT_CENSUS], tap[SX_TAP_RIGHT_CENSUS]},
		.volume = x->device->volume.data,
		.winner = tap[SX_TAP_WINNER],
		.winner_right = tap[SX_TAP_WINNER_RIGHT],
		.confidence = tap[SX_TAP_CONFIDENCE],
		.sum = tap[SX_TAP_SUM],
	};

	if (x->config.params.stereo.matcher == SX_MATCH_EXTERNAL)
		return f;
	f.planes = x->device->planes.data + SX_MATCHER_MARGIN;
	if (x->config.params.stereo.cost == SX_COST_ZNCC && !x->search)
		f.costs = x->device->costs.data;
	sx_matcher_maps_init(&f, &x->matcher, x->device->maps.data);
	return f;
}

void sx_frame_run(void *arg)
{
	struct sx_context *x = arg;
	struct sx_frame f = {.x = x, .match = matcher_frame(x), .since = sx_now_ns()};
	const uint64_t done = 1;
	ssize_t n;

	x->result.started_ns = f.since;
	frame_lay_out(x);
	sx_frame_match(&f);
	frame_filter(&f);
	find_road(&f);
	make_stixels(&f);
	frame_diagnostics(&f);
	frame_motion(&f);
	x->result.finished_ns = f.since;
	/*
	 * The counter is 0 here, so the write cannot fail. After it the context belongs to the client again.
	 */
	n = write(x->event, &done, sizeof(done));
	(void)n;
}
