/*
 * The twin's own memory of what a frame's features add to sums, for its kernels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_MOTION_MOTION_TERMS_H
#define SX_CPU_MOTION_MOTION_TERMS_H

#include "stages/motion/ego_terms.h"

#define SX_MOTION_TOGETHER 8 /* lanes of the longest vectors */
#define SX_MOTION_PIECE 512  /* features of a task, a multiple of it */

/*
 * The features that were found, in the order of their slots, as columns of doubles; filled up with features that
 * nothing counts. What does not change from round to round is computed once.
 */
struct sx_motion_columns {
	int count; /* number of features, without the ones that fill up */
	double ray_x[SX_MOTION_FEATURES_MAX],
		ray_y[SX_MOTION_FEATURES_MAX];			     /* (x - cx) / fx, (y - cy) / fy */
	double d[SX_MOTION_FEATURES_MAX];			     /* disparity, px */
	double u[SX_MOTION_FEATURES_MAX], v[SX_MOTION_FEATURES_MAX]; /* place where it was found, px */
	double before[SX_MOTION_FEATURES_MAX];			     /* disparity there, px */
	double dd[SX_MOTION_FEATURES_MAX]; /* information of the disparity, see sx_motion_inform() */
	int64_t counts[SX_MOTION_FEATURES_MAX], road[SX_MOTION_FEATURES_MAX]; /* -1: yes; 0: no */
};

/* Sets column n to a feature that was found. */
void sx_motion_columns_put(struct sx_motion_columns *c, const struct sx_camera *camera, int n,
			   const struct sx_motion_feature *feature, const struct sx_motion_flow *flow);
/* Returns the number of columns, with the ones that fill up the last vector; fill sets these. */
int sx_motion_columns_whole(const struct sx_motion_columns *c);
void sx_motion_columns_fill(struct sx_motion_columns *c);

#endif
