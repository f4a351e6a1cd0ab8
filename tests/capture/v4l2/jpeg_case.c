/*
 * Makes JPEG pictures as cameras do, with libjpeg.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/capture/v4l2/jpeg_case.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

static uint8_t level(int pattern, int x, int y)
{
	return (uint8_t)(30 + 12 * (pattern % 8) + 2 * x + y);
}

/* Returns a computed texture without a table. It is the same in each run. */
static uint8_t texture(int pattern, int x, int y)
{
	uint32_t v = (uint32_t)(pattern * 7919 + y * 4096 + x + 1) * 2654435761u;

	v ^= v >> 15;
	v *= 2246822519u;
	return (uint8_t)(64 + (v >> 24) / 2);
}

static void set_kind(struct jpeg_compress_struct *c, enum jpeg_case_kind kind)
{
	static const jpeg_scan_info scans[] = {
		{1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};

	jpeg_set_defaults(c);
	jpeg_set_quality(c, 95, TRUE);
	if (kind == JPEG_CASE_GREY)
		jpeg_set_colorspace(c, JCS_GRAYSCALE);
	else if (kind == JPEG_CASE_RGB)
		jpeg_set_colorspace(c, JCS_RGB);
	else if (kind != JPEG_CASE_CMYK)
		c->comp_info[0].v_samp_factor = 1; /* two luminance blocks side by side, one row of them */
	if (kind == JPEG_CASE_RESTART)
		c->restart_interval = 4;
	if (kind == JPEG_CASE_PROGRESSIVE)
		jpeg_simple_progression(c);
	if (kind == JPEG_CASE_SEPARATE) {
		c->scan_info = scans;
		c->num_scans = 3;
	}
	c->arith_code = kind == JPEG_CASE_ARITHMETIC;
}

void jpeg_case_make_kind(struct jpeg_case *j, enum jpeg_case_kind kind, bool noise, int pattern, int width,
			 int height)
{
	const int samples = kind == JPEG_CASE_CMYK ? 4 : 3;
	unsigned char *out = j->data;
	unsigned long bytes = JPEG_CASE_BYTES;
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr error;
	JSAMPROW row = malloc((size_t)width * 4);

	if (!row)
		abort();
	c.err = jpeg_std_error(&error); /* an error ends the test */
	jpeg_create_compress(&c);
	jpeg_mem_dest(&c, &out, &bytes);
	c.image_width = (JDIMENSION)width;
	c.image_height = (JDIMENSION)height;
	c.input_components = samples;
	c.in_color_space = kind == JPEG_CASE_CMYK ? JCS_CMYK : JCS_RGB;
	set_kind(&c, kind);
	jpeg_start_compress(&c, TRUE);
	for (int y = 0; y < height; y++) {
		for (int x = 0; x < width; x++)
			memset(row + samples * x, noise ? texture(pattern, x, y) : level(pattern, x, y),
			       (size_t)samples);
		jpeg_write_scanlines(&c, &row, 1);
	}
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	free(row);
	if (out != j->data)
		abort(); /* the picture did not fit */
	j->bytes = bytes;
}

void jpeg_case_make(struct jpeg_case *j, int pattern, int width, int height)
{
	jpeg_case_make_kind(j, JPEG_CASE_BASELINE, false, pattern, width, height);
}

void jpeg_case_append(struct jpeg_case *j, size_t bytes, uint8_t value)
{
	if (j->bytes + bytes > JPEG_CASE_BYTES)
		abort();
	memset(j->data + j->bytes, value, bytes);
	j->bytes += bytes;
}

void jpeg_case_insert(struct jpeg_case *j, size_t at, const void *text, size_t bytes)
{
	const size_t rest = j->bytes - at;

	jpeg_case_append(j, bytes, 0);
	memmove(j->data + at + bytes, j->data + at, rest);
	memcpy(j->data + at, text, bytes);
}

size_t jpeg_case_find(const struct jpeg_case *j, uint8_t lowest, uint8_t highest, int n)
{
	for (size_t at = 0; at + 1 < j->bytes; at++)
		if (j->data[at] == 0xff && j->data[at + 1] >= lowest && j->data[at + 1] <= highest &&
		    n-- == 0)
			return at;
	abort();
}

void jpeg_case_pad(struct jpeg_case *j, size_t bytes, uint8_t value)
{
	j->bytes -= 2;
	jpeg_case_append(j, bytes, value);
	jpeg_case_append(j, 1, 0xff);
	jpeg_case_append(j, 1, 0xd9);
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

struct lenient {
	/* must be the first member: libjpeg passes its address to the functions below */
	struct jpeg_decompress_struct c;
	struct jpeg_error_mgr error;
	jmp_buf jump;
	int complaints;
};

static void on_error(j_common_ptr c)
{
	longjmp(((struct lenient *)(void *)c)->jump, 1);
}

static void on_message(j_common_ptr c, int level)
{
	char text[JMSG_LENGTH_MAX];

	if (level >= 0)
		return;
	c->err->format_message(c, text);
	((struct lenient *)(void *)c)->complaints += strstr(text, "Corrupt") || strstr(text, "Premature");
}

int jpeg_case_complaints(const uint8_t *data, size_t bytes, const struct sx_image *to)
{
	struct lenient l = {.complaints = 0};

	l.c.err = jpeg_std_error(&l.error);
	l.error.error_exit = on_error;
	l.error.emit_message = on_message;
	if (setjmp(l.jump)) {
		jpeg_destroy_decompress(&l.c);
		return -1;
	}
	jpeg_create_decompress(&l.c);
	jpeg_mem_src(&l.c, data, (unsigned long)bytes);
	jpeg_read_header(&l.c, TRUE);
	if ((int)l.c.image_width != to->width || (int)l.c.image_height != to->height)
		on_error((j_common_ptr)&l.c);
	l.c.out_color_space = JCS_GRAYSCALE;
	jpeg_start_decompress(&l.c);
	while (l.c.output_scanline < l.c.output_height) {
		JSAMPROW row = sx_image_row(to, (int)l.c.output_scanline);

		jpeg_read_scanlines(&l.c, &row, 1);
	}
	jpeg_finish_decompress(&l.c);
	jpeg_destroy_decompress(&l.c);
	return l.complaints;
}
