/*
 * Functions shared by the tests of raw pixels. They make pictures of known samples as drivers write them, and
 * compute the expected grey by way of the colours.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_CAPTURE_V4L2_RAW_CASE_H
#define SX_TESTS_CAPTURE_V4L2_RAW_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/image.h"
#include "capture/v4l2/raw.h"

/* Samples of one image, row by row. `bits` of each sample: 8, 10, 12 or 16. */
struct raw_case {
	int width, height, bits;
	uint16_t *samples;
};
void raw_case_init(struct raw_case *c, int width, int height, int bits, uint64_t seed);
void raw_case_finish(struct raw_case *c);

/* Packs a Bayer image in this packing into rows of `pitch` bytes. Leaves bytes between rows unchanged. */
void raw_case_pack(const struct raw_case *c, enum sx_raw_packing packing, uint8_t *to, size_t pitch);
/* Interleave two images in one picture. */
void raw_case_y8i(const struct raw_case *first, const struct raw_case *second, uint8_t *to, size_t pitch);
void raw_case_y12i(const struct raw_case *first, const struct raw_case *second, uint8_t *to, size_t pitch);

/*
 * Returns the grey value at x, y. `order` is the colour order, such as "RGGB". NULL: samples are grey
 * themselves.
 */
unsigned raw_case_grey(const struct raw_case *c, const char *order, int x, int y);
/* Returns true if the image (U8 or Y16) has the grey values of c. Otherwise prints a line on stderr. */
bool raw_case_shows(const struct sx_image *img, const struct raw_case *c, const char *order);

#endif
