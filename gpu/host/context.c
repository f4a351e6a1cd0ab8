/*
 * Creates and destroys a context: memory, stages, streams, graph, and one warm-up frame.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stixel.h>

#include "gpu/diagnostics/diagnostics_cuda.h"
#include "gpu/host/engine_priv.h"
#include "stages/context.h"
#include "stages/stixels/cells.h"
#include "stages/stixels/compact.h"
#include "stages/stixels/reduce.h"

#define WARM_UP_MS 60000
#define MEGA 1000000

/* Takes the device memory that belongs to no stage. */
static void take_own(struct sx_context *x)
{
	struct sx_cuda_memory *m = &x->memory;
	struct sx_cuda_road road = {0};

	sx_cuda_taps_take(x);
	road.ground_q4 = sx_cuda_take(m, (size_t)x->config.height * sizeof(*road.ground_q4));
	x->road = sx_cuda_upload(m, &road, sizeof(road));
	x->diagnostics = sx_diagnostics_cuda_take(m);
}

/* Takes the segment lists. Call after the path sums are taken, because the lists may share their memory. */
static void take_segments(struct sx_context *x)
{
	struct sx_cuda_memory *m = &x->memory;
	const struct sx_stixel_params *p = &x->config.params.stixels;
	const int rows = sx_cell_rows(p, x->config.height), columns = x->segments.columns;
	const size_t lists = (size_t)columns * (size_t)rows;

	x->segments = (struct sx_segments){
		.list = sx_cuda_take_scratch(m, lists * sizeof(*x->segments.list)),
		.count = sx_cuda_take_scratch(m, (size_t)columns * sizeof(*x->segments.count)),
		.total = sx_cuda_take_scratch(m, (size_t)columns * sizeof(*x->segments.total)),
		.columns = columns,
		.capacity = rows,
		.image_height = x->config.height,
		.cell_height = sx_cell_height(p),
	};
}

static void take_cells(struct sx_context *x, struct sx_image *ret, enum sx_pixel pixel)
{
	const struct sx_image *columns = &x->taps[SX_TAP_COLUMNS];

	*ret = (struct sx_image){.width = columns->width, .height = columns->height, .pixel = pixel};
	ret->pitch = ((size_t)columns->width * sx_pixel_bytes(pixel) + 127) / 128 * 128;
	ret->data = sx_cuda_take_scratch(&x->memory, ret->pitch * (size_t)columns->height);
}

/* Takes the memory that host and device share. */
static void take_shared(struct sx_context *x)
{
	struct sx_cuda_memory *m = &x->memory;
	const int columns = x->segments.columns;
	void *device;

	x->input = sx_cuda_take_pinned(m, sizeof(*x->input), &device);
	x->input_device = device;
	x->capacity = (uint32_t)sx_context_stixels(&x->config);
	x->output = sx_cuda_take_pinned(m, sizeof(*x->output), &device);
	x->output_device = device;
	x->offsets = sx_cuda_take_pinned(m, ((size_t)columns + 1) * sizeof(*x->offsets), &device);
	x->offsets_device = device;
	x->stixels = sx_cuda_take_pinned(m, x->capacity * sizeof(*x->stixels), &device);
	x->stixels_device = device;
	x->staging.bytes = sx_cuda_input_bytes(&x->config);
	x->staging.host = sx_cuda_take_pinned(m, x->staging.bytes, &device);
	x->staging.device = device;
	if (x->config.time_stages) {
		x->clock.stamps = sx_cuda_take(m, SX_STAMP_COUNT * sizeof(*x->clock.stamps));
		x->clock.host = sx_cuda_take_pinned(m, SX_STAMP_COUNT * sizeof(*x->clock.host), &device);
		x->clock.host_device = device;
	}
	x->ingest_input = x->input_device;
	if (x->device->mapped)
		return;
	x->raw_bytes = x->staging.bytes;
	x->raw = sx_cuda_take(m, x->raw_bytes);
	x->ingest_input = sx_cuda_take(m, sizeof(*x->ingest_input));
}

