/*
 * Road estimation, see road.h: samples of the corridor, planes through three of them, least squares over what
 * lies on the best, fallbacks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/road.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "stages/stixels/road_finder.h"

#define PI 3.14159265358979323846

int sx_road_ground(const struct sx_road *road, int height, int32_t *ground_q4)
{
	int vhor = 0;

	for (int v = 0; v < height; v++) {
		ground_q4[v] = sx_road_row_ground_q4(road->slope, road->offset, height - 1 - v);
		if (vhor == v && ground_q4[v] > 0)
			vhor = v + 1;
	}
	return vhor;
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
	const double pitch = c->pitch_deg * (PI / 180.0);
	double per_m;

	*road = (struct sx_road){.origin = SX_ROAD_NONE};
	if (!has_model(c))
		return;
	per_m = c->baseline_m / c->height_m * (c->fx / c->fy);
	*road = (struct sx_road){
		.slope = per_m * cos(pitch),
		.offset = per_m * (c->fy * sin(pitch) - c->cy * cos(pitch)),
		.axis = c->cx,
		.origin = SX_ROAD_FROM_CALIBRATION,
	};
	sx_road_describe(c, road);
}

static void set_view(struct sx_road_finder *f, const struct sx_params *p, int width, int height)
{
	const struct sx_camera *c = &p->camera;
	const double fb = c->fx * c->baseline_m;

	f->view = (struct sx_road_view){
		.camera = *c,
		.min_height_m = p->road.min_height_m,
		.max_height_m = p->road.max_height_m,
		.tan_max_pitch = tan(p->road.max_pitch_deg * (PI / 180.0)),
		.tan_max_roll = tan(p->road.max_roll_deg * (PI / 180.0)),
		.per_px = 16.0 * c->baseline_m / SX_ROAD_CORRIDOR_M,
		.width = width,
		.height = height,
		.first_row = height * p->road.top / 100,
		.least_q4 = 16,
	};
	if (!has_model(c))
		return;
	f->view.tolerance = SX_ROAD_TOLERANCE_M * c->fy / fb;
	if (16.0 * fb / SX_ROAD_REACH_M > 16.0)
		f->view.least_q4 = (int)ceil(16.0 * fb / SX_ROAD_REACH_M);
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
	set_view(f, p, width, height);
	sx_road_calibrated(&p->camera, &f->calibrated);
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

void sx_road_sample(struct sx_road_finder *f, const struct sx_image *disparity)
{
	const struct sx_road_view *w = &f->view;
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

static bool candidate_plane(const struct sx_road_finder *f, int candidate, struct sx_road_plane *p)
{
	int32_t x[3], y[3], d[3];

	if (f->samples < SX_ROAD_LEAST)
		return false;
	for (int k = 0; k < 3; k++) {
		const int i = sx_road_draw(candidate, k, f->samples);

		x[k] = f->x[i];
		y[k] = f->y[i];
		d[k] = f->d[i];
	}
	return sx_road_through(x, y, d, p) && sx_road_plausible(&f->view, p);
}

int32_t sx_road_score(const struct sx_road_finder *f, int candidate)
{
	struct sx_road_fixed fixed;
	struct sx_road_plane p;
	int32_t score = 0;

	if (!candidate_plane(f, candidate, &p))
		return INT32_MIN;
	fixed = sx_road_fix(&f->view, &p);
	for (int i = 0; i < f->samples; i += SX_ROAD_STRIDE)
		score += sx_road_side(&fixed, f->x[i], f->y[i], f->d[i]);
	return score;
}

/* One round of least squares over what lies on the plane. False when that is no road. */
static bool refine(const struct sx_road_finder *f, struct sx_road_plane *p, uint32_t *inliers)
{
	const struct sx_road_fixed fixed = sx_road_fix(&f->view, p);
	const int cx = sx_road_centre_x(&f->view), cy = sx_road_centre_y(&f->view);
	struct sx_road_sums s = {0};

	for (int i = 0; i < f->samples; i++)
		if (sx_road_side(&fixed, f->x[i], f->y[i], f->d[i]) > 0)
			sx_road_add(&s, f->x[i] - cx, f->y[i] - cy, f->d[i]);
	*inliers = (uint32_t)s.samples;
	return sx_road_enough(s.samples, f->samples) && sx_road_solve(&f->view, &s, p) &&
	       sx_road_plausible(&f->view, p);
}

static bool measure(const struct sx_road_finder *f, const int32_t *scores, struct sx_road *road)
{
	struct sx_road_plane p;
	uint32_t inliers = 0;
	int best = 0;

	for (int i = 1; i < SX_ROAD_CANDIDATES; i++)
		if (scores[i] > scores[best])
			best = i;
	if (scores[best] <= 0 || !candidate_plane(f, best, &p))
		return false;
	for (int i = 0; i < SX_ROAD_REFINEMENTS; i++)
		if (!refine(f, &p, &inliers))
			return false;
	*road = (struct sx_road){
		.slope = p.slope,
		.offset = p.at_origin + p.cross * f->view.camera.cx,
		.cross = p.cross,
		.axis = f->view.camera.cx,
		.inliers = inliers,
		.origin = SX_ROAD_MEASURED,
	};
	sx_road_describe(&f->view.camera, road);
	return true;
}

void sx_road_fit(const struct sx_road_finder *f, const int32_t *scores, const struct sx_road *previous,
		 struct sx_road *road)
{
	if (!sx_road_looks(f)) {
		*road = f->calibrated;
		return;
	}
	if (measure(f, scores, road))
		return;
	if (previous && sx_road_lasts(previous, f->params.max_age)) {
		*road = *previous;
		road->origin = SX_ROAD_PREVIOUS;
		road->age++;
		return;
	}
	*road = f->calibrated;
}

void sx_road_find(struct sx_road_finder *f, const struct sx_image *disparity, const struct sx_road *previous,
		  struct sx_road *road)
{
	int32_t scores[SX_ROAD_CANDIDATES];

	if (sx_road_looks(f)) {
		sx_road_sample(f, disparity);
		for (int i = 0; i < SX_ROAD_CANDIDATES; i++)
			scores[i] = sx_road_score(f, i);
	}
	sx_road_fit(f, scores, previous, road);
}
