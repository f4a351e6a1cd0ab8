/*
 * Converts sensor pixels to grey images: Bayer patterns, and two images with interleaved bits.
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
	SX_RAW_NONE, /* no conversion */
	SX_RAW_8,    /* Bayer, one byte per pixel */
	SX_RAW_16,   /* Bayer, 16-bit words, little endian, any full scale */
	/*
	 * Bayer, four pixels in five bytes: bits 9..2 of each, then bits 1..0 of all, the first pixel lowest
	 */
	SX_RAW_10P,
	SX_RAW_Y12I /* two grey images, 12 bits each in three bytes, little endian, the first image lowest */
};

/* A raw image. red_x, red_y: column and row, 0 or 1, of the first red pixel (RGGB: 0, 0; BGGR: 1, 1). */
struct sx_raw {
	const uint8_t *data;
	size_t pitch;
	enum sx_raw_packing packing;
	int red_x, red_y;
	bool second; /* Y12I: convert the second of the two images */
};

/* Returns the bytes of a row of `width` pixels; for Y12I of both images. */
size_t sx_raw_row_bytes(enum sx_raw_packing packing, int width);
/* Returns the number of pixels that share bytes. A second image begins at a multiple of it. */
int sx_raw_unit_px(enum sx_raw_packing packing);

/*
 * Converts an image. from: rows of sx_raw_row_bytes() each, any pitch and alignment; size of `to`, for Bayer
 * at least 2x2. to: U8 for SX_RAW_8, otherwise Y16 with aligned pixels. Allocates nothing.
 *
 * Bayer: (77 R + 150 G + 29 B) / 256 of colours interpolated bilinearly, rounded half up once. The sum over a
 * pixel (p), its neighbours in the row (h), in the column (v) and at the corners (d) is
 *	red:		    (308 p + 150 (h + h' + v + v') + 29 (d + d' + d'' + d''') + 512) >> 10
 *	blue:		    (116 p + 150 (h + h' + v + v') + 77 (d + d' + d'' + d''') + 512) >> 10
 *	green, row of red:  (600 p + 154 (h + h') + 58 (v + v') + 512) >> 10
 *	green, row of blue: (600 p + 58 (h + h') + 154 (v + v') + 512) >> 10
 * Outside of the image lies its mirror image without repeating the outermost row or column, so that the
 * colour pattern continues. 16-bit words and 10P keep their scale: engines stretch Y16 to the range of a
 * pair.
 *
 * Y12I: its 12 bits unchanged.
 */
void sx_raw_grey(const struct sx_raw *from, const struct sx_image *to);

#endif
