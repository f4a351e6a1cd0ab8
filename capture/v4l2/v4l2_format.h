/*
 * The V4L2 image formats that can be captured.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_V4L2_V4L2_FORMAT_H
#define SX_CAPTURE_V4L2_V4L2_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/image.h"
#include "capture/source.h"
#include "capture/v4l2/raw.h"

/*
 * An image format. pixel: format for engines. Y10 and Y12 are in 16-bit words, little endian, like Y16, which
 * engines stretch per pair. Y8I is read in place (sx_layout_half()). Compressed formats and formats with a
 * packing are decoded first: MJPG, Bayer patterns, Y12I.
 */
struct sx_v4l2_format {
	enum sx_source_format choice;
	const char *name; /* name in configuration and status: four characters; for Bayer the kernel's name */
	uint32_t fourcc;
	enum sx_pixel pixel;
	bool compressed;
	bool interleaved; /* both images from one camera; width is that of one image */
	enum sx_raw_packing packing;
	int red_x, red_y; /* Bayer: column and row of the first red pixel */
};

/*
 * The formats, cheapest first: fewest bytes to move, then least work to convert to grey. Formats that need
 * decoding follow, compressed ones last.
 */
#define SX_V4L2_FORMATS 27
extern const struct sx_v4l2_format sx_v4l2_formats[SX_V4L2_FORMATS];

static inline bool sx_v4l2_format_is_decoded(const struct sx_v4l2_format *f)
{
	return f->compressed || f->packing != SX_RAW_NONE;
}

/* Returns the smallest pitch of a row, bytes; 0 for compressed formats. */
size_t sx_v4l2_format_pitch(const struct sx_v4l2_format *f, int width);
/*
 * Returns the bytes of a whole image at this pitch; 1 for compressed formats. An image with fewer bytes is
 * short.
 */
size_t sx_v4l2_format_bytes(const struct sx_v4l2_format *f, size_t pitch, int height);
/* Writes four characters and a 0. Unprintable characters become '.'. */
void sx_v4l2_fourcc_text(uint32_t fourcc, char text[5]);

#endif
