/*
 * Decoders of image files in memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_IMAGE_IMAGE_IO_PRIV_H
#define SX_CAPTURE_IMAGE_IMAGE_IO_PRIV_H

#include <stdbool.h>

#include "base/why.h"
#include "capture/image/image_io.h"

/*
 * Destination of an image. wanted: NULL, or the image that the file must match. image: set by
 * sx_sink_accept(). why: message without the path.
 */
struct sx_image_sink {
	const struct sx_image *wanted;
	struct sx_image image;
	bool labels; /* keep the stored numbers; PNG only */
	bool allocated;
	struct sx_image_notes notes;
	struct sx_why why;
};

/*
 * Called by a decoder once it knows size and pixel format. Checks them and provides the image. Returns 0,
 * -EBADMSG or -ENOMEM. Call it once, before allocating memory that depends on the size.
 */
int sx_sink_accept(struct sx_image_sink *sink, long width, long height, enum sx_pixel pixel);

/* Writes a message into sink->why and returns -EBADMSG. */
int sx_sink_refuse(struct sx_image_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));

int sx_decode_png(struct sx_image_sink *sink, const uint8_t *data, size_t bytes);
int sx_decode_pnm(struct sx_image_sink *sink, const uint8_t *data, size_t bytes);
int sx_decode_jpeg(struct sx_image_sink *sink, const uint8_t *data, size_t bytes);

static inline uint8_t sx_grey(unsigned r, unsigned g, unsigned b)
{
	return (uint8_t)((77 * r + 150 * g + 29 * b + 128) >> 8);
}

static inline uint16_t sx_grey16(unsigned r, unsigned g, unsigned b)
{
	return (uint16_t)((77 * r + 150 * g + 29 * b + 128) >> 8);
}

#endif
