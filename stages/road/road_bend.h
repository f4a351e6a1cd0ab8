/*
 * Bend of the road: a knee, from which on the road leaves its plane and climbs or falls. Knees come from a
 * fixed list. For stages/road/road.c and gpu/stixels/road.cu, like stages/road/road_plane.h.
 *
 * A road of grade t from distance z on has, at the same row, the slope of the plane times h / (h + t z),
 * where h is the height of the camera. So one number per row describes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_ROAD_ROAD_BEND_H
#define SX_STAGES_ROAD_ROAD_BEND_H

#include "stages/road/road_plane.h"

#define SX_ROAD_BENDS 256     /* candidates per round: 16 distances times 16 grades */
#define SX_ROAD_BEND_ROUNDS 2 /* the second round refines the best candidate of the first */
/*
 * Conditions for a bend. Its score counts every SX_ROAD_STRIDE-th sample. It must exceed the score of the
 * plane by SX_ROAD_BEND_LEAST samples, and by 1 / SX_ROAD_BEND_SHARE of all samples. It must also be at least
 * 1 / SX_ROAD_BEND_ON of all samples: with fewer, they come from several things instead of one road.
 */
#define SX_ROAD_BEND_LEAST 16
#define SX_ROAD_BEND_SHARE 44
#define SX_ROAD_BEND_ON 9

/* Start of a climb: distance ahead, m, and grade. */
struct sx_road_knee {
	double z, grade;
};

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
	return far;
}

/* Returns the knee of a candidate in a round. best: the best knee of the round before. */
SX_ROAD_INLINE struct sx_road_knee sx_road_knee_of(const struct sx_road_view *w, int round,
						   const struct sx_road_knee *best, int candidate)
{
	const int steep = candidate % 16, step = candidate / 16;
	struct sx_road_knee k;

	if (round > 0) {
		k.z = best->z + (step - 8) * (w->bend_step_m / 8.0);
		k.grade = best->grade + (steep - 8) / (8.0 * w->grades);
		return k;
	}
	k.z = w->bend_first_m + w->bend_step_m * step;
	k.grade = (steep < w->falls ? steep - w->falls : steep - w->falls + 1) / w->grades;
	return k;
}

/* Computes what a knee adds to the plane. False: the road would end below the ground or above the camera. */
SX_ROAD_INLINE bool sx_road_bend(const struct sx_road_view *w, const struct sx_road_plane *p,
				 const struct sx_road_knee *k, double *bend, double *row)
{
	const double height = w->camera.baseline_m * (w->camera.fx / w->camera.fy) / p->slope;
	const double beyond = height + k->grade * k->z;
	const double at_axis = p->at_origin + p->cross * w->camera.cx;

	if (!(k->z > 0.0) || !(beyond > 0.25 * height))
		return false;
	*row = rint((w->camera.fx * w->camera.baseline_m / k->z - at_axis) / p->slope);
	*bend = p->slope * (1.0 - height / beyond);
	return *row >= 0.0 && *row < w->height;
}

/* Returns true if a bend explains enough more samples than the plane. samples: number of all samples. */
SX_ROAD_INLINE bool sx_road_bends(int32_t score, int32_t score_of_plane, int samples)
{
	const int32_t gain = score > 0 ? score - score_of_plane : 0;

	return gain >= SX_ROAD_BEND_LEAST && gain * SX_ROAD_BEND_SHARE >= samples &&
	       score * SX_ROAD_BEND_ON >= samples;
}

#endif