/*
 * Takes memory for class scores. Call after the input block is taken: kernels read the layout of the scores
 * in the input block, or in a copy in device memory if the block is beyond a bus.
 */
static void take_scores(struct sx_context *x)
{
	const struct sx_params *p = &x->config.params;
	const int classes = p->semantics.classes, height = x->config.height;
	struct sx_cuda_memory *m = &x->memory;
	struct sx_scores_copy *s = &x->scores;

	if (!sx_is_slanted(&p->stixels) || classes == 0)
		return;
	sx_class_cut_set(&x->class_cut, p);
	sx_cuda_take_image(m, &s->cells, SX_PIXEL_U8, sx_cell_rows(&p->stixels, height) * classes,
			   x->segments.columns);
	s->raw_bytes = sx_cuda_scores_bytes(&x->config);
	s->raw = sx_cuda_take(m, s->raw_bytes);
	s->in = x->device->mapped ? &x->input_device->scores : sx_cuda_take(m, sizeof(*s->in));
}

static int create_aggregation(struct sx_context *x)
{
	struct sx_cuda_stages *s = &x->stages;

	if (sx_cuda_is_external(x))
		return 0;
	if (sx_cuda_is_pyramid(x))
		return sx_pyramid_cuda_create(&s->pyramid, &x->memory, &x->config, x->device->sms);
	sx_cuda_cost_take(x);
	if (x->flow == SX_VOLUME_CHECKPOINT)
		return sx_checkpoint_cuda_create(&s->checkpoint, &x->memory, &x->config, x->device->sms);
	return x->config.params.stereo.aggregation == SX_AGGREGATION_FASTDT
		       ? sx_fastdt_cuda_create(&s->fastdt, &x->memory, &x->config, x->costs)
		       : sx_sgm_cuda_create(&s->sgm, &x->memory, &x->config, x->costs);
}

static int create_segmenter(struct sx_context *x)
{
	const struct sx_params *p = &x->config.params;
	const int h = x->config.height, columns = x->segments.columns, sms = x->device->sms;

	take_cells(x, &x->cells, SX_PIXEL_U16);
	take_cells(x, &x->cells_confidence, SX_PIXEL_U8);
	sx_sky_cuda_take(&x->sky, &x->memory, columns, x->segments.capacity);
	if (sx_is_slanted(&p->stixels))
		return sx_slanted_cuda_create(&x->stages.slanted, &x->memory, p, h, columns, sms);
	return p->stixels.method == SX_STIXEL_RDP
		       ? sx_rdp_cuda_create(&x->stages.rdp, &x->memory, p, h, columns, sms)
		       : sx_dp_cuda_create(&x->stages.dp, &x->memory, p, h, columns, sms);
}

static int create_stages(struct sx_context *x)
{
	const struct sx_context_config *c = &x->config;
	const struct sx_params *p = &c->params;
	struct sx_cuda_stages *s = &x->stages;
	struct sx_cuda_memory *m = &x->memory;
	const int range = sx_disparity_range(&p->stereo);
	int r;

	if ((r = sx_ingest_cuda_create(&s->ingest, m, c)) < 0 || (r = create_aggregation(x)) < 0)
		return r;
	take_segments(x);
	if ((r = sx_filter_cuda_create(&s->filter, m, c, x->device->sms)) < 0 ||
	    (r = sx_road_finder_create(&s->finder, p, c->width, c->height, range)) < 0 ||
	    (r = sx_road_cuda_create(&s->road, m, s->finder, x->device->sms)) < 0 ||
	    (r = create_segmenter(x)) < 0)
		return r;
	return sx_compact_cuda_create(&s->compact, m, p, c->height, x->segments.columns);
}

