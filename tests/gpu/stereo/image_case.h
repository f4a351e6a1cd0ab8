/*
 * Images between host and device for tests of gpu/: what a stage reads and writes, beside what the reference
 * makes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_STEREO_IMAGE_CASE_H
#define SX_TESTS_GPU_STEREO_IMAGE_CASE_H

#include "base/image.h"
#include "gpu/memory.h"
#include "tests/check.h"

#define IMAGE_LENGTH(a) ((int)(sizeof(a) / sizeof((a)[0])))

struct image_size {
	int width, height;
};

/* A line of TAP for one case; the plan, and the exit code of all of them. */
void image_report(bool good, const char *what);
int image_finish(void);
/* SX_TEST_LARGE. */
bool image_is_large(void);
/* A host image. Aborts without memory. */
void image_take_host(struct sx_image *img, enum sx_pixel pixel, int width, int height);
/* A device image full of 0xa5, with its pitch. Aborts without memory. */
void image_take(struct sx_cuda_memory *m, struct sx_image *ret, enum sx_pixel pixel, int width, int height);
void image_send(const struct sx_image *device, const struct sx_image *host);
/* Copies device to host and compares with want: one line on stderr if they differ. */
bool image_is(const struct sx_image *device, const struct sx_image *want, const char *what, uint64_t seed);
/* Aborts with a line on stderr if e is not cudaSuccess. */
void image_must(cudaError_t e, const char *what);

#endif
