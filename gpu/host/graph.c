/*
 * The chain of a frame, captured once into a graph. Stages run in their order. Flat areas and the sky run
 * beside the winner, the road beside the reduction, and the image diagnostics beside the road.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/diagnostics/diagnostics_cuda.h"
#include "gpu/host/engine_priv.h"
#include "gpu/ingest/rectify_cuda.h"
#include "gpu/stamp.h"
#include "gpu/stereo/winner_cuda.h"
#include "gpu/stixels/class_cut_cuda.h"
#include "gpu/stixels/unmeasured_cuda.h"
#include "gpu/zncc/zncc_cuda.h"
#include "stages/stereo/chance.h"
#include "stages/stixels/cells.h"
#include "stages/taps.h"

static uint64_t *stamp(const struct sx_context *x, int index)
{
	return x->clock.stamps ? x->clock.stamps + index : NULL;
}

/*
 * Starts the time of a stage at the last stamp. The stage ends with the stamp whose index is the stage's
 * number.
 */
static void begin(struct sx_context *x, enum sx_stage stage)
{
	x->clock.since[stage] = x->clock.last;
	x->clock.last = (int)stage;
}

/* Ends a stage on the main stream. */
static cudaError_t done(struct sx_context *x, enum sx_stage stage)
{
	begin(x, stage);
	return sx_cuda_mark(stamp(x, stage), x->stream);
}

/*
 * Begins work on a side stream, which runs beside later work on the main stream. side_end() ends the work;
 * side_join() makes the main stream wait for it.
 */
static cudaError_t side_begin(struct sx_context *x, const struct sx_side_stream *s)
{
	const cudaError_t e = cudaEventRecord(s->fork, x->stream);

	return e ? e : cudaStreamWaitEvent(s->stream, s->fork, 0);
}

static cudaError_t side_end(const struct sx_side_stream *s)
{
	return cudaEventRecord(s->join, s->stream);
}

static cudaError_t side_join(struct sx_context *x, const struct sx_side_stream *s)
{
	return cudaStreamWaitEvent(x->stream, s->join, 0);
}

static cudaError_t chain_ingest(struct sx_context *x)
{
	const cudaError_t e = sx_ingest_cuda_run(x->stages.ingest, x->ingest_input, &x->taps[SX_TAP_LEFT],
						 &x->output_device->stretch, x->stream);

	return e ? e : done(x, SX_STAGE_INGEST);
}

/*
 * Computes the descriptors of both images. Ingest and census are one kernel if possible; their time then
 * counts as the census's.
 */
static cudaError_t chain_describe(struct sx_context *x)
{
	const struct sx_stereo_params *p = &x->config.params.stereo;
	const struct sx_image *grey = &x->taps[SX_TAP_LEFT], *descriptors = &x->taps[SX_TAP_LEFT_CENSUS];
	const bool at_once = p->cost != SX_COST_ZNCC && x->config.pixel != SX_PIXEL_Y16 && !x->config.rectify;
	cudaError_t e = at_once ? cudaSuccess : chain_ingest(x);

	if (e)
		return e;
	if (p->cost == SX_COST_ZNCC) /* the census's time goes on until chain_cost() */
		return sx_zncc_windows_cuda_run(grey, descriptors, p->zncc_window, x->stream);
	e = at_once ? sx_ingest_census_cuda_run(x->ingest_input, x->config.pixel, grey, descriptors, p->cost,
						x->stream)
		    : sx_census_cuda_run(grey, descriptors, p->cost, x->stream);
	return e ? e : done(x, SX_STAGE_CENSUS);
}

/* Prepares the left image for FastDT. The gain has few threads, so it runs beside costs and passes. */
static cudaError_t chain_guide(struct sx_context *x)
{
	const struct sx_fastdt_cuda *s = x->stages.fastdt;
	cudaError_t e;

	if (!s)
		return cudaSuccess;
	if ((e = sx_fastdt_cuda_weights(s, &x->taps[SX_TAP_LEFT], x->stream)) ||
	    (e = side_begin(x, &x->side)) || (e = sx_fastdt_cuda_gain(s, x->side.stream)))
		return e;
	return side_end(&x->side);
}

/*
 * Fills the cost volume. Its time counts as aggregation's. With ZNCC it counts as the census's, because
 * correlating the windows takes most of it.
 */
static cudaError_t chain_cost(struct sx_context *x)
{
	const cudaError_t e = sx_cuda_cost_run(x);

	return e || x->config.params.stereo.cost != SX_COST_ZNCC ? e : done(x, SX_STAGE_CENSUS);
}

