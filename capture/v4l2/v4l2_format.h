/*
 * The image formats of V4L2 that can be captured.
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
 * pixel: what engines get. Y10 and Y12 lie in 16-bit words, little endian, like Y16, which is stretched per
 * pair. The bytes of Y8I are read where they lie (sx_layout_half()). What is compressed or has a packing is
 * decoded first: MJPG, Bayer patterns, Y12I.
 */
struct sx_v4l2_format {
	enum sx_source_format choice;
	const char *name; /* word of configuration and status: four characters, of Bayer the kernel's name */
	uint32_t fourcc;
	enum sx_pixel pixel;
	bool compressed;
	bool interleaved; /* both images of one camera; width is that of one */
	enum sx_raw_packing packing;
	int red_x, red_y; /* Bayer: where red is first */
};

/*
 * The formats, the cheapest first: fewest bytes to move, then least work to get grey; then those that
 * are decoded, compressed ones last.
 */
#define SX_V4L2_FORMATS 27
extern const struct sx_v4l2_format sx_v4l2_formats[SX_V4L2_FORMATS];

static inline bool sx_v4l2_format_is_decoded(const struct sx_v4l2_format *f)
{
	return f->compressed || f->packing != SX_RAW_NONE;
}

/* Smallest pitch of a row, in bytes; 0 for compressed ones. */
size_t sx_v4l2_format_pitch(const struct sx_v4l2_format *f, int width);
/* Bytes that a whole image has at this pitch, 1 for compressed ones: fewer mean a short frame. */
size_t sx_v4l2_format_bytes(const struct sx_v4l2_format *f, size_t pitch, int height);
/* Four characters and a 0; what cannot be printed becomes '.'. */
void sx_v4l2_fourcc_text(uint32_t fourcc, char text[5]);

#endif
