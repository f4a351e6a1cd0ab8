/*
 * The chain of a frame, captured once into a graph: stages in their order, the road beside the reduction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/host/engine_priv.h"
#include "gpu/stamp.h"
#include "gpu/zncc/zncc_cuda.h"
#include "stages/stixels/cells.h"

static uint64_t *stamp(const struct sx_context *x, int index)
{
	return x->clock.stamps ? x->clock.stamps + index : NULL;
}

/* From here on time is that of stage, which ends with stamp number stage. */
static void begin(struct sx_context *x, enum sx_stage stage)
{
	x->clock.since[stage] = x->clock.last;
	x->clock.last = (int)stage;
}

/* The end of a stage on the main stream. */
static cudaError_t done(struct sx_context *x, enum sx_stage stage)
{
	begin(x, stage);
	return sx_cuda_mark(stamp(x, stage), x->stream);
}

/* What windows bring, and with sx_sgm_cuda_run() the cost volume, whose time is the census's too. */
static cudaError_t ingest_windows(struct sx_context *x)
{
	const struct sx_image *tap = x->taps;
	cudaError_t e;

	if ((e = sx_ingest_cuda_run(x->stages.ingest, x->ingest_input, &tap[SX_TAP_LEFT], x->stream)) ||
	    (e = done(x, SX_STAGE_INGEST)) ||
	    (e = sx_zncc_windows_cuda_run(&tap[SX_TAP_LEFT], &tap[SX_TAP_LEFT_CENSUS],
					  x->config.params.stereo.zncc_window, x->stream)))
		return e;
	x->sides.costs = stamp(x, SX_STAGE_CENSUS);
	begin(x, SX_STAGE_CENSUS);
	return cudaSuccess;
}

/* Together where they can be: then the time of both is the census's. */
static cudaError_t ingest(struct sx_context *x)
{
	const enum sx_cost cost = x->config.params.stereo.cost;
	const struct sx_image *tap = x->taps;
	cudaError_t e;

	if (cost == SX_COST_ZNCC)
		return ingest_windows(x);
	if (x->config.pixel != SX_PIXEL_Y16) {
		e = sx_ingest_census_cuda_run(x->ingest_input, x->config.pixel, &tap[SX_TAP_LEFT],
					      &tap[SX_TAP_LEFT_CENSUS], cost, x->stream);
		return e ? e : done(x, SX_STAGE_CENSUS);
	}
	if ((e = sx_ingest_cuda_run(x->stages.ingest, x->ingest_input, &tap[SX_TAP_LEFT], x->stream)) ||
	    (e = done(x, SX_STAGE_INGEST)) ||
	    (e = sx_census_cuda_run(&tap[SX_TAP_LEFT], &tap[SX_TAP_LEFT_CENSUS], cost, x->stream)))
		return e;
	return done(x, SX_STAGE_CENSUS);
}

static cudaError_t match(struct sx_context *x)
{
	const struct sx_image *tap = x->taps;
	cudaError_t e;

	if ((e = ingest(x)))
		return e;
	/* marks the end of aggregation itself */
	x->sides.between = stamp(x, SX_STAGE_SGM);
	begin(x, SX_STAGE_SGM);
	if (x->stages.fastdt)
		e = sx_fastdt_cuda_run(x->stages.fastdt, &tap[SX_TAP_LEFT], &tap[SX_TAP_LEFT_CENSUS],
				       &tap[SX_TAP_WINNER], &tap[SX_TAP_WINNER_RIGHT],
				       &tap[SX_TAP_CONFIDENCE], &x->sides, x->stream);
	else
		e = sx_sgm_cuda_run(x->stages.sgm, &tap[SX_TAP_LEFT], &tap[SX_TAP_LEFT_CENSUS],
				    &tap[SX_TAP_WINNER], &tap[SX_TAP_WINNER_RIGHT], &tap[SX_TAP_CONFIDENCE],
				    &x->sides, x->stream);
	return e ? e : done(x, SX_STAGE_WINNER);
}

/* All filters run as one: their time is that of the first. */
static cudaError_t filter(struct sx_context *x)
{
	const struct sx_image *tap = x->taps;
	cudaError_t e;

	e = sx_filter_cuda_run(x->stages.filter, &tap[SX_TAP_WINNER], &tap[SX_TAP_MEDIAN],
			       &tap[SX_TAP_LEFT_RIGHT], &tap[SX_TAP_DISPARITY], &tap[SX_TAP_CONFIDENCE],
			       x->stream);
	return e ? e : done(x, SX_STAGE_MEDIAN);
}

