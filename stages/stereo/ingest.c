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

static unsigned median_at(const uint8_t *row, int x)
{
	return sx_stretch_median(read_y16(row, x), read_y16(row, x + SX_STRETCH_APART),
				 read_y16(row, x + SX_STRETCH_REACH));
}

/* Counts medians by their upper bits. */
static void count_coarse(const struct sx_image *img, uint32_t counts[SX_STRETCH_COARSE])
{
	for (int y = 0; y < img->height; y++)
		for (int x = 0; x < img->width - SX_STRETCH_REACH; x++)
			counts[median_at(sx_image_row(img, y), x) >> SX_STRETCH_FINE_BITS]++;
}

/* Counts the medians of two classes by their lower bits. */
static void count_fine(const struct sx_image *img, const unsigned class[2],
		       uint32_t counts[2][SX_STRETCH_FINE])
{
	for (int y = 0; y < img->height; y++)
		for (int x = 0; x < img->width - SX_STRETCH_REACH; x++) {
			const unsigned m = median_at(sx_image_row(img, y), x);

			for (int i = 0; i < 2; i++)
				if (m >> SX_STRETCH_FINE_BITS == class[i])
					counts[i][m % SX_STRETCH_FINE]++;
		}
}

struct sx_stretch sx_ingest_stretch(const struct sx_image *left, const struct sx_image *right)
{
	uint32_t coarse[SX_STRETCH_COARSE] = {0}, fine[2][SX_STRETCH_FINE] = {{0}}, rank[2];
	unsigned class[2], value[2];

	if (left->pixel != SX_PIXEL_Y16)
		return (struct sx_stretch){0, 0};
	rank[0] = sx_stretch_tail(sx_stretch_places(left->width, left->height));
	rank[1] = sx_stretch_places(left->width, left->height) - 1 - rank[0];
	count_coarse(left, coarse);
	count_coarse(right, coarse);
	for (int i = 0; i < 2; i++)
		class[i] = sx_stretch_class(coarse, &rank[i]);
	count_fine(left, class, fine);
	count_fine(right, class, fine);
	for (int i = 0; i < 2; i++)
		value[i] = class[i] << SX_STRETCH_FINE_BITS | sx_stretch_class(fine[i], &rank[i]);
	return sx_stretch_between(value[0], value[1]);
}

static uint8_t stretched(unsigned p, struct sx_stretch s)
{
	const unsigned range = (unsigned)s.max - s.min;

	if (!range || p < s.min)
		return 0;
	p = p < s.max ? p : s.max;
	return (uint8_t)((2 * 255 * (p - s.min) + range) / (2 * range));
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
			default: /* U8, and the Y plane of NV12 */
				out[x] = in[x];
				break;
			}
		}
	}
}
