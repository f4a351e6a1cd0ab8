/*
 * Median 3x3. stages/stereo/median.h defines the result.
 *
 * Work:   VEC_BYTES / 2 pixels at a time, 19 exchanges (Smith's network, also in Devillard: Fast median
 *         search).
 * Shapes: width >= 3; reads up to SX_MATCHER_MARGIN bytes beside a row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_KERNELS_MEDIAN_KERNEL_H
#define SX_CPU_KERNELS_MEDIAN_KERNEL_H

#include <string.h>

#include "cpu/kernels/winner_kernel.h"
#include "cpu/matcher.h"

static ALWAYS_INLINE void sort2(vw *a, vw *b)
{
	vw min = vw_umin(*a, *b);

	*b = vw_umax(*a, *b);
	*a = min;
}

static ALWAYS_INLINE vw median9(const uint16_t *above, const uint16_t *row, const uint16_t *below)
{
	vw p[9] = {vw_load(above - 1), vw_load(above), vw_load(above + 1),
		   vw_load(row - 1),   vw_load(row),   vw_load(row + 1),
		   vw_load(below - 1), vw_load(below), vw_load(below + 1)};

	sort2(p + 1, p + 2);
	sort2(p + 4, p + 5);
	sort2(p + 7, p + 8);
	sort2(p + 0, p + 1);
	sort2(p + 3, p + 4);
	sort2(p + 6, p + 7);
	sort2(p + 1, p + 2);
	sort2(p + 4, p + 5);
	sort2(p + 7, p + 8);
	sort2(p + 0, p + 3);
	sort2(p + 5, p + 8);
	sort2(p + 4, p + 7);
	sort2(p + 3, p + 6);
	sort2(p + 1, p + 4);
	sort2(p + 2, p + 5);
	sort2(p + 4, p + 7);
	sort2(p + 4, p + 2);
	sort2(p + 6, p + 4);
	sort2(p + 4, p + 2);
	return p[4];
}

static void median_border_row(const uint16_t *in, uint16_t *out, int width, enum sx_median_border border)
{
	if (border == SX_MEDIAN_BORDER_COPY)
		memcpy(out, in, (size_t)width * sizeof(*out));
	else
		memset(out, 0, (size_t)width * sizeof(*out));
}

/* Filters the inner pixels of a row. The last vector overlaps the previous one. */
static ALWAYS_INLINE void median_row(const uint16_t *above, const uint16_t *row, const uint16_t *below,
				     uint16_t *out, int width)
{
	int inner = width - 2;

	if (inner < VEC_WORDS) {
		uint16_t t[VEC_WORDS];

		vw_store(t, median9(above + 1, row + 1, below + 1));
		memcpy(out + 1, t, (size_t)inner * sizeof(*t));
		return;
	}
	for (int x = 0; x < inner; x += VEC_WORDS) {
		int at = 1 + (x + VEC_WORDS <= inner ? x : inner - VEC_WORDS);

		vw_store(out + at, median9(above + at, row + at, below + at));
	}
}

static void median_rows(const struct sx_image *src, const struct sx_image *dst, enum sx_median_border border,
			int y0, int y1)
{
	int last = src->width - 1;

	for (int y = y0; y < y1; y++) {
		const uint16_t *row = sx_image_row(src, y);
		uint16_t *out = sx_image_row(dst, y);

		if (y == 0 || y == src->height - 1) {
			median_border_row(row, out, src->width, border);
			continue;
		}
		median_row(sx_image_row(src, y - 1), row, sx_image_row(src, y + 1), out, src->width);
		out[0] = border == SX_MEDIAN_BORDER_COPY ? row[0] : 0;
		out[last] = border == SX_MEDIAN_BORDER_COPY ? row[last] : 0;
	}
}

#endif
