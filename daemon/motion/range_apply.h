/*
 * motion.range_offset = apply: adds the offset that motion found to the disparities of a frame before it is
 * published.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_MOTION_RANGE_APPLY_H
#define SX_DAEMON_MOTION_RANGE_APPLY_H

#include <stdint.h>

#include "stages/motion/ego.h"
#include "stages/road/road.h"
#include "stixel.h"

#define SX_RANGE_SURE_PX 0.15 /* an offset with a larger standard deviation is not followed */
#define SX_RANGE_MOST_PX 4.0  /* nor is a larger offset: such cameras must be calibrated */
#define SX_RANGE_STEP_PX 0.02 /* greatest change from frame to frame */

/*
 * Returns the offset to apply to the next frame, px: the last one, moved towards what is known of the range by
 * SX_RANGE_STEP_PX at most. It stays where it is while nothing sure is known.
 */
double sx_range_follow(double applied_px, const struct sx_motion_range *range);

/* Copies `count` stixels to `to`, and adds px to each disparity. Unknown disparities and the sky's stay as they are. */
void sx_range_apply(const struct stixel *stixels, uint32_t count, double px, struct stixel *to);
/* Adds px to a road that was measured, and computes its pitch and so on again. A calibrated road has no offset. */
void sx_range_apply_road(const struct sx_camera *camera, double px, struct sx_road *road);

#endif
