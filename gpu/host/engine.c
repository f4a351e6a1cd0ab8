/*
 * Interface of the CUDA engine: submit, wait, result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gpu/host/engine.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "gpu/host/engine_priv.h"
#include "stages/context.h"

cudaError_t sx_cuda_launch(struct sx_context *x, const struct sx_pair *pair)
{
	cudaError_t e = cudaGraphLaunch(x->graph, x->stream);

	if (e)
		return e;
	if (x->config.chain && pair)
		e = sx_cuda_motion_launch(x, pair->left_ns);
	else if (x->config.chain)
		x->motion.shared->done = x->number;
	return e ? e : sx_completion_submit(&x->completion, x->stream);
}

int sx_cuda_collect(struct sx_context *x)
{
	struct sx_device *d = x->device;
	const cudaError_t e = x->completion.error;
	const uint32_t moved = x->config.chain ? x->motion.shared->done : x->number;

	if (e)
		return sx_cuda_fail(d, e, "computing a frame");
	if (x->output->number == x->number && moved == x->number && x->output->count <= x->capacity &&
	    x->output->count == x->offsets[x->result.columns])
		return 0;
	d->lost = cudaErrorUnknown;
	return sx_why_fail(
		-EIO, &d->failure,
		"engine cuda: frame %u left the record of frame %u, with %u stixels: it was not computed",
		x->number, moved == x->number ? x->output->number : moved, x->output->count);
}

static void count(struct sx_device *d, const struct sx_transfers *came)
{
	atomic_fetch_add_explicit(&d->frames, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&d->copies_in, came->copies_in, memory_order_relaxed);
	atomic_fetch_add_explicit(&d->copied_bytes, came->copied_bytes, memory_order_relaxed);
	atomic_fetch_add_explicit(&d->staged, came->staged, memory_order_relaxed);
}

/*
 * Submits a pair. images_read is never called, because kernels may read the pair in place until the frame is
 * done.
 */
static int cuda_submit(struct sx_context *x, const struct sx_pair *pair, const struct sx_road *previous,
		       sx_images_read_fn *images_read, void *user)
{
	struct sx_device *d = x->device;
	cudaError_t e;

	if (x->busy)
		return -EBUSY;
	if (sx_context_check_pair(&x->config, pair) < 0)
		return -EINVAL;
	if (d->lost)
		return -EIO;
	x->result.started_ns = sx_now_ns();
	e = sx_cuda_enter(d);
	if (!e)
		e = sx_cuda_input_set(x, pair, previous);
	if (!e)
		e = sx_cuda_launch(x, pair);
	if (e)
		return sx_cuda_fail(d, e, "starting a frame");
	x->busy = true;
	count(d, &x->came);
	return 0;
}

static int cuda_event_fd(const struct sx_context *x)
{
	return x->completion.fd;
}

static bool cuda_nearly_done(const struct sx_context *x, int64_t *from_ns, int64_t *until_ns)
{
	return x->busy && sx_completion_nearly(&x->completion, from_ns, until_ns);
}

static int cuda_wait(struct sx_context *x, int timeout_ms)
{
	int r;

	if (!x->busy)
		return -ENODATA;
	r = sx_completion_wait(&x->completion, timeout_ms);
	if (r <= 0)
		return r;
	x->busy = false;
	r = sx_cuda_collect(x);
	if (r < 0)
		return r;
	x->result.finished_ns = x->completion.finished_ns;
	x->result.count = x->output->count;
	x->result.road = x->output->road;
	x->result.diagnostics = x->output->diagnostics;
	x->result.stretch = x->output->stretch;
	if (x->result.road.origin == SX_ROAD_MEASURED)
		sx_road_describe(&x->config.params.camera, &x->result.road);
	if (x->config.chain)
		x->result.motion_span_ns = x->motion.shared->turn.span_ns;
	sx_cuda_graph_times(x);
	return 1;
}

static const struct sx_result *cuda_result(const struct sx_context *x)
{
	return &x->result;
}

static const char *cuda_describe(const struct sx_device *d)
{
	return d->description;
}

static size_t cuda_memory(const struct sx_device *d)
{
	return sizeof(*d) + atomic_load_explicit(&d->bytes, memory_order_relaxed);
}

static void cuda_transfers(const struct sx_device *d, struct sx_transfers *t)
{
	*t = (struct sx_transfers){
		.path = d->mapped ? "mapped" : "copy",
		.frames = atomic_load_explicit(&d->frames, memory_order_relaxed),
		.copies_in = atomic_load_explicit(&d->copies_in, memory_order_relaxed),
		.copied_bytes = atomic_load_explicit(&d->copied_bytes, memory_order_relaxed),
		.staged = atomic_load_explicit(&d->staged, memory_order_relaxed),
		.peeks = atomic_load_explicit(&d->peeks, memory_order_relaxed),
	};
}

static const char *cuda_failure(const struct sx_device *d)
{
	return d->failure.text;
}

static const char *cuda_bus_id(const struct sx_device *d)
{
	return *d->bus_id ? d->bus_id : NULL;
}

static size_t cuda_traffic(const struct sx_context *x)
{
	const struct sx_cuda_stages *s = &x->stages;

	if (sx_cuda_is_external(x) || s->pyramid) /* pyramid: as many as the images need */
		return 0;
	if (s->fastdt)
		return sx_fastdt_cuda_traffic(s->fastdt);
	return s->checkpoint ? sx_checkpoint_cuda_traffic(s->checkpoint) : sx_sgm_cuda_traffic(s->sgm);
}

static const char *cuda_volume(const struct sx_context *x)
{
	return x->volume.text;
}

const struct sx_backend sx_backend_cuda = {
	.name = "cuda",
	.open = sx_cuda_open,
	.close = sx_cuda_close,
	.describe = cuda_describe,
	.context_create = sx_cuda_context_create,
	.context_destroy = sx_cuda_context_destroy,
	.chain_create = sx_cuda_chain_create,
	.chain_destroy = sx_cuda_chain_destroy,
	.submit = cuda_submit,
	.event_fd = cuda_event_fd,
	.wait = cuda_wait,
	.nearly_done = cuda_nearly_done,
	.result = cuda_result,
	.peek = sx_cuda_taps_peek,
	.memory = cuda_memory,
	.pin = sx_cuda_pin,
	.unpin = sx_cuda_unpin,
	.transfers = cuda_transfers,
	.failure = cuda_failure,
	.bus_id = cuda_bus_id,
	.traffic = cuda_traffic,
	.volume = cuda_volume,
	.facts = sx_cuda_facts,
};
