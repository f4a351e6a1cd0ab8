/*
 * Filter: velocities of object stixels, and the objects that move, over several frames.
 * docs/develop/motion.md, filter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_FILTER_FILTER_H
#define SX_STAGES_MOTION_FILTER_FILTER_H

#include "stages/motion/by.h"
#include "stages/motion/filter/objects.h"
#include "stixel.h"

#define SX_MOTION_FILTER_GAP_S \
	0.4 /* the memory ends after a longer time without a frame, or without a step */
#define SX_MOTION_FILTER_LEAST_S 0.005 /* frames less far apart measure nothing */
#define SX_MOTION_FILTER_ACCEL 3.0     /* m/s^2: standard deviation of how what moves accelerates */
#define SX_MOTION_FILTER_CALM 0.7      /* and what stands */
#define SX_MOTION_FILTER_GATE 25.0     /* square of a difference above which a stixel starts again */
#define SX_MOTION_FILTER_IDLE_S 0.35   /* a stixel that was not measured for longer is unknown */
#define SX_MOTION_FILTER_KEEP 0.8      /* share of the gain of the pair before that a pair keeps */
#define SX_MOTION_FILTER_FIT 2.0       /* gain of a thing that stands: two unknowns fit its noise */
#define SX_MOTION_FILTER_GAIN_LEAST (-8.0)
#define SX_MOTION_FILTER_GAIN_PAIR 16.0 /* gain of one pair, at most */
#define SX_MOTION_FILTER_GAIN_MOST 24.0 /* gain of all, at most */

/* Why a frame has no velocities. */
enum sx_motion_memory {
	SX_MOTION_MEMORY_RUNS,
	SX_MOTION_MEMORY_STARTS, /* first frame, or the first one after a gap: no memory */
	SX_MOTION_MEMORY_STALE, /* less than SX_MOTION_FILTER_LEAST_S since the frame before: the memory stays */
	SX_MOTION_MEMORY_LOST /* the pair has no step: the objects are kept for a while, the stixels are not */
};

/* Memory of the filter for images of one size. Read memory, objects, beliefs and velocities after each frame. */
struct sx_motion_filter {
	int width, height;
	struct sx_camera camera;
	uint32_t most; /* stixels of a frame, at most */
	int cells;
	enum sx_motion_memory memory;
	struct sx_motion_step rate; /* step of a pair, the last one that was found */
	double rate_seconds;	    /* and its time; 0: none */
	double lost;		    /* s without a step */

	uint32_t count, before_count;	     /* stixels of this frame, and of the frame before */
	struct sx_image owner, before_owner; /* U32 */
	struct stixel *stixels, *before_stixels;
	struct sx_motion_belief *beliefs, *before;
	struct sx_motion_objects objects;
	struct sx_motion_flow *flows; /* flows of the pair, and of the features that were searched again */
	struct sx_motion_velocity *measured;   /* velocities of this frame alone, by these flows */
	struct sx_motion_velocity *velocities; /* the result: of each stixel */
	uint32_t *work;
};

/* Takes all memory, as sx_motion_pair_init(). */
int sx_motion_filter_init(struct sx_motion_filter *ret, const struct sx_camera *camera, int width, int height,
			  uint32_t most);
size_t sx_motion_filter_bytes(const struct sx_motion_filter *f);
/* Accepts a zeroed struct. */
void sx_motion_filter_finish(struct sx_motion_filter *f);
/* Forgets all: the next frame is the first. Identities go on counting. */
void sx_motion_filter_reset(struct sx_motion_filter *f);

/*
 * Takes a frame. by: the functions that found the pair. pair: what sx_motion_pair() found in it. before: the view that it was measured against; NULL:
 * there is none. since: time since the last frame that this function took, s; now->seconds is the time between the
 * frames of the pair, which may be longer. Results depend on the frames since the last reset alone. Thread: the owner
 * of f; allocates nothing.
 *
 * 1. Objects are predicted, features are searched again (again.h), and the stixels are measured with what was found.
 * 2. A stixel's predecessor: the median flow of its group, or the flow of a thing that stands if the group has fewer
 *    than two features, says where its middle column was. Of the stixels there whose disparity fits within 1.5 px
 *    and 1/32 the one wins that covers most rows; of equal ones the uppermost. A predecessor that moves needs
 *    a flow.
 * 3. The predecessor's velocity is carried on and corrected by the measurement (Kalman). The next measurement of the
 *    same thing shares most of its time if frames follow each other in less than a pair's time: it counts for the
 *    share that is new. Positions are no part of it.
 * 4. Gains add up. With SX_MOTION_GAIN or more the velocity is not 0; else it is. States as in group.h; the
 *    bias that all frames have in common is added before.
 * 5. Objects (objects.h).
 *
 * Without a step all stixels are unknown, and no object is shown.
 */
bool sx_motion_filter_next(struct sx_motion_filter *f, const struct sx_motion_by *by,
			   const struct sx_motion_frame *now, const struct sx_motion_view *before,
			   const struct sx_motion_pair *pair, double since);

#endif
