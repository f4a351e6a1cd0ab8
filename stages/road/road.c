/*
 * Road estimation, see road.h: samples of the corridor, planes through three of them, least squares over the
 * samples on the best plane, fallbacks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/road/road.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "stages/road/road_finder.h"
#include "stages/road/road_scale.h"

#define PI 3.14159265358979323846

void sx_road_ground(const struct sx_road *road, int height, int32_t *axis_q4)
{
	for (int v = 0; v < height; v++)
		axis_q4[v] = sx_road_row_ground_q4(road, height - 1 - v);
}

/* Returns the number of rows from the bottom on whose ground is above a limit. */
static int rows_above(const int32_t *ground_q4, int height, int32_t limit_q4)
{
	int rows = 0;

	while (rows < height && ground_q4[rows] > limit_q4)
		rows++;
	return rows;
}

int sx_road_column_ground(const int32_t *axis_q4, int height, int32_t shift_q4, int32_t *ground_q4)
{
	for (int v = 0; v < height; v++)
		ground_q4[v] = axis_q4[v] + shift_q4;
	return rows_above(ground_q4, height, 0);
}

int sx_road_unseen_rows(const int32_t *ground_q4, int height, int u, int width)
{
	return rows_above(ground_q4, height, sx_road_in_view_q4(u, width));
}

void sx_road_describe(const struct sx_camera *c, struct sx_road *road)
{
	const double t = (c->cy + road->offset / road->slope) / c->fy;
	const double r = road->cross * c->fx / (road->slope * c->fy);

	road->horizon_row = -road->offset / road->slope;
	road->pitch_rad = atan(t);
	road->roll_rad = atan(r);
	road->height_m = c->baseline_m * (c->fx / c->fy) / (road->slope * sqrt((1.0 + t * t) + r * r));
}

static bool has_model(const struct sx_camera *c)
{
	return c->fx > 0 && c->fy > 0 && c->baseline_m > 0 && c->height_m > 0;
}

void sx_road_calibrated(const struct sx_camera *c, struct sx_road *road)
{
	const double pitch = c->pitch_deg * (PI / 180.0), roll_tangent = tan(c->roll_deg * (PI / 180.0));
	const double across = roll_tangent * cos(pitch);
	double per_m;

	*road = (struct sx_road){.origin = SX_ROAD_NONE};
	if (!has_model(c))
		return;
	/* the normal of the plane is (tan roll, 1, tan pitch), scaled to length 1 */
	per_m = c->baseline_m / c->height_m * (c->fx / c->fy) / sqrt(1.0 + across * across);
	*road = (struct sx_road){
		.slope = per_m * cos(pitch),
		.offset = per_m * (c->fy * sin(pitch) - c->cy * cos(pitch)),
		.cross = per_m * cos(pitch) * (c->fy / c->fx) * roll_tangent,
		.axis = c->cx,
		.origin = SX_ROAD_FROM_CALIBRATION,
	};
	sx_road_describe(c, road);
}

void sx_road_heights(const struct sx_params *p, double *least, double *most)
{
	const struct sx_road_scale s = sx_road_scale_of(p->camera.height_m);

	*least = p->road.min_height_m > 0 ? p->road.min_height_m : p->camera.height_m / s.higher;
	*most = p->road.max_height_m > 0 ? p->road.max_height_m : p->camera.height_m / s.lower;
}

/*
 * Computes the accepted pitches: the given limit to both sides, or limits derived from camera.height_m and
 * pitch_deg.
 */
static void set_pitches(struct sx_road_view *w, const struct sx_params *p, const struct sx_road_scale *s)
{
	const double given = p->road.max_pitch_deg, mounted = (1.0 - s->car) * p->camera.pitch_deg;
	const double least = given > 0 ? -given : fmax(mounted - s->fall_deg, -80.0);
	const double most = given > 0 ? given : fmin(mounted + s->rise_deg, 80.0);

	w->tan_least_pitch = tan(least * (PI / 180.0));
	w->tan_most_pitch = tan(most * (PI / 180.0));
	w->tan_pitch = tan(p->camera.pitch_deg * (PI / 180.0));
}

