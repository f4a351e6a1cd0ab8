/*
 * The image formats of V4L2 that can be captured.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/v4l2/v4l2_format.h"

#include <linux/videodev2.h>

const struct sx_v4l2_format sx_v4l2_formats[SX_V4L2_FORMATS] = {
	{SX_FORMAT_GREY, "GREY", V4L2_PIX_FMT_GREY, SX_PIXEL_U8, false},
	{SX_FORMAT_NV12, "NV12", V4L2_PIX_FMT_NV12, SX_PIXEL_NV12, false},
	{SX_FORMAT_YUYV, "YUYV", V4L2_PIX_FMT_YUYV, SX_PIXEL_YUYV, false},
	{SX_FORMAT_UYVY, "UYVY", V4L2_PIX_FMT_UYVY, SX_PIXEL_UYVY, false},
	{SX_FORMAT_Y16, "Y16", V4L2_PIX_FMT_Y16, SX_PIXEL_Y16, false},
	{SX_FORMAT_Y12, "Y12", V4L2_PIX_FMT_Y12, SX_PIXEL_Y16, false},
	{SX_FORMAT_Y10, "Y10", V4L2_PIX_FMT_Y10, SX_PIXEL_Y16, false},
	{SX_FORMAT_RGB3, "RGB3", V4L2_PIX_FMT_RGB24, SX_PIXEL_RGB24, false},
	{SX_FORMAT_MJPG, "MJPG", V4L2_PIX_FMT_MJPEG, SX_PIXEL_U8, true},
};

size_t sx_v4l2_format_pitch(const struct sx_v4l2_format *f, int width)
{
	return f->compressed ? 0 : (size_t)width * sx_pixel_bytes(f->pixel);
}

size_t sx_v4l2_format_bytes(const struct sx_v4l2_format *f, size_t pitch, int height)
{
	if (f->compressed)
		return 1;
	/* the last row may end where its pixels end, but drivers do not use that */
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