static cudaError_t find_sky(struct sx_context *x, cudaStream_t stream)
{
	return sx_sky_cuda_find(&x->sky, &x->taps[SX_TAP_LEFT], &x->config.params.stixels, stream);
}

/* Finds flat areas and the sky, which need the left and right image alone. */
static cudaError_t look_at_images(struct sx_context *x, cudaStream_t stream)
{
	const cudaError_t e = sx_flat_cuda_run(&x->taps[SX_TAP_LEFT], &x->taps[SX_TAP_LEFT_FLAT], stream);

	return e ? e : find_sky(x, stream);
}

/*
 * Looks at the images beside the winner. The paths of SGM fill the device and wait for each other, so blocks
 * beside them would delay them: 0.39 ms of paths instead of 0.18 ms, measured. FastDT's last pass is one kernel
 * with its winner and would be delayed too: 0.49 ms of a matcher instead of 0.44 ms. So with FastDT both run
 * before the costs: chain_look_first().
 */
static cudaError_t chain_look_beside(struct sx_context *x)
{
	cudaError_t e;

	if (x->stages.fastdt)
		return cudaSuccess;
	if ((e = side_begin(x, &x->side)) || (e = look_at_images(x, x->side.stream)))
		return e;
	return side_end(&x->side);
}

static cudaError_t chain_look_first(struct sx_context *x)
{
	return x->stages.fastdt ? look_at_images(x, x->stream) : cudaSuccess;
}

static struct sx_checkpoint_images images_of(const struct sx_context *x)
{
	const struct sx_image *tap = x->taps;

	return (struct sx_checkpoint_images){&tap[SX_TAP_LEFT], &tap[SX_TAP_LEFT_CENSUS], &tap[SX_TAP_WINNER],
					     &tap[SX_TAP_WINNER_RIGHT], &tap[SX_TAP_CONFIDENCE]};
}

/* Searches the pyramid. The evidence runs beside the paths of the coarsest scale. */
static cudaError_t chain_pyramid(struct sx_context *x)
{
	const struct sx_pyramid_cuda *s = x->stages.pyramid;
	const struct sx_pyramid_images i = sx_cuda_pyramid_images(x);
	cudaError_t e;

	if ((e = sx_pyramid_cuda_halve(s, &i, x->stream)) || (e = side_begin(x, &x->side)) ||
	    (e = sx_pyramid_cuda_evidence(s, &i, x->side.stream)) || (e = side_end(&x->side)) ||
	    (e = sx_pyramid_cuda_coarsest(s, &i, x->stream)) || (e = side_join(x, &x->side)))
		return e;
	return sx_pyramid_cuda_finer(s, &i, x->stream);
}

static cudaError_t chain_aggregate(struct sx_context *x)
{
	const struct sx_cuda_stages *s = &x->stages;
	const struct sx_checkpoint_images i = images_of(x);
	cudaError_t e;

	if (s->checkpoint) { /* runs all paths except to the right, which the winner's kernel walks */
		e = sx_checkpoint_cuda_paths(s->checkpoint, &i, x->stream);
	} else if (s->fastdt) { /* runs all passes except the last one, see chain_winner() */
		e = sx_fastdt_cuda_passes(s->fastdt, x->stream);
		if (!e)
			e = side_join(x, &x->side);
	} else if (s->pyramid) {
		e = chain_pyramid(x);
	} else {
		e = sx_sgm_cuda_run(s->sgm, &x->taps[SX_TAP_LEFT], &x->taps[SX_TAP_LEFT_CENSUS], x->stream);
	}
	return e ? e : done(x, SX_STAGE_AGGREGATE);
}

/* Hides pixels that only one of the two raw cameras saw. */
static cudaError_t chain_hide(struct sx_context *x)
{
	if (!x->config.rectify)
		return cudaSuccess;
	return sx_rectify_cuda_hide(sx_ingest_cuda_rectify(x->stages.ingest), &x->taps[SX_TAP_WINNER],
				    x->stream);
}

/*
 * Finds the winner. FastDT's last pass (up) and its winner are one kernel, because that has the sums of a
 * pixel in registers.
 */
