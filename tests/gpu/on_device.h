/*
 * Memory of a CUDA device (or of the emulated one) for tests of single stages: everything waits, errors fail
 * the test.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_ON_DEVICE_H
#define SX_TESTS_GPU_ON_DEVICE_H

#include "gpu/memory.h"

struct on_device {
	struct sx_cuda_memory memory;
	cudaStream_t stream;
};

void on_device_init(struct on_device *d);
void on_device_finish(struct on_device *d);

/* A device image with the pixels of src, or zeros. */
struct sx_image on_device_copy(struct on_device *d, const struct sx_image *src);
struct sx_image on_device_image(struct on_device *d, enum sx_pixel pixel, int width, int height);
/* src to an image of the device; the other way, after the stream. Same format and size, any pitch. */
void on_device_put(struct on_device *d, const struct sx_image *src, const struct sx_image *dst);
void on_device_fetch(struct on_device *d, const struct sx_image *src, const struct sx_image *dst);
/* Fails the test where the device's image is not what is wanted; what, seed, disparities: check_same(). */
void on_device_compare(struct on_device *d, const char *what, uint64_t seed, const struct sx_image *want,
		       const struct sx_image *device, int disparities);
void on_device_read(struct on_device *d, const void *src, void *dst, size_t bytes);
void on_device_write(struct on_device *d, const void *src, void *dst, size_t bytes);
/* Says of e what and where. */
#define ON_DEVICE(e) on_device_check((e), #e, __FILE__, __LINE__)
void on_device_check(cudaError_t e, const char *what, const char *file, int line);

#endif
