/*
 * A part of a GPU: a green context of the driver, which limits its streams to some multiprocessors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_HOST_GREEN_CONTEXT_H
#define SX_GPU_HOST_GREEN_CONTEXT_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

struct sx_green;

/*
 * At least sms multiprocessors of a device, as few as it can split off. rest: all others instead, for what
 * runs beside those. granted: how many it has. The device's primary context must exist (cudaSetDevice() and a
 * call that uses it). Needs CUDA 12.5 in build and driver. -ENOTSUP: not with this driver or build, -EINVAL:
 * the device has fewer, -EIO; with a sentence in why.
 */
int sx_green_create(struct sx_green **ret, int device, int sms, bool rest, int *granted, char *why,
		    size_t why_bytes);
/* After its streams. Accepts NULL. */
void sx_green_destroy(struct sx_green *g);
/* Makes it the calling thread's context. */
cudaError_t sx_green_enter(const struct sx_green *g);
/* A stream that does not wait for the default stream. */
cudaError_t sx_green_stream(const struct sx_green *g, int priority, cudaStream_t *ret);

#endif
