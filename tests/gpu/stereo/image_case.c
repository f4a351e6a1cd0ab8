/*
 * Images on host and device for tests of gpu/.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/gpu/stereo/image_case.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

static int image_count, image_failures;

void image_report(bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++image_count, what);
	image_failures += !good;
}

int image_finish(void)
{
	printf("1..%d\n", image_count);
	return image_failures != 0;
}

bool image_is_large(void)
{
	return getenv("SX_TEST_LARGE") != NULL;
}

void image_take_host(struct sx_image *img, enum sx_pixel pixel, int width, int height)
{
	if (sx_image_init(img, pixel, width, height) < 0)
		abort();
}

void image_must(cudaError_t e, const char *what)
{
	if (!e)
		return;
	fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
	abort();
}

void image_take(struct sx_cuda_memory *m, struct sx_image *ret, enum sx_pixel pixel, int width, int height)
{
	sx_cuda_take_image(m, ret, pixel, width, height);
	image_must(m->error, "device image");
	image_must(cudaMemset(ret->data, 0xa5, ret->pitch * (size_t)height), "device image");
}

void image_send(const struct sx_image *device, const struct sx_image *host)
{
	image_must(cudaMemcpy2D(device->data, device->pitch, host->data, host->pitch,
				(size_t)host->width * sx_pixel_bytes(host->pixel), (size_t)host->height,
				cudaMemcpyHostToDevice),
		   "image to device");
}

bool image_is(const struct sx_image *device, const struct sx_image *want, const char *what, uint64_t seed)
{
	struct sx_image got;
	bool same;

	if (sx_image_init(&got, want->pixel, want->width, want->height) < 0)
		abort();
	image_must(cudaMemcpy2D(got.data, got.pitch, device->data, device->pitch,
				(size_t)got.width * sx_pixel_bytes(got.pixel), (size_t)got.height,
				cudaMemcpyDeviceToHost),
		   "image to host");
	same = check_same(what, seed, want, &got, 0);
	sx_image_finish(&got);
	return same;
}
