/*
 * Parameters, roads and columns for tests of the segmenters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/stixel_case.h"

#include <math.h>

#include "tests/slanted_case.h"

struct sx_params stixel_case_params(int height)
{
	return (struct sx_params){
		.camera = {.fx = 707.09,
			   .fy = 707.09,
			   .cx = 601.9,
			   .cy = 0.49 * height,
			   .baseline_m = 0.54,
			   .height_m = 1.65},
		.stereo = {.disparities = 128},
		.road = {.top = 33,
			 .min_height_m = 0.5,
			 .max_height_m = 3.0,
			 .max_pitch_deg = 50,
			 .max_roll_deg = 6,
			 .max_age = 30},
		.stixels = {.width = STIXEL_CASE_WIDTH,
			    .max_per_column = 128,
			    .sigma_object_px = 1.0,
			    .sigma_ground_px = 1.5,
			    .sigma_sky_px = 0.5,
			    .p_outlier = 0.15,
			    .p_outlier_sky = 0.4,
			    .p_order = 0.2,
			    .p_gravity = 0.1,
			    .p_below_ground = 0.04,
			    .epsilon_px = 1.0,
			    .depth_noise_m = 0.3,
			    .depth_order_m = 3.0,
			    .sigma_height_m = 0.05,
			    .sigma_pitch_rad = 0.005,
			    .p_invalid = 0.25,
			    .p_invalid_ground = 0.28,
			    .p_invalid_object = 0.44,
			    .p_invalid_sky = 0.28,
			    .rdp_epsilon_px = 2.0,
			    .rdp_sky_px = 1.0,
			    .rdp_ground_px = 1.5,
			    EVIDENCE_CASE,
			    .slanted = SLANTED_CASE},
	};
}

static double between(struct check_rng *r, double lo, double hi)
{
	return lo + (hi - lo) * (check_random(r) / 4294967295.0);
}

struct sx_params stixel_case_random_params(int height, struct check_rng *r)
{
	struct sx_params p = stixel_case_params(height);
	struct sx_stixel_params *s = &p.stixels;
	const double g = between(r, 0.1, 1), o = between(r, 0.1, 1), k = between(r, 0.1, 1);

	p.camera.baseline_m = between(r, 0.05, 1.0);
	p.camera.height_m = between(r, 0.2, 3.0);
	s->sigma_object_px = between(r, 0.2, 3.0);
	s->sigma_ground_px = between(r, 0.2, 3.0);
	s->sigma_sky_px = check_below(r, 4) ? between(r, 0.1, 3.0) : 0.02;
	s->p_outlier = between(r, 0.01, 0.6);
	s->p_outlier_sky = between(r, 0.01, 0.6);
	s->p_order = between(r, 0.01, 0.99);
	s->p_gravity = between(r, 0.01, 0.5);
	s->p_below_ground = between(r, 0.001, 0.45);
	s->epsilon_px = between(r, 0.25, 4.0);
	s->depth_noise_m = between(r, 0.0, 10.0);
	s->depth_order_m = check_below(r, 3) ? between(r, 0.0, 4.0) : 0.0;
	s->p_invalid = between(r, 0.0, 0.6);
	s->p_invalid_ground = g / (g + o + k);
	s->p_invalid_object = o / (g + o + k);
	s->p_invalid_sky = k / (g + o + k);
	s->rdp_epsilon_px = between(r, 0.0, 6.0);
	s->rdp_sky_px = between(r, 0.0, 3.0);
	s->rdp_ground_px = between(r, 0.0, 3.0);
	return p;
}

struct sx_road stixel_case_road(int height, int vhor, double bottom_px)
{
	struct sx_road road = {.origin = SX_ROAD_MEASURED};
	/* the road's disparity is zero half a row above the last ground row */
	const double horizon = height - vhor - 0.5;

	if (vhor > 0) {
		road.slope = bottom_px / (height - 1 - horizon);
		road.offset = -road.slope * horizon;
		road.horizon_row = horizon;
	}
	return road;
}

void stixel_case_roll(struct sx_road *road, int columns, double px)
{
	road->cross = px / (STIXEL_CASE_WIDTH * columns);
	road->axis = 0.5 * (STIXEL_CASE_WIDTH * columns - 1);
}

void stixel_case_place(struct sx_params *p, struct sx_road *road, int columns, struct check_rng *r)
{
	p->stixels.width = check_below(r, 2) ? STIXEL_CASE_WIDTH : 32;
	stixel_case_roll(road, columns, 6.0 * (check_below(r, 3) - 1));
	*road = stixel_case_road_of_width(road, p->stixels.width);
}