static cudaError_t chain_winner(struct sx_context *x)
{
	const struct sx_image *left = &x->taps[SX_TAP_WINNER], *right = &x->taps[SX_TAP_WINNER_RIGHT],
			      *confidence = &x->taps[SX_TAP_CONFIDENCE];
	const struct sx_cuda_stages *s = &x->stages;
	const struct sx_checkpoint_images i = images_of(x);
	const struct sx_pyramid_images pyramid = sx_cuda_pyramid_images(x);
	cudaError_t e;

	if (s->checkpoint)
		e = sx_checkpoint_cuda_winner(s->checkpoint, &i, x->stream);
	else if (s->pyramid)
		e = sx_pyramid_cuda_winner(s->pyramid, &pyramid, x->stream);
	else if (s->fastdt)
		e = sx_fastdt_cuda_winner(s->fastdt, left, right, confidence, x->stream);
	else
		e = sx_winner_cuda_run(sx_sgm_cuda_volumes(s->sgm), &x->config.params.stereo, left, right,
				       confidence, x->stream);
	if (!e)
		e = chain_hide(x);
	if (!e && !s->fastdt)
		e = side_join(x, &x->side);
	if (!e && sx_chance_looks(&x->config.params.stereo))
		e = sx_chance_cuda_run(left, &x->taps[SX_TAP_LEFT_CENSUS], &x->taps[SX_TAP_LEFT_FLAT],
				       &x->taps[SX_TAP_TILES], &x->config.params.stereo, x->stream);
	return e ? e : done(x, SX_STAGE_WINNER);
}

/* Converts the map of another process. sx_cuda_input_set() has copied it to the winner's memory. */
static cudaError_t chain_external(struct sx_context *x)
{
	cudaError_t e;

	if ((e = chain_ingest(x)) || (e = find_sky(x, x->stream)) ||
	    (e = sx_external_cuda_run(&x->taps[SX_TAP_WINNER], &x->config.params.stereo, x->stream)) ||
	    (e = chain_hide(x)))
		return e;
	return done(x, SX_STAGE_WINNER);
}

/* Computes the best disparity of each pixel from the pair. */
static cudaError_t chain_match(struct sx_context *x)
{
	cudaError_t e;

	if (sx_cuda_is_external(x))
		return chain_external(x);
	if ((e = chain_describe(x)) || (e = chain_look_first(x)) || (e = chain_guide(x)) ||
	    (e = chain_cost(x)) || (e = chain_aggregate(x)) || (e = chain_look_beside(x)))
		return e;
	return chain_winner(x);
}

/*
 * Finds the road, on a side stream. It has few blocks that run one after the other. So it runs beside all
 * stages until the stixels are chosen, and these stages fill the rest of the device.
 */
static cudaError_t chain_road(struct sx_context *x)
{
	const struct sx_slanted_cuda *slanted = x->stages.slanted;
	cudaError_t e;

	x->clock.since[SX_STAGE_ROAD] = x->clock.last;
	if ((e = side_begin(x, &x->side)) ||
	    (e = sx_road_cuda_run(x->stages.road, &x->taps[SX_TAP_LEFT_RIGHT], x->input_device, x->road,
				  x->side.stream)) ||
	    (slanted && (e = sx_slanted_cuda_set_road(slanted, x->road, x->scores.in, x->side.stream))) ||
	    (e = sx_cuda_mark(stamp(x, SX_STAGE_ROAD), x->side.stream)))
		return e;
	return side_end(&x->side);
}

/*
 * Runs the slow part of the image diagnostics, which only the host reads. It runs beside the road, which
 * leaves most of the device idle.
 */
static cudaError_t chain_votes(struct sx_context *x)
{
	const struct sx_diagnostics_input in = sx_taps_diagnosed(x->taps);
	cudaError_t e;

	x->clock.since[SX_STAGE_DIAGNOSTICS] = x->clock.last;
	if ((e = side_begin(x, &x->watch)) ||
	    (e = sx_diagnostics_cuda_votes(x->diagnostics, &in, &x->output_device->diagnostics,
					   x->watch.stream)))
		return e;
	return sx_cuda_mark(stamp(x, SX_STAGE_DIAGNOSTICS), x->watch.stream);
}

/*
 * Runs the rest of the image diagnostics beside the compaction. Beside the segmentation its blocks would
 * delay that stage's blocks.
 */
static cudaError_t chain_counts(struct sx_context *x)
{
	const struct sx_diagnostics_input in = sx_taps_diagnosed(x->taps);
	cudaError_t e;

	if ((e = side_begin(x, &x->watch)) ||
	    (e = sx_diagnostics_cuda_counts(x->diagnostics, &in, &x->output_device->diagnostics,
					    x->watch.stream)))
		return e;
	return side_end(&x->watch);
}

