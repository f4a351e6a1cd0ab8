/*
 * Road estimation, see road.h: v-disparity histogram, integer Hough transform, least squares, fallbacks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/road.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stages/stixels/road_line.h"

#define PI 3.14159265358979323846

/* A line of the Hough transform: k * cos + y * sin = rho. */
struct line {
	int votes, angle, rho;
};

int sx_road_ground(const struct sx_road *road, int height, int32_t *ground_q4)
{
	int vhor = 0;

	for (int v = 0; v < height; v++) {
		ground_q4[v] = sx_road_line_ground_q4(road->slope, road->offset, height - 1 - v);
		if (vhor == v && ground_q4[v] > 0)
			vhor = v + 1;
	}
	return vhor;
}

void sx_road_describe(const struct sx_camera *c, struct sx_road *road)
{
	const double t = (c->cy + road->offset / road->slope) / c->fy;

	road->horizon_row = -road->offset / road->slope;
	road->pitch_rad = atan(t);
	road->height_m = c->baseline_m * (c->fx / c->fy) / (road->slope * sqrt(1.0 + t * t));
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
		.origin = SX_ROAD_FROM_CALIBRATION,
	};
	sx_road_describe(c, road);
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
	f->camera = p->camera;
	f->width = width;
	f->height = height;
	f->range = range;
	f->first_row = height * p->road.top / 100;
	f->first_column = width / 10;
	f->end_column = width - width / 10;
	/* 25 rows of a line must be seen, fewer in small images */
	f->needed_votes = (height - f->first_row) / 3 < 25 ? (height - f->first_row) / 3 : 25;
	f->tan_max_pitch = tan(p->road.max_pitch_deg * (PI / 180.0));
	sx_road_calibrated(&p->camera, &f->calibrated);
	f->rhos = height + 2 * range;
	for (int i = 0; i < SX_HOUGH_ANGLES; i++) {
		f->cos_q14[i] = (int16_t)lrint(cos((SX_HOUGH_FIRST + i) * (PI / 180.0)) * 16384.0);
		f->sin_q14[i] = (int16_t)lrint(sin((SX_HOUGH_FIRST + i) * (PI / 180.0)) * 16384.0);
	}
	f->histogram = calloc((size_t)height * (size_t)range, sizeof(*f->histogram));
	f->points = calloc((size_t)height * (size_t)range, sizeof(*f->points));
	f->votes = calloc((size_t)SX_HOUGH_ANGLES * (size_t)f->rhos, sizeof(*f->votes));
	if (!f->histogram || !f->points || !f->votes) {
		sx_road_finder_destroy(f);
		return -ENOMEM;
	}
	*ret = f;
	return 0;
}

void sx_road_finder_destroy(struct sx_road_finder *f)
{
	if (!f)
		return;
	free(f->histogram);
	free(f->points);
	free(f->votes);
	free(f);
}

size_t sx_road_finder_bytes(const struct sx_road_finder *f)
{
	return sizeof(*f) +
	       (size_t)f->height * (size_t)f->range * (sizeof(*f->histogram) + sizeof(*f->points)) +
	       (size_t)SX_HOUGH_ANGLES * (size_t)f->rhos * sizeof(*f->votes);
}

void sx_road_histogram_row(struct sx_road_finder *f, const struct sx_image *disparity, int y)
{
	uint16_t *bins = f->histogram + (size_t)y * (size_t)f->range;
	const uint16_t *d = sx_image_row(disparity, y);

	memset(bins, 0, (size_t)f->range * sizeof(*bins));
	for (int x = f->first_column; x < f->end_column; x++) {
		int k = (d[x] + 8) >> 4; /* invalid is far out of range */

		if (k < f->range)
			bins[k]++;
	}
	bins[0] = 0; /* sky and what is far away tell nothing about the ground */
}

/* Cells above the threshold. Returns how many; *weight: pixels in all cells. */
static int set_points(struct sx_road_finder *f, int64_t *weight)
{
	const size_t first = (size_t)f->first_row * (size_t)f->range;
	const size_t end = (size_t)f->height * (size_t)f->range;
	int max = 0, n = 0;

	*weight = 0;
	for (size_t i = first; i < end; i++) {
		max = f->histogram[i] > max ? f->histogram[i] : max;
		*weight += f->histogram[i];
	}
	for (int y = f->first_row; y < f->height; y++) {
		const uint16_t *bins = f->histogram + (size_t)y * (size_t)f->range;

		for (int k = 1; k < f->range; k++)
			if (100 * (int)bins[k] > f->params.threshold * max)
				f->points[n++] = (uint32_t)y << 16 | (uint32_t)k;
	}
	return n;
}