void stixel_case_bend(struct sx_road *road, int height, struct check_rng *r)
{
	road->bend_row = check_below(r, height);
	road->bend = road->slope * (check_below(r, 13) - 4) / 10.0;
}

struct sx_road stixel_case_road_of_width(const struct sx_road *road, int width)
{
	const double wider = (double)width / STIXEL_CASE_WIDTH;
	struct sx_road r = *road;

	r.cross = road->cross / wider;
	r.axis = (road->axis + 0.5) * wider - 0.5;
	return r;
}

struct sx_road stixel_case_road_in(const struct sx_road *road, int u)
{
	struct sx_road r = *road;

	r.offset += road->cross * (STIXEL_CASE_WIDTH * u + 0.5 * (STIXEL_CASE_WIDTH - 1) - road->axis);
	r.cross = r.axis = 0;
	return r;
}

const char *stixel_case_name(enum stixel_case how)
{
	static const char *const names[CASE_COUNT] = {"scene",	 "sharp", "noise", "flat",
						      "invalid", "comb",  "coarse"};

	return names[how];
}

static uint16_t to_q4(double px, int range)
{
	const double q = floor(px * 16 + 0.5);

	return (uint16_t)(q < 0 ? 0 : q > 16 * range - 1 ? 16 * range - 1 : q);
}

/* Draws a road, objects that recede, and sky, as disparities without noise. */
static void draw_scene(const struct sx_road *road, int range, int h, uint16_t *d, struct check_rng *r)
{
	int vhor = 0, v = 0, ground_end, top;
	double last = between(r, 1, range - 1);

	while (vhor < h && road->slope * (h - 1 - vhor) + road->offset > 0)
		vhor++;
	ground_end = vhor ? vhor / 3 + check_below(r, vhor) : 0;
	top = vhor + check_below(r, h / 3 + 1);
	for (; v < h && v < ground_end && v < vhor; v++) {
		last = road->slope * (h - 1 - v) + road->offset;
		d[v] = to_q4(last, range);
	}
	while (v < h && v < top) {
		int rows = h / 16 + 1 + check_below(r, h / 4 + 1);

		last = last * between(r, 0.4, 1.1);
		for (; rows > 0 && v < h && v < top; rows--)
			d[v++] = to_q4(last, range);
	}
	for (; v < h; v++)
		d[v] = 0;
}

static void disturb(int range, int h, uint16_t *d, struct check_rng *r)
{
	const int hole = check_below(r, h);

	for (int v = 0; v < h; v++) {
		/* sum of uniforms: close enough to a Gaussian of 0.4 px */
		double noise = 0.8 * (between(r, -1, 1) + between(r, -1, 1)) / 1.63;

		if (check_below(r, 50) == 0)
			noise += between(r, -20, 20);
		d[v] = to_q4(d[v] / 16.0 + noise, range);
		if (check_below(r, 25) == 0 || (v >= hole && v < hole + 8))
			d[v] = SX_DISPARITY_INVALID;
	}
}

void stixel_case_column(enum stixel_case how, const struct sx_road *road, int range, int h, uint16_t *d,
			struct check_rng *r)
{
	const uint16_t flat = (uint16_t)check_below(r, 16 * range);

	draw_scene(road, range, h, d, r);
	if (how == CASE_SCENE || how == CASE_COMB)
		disturb(range, h, d, r);
	for (int v = 0; v < h; v++) {
		if (how == CASE_NOISE)
			d[v] = (uint16_t)check_below(r, 16 * range);
		else if (how == CASE_FLAT)
			d[v] = flat;
		else if (how == CASE_COARSE)
			d[v] = (uint16_t)(16 * check_below(r, range < 5 ? range : 5));
		if (how == CASE_INVALID || (how == CASE_COMB && v % 2) ||
		    ((how == CASE_NOISE || how == CASE_COARSE) && check_below(r, 20) == 0))
			d[v] = SX_DISPARITY_INVALID;
	}
}

void stixel_case_columns(enum stixel_case how, const struct sx_road *road, int range,
			 const struct sx_image *columns, struct check_rng *r)
{
	for (int u = 0; u < columns->height; u++) {
		const struct sx_road seen = stixel_case_road_in(road, u);

		stixel_case_column(how, &seen, range, columns->width, sx_image_row(columns, u), r);
	}
}
