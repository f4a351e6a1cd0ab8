/*
 * JPEG pictures as cameras make them, good, odd and damaged.
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
	JPEG_CASE_BASELINE, /* 4:2:2, as cameras send it */
	JPEG_CASE_RESTART,  /* with a restart marker after every fourth unit */
	JPEG_CASE_PROGRESSIVE,
	JPEG_CASE_SEPARATE, /* a scan for each colour */
	JPEG_CASE_GREY,
	JPEG_CASE_RGB,
	JPEG_CASE_ARITHMETIC,
	JPEG_CASE_CMYK,
	JPEG_CASE_KINDS
};

/* A colour picture of this size; other patterns, other pictures. */
void jpeg_case_make(struct jpeg_case *j, int pattern, int width, int height);
/* The same of another kind. noise: a texture that needs many codes, as road and leaves do; else a ramp. */
void jpeg_case_make_kind(struct jpeg_case *j, enum jpeg_case_kind kind, bool noise, int pattern, int width,
			 int height);
/* Bytes of value behind the end. */
void jpeg_case_append(struct jpeg_case *j, size_t bytes, uint8_t value);
/* Puts bytes of text before what is at this place. */
void jpeg_case_insert(struct jpeg_case *j, size_t at, const void *text, size_t bytes);
/* Where the n-th marker from lowest to highest is, from 0 on; aborts without one. */
size_t jpeg_case_find(const struct jpeg_case *j, uint8_t lowest, uint8_t highest, int n);
/* Bytes of value before the end marker. */
void jpeg_case_pad(struct jpeg_case *j, size_t bytes, uint8_t value);
/* Without Huffman tables, as many cameras send it. */
void jpeg_case_strip_tables(struct jpeg_case *j);

/* Whether that is the ramp of the pattern. */
bool jpeg_case_shows(const struct sx_image *img, int pattern);

/*
 * What libjpeg itself says, which goes on after damage: the picture in grey, and how often it complained that
 * data are corrupt or end early; -1: it gave up.
 */
int jpeg_case_complaints(const uint8_t *data, size_t bytes, const struct sx_image *to);

#endif
