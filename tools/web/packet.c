/*
 * One frame of an instance for browsers.
 *
 * The left image is sent as JPEG. The disparity is sent as PNG with a palette. Each pixel then has exactly
 * the colour of its distance and holes have exact edges, which JPEG smears. The PNG has as many bytes as a
 * JPEG without chroma subsampling, and an eighth of the 16-bit values. The
 * browser computes no pixel of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/web/packet.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "ipc/frame.h"
#include "recording/messages/obstacles.h"
#include "tools/draw/jpeg.h"
#include "tools/web/draw.h"
#include "tools/web/wire.h"

enum { COLOURS = 256 };

/* Copies an image without gaps between the rows. */
static void copy_image(struct web_image *to, const struct stixel_frame *frame, unsigned plane,
		       size_t pixel_bytes)
{
	struct stixel_image from;
	size_t row_bytes;

	if (stixel_image(frame, plane, &from) != 1)
		return;
	row_bytes = from.width * pixel_bytes;
	to->pixels = malloc(row_bytes * from.height);
	if (!to->pixels)
		return;
	to->width = (int)from.width;
	to->height = (int)from.height;
	for (uint32_t y = 0; y < from.height; y++)
		memcpy((char *)to->pixels + y * row_bytes, (const char *)from.data + (size_t)y * from.pitch,
		       row_bytes);
}

static void copy_whole(struct web_packet *p, const struct stixel_frame *frame)
{
	p->whole = malloc(frame->header->frame_bytes);
	if (!p->whole)
		return;
	p->whole_bytes = frame->header->frame_bytes;
	memcpy(p->whole, frame->bytes, p->whole_bytes);
}

/* Adds the free space of the columns and the objects that are no obstacle. A page cannot compute them. */
static void add_space(struct web_packet *p, const struct stixel_frame *frame)
{
	const struct stixel_frame_header *h = frame->header;
	const size_t columns_bytes = h->columns * sizeof(struct stixel_free_column);
	uint8_t *stands = sx_obstacles(frame);
	struct web_free *space = malloc(sizeof(*space) + columns_bytes + h->stixel_count * sizeof(uint32_t));
	uint32_t *absent;

	if (!stands || !space) {
		free(stands);
		free(space);
		return;
	}
	*space = (struct web_free){.columns = h->columns};
	stixel_free_space(frame, NULL, 0, (struct stixel_free_column *)(space + 1), h->columns);
	absent = (uint32_t *)((char *)(space + 1) + columns_bytes);
	for (uint32_t i = 0; i < h->stixel_count; i++)
		if (frame->stixels[i].kind == STIXEL_OBJECT && !stands[i])
			absent[space->absent++] = i;
	free(stands);
	p->space = space;
	p->space_bytes = sizeof(*space) + columns_bytes + space->absent * sizeof(uint32_t);
}

unsigned web_packet_planes(unsigned wants)
{
	return wants >> WEB_PLANES_AT |
	       (wants & (1u << WEB_LEFT | 1u << WEB_DRAWN) ? 1u << STIXEL_PLANE_LEFT : 0u) |
	       (wants & 1u << WEB_DISPARITY ? 1u << STIXEL_PLANE_DISPARITY : 0u);
}

struct web_packet *web_packet_create(const struct stixel_frame *frame, unsigned wants,
				     const struct sx_scale *scale)
{
	const struct stixel_frame_header *h = frame->header;
	/* sx_frame_bytes() would be too small: a newer publisher has a longer header */
	size_t room = h->plane_kind ? h->plane_offset : h->frame_bytes;
	struct web_packet *p = calloc(1, sizeof(*p) + room);
	int64_t bytes;

	if (!p)
		return NULL;
	atomic_init(&p->users, 1);
	pthread_mutex_init(&p->lock, NULL);
	bytes = sx_frame_shrink(p->record, room, frame->bytes);
	if (bytes < 0) {
		web_packet_unref(p);
		return NULL;
	}
	p->record_bytes = (size_t)bytes;
	p->epoch = h->epoch;
	p->number = h->number;
	p->captured_ns = h->capture_left_ns < h->capture_right_ns ? h->capture_left_ns : h->capture_right_ns;
	p->scale = *scale;
	if (wants & (1u << WEB_LEFT | 1u << WEB_DRAWN))
		copy_image(&p->image[WEB_LEFT], frame, STIXEL_PLANE_LEFT, 1);
	if (wants & 1u << WEB_DISPARITY)
		copy_image(&p->image[WEB_DISPARITY], frame, STIXEL_PLANE_DISPARITY, 2);
	if (wants >> WEB_PLANES_AT && h->plane_kind != STIXEL_PLANE_NONE)
		copy_whole(p, frame);
	if (wants & WEB_WANTS_FREE)
		add_space(p, frame);
	return p;
}

struct web_packet *web_packet_ref(struct web_packet *p)
{
	atomic_fetch_add(&p->users, 1);
	return p;
}

