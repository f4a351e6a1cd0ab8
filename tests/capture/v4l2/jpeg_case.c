/*
 * JPEG pictures as cameras make them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

#include "tests/capture/v4l2/jpeg_case.h"

static uint8_t level(int pattern, int x, int y)
{
	return (uint8_t)(30 + 12 * (pattern % 8) + 2 * x + y);
}

void jpeg_case_make(struct jpeg_case *j, int pattern, int width, int height)
{
	uint8_t *rgb = malloc((size_t)width * (size_t)height * 3);
	unsigned char *out = j->data;
	unsigned long bytes = JPEG_CASE_BYTES;
	tjhandle handle = tjInitCompress();

	if (!rgb || !handle)
		abort();
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++)
			memset(rgb + 3 * (y * width + x), level(pattern, x, y), 3);
	if (tjCompress2(handle, rgb, width, 0, height, TJPF_RGB, &out, &bytes, TJSAMP_422, 95,
			TJFLAG_NOREALLOC) < 0)
		abort();
	tjDestroy(handle);
	free(rgb);
	j->bytes = bytes;
}

void jpeg_case_append(struct jpeg_case *j, size_t bytes, uint8_t value)
{
	if (j->bytes + bytes > JPEG_CASE_BYTES)
		abort();
	memset(j->data + j->bytes, value, bytes);
	j->bytes += bytes;
}

void jpeg_case_pad(struct jpeg_case *j, size_t bytes, uint8_t value)
{
	j->bytes -= 2;
	jpeg_case_append(j, bytes, value);
	jpeg_case_append(j, 1, 0xff);
	jpeg_case_append(j, 1, 0xd9);
}

void jpeg_case_pad_restart(struct jpeg_case *j, size_t bytes)
{
	size_t at = 2, end = j->bytes;

	while (at + 1 < end && (j->data[at] != 0xff || (j->data[at + 1] & 0xf8) != 0xd0))
		at++;
	if (at + 1 >= end)
		abort();
	jpeg_case_append(j, bytes, 0);
	memmove(j->data + at + bytes, j->data + at, end - at);
	memset(j->data + at, 0, bytes);
}

void jpeg_case_strip_tables(struct jpeg_case *j)
{
	size_t at = 2;

	while (j->data[at] == 0xff && j->data[at + 1] != 0xda) {
		size_t length = 2 + ((size_t)j->data[at + 2] << 8 | j->data[at + 3]);

		if (j->data[at + 1] != 0xc4) {
			at += length;
			continue;
		}
		memmove(j->data + at, j->data + at + length, j->bytes - at - length);
		j->bytes -= length;
	}
}

bool jpeg_case_shows(const struct sx_image *img, int pattern)
{
	for (int y = 0; y < img->height; y++)
		for (int x = 0; x < img->width; x++) {
			int got = ((const uint8_t *)sx_image_row(img, y))[x], want = level(pattern, x, y);

			if (abs(got - want) <= 3)
				continue;
			fprintf(stderr, "# JPEG %d: (%d,%d) is %d, wanted about %d\n", pattern, x, y, got,
				want);
			return false;
		}
	return true;
}