/* Limits a column to the image, because the camera's axis can lie outside it. */
static int column_of(double x, int width)
{
	return x > 0 ? x < width - 1 ? (int)x : width - 1 : 0;
}

/* Computes the part of the map that is searched. Needs the rest of the view. */
static void set_places(struct sx_road_view *w, int top, const struct sx_road_scale *s)
{
	const struct sx_camera *c = &w->camera;
	const double beside = c->fx * SX_ROAD_CORRIDOR_M / SX_ROAD_BEND_BESIDE_M;
	const double least_q4 = 16.0 * (c->fx * c->baseline_m) / (SX_ROAD_REACH_M * s->length);

	w->end_column = w->width;
	w->first_row = w->height * top / 100;
	w->end_row = w->height - s->last_rows > w->first_row ? w->height - s->last_rows : w->height;
	w->least_q4 = least_q4 > 16.0 ? (int)ceil(least_q4) : 16;
	w->far_first_column = column_of(c->cx - beside, w->width);
	w->far_end_column = column_of(c->cx + beside, w->width);
}

static void set_view(struct sx_road_finder *f, const struct sx_params *p, int width, int height)
{
	const struct sx_camera *c = &p->camera;
	const struct sx_road_scale s = sx_road_scale_of(c->height_m);
	const struct sx_road *e = &f->calibrated;
	const int falls = (int)rint(s.falls);
	struct sx_road_view *w = &f->view;

	*w = (struct sx_road_view){.camera = *c, .width = width, .height = height};
	if (!has_model(c))
		return;
	*w = (struct sx_road_view){
		.camera = *c,
		.tan_least_roll = tan((c->roll_deg - p->road.max_roll_deg) * (PI / 180.0)),
		.tan_most_roll = tan((c->roll_deg + p->road.max_roll_deg) * (PI / 180.0)),
		.per_px = 16.0 * c->baseline_m / (SX_ROAD_CORRIDOR_M * s.length),
		.tolerance = s.tolerance_m * c->fy / (c->fx * c->baseline_m),
		.least_tolerance = (int32_t)rint(65536.0 * s.tolerance_px),
		.closer = (int32_t)rint(256.0 * s.closer),
		.share = (int32_t)rint(s.share),
		.favour = (int32_t)rint(256.0 * s.favour),
		.expected = {e->slope, e->cross, e->offset - e->cross * e->axis},
		.bend_first_m = s.bend_first_m,
		.bend_step_m = s.bend_step_m,
		.grades = s.grades,
		.falls = falls,
		.bend_gain = (int32_t)rint(s.bend_gain),
		.bend_on = (int32_t)rint(s.bend_on),
		.bend_tolerance = (int32_t)rint(65536.0 * s.bend_px),
		.steps = s.car < 1.0,
		.bend_reach = 1.2 * (16 - falls) / s.grades,
		.elsewhere = 1.0 - s.car,
		.width = width,
		.height = height,
	};
	sx_road_heights(p, &w->min_height_m, &w->max_height_m);
	/* given height limits apply exactly, without an allowance for ramps */
	w->ramp_m = p->road.min_height_m > 0 || p->road.max_height_m > 0 ? 0.0 : s.ramp_m;
	set_pitches(w, p, &s);
	set_places(w, p->road.top, &s);
}

int sx_road_finder_create(struct sx_road_finder **ret, const struct sx_params *p, int width, int height,
			  int range)
{
	struct sx_road_finder *f;

	if (width < 1 || height < 1 || width > 65535 || height > 65535 || range < 1 || range > 4096)
		return -EINVAL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->params = p->road;
	sx_road_calibrated(&p->camera, &f->calibrated);
	set_view(f, p, width, height);
	*ret = f;
	return 0;
}

