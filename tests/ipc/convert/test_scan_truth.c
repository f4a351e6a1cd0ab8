/*
 * Compares scans of the synthetic street's true stixels with the truth of its pixels: how far each direction
 * is free. The truth of an angle is the nearest object point, between 0.15 and 2 m above the road, of all
 * pixels that its ray passes. Prints the figures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/why.h"
#include "include/stixel_convert.h"
#include "stages/road/road.h"
#include "tests/scene_truth.h"

#define FRAMES 6
#define STRIDE 23 /* step between tested frames of the street */
#define WIDTH 5
#define WITHIN 0.02

struct figures {
	int angles, good, unseen, numbers;
};

struct street {
	struct sx_scene *scene;
	struct sx_scene_truth truth;
	struct stixel_frame_header header;
	struct stixel_frame frame;
	struct stixel *things, *stixels;
	uint32_t *offsets;
	struct stixel_scan_options options;
	float *ranges;
	double *nearest; /* true range per angle, m; HUGE_VAL: free */
};

static void *need(void *p)
{
	if (!p)
		abort();
	return p;
}

/* Returns the true disparity of a stixel at row y, px. */
static double disparity_at(const struct sx_scene_truth *t, const struct stixel *s, int y)
{
	const size_t middle = (size_t)y * (size_t)t->width + s->column * (size_t)WIDTH + WIDTH / 2;

	return (double)t->disparity[middle];
}

/*
 * Splits a true stixel into upright stixels. True stixels are whole objects: a car is one stixel, from its
 * bumper to its roof. Upright stixels end where the depth changes by 1 %.
 */
static uint32_t add_upright(const struct sx_scene_truth *t, const struct stixel *thing, struct stixel *ret)
{
	uint32_t n = 0;
	double sum = 0;

	for (int y = thing->row_bottom, rows = 0; y >= thing->row_top; y--) {
		const double d = disparity_at(t, thing, y);

		if (rows == 0 || fabs(d - sum / rows) > 0.01 * d) {
			ret[n++] = *thing;
			ret[n - 1].row_bottom = (uint16_t)y;
			rows = 0;
			sum = 0;
		}
		sum += d;
		rows++;
		ret[n - 1].row_top = (uint16_t)y;
		ret[n - 1].disparity_q7 = (uint16_t)lround(fmin(128 * sum / rows, 65534));
	}
	return n;
}

static void set_stixels(struct street *s)
{
	const int columns = s->truth.width / WIDTH;
	uint32_t n = 0, from = 0;

	sx_scene_stixels(&s->truth, WIDTH, s->things, s->offsets);
	for (int u = 0; u < columns; u++) {
		const uint32_t end = s->offsets[u + 1];

		for (; from < end; from++) {
			if (s->things[from].kind == STIXEL_OBJECT)
				n += add_upright(&s->truth, &s->things[from], s->stixels + n);
			else
				s->stixels[n++] = s->things[from];
		}
		s->offsets[u + 1] = n;
	}
}

/* Sets the header of a frame with the true road. */
static void set_header(struct street *s)
{
	const struct sx_scene_truth *t = &s->truth;
	struct sx_road road = {.slope = t->road_slope,
			       .offset = t->road_offset + t->road_cross * t->camera.cx,
			       .cross = t->road_cross,
			       .axis = t->camera.cx};

	sx_road_describe(&t->camera, &road);
	s->header = (struct stixel_frame_header){.header_bytes = sizeof(s->header),
						 .image_width = (uint32_t)t->width,
						 .image_height = (uint32_t)t->height,
						 .columns = (uint32_t)(t->width / WIDTH),
						 .column_width = WIDTH,
						 .disparities = 128,
						 .stixel_count = s->offsets[t->width / WIDTH],
						 .fx = t->camera.fx,
						 .fy = t->camera.fy,
						 .cx = t->camera.cx,
						 .cy = t->camera.cy,
						 .baseline_m = t->camera.baseline_m,
						 .road_origin = STIXEL_ROAD_MEASURED,
						 .road_slope = road.slope,
						 .road_offset = road.offset,
						 .road_cross = road.cross,
						 .road_axis = road.axis,
						 .horizon_row = road.horizon_row,
						 .pitch_rad = road.pitch_rad,
						 .roll_rad = road.roll_rad,
						 .height_m = road.height_m};
	s->frame = (struct stixel_frame){
		.header = &s->header, .offsets = s->offsets, .stixels = s->stixels, .bytes = &s->header};
}

/* Converts pixel (x, y) at disparity d to a point along the road: forward and to the left, m. */
static void along_road(const struct stixel_frame_header *h, double x, double y, double d, double *forward,
		       double *left)
{
	const double z = h->fx * h->baseline_m / d, roll = h->roll_rad;
	const double across = (x - h->cx) / h->fx * z, down = (y - h->cy) / h->fy * z;
	const double pitch = atan(tan(h->pitch_rad) * cos(roll));

	*forward = -sin(pitch) * (sin(roll) * across + cos(roll) * down) + cos(pitch) * z;
	*left = -cos(roll) * across + sin(roll) * down;
}