static void vote(struct sx_road_finder *f, int points)
{
	memset(f->votes, 0, (size_t)SX_HOUGH_ANGLES * (size_t)f->rhos * sizeof(*f->votes));
	for (int a = 0; a < SX_HOUGH_ANGLES; a++) {
		uint16_t *votes = f->votes + (size_t)a * (size_t)f->rhos + f->range;
		const int c = f->cos_q14[a], s = f->sin_q14[a];

		for (int i = 0; i < points; i++) {
			const int y = (int)(f->points[i] >> 16), k = (int)(f->points[i] & 0xffff);

			votes[(k * c + y * s + 8192) >> 14]++;
		}
	}
}

static bool plausible(const struct sx_road_finder *f, double slope, double offset)
{
	return sx_road_line_plausible(&f->camera, &f->params, f->tan_max_pitch, slope, offset);
}

static void line_of(const struct sx_road_finder *f, const struct line *l, double *slope, double *offset)
{
	sx_road_line_of_hough(f->cos_q14[l->angle], f->sin_q14[l->angle], l->rho, slope, offset);
}

/* Order of candidates: votes falling, then angle rising, then rho rising. */
static bool before(const struct line *a, const struct line *b)
{
	if (a->votes != b->votes)
		return a->votes > b->votes;
	return a->angle != b->angle ? a->angle < b->angle : a->rho < b->rho;
}

static bool is_peak(const struct sx_road_finder *f, const uint16_t *v)
{
	return v[0] > v[-1] && v[0] >= v[1] && v[0] > v[-f->rhos] && v[0] >= v[f->rhos];
}

/* The first plausible candidate after *last in the order; false if there is none. */
static bool next_line(const struct sx_road_finder *f, const struct line *last, struct line *ret)
{
	struct line best = {.votes = -1};

	for (int a = 1; a < SX_HOUGH_ANGLES - 1; a++) {
		const uint16_t *votes = f->votes + (size_t)a * (size_t)f->rhos;

		for (int i = 1; i < f->rhos - 1; i++) {
			const struct line l = {votes[i], a, i - f->range};
			double slope, offset;

			if (l.votes <= f->needed_votes || l.votes < best.votes || !is_peak(f, votes + i) ||
			    !before(last, &l) || !before(&l, &best))
				continue;
			line_of(f, &l, &slope, &offset);
			if (plausible(f, slope, offset))
				best = l;
		}
	}
	*ret = best;
	return best.votes > 0;
}

/*
 * One round of least squares over the cells within 1 px of the line; false, with zero sums, when degenerate.
 */
static bool refine(const struct sx_road_finder *f, double *slope, double *offset, struct sx_road_sums *s)
{
	*s = (struct sx_road_sums){0};
	for (int y = f->first_row; y < f->height; y++) {
		const uint16_t *bins = f->histogram + (size_t)y * (size_t)f->range;
		int first, last;

		sx_road_line_near(*slope, *offset, y, f->range, &first, &last);
		for (int k = first; k <= last; k++) {
			const int64_t w = bins[k];

			s->cells++;
			s->n += w;
			s->sy += w * y;
			s->sk += w * k;
			s->syy += w * y * y;
			s->syk += w * y * k;
		}
	}
	if (sx_road_line_solve(s, slope, offset))
		return true;
	s->n = 0;
	return false;
}

static bool measure(struct sx_road_finder *f, int64_t weight, struct sx_road *road)
{
	const int64_t all_cells = (int64_t)(f->height - f->first_row) * f->range;
	struct line l = {.votes = 65536};

	for (int tries = 0; tries < SX_ROAD_TRIES && next_line(f, &l, &l); tries++) {
		struct sx_road_sums s;
		double slope, offset;

		line_of(f, &l, &slope, &offset);
		for (int i = 0; i < SX_ROAD_REFINEMENTS; i++)
			if (!refine(f, &slope, &offset, &s))
				break;
		if (!sx_road_line_dense(&s, all_cells, weight) || !plausible(f, slope, offset))
			continue;
		*road = (struct sx_road){.slope = slope,
					 .offset = offset,
					 .inliers = (uint32_t)s.n,
					 .origin = SX_ROAD_MEASURED};
		sx_road_describe(&f->camera, road);
		return true;
	}
	return false;
}

void sx_road_fit(struct sx_road_finder *f, const struct sx_road *previous, struct sx_road *road)
{
	int64_t weight;

	if (!sx_road_looks(f)) {
		*road = f->calibrated;
		return;
	}
	vote(f, set_points(f, &weight));
	if (measure(f, weight, road))
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
	if (sx_road_looks(f))
		for (int y = f->first_row; y < f->height; y++)
			sx_road_histogram_row(f, disparity, y);
	sx_road_fit(f, previous, road);
}
