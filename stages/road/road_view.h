/*
 * View: the part of the disparity map that the search for a road reads. Formulas as in road_plane.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_ROAD_ROAD_VIEW_H
#define SX_STAGES_ROAD_ROAD_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/camera.h"
#include "base/image.h"
#include "stages/road/road_ground.h"

/*
 * Columns and rows of the grid of samples, each. The search reads at most SX_ROAD_SAMPLES pixels of the map.
 */
#define SX_ROAD_GRID 64
#define SX_ROAD_SAMPLES (SX_ROAD_GRID * SX_ROAD_GRID)
#define SX_ROAD_CANDIDATES 256 /* planes through three samples */
#define SX_ROAD_STRIDE 4       /* a candidate is judged by every fourth sample */
#define SX_ROAD_REFINEMENTS 4  /* rounds that refine the best candidate, with all samples */

#define SX_ROAD_LEAST 32 /* least number of samples on the plane of a road */

/* Plane: ground disparity slope * y + cross * x + at_origin, px. */
struct sx_road_plane {
	double slope, cross, at_origin;
};

/* Rules for samples. The host makes them from camera and parameters alone. See road_scale.h. */
struct sx_road_view {
	struct sx_camera camera;
	double min_height_m, max_height_m, tan_least_pitch, tan_most_pitch, tan_least_roll, tan_most_roll;
	double tan_pitch, ramp_m; /* pitch as mounted; a ramp that begins within ramp_m counts as a plane */
	double per_px; /* least disparity of a sample in the corridor: 1/16 px for 1 px beside the axis */
	/* tolerance for a plane of slope 1, as a share of the disparity: a constant difference in height */
	double tolerance;
	int32_t least_tolerance; /* lower limit of the tolerance, Q16 px */
	int32_t closer; /* samples that a plane is fitted to have a tolerance smaller by closer / 256 */
	int32_t share;	/* a road needs one of `share` samples on its plane */
	int32_t favour; /* see sx_road_worth() */
	struct sx_road_plane expected;	  /* plane of the calibration, if favour > 0 */
	double bend_first_m, bend_step_m; /* knees: nearest distance, and step to the next */
	double grades;			  /* steps of grade up to 100 % */
	int32_t falls;			  /* number of the 16 grades that fall; the others rise */
	/* a bend needs a score above the others by 1 / bend_gain of all samples, and 1 / bend_on of them */
	int32_t bend_gain, bend_on;
	int32_t bend_tolerance; /* least_tolerance of the samples by which bends are judged */
	bool steps;		/* bends compete with steps: sx_road_is_step() */
	double bend_reach;	/* highest row searched for bends: angle above the horizon, as a tangent */
	/* 0..1: how much samples off the plane increase its standard deviations, see sx_road_doubt() */
	double elsewhere;
	int width, height;
	/* part of the map that is searched: columns, rows, lowest disparity */
	int first_column, end_column, first_row, end_row, least_q4;
	int far_first_column, far_end_column; /* columns of sx_road_far() */
};

/* Returns the image column, or the row, of a place of the grid. */
SX_ROAD_INLINE int sx_road_grid_x(const struct sx_road_view *w, int i)
{
	return w->first_column +
	       (int)(((int64_t)(2 * i + 1) * (w->end_column - w->first_column)) / (2 * SX_ROAD_GRID));
}
SX_ROAD_INLINE int sx_road_grid_y(const struct sx_road_view *w, int i)
{
	return w->first_row +
	       (int)(((int64_t)(2 * i + 1) * (w->end_row - w->first_row)) / (2 * SX_ROAD_GRID));
}

/* Returns true if a sample of disparity d (Q4, or SX_DISPARITY_INVALID) lies in the corridor. */
SX_ROAD_INLINE bool sx_road_inside(const struct sx_road_view *w, int x, uint16_t d)
{
	const double beside = (double)x - w->camera.cx;

	return d != SX_DISPARITY_INVALID && d >= w->least_q4 &&
	       (beside < 0.0 ? -beside : beside) * w->per_px <= (double)d;
}

/* Returns one of the three samples of a candidate, as an index below n: the fixed sequence. */
SX_ROAD_INLINE int sx_road_draw(int candidate, int which, int n)
{
	uint32_t s = (uint32_t)(3 * candidate + which + 1) * 2654435761u;

	s = (s ^ s >> 16) * 2246822507u;
	s = (s ^ s >> 13) * 3266489909u;
	s ^= s >> 16;
	return (int)((uint64_t)s * (uint32_t)n >> 32);
}

#endif
