/*
 * Smoothing. stages/stereo/smooth.h defines the result.
 *
 * Work:   VEC_BYTES / 2 pixels at a time. 16 exchanges (the least possible number) sort the seven pixels of a
 *         column, then the seven of a row. Invalid pixels come last. So if the second, fourth and sixth are
 *         valid, at least two, four and six are, which yields the rank. The row between the passes stays in
 *         the cache.
 * Ranges: valid disparities below 0x7fff.
 * Shapes: width up to 4096 px; reads up to SX_MATCHER_MARGIN bytes beside a row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_SMOOTH_KERNEL_H
#define SX_CPU_KERNELS_SMOOTH_KERNEL_H

#include <string.h>

#include "cpu/kernels/median_kernel.h"
#include "cpu/matcher.h"
#include "stages/stereo/smooth.h"

#define SMOOTH_LINE (2 * SX_SMOOTH_RADIUS + 1)
#define SMOOTH_WIDTH 4096

/* Returns yes where d is valid, else no. */
static ALWAYS_INLINE vw smooth_where_valid(vw d, vw yes, vw no)
{
	const vw most = vw_set1(0x7fff);

	return vw_where_greater(most, vw_and(d, most), yes, no);
}

/* Smooths the centre of seven pixels in their order; sorts p. */
static ALWAYS_INLINE vw smooth_line(vw p[SMOOTH_LINE])
{
	const vw centre = p[SX_SMOOTH_RADIUS];
	vw r;

	sort2(p + 0, p + 6);
	sort2(p + 2, p + 3);
	sort2(p + 4, p + 5);
	sort2(p + 0, p + 2);
	sort2(p + 1, p + 4);
	sort2(p + 3, p + 6);
	sort2(p + 0, p + 1);
	sort2(p + 2, p + 5);
	sort2(p + 3, p + 4);
	sort2(p + 1, p + 2);
	sort2(p + 4, p + 6);
	sort2(p + 2, p + 3);
	sort2(p + 4, p + 5);
	sort2(p + 1, p + 2);
	sort2(p + 3, p + 4);
	sort2(p + 5, p + 6);
	r = smooth_where_valid(p[1], p[1], p[0]);
	r = smooth_where_valid(centre, r, centre);
	r = smooth_where_valid(p[3], p[2], r);
	return smooth_where_valid(p[5], p[3], r);
}

static ALWAYS_INLINE void smooth_columns(const uint16_t *const rows[SMOOTH_LINE], uint16_t *out, int width)
{
	for (int x = 0; x < width; x += VEC_WORDS) {
		vw p[SMOOTH_LINE];

		for (int i = 0; i < SMOOTH_LINE; i++)
			p[i] = vw_load(rows[i] + x);
		vw_store(out + x, smooth_line(p));
	}
}

/* Smooths along a row. in: has SX_SMOOTH_RADIUS invalid pixels before and after the row. */
static ALWAYS_INLINE void smooth_along(const uint16_t *in, uint16_t *out, int width)
{
	for (int x = 0; x < width; x += VEC_WORDS) {
		vw p[SMOOTH_LINE];
		uint16_t last[VEC_WORDS];

		for (int i = 0; i < SMOOTH_LINE; i++)
			p[i] = vw_load(in + x + i - SX_SMOOTH_RADIUS);
		if (width - x >= VEC_WORDS) {
			vw_store(out + x, smooth_line(p));
			continue;
		}
		vw_store(last, smooth_line(p));
		memcpy(out + x, last, (size_t)(width - x) * sizeof(*last));
	}
}

static void smooth_rows(const struct sx_image *src, const struct sx_image *dst, int y0, int y1)
{
	enum { BESIDE = VEC_WORDS }; /* words that vectors read before and after a line */
	uint16_t line[BESIDE + SMOOTH_WIDTH + 2 * BESIDE], outside[SMOOTH_WIDTH + BESIDE];
	uint16_t *middle = line + BESIDE;
	const int width = src->width;

	memset(line, 0xff, BESIDE * sizeof(*line));
	if (y0 < SX_SMOOTH_RADIUS || y1 + SX_SMOOTH_RADIUS > src->height)
		memset(outside, 0xff, sizeof(outside));
	for (int y = y0; y < y1; y++) {
		const uint16_t *rows[SMOOTH_LINE];

		for (int i = 0; i < SMOOTH_LINE; i++) {
			const int at = y + i - SX_SMOOTH_RADIUS;

			rows[i] = at < 0 || at >= src->height ? outside : sx_image_row(src, at);
		}
		smooth_columns(rows, middle, width);
		memset(middle + width, 0xff, BESIDE * sizeof(*middle));
		smooth_along(middle, sx_image_row(dst, y), width);
	}
}

#endif
