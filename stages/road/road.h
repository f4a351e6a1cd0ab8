/*
 * Road (ground plane) estimation: the plane disparity = slope * y + cross * x + offset that most of what
 * the camera sees of its own corridor lies on (RANSAC, fischler 1981, with a fixed sequence of candidates),
 * all decisions in integers: see docs/algorithm.md, road.
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
	SX_ROAD_NONE,	  /* no camera model: ground is nowhere */
	SX_ROAD_MEASURED, /* found in this frame */
	SX_ROAD_PREVIOUS, /* found in an earlier frame */
	SX_ROAD_FROM_CALIBRATION
};

/*
 * Ground disparity of the pixel x (right), y (down): slope * y + offset + cross * (x - axis), px; in rows
 * above bend_row (y < bend_row) and bend * (bend_row - y), where the road climbs (> 0) or falls.
 * horizon_row = -offset / slope, at the axis. Ground of row y at the axis in Q4 is
 * rne(16 * (slope * y + offset)), in double, nowhere computed differently; a column of stixels adds a
 * constant, sx_road_shift_q4().
 */
struct sx_road {
	double slope, offset;
	double cross;	       /* px a column: the road leans against the camera */
	double axis;	       /* column: the camera's cx */
	double bend, bend_row; /* px a row; 0: a plane as far as one sees */
	double horizon_row;
	double pitch_rad; /* camera looks down: positive */
	double roll_rad;  /* the road comes nearer to the right: positive */
	double height_m;  /* above the plane */
	/* standard deviations (road_sigma.h), as it was measured; 0: not known */
	double pitch_sigma_rad, roll_sigma_rad, height_sigma_m;
	uint32_t inliers; /* samples on the plane */
	uint32_t age;	  /* frames since it was measured */
	enum sx_road_origin origin;
};

/* Ground disparities are kept within +-SX_GROUND_MAX_Q4, far outside of any disparity range. */
#define SX_GROUND_MAX_Q4 65535
/* What a column adds, likewise. */
#define SX_ROAD_SHIFT_MAX_Q4 6143

/* Ground of all rows at the axis, v from the image bottom: axis_q4[height], negative above the horizon. */
void sx_road_ground(const struct sx_road *road, int height, int32_t *axis_q4);
/*
 * That of a column of stixels, which has shift_q4 (sx_road_shift_q4()) more; may be the same memory. Returns
 * vhor: how many rows from the bottom have ground_q4 > 0. vhor is the first row that is not ground.
 */
int sx_road_column_ground(const int32_t *axis_q4, int height, int32_t shift_q4, int32_t *ground_q4);
/* How many rows from the bottom have ground that column u of width px has no partner for; 0..height. */
int sx_road_unseen_rows(const int32_t *ground_q4, int height, int u, int width);

/* Fills in what follows from slope (> 0), offset and cross: horizon_row, pitch_rad, roll_rad, height_m. */
void sx_road_describe(const struct sx_camera *camera, struct sx_road *road);

/* The road that camera.height_m, pitch_deg and roll_deg say; SX_ROAD_NONE (no ground: vhor 0) without fx. */
void sx_road_calibrated(const struct sx_camera *camera, struct sx_road *road);

/* Accepted heights of the camera over the road, m: as given, else by what camera.height_m says. */
void sx_road_heights(const struct sx_params *p, double *least, double *most);

/* The search for a road. One per frame in flight. */
struct sx_road_finder;

/*
 * range: disparities that the map can hold, sx_disparity_range(). Takes all memory. -EINVAL when a size is
 * out of range; -ENOMEM. destroy accepts NULL.
 */
int sx_road_finder_create(struct sx_road_finder **ret, const struct sx_params *p, int width, int height,
			  int range);
void sx_road_finder_destroy(struct sx_road_finder *f);
size_t sx_road_finder_bytes(const struct sx_road_finder *f); /* what create took */

/*
 * disparity: U16 Q4, after the left-right check, min_disparity added; islands and noise harm no plane, and
 * other filters can run meanwhile. previous: the road of the frame that was finished last, whatever its
 * origin, or NULL. Without a plane in this frame the previous road stands in while it is at most
 * max_age frames old, then the calibrated one. mode = calibrated looks at nothing.
 * A plane counts as a road when the camera can have it (height, pitch, roll about camera.roll_deg) and a
 * quarter of what is seen of the corridor lies on it.
 * *road is a function of map, parameters and previous alone. Ties: the candidate that was drawn first.
 * Thread: the owner of f; allocates nothing.
 */
void sx_road_find(struct sx_road_finder *f, const struct sx_image *disparity, const struct sx_road *previous,
		  struct sx_road *road);

#endif