/*
 * Filters the map. Median, left-right check and components of speckles count as median. Erasing speckles and
 * smoothing count as smooth.
 */
static cudaError_t chain_filter(struct sx_context *x)
{
	const struct sx_image *tap = x->taps;
	/* an external map has no right map: pass the left one twice */
	const struct sx_image left[2] = {tap[SX_TAP_WINNER], tap[SX_TAP_WINNER]},
			      median[2] = {tap[SX_TAP_MEDIAN], x->unused_median};
	const bool external = sx_cuda_is_external(x);
	const struct sx_filter_cuda *s = x->stages.filter;
	cudaError_t e;

	if ((e = sx_filter_cuda_check(s, external ? left : &tap[SX_TAP_WINNER],
				      external ? median : &tap[SX_TAP_MEDIAN],
				      external ? NULL : &tap[SX_TAP_LEFT_FLAT], &tap[SX_TAP_LEFT_RIGHT],
				      &tap[SX_TAP_SPECKLE], &tap[SX_TAP_CONFIDENCE], x->stream)) ||
	    (e = done(x, SX_STAGE_MEDIAN)) || (e = chain_road(x)) || (e = chain_votes(x)) ||
	    sx_filter_cuda_is_done(s))
		return e;
	e = sx_filter_cuda_finish(s, &tap[SX_TAP_SPECKLE], &tap[SX_TAP_DISPARITY], &tap[SX_TAP_CONFIDENCE],
				  x->stream);
	return e ? e : done(x, SX_STAGE_SMOOTH);
}

static cudaError_t chain_reduce(struct sx_context *x)
{
	const struct sx_stixel_params *p = &x->config.params.stixels;
	const struct sx_image *tap = x->taps;
	cudaError_t e;

	e = sx_reduce_cells_cuda_run(&tap[SX_TAP_DISPARITY], &tap[SX_TAP_CONFIDENCE], p->width,
				     sx_cell_height(p), p->reduction, &tap[SX_TAP_COLUMNS],
				     &tap[SX_TAP_COLUMNS_CONFIDENCE], x->stream);
	if (!e && x->scores.cells.data)
		e = sx_reduce_cells_cuda_scores(x->scores.in, x->config.width, x->config.height, p->width,
						sx_cell_height(p), x->config.params.semantics.classes,
						&x->scores.cells, x->stream);
	if (!e)
		e = sx_evidence_cuda_run(&tap[SX_TAP_LEFT], &tap[SX_TAP_COLUMNS],
					 &tap[SX_TAP_COLUMNS_CONFIDENCE], p, &x->cells, &x->cells_confidence,
					 x->stream);
	return e ? e : done(x, SX_STAGE_REDUCE);
}

/*
 * Splits stixels at unmeasured areas. With a map of another process there are no tiles, so stixels stay as
 * they are.
 */
static cudaError_t part_stixels(struct sx_context *x)
{
	const struct sx_unmeasured_column first = sx_taps_column(x->taps, &x->config, &x->road->road, 0, 0);

	if (sx_cuda_is_external(x))
		return cudaSuccess;
	return sx_unmeasured_cuda_run(&first, x->sky.reach, &x->taps[SX_TAP_COLUMNS], &x->segments,
				      &x->config.params.stixels, x->stream);
}

/* Cuts ground at borders of its classes, if pairs may have scores. */
static cudaError_t cut_stixels(struct sx_context *x)
{
	return x->scores.cells.data
		       ? sx_class_cut_cuda_run(&x->class_cut, x->scores.in, &x->taps[SX_TAP_COLUMNS],
					       &x->scores.cells, &x->segments, x->stream)
		       : cudaSuccess;
}

static cudaError_t choose_stixels(struct sx_context *x)
{
	const struct sx_image *columns = &x->cells;
	const struct sx_cuda_stages *s = &x->stages;

	if (s->slanted)
		return sx_slanted_cuda_run(s->slanted, columns, &x->cells_confidence, &x->scores.cells,
					   &x->segments, x->stream);
	return s->rdp ? sx_rdp_cuda_run(s->rdp, x->road, columns, &x->segments, x->stream)
		      : sx_dp_cuda_run(s->dp, x->road, columns, &x->segments, x->stream);
}

