/*
 * Descriptors of the views. stages/motion/view.h defines the result.
 *
 * Work:   VEC_BYTES pixels at a time, one comparison after the other; eight comparisons make a byte.
 * Memory: reads only bytes whose window is in the image: the last vector of a row overlaps the one before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_MOTION_DESCRIBE_KERNEL_H
#define SX_CPU_MOTION_DESCRIBE_KERNEL_H

#include <string.h>

#include "cpu/vec/vec_inline.h"
#include "stages/motion/view.h"

#define DESCRIBE_R SX_MOTION_CENSUS_RADIUS

/* Computes the descriptors of VEC_BYTES pixels from p on. */
static ALWAYS_INLINE void describe_pixels(const uint8_t *p, ptrdiff_t pitch, uint32_t *out)
{
	const vb centre = vb_load(p);
	uint8_t bytes[3][VEC_BYTES];
	vb bits = vb_set1(0);
	int n = 0;

	UNROLL
	for (int dy = -DESCRIBE_R; dy <= DESCRIBE_R; dy++)
		UNROLL
	for (int dx = -DESCRIBE_R; dx <= DESCRIBE_R; dx++) {
		if (!dx && !dy)
			continue;
		bits = vb_add(vb_add(bits, bits), vb_greater(vb_load(p + dy * pitch + dx), centre));
		if (++n % 8 == 0)
			vb_store(bytes[n / 8 - 1], bits);
		if (n % 8 == 0)
			bits = vb_set1(0);
	}
	for (int i = 0; i < VEC_BYTES; i++)
		out[i] = (uint32_t)bytes[0][i] << 16 | (uint32_t)bytes[1][i] << 8 | bytes[2][i];
}

/* Describes one pixel as describe_pixels() does. */
static uint32_t describe_pixel(const uint8_t *p, ptrdiff_t pitch)
{
	uint32_t bits = 0;

	for (int dy = -DESCRIBE_R; dy <= DESCRIBE_R; dy++)
		for (int dx = -DESCRIBE_R; dx <= DESCRIBE_R; dx++)
			if (dx || dy)
				bits = bits << 1 | (p[dy * pitch + dx] > *p);
	return bits;
}

/* Computes rows [y0, y1) of sx_motion_census(). */
static void motion_census_rows(const struct sx_image *grey, const struct sx_image *descriptors, int y0,
			       int y1)
{
	const int end = grey->width - DESCRIBE_R;

	for (int y = y0; y < y1; y++) {
		const uint8_t *row = sx_image_row(grey, y);
		uint32_t *out = sx_image_row(descriptors, y);
		int x = DESCRIBE_R;

		if (y < DESCRIBE_R || y >= grey->height - DESCRIBE_R || end <= x) {
			memset(out, 0, (size_t)grey->width * sizeof(*out));
			continue;
		}
		memset(out, 0, DESCRIBE_R * sizeof(*out));
		memset(out + end, 0, DESCRIBE_R * sizeof(*out));
		for (; x + VEC_BYTES <= end; x += VEC_BYTES)
			describe_pixels(row + x, (ptrdiff_t)grey->pitch, out + x);
		if (x > DESCRIBE_R && x < end) {
			describe_pixels(row + end - VEC_BYTES, (ptrdiff_t)grey->pitch, out + end - VEC_BYTES);
			x = end;
		}
		for (; x < end; x++)
			out[x] = describe_pixel(row + x, (ptrdiff_t)grey->pitch);
	}
}

#endif
