/*
 * The destination of a decoder: accepts or refuses size and pixel format.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/contract.h"
#include "capture/image/image_io_priv.h"

int sx_sink_refuse(struct sx_image_sink *sink, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	sx_why_clear(&sink->why);
	sx_why_add_list(&sink->why, format, ap);
	va_end(ap);
	return -EBADMSG;
}

int sx_sink_accept(struct sx_image_sink *sink, long width, long height, enum sx_pixel pixel)
{
	const struct sx_image *w = sink->wanted;
	int r;

	sx_must_be(!sink->image.data);
	if (width < 1 || height < 1 || width > SX_IMAGE_FILE_WIDTH_MAX || height > SX_IMAGE_FILE_HEIGHT_MAX)
		return sx_sink_refuse(sink, "%ldx%ld pixels; 1x1 to %dx%d can be read", width, height,
				      SX_IMAGE_FILE_WIDTH_MAX, SX_IMAGE_FILE_HEIGHT_MAX);
	if (w && (w->width != width || w->height != height))
		return sx_sink_refuse(sink, "%ldx%ld pixels, but the first image has %dx%d", width, height,
				      w->width, w->height);
	if (w && w->pixel != pixel)
		return sx_sink_refuse(sink, "pixels are %s, but those of the first image are %s",
				      sx_pixel_name(pixel), sx_pixel_name(w->pixel));
	if (w) {
		sink->image = *w;
		return 0;
	}
	r = sx_image_init(&sink->image, pixel, (int)width, (int)height);
	sink->allocated = r == 0;
	return r;
}
