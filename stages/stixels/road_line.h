/*
 * Lines in the v-disparity histogram: the formulas that every engine evaluates with the same operations in
 * the same order (doubles, + - * / sqrt and rounding to integer alone; no contraction). For
 * stages/stixels/road.c and gpu/stixels/road.cu, so in the common subset of C and CUDA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_ROAD_LINE_H
#define SX_STAGES_STIXELS_ROAD_LINE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "stages/params.h"
#include "stages/stixels/road.h"

#ifdef __CUDACC__
#define SX_ROAD_LINE static __host__ __device__ inline
#else
#define SX_ROAD_LINE static inline
#endif

#define SX_ROAD_TRIES 16 /* lines that are refined before the frame counts as one without a road */
/* The Hough line is off by up to half a degree: more than the 1 px that counts as on it. */
#define SX_ROAD_REFINEMENTS 3

/* Ground of image row y in Q4, not rounded. */
SX_ROAD_LINE double sx_road_line_q4(double slope, double offset, int y)
{
	return 16.0 * (slope * (double)y + offset);
}

/* The same as sx_road_ground() has it. */
SX_ROAD_LINE int32_t sx_road_line_ground_q4(double slope, double offset, int y)
{
	double g = sx_road_line_q4(slope, offset, y);

	g = g > SX_GROUND_MAX_Q4 ? SX_GROUND_MAX_Q4 : g < -SX_GROUND_MAX_Q4 ? -SX_GROUND_MAX_Q4 : g;
	return (int32_t)rint(g);
}

/* The line k * cos + y * sin = rho of the Hough transform. */
SX_ROAD_LINE void sx_road_line_of_hough(int cos_q14, int sin_q14, int rho, double *slope, double *offset)
{
	const double c = cos_q14, s = sin_q14;

	*slope = -s / c;
	*offset = (double)rho * 16384.0 / c;
}

/* Is this a road that the camera can have? */
SX_ROAD_LINE bool sx_road_line_plausible(const struct sx_camera *c, const struct sx_road_params *p,
					 double tan_max_pitch, double slope, double offset)
{
	double t, height;

	if (!(slope > 0.0))
		return false;
	t = (c->cy + offset / slope) / c->fy;
	height = c->baseline_m * (c->fx / c->fy) / (slope * sqrt(1.0 + t * t));
	return t <= tan_max_pitch && t >= -tan_max_pitch && height >= p->min_height_m &&
	       height <= p->max_height_m;
}

/* Disparities *first .. *last (maybe none) whose cells of row y lie within 1 px of the line. */
SX_ROAD_LINE void sx_road_line_near(double slope, double offset, int y, int range, int *first, int *last)
{
	const double g = sx_road_line_q4(slope, offset, y);
	int q;

	*first = 1;
	*last = 0;
	if (!(g > -32.0 && g < 16.0 * range + 32.0))
		return;
	q = (int)rint(g);
	*first = q < 32 ? 1 : (q - 16 + 15) >> 4; /* the first with 16 k >= q - 16 */
	*last = (q + 16) >> 4;
	*last = *last < range ? *last : range - 1;
}

/* Sums over the cells of weight w at row y, disparity k. n: of w; cells: how many cells. */
struct sx_road_sums {
	int64_t cells, n, sy, sk, syy, syk;
};

/* The least-squares line. False when there is none. */
SX_ROAD_LINE bool sx_road_line_solve(const struct sx_road_sums *s, double *slope, double *offset)
{
	const double det = (double)s->n * (double)s->syy - (double)s->sy * (double)s->sy;

	if (!(det > 0.0))
		return false;
	*slope = ((double)s->n * (double)s->syk - (double)s->sy * (double)s->sk) / det;
	*offset = ((double)s->sk - *slope * (double)s->sy) / (double)s->n;
	return true;
}

/* Noise has lines too, but they are no denser than what is around them. all: of the whole histogram. */
SX_ROAD_LINE bool sx_road_line_dense(const struct sx_road_sums *line, int64_t all_cells, int64_t all_weight)
{
	return line->n * all_cells > 2 * all_weight * line->cells;
}

/* May the road of an earlier frame stand in once more? */
SX_ROAD_LINE bool sx_road_lasts(const struct sx_road *previous, int max_age)
{
	return (previous->origin == SX_ROAD_MEASURED || previous->origin == SX_ROAD_PREVIOUS) &&
	       (int64_t)previous->age + 1 <= max_age;
}

#endif