void sx_road_finder_destroy(struct sx_road_finder *f)
{
	free(f);
}

size_t sx_road_finder_bytes(const struct sx_road_finder *f)
{
	return sizeof(*f);
}

static void take_samples(struct sx_road_finder *f, const struct sx_road_view *w,
			 const struct sx_image *disparity)
{
	int n = 0;

	for (int j = 0; j < SX_ROAD_GRID; j++) {
		const int y = sx_road_grid_y(w, j);
		const uint16_t *row = sx_image_row(disparity, y);

		for (int i = 0; i < SX_ROAD_GRID; i++) {
			const int x = sx_road_grid_x(w, i);

			if (!sx_road_inside(w, x, row[x]))
				continue;
			f->x[n] = x;
			f->y[n] = y;
			f->d[n++] = row[x];
		}
	}
	f->samples = n;
}

void sx_road_sample(struct sx_road_finder *f, const struct sx_image *disparity)
{
	take_samples(f, &f->view, disparity);
}

static bool candidate_plane(const struct sx_road_finder *f, int candidate, struct sx_road_plane *p)
{
	int32_t x[3], y[3], d[3];

	if (f->samples < SX_ROAD_LEAST)
		return false;
	if (sx_road_is_expected(&f->view, candidate)) {
		*p = f->view.expected;
		return sx_road_plausible(&f->view, p);
	}
	for (int k = 0; k < 3; k++) {
		const int i = sx_road_draw(candidate, k, f->samples);

		x[k] = f->x[i];
		y[k] = f->y[i];
		d[k] = f->d[i];
	}
	return sx_road_through(x, y, d, p) && sx_road_plausible(&f->view, p);
}

static int32_t score_of(const struct sx_road_finder *f, const struct sx_road_view *w,
			const struct sx_road_fixed *fixed)
{
	int32_t score = 0;

	for (int i = 0; i < f->samples; i += SX_ROAD_STRIDE)
		score += sx_road_side(w, fixed, f->x[i], f->y[i], f->d[i]);
	return score;
}

int32_t sx_road_score(const struct sx_road_finder *f, int candidate)
{
	struct sx_road_fixed fixed;
	struct sx_road_plane p;

	if (!candidate_plane(f, candidate, &p))
		return INT32_MIN;
	fixed = sx_road_fix(&f->view, &p);
	return sx_road_worth(&f->view, candidate, score_of(f, &f->view, &fixed), f->samples);
}

void sx_road_sample_far(struct sx_road_finder *f, const struct sx_image *disparity)
{
	f->far = sx_road_far(&f->view, &f->plane);
	take_samples(f, &f->far, disparity);
}

int32_t sx_road_bend_score(const struct sx_road_finder *f, int round, int candidate)
{
	const struct sx_road_knee knee = sx_road_knee_of(&f->view, round, &f->knee, candidate);
	struct sx_road_fixed fixed = sx_road_fix(&f->view, &f->plane);
	struct sx_road_bent bent;

	if (!sx_road_bend(&f->view, &f->plane, &knee, &bent))
		return INT32_MIN;
	fixed.bend = (int32_t)rint(bent.slope * 65536.0);
	fixed.bend_row = (int32_t)bent.row;
	fixed.bend_step = (int32_t)rint(bent.step * 65536.0);
	return score_of(f, &f->far, &fixed);
}

/* Makes one round of least squares over the samples on the plane. False: the result is no road. */
static bool refine(const struct sx_road_finder *f, struct sx_road_plane *p, struct sx_road_sums *sums)
{
	const struct sx_road_fixed fixed = sx_road_fix(&f->view, p);
	const int cx = sx_road_centre_x(&f->view), cy = sx_road_centre_y(&f->view);
	struct sx_road_sums s = {0};

	for (int i = 0; i < f->samples; i++)
		if (sx_road_fitted(&f->view, &fixed, f->x[i], f->y[i], f->d[i]))
			sx_road_add(&s, f->x[i] - cx, f->y[i] - cy, f->d[i]);
	*sums = s;
	return sx_road_enough(&f->view, s.samples, f->samples) && sx_road_solve(&f->view, &s, p) &&
	       sx_road_plausible(&f->view, p);
}

