/*
 * Road (ground plane) estimation: finds the plane disparity = slope * y + cross * x + offset that contains
 * most samples of the corridor before the camera (RANSAC, fischler 1981, with a fixed sequence of
 * candidates). All decisions are made in integers: see docs/develop/algorithm.md, road.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_ROAD_ROAD_H
#define SX_STAGES_ROAD_ROAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/image.h"
#include "stages/params/params.h"

enum sx_road_origin {
	SX_ROAD_NONE,	  /* no camera model: there is no ground */
	SX_ROAD_MEASURED, /* found in this frame */
	SX_ROAD_PREVIOUS, /* found in an earlier frame */
	SX_ROAD_FROM_CALIBRATION
};

/*
 * Ground disparity of the pixel x (right), y (down): slope * y + offset + cross * (x - axis), px. Rows above
 * bend_row (y < bend_row) add bend * (bend_row - y): there the road climbs (> 0) or falls. horizon_row =
 * -offset / slope, at the axis. Ground of row y at the axis in Q4 is rne(16 * (slope * y + offset)), in
 * double; all code computes it in this way. A column of stixels adds a constant, sx_road_shift_q4().
 */
struct sx_road {
	double slope, offset;
	double cross;	       /* px per column: roll of the road relative to the camera */
	double axis;	       /* column: the camera's cx */
	double bend, bend_row; /* px per row; 0: a plane as far as the camera sees */
	double horizon_row;
	double pitch_rad; /* positive: the camera looks down */
	double roll_rad;  /* positive: the road comes nearer to the right */
	double height_m;  /* height of the camera above the plane */
	/* standard deviations (road_sigma.h) at the time of measurement; 0: not known */
	double pitch_sigma_rad, roll_sigma_rad, height_sigma_m;
	uint32_t inliers; /* samples on the plane */
	uint32_t age;	  /* frames since the measurement */
	enum sx_road_origin origin;
};

/* Limit of ground disparities, +-SX_GROUND_MAX_Q4: far outside any disparity range. */
#define SX_GROUND_MAX_Q4 65535
/* Limit of the disparity that a column adds, +-SX_ROAD_SHIFT_MAX_Q4. */
#define SX_ROAD_SHIFT_MAX_Q4 6143

/*
 * Computes the ground of all rows at the axis, v from the image bottom: axis_q4[height], negative above the
 * horizon.
 */
void sx_road_ground(const struct sx_road *road, int height, int32_t *axis_q4);
/*
 * Computes the ground of a column of stixels, which has shift_q4 (sx_road_shift_q4()) more than the axis.
 * ground_q4 and axis_q4 may be the same memory. Returns vhor: the number of rows from the bottom with
 * ground_q4 > 0. vhor is the first row that is not ground.
 */
int sx_road_column_ground(const int32_t *axis_q4, int height, int32_t shift_q4, int32_t *ground_q4);
/*
 * Returns the number of rows from the bottom, 0..height, whose ground in column u of width px has no partner
 * in the right image.
 */
int sx_road_unseen_rows(const int32_t *ground_q4, int height, int u, int width);

/* Computes horizon_row, pitch_rad, roll_rad and height_m from slope (> 0), offset and cross. */
void sx_road_describe(const struct sx_camera *camera, struct sx_road *road);

/*
 * Computes the road from camera.height_m, pitch_deg and roll_deg. Without fx: SX_ROAD_NONE (no ground: vhor
 * 0).
 */
void sx_road_calibrated(const struct sx_camera *camera, struct sx_road *road);

/*
 * Computes the accepted heights of the camera over the road, m: the given ones, or limits derived from
 * camera.height_m.
 */
void sx_road_heights(const struct sx_params *p, double *least, double *most);

/* Search for a road. There is one for each frame in flight. */
struct sx_road_finder;

/*
 * Creates the search and takes all memory. range: disparities that the map can hold, sx_disparity_range().
 * -EINVAL if a size is out of range; -ENOMEM. destroy accepts NULL.
 */
int sx_road_finder_create(struct sx_road_finder **ret, const struct sx_params *p, int width, int height,
			  int range);
void sx_road_finder_destroy(struct sx_road_finder *f);
size_t sx_road_finder_bytes(const struct sx_road_finder *f); /* memory that create took, bytes */

/*
 * Finds the road of a frame. disparity: U16 Q4, after the left-right check, min_disparity added. Islands and
 * noise do not disturb a plane, and other filters can run at the same time. previous: the road of the frame
 * that was finished last, of any origin, or NULL.
 *
 * Without a plane in this frame the result is the previous road if it is at most max_age frames old, else the
 * calibrated road. With mode = calibrated the function does not read the map. A plane counts as a road if the
 * camera can have it (height, pitch, roll about camera.roll_deg) and enough samples of the corridor lie on
 * it: a quarter for a car's camera, a sixth for a small robot's (road_scale.h).
 *
 * *road depends on map, parameters and previous alone. Ties: the candidate that was drawn first. Thread: the
 * owner of f; allocates nothing.
 */
void sx_road_find(struct sx_road_finder *f, const struct sx_image *disparity, const struct sx_road *previous,
		  struct sx_road *road);

#endif
