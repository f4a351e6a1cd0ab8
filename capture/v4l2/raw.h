/*
 * Pixels as sensors send them, to grey images: Bayer patterns, and two images with their bits interleaved.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_RAW_H
#define SX_CAPTURE_V4L2_RAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/image.h"

enum sx_raw_packing {
	SX_RAW_NONE, /* nothing to convert */
	SX_RAW_8,    /* Bayer, a byte each */
	SX_RAW_16,   /* Bayer, 16-bit words, little endian, of any full scale */
	SX_RAW_10P,  /* Bayer, four in five bytes: their bits 9..2, then bits 1..0 of all, the first lowest */
	SX_RAW_Y12I  /* grey of two images, 12 bits each in three bytes, little endian, the first lowest */
};

/* One image. red_x, red_y: column and row, 0 or 1, of the first red pixel (RGGB: 0, 0; BGGR: 1, 1). */
struct sx_raw {
	const uint8_t *data;
	size_t pitch;
	enum sx_raw_packing packing;
	int red_x, red_y;
	bool second; /* Y12I: the second of the two images */
};

/* Bytes of a row of so many pixels; of both images for Y12I. */
size_t sx_raw_row_bytes(enum sx_raw_packing packing, int width);
/* Pixels that share bytes: a second image begins at a multiple of them. */
int sx_raw_unit_px(enum sx_raw_packing packing);

/*
 * from: height rows, each of sx_raw_row_bytes(), any pitch and alignment; of to's size, which for Bayer is at
 * least 2x2. to: U8 for SX_RAW_8, else Y16, aligned to its pixels. Allocates nothing.
 *
 * Bayer: (77 R + 150 G + 29 B) / 256 of colours interpolated bilinearly, rounded half up once. The sum over a
 * pixel (p), its neighbours in the row (h), in the column (v) and at the corners (d) is
 *	red:		   (308 p + 150 (h + h' + v + v') + 29 (d + d' + d'' + d''') + 512) >> 10
 *	blue:		   (116 p + 150 (h + h' + v + v') + 77 (d + d' + d'' + d''') + 512) >> 10
 *	green, row of red:  (600 p + 154 (h + h') + 58 (v + v') + 512) >> 10
 *	green, row of blue: (600 p + 58 (h + h') + 154 (v + v') + 512) >> 10
 * Outside the image lies its mirror image, the first and last row and column not repeated, so that colours
 * stay in their places. Words and 10P keep their scale: engines stretch Y16 over what a pair has.
 *
 * Y12I: its 12 bits as they are.
 */
void sx_raw_grey(const struct sx_raw *from, const struct sx_image *to);

#endif
