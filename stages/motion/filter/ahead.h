/*
 * Ahead: where a stixel or an object is, and where it will be, each with a covariance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_FILTER_AHEAD_H
#define SX_STAGES_MOTION_FILTER_AHEAD_H

#include "stages/motion/filter/belief.h"

#define SX_MOTION_AHEAD_ACCEL 3.0 /* m/s^2: standard deviation of how a thing accelerates meanwhile */
#define SX_MOTION_PLACE_PX 0.5	  /* standard deviation of a column that stands for a thing */

/* A place over the ground, m, in the axes of this frame's left camera, and its covariance, m^2. */
struct sx_motion_place_m {
	double x, z, sxx, sxz, szz;
};

/*
 * Computes the place of an image column with a disparity, px, that has the offset. Its standard deviation is
 * SX_MOTION_SIGMA_D, with the share SX_MOTION_SHARE_D.
 */
void sx_motion_place(const struct sx_camera *c, double column, double disparity,
		     struct sx_motion_place_m *ret);

/*
 * Computes where it will be in `seconds`, 0 or more, in the same axes: the camera's own way is not in it. The
 * velocity stays the same, but for an acceleration of 0 +- SX_MOTION_AHEAD_ACCEL in all directions. A thing that
 * stands has the velocity 0.
 */
void sx_motion_ahead(const struct sx_motion_place_m *place, const struct sx_motion_estimate *velocity,
		     double seconds, struct sx_motion_place_m *ret);

#endif