void web_packet_unref(struct web_packet *p)
{
	if (!p || atomic_fetch_sub(&p->users, 1) != 1)
		return;
	for (int i = 0; i < WEB_PICTURES; i++) {
		free(p->image[i].pixels);
		free(p->image[i].coded);
	}
	free(p->whole);
	free(p->space);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static unsigned char *code_left(const struct web_image *im, int quality, size_t *bytes)
{
	const struct sx_image grey = {.data = im->pixels,
				      .width = im->width,
				      .height = im->height,
				      .pitch = (size_t)im->width,
				      .pixel = SX_PIXEL_U8};

	return sx_jpeg_code(&grey, quality, true, bytes);
}

/* Makes the palette. Colour 0 means "unknown"; the others are the distance scale from far to near. */
static void make_palette(png_color *colours)
{
	colours[0] = (png_color){0, 0, 0};
	for (int i = 1; i < COLOURS; i++) {
		struct sx_rgb c = sx_palette_distance_at((i - 1) / (double)(COLOURS - 2));

		colours[i] = (png_color){c.r, c.g, c.b};
	}
}

/* Makes a table from disparity (1/16 px) to the colour number, for every disparity up to most. */
static uint8_t *make_table(const struct sx_palette_range *range, unsigned most)
{
	uint8_t *table = malloc(most + 1);

	for (unsigned d = 0; table && d <= most; d++)
		table[d] = (uint8_t)(1.5 + sx_palette_place(range, d / 16.0) * (COLOURS - 2));
	return table;
}

static unsigned largest(const struct web_image *im)
{
	const uint16_t *d = im->pixels;
	unsigned most = 0;

	for (size_t i = 0; i < (size_t)im->width * (size_t)im->height; i++)
		most = d[i] != 0xffff && d[i] > most ? d[i] : most;
	return most;
}

struct sink {
	const struct web_image *im;
	unsigned char *coded;
	size_t bytes, room;
};

static void take_bytes(png_structp png, png_bytep data, size_t bytes)
{
	struct sink *s = png_get_io_ptr(png);

	if (s->bytes + bytes > s->room)
		png_error(png, "no room");
	memcpy(s->coded + s->bytes, data, bytes);
	s->bytes += bytes;
}

static void flush_bytes(png_structp png)
{
}

static void code_row(uint8_t *to, const struct web_image *im, int y, const uint8_t *table)
{
	const uint16_t *d = (const uint16_t *)im->pixels + (size_t)y * (size_t)im->width;

	for (int x = 0; x < im->width; x++)
		to[x] = d[x] == 0xffff ? 0 : table[d[x]];
}

/*
 * Writes the PNG. libpng reports errors by longjmp, so variables that must survive it belong to the caller.
 */
static int write_png(png_structp png, png_infop info, struct sink *s, const uint8_t *table, uint8_t *row)
{
	png_color colours[COLOURS];

	if (setjmp(png_jmpbuf(png)))
		return -1;
	make_palette(colours);
	png_set_write_fn(png, s, take_bytes, flush_bytes);
	/* disparity is smooth: coding differences and their runs gives the best size for the time */
	png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
	png_set_compression_level(png, 1);
	png_set_compression_strategy(png, Z_RLE);
	png_set_IHDR(png, info, (png_uint_32)s->im->width, (png_uint_32)s->im->height, 8,
		     PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
		     PNG_FILTER_TYPE_DEFAULT);
	png_set_PLTE(png, info, colours, COLOURS);
	png_write_info(png, info);
	for (int y = 0; y < s->im->height; y++) {
		code_row(row, s->im, y, table);
		png_write_row(png, row);
	}
	png_write_end(png, info);
	return 0;
}

static unsigned char *code_disparity(const struct web_image *im, const struct sx_palette_range *range,
				     size_t *bytes)
{
	struct sink s = {.im = im, .room = (size_t)im->width * (size_t)im->height * 2 + 4096};
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	uint8_t *table = make_table(range, largest(im)), *row = malloc((size_t)im->width);

	s.coded = malloc(s.room);
	if (!info || !table || !row || !s.coded || write_png(png, info, &s, table, row) < 0) {
		free(s.coded);
		s.coded = NULL;
		s.bytes = 0;
	}
	free(table);
	free(row);
	png_destroy_write_struct(&png, &info);
	*bytes = s.bytes;
	return s.coded;
}

int web_packet_draw(const struct web_packet *p, const struct sx_scale *scale, struct sx_image *rgb)
{
	const struct stixel_frame_header *h = (const struct stixel_frame_header *)p->record;
	const struct web_image *im = &p->image[WEB_LEFT];
	const struct sx_image left = {.data = im->pixels,
				      .width = im->width,
				      .height = im->height,
				      .pitch = (size_t)im->width,
				      .pixel = SX_PIXEL_U8};

	return web_draw(rgb, h, (const struct stixel *)((const char *)h + h->stixels_offset),
			im->pixels ? &left : NULL, scale);
}

static unsigned char *code_drawn(const struct web_packet *p, int quality, const struct sx_scale *scale,
				 size_t *bytes)
{
	struct sx_image rgb = {0};
	unsigned char *coded = NULL;

	if (web_packet_draw(p, scale, &rgb) == 0)
		coded = sx_jpeg_code(&rgb, quality, true, bytes);
	sx_image_finish(&rgb);
	return coded;
}

void *web_packet_code_scaled(struct web_packet *p, enum web_picture which, int quality,
			     const struct sx_scale *scale, size_t *bytes)
{
	const struct web_image *im = &p->image[which];

	*bytes = 0;
	if (which == WEB_DRAWN)
		return code_drawn(p, quality, scale, bytes);
	if (!im->pixels)
		return NULL;
	return which == WEB_LEFT ? code_left(im, quality, bytes) : code_disparity(im, &scale->range, bytes);
}

const void *web_packet_code(struct web_packet *p, enum web_picture which, int quality, size_t *bytes)
{
	struct web_image *im = &p->image[which];

	pthread_mutex_lock(&p->lock);
	if (!im->tried) {
		im->tried = 1;
		im->coded = web_packet_code_scaled(p, which, quality, &p->scale, &im->coded_bytes);
	}
	pthread_mutex_unlock(&p->lock);
	*bytes = im->coded_bytes;
	return im->coded;
}