static void destroy_stages(struct sx_cuda_stages *s)
{
	sx_ingest_cuda_destroy(s->ingest);
	sx_sgm_cuda_destroy(s->sgm);
	sx_pyramid_cuda_destroy(s->pyramid);
	sx_checkpoint_cuda_destroy(s->checkpoint);
	sx_fastdt_cuda_destroy(s->fastdt);
	sx_filter_cuda_destroy(s->filter);
	sx_road_cuda_destroy(s->road);
	sx_road_finder_destroy(s->finder);
	sx_dp_cuda_destroy(s->dp);
	sx_rdp_cuda_destroy(s->rdp);
	sx_slanted_cuda_destroy(s->slanted);
	sx_compact_cuda_destroy(s->compact);
	*s = (struct sx_cuda_stages){0};
}

static int context_take_memory(struct sx_context *x)
{
	int r;

	x->segments.columns = sx_reduce_columns(x->config.width, x->config.params.stixels.width);
	take_own(x);
	take_shared(x);
	sx_cuda_motion_take(x);
	take_scores(x);
	r = create_stages(x);
	if (x->memory.error)
		return sx_cuda_errno(x->memory.error);
	return r;
}

static size_t megabytes(size_t bytes)
{
	return (bytes + MEGA - 1) / MEGA;
}

static int refuse_size(const struct sx_context *x, size_t needed, size_t idle, struct sx_why *why)
{
	const struct sx_device *d = x->device;
	const struct sx_context_config *c = &x->config;
	char contexts[48] = "";

	if (d->contexts > 1)
		snprintf(contexts, sizeof(contexts), " for each of %d contexts", d->contexts);
	return sx_why_fail(
		-ENOMEM, why,
		"engine cuda: %zu MB are needed%s of %dx%d with %d disparities; %zu MB are free on %s",
		megabytes(needed), contexts, c->width, c->height, c->params.stereo.disparities, idle / MEGA,
		d->name);
}

/* Takes all memory. Counts the bytes first, so that it takes nothing if there is not enough. */
static int take_accounted(struct sx_context *x, struct sx_why *why)
{
	const struct sx_device *d = x->device;
	cudaStream_t stream = x->memory.stream;
	size_t needed, idle;
	int r;

	x->memory.counting = true;
	r = context_take_memory(x);
	destroy_stages(&x->stages);
	needed = x->memory.bytes + (d->integrated ? x->memory.pinned_bytes : 0);
	x->memory = (struct sx_cuda_memory){.stream = stream};
	idle = sx_cuda_free_bytes(d);
	if (r == 0 && needed > idle)
		return refuse_size(x, needed, idle, why);
	if (r == 0)
		r = context_take_memory(x);
	if (r == 0)
		return 0;
	cudaGetLastError();
	if (x->memory.error == cudaErrorMemoryAllocation)
		return refuse_size(x, needed, sx_cuda_free_bytes(d), why);
	if (x->memory.error)
		return sx_cuda_complain(why, x->memory.error, "taking memory");
	return sx_why_fail(r, why, "engine cuda: tables for %dx%d and %d disparities: %s", x->config.width,
			   x->config.height, x->config.params.stereo.disparities, strerror(-r));
}

static cudaError_t create_side(struct sx_device *d, struct sx_side_stream *s)
{
	cudaError_t e;

	if ((e = sx_cuda_stream(d, &s->stream)) ||
	    (e = cudaEventCreateWithFlags(&s->fork, cudaEventDisableTiming)))
		return e;
	return cudaEventCreateWithFlags(&s->join, cudaEventDisableTiming);
}

static cudaError_t create_events(struct sx_context *x)
{
	cudaError_t e;

	if ((e = create_side(x->device, &x->side)) || (e = create_side(x->device, &x->watch)))
		return e;
	return cudaEventCreateWithFlags(&x->copied, cudaEventDisableTiming);
}

static void destroy_side(const struct sx_side_stream *s)
{
	if (s->fork)
		cudaEventDestroy(s->fork);
	if (s->join)
		cudaEventDestroy(s->join);
	if (s->stream)
		cudaStreamDestroy(s->stream);
}

static void destroy_events(struct sx_context *x)
{
	destroy_side(&x->side);
	destroy_side(&x->watch);
	if (x->copied)
		cudaEventDestroy(x->copied);
}

