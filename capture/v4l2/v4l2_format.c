/*
 * The image formats of V4L2 that can be captured.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/v4l2/v4l2_format.h"

#include <linux/videodev2.h>

#include "base/contract.h"

#define DIRECT(choice, name, fourcc, pixel)                                  \
	{                                                                    \
		choice, name, fourcc, pixel, false, false, SX_RAW_NONE, 0, 0 \
	}
#define BAYER(name, pixel, packing, red_x, red_y)                                                        \
	{                                                                                                \
		SX_FORMAT_##name, #name, V4L2_PIX_FMT_##name, pixel, false, false, packing, red_x, red_y \
	}
#define BAYER_ORDERS(bits, pixel, packing)                                                  \
	BAYER(SRGGB##bits, pixel, packing, 0, 0), BAYER(SGRBG##bits, pixel, packing, 1, 0), \
		BAYER(SGBRG##bits, pixel, packing, 0, 1), BAYER(SBGGR##bits, pixel, packing, 1, 1)

const struct sx_v4l2_format sx_v4l2_formats[SX_V4L2_FORMATS] = {
	DIRECT(SX_FORMAT_GREY, "GREY", V4L2_PIX_FMT_GREY, SX_PIXEL_U8),
	DIRECT(SX_FORMAT_NV12, "NV12", V4L2_PIX_FMT_NV12, SX_PIXEL_NV12),
	DIRECT(SX_FORMAT_YUYV, "YUYV", V4L2_PIX_FMT_YUYV, SX_PIXEL_YUYV),
	DIRECT(SX_FORMAT_UYVY, "UYVY", V4L2_PIX_FMT_UYVY, SX_PIXEL_UYVY),
	DIRECT(SX_FORMAT_Y16, "Y16", V4L2_PIX_FMT_Y16, SX_PIXEL_Y16),
	DIRECT(SX_FORMAT_Y12, "Y12", V4L2_PIX_FMT_Y12, SX_PIXEL_Y16),
	DIRECT(SX_FORMAT_Y10, "Y10", V4L2_PIX_FMT_Y10, SX_PIXEL_Y16),
	DIRECT(SX_FORMAT_RGB3, "RGB3", V4L2_PIX_FMT_RGB24, SX_PIXEL_RGB24),
	{SX_FORMAT_Y8I, "Y8I", V4L2_PIX_FMT_Y8I, SX_PIXEL_YUYV, false, true, SX_RAW_NONE, 0, 0},
	{SX_FORMAT_Y12I, "Y12I", V4L2_PIX_FMT_Y12I, SX_PIXEL_Y16, false, true, SX_RAW_Y12I, 0, 0},
	BAYER_ORDERS(8, SX_PIXEL_U8, SX_RAW_8),
	BAYER_ORDERS(10P, SX_PIXEL_Y16, SX_RAW_10P),
	BAYER_ORDERS(10, SX_PIXEL_Y16, SX_RAW_16),
	BAYER_ORDERS(12, SX_PIXEL_Y16, SX_RAW_16),
	{SX_FORMAT_MJPG, "MJPG", V4L2_PIX_FMT_MJPEG, SX_PIXEL_U8, true, false, SX_RAW_NONE, 0, 0},
};

size_t sx_v4l2_format_pitch(const struct sx_v4l2_format *f, int width)
{
	sx_must(width, >, 0);
	if (f->packing != SX_RAW_NONE)
		return sx_raw_row_bytes(f->packing, width);
	return f->compressed ? 0 : (size_t)width * sx_pixel_bytes(f->pixel);
}

size_t sx_v4l2_format_bytes(const struct sx_v4l2_format *f, size_t pitch, int height)
{
	sx_must_be(f->compressed || pitch > 0);
	if (f->compressed)
		return 1;
	/* the last row could end with its pixels, but drivers deliver full rows */
	return pitch * (size_t)height + (f->pixel == SX_PIXEL_NV12 ? pitch * (size_t)((height + 1) / 2) : 0);
}

void sx_v4l2_fourcc_text(uint32_t fourcc, char text[5])
{
	for (int i = 0; i < 4; i++) {
		char c = (char)(fourcc >> (8 * i) & 127);

		text[i] = c >= ' ' && c < 127 ? c : '.';
	}
	text[4] = 0;
}
