/*
 * Converts sensor pixels to grey images.
 *
 * Source:  the kernel's Video for Linux API, "Raw Bayer Formats", V4L2_PIX_FMT_SRGGB10P, V4L2_PIX_FMT_Y12I
 *
 * Work:    Bayer images are converted in strips of columns, so that three rows stay in the first-level cache.
 *          Each pixel is widened to 16 bits once. Then each pixel takes four products. Every second lane has
 *          the same weights, so that compilers vectorise the loop by themselves.
 * Ranges:  the weights of a pixel add up to 1024: 1024 * 65535 + 512 < 2^27.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/v4l2/raw.h"

#include <string.h>

#include "base/contract.h"

#define STRIP 1024 /* width of a strip, columns; a multiple of every unit and of LANES */
#define LANES 16
#define RED 77
#define GREEN 150
#define BLUE 29

/* Weights of one row: of a pixel, its neighbours in the row, in the column and at the corners. */
struct raw_weights {
	uint32_t own[LANES], row[LANES], column[LANES], corner[LANES];
};

/* Columns -1 to width of a strip, at indices 0 to width + 1. */
typedef uint16_t raw_line[STRIP + 2];

size_t sx_raw_row_bytes(enum sx_raw_packing packing, int width)
{
	const size_t w = (size_t)width;

	sx_must(width, >=, 0);
	switch (packing) {
	case SX_RAW_16:
		return 2 * w;
	case SX_RAW_10P:
		return (w + 3) / 4 * 5;
	case SX_RAW_Y12I:
		return 3 * w;
	default:
		return w;
	}
}

int sx_raw_unit_px(enum sx_raw_packing packing)
{
	return packing == SX_RAW_10P ? 4 : packing == SX_RAW_Y12I ? 1 : 2;
}

static unsigned raw_word(const uint8_t *p)
{
	return p[0] | (unsigned)p[1] << 8;
}

/* Loads pixels first to first + count - 1 of a row. first is a multiple of the unit. */
static void raw_load(enum sx_raw_packing packing, const uint8_t *row, int first, int count, uint16_t *out)
{
	const uint8_t *p = row + sx_raw_row_bytes(packing, first);

	sx_must(first % sx_raw_unit_px(packing), ==, 0);
	switch (packing) {
	case SX_RAW_8:
		for (int i = 0; i < count; i++)
			out[i] = p[i];
		break;
	case SX_RAW_16:
		for (int i = 0; i < count; i++)
			out[i] = (uint16_t)raw_word(p + 2 * i);
		break;
	default:
		for (int i = 0; i < count; i++) {
			const uint8_t *four = p + i / 4 * 5;

			out[i] = (uint16_t)(four[i % 4] << 2 | (four[4] >> 2 * (i % 4) & 3));
		}
	}
}

static uint16_t raw_pixel(enum sx_raw_packing packing, const uint8_t *row, int x)
{
	uint16_t four[4];
	int unit = sx_raw_unit_px(packing), first = x / unit * unit;

	sx_must(x, >=, 0);
	raw_load(packing, row, first, x - first + 1, four);
	return four[x - first];
}

static int raw_mirrored(int x, int size)
{
	return x < 0 ? -x : x < size ? x : 2 * size - 2 - x;
}

static void raw_load_line(const struct sx_raw *from, int y, int width, int first, int count, raw_line line)
{
	const uint8_t *row = from->data + (size_t)y * from->pitch;

	sx_must(count, <=, STRIP);
	raw_load(from->packing, row, first, count, line + 1);
	line[0] = raw_pixel(from->packing, row, raw_mirrored(first - 1, width));
	line[count + 1] = raw_pixel(from->packing, row, raw_mirrored(first + count, width));
}

/*
 * Sets the weights of a row. coloured: column, 0 or 1, of the row's own colour. own, other: weights of that
 * colour and of the other one.
 */
