/*
 * Planes through samples of the disparity map. Every engine evaluates these formulas with the same operations
 * in the same order (integers, and doubles with + - * / sqrt and rounding to integer alone; no contraction).
 * For stages/road/road.c, cpu/ and gpu/, so in the common subset of C and CUDA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_ROAD_ROAD_PLANE_H
#define SX_STAGES_ROAD_ROAD_PLANE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "stages/road/road_view.h"

/* Limit of the disparity, px, at any corner of the image. Planes that exceed it are not used. */
#define SX_ROAD_LIMIT_PX 2048.0

/* Computes the plane through three samples x, y, d (Q4). False: they lie on a line. */
SX_ROAD_INLINE bool sx_road_through(const int32_t x[3], const int32_t y[3], const int32_t d[3],
				    struct sx_road_plane *p)
{
	const int64_t x1 = x[1] - x[0], y1 = y[1] - y[0], d1 = d[1] - d[0];
	const int64_t x2 = x[2] - x[0], y2 = y[2] - y[0], d2 = d[2] - d[0];
	const int64_t det = 16 * (x1 * y2 - x2 * y1);

	if (det == 0)
		return false;
	p->slope = (double)(x1 * d2 - x2 * d1) / (double)det;
	p->cross = (double)(d1 * y2 - d2 * y1) / (double)det;
	p->at_origin = ((double)d[0] / 16.0 - p->slope * (double)y[0]) - p->cross * (double)x[0];
	return true;
}

/*
 * Returns true if the plane is within the limit and its disparity grows downwards in the image. Then it fits
 * struct sx_road_fixed.
 */
SX_ROAD_INLINE bool sx_road_limited(const struct sx_road_view *w, const struct sx_road_plane *p)
{
	const double right = p->cross * (double)w->width, bottom = p->slope * (double)w->height;

	return p->slope > 0.0 && bottom < SX_ROAD_LIMIT_PX && right < SX_ROAD_LIMIT_PX &&
	       right > -SX_ROAD_LIMIT_PX && p->at_origin < SX_ROAD_LIMIT_PX &&
	       p->at_origin > -SX_ROAD_LIMIT_PX;
}

/* Returns true if the camera can have this road. */
SX_ROAD_INLINE bool sx_road_plausible(const struct sx_road_view *w, const struct sx_road_plane *p)
{
	const struct sx_camera *c = &w->camera;
	double t, r, height, by_ramp;

	if (!sx_road_limited(w, p))
		return false;
	t = (c->cy + (p->at_origin + p->cross * c->cx) / p->slope) / c->fy;
	r = p->cross * c->fx / (p->slope * c->fy);
	height = c->baseline_m * (c->fx / c->fy) / (p->slope * sqrt((1.0 + t * t) + r * r));
	/* the plane of a ramp that begins ahead passes lower below the camera than the floor, or higher */
	by_ramp = w->ramp_m * (t - w->tan_pitch);
	return t <= w->tan_most_pitch && t >= w->tan_least_pitch && r <= w->tan_most_roll &&
	       r >= w->tan_least_roll && height >= w->min_height_m + (by_ramp < 0.0 ? by_ramp : 0.0) &&
	       height <= w->max_height_m + (by_ramp > 0.0 ? by_ramp : 0.0);
}

/* A plausible plane in integers: disparity at x, y in Q16 px. tolerance: share of a disparity. */
struct sx_road_fixed {
	int32_t slope, cross, at_origin;
	int32_t tolerance; /* Q12 */
	/* above bend_row, bend is added once per row, and bend_step once */
	int32_t bend, bend_row, bend_step;
};

SX_ROAD_INLINE struct sx_road_fixed sx_road_fix(const struct sx_road_view *w, const struct sx_road_plane *p)
{
	const double tolerance = p->slope * w->tolerance;
	struct sx_road_fixed f;

	f.slope = (int32_t)rint(p->slope * 65536.0);
	f.cross = (int32_t)rint(p->cross * 65536.0);
	f.at_origin = (int32_t)rint(p->at_origin * 65536.0);
	f.tolerance = (int32_t)rint((tolerance < 1.0 ? tolerance : 1.0) * 4096.0);
	f.bend = f.bend_row = f.bend_step = 0;
	return f;
}

/* Returns the largest difference from the plane at which a sample still lies on it, Q16 px. d: Q4. */
SX_ROAD_INLINE int32_t sx_road_most(const struct sx_road_view *w, int32_t tolerance, int32_t d)
{
	const int32_t part = d * tolerance;

	return part > w->least_tolerance ? part : w->least_tolerance;
}

/* Returns the largest difference between a plane and a sample that it is fitted to, Q16 px. d: Q4. */
SX_ROAD_INLINE int32_t sx_road_most_fitted(const struct sx_road_view *w, int32_t tolerance, int32_t d)
{
	const int32_t most = sx_road_most(w, tolerance, d);

	return most - (most >> 8) * w->closer;
}

/*
 * Returns 1 if the sample lies on the plane; -1 if it lies clearly below the plane, where a road has no
 * samples; else 0. d: Q4.
 */
SX_ROAD_INLINE int32_t sx_road_side(const struct sx_road_view *w, const struct sx_road_fixed *f, int32_t x,
				    int32_t y, int32_t d)
{
	const int32_t above = y < f->bend_row ? f->bend_row - y : 0;
	const int32_t more = above > 0 ? f->bend * above + f->bend_step : 0;
	const int32_t off = (d << 12) - ((f->slope * y + f->cross * x) + (f->at_origin + more));
	const int32_t most = sx_road_most(w, f->tolerance, d);

	return off <= most ? off >= -most ? 1 : off < -2 * most ? -1 : 0 : 0;
}

/* Returns true if the plane is fitted to this sample. */
SX_ROAD_INLINE bool sx_road_fitted(const struct sx_road_view *w, const struct sx_road_fixed *f, int32_t x,
				   int32_t y, int32_t d)
{
	const int32_t off = (d << 12) - (f->slope * y + f->cross * x + f->at_origin);

	return (off < 0 ? -off : off) <= sx_road_most_fitted(w, f->tolerance, d);
}

/* Returns true if the candidate is not drawn, but is the plane of the calibration. */
SX_ROAD_INLINE bool sx_road_is_expected(const struct sx_road_view *w, int candidate)
{
	return candidate == 0 && w->favour > 0;
}

/*
 * Returns the worth of a candidate: its score over `samples` samples, plus a favour for the expected plane.
 * Before an edge or a kerb a low camera sees a short strip of floor. Planes that lean towards the things
 * behind the strip explain a few more samples than the right plane. With the favour such a plane wins only if
 * it explains more than the expected plane by favour / 256 of the judged samples.
 */
SX_ROAD_INLINE int32_t sx_road_worth(const struct sx_road_view *w, int candidate, int32_t score, int samples)
{
	return sx_road_is_expected(w, candidate) && score > 0
		       ? score + samples / SX_ROAD_STRIDE * w->favour / 256
		       : score;
}

#endif
