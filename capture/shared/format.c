/*
 * Checks and translates the format that a writer of pairs declares.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/shared/format.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "capture/source_kinds.h"
#include "stages/rectify/rig.h"

/* Limits of a writer's camera: the same as for [camera] in the configuration. */
#define FOCAL_MOST_PX 1e5
#define BASELINE_MOST_M 10.0

static const struct pixel_row {
	enum stixel_pixel pixel;
	const char *name;
	enum sx_pixel becomes;
	enum sx_raw_packing packing;
	int red_x, red_y;
} pixels[] = {
	{STIXEL_PIXEL_GREY8, "GREY8", SX_PIXEL_U8, SX_RAW_NONE, 0, 0},
	{STIXEL_PIXEL_GREY16, "GREY16", SX_PIXEL_Y16, SX_RAW_NONE, 0, 0},
	{STIXEL_PIXEL_RGB24, "RGB24", SX_PIXEL_RGB24, SX_RAW_NONE, 0, 0},
	{STIXEL_PIXEL_YUYV, "YUYV", SX_PIXEL_YUYV, SX_RAW_NONE, 0, 0},
	{STIXEL_PIXEL_UYVY, "UYVY", SX_PIXEL_UYVY, SX_RAW_NONE, 0, 0},
	{STIXEL_PIXEL_NV12, "NV12", SX_PIXEL_NV12, SX_RAW_NONE, 0, 0},
	{STIXEL_PIXEL_RGGB8, "RGGB8", SX_PIXEL_U8, SX_RAW_8, 0, 0},
	{STIXEL_PIXEL_GRBG8, "GRBG8", SX_PIXEL_U8, SX_RAW_8, 1, 0},
	{STIXEL_PIXEL_GBRG8, "GBRG8", SX_PIXEL_U8, SX_RAW_8, 0, 1},
	{STIXEL_PIXEL_BGGR8, "BGGR8", SX_PIXEL_U8, SX_RAW_8, 1, 1},
	{STIXEL_PIXEL_RGGB16, "RGGB16", SX_PIXEL_Y16, SX_RAW_16, 0, 0},
	{STIXEL_PIXEL_GRBG16, "GRBG16", SX_PIXEL_Y16, SX_RAW_16, 1, 0},
	{STIXEL_PIXEL_GBRG16, "GBRG16", SX_PIXEL_Y16, SX_RAW_16, 0, 1},
	{STIXEL_PIXEL_BGGR16, "BGGR16", SX_PIXEL_Y16, SX_RAW_16, 1, 1},
};

static const struct pixel_row *find_pixel(uint32_t pixel)
{
	for (size_t i = 0; i < sizeof(pixels) / sizeof(pixels[0]); i++)
		if ((uint32_t)pixels[i].pixel == pixel)
			return &pixels[i];
	return NULL;
}

static unsigned step_of(const struct pixel_row *row)
{
	return row->becomes == SX_PIXEL_Y16 ? 2 : 1;
}

/* Checks the rectified camera: finite numbers, and a principal point in the image of width x height px. */
static int check_camera(const struct stixel_pairs_format *f, int width, int height, struct sx_why *why)
{
	const bool good = f->fx > 0 && f->fx <= FOCAL_MOST_PX && f->fy > 0 && f->fy <= FOCAL_MOST_PX &&
			  f->baseline_m > 0 && f->baseline_m <= BASELINE_MOST_M;

	if (!good)
		return sx_why_fail(-EINVAL, why,
				   "the camera has fx %g px, fy %g px, baseline %g m; all must be above 0, "
				   "and at most %g px and %g m",
				   f->fx, f->fy, f->baseline_m, FOCAL_MOST_PX, BASELINE_MOST_M);
	if (!(f->cx >= 0 && f->cx <= width && f->cy >= 0 && f->cy <= height))
		return sx_why_fail(-EINVAL, why, "the principal point %g, %g is outside of images of %dx%d",
				   f->cx, f->cy, width, height);
	return 0;
}

