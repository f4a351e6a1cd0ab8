/*
 * JPEG pictures as cameras make them, good and damaged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_CAPTURE_V4L2_JPEG_CASE_H
#define SX_TESTS_CAPTURE_V4L2_JPEG_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/image.h"

#define JPEG_CASE_BYTES 16384

struct jpeg_case {
	uint8_t data[JPEG_CASE_BYTES];
	size_t bytes;
};

/* A colour picture of this size; other patterns, other pictures. */
void jpeg_case_make(struct jpeg_case *j, int pattern, int width, int height);
/* bytes of value before the end marker, or behind it. */
void jpeg_case_pad(struct jpeg_case *j, size_t bytes, uint8_t value);
void jpeg_case_append(struct jpeg_case *j, size_t bytes, uint8_t value);
/* bytes of 0 before the first restart marker; aborts when there is none. */
void jpeg_case_pad_restart(struct jpeg_case *j, size_t bytes);
/* Without Huffman tables, as many cameras send it. */
void jpeg_case_strip_tables(struct jpeg_case *j);

/* True when the image is the grey picture of this pattern, else a line on stderr. */
bool jpeg_case_shows(const struct sx_image *img, int pattern);

#endif
