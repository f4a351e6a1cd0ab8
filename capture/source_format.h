/*
 * Layouts of the two images of a pair in what a source reads, and pixel formats of cameras.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SOURCE_FORMAT_H
#define SX_CAPTURE_SOURCE_FORMAT_H

#include <stdbool.h>

/*
 * Layout of a pair. Interleaved: pixel by pixel, the left image's pixel first; right first: the right
 * image's. Both only for v4l2.
 */
enum sx_layout {
	SX_LAYOUT_TWO,
	SX_LAYOUT_SIDE_BY_SIDE,
	SX_LAYOUT_TOP_BOTTOM,
	SX_LAYOUT_INTERLEAVED,
	SX_LAYOUT_RIGHT_FIRST
};
/*
 * v4l2: format that the cameras send. Auto: the cheapest that all cameras have at the wanted size and rate.
 */
enum sx_source_format {
	SX_FORMAT_AUTO,
	SX_FORMAT_GREY,
	SX_FORMAT_Y10,
	SX_FORMAT_Y12,
	SX_FORMAT_Y16,
	SX_FORMAT_YUYV,
	SX_FORMAT_UYVY,
	SX_FORMAT_NV12,
	SX_FORMAT_RGB3,
	SX_FORMAT_MJPG,
	SX_FORMAT_Y8I, /* both images from one camera; Y8I and Y12I need an interleaved layout */
	SX_FORMAT_Y12I,
	SX_FORMAT_SRGGB8,
	SX_FORMAT_SGRBG8,
	SX_FORMAT_SGBRG8,
	SX_FORMAT_SBGGR8,
	SX_FORMAT_SRGGB10,
	SX_FORMAT_SGRBG10,
	SX_FORMAT_SGBRG10,
	SX_FORMAT_SBGGR10,
	SX_FORMAT_SRGGB10P,
	SX_FORMAT_SGRBG10P,
	SX_FORMAT_SGBRG10P,
	SX_FORMAT_SBGGR10P,
	SX_FORMAT_SRGGB12,
	SX_FORMAT_SGRBG12,
	SX_FORMAT_SGBRG12,
	SX_FORMAT_SBGGR12
};

static inline bool sx_layout_is_interleaved(enum sx_layout layout)
{
	return layout == SX_LAYOUT_INTERLEAVED || layout == SX_LAYOUT_RIGHT_FIRST;
}

/* Returns true if this format is possible in this layout. Auto is possible in every layout. */
static inline bool sx_layout_takes(enum sx_layout layout, enum sx_source_format format)
{
	return format == SX_FORMAT_AUTO ||
	       sx_layout_is_interleaved(layout) == (format == SX_FORMAT_Y8I || format == SX_FORMAT_Y12I);
}

#endif
