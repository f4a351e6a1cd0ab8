/*
 * Taps: the output of each stage in device memory, and host copies for checks and viewers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "gpu/host/engine_priv.h"
#include "gpu/stereo/winner_cuda.h"
#include "stages/taps.h"

void sx_cuda_taps_take(struct sx_context *x)
{
	const bool without_volume = x->flow == SX_VOLUME_RECOMPUTE || x->flow == SX_VOLUME_CHECKPOINT;

	for (int i = 0; i < SX_TAP_COUNT; i++) {
		const struct sx_tap_shape s = sx_tap_shape(&x->config, (enum sx_tap)i);

		if (!sx_tap_exists(&x->config, (enum sx_tap)i))
			continue;
		if (i == SX_TAP_RIGHT_CENSUS && without_volume)
			sx_descriptors_cuda_take(&x->memory, &x->taps[i], &x->config);
		else if (sx_tap_is_kept(&x->config, (enum sx_tap)i))
			sx_cuda_take_image(&x->memory, &x->taps[i], s.pixel, s.width, s.height);
	}
	sx_taps_share(&x->config, x->taps);
	if (sx_cuda_is_external(x) && x->config.params.filters.median)
		sx_cuda_take_image(&x->memory, &x->unused_median, SX_PIXEL_U16, x->config.width,
				   x->config.height);
}

static int take_copy(const struct sx_context *x, struct sx_peek *p, size_t bytes)
{
	cudaError_t e;

	if (p->host)
		return 0;
	e = cudaHostAlloc(&p->host, bytes, cudaHostAllocPortable);
	if (e) {
		cudaGetLastError();
		p->host = NULL;
		return e == cudaErrorMemoryAllocation ? -ENOMEM
						      : sx_cuda_fail(x->device, e, "taking memory for a map");
	}
	p->bytes = bytes;
	atomic_fetch_add_explicit(&x->device->bytes, bytes, memory_order_relaxed);
	return 0;
}

static const struct sx_cuda_volumes *volumes_of(const struct sx_context *x)
{
	return x->stages.checkpoint ? sx_checkpoint_cuda_volumes(x->stages.checkpoint)
				    : sx_sgm_cuda_volumes(x->stages.sgm);
}

/* Writes S of the last frame from the volumes of the paths. */
static cudaError_t write_sum(const struct sx_context *x, const struct sx_image *sum)
{
	const struct sx_pyramid_images i = sx_cuda_pyramid_images(x);

	if (x->stages.pyramid)
		return sx_pyramid_cuda_sum(x->stages.pyramid, &i, sum, x->stream);
	if (x->stages.fastdt)
		return sx_fastdt_cuda_sum(x->stages.fastdt, sum, x->stream);
	return sx_winner_cuda_sum(volumes_of(x), &x->config.params.stereo, sum, x->stream);
}

/*
 * Copies a tap to the host on the context's own stream, which is idle because the frame has been waited for.
 * The copy takes tens of microseconds, less than a thread takes to sleep and wake, so CUDA's default way of
 * waiting is best here.
 */
static cudaError_t copy(const struct sx_context *x, enum sx_tap tap, const struct sx_peek *p)
{
	const struct sx_image *img = &x->taps[tap];
	cudaError_t e = sx_cuda_enter(x->device);

	if (!e && tap == SX_TAP_SUM)
		e = write_sum(x, img);
	if (!e)
		e = cudaMemcpyAsync(p->host, img->data, p->bytes, cudaMemcpyDeviceToHost, x->stream);
	if (!e)
		e = cudaEventRecord(x->copied, x->stream);
	return e ? e : cudaEventSynchronize(x->copied);
}

int sx_cuda_taps_peek(const struct sx_context *x, enum sx_tap tap, struct sx_image *view)
{
	const struct sx_image *img = &x->taps[tap];
	struct sx_peek *p = &x->peeks[tap];
	cudaError_t e;
	int r;

	if (!img->data)
		return -ENOENT;
	if (x->busy)
		return -EBUSY;
	if (x->device->lost)
		return -EIO;
	r = take_copy(x, p, img->pitch * (size_t)img->height);
	if (r < 0)
		return r;
	if (p->number != x->number) {
		e = copy(x, tap, p);
		if (e)
			return sx_cuda_fail(x->device, e, "copying a map to the host");
		atomic_fetch_add_explicit(&x->device->peeks, 1, memory_order_relaxed);
		p->number = x->number;
	}
	*view = *img;
	view->data = p->host;
	return 0;
}

void sx_cuda_taps_finish(struct sx_context *x)
{
	for (int i = 0; x->peeks && i < SX_TAP_COUNT; i++)
		if (x->peeks[i].host) {
			cudaFreeHost(x->peeks[i].host);
			atomic_fetch_sub_explicit(&x->device->bytes, x->peeks[i].bytes, memory_order_relaxed);
		}
}