void sx_road_measure(struct sx_road_finder *f, const int32_t *scores)
{
	struct sx_road_plane p;
	int best = 0;

	f->found = false;
	f->based = f->view.favour > 0 && sx_road_plausible(&f->view, &f->view.expected);
	f->plane = f->view.expected;
	for (int i = 1; i < SX_ROAD_CANDIDATES; i++)
		if (scores[i] > scores[best])
			best = i;
	if (scores[best] <= 0 || !candidate_plane(f, best, &p))
		return;
	for (int i = 0; i < SX_ROAD_REFINEMENTS; i++)
		if (!refine(f, &p, &f->sums))
			return;
	f->plane = p;
	f->seen = f->samples;
	f->found = f->based = true;
}

void sx_road_choose_bend(struct sx_road_finder *f, int round, const int32_t *scores)
{
	int best = 0;

	f->step_score = INT32_MIN;
	for (int i = 1; i < SX_ROAD_BENDS; i++) {
		const bool step = sx_road_is_step(&f->view, round, i);

		if (step && scores[i] > f->step_score)
			f->step_score = scores[i];
		if (!step && scores[i] > scores[best])
			best = i;
	}
	f->knee = sx_road_knee_of(&f->view, round, &f->knee, best);
	f->bend_score = scores[best];
}

static void set_bend(const struct sx_road_finder *f, struct sx_road *road)
{
	const struct sx_road_fixed plane = sx_road_fix(&f->view, &f->plane);

	struct sx_road_bent bent;

	if (sx_road_bends(&f->view, f->bend_score, score_of(f, &f->far, &plane), f->step_score, f->samples) &&
	    sx_road_bend(&f->view, &f->plane, &f->knee, &bent)) {
		road->bend = bent.slope;
		road->bend_row = bent.row;
	}
}

void sx_road_finish(const struct sx_road_finder *f, const struct sx_road *previous, struct sx_road *road)
{
	if (sx_road_looks(f) && f->found) {
		*road = (struct sx_road){
			.slope = f->plane.slope,
			.offset = f->plane.at_origin + f->plane.cross * f->view.camera.cx,
			.cross = f->plane.cross,
			.axis = f->view.camera.cx,
			.inliers = (uint32_t)f->sums.samples,
			.origin = SX_ROAD_MEASURED,
		};
		set_bend(f, road);
		sx_road_describe(&f->view.camera, road);
		sx_road_sigmas(&f->view, &f->sums, f->seen, &f->plane, road);
	} else if (sx_road_looks(f) && previous && sx_road_lasts(previous, f->params.max_age)) {
		*road = *previous;
		road->origin = SX_ROAD_PREVIOUS;
		road->age++;
	} else {
		*road = f->calibrated;
		if (sx_road_looks(f) && f->based)
			set_bend(f, road);
	}
}

void sx_road_find(struct sx_road_finder *f, const struct sx_image *disparity, const struct sx_road *previous,
		  struct sx_road *road)
{
	int32_t scores[SX_ROAD_CANDIDATES];

	if (sx_road_looks(f)) {
		sx_road_sample(f, disparity);
		for (int i = 0; i < SX_ROAD_CANDIDATES; i++)
			scores[i] = sx_road_score(f, i);
		sx_road_measure(f, scores);
		for (int round = 0; f->based && round < SX_ROAD_BEND_ROUNDS; round++) {
			if (round == 0)
				sx_road_sample_far(f, disparity);
			for (int i = 0; i < SX_ROAD_BENDS; i++)
				scores[i] = sx_road_bend_score(f, round, i);
			sx_road_choose_bend(f, round, scores);
		}
	}
	sx_road_finish(f, previous, road);
}