static void take_pixel(struct street *s, int x, int y)
{
	const struct stixel_scan_options *o = &s->options;
	const struct sx_scene_truth *t = &s->truth;
	const size_t at = (size_t)y * (size_t)t->width + (size_t)x;
	const double d = (double)t->disparity[at];
	double x0, y0, x1, y1, first, last;

	if (t->kind[at] != STIXEL_OBJECT || d < 1)
		return;
	if (sx_scene_point(t, x, y).height <= (double)o->height_min ||
	    sx_scene_point(t, x, y).height >= (double)o->height_max)
		return;
	along_road(&s->header, x + 0.5, y, d, &x0, &y0);
	along_road(&s->header, x - 0.5, y, d, &x1, &y1);
	first = ceil((atan2(y0, x0) - (double)o->angle_min) / (double)o->angle_increment);
	last = floor((atan2(y1, x1) - (double)o->angle_min) / (double)o->angle_increment);
	for (double i = first; i <= last; i++)
		if (i >= 0 && i < o->count)
			s->nearest[(size_t)i] =
				fmin(s->nearest[(size_t)i], (hypot(x0, y0) + hypot(x1, y1)) / 2);
}

static void set_truth(struct street *s)
{
	for (uint32_t i = 0; i < s->options.count; i++)
		s->nearest[i] = HUGE_VAL;
	for (int y = 0; y < s->truth.height; y++)
		for (int x = 0; x < s->truth.width; x++)
			take_pixel(s, x, y);
}

/*
 * True if the range at angle i is within 2 % of the truth somewhere within one stixel width of its direction:
 * the nearest value, the farthest, or one between them.
 */
static bool is_good(const struct street *s, uint32_t i)
{
	const double step = (double)s->options.angle_increment, a = (double)s->options.angle_min + i * step;
	const double stixel = WIDTH / s->header.fx * cos(a) * cos(a);
	const int64_t reach = (int64_t)ceil(stixel / step - 1e-3);
	double least = HUGE_VAL, most = 0;

	for (int64_t k = (int64_t)i - reach; k <= (int64_t)i + reach; k++)
		if (k >= 0 && k < s->options.count) {
			least = fmin(least, s->nearest[k]);
			most = fmax(most, s->nearest[k]);
		}
	if (s->ranges[i] == INFINITY)
		return most >= (double)s->options.range_max * (1 - WITHIN);
	return (double)s->ranges[i] >= least * (1 - WITHIN) && (double)s->ranges[i] <= most * (1 + WITHIN);
}

static void scan_frame(struct street *s, uint32_t number, struct figures *f)
{
	sx_scene_truth(s->scene, number, &s->truth);
	set_stixels(s);
	set_header(s);
	if (stixel_scan_defaults(&s->frame, &s->options, sizeof(s->options)) != 1)
		abort();
	if (!s->ranges) {
		s->ranges = need(calloc(s->options.count, sizeof(*s->ranges)));
		s->nearest = need(calloc(s->options.count, sizeof(*s->nearest)));
	}
	set_truth(s);
	if (stixel_scan(&s->frame, &s->options, sizeof(s->options), s->ranges) != 1)
		abort();
	for (uint32_t i = 0; i < s->options.count; i++) {
		f->angles++;
		f->good += is_good(s, i);
		f->unseen += isnan(s->ranges[i]) != 0;
		f->numbers += isfinite(s->ranges[i]) != 0;
	}
}

static bool try(const char *name, int width, int height)
{
	const struct sx_scene_params p = {.name = name, .seed = 1, .width = width, .height = height};
	const size_t columns = (size_t)(width / WIDTH);
	struct street s = {.scene = NULL};
	struct figures f = {0};
	struct sx_why why;
	bool good;

	if (sx_scene_create(&s.scene, &p, &why) < 0 || sx_scene_truth_init(&s.truth, s.scene) < 0)
		abort();
	s.things = need(calloc(columns * (size_t)height, sizeof(*s.things)));
	s.stixels = need(calloc(columns * (size_t)height, sizeof(*s.stixels)));
	s.offsets = need(calloc(columns + 1, sizeof(*s.offsets)));
	for (uint32_t n = 0; n < FRAMES; n++)
		scan_frame(&s, n * STRIDE, &f);
	good = f.good >= 0.99 * f.angles && f.numbers > 0.3 * f.angles && f.unseen < 0.01 * f.angles;
	printf("%sok - %s %dx%d: %d angles, %.2f %% within 2 %% or a stixel, %.0f %% numbers, %.1f %% nan\n",
	       good ? "" : "not ", name, width, height, f.angles, 100.0 * f.good / f.angles,
	       100.0 * f.numbers / f.angles, 100.0 * f.unseen / f.angles);
	free(s.nearest);
	free(s.ranges);
	free(s.offsets);
	free(s.stixels);
	free(s.things);
	sx_scene_truth_finish(&s.truth);
	sx_scene_destroy(s.scene);
	return good;
}

int main(void)
{
	bool good = true;

	puts("1..3");
	good = try("street", 1242, 375) && good;
	good = try("street", 640, 240) && good;
	good = try("verge", 640, 240) && good; /* this scene's road leans */
	return !good;
}
