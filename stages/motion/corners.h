/*
 * Corners: the features of a frame, the best of each cell.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_CORNERS_H
#define SX_STAGES_MOTION_CORNERS_H

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
struct sx_motion_cells sx_motion_cells(int width, int height);

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

#endif
