/*
 * Again: searches features that were not found, where things that move would be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_FILTER_AGAIN_H
#define SX_STAGES_MOTION_FILTER_AGAIN_H

#include "stages/motion/by.h"
#include "stages/motion/filter/objects.h"

#define SX_MOTION_WALK_M_S 1.3
#define SX_MOTION_WALK_Q8 2560 /* 1/256 px: features of people that walk are this near: 10 px */
#define SX_MOTION_WALK_APART_X \
	8 /* px: and their places differ from that of a thing that stands by more than this, */
#define SX_MOTION_WALK_APART_Y 6 /* or this */

/*
 * Searches each feature of an object stixel that is not SX_MOTION_FOUND a second time. A feature that is found gets a
 * new flow. Returns the number of these features.
 *
 * The function expects a feature at the place of an object to move as the object does. It searches such a feature
 * within SX_MOTION_AGAIN of the expected place (sx_motion_find(); the feature is not found if
 * 25 second <= 26 cost + 50), then refines it. It expects a near feature elsewhere to walk to the right, to the left,
 * ahead, or back, and searches these four places by sx_motion_match(), because the first search reaches only 16 px.
 * Each row of cells is a task of by->each.
 */
int sx_motion_again(const struct sx_motion_objects *os, const struct sx_motion_by *by,
		    const struct sx_motion_pair *pair, const struct sx_motion_frame *now,
		    const struct sx_motion_view *before, struct sx_motion_flow *flows);

#endif
