/*
 * Decodes PGM (P2, P5) and PPM (P3, P6), with samples as text or as bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/contract.h"
#include "capture/image/image_io_priv.h"

struct text {
	const uint8_t *data;
	size_t bytes, at;
};

static bool is_space(uint8_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Returns the next number after white space and comments; -1: no number, or more than six digits. */
static long next_number(struct text *t)
{
	long n = 0;
	int digits = 0;

	sx_must(t->at, <=, t->bytes);
	while (t->at < t->bytes && (is_space(t->data[t->at]) || t->data[t->at] == '#')) {
		if (t->data[t->at] == '#')
			while (t->at < t->bytes && t->data[t->at] != '\n')
				t->at++;
		else
			t->at++;
	}
	while (t->at < t->bytes && t->data[t->at] >= '0' && t->data[t->at] <= '9' && digits < 7) {
		n = 10 * n + t->data[t->at++] - '0';
		digits++;
	}
	return digits >= 1 && digits <= 6 ? n : -1;
}

/* Stretches 8-bit files to white = 255. 16-bit files are unchanged: engines stretch them per pair. */
static unsigned stretch(unsigned v, long white)
{
	v = v > (unsigned)white ? (unsigned)white : v;
	return white == 255 || white > 255 ? v : (2 * v * 255 + (unsigned)white) / (2 * (unsigned)white);
}

/* Returns the next pixel of a text file: one number, or three. -1: no further pixel. */
static long next_pixel(struct text *t, int channels, long white)
{
	unsigned v[3];

	for (int i = 0; i < channels; i++) {
		long n = next_number(t);

		if (n < 0)
			return -1;
		v[i] = stretch(n > 65535 ? 65535 : (unsigned)n, white);
	}
	return channels == 3 ? sx_grey16(v[0], v[1], v[2]) : v[0];
}

static int decode_text(struct sx_image_sink *sink, struct text *t, long white, int channels)
{
	const struct sx_image *img = &sink->image;

	sx_must(white, >, 0);
	for (int y = 0; y < img->height; y++) {
		uint8_t *to8 = sx_image_row(img, y);
		uint16_t *to16 = sx_image_row(img, y);

		for (int x = 0; x < img->width; x++) {
			long v = next_pixel(t, channels, white);

			if (v < 0)
				return sx_sink_refuse(sink, "broken PGM (cut short in row %d)", y);
			if (img->pixel == SX_PIXEL_U8)
				to8[x] = (uint8_t)v;
			else
				to16[x] = (uint16_t)v;
		}
	}
	return 0;
}

/* Converts a row of 8-bit samples. level: new value for each value; NULL: unchanged. */
static void row_of_bytes(uint8_t *to, const uint8_t *p, int width, int channels, const uint8_t level[256])
{
	sx_must_be(channels == 1 || level);
	if (!level)
		memcpy(to, p, (size_t)width);
	else if (channels == 1)
		for (int x = 0; x < width; x++)
			to[x] = level[p[x]];
	else
		for (int x = 0; x < width; x++, p += 3)
			to[x] = sx_grey(level[p[0]], level[p[1]], level[p[2]]);
}

static unsigned wide_sample(const uint8_t *p, long white)
{
	return stretch((unsigned)p[0] << 8 | p[1], white);
}

static void row_of_words(uint16_t *to, const uint8_t *p, int width, int channels, long white)
{
	sx_must(white, >, 255);
	if (channels == 1)
		for (int x = 0; x < width; x++)
			to[x] = (uint16_t)wide_sample(p + 2 * (size_t)x, white);
	else
		for (int x = 0; x < width; x++, p += 6)
			to[x] = sx_grey16(wide_sample(p, white), wide_sample(p + 2, white),
					  wide_sample(p + 4, white));
}

static int decode_binary(struct sx_image_sink *sink, const struct text *t, long white, int channels)
{
	const struct sx_image *img = &sink->image;
	const size_t row = (size_t)img->width * (size_t)channels * (white > 255 ? 2 : 1);
	uint8_t level[256];

	sx_must(t->at + row * (size_t)img->height, <=, t->bytes);
	for (unsigned i = 0; i < 256; i++)
		level[i] = (uint8_t)stretch(i, white);
	for (int y = 0; y < img->height; y++) {
		const uint8_t *p = t->data + t->at + (size_t)y * row;

		if (white > 255)
			row_of_words(sx_image_row(img, y), p, img->width, channels, white);
		else
			row_of_bytes(sx_image_row(img, y), p, img->width, channels,
				     channels == 1 && white == 255 ? NULL : level);
	}
	return 0;
}

int sx_decode_pnm(struct sx_image_sink *sink, const uint8_t *data, size_t bytes)
{
	sx_must(bytes, >=, 2);
	struct text t = {data, bytes, 2};
	const int kind = data[1] - '0', channels = kind == 6 || kind == 3 ? 3 : 1;
	const bool text = kind == 2 || kind == 3;
	int r;
	long width = next_number(&t), height = next_number(&t), white = next_number(&t);
	size_t need;

	if (width < 0 || height < 0 || white < 1 || white > 65535)
		return sx_sink_refuse(sink, "broken PGM (header)");
	/* a sample in text form takes at least two characters; check this before allocating memory */
	need = (size_t)width * (size_t)height * (size_t)channels * (text || white > 255 ? 2 : 1);
	if (need > 0 && bytes - t.at < need - text)
		return sx_sink_refuse(sink, "broken PGM (cut short: %zu bytes for %ldx%ld pixels)", bytes,
				      width, height);
	r = sx_sink_accept(sink, width, height, white > 255 ? SX_PIXEL_Y16 : SX_PIXEL_U8);
	if (r < 0)
		return r;
	if (text)
		return decode_text(sink, &t, white, channels);
	t.at++; /* exactly one white-space character comes before the samples */
	if (t.at > bytes || bytes - t.at < need)
		return sx_sink_refuse(sink, "broken PGM (cut short)");
	return decode_binary(sink, &t, white, channels);
}
