/*
 * Motion between frames: the chain that the frames of contexts join, and what a context has for it. The kernels of a
 * frame's motion are a graph of their own, which follows that of the frame on its stream. An event makes it wait for
 * the motion of the frame before, which another context may compute.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/host/engine_priv.h"
#include "gpu/stamp.h"
#include "stages/stixels/reduce.h"
#include "stages/taps.h"

void sx_cuda_chain_destroy(struct sx_chain *chain)
{
	if (!chain)
		return;
	sx_cuda_enter(chain->device);
	sx_motion_cuda_destroy(chain->motion);
	sx_cuda_memory_finish(&chain->memory);
	if (chain->measured)
		cudaEventDestroy(chain->measured);
	cudaGetLastError();
	atomic_fetch_sub_explicit(&chain->device->bytes, chain->bytes, memory_order_relaxed);
	free(chain);
}

/* Takes the memory of a chain. Its content is written on a stream that exists only meanwhile. */
static cudaError_t take(struct sx_chain *chain, const struct sx_context_config *c)
{
	const struct sx_motion_cuda_size size = {
		.camera = c->params.camera,
		.image_width = c->width,
		.image_height = c->height,
		.columns = sx_reduce_columns(c->width, c->params.stixels.width),
		.width = c->params.stixels.width,
		.most = (uint32_t)sx_context_stixels(c),
		.sms = chain->device->sms,
	};
	struct sx_cuda_memory *m = &chain->memory;
	cudaError_t e;

	if ((e = sx_cuda_enter(chain->device)) || (e = sx_cuda_stream(chain->device, &m->stream)) ||
	    (e = cudaEventCreateWithFlags(&chain->measured, cudaEventDisableTiming)))
		return e;
	if (sx_motion_cuda_create(&chain->motion, m, &size) < 0 && !m->error)
		m->error = cudaErrorMemoryAllocation;
	return m->error;
}

int sx_cuda_chain_create(struct sx_chain **ret, struct sx_device *d, const struct sx_context_config *c,
			 struct sx_why *why)
{
	struct sx_chain *chain;
	cudaError_t e;

	if (c->params.motion.mode == SX_MOTION_MODE_FILTER)
		return sx_chain_refuse(c, why);
	chain = calloc(1, sizeof(*chain));
	if (!chain)
		return sx_why_fail(-ENOMEM, why, "engine cuda: out of memory");
	chain->device = d;
	sx_motion_ring_init(&chain->ring);
	e = take(chain, c);
	if (chain->memory.stream)
		cudaStreamDestroy(chain->memory.stream);
	chain->memory.stream = NULL;
	if (e) {
		cudaGetLastError();
		sx_cuda_chain_destroy(chain);
		return sx_cuda_complain(why, e, "taking memory for motion");
	}
	chain->bytes = sizeof(*chain) + chain->memory.bytes;
	atomic_fetch_add_explicit(&d->bytes, chain->bytes, memory_order_relaxed);
	*ret = chain;
	return 0;
}

void sx_cuda_motion_take(struct sx_context *x)
{
	const struct sx_motion_cells cells = sx_motion_cells(x->config.width, x->config.height);
	const size_t count = (size_t)(cells.columns * cells.rows);
	struct sx_cuda_motion *own = &x->motion;
	struct sx_cuda_memory *m = &x->memory;
	void *device;

	if (!x->config.chain)
		return;
	own->shared = sx_cuda_take_pinned(m, sizeof(*own->shared), &device);
	own->shared_device = device;
	own->velocities = sx_cuda_take_pinned(m, x->capacity * sizeof(*own->velocities), &device);
	own->velocities_device = device;
	own->features = sx_cuda_take(m, count * sizeof(*own->features));
	own->flows = sx_cuda_take(m, count * sizeof(*own->flows));
	x->taps[SX_TAP_FEATURES] =
		sx_taps_records(x->config.width, x->config.height, own->features, sizeof(*own->features));
	x->taps[SX_TAP_FLOWS] =
		sx_taps_records(x->config.width, x->config.height, own->flows, sizeof(*own->flows));
}

void sx_cuda_motion_results(struct sx_context *x)
{
	if (!x->config.chain)
		return;
	x->result.ego = &x->motion.shared->ego;
	x->result.velocities = x->motion.velocities;
}

void sx_cuda_motion_finish(struct sx_cuda_motion *own)
{
	if (own->graph)
		cudaGraphExecDestroy(own->graph);
}

cudaError_t sx_cuda_motion_run(struct sx_context *x)
{
	const struct sx_cuda_motion *own = &x->motion;
	const struct sx_motion_cuda_frame f = {
		.turn = &own->shared_device->turn,
		.number = &own->shared_device->number,
		.left = &x->taps[SX_TAP_LEFT],
		.disparity = &x->taps[SX_TAP_DISPARITY],
		.road = x->road,
		.count = &x->output_device->count,
		.offsets = x->offsets_device,
		.stixels = x->stixels_device,
		.features = own->features,
		.flows = own->flows,
		.ego = &own->shared_device->ego,
		.velocities = own->velocities_device,
		.done = &own->shared_device->done,
	};
	cudaError_t e;

	if ((e = sx_cuda_mark(x->clock.stamps ? x->clock.stamps + SX_STAMP_MOVES : NULL, x->stream)) ||
	    (e = sx_motion_cuda_run(x->config.chain->motion, &f, x->stream)) || !x->clock.stamps)
		return e;
	return sx_stamps_cuda_deliver(x->clock.stamps, SX_STAMP_COUNT, x->clock.host_device, x->stream);
}

cudaError_t sx_cuda_motion_launch(struct sx_context *x, int64_t captured_ns)
{
	struct sx_chain *chain = x->config.chain;
	cudaError_t e;

	x->motion.shared->turn = sx_motion_ring_next(&chain->ring, captured_ns);
	x->motion.shared->number = x->number;
	if ((e = cudaStreamWaitEvent(x->stream, chain->measured, 0)) ||
	    (e = cudaGraphLaunch(x->motion.graph, x->stream)))
		return e;
	return cudaEventRecord(chain->measured, x->stream);
}