/* Runs a black frame, so that the first real frame finds code, clocks and memory as later frames do. */
static int warm_up(struct sx_context *x, struct sx_why *why)
{
	const struct sx_context_config *c = &x->config;
	const struct sx_image black = {(void *)(uintptr_t)x->staging.host, sx_context_pair_width(c),
				       sx_context_pair_height(c), sx_cuda_input_row(c), c->pixel};
	const struct sx_pair pair = {.left = black, .right = black};
	cudaError_t e = sx_cuda_input_set(x, &pair, NULL);
	int r;

	if (!e)
		e = sx_cuda_launch(x, NULL);
	if (e)
		return sx_cuda_complain(why, e, "the first frame does not start");
	r = sx_completion_wait(&x->completion, WARM_UP_MS);
	r = r > 0 ? sx_cuda_collect(x) : r == 0 ? -ETIMEDOUT : r;
	if (r < 0)
		sx_why_set(why, "the first frame fails: %s",
			   !sx_why_is_empty(&x->device->failure) ? x->device->failure.text : strerror(-r));
	return r;
}

static int build(struct sx_context *x, struct sx_why *why)
{
	struct sx_device *d = x->device;
	cudaError_t e;
	int r;

	if ((e = sx_cuda_enter(d)) || (e = sx_cuda_stream(d, &x->stream)) || (e = create_events(x)))
		return sx_cuda_complain(why, e, "streams and events");
	x->memory.stream = x->stream;
	r = take_accounted(x, why);
	if (r < 0)
		return r;
	x->result.stixels = x->stixels;
	x->result.offsets = x->offsets;
	x->result.columns = (uint32_t)x->segments.columns;
	x->own_bytes = sizeof(*x) + x->memory.bytes + x->memory.pinned_bytes;
	sx_cuda_motion_results(x);
	atomic_fetch_add_explicit(&d->bytes, x->own_bytes, memory_order_relaxed);
	r = sx_completion_init(&x->completion, d, x->config.busy_wait, why);
	if (r < 0)
		return r;
	e = sx_cuda_graph_create(x);
	if (e) {
		cudaGetLastError();
		return sx_cuda_complain(why, e, "capturing the frame");
	}
	return warm_up(x, why);
}

int sx_cuda_context_create(struct sx_context **ret, struct sx_device *d, const struct sx_context_config *c,
			   struct sx_why *why)
{
	int r = sx_context_check(c, sx_backend_cuda.name, SX_CUDA_ABILITIES, why);
	struct sx_context *x;

	if (r < 0)
		return r;
	x = calloc(1, sizeof(*x));
	if (!x || !(x->peeks = calloc(SX_TAP_COUNT, sizeof(*x->peeks)))) {
		sx_why_set(why, "engine cuda: out of memory");
		free(x);
		return -ENOMEM;
	}
	x->device = d;
	x->completion.fd = -1;
	x->config = *c;
	sx_context_resolve(&x->config.params);
	sx_cuda_volume_choose(x);
	r = build(x, why);
	if (r < 0) {
		sx_cuda_context_destroy(x);
		return r;
	}
	*ret = x;
	return 0;
}

void sx_cuda_context_destroy(struct sx_context *x)
{
	if (!x)
		return;
	sx_cuda_enter(x->device);
	if (x->busy)
		sx_completion_wait(&x->completion, -1); /* the device still reads the pair */
	sx_completion_finish(&x->completion);
	if (x->graph)
		cudaGraphExecDestroy(x->graph);
	destroy_stages(&x->stages);
	sx_cuda_motion_finish(&x->motion);
	sx_cuda_taps_finish(x);
	sx_cuda_memory_finish(&x->memory);
	destroy_events(x);
	if (x->stream)
		cudaStreamDestroy(x->stream);
	cudaGetLastError();
	atomic_fetch_sub_explicit(&x->device->bytes, x->own_bytes, memory_order_relaxed);
	free(x->peeks);
	free(x);
}