static int take_rig(struct sx_shared_format *ret, const struct stixel_pairs_format *f, struct sx_why *why)
{
	struct sx_rig *rig = &ret->rig;
	int r;

	if (f->rectified_width > SX_WIDTH_MAX || f->rectified_height > SX_HEIGHT_MAX ||
	    !f->rectified_width != !f->rectified_height)
		return sx_why_fail(-EINVAL, why, "rectified images of %ux%u px are not possible",
				   f->rectified_width, f->rectified_height);
	rig->raw_width = ret->width;
	rig->raw_height = ret->height;
	rig->width = f->rectified_width ? (int)f->rectified_width : ret->width;
	rig->height = f->rectified_height ? (int)f->rectified_height : ret->height;
	rig->fx = f->fx;
	rig->fy = f->fy;
	rig->cx = f->cx;
	rig->cy = f->cy;
	rig->baseline_m = f->baseline_m;
	for (int i = 0; i < 2; i++) {
		const struct stixel_raw_camera *from = &f->raw[i];
		struct sx_raw_camera *to = &rig->raw[i];

		if (from->lens > STIXEL_LENS_EQUIDISTANT)
			return sx_why_fail(-EINVAL, why, "lens model %u is unknown", from->lens);
		to->lens = from->lens == STIXEL_LENS_PLUMB_BOB	? SX_LENS_PLUMB_BOB
			   : from->lens == STIXEL_LENS_RATIONAL ? SX_LENS_RATIONAL
								: SX_LENS_EQUIDISTANT;
		to->fx = from->fx;
		to->fy = from->fy;
		to->cx = from->cx;
		to->cy = from->cy;
		memcpy(to->distortion, from->distortion, sizeof(to->distortion));
		memcpy(rig->rotation[i], from->rotation, sizeof(rig->rotation[i]));
	}
	r = check_camera(f, rig->width, rig->height, why);
	if (r == 0)
		r = sx_rig_check(rig, why);
	ret->has_rig = r == 0 && !sx_rig_is_rectified(rig);
	return r;
}

static int take_geometry(struct sx_shared_format *ret, const struct stixel_pairs_format *f,
			 struct sx_why *why)
{
	int r;

	if (f->fx == 0)
		return 0;
	r = f->flags & STIXEL_PAIRS_RAW ? take_rig(ret, f, why)
					: check_camera(f, ret->width, ret->height, why);
	if (r < 0)
		return r;
	ret->has_camera = true;
	ret->camera = (struct sx_camera){
		.fx = f->fx, .fy = f->fy, .cx = f->cx, .cy = f->cy, .baseline_m = f->baseline_m};
	return 0;
}

int sx_shared_format(struct sx_shared_format *ret, const struct stixel_pairs_format *f, struct sx_why *why)
{
	const struct pixel_row *row = find_pixel(f->pixel);
	size_t row_bytes;
	int r;

	*ret = (struct sx_shared_format){0};
	if (!row)
		return sx_why_fail(-EINVAL, why, "pixel format %u is unknown", f->pixel);
	if (f->width > SX_WIDTH_MAX || f->height > SX_HEIGHT_MAX)
		return sx_why_fail(-EINVAL, why, "images of %ux%u px, allowed are %dx%d to %dx%d", f->width,
				   f->height, SX_WIDTH_MIN, SX_HEIGHT_MIN, SX_WIDTH_MAX, SX_HEIGHT_MAX);
	r = sx_source_check_size("images of the writer", (int)f->width, (int)f->height, why);
	if (r < 0)
		return r;
	row_bytes =
		f->width * (row->packing ? sx_raw_row_bytes(row->packing, 1) : sx_pixel_bytes(row->becomes));
	if (f->pitch < row_bytes || f->pitch > 16 * row_bytes + 4096)
		return sx_why_fail(-EINVAL, why, "a pitch of %u bytes does not fit rows of %zu bytes",
				   f->pitch, row_bytes);
	if (f->pitch % step_of(row))
		return sx_why_fail(-EINVAL, why, "a pitch of %u bytes is odd, and a pixel has 2 bytes",
				   f->pitch);
	if (f->clock > STIXEL_CLOCK_UNKNOWN || f->stamp > STIXEL_STAMP_SOFTWARE)
		return sx_why_fail(-EINVAL, why, "clock %u or stamp %u is unknown", f->clock, f->stamp);
	if (!(f->fps >= 0 && f->fps <= SX_FPS_MAX))
		return sx_why_fail(-EINVAL, why, "%g pairs a second, allowed are 0 (unknown) to %g", f->fps,
				   SX_FPS_MAX);
	ret->width = (int)f->width;
	ret->height = (int)f->height;
	ret->pitch = f->pitch;
	ret->pixel = row->becomes;
	ret->pixel_name = row->name;
	ret->raw = (struct sx_raw){.packing = row->packing, .red_x = row->red_x, .red_y = row->red_y};
	ret->step = step_of(row);
	ret->image_bytes = (size_t)f->pitch * (f->height - 1) + row_bytes;
	ret->clock = (enum stixel_clock)f->clock;
	ret->stamp = (enum stixel_stamp)f->stamp;
	ret->fps = f->fps;
	ret->simulated = f->flags & STIXEL_PAIRS_SIMULATED;
	return take_geometry(ret, f, why);
}
