/*
 * Planes through samples of the disparity map: the formulas that every engine evaluates with the same
 * operations in the same order (integers, and doubles with + - * / sqrt and rounding to integer alone; no
 * contraction). For stages/road/road.c, cpu/ and gpu/, so in the common subset of C and CUDA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_ROAD_ROAD_PLANE_H
#define SX_STAGES_ROAD_ROAD_PLANE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "stages/road/road_view.h"

/* Disparities beyond this, in px, at any corner of the image: not a plane that is looked at. */
#define SX_ROAD_LIMIT_PX 2048.0

/* The plane through three samples x, y, d (Q4). False: they lie on a line. */
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

/* Within the limit, and falling towards the camera: then it fits struct sx_road_fixed. */
SX_ROAD_INLINE bool sx_road_limited(const struct sx_road_view *w, const struct sx_road_plane *p)
{
	const double right = p->cross * (double)w->width, bottom = p->slope * (double)w->height;

	return p->slope > 0.0 && bottom < SX_ROAD_LIMIT_PX && right < SX_ROAD_LIMIT_PX &&
	       right > -SX_ROAD_LIMIT_PX && p->at_origin < SX_ROAD_LIMIT_PX &&
	       p->at_origin > -SX_ROAD_LIMIT_PX;
}

/* Is this a road that the camera can have? */
SX_ROAD_INLINE bool sx_road_plausible(const struct sx_road_view *w, const struct sx_road_plane *p)
{
	const struct sx_camera *c = &w->camera;
	double t, r, height, by_ramp;

	if (!sx_road_limited(w, p))
		return false;
	t = (c->cy + (p->at_origin + p->cross * c->cx) / p->slope) / c->fy;
	r = p->cross * c->fx / (p->slope * c->fy);
	height = c->baseline_m * (c->fx / c->fy) / (p->slope * sqrt((1.0 + t * t) + r * r));
	/* the plane of a ramp that begins ahead passes below the camera lower than the floor, or higher */
	by_ramp = w->ramp_m * (t - w->tan_pitch);
	return t <= w->tan_most_pitch && t >= w->tan_least_pitch && r <= w->tan_most_roll &&
	       r >= w->tan_least_roll && height >= w->min_height_m + (by_ramp < 0.0 ? by_ramp : 0.0) &&
	       height <= w->max_height_m + (by_ramp > 0.0 ? by_ramp : 0.0);
}

/* A plausible plane in integers: disparity at x, y in Q16 px, and how much of a disparity is tolerance. */
struct sx_road_fixed {
	int32_t slope, cross, at_origin;
	int32_t tolerance;	/* Q12 */
	int32_t bend, bend_row; /* more in each row above that one */
};

SX_ROAD_INLINE struct sx_road_fixed sx_road_fix(const struct sx_road_view *w, const struct sx_road_plane *p)
{
	const double tolerance = p->slope * w->tolerance;
	struct sx_road_fixed f;

	f.slope = (int32_t)rint(p->slope * 65536.0);
	f.cross = (int32_t)rint(p->cross * 65536.0);
	f.at_origin = (int32_t)rint(p->at_origin * 65536.0);
	f.tolerance = (int32_t)rint((tolerance < 1.0 ? tolerance : 1.0) * 4096.0);
	f.bend = f.bend_row = 0;
	return f;
}

/* How far a sample of a plane may be off, Q16 px. */
SX_ROAD_INLINE int32_t sx_road_most(const struct sx_road_view *w, int32_t tolerance, int32_t d)
{
	const int32_t part = d * tolerance;

	return part > w->least_tolerance ? part : w->least_tolerance;
}

/* And one that a plane is fitted to. */
SX_ROAD_INLINE int32_t sx_road_most_fitted(const struct sx_road_view *w, int32_t tolerance, int32_t d)
{
	const int32_t most = sx_road_most(w, tolerance, d);

	return most - (most >> 8) * w->closer;
}

/* 1: the sample lies on the plane; -1: clearly below it, where a road has nothing; else 0. d: Q4. */
SX_ROAD_INLINE int32_t sx_road_side(const struct sx_road_view *w, const struct sx_road_fixed *f, int32_t x,
				    int32_t y, int32_t d)
{
	const int32_t above = y < f->bend_row ? f->bend_row - y : 0;
	const int32_t off = (d << 12) - ((f->slope * y + f->cross * x) + (f->at_origin + f->bend * above));
	const int32_t most = sx_road_most(w, f->tolerance, d);

	return off <= most ? off >= -most ? 1 : off < -2 * most ? -1 : 0 : 0;
}

/* Is a plane fitted to the sample? */
SX_ROAD_INLINE bool sx_road_fitted(const struct sx_road_view *w, const struct sx_road_fixed *f, int32_t x,
				   int32_t y, int32_t d)
{
	const int32_t off = (d << 12) - (f->slope * y + f->cross * x + f->at_origin);

	return (off < 0 ? -off : off) <= sx_road_most_fitted(w, f->tolerance, d);
}

/* Is this candidate not drawn, but what the calibration says? */
SX_ROAD_INLINE bool sx_road_is_expected(const struct sx_road_view *w, int candidate)
{
	return candidate == 0 && w->favour > 0;
}

/*
 * The worth of a candidate: its score over `samples` samples, and for the expected plane a favour. Before an
 * edge or a kerb a low camera sees a short strip of floor, and planes that lean into what lies behind explain
 * a few more samples than the right plane does. With the favour they win only if they explain more than the
 * expected plane by favour / 256 of the judged samples.
 */
SX_ROAD_INLINE int32_t sx_road_worth(const struct sx_road_view *w, int candidate, int32_t score, int samples)
{
	return sx_road_is_expected(w, candidate) && score > 0
		       ? score + samples / SX_ROAD_STRIDE * w->favour / 256
		       : score;
}

#endif
