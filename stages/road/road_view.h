/*
 * Where the search for a road looks at the disparity map, and what of it. Formulas as in road_plane.h.
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

/* Columns and rows of the grid of samples, each; the map is looked at in so many places at most. */
#define SX_ROAD_GRID 64
#define SX_ROAD_SAMPLES (SX_ROAD_GRID * SX_ROAD_GRID)
#define SX_ROAD_CANDIDATES 256 /* planes through three samples */
#define SX_ROAD_STRIDE 4       /* a candidate is judged by every fourth sample, */
#define SX_ROAD_REFINEMENTS 4  /* the best of them refined over all */

#define SX_ROAD_LEAST 32 /* samples on the plane of a road */

/* A plane: ground disparity slope * y + cross * x + at_origin, px. */
struct sx_road_plane {
	double slope, cross, at_origin;
};

/* What the samples are measured with; host-made, from camera and parameters alone. See road_scale.h. */
struct sx_road_view {
	struct sx_camera camera;
	double min_height_m, max_height_m, tan_least_pitch, tan_most_pitch, tan_least_roll, tan_most_roll;
	double tan_pitch, ramp_m; /* as mounted; a ramp that looks like a plane begins at most so far ahead */
	double per_px;		  /* of disparity, 1/16 px, that a sample needs a px beside the axis */
	double tolerance;	  /* of the disparity, times the plane's slope: a length in height, */
	int32_t least_tolerance;  /* and so much disparity at least, Q16 px */
	int32_t closer;		  /* by that / 256 of it samples must be closer to be fitted to */
	int32_t share;		  /* a road needs one of `share` samples on its plane */
	int32_t favour;		  /* see sx_road_worth() */
	struct sx_road_plane expected;	  /* that of the calibration, where favour > 0 */
	double bend_first_m, bend_step_m; /* knees: the nearest, and to the next */
	double grades;			  /* steps of grade to 100 % */
	int32_t falls;			  /* number of the 16 grades that fall; the others rise */
	double bend_reach;		  /* how far above the horizon bends are looked for, as a tangent */
	double elsewhere; /* 0..1: samples off the plane make it unsure, see sx_road_doubt() */
	int width, height;
	/* what is looked at: columns, rows, disparities from there on */
	int first_column, end_column, first_row, end_row, least_q4;
	int far_first_column, far_end_column; /* of sx_road_far() */
};

/* Image column and row of a place of the grid. */
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

/* Does a sample of disparity d (Q4, or SX_DISPARITY_INVALID) lie in the corridor? */
SX_ROAD_INLINE bool sx_road_inside(const struct sx_road_view *w, int x, uint16_t d)
{
	const double beside = (double)x - w->camera.cx;

	return d != SX_DISPARITY_INVALID && d >= w->least_q4 &&
	       (beside < 0.0 ? -beside : beside) * w->per_px <= (double)d;
}

/* The three samples of a candidate, of n: the fixed sequence. */
SX_ROAD_INLINE int sx_road_draw(int candidate, int which, int n)
{
	uint32_t s = (uint32_t)(3 * candidate + which + 1) * 2654435761u;

	s = (s ^ s >> 16) * 2246822507u;
	s = (s ^ s >> 13) * 3266489909u;
	s ^= s >> 16;
	return (int)((uint64_t)s * (uint32_t)n >> 32);
}

#endif
