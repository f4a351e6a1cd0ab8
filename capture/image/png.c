/*
 * Decodes PNG by libpng. libpng reports errors by longjmp. So each function that calls libpng keeps its state
 * in an object that outlives the jump.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "capture/image/exif.h"
#include "capture/image/image_io_priv.h"

struct reader {
	struct sx_image_sink *sink;
	const uint8_t *data;
	size_t bytes, at;
	png_structp png;
	png_infop info;
	uint8_t *pixels; /* decoded rows; only for colour or interlaced images */
	png_bytep *rows;
	int result;
};

static void on_error(png_structp png, png_const_charp text)
{
	struct reader *r = png_get_error_ptr(png);

	if (!r->result)
		r->result = sx_sink_refuse(r->sink, "broken PNG (%s)", text);
	longjmp(png_jmpbuf(png), 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
}

static void on_read(png_structp png, png_bytep to, size_t bytes)
{
	struct reader *r = png_get_io_ptr(png);

	sx_must(r->at, <=, r->bytes);
	if (bytes > r->bytes - r->at)
		png_error(png, "cut short");
	memcpy(to, r->data + r->at, bytes);
	r->at += bytes;
}

static void to_grey(const struct reader *r, int channels)
{
	const struct sx_image *img = &r->sink->image;

	sx_must_be(channels == 1 || channels == 3);
	for (int y = 0; y < img->height; y++) {
		const uint8_t *p = r->rows[y];
		uint8_t *to8 = sx_image_row(img, y);
		uint16_t *to16 = sx_image_row(img, y);

		if (channels == 1) {
			memcpy(to8, p, (size_t)img->width * sx_pixel_bytes(img->pixel));
		} else if (img->pixel == SX_PIXEL_U8) {
			for (int x = 0; x < img->width; x++)
				to8[x] = sx_grey(p[3 * x], p[3 * x + 1], p[3 * x + 2]);
		} else {
			const uint16_t *q = (const uint16_t *)(const void *)p;

			for (int x = 0; x < img->width; x++)
				to16[x] = sx_grey16(q[3 * x], q[3 * x + 1], q[3 * x + 2]);
		}
	}
}

/* Converts every kind of PNG to 1 or 3 channels of 8 or 16 bits, host byte order, without alpha. */
static int set_transforms(png_structp png, png_infop info, bool labels)
{
	if (labels)
		png_set_packing(png); /* unpack to one number per byte, without applying the palette */
	else
		png_set_expand(png);
	png_set_strip_alpha(png);
	if (png_get_bit_depth(png, info) == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		png_set_swap(png);
	png_set_interlace_handling(png);
	png_read_update_info(png, info);
	return png_get_channels(png, info);
}

static bool holds_labels(struct reader *r)
{
	int colour = png_get_color_type(r->png, r->info), bits = png_get_bit_depth(r->png, r->info);

	sx_must_be(r->sink->labels);
	if ((colour == PNG_COLOR_TYPE_GRAY || colour == PNG_COLOR_TYPE_PALETTE) && bits <= 8)
		return true;
	r->result =
		sx_sink_refuse(r->sink, "%s of %d bits; class numbers are grey or indexed, of up to 8 bits",
			       colour & PNG_COLOR_MASK_COLOR   ? "colour"
			       : colour & PNG_COLOR_MASK_ALPHA ? "grey with alpha"
							       : "grey",
			       bits);
	return false;
}

static void png_decode(struct reader *r)
{
	png_uint_32 width, height, exif_bytes;
	png_bytep exif;
	size_t row_bytes;
	int channels;

	png_read_info(r->png, r->info);
	if (r->sink->labels && !holds_labels(r))
		return;
	width = png_get_image_width(r->png, r->info);
	height = png_get_image_height(r->png, r->info);
	r->result = sx_sink_accept(r->sink, (long)width, (long)height,
				   png_get_bit_depth(r->png, r->info) == 16 ? SX_PIXEL_Y16 : SX_PIXEL_U8);
	if (r->result < 0)
		return;
	channels = set_transforms(r->png, r->info, r->sink->labels);
	row_bytes = png_get_rowbytes(r->png, r->info);
	sx_must(r->sink->image.width, ==, (int)width);
	r->pixels = malloc(row_bytes * height);
	r->rows = malloc(height * sizeof(*r->rows));
	if (!r->pixels || !r->rows || (channels != 1 && channels != 3)) {
		r->result = -ENOMEM;
		return;
	}
	for (png_uint_32 y = 0; y < height; y++)
		r->rows[y] = r->pixels + y * row_bytes;
	png_read_image(r->png, r->rows);
	png_read_end(r->png, r->info);
	if (png_get_eXIf_1(r->png, r->info, &exif_bytes, &exif))
		r->sink->notes.orientation = sx_exif_orientation(exif, exif_bytes);
	to_grey(r, channels);
}

static void png_run(struct reader *r)
{
	static const png_byte exif[] = "eXIf";

	if (setjmp(png_jmpbuf(r->png)))
		return; /* result is set already */
	png_set_read_fn(r->png, r, on_read);
	png_set_user_limits(r->png, SX_IMAGE_FILE_WIDTH_MAX, SX_IMAGE_FILE_HEIGHT_MAX);
	/* skip text, profiles and other chunks, so that a decompression bomb in them is not unpacked */
	png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
	png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_AS_DEFAULT, exif, 1);
	png_set_chunk_malloc_max(r->png, 1 << 20);
	png_set_chunk_cache_max(r->png, 16);
	png_decode(r);
}

int sx_decode_png(struct sx_image_sink *sink, const uint8_t *data, size_t bytes)
{
	struct reader r = {.sink = sink, .data = data, .bytes = bytes};

	sx_must(bytes, >=, 4);
	r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r, on_error, on_warning);
	if (r.png)
		r.info = png_create_info_struct(r.png);
	if (r.info)
		png_run(&r);
	else
		r.result = -ENOMEM;
	png_destroy_read_struct(&r.png, &r.info, NULL);
	free(r.pixels);
	free(r.rows);
	return r.result;
}
