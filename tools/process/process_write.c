/*
 * stixel-process: writes disparity, stixels and overlay to files. All files are written under temporary names
 * first, so that a pair leaves either all of its results or those of an earlier run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stixel.h"
#include "tools/common/outfile.h"
#include "tools/draw/overlay.h"
#include "tools/draw/picture.h"
#include "tools/draw/stixel_csv.h"
#include "tools/process/filled.h"
#include "tools/process/process.h"

typedef int write_fn(const struct process *p, FILE *f);

static double focal_baseline(const struct process *p)
{
	const struct sx_camera *c = &p->config.params.camera;

	return c->fx * c->baseline_m;
}

/*
 * Converts a disparity to KITTI's format: disparity * 256, 0 is invalid. A measured disparity of 0 (sky)
 * becomes 1, the smallest valid value. Disparities of 256 px and more, which do not fit into 16 bits, become
 * 65535.
 */
static uint16_t kitti(uint16_t q4)
{
	if (q4 == SX_DISPARITY_INVALID)
		return 0;
	if (q4 == 0)
		return 1;
	return q4 > 0xfff ? 0xffff : (uint16_t)(q4 << 4);
}

static int write_map(const struct process *p, FILE *f, bool filled)
{
	const struct sx_result *result = p->engine.backend->result(p->context);
	struct sx_image q4, out;
	int r;

	r = p->engine.backend->peek(p->context, SX_TAP_DISPARITY, &q4);
	if (r == 0)
		r = sx_image_init(&out, SX_PIXEL_U16, q4.width, q4.height);
	if (r < 0)
		return r;
	sx_image_copy(&out, &q4);
	if (filled)
		r = sx_filled(&out, result->stixels, result->count, p->config.params.stixels.width);
	for (int y = 0; y < out.height; y++) {
		uint16_t *d = sx_image_row(&out, y);

		for (int x = 0; x < out.width; x++)
			d[x] = kitti(d[x]);
	}
	if (r == 0)
		r = sx_picture_write(f, &out);
	sx_image_finish(&out);
	return r;
}

static int write_disparity(const struct process *p, FILE *f)
{
	return write_map(p, f, false);
}

static int write_filled(const struct process *p, FILE *f)
{
	return write_map(p, f, true);
}

static int write_stixels(const struct process *p, FILE *f)
{
	const struct sx_result *result = p->engine.backend->result(p->context);

	sx_csv_header(f);
	for (uint32_t i = 0; i < result->count; i++)
		sx_csv_stixel(f, &result->stixels[i], focal_baseline(p));
	return 0; /* sx_outfile_commit() detects write errors */
}

static struct sx_overlay_params overlay_params(const struct process *p)
{
	const struct sx_result *result = p->engine.backend->result(p->context);
	const struct sx_road *road = &result->road;
	bool known = road->origin != SX_ROAD_NONE;
	struct sx_overlay_params params = {
		.column_width = p->config.params.stixels.width,
		.scale = {.given_near_m = p->near_m, .given_far_m = p->far_m},
		.horizon_row = known ? road->horizon_row : NAN,
		.horizon_axis = road->axis,
		.horizon_slope = known ? -road->cross / road->slope : 0.0,
		.classes = p->by_class ? p->name : NULL,
	};

	sx_scale_follow(&params.scale, result->stixels, result->count,
			sx_disparity_range(&p->config.params.stereo), focal_baseline(p));
	return params;
}

/* Makes a picture of this size with room for the legend, and the part of it above the legend. */
static int begin_picture(struct sx_image *rgb, struct sx_image *above, const struct sx_image *size,
			 const struct sx_legend *legend)
{
	int r = sx_image_init(rgb, SX_PIXEL_RGB24, size->width,
			      size->height + sx_legend_height(legend, size->width));

	if (r < 0)
		return r;
	*above = *rgb;
	above->height = size->height;
	return 0;
}

/* Draws the legend, writes the picture unless r is an error, and frees it. */
static int end_picture(FILE *f, struct sx_image *rgb, int height, const struct sx_legend *legend, int r)
{
	if (r == 0) {
		sx_legend_draw(rgb, height, legend);
		r = sx_picture_write(f, rgb);
	}
	sx_image_finish(rgb);
	return r;
}

static int write_overlay(const struct process *p, FILE *f)
{
	const struct sx_result *result = p->engine.backend->result(p->context);
	struct sx_overlay_params params = overlay_params(p);
	struct sx_image left, rgb, above;
	struct sx_legend legend;
	int r;

	if (p->by_class)
		sx_legend_classes(&legend, p->name, result->stixels, result->count);
	else
		sx_legend_distances(&legend, &params.scale, true);
	r = p->engine.backend->peek(p->context, SX_TAP_LEFT, &left);
	if (r == 0)
		r = begin_picture(&rgb, &above, &left, &legend);
	if (r < 0)
		return r;
	r = sx_overlay_background(&above, &left);
	if (r == 0)
		r = sx_overlay_draw(&above, result->stixels, result->count, &params);
	return end_picture(f, &rgb, left.height, &legend, r);
}

static int write_colour(const struct process *p, FILE *f)
{
	struct sx_overlay_params params = overlay_params(p);
	struct sx_image q4, rgb;
	int r;

	r = p->engine.backend->peek(p->context, SX_TAP_DISPARITY, &q4);
	if (r == 0)
		r = sx_image_init(&rgb, SX_PIXEL_RGB24, q4.width, q4.height);
	if (r < 0)
		return r;
	r = sx_overlay_disparity(&rgb, &q4, &params.scale);
	if (r == 0)
		r = sx_picture_write(f, &rgb);
	sx_image_finish(&rgb);
	return r;
}

static const struct output {
	const char *suffix;
	write_fn *write;
} outputs[] = {
	{"disparity.png", write_disparity},
	{"stixels.csv", write_stixels},
	{"overlay.png", write_overlay},
	/* optional outputs */
	{"disparity-colour.png", write_colour},
	{"disparity-filled.png", write_filled},
};

#define OUTPUTS (sizeof(outputs) / sizeof(outputs[0]))

/* Returns whether an output is written. Optional outputs need an option. */
static bool is_wanted(const struct process *p, const struct output *o)
{
	return o->write == write_colour ? p->colour : o->write != write_filled || p->filled;
}

static int write_one(const struct process *p, const struct output *o, const char *name,
		     struct sx_outfile *file)
{
	char path[PATH_MAX];
	int n, r;

	n = snprintf(path, sizeof(path), "%s/%s.%s", p->folder, name, o->suffix);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -ENAMETOOLONG;
	r = sx_outfile_open(file, path);
	return r < 0 ? r : o->write(p, file->f);
}

int process_write(const struct process *p, const char *name, struct sx_why *why)
{
	/* static, because 32 kB of paths are too large for the stack */
	static struct sx_outfile files[OUTPUTS];
	size_t i;
	int r = 0;

	memset(files, 0, sizeof(files));
	for (i = 0; i < OUTPUTS; i++) {
		if (is_wanted(p, &outputs[i]))
			r = write_one(p, &outputs[i], name, &files[i]);
		if (r < 0)
			goto fail;
	}
	for (i = 0; i < OUTPUTS; i++) {
		if (is_wanted(p, &outputs[i]))
			r = sx_outfile_commit(&files[i]);
		if (r < 0)
			goto fail;
	}
	return 0;
fail:
	sx_why_set(why, "cannot write %s/%s.%s: %s", p->folder, name, outputs[i].suffix, strerror(-r));
	for (size_t k = 0; k < OUTPUTS; k++)
		sx_outfile_abort(&files[k]);
	return r;
}
