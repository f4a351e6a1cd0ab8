/*
 * The free space of a frame from above.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "stixel.h"
#include "tools/draw/bird.h"
#include "tools/draw/overlay.h"

enum { LINE_M = 10, BESIDE_M = 20 };
static const double object_m = 1.0; /* how deep an object is drawn: stixels show only its front */

static const struct sx_rgb unseen = {18, 20, 26};
static const struct sx_rgb behind = {34, 37, 46};
static const struct sx_rgb road = {104, 66, 118};
static const struct sx_rgb line = {255, 255, 255};

int sx_bird_width(int height)
{
	return (int)(height * 2.0 * BESIDE_M / SX_BIRD_FAR_M);
}

/* Of the lowest object above what was not seen; infinite: there is none. */
static double object_beyond_m(const struct stixel_frame *f, uint32_t column)
{
	uint32_t count;
	const struct stixel *s = stixel_column(f, column, &count);

	for (uint32_t i = 0; i < count; i++) {
		const double metres = stixel_depth_m(f->header, &s[i]);

		if (s[i].kind == STIXEL_OBJECT && metres > 0.0)
			return metres;
	}
	return (double)INFINITY;
}

/* What stands at a place of the ground: across to the right, ahead. */
static struct sx_rgb look(const struct stixel_frame *f, double across_m, double ahead_m)
{
	const struct stixel_frame_header *h = f->header;
	const double focal_baseline = h->fx * h->baseline_m;
	const struct sx_overlay_params p = {.focal_baseline = focal_baseline};
	const struct sx_palette_range range = sx_overlay_range(&p);
	double column_px = h->cx + h->fx * across_m / ahead_m, reach;
	uint32_t column;
	int end;

	if (!(column_px >= 0.0 && column_px < (double)h->columns * h->column_width))
		return unseen;
	column = (uint32_t)((uint64_t)column_px / h->column_width);
	reach = stixel_free_space_m(f, column, &end);
	if (ahead_m < reach)
		return road;
	if (end == STIXEL_FREE_UNSEEN)
		reach = object_beyond_m(f, column);
	if (end != STIXEL_FREE_GROUND && ahead_m >= reach && ahead_m < reach + object_m)
		return sx_palette_distance(&range, focal_baseline / reach);
	return end == STIXEL_FREE_UNSEEN ? unseen : behind;
}

/* Lines of equal distance, with their numbers. */
static void draw_lines(struct sx_image *rgb, double metre_px)
{
	for (int m = LINE_M; m < (int)SX_BIRD_FAR_M; m += LINE_M) {
		int y = rgb->height - 1 - (int)(m * metre_px);
		struct sx_rgb *row = sx_image_row(rgb, y);
		char text[8];

		for (int x = 0; x < rgb->width; x++)
			row[x] = sx_palette_mix(row[x], line, x % 4 < 2 ? 70 : 20);
		snprintf(text, sizeof(text), "%d m", m);
		sx_legend_text(rgb, 3, y - 9, rgb->height >= 700 ? 2 : 1, text);
	}
}

int sx_bird_draw(struct sx_image *rgb, const struct stixel_frame *f)
{
	const struct stixel_frame_header *h = f->header;
	const double metre_px = rgb->height / SX_BIRD_FAR_M;

	if (rgb->pixel != SX_PIXEL_RGB24 || !(h->fx > 0.0) || !(h->baseline_m > 0.0) || h->column_width == 0)
		return -EINVAL;
	for (int y = 0; y < rgb->height; y++) {
		struct sx_rgb *row = sx_image_row(rgb, y);

		for (int x = 0; x < rgb->width; x++)
			row[x] = look(f, (x + 0.5 - rgb->width / 2.0) / metre_px,
				      (rgb->height - y - 0.5) / metre_px);
	}
	draw_lines(rgb, metre_px);
	return 0;
}