/* Chooses the stixels. The stage's time begins when both road and reduction are done. */
static cudaError_t chain_segment(struct sx_context *x)
{
	const struct sx_image *columns = &x->taps[SX_TAP_COLUMNS];
	cudaError_t e;

	if ((e = side_join(x, &x->side)) || (e = sx_cuda_mark(stamp(x, SX_STAMP_JOINED), x->stream)))
		return e;
	x->clock.last = SX_STAMP_JOINED;
	if ((e = sx_sky_cuda_weigh(&x->sky, x->road, &x->config.params, &x->taps[SX_TAP_COLUMNS], &x->cells,
				   &x->cells_confidence, x->stream)) ||
	    (e = choose_stixels(x)) || (e = part_stixels(x)) || (e = cut_stixels(x)) ||
	    (e = done(x, SX_STAGE_SEGMENT)) || (e = chain_counts(x)))
		return e;
	begin(x, SX_STAGE_COMPACT);
	e = sx_compact_cuda_run(x->stages.compact, &x->segments, columns, &x->taps[SX_TAP_COLUMNS_CONFIDENCE],
				x->road, x->output_device, x->offsets_device, x->stixels_device, x->stream);
	if (!e)
		e = side_join(x, &x->watch);
	if (e || !x->clock.stamps)
		return e;
	if (x->config.chain) /* the graph of motion delivers the stamps */
		return sx_cuda_mark(stamp(x, SX_STAGE_COMPACT), x->stream);
	return sx_stamps_cuda_deliver(x->clock.stamps, SX_STAMP_COUNT, x->clock.host_device, x->stream);
}

static cudaError_t chain_run(struct sx_context *x)
{
	cudaError_t e;

	for (int i = 0; i < SX_STAGE_COUNT; i++)
		x->clock.since[i] = -1;
	x->clock.last = SX_STAMP_BEGIN;
	if ((e = sx_cuda_mark(stamp(x, SX_STAMP_BEGIN), x->stream)) || (e = chain_match(x)) ||
	    (e = chain_filter(x)) || (e = chain_reduce(x)))
		return e;
	return chain_segment(x);
}

/* Captures what `run` launches. */
static cudaError_t capture(struct sx_context *x, cudaError_t (*run)(struct sx_context *x),
			   cudaGraphExec_t *ret)
{
	cudaGraph_t graph = NULL;
	cudaError_t e, end;

	/* thread local: other threads may use the device during the capture */
	e = cudaStreamBeginCapture(x->stream, cudaStreamCaptureModeThreadLocal);
	if (e)
		return e;
	e = run(x);
	end = cudaStreamEndCapture(x->stream, &graph);
	if (!e)
		e = end;
	if (!e)
		e = cudaGraphInstantiateWithFlags(ret, graph, 0);
	if (graph)
		cudaGraphDestroy(graph);
	return e ? e : cudaGraphUpload(*ret, x->stream);
}

cudaError_t sx_cuda_graph_create(struct sx_context *x)
{
	cudaError_t e = capture(x, chain_run, &x->graph);

	return e || !x->config.chain ? e : capture(x, sx_cuda_motion_run, &x->motion.graph);
}

/*
 * Adjusts the clock offset so that the frame begins after its submission and ends before its completion on
 * the host.
 */
static void follow_clock(struct sx_stage_clock *c, int64_t started_ns, int64_t finished_ns)
{
	const int64_t least_ns = started_ns - (int64_t)c->host[SX_STAMP_BEGIN];
	const int64_t most_ns = finished_ns - (int64_t)c->host[SX_STAMP_END];

	if (!c->has_offset)
		c->offset_ns = most_ns;
	c->has_offset = true;
	c->offset_ns = c->offset_ns > most_ns ? most_ns : c->offset_ns;
	c->offset_ns = c->offset_ns < least_ns ? least_ns : c->offset_ns;
}

void sx_cuda_graph_times(struct sx_context *x)
{
	struct sx_stage_clock *c = &x->clock;
	struct sx_result *r = &x->result;

	if (!c->stamps)
		return;
	if (x->config.chain) {
		c->since[SX_STAGE_MOTION] = SX_STAMP_MOVES;
		c->host[SX_STAGE_MOTION] = c->host[SX_STAMP_END];
	} else {
		c->host[SX_STAGE_COMPACT] = c->host[SX_STAMP_END];
	}
	for (int i = 0; i < SX_STAGE_COUNT; i++)
		if (c->since[i] >= 0)
			r->stage_ns[i] = (int64_t)(c->host[i] - c->host[c->since[i]]);
	follow_clock(c, r->started_ns, r->finished_ns);
	r->device_ns[0] = (int64_t)c->host[SX_STAMP_BEGIN] + c->offset_ns;
	r->device_ns[1] = (int64_t)c->host[SX_STAMP_END] + c->offset_ns;
}
