/*
 * Ingest: camera pixels to 8-bit grey.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/ingest.h"

static unsigned read_y16(const uint8_t *row, int x)
{
	return row[2 * x] | (unsigned)row[2 * x + 1] << 8;
}

static void widen(struct sx_stretch *s, const struct sx_image *img)
{
	for (int y = 0; y < img->height; y++) {
		const uint8_t *row = sx_image_row(img, y);

		for (int x = 0; x < img->width; x++) {
			unsigned p = read_y16(row, x);

			if (p < s->min)
				s->min = (uint16_t)p;
			if (p > s->max)
				s->max = (uint16_t)p;
		}
	}
}

bool sx_ingest_supports(enum sx_pixel pixel)
{
	switch (pixel) {
	case SX_PIXEL_U8:
	case SX_PIXEL_Y16:
	case SX_PIXEL_YUYV:
	case SX_PIXEL_UYVY:
	case SX_PIXEL_NV12:
	case SX_PIXEL_RGB24:
		return true;
	default:
		return false;
	}
}

struct sx_stretch sx_ingest_stretch(const struct sx_image *left, const struct sx_image *right)
{
	struct sx_stretch s = {UINT16_MAX, 0};

	if (left->pixel != SX_PIXEL_Y16)
		return (struct sx_stretch){0, 0};
	widen(&s, left);
	widen(&s, right);
	return s;
}

static uint8_t stretched(unsigned p, struct sx_stretch s)
{
	unsigned range = (unsigned)s.max - s.min;

	return range ? (uint8_t)((2 * 255 * (p - s.min) + range) / (2 * range)) : 0;
}

static uint8_t grey_of_rgb(const uint8_t *p)
{
	return (uint8_t)((77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8);
}

void sx_ingest(const struct sx_image *src, const struct sx_image *grey, struct sx_stretch stretch)
{
	for (int y = 0; y < src->height; y++) {
		const uint8_t *in = sx_image_row(src, y);
		uint8_t *out = sx_image_row(grey, y);

		for (int x = 0; x < src->width; x++) {
			switch (src->pixel) {
			case SX_PIXEL_Y16:
				out[x] = stretched(read_y16(in, x), stretch);
				break;
			case SX_PIXEL_YUYV:
				out[x] = in[2 * x];
				break;
			case SX_PIXEL_UYVY:
				out[x] = in[2 * x + 1];
				break;
			case SX_PIXEL_RGB24:
				out[x] = grey_of_rgb(in + 3 * x);
				break;
			default: /* U8, and NV12's plane of Y */
				out[x] = in[x];
				break;
			}
		}
	}
}
