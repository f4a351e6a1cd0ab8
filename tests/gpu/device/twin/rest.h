/*
 * What is left of a device beside a slice of it: a green context of all multiprocessors that
 * sx_green_create() does not give to the slice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_DEVICE_TWIN_REST_H
#define SX_TESTS_GPU_DEVICE_TWIN_REST_H

#include <cuda_runtime_api.h>
#include <stddef.h>

struct twin_rest;

/*
 * slice: multiprocessors that the slice asked for. sms: how many the rest has. The device's primary context
 * must exist. -ENOTSUP: not with this driver or build, -EIO; with a sentence in why.
 */
int twin_rest_create(struct twin_rest **ret, int device, int slice, int *sms, char *why, size_t why_bytes);
/* After its streams. Accepts NULL. */
void twin_rest_destroy(struct twin_rest *r);
/* Makes it the calling thread's context. */
cudaError_t twin_rest_enter(const struct twin_rest *r);
/* A stream that does not wait for the default stream. */
cudaError_t twin_rest_stream(const struct twin_rest *r, cudaStream_t *ret);

#endif
