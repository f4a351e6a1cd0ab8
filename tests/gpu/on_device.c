/*
 * Device memory for tests of single stages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/gpu/on_device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/check.h"

void on_device_check(cudaError_t e, const char *what, const char *file, int line)
{
	if (e != cudaSuccess) {
		print_error("%s:%d: %s: %s\n", file, line, what, cudaGetErrorString(e));
		_fail(file, line);
	}
}

void on_device_init(struct on_device *d)
{
	memset(d, 0, sizeof(*d));
	ON_DEVICE(cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking));
	d->memory.stream = d->stream;
}

void on_device_finish(struct on_device *d)
{
	ON_DEVICE(cudaStreamSynchronize(d->stream));
	ON_DEVICE(d->memory.error);
	sx_cuda_memory_finish(&d->memory);
	ON_DEVICE(cudaStreamDestroy(d->stream));
	memset(d, 0, sizeof(*d));
}

struct sx_image on_device_image(struct on_device *d, enum sx_pixel pixel, int width, int height)
{
	struct sx_image img;

	sx_cuda_take_image(&d->memory, &img, pixel, width, height);
	ON_DEVICE(d->memory.error);
	return img;
}

void on_device_put(struct on_device *d, const struct sx_image *src, const struct sx_image *dst)
{
	const size_t bytes = (size_t)src->width * sx_pixel_bytes(src->pixel);

	for (int y = 0; y < src->height; y++)
		on_device_write(d, sx_image_row(src, y), sx_image_row(dst, y), bytes);
}

struct sx_image on_device_copy(struct on_device *d, const struct sx_image *src)
{
	const struct sx_image img = on_device_image(d, src->pixel, src->width, src->height);

	on_device_put(d, src, &img);
	return img;
}

void on_device_fetch(struct on_device *d, const struct sx_image *src, const struct sx_image *dst)
{
	const size_t bytes = (size_t)src->width * sx_pixel_bytes(src->pixel);

	for (int y = 0; y < src->height; y++)
		on_device_read(d, sx_image_row(src, y), sx_image_row(dst, y), bytes);
}

void on_device_compare(struct on_device *d, const char *what, uint64_t seed, const struct sx_image *want,
		       const struct sx_image *device, int disparities)
{
	struct check_image got;

	check_image_init(&got, want->pixel, want->width, want->height, 0);
	on_device_fetch(d, device, &got.image);
	if (!check_same(what, seed, want, &got.image, disparities))
		fail_msg("%s", what);
	check_image_finish(&got);
}

void on_device_read(struct on_device *d, const void *src, void *dst, size_t bytes)
{
	ON_DEVICE(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToHost, d->stream));
	ON_DEVICE(cudaStreamSynchronize(d->stream));
}

void on_device_write(struct on_device *d, const void *src, void *dst, size_t bytes)
{
	ON_DEVICE(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyHostToDevice, d->stream));
	ON_DEVICE(cudaStreamSynchronize(d->stream));
}
