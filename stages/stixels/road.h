/*
 * Road (ground plane) estimation from the v-disparity histogram (hernandez-juarez 2017, section 3; labayrade
 * 2002), all decisions in integers: see docs/algorithm.md, road.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_ROAD_H
#define SX_STAGES_STIXELS_ROAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/image.h"
#include "stages/params.h"

enum sx_road_origin {
	SX_ROAD_NONE,	  /* no camera model: ground is nowhere */
	SX_ROAD_MEASURED, /* found in this frame */
	SX_ROAD_PREVIOUS, /* found in an earlier frame */
	SX_ROAD_FROM_CALIBRATION
};

/*
 * Ground disparity of image row y (down, px): slope * y + offset, px. horizon_row = -offset / slope.
 * Ground of row y in Q4 is rne(16 * (slope * y + offset)), in double, nowhere computed differently.
 */
struct sx_road {
	double slope, offset;
	double horizon_row;
	double pitch_rad; /* camera looks down: positive */
	double height_m;
	uint32_t inliers; /* weight of the histogram cells on the line */
	uint32_t age;	  /* frames since it was measured */
	enum sx_road_origin origin;
};

/* Ground disparities are kept within +-SX_GROUND_MAX_Q4, far outside of any disparity range. */
#define SX_GROUND_MAX_Q4 65535

/*
 * Ground of all rows, v counted from the image bottom: ground_q4[height], negative above the horizon.
 * Returns vhor: how many rows from the bottom have ground_q4 > 0. vhor is the first row that is not ground.
 */
int sx_road_ground(const struct sx_road *road, int height, int32_t *ground_q4);

/* Fills in what follows from slope (> 0) and offset: horizon_row, pitch_rad, height_m. */
void sx_road_describe(const struct sx_camera *camera, struct sx_road *road);

/* The road that camera.height_m and camera.pitch_deg say; SX_ROAD_NONE (no ground: vhor 0) without fx. */
void sx_road_calibrated(const struct sx_camera *camera, struct sx_road *road);

/*
 * Memory of the search: histogram, votes. One per frame in flight.
 * The Hough transform sees angles SX_HOUGH_FIRST .. +SX_HOUGH_ANGLES-1 degrees (the outer two only as
 * neighbours), rho from -range px. cos_q14, sin_q14: host-made, the shared input of all engines.
 */
#define SX_HOUGH_FIRST 94
#define SX_HOUGH_ANGLES 86

struct sx_road_finder {
	struct sx_road_params params;
	struct sx_camera camera;
	int width, height, range;
	int first_row;		      /* image rows above are not looked at */
	int first_column, end_column; /* the central 80 % */
	int needed_votes;	      /* a line must have more */
	double tan_max_pitch;
	struct sx_road calibrated;
	uint16_t *histogram; /* [height][range]: pixels of row y with rounded disparity k */
	uint16_t *votes;     /* [SX_HOUGH_ANGLES][rhos] */
	uint32_t *points;    /* set cells, y << 16 | k */
	int rhos;	     /* height + 2 * range */
	int16_t cos_q14[SX_HOUGH_ANGLES], sin_q14[SX_HOUGH_ANGLES];
};

/*
 * range: disparities that the map can hold, sx_disparity_range(). Takes all memory. -EINVAL when a size is
 * out of range; -ENOMEM. destroy accepts NULL.
 */
int sx_road_finder_create(struct sx_road_finder **ret, const struct sx_params *p, int width, int height,
			  int range);
void sx_road_finder_destroy(struct sx_road_finder *f);
size_t sx_road_finder_bytes(const struct sx_road_finder *f); /* what create took */

/*
 * disparity: U16 Q4, final (min_disparity added). previous: the road of the frame that was finished last,
 * whatever its origin, or NULL. Without a line in this frame the previous road stands in while it is at most
 * max_age frames old, then the calibrated one. mode = calibrated looks at nothing.
 * A line counts as a road when the camera can have it (height, pitch) and the cells within 1 px of it are on
 * average more than twice as full as all cells.
 * *road is a function of map, parameters and previous alone. Ties: more votes, then smaller angle, then
 * smaller rho. Thread: the owner of f; allocates nothing.
 */
void sx_road_find(struct sx_road_finder *f, const struct sx_image *disparity, const struct sx_road *previous,
		  struct sx_road *road);

/*
 * The two halves of sx_road_find(), for engines that fill the histogram in their own way: rows first_row ..
 * height-1, where sx_road_looks() (not with mode = calibrated, nor without a camera model).
 */
static inline bool sx_road_looks(const struct sx_road_finder *f)
{
	return f->params.mode == SX_ROAD_VDISPARITY && f->calibrated.origin != SX_ROAD_NONE;
}
void sx_road_histogram_row(struct sx_road_finder *f, const struct sx_image *disparity, int y);
void sx_road_fit(struct sx_road_finder *f, const struct sx_road *previous, struct sx_road *road);

#endif