/* Few blocks, one after the other: runs beside the reduction, which fills the rest of the device. */
static cudaError_t find_road(struct sx_context *x, cudaStream_t side)
{
	cudaError_t e;

	x->clock.since[SX_STAGE_ROAD] = x->clock.last;
	if ((e = cudaEventRecord(x->sides.fork, x->stream)) ||
	    (e = cudaStreamWaitEvent(side, x->sides.fork, 0)) ||
	    (e = sx_road_cuda_run(x->stages.road, &x->taps[SX_TAP_DISPARITY], x->input_device, x->road,
				  side)) ||
	    (e = sx_cuda_mark(stamp(x, SX_STAGE_ROAD), side)))
		return e;
	return cudaEventRecord(x->sides.join[0], side);
}

static cudaError_t reduce(struct sx_context *x)
{
	const struct sx_stixel_params *p = &x->config.params.stixels;
	const struct sx_image *tap = x->taps;
	cudaError_t e;

	e = sx_cells_cuda_run(&tap[SX_TAP_DISPARITY], &tap[SX_TAP_CONFIDENCE], p->width, sx_cell_height(p),
			      p->reduction, &tap[SX_TAP_COLUMNS], &tap[SX_TAP_COLUMNS_CONFIDENCE], x->stream);
	if (!e && x->scores.cells.data)
		e = sx_cells_cuda_scores(x->scores.in, x->config.width, x->config.height, p->width,
					 sx_cell_height(p), x->config.params.semantics.classes,
					 &x->scores.cells, x->stream);
	return e ? e : done(x, SX_STAGE_REDUCE);
}

static cudaError_t choose_stixels(struct sx_context *x)
{
	const struct sx_image *columns = &x->taps[SX_TAP_COLUMNS];
	const struct sx_cuda_stages *s = &x->stages;

	if (s->slanted)
		return sx_slanted_cuda_run(s->slanted, x->road, x->scores.in, columns,
					   &x->taps[SX_TAP_COLUMNS_CONFIDENCE], &x->scores.cells,
					   &x->segments, x->stream);
	return s->rdp ? sx_rdp_cuda_run(s->rdp, x->road, columns, &x->segments, x->stream)
		      : sx_dp_cuda_run(s->dp, x->road, columns, &x->segments, x->stream);
}

/* Its time begins when both road and reduction are done. */
static cudaError_t segment(struct sx_context *x)
{
	const struct sx_image *columns = &x->taps[SX_TAP_COLUMNS];
	cudaError_t e;

	if ((e = cudaStreamWaitEvent(x->stream, x->sides.join[0], 0)) ||
	    (e = sx_cuda_mark(stamp(x, SX_STAMP_JOINED), x->stream)))
		return e;
	x->clock.last = SX_STAMP_JOINED;
	e = choose_stixels(x);
	if (e || (e = done(x, SX_STAGE_SEGMENT)))
		return e;
	begin(x, SX_STAGE_COMPACT);
	e = sx_compact_cuda_run(x->stages.compact, &x->segments, columns, &x->taps[SX_TAP_COLUMNS_CONFIDENCE],
				x->road, x->output_device, x->offsets_device, x->stixels_device, x->stream);
	if (e || !x->clock.stamps)
		return e;
	return sx_stamps_cuda_deliver(x->clock.stamps, SX_STAMP_COUNT, x->clock.host_device, x->stream);
}

static cudaError_t run_chain(struct sx_context *x)
{
	cudaError_t e;

	for (int i = 0; i < SX_STAGE_COUNT; i++)
		x->clock.since[i] = -1;
	x->clock.last = SX_STAMP_BEGIN;
	if ((e = sx_cuda_mark(stamp(x, SX_STAMP_BEGIN), x->stream)) || (e = match(x)) || (e = filter(x)) ||
	    (e = find_road(x, x->sides.side[0])) || (e = reduce(x)))
		return e;
	return segment(x);
}

cudaError_t sx_cuda_graph_create(struct sx_context *x)
{
	cudaGraph_t graph = NULL;
	cudaError_t e, end;

	/* thread local: what other threads do with the device meanwhile is their affair */
	e = cudaStreamBeginCapture(x->stream, cudaStreamCaptureModeThreadLocal);
	if (e)
		return e;
	e = run_chain(x);
	end = cudaStreamEndCapture(x->stream, &graph);
	if (!e)
		e = end;
	if (!e)
		e = cudaGraphInstantiateWithFlags(&x->graph, graph, 0);
	if (graph)
		cudaGraphDestroy(graph);
	return e ? e : cudaGraphUpload(x->graph, x->stream);
}

/* Keeps begin and end of the frame on the device between submission and completion on the host. */
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
	c->host[SX_STAGE_COMPACT] = c->host[SX_STAMP_END];
	for (int i = 0; i < SX_STAGE_COUNT; i++)
		if (c->since[i] >= 0)
			r->stage_ns[i] = (int64_t)(c->host[i] - c->host[c->since[i]]);
	follow_clock(c, r->started_ns, r->finished_ns);
	r->device_ns[0] = (int64_t)c->host[SX_STAMP_BEGIN] + c->offset_ns;
	r->device_ns[1] = (int64_t)c->host[SX_STAMP_END] + c->offset_ns;
}
