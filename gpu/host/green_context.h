/*
 * A part of a GPU: a green context of the driver, which limits its streams to some of the multiprocessors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_HOST_GREEN_CONTEXT_H
#define SX_GPU_HOST_GREEN_CONTEXT_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/why.h"

struct sx_green;

/*
 * Creates a green context with at least sms multiprocessors of a device, as few as the driver can split off.
 * rest: use all other multiprocessors instead, for work that runs beside that part. granted: number of
 * multiprocessors that it got. The device's primary context must exist (cudaSetDevice() and a call that uses
 * it). Build and driver must have CUDA 12.5. -ENOTSUP: driver or build is older. -EINVAL: the device has
 * fewer. -EIO: any other error. All errors write a sentence to why.
 */
int sx_green_create(struct sx_green **ret, int device, int sms, bool rest, int *granted, struct sx_why *why);
/* Destroys g; its streams must be destroyed before. Accepts NULL. */
void sx_green_destroy(struct sx_green *g);
/* Makes g the calling thread's context. */
cudaError_t sx_green_enter(const struct sx_green *g);
/* Creates a stream that does not wait for the default stream. */
cudaError_t sx_green_stream(const struct sx_green *g, int priority, cudaStream_t *ret);

#endif
