/*
 * What caps say of an image, and the copy of an image that lies elsewhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gstreamer/format.h"

#include <string.h>

#include "include/stixel_pairs.h"

static const struct format_row {
	const char *name; /* GStreamer's; names of video/x-bayer are in small letters */
	enum stixel_pixel pixel;
	guint bytes; /* bytes of a pixel in the first plane */
} format_rows[] = {
	{"GRAY8", STIXEL_PIXEL_GREY8, 1},     {"GRAY16_LE", STIXEL_PIXEL_GREY16, 2},
	{"RGB", STIXEL_PIXEL_RGB24, 3},	      {"YUY2", STIXEL_PIXEL_YUYV, 2},
	{"UYVY", STIXEL_PIXEL_UYVY, 2},	      {"NV12", STIXEL_PIXEL_NV12, 1},
	{"rggb", STIXEL_PIXEL_RGGB8, 1},      {"grbg", STIXEL_PIXEL_GRBG8, 1},
	{"gbrg", STIXEL_PIXEL_GBRG8, 1},      {"bggr", STIXEL_PIXEL_BGGR8, 1},
	{"rggb16le", STIXEL_PIXEL_RGGB16, 2}, {"grbg16le", STIXEL_PIXEL_GRBG16, 2},
	{"gbrg16le", STIXEL_PIXEL_GBRG16, 2}, {"bggr16le", STIXEL_PIXEL_BGGR16, 2},
};

static const struct format_row *format_find(const char *name)
{
	for (gsize i = 0; name && i < G_N_ELEMENTS(format_rows); i++)
		if (strcmp(format_rows[i].name, name) == 0)
			return &format_rows[i];
	return NULL;
}

gboolean sx_format_from_caps(struct sx_format *f, const GstCaps *caps)
{
	const GstStructure *s = gst_caps_get_structure(caps, 0);
	const struct format_row *row = format_find(gst_structure_get_string(s, "format"));
	gint width = 0, height = 0;

	*f = (struct sx_format){.is_raw = gst_structure_has_name(s, "video/x-raw")};
	if (!row || !gst_structure_get_int(s, "width", &width) ||
	    !gst_structure_get_int(s, "height", &height) || width <= 0 || height <= 0 ||
	    (f->is_raw && !gst_video_info_from_caps(&f->info, caps)))
		return FALSE;
	f->width = (guint)width;
	f->height = (guint)height;
	f->pixel = row->pixel;
	f->name = row->name;
	f->row_bytes = row->bytes * f->width;
	f->pitch = f->is_raw ? (guint)GST_VIDEO_INFO_PLANE_STRIDE(&f->info, 0) : GST_ROUND_UP_4(f->row_bytes);
	f->bytes = f->is_raw ? GST_VIDEO_INFO_SIZE(&f->info) : (gsize)f->pitch * f->height;
	if (!gst_structure_get_fraction(s, "framerate", &f->fps_n, &f->fps_d) || f->fps_n <= 0)
		f->fps_n = 0;
	return TRUE;
}

gboolean sx_format_equal(const struct sx_format *a, const struct sx_format *b)
{
	return a->width == b->width && a->height == b->height && a->pixel == b->pixel;
}

gboolean sx_format_fits(const struct sx_format *f, GstBuffer *buffer)
{
	const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);

	return gst_buffer_get_size(buffer) >= (gsize)f->pitch * (f->height - 1) + f->row_bytes &&
	       (!meta || (meta->offset[0] == 0 && meta->stride[0] == (gint)f->pitch));
}

static void format_copy_rows(const struct sx_format *f, guint8 *to, const guint8 *from, gsize pitch)
{
	for (guint y = 0; y < f->height; y++)
		memcpy(to + (gsize)y * f->pitch, from + y * pitch, f->row_bytes);
}

/* Patterns of Bayer have no GstVideoInfo: a row has the same share of the buffer as any other. */
static gboolean format_copy_bayer(const struct sx_format *f, GstBuffer *buffer, guint8 *to)
{
	const gsize pitch = gst_buffer_get_size(buffer) / f->height;
	GstMapInfo from;

	if (pitch < f->row_bytes || !gst_buffer_map(buffer, &from, GST_MAP_READ))
		return FALSE;
	format_copy_rows(f, to, from.data, pitch);
	gst_buffer_unmap(buffer, &from);
	return TRUE;
}

static gboolean format_copy_raw(const struct sx_format *f, GstBuffer *buffer, guint8 *to)
{
	GstVideoInfo info = f->info; /* before 1.20 not a constant */
	GstVideoFrame from;

	if (!gst_video_frame_map(&from, &info, buffer, GST_MAP_READ))
		return FALSE;
	format_copy_rows(f, to, GST_VIDEO_FRAME_PLANE_DATA(&from, 0),
			 (gsize)GST_VIDEO_FRAME_PLANE_STRIDE(&from, 0));
	gst_video_frame_unmap(&from);
	return TRUE;
}

gboolean sx_format_copy(const struct sx_format *f, GstBuffer *buffer, GstMemory *memory)
{
	GstMapInfo to;
	gboolean done;

	if (!gst_memory_map(memory, &to, GST_MAP_WRITE))
		return FALSE;
	done = f->is_raw ? format_copy_raw(f, buffer, to.data) : format_copy_bayer(f, buffer, to.data);
	gst_memory_unmap(memory, &to);
	return done;
}
