/*
 * Draws the free space of a frame from above.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "recording/messages/obstacles.h"
#include "stixel.h"
#include "tools/draw/bird.h"
#include "tools/draw/overlay.h"

enum { STRIPE_PX = 3, LINES = 6 };
/*
 * Parts of the height: width of the view, and drawn depth of an object, of which stixels show only the
 * front.
 */
static const double sides = 2.0 / 3.0, object_part = 1.0 / 60.0;

static const struct sx_rgb unseen = {18, 20, 26};
static const struct sx_rgb behind = {34, 37, 46};
static const struct sx_rgb line = {255, 255, 255};

/* Values of a frame's columns. */
struct bird {
	const struct stixel_frame_header *h;
	const struct stixel *stixels;
	const struct sx_scale *scale;
	const char *const *classes; /* as of sx_overlay_params */
	double focal_baseline;
	double far_m; /* height of the view */
	struct sx_rgb road;
	struct stixel_free_column *free;
	float *beyond_m;  /* for each column the nearest object behind its free space, m; INFINITY: none */
	uint32_t *beyond; /* number of its stixel */
};

int sx_bird_width(int height)
{
	return (int)(height * sides);
}

/*
 * Finds for each column the nearest object behind its free space. An object may be visible behind an unseen
 * place.
 */
static int find_beyond(struct bird *b, const struct stixel_frame *f)
{
	uint8_t *stands = sx_obstacles(f);

	if (!stands)
		return -ENOMEM;
	for (uint32_t u = 0; u < f->header->columns; u++)
		b->beyond_m[u] = INFINITY;
	for (uint32_t i = 0; i < f->header->stixel_count; i++) {
		const uint32_t u = f->stixels[i].column;
		const float metres = (float)stixel_depth_m(f->header, &f->stixels[i]);

		if (stands[i] && u < f->header->columns && metres > b->free[u].to_m &&
		    metres < b->beyond_m[u]) {
			b->beyond_m[u] = metres;
			b->beyond[u] = i;
		}
	}
	free(stands);
	return 0;
}

static int look_at_columns(struct bird *b, const struct stixel_frame *f)
{
	const struct stixel_frame_header *h = f->header;

	b->h = h;
	b->stixels = f->stixels;
	b->road = sx_palette_mix(unseen, sx_palette_class(STIXEL_GROUND), 112);
	b->focal_baseline = h->fx * h->baseline_m;
	b->free = calloc(h->columns + (size_t)1, sizeof(*b->free));
	b->beyond_m = calloc(h->columns + (size_t)1, sizeof(*b->beyond_m));
	b->beyond = calloc(h->columns + (size_t)1, sizeof(*b->beyond));
	if (!b->free || !b->beyond_m || !b->beyond)
		return -ENOMEM;
	stixel_free_space(f, NULL, 0, b->free, h->columns);
	return find_beyond(b, f);
}

static bool within(const struct bird *b, double ahead_m, double front_m)
{
	return ahead_m >= front_m && ahead_m < front_m + object_part * b->far_m;
}

/* Returns the colour of the object of a stixel, at this distance. */
static struct sx_rgb object_colour(const struct bird *b, uint32_t stixel, double metres)
{
	const unsigned label = b->stixels[stixel].label;

	if (!b->classes)
		return sx_palette_distance(&b->scale->range, b->focal_baseline / metres);
	return label < STIXEL_CLASSES_MAX ? sx_palette_label(b->classes[label], label)
					  : sx_palette_class(STIXEL_OBJECT);
}

/*
 * Returns the colour of a place on the ground, across_m to the right and ahead_m ahead. stripe: selects one
 * of a drop's two colours.
 */
static struct sx_rgb look(const struct bird *b, double across_m, double ahead_m, bool stripe)
{
	const double column_px = b->h->cx + b->h->fx * across_m / ahead_m;
	const struct stixel_free_column *c;
	uint32_t column;

	if (!(column_px >= 0.0 && column_px < (double)b->h->columns * b->h->column_width))
		return unseen;
	column = (uint32_t)((uint64_t)column_px / b->h->column_width);
	c = &b->free[column];
	if (ahead_m < (double)c->to_m)
		return ahead_m >= (double)c->from_m ? b->road : unseen;
	if (c->end == STIXEL_FREE_DROP && within(b, ahead_m, (double)c->to_m))
		return stripe ? line : unseen;
	if (c->end == STIXEL_FREE_OBJECT)
		return within(b, ahead_m, (double)c->to_m) ? object_colour(b, c->stixel, (double)c->to_m)
							   : behind;
	if (within(b, ahead_m, (double)b->beyond_m[column]))
		return object_colour(b, b->beyond[column], (double)b->beyond_m[column]);
	return unseen;
}

/* Returns the distance between lines, m: a round number, for LINES lines or fewer. */
static double line_step(double far_m)
{
	static const double steps[] = {0.1, 0.2, 0.5, 1.0, 2.0, 5.0};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (far_m <= LINES * steps[i])
			return steps[i];
	return SX_BIRD_FAR_M / LINES;
}

/* Draws lines of equal distance with their numbers. */
static void draw_lines(struct sx_image *rgb, double far_m)
{
	const double step = line_step(far_m);

	for (int i = 1; i * step < far_m; i++) {
		int y = rgb->height - 1 - (int)(i * step * rgb->height / far_m);
		struct sx_rgb *row = sx_image_row(rgb, y);
		char text[24];

		for (int x = 0; x < rgb->width; x++)
			row[x] = sx_palette_mix(row[x], line, x % 4 < 2 ? 70 : 20);
		snprintf(text, sizeof(text), "%g m", i * step);
		sx_legend_text(rgb, 3, y - 9, rgb->height >= 700 ? 2 : 1, text);
	}
}

int sx_bird_draw(struct sx_image *rgb, const struct stixel_frame *f, const struct sx_scale *scale,
		 const char *const *classes)
{
	const struct stixel_frame_header *h = f->header;
	struct bird b = {
		.scale = scale, .classes = classes, .far_m = fmin(sx_scale_far(scale), SX_BIRD_FAR_M)};
	const double metre_px = rgb->height / b.far_m;
	int r;

	if (rgb->pixel != SX_PIXEL_RGB24 || !(h->fx > 0.0) || !(h->baseline_m > 0.0) || h->column_width == 0)
		return -EINVAL;
	r = look_at_columns(&b, f);
	for (int y = 0; r == 0 && y < rgb->height; y++) {
		struct sx_rgb *row = sx_image_row(rgb, y);

		for (int x = 0; x < rgb->width; x++)
			row[x] = look(&b, (x + 0.5 - rgb->width / 2.0) / metre_px,
				      (rgb->height - y - 0.5) / metre_px, (x + y) / STRIPE_PX % 2);
	}
	free(b.free);
	free(b.beyond_m);
	free(b.beyond);
	if (r == 0)
		draw_lines(rgb, b.far_m);
	return r;
}
