/*
 * Images on host and device for tests of gpu/: inputs and outputs of a stage, and the expected output of the
 * reference.
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

/*
 * image_report() prints the TAP line of one case. image_finish() prints the plan and returns the exit code of
 * all cases.
 */
void image_report(bool good, const char *what);
int image_finish(void);
/* Returns true if SX_TEST_LARGE is set. */
bool image_is_large(void);
/* Creates a host image. Aborts without memory. */
void image_take_host(struct sx_image *img, enum sx_pixel pixel, int width, int height);
/* Creates a device image filled with 0xa5, with its pitch. Aborts without memory. */
void image_take(struct sx_cuda_memory *m, struct sx_image *ret, enum sx_pixel pixel, int width, int height);
void image_send(const struct sx_image *device, const struct sx_image *host);
/* Copies device to host and compares with want. Prints one line on stderr if they differ. */
bool image_is(const struct sx_image *device, const struct sx_image *want, const char *what, uint64_t seed);
/* Aborts with a line on stderr if e is not cudaSuccess. */
void image_must(cudaError_t e, const char *what);

#endif
