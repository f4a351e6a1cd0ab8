/*
 * Corners: the features of a frame, the best of each cell.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_CORNERS_H
#define SX_STAGES_MOTION_CORNERS_H

#include <math.h>

#include "stages/motion/motion.h"
#include "stages/road/road.h"

struct stixel;

#define SX_MOTION_SCORE_LEAST 150u   /* a corner has this score at least */
#define SX_MOTION_SCORE_MAX 1000000u /* a higher score becomes this */
/* A feature of the road is nearer than this many heights of the camera. */
#define SX_MOTION_ROAD_HEIGHTS 12.0

/* The cells of an image: columns by rows of cells of `size` px, from the upper left corner. */
struct sx_motion_cells {
	int size, columns, rows;
};
/*
 * Returns the cells of an image: the smallest size of 8, 16, 24 ... px with which the image has at most
 * SX_MOTION_FEATURES_MAX cells. Cells at the right and lower border may be cut.
 */
SX_MOTION_INLINE struct sx_motion_cells sx_motion_cells(int width, int height)
{
	struct sx_motion_cells c = {0, 0, 0};

	do {
		c.size += 8;
		c.columns = (width + c.size - 1) / c.size;
		c.rows = (height + c.size - 1) / c.size;
	} while (c.columns * c.rows > SX_MOTION_FEATURES_MAX);
	return c;
}

/*
 * Writes the owner of every pixel. owner: U32. stixels: of one frame, `width` px wide.
 * An object stixel with a known disparity owns the pixels that it covers. If two cover a pixel, the later one
 * owns it.
 */
void sx_motion_owners(const struct stixel *stixels, uint32_t count, int width, const struct sx_image *owner);

/*
 * Finds the features of a frame, one slot for each cell, row by row. The score of a pixel is
 * (XX YY - XY^2) / (XX + YY + 1), rounded down, of the sums of the products of its gradients
 * (I(x+1) - I(x-1), I(y+1) - I(y-1)) over 5x5: close to the smaller eigenvalue of the structure tensor (Shi,
 * Tomasi: Good features to track, 1994). Pixels count that have SX_MOTION_LEAST_Q8
 * (sx_motion_disparity_q8()) and keep SX_MOTION_MARGIN from the borders. The best score of the cell wins; of
 * equal ones the uppermost, then the leftmost. A cell whose best score is below SX_MOTION_SCORE_LEAST is
 * empty: all its fields are 0.
 *
 * kind: SX_MOTION_OBJECT if the pixel has an owner. SX_MOTION_ROAD if it has none, its disparity differs
 * from the road's at most by 1 px and a sixteenth, and the road there is nearer than SX_MOTION_ROAD_HEIGHTS.
 * slope_q14: of the road, for its features.
 * road: of this frame; without one (SX_ROAD_NONE) there are no features of the road.
 */
void sx_motion_corners(const struct sx_motion_view *view, const struct sx_image *owner,
		       const struct sx_road *road, const struct sx_camera *camera,
		       struct sx_motion_feature *features);
/* The second part of it: sets owner, kind and slope_q14 of `count` features that have the other fields. */
void sx_motion_kinds(const struct sx_image *owner, const struct sx_road *road, const struct sx_camera *camera,
		     struct sx_motion_feature *features, int count);

/* Returns the score of a pixel by the sums of the products of its gradients. */
SX_MOTION_INLINE uint32_t sx_motion_score_of(int64_t xx, int64_t yy, int64_t xy)
{
	const int64_t score = (xx * yy - xy * xy) / (xx + yy + 1);

	return score < SX_MOTION_SCORE_MAX ? (uint32_t)score : SX_MOTION_SCORE_MAX;
}

/* Returns the disparity of the road that its features must exceed, Q4; 0: there is no road. */
SX_MOTION_INLINE int32_t sx_motion_road_near_q4(const struct sx_road *road, const struct sx_camera *camera)
{
	/* a plane has disparity * height = fx * baseline * height / distance, and slope = baseline / height */
	const double nearest = 16.0 * camera->fy * road->slope / SX_MOTION_ROAD_HEIGHTS;

	return road->origin == SX_ROAD_NONE || !(nearest > 1.0) ? 0
	       : nearest < 1e6					? (int32_t)nearest
								: 1000000;
}

SX_MOTION_INLINE bool sx_motion_on_road(const struct sx_road *road, int32_t near_q4,
					const struct sx_motion_feature *f)
{
	const double ground =
		road->slope * (double)f->y + road->offset + road->cross * ((double)f->x - road->axis);
	const double off = (double)f->disparity_q8 / 256.0 - ground;

	return near_q4 > 0 && 16.0 * ground >= (double)near_q4 &&
	       (off < 0.0 ? -off : off) <= 1.0 + ground / 16.0;
}

/* Sets owner, kind and slope_q14 of a feature that has the other fields. near_q4: sx_motion_road_near_q4(). */
SX_MOTION_INLINE void sx_motion_set_kind(uint32_t owner, const struct sx_road *road, int32_t near_q4,
					 struct sx_motion_feature *f)
{
	f->owner = owner;
	f->kind = f->owner != SX_MOTION_NO_OWNER	? SX_MOTION_OBJECT
		  : sx_motion_on_road(road, near_q4, f) ? SX_MOTION_ROAD
							: 0;
	f->slope_q14 = f->kind == SX_MOTION_ROAD ? (int32_t)rint(road->slope * 16384.0) : 0;
}

#endif