static void raw_set_weights(struct raw_weights *w, int coloured, uint32_t own, uint32_t other)
{
	sx_must_index(coloured, 2);
	for (int i = 0; i < LANES; i++) {
		const bool green = (i & 1) != coloured;

		w->own[i] = green ? 4 * GREEN : 4 * own;
		w->row[i] = green ? 2 * own : GREEN;
		w->column[i] = green ? 2 * other : GREEN;
		w->corner[i] = green ? 0 : other;
	}
}

/* Weighs a row. Columns after the last one, up to a multiple of LANES, get meaningless values. */
static void raw_weigh(const uint16_t *up, const uint16_t *here, const uint16_t *down, int count,
		      const struct raw_weights *w, uint16_t *out)
{
	sx_must(count, <=, STRIP);
	for (int x = 0; x < count; x += LANES)
		for (int i = 0; i < LANES; i++) {
			const uint16_t *u = up + x + i, *h = here + x + i, *d = down + x + i;
			uint32_t row = (uint32_t)h[0] + h[2], column = (uint32_t)u[1] + d[1];
			uint32_t corner = (uint32_t)u[0] + u[2] + d[0] + d[2];

			out[x + i] = (uint16_t)((w->own[i] * h[1] + w->row[i] * row + w->column[i] * column +
						 w->corner[i] * corner + 512) >>
						10);
		}
}

static void raw_store(const struct sx_image *to, int first, int y, const uint16_t *line, int count)
{
	sx_must(first + count, <=, to->width);
	if (to->pixel == SX_PIXEL_U8) {
		uint8_t *out = (uint8_t *)sx_image_row(to, y) + first;

		for (int i = 0; i < count; i++)
			out[i] = (uint8_t)line[i];
	} else {
		uint8_t *out = (uint8_t *)sx_image_row(to, y) + 2 * (size_t)first;

		for (int i = 0; i < count; i++) {
			out[2 * i] = (uint8_t)line[i];
			out[2 * i + 1] = (uint8_t)(line[i] >> 8);
		}
	}
}

static void raw_strip(const struct sx_raw *from, const struct sx_image *to,
		      const struct raw_weights weights[2], int first, int count)
{
	raw_line lines[3] = {{0}};
	uint16_t out[STRIP];

	sx_must(count, >, 0);
	for (int y = 0; y < 2; y++)
		raw_load_line(from, y, to->width, first, count, lines[y]);
	for (int y = 0; y < to->height; y++) {
		const uint16_t *up = lines[(y ? y - 1 : 1) % 3], *here = lines[y % 3];
		uint16_t *down = lines[(y + 1) % 3];

		if (y + 1 == to->height)
			down = lines[(y - 1) % 3];
		else if (y > 0)
			raw_load_line(from, y + 1, to->width, first, count, down);
		raw_weigh(up, here, down, count, &weights[y & 1], out);
		raw_store(to, first, y, out, count);
	}
}

static void raw_bayer(const struct sx_raw *from, const struct sx_image *to)
{
	struct raw_weights weights[2]; /* [0] even rows, [1] odd rows */

	raw_set_weights(&weights[from->red_y], from->red_x, RED, BLUE);
	raw_set_weights(&weights[!from->red_y], !from->red_x, BLUE, RED);
	for (int first = 0; first < to->width; first += STRIP)
		raw_strip(from, to, weights, first, to->width - first < STRIP ? to->width - first : STRIP);
}

static void raw_y12i(const struct sx_raw *from, const struct sx_image *to)
{
	const int shift = from->second ? 4 : 0;

	for (int y = 0; y < to->height; y++) {
		const uint8_t *in = from->data + (size_t)y * from->pitch + from->second;
		uint8_t *out = sx_image_row(to, y);

		for (int x = 0; x < to->width; x++) {
			unsigned p = raw_word(in + 3 * x) >> shift & 0xfff;

			out[2 * x] = (uint8_t)p;
			out[2 * x + 1] = (uint8_t)(p >> 8);
		}
	}
}

void sx_raw_grey(const struct sx_raw *from, const struct sx_image *to)
{
	if (from->packing == SX_RAW_Y12I)
		raw_y12i(from, to);
	else
		raw_bayer(from, to);
}
