/*
 * Memory of a CUDA device (or of the emulated one) for tests of single stages. Every call waits for its work,
 * and errors fail the test.
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

/* Creates a device image with the pixels of src, or with zeros. */
struct sx_image on_device_copy(struct on_device *d, const struct sx_image *src);
struct sx_image on_device_image(struct on_device *d, enum sx_pixel pixel, int width, int height);
/*
 * on_device_put() copies src to an image of the device. on_device_fetch() copies the other way, after the
 * work of the stream. Same format and size, any pitch.
 */
void on_device_put(struct on_device *d, const struct sx_image *src, const struct sx_image *dst);
void on_device_fetch(struct on_device *d, const struct sx_image *src, const struct sx_image *dst);
/*
 * Fails the test if the device image differs from the expected image. what, seed, disparities: see
 * check_same().
 */
void on_device_compare(struct on_device *d, const char *what, uint64_t seed, const struct sx_image *want,
		       const struct sx_image *device, int disparities);
void on_device_read(struct on_device *d, const void *src, void *dst, size_t bytes);
void on_device_write(struct on_device *d, const void *src, void *dst, size_t bytes);
/* Fails the test if the call e returns an error. Reports the call and its place. */
#define ON_DEVICE(e) on_device_check((e), #e, __FILE__, __LINE__)
void on_device_check(cudaError_t e, const char *what, const char *file, int line);

#endif
