/*
 * Bend of the road: a knee, from which on the road leaves its plane and climbs or falls. Knees come from a
 * fixed list. For stages/road/road.c and gpu/stixels/road.cu, like stages/road/road_plane.h.
 *
 * A road of grade t from distance z on has, at the same row, the slope of the plane times h / (h + t z),
 * where h is the height of the camera. So one number per row describes it.
 *
 * Before a low camera the floor behind a kerb looks like a ramp. So bends compete with steps: a floor that
 * lies higher by s from distance z on has the slope of the plane times h / (h - s), and the same horizon. A
 * bend must explain more samples than each step, as it must explain more than the plane.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_ROAD_ROAD_BEND_H
#define SX_STAGES_ROAD_ROAD_BEND_H

#include "stages/road/road_plane.h"

#define SX_ROAD_BENDS 256     /* candidates per round: 16 distances times 16 grades */
#define SX_ROAD_BEND_ROUNDS 2 /* the second round refines the best candidate of the first */
/*
 * Conditions for a bend. Its score counts every SX_ROAD_STRIDE-th sample. It must exceed the scores of the
 * plane and of each step by SX_ROAD_BEND_LEAST samples, and by a share of all samples (road_view.h). It must
 * also be at least another share of all samples: with fewer, they come from several things instead of one road.
 */
#define SX_ROAD_BEND_LEAST 16
/* If bends compete with steps, the candidates of the second round from this number on are steps. */
#define SX_ROAD_BEND_STEPS 128
#define SX_ROAD_STEP_LEAST_M 0.02 /* height of the lowest of 8 steps */
#define SX_ROAD_STEP_MORE_M 0.01  /* each step is higher than the step before by this */
#define SX_ROAD_STEP_SHARE 0.6	  /* a step is lower than this share of the camera's height */

/* Start of a climb: distance ahead, m, and grade. step: height of a step instead of a climb, m; else 0. */
struct sx_road_knee {
	double z, grade, step;
};

/* A knee adds slope to the plane for each image row above row; a step also adds a constant, step. px. */
struct sx_road_bent {
	double slope, row, step;
};

/* Returns true if a candidate is a step, which only takes the place of a wrong bend. */
SX_ROAD_INLINE bool sx_road_is_step(const struct sx_road_view *w, int round, int candidate)
{
	return w->steps && round > 0 && candidate >= SX_ROAD_BEND_STEPS;
}

/*
 * Returns the part of the image in which a bend is visible: rows from the nearest knee up to the highest
 * possible row of the road.
 */
SX_ROAD_INLINE struct sx_road_view sx_road_far(const struct sx_road_view *w, const struct sx_road_plane *p)
{
	const double at_axis = p->at_origin + p->cross * w->camera.cx, horizon = -at_axis / p->slope;
	const double near = w->camera.fx * w->camera.baseline_m / w->bend_first_m;
	const double first = rint(horizon - w->bend_reach * w->camera.fy);
	const double end = rint((near - at_axis) / p->slope) + 1.0;
	struct sx_road_view far = *w;

	far.first_row = first > 0.0 ? first < w->height - 1 ? (int)first : w->height - 1 : 0;
	far.end_row = end < w->height ? end > far.first_row + 1 ? (int)end : far.first_row + 1 : w->height;
	far.first_column = w->far_first_column;
	far.end_column = w->far_end_column;
	far.least_q4 = 16;
	far.least_tolerance = w->bend_tolerance;
	return far;
}

/* Returns the knee of a candidate in a round. best: the best knee of the round before. */
SX_ROAD_INLINE struct sx_road_knee sx_road_knee_of(const struct sx_road_view *w, int round,
						   const struct sx_road_knee *best, int candidate)
{
	const int steep = candidate % 16, step = candidate / 16;
	struct sx_road_knee k;

	k.step = 0.0;
	if (round == 0) {
		k.z = w->bend_first_m + w->bend_step_m * step;
		k.grade = (steep < w->falls ? steep - w->falls : steep - w->falls + 1) / w->grades;
	} else if (sx_road_is_step(w, round, candidate)) {
		k.z = w->bend_first_m + w->bend_step_m * ((candidate - SX_ROAD_BEND_STEPS) / 8);
		k.grade = 0.0;
		k.step = SX_ROAD_STEP_LEAST_M + SX_ROAD_STEP_MORE_M * (candidate % 8);
	} else if (w->steps) {
		k.z = best->z + (candidate / 8 - 8) * (w->bend_step_m / 8.0);
		k.grade = best->grade + (candidate % 8 - 4) / (4.0 * w->grades);
	} else {
		k.z = best->z + (step - 8) * (w->bend_step_m / 8.0);
		k.grade = best->grade + (steep - 8) / (8.0 * w->grades);
	}
	return k;
}

/* Computes what a step adds to the plane. height: of the camera; horizon, row: of the plane, at the axis. */
SX_ROAD_INLINE bool sx_road_step(const struct sx_road_knee *k, double slope, double height, double horizon,
				 double row, struct sx_road_bent *bent)
{
	const double above = height - k->step, more = slope * (k->step / above);

	if (!(k->step < SX_ROAD_STEP_SHARE * height))
		return false;
	bent->row = rint(horizon + (row - horizon) * (above / height));
	bent->slope = -more;
	bent->step = more * (bent->row - horizon);
	return true;
}

/* Computes what a knee adds to the plane. False: the road would end below the ground or above the camera. */
SX_ROAD_INLINE bool sx_road_bend(const struct sx_road_view *w, const struct sx_road_plane *p,
				 const struct sx_road_knee *k, struct sx_road_bent *bent)
{
	const double height = w->camera.baseline_m * (w->camera.fx / w->camera.fy) / p->slope;
	const double beyond = height + k->grade * k->z;
	const double at_axis = p->at_origin + p->cross * w->camera.cx;
	double row;

	if (!(k->z > 0.0) || !(beyond > 0.25 * height))
		return false;
	row = (w->camera.fx * w->camera.baseline_m / k->z - at_axis) / p->slope;
	bent->row = rint(row);
	bent->slope = p->slope * (1.0 - height / beyond);
	bent->step = 0.0;
	if (k->step > 0.0 && !sx_road_step(k, p->slope, height, -at_axis / p->slope, row, bent))
		return false;
	return bent->row >= 0.0 && bent->row < w->height;
}

/*
 * Returns true if a bend explains enough more samples than the plane, or than the best step if that explains
 * more. samples: number of all samples.
 */
SX_ROAD_INLINE bool sx_road_bends(const struct sx_road_view *w, int32_t score, int32_t score_of_plane,
				  int32_t score_of_step, int samples)
{
	const int32_t other = score_of_plane > score_of_step ? score_of_plane : score_of_step;
	const int32_t gain = score > 0 ? score - other : 0;

	return gain >= SX_ROAD_BEND_LEAST && gain * w->bend_gain >= samples && score * w->bend_on >= samples;
}

#endif
