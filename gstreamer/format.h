/*
 * What caps say of an image, and the copy of an image that lies elsewhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GSTREAMER_FORMAT_H
#define SX_GSTREAMER_FORMAT_H

#include <gst/video/video.h>

/* Caps of both pads. */
#define SX_FORMAT_CAPS                                                                  \
	SX_FORMAT_CAPS_OF("video/x-raw", "{ GRAY8, NV12, GRAY16_LE, YUY2, UYVY, RGB }") \
	"; " SX_FORMAT_CAPS_OF("video/x-bayer",                                         \
			       "{ rggb, grbg, gbrg, bggr, rggb16le, grbg16le, gbrg16le, bggr16le }")
#define SX_FORMAT_CAPS_OF(media, formats) \
	media ", format = " formats       \
	      ", width = [ 32, 4096 ], height = [ 32, 2160 ], framerate = [ 0/1, 2147483647/1 ]"

/* The usual layout of images of these caps: the daemon reads the first plane of it, row by row. */
struct sx_format {
	guint width, height; /* px */
	guint pixel;	     /* enum stixel_pixel */
	const char *name;    /* name of the pixels in caps */
	guint row_bytes;     /* bytes of a row that hold pixels */
	guint pitch;	     /* distance between two rows, bytes */
	gsize bytes;	     /* size of an image with all its planes */
	gint fps_n, fps_d;   /* images per second; fps_n 0: unknown */
	gboolean is_raw;     /* video/x-raw, and `info` is valid */
	GstVideoInfo info;
};

/* Reads fixed caps. FALSE: they are not caps of SX_FORMAT_CAPS. */
gboolean sx_format_from_caps(struct sx_format *format, const GstCaps *caps);
/* Returns true if pairs of both formats would be the same to the daemon. */
gboolean sx_format_equal(const struct sx_format *a, const struct sx_format *b);
/* Returns true if the first plane of the buffer lies as the daemon reads it. */
gboolean sx_format_fits(const struct sx_format *format, GstBuffer *buffer);
/* Copies the first plane of the buffer to `to`, which has the usual layout. FALSE: the buffer is too short. */
gboolean sx_format_copy(const struct sx_format *format, GstBuffer *buffer, GstMemory *to);

#endif
