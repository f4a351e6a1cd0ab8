/*
 * Makes JPEG pictures as cameras do: good, unusual and damaged ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_CAPTURE_V4L2_JPEG_CASE_H
#define SX_TESTS_CAPTURE_V4L2_JPEG_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/image.h"

#define JPEG_CASE_BYTES 65536

struct jpeg_case {
	uint8_t data[JPEG_CASE_BYTES];
	size_t bytes;
};

enum jpeg_case_kind {
	JPEG_CASE_BASELINE, /* 4:2:2, the format of most cameras */
	JPEG_CASE_RESTART,  /* a restart marker after every fourth unit */
	JPEG_CASE_PROGRESSIVE,
	JPEG_CASE_SEPARATE, /* one scan for each colour */
	JPEG_CASE_GREY,
	JPEG_CASE_RGB,
	JPEG_CASE_ARITHMETIC,
	JPEG_CASE_CMYK,
	JPEG_CASE_KINDS
};

/* Makes a colour picture of this size. Each pattern gives another picture. */
void jpeg_case_make(struct jpeg_case *j, int pattern, int width, int height);
/*
 * Makes such a picture of another kind. With `noise`, its texture needs many codes, as road and leaves do.
 * Without, it is a ramp.
 */
void jpeg_case_make_kind(struct jpeg_case *j, enum jpeg_case_kind kind, bool noise, int pattern, int width,
			 int height);
/* Appends `bytes` bytes of `value` after the end. */
void jpeg_case_append(struct jpeg_case *j, size_t bytes, uint8_t value);
/* Inserts `bytes` bytes of text at offset `at`. */
void jpeg_case_insert(struct jpeg_case *j, size_t at, const void *text, size_t bytes);
/* Returns the offset of the n-th marker (from 0) in the range lowest to highest. Aborts if there is none. */
size_t jpeg_case_find(const struct jpeg_case *j, uint8_t lowest, uint8_t highest, int n);
/* Inserts `bytes` bytes of `value` before the end marker. */
void jpeg_case_pad(struct jpeg_case *j, size_t bytes, uint8_t value);
/* Removes the Huffman tables, as many cameras do. */
void jpeg_case_strip_tables(struct jpeg_case *j);

/* Returns true if the image is the ramp of the pattern. */
bool jpeg_case_shows(const struct sx_image *img, int pattern);

/*
 * Decodes with libjpeg alone, which continues after damage, into a grey picture. Returns how often libjpeg
 * reported corrupt data or an early end; -1: it gave up.
 */
int jpeg_case_complaints(const uint8_t *data, size_t bytes, const struct sx_image *to);

#endif
