/*
 * PGM (P2, P5) and PPM (P6).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

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

/* Next number after white space and comments; -1 if there is none or it has more than six digits. */
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

static unsigned sample(const uint8_t *p, long i, bool wide)
{
	return wide ? (unsigned)p[2 * i] << 8 | p[2 * i + 1] : p[i];
}

static void pnm_put(const struct sx_image *img, int x, int y, unsigned value)
{
	if (img->pixel == SX_PIXEL_U8)
		((uint8_t *)sx_image_row(img, y))[x] = (uint8_t)value;
	else
		((uint16_t *)sx_image_row(img, y))[x] = (uint16_t)value;
}

/* 8-bit files with another white than 255 are stretched to it; 16-bit ones are stretched per pair later. */
static unsigned stretch(unsigned v, long white)
{
	v = v > (unsigned)white ? (unsigned)white : v;
	return white == 255 || white > 255 ? v : (2 * v * 255 + (unsigned)white) / (2 * (unsigned)white);
}

static int decode_text(struct sx_image_sink *sink, struct text *t, long white)
{
	sx_must(white, >, 0);
	for (int y = 0; y < sink->image.height; y++)
		for (int x = 0; x < sink->image.width; x++) {
			long v = next_number(t);

			if (v < 0)
				return sx_sink_refuse(sink, "broken PGM (cut short in row %d)", y);
			pnm_put(&sink->image, x, y, stretch(v > 65535 ? 65535 : (unsigned)v, white));
		}
	return 0;
}

static int decode_binary(struct sx_image_sink *sink, const struct text *t, long white, int channels)
{
	const struct sx_image *img = &sink->image;
	bool wide = white > 255;
	size_t row = (size_t)img->width * (size_t)channels * (wide ? 2 : 1);

	sx_must(t->at + row * (size_t)img->height, <=, t->bytes);
	sx_must(white, >, 0);
	for (int y = 0; y < img->height; y++) {
		const uint8_t *p = t->data + t->at + (size_t)y * row;

		for (int x = 0; x < img->width; x++) {
			unsigned a = stretch(sample(p, (long)x * channels, wide), white);

			if (channels == 3)
				a = sx_grey16(a, stretch(sample(p, (long)x * 3 + 1, wide), white),
					      stretch(sample(p, (long)x * 3 + 2, wide), white));
			pnm_put(img, x, y, a);
		}
	}
	return 0;
}

int sx_decode_pnm(struct sx_image_sink *sink, const uint8_t *data, size_t bytes)
{
	sx_must(bytes, >=, 2);
	struct text t = {data, bytes, 2};
	int kind = data[1] - '0', channels = kind == 6 ? 3 : 1, r;
	long width = next_number(&t), height = next_number(&t), white = next_number(&t);
	size_t need;

	if (width < 0 || height < 0 || white < 1 || white > 65535)
		return sx_sink_refuse(sink, "broken PGM (header)");
	/* a sample takes two characters of text at least; checked before memory is taken */
	need = (size_t)width * (size_t)height * (size_t)channels * (kind == 2 ? 2 : white > 255 ? 2 : 1);
	if (need > 0 && bytes - t.at < need - (kind == 2))
		return sx_sink_refuse(sink, "broken PGM (cut short: %zu bytes for %ldx%ld pixels)", bytes,
				      width, height);
	r = sx_sink_accept(sink, width, height, white > 255 ? SX_PIXEL_Y16 : SX_PIXEL_U8);
	if (r < 0)
		return r;
	if (kind == 2)
		return decode_text(sink, &t, white);
	t.at++; /* exactly one white space before the samples */
	if (t.at > bytes || bytes - t.at < need)
		return sx_sink_refuse(sink, "broken PGM (cut short)");
	return decode_binary(sink, &t, white, channels);
}
