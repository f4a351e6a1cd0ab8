/*
 * Again: searches features that were not found, where things that move would be.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_FILTER_AGAIN_H
#define SX_STAGES_MOTION_FILTER_AGAIN_H

#include "stages/motion/filter/objects.h"

/* Around the place of a thing whose velocity is known; full size. */
#define SX_MOTION_AGAIN ((struct sx_motion_reach){7, 4})
#define SX_MOTION_WALK_M_S 1.3
#define SX_MOTION_WALK_Q8 2560 /* 1/256 px: features of people that walk are this near: 10 px */
#define SX_MOTION_WALK_APART_X \
	8 /* px: and their places differ from that of a thing that stands by more than this, */
#define SX_MOTION_WALK_APART_Y 6 /* or this */

/*
 * Searches the features of object stixels that are not SX_MOTION_FOUND, and replaces the flows of those that it
 * finds. Returns their number.
 *
 * A feature at the place of an object is searched within SX_MOTION_AGAIN of where it would be if it belonged to it
 * (sx_motion_find(); not if 25 second <= 26 cost + 50), then refined. A near one elsewhere is searched where it would
 * be if it walked to the right, to the left, ahead, or back, by sx_motion_match(), since the first search reaches
 * 16 px.
 */
int sx_motion_again(const struct sx_motion_objects *os, const struct sx_motion_pair *pair,
		    const struct sx_motion_frame *now, const struct sx_motion_view *before,
		    struct sx_motion_flow *flows);

#endif
