/*
 * Motion of a pair of frames: calls the stages of this folder in order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_PAIR_H
#define SX_STAGES_MOTION_PAIR_H

#include "stages/motion/corners.h"
#include "stages/motion/ego.h"
#include "stages/motion/group.h"
#include "stages/motion/guess.h"

#define SX_MOTION_PAIR_PASSES 2
#define SX_MOTION_PAIR_NEAR 2	     /* px */
#define SX_MOTION_PAIR_MOVER_Q8 3072 /* 1/256 px: 12 px */
#define SX_MOTION_PAIR_GUESSES SX_MOTION_MOVERS

/* Memory of the stages for images of one size. Read features, flows and ego after sx_motion_pair(). */
struct sx_motion_pair {
	int width, height;
	struct sx_camera camera;
	struct sx_image owner; /* U32 */
	int cells;	       /* features and flows: one for each cell */
	struct sx_motion_feature *features;
	struct sx_motion_flow *flows;
	struct sx_motion_ego ego;
	int64_t span_ns; /* time since the frame before; 0: there is none. The chain sets it (chain.h) */
	uint32_t most;	 /* stixels of a frame, at most */
	struct sx_motion_velocity *velocities; /* velocities, one for each stixel */
	uint32_t *work;
};

/*
 * most: stixels of a frame, at most. -EINVAL: a size is out of range, or the camera has no fx, fy or baseline;
 * -ENOMEM.
 */
int sx_motion_pair_init(struct sx_motion_pair *ret, const struct sx_camera *camera, int width, int height,
			uint32_t most);
size_t sx_motion_pair_bytes(const struct sx_motion_pair *m);
/* Accepts a zeroed struct. */
void sx_motion_pair_finish(struct sx_motion_pair *m);

/* Data that the stages read of a frame beside its view. The stixels have `stixel_width` px. */
struct sx_motion_frame {
	const struct sx_motion_view *view;
	const struct stixel *stixels;
	uint32_t stixel_count;
	int stixel_width;
	double seconds; /* since the frame before, > 0 */
	const struct sx_road *road;
};

/*
 * Computes features, flows, the step from the frame before, and the velocities of the stixels. before: NULL if
 * there is none. expected: step of the pair before, if it was found, or NULL. prior: what is known of the offset.
 * The results depend on the arguments alone. Thread: the owner of m; allocates nothing.
 *
 * The search for the step has SX_MOTION_PAIR_PASSES passes. The first one is around the expected step. If there is
 * none, or if it leads to no step on which a good part of the features agrees (sx_motion_is_good()), the first pass is
 * made again around the step that sx_motion_begin() chooses. The next pass is around the step of the first. It searches those features again whose
 * expected place differs by more than SX_MOTION_PAIR_NEAR px in x or y. Then features of near objects, with
 * SX_MOTION_PAIR_MOVER_Q8 or more, that were not found well are searched again around the places of things that
 * move over the ground (sx_motion_guess_movers()). The step stays.
 */
void sx_motion_pair(struct sx_motion_pair *m, const struct sx_motion_frame *now,
		    const struct sx_motion_view *before, const struct sx_motion_step *expected,
		    const struct sx_motion_range *prior);

/* Parts of it, for other engines. */

/* Clears the results: there is no measurement yet. */
void sx_motion_pair_clear(struct sx_motion_pair *m, const struct sx_motion_frame *now,
			  const struct sx_motion_range *prior);
/* Returns whether a first pass around an expected step was good enough: half of the found features agree. */
SX_MOTION_INLINE bool sx_motion_is_good(const struct sx_motion_ego *ego)
{
	return ego->verdict == SX_MOTION_STEP_FOUND && 2 * ego->inliers >= ego->found;
}

/* Returns whether two guesses differ so much that the search around one may miss what the other finds. */
SX_MOTION_INLINE bool sx_motion_is_elsewhere(struct sx_motion_guess a, struct sx_motion_guess b)
{
	const int dx = a.dx - b.dx, dy = a.dy - b.dy;

	return dx > SX_MOTION_PAIR_NEAR || dx < -SX_MOTION_PAIR_NEAR || dy > SX_MOTION_PAIR_NEAR ||
	       dy < -SX_MOTION_PAIR_NEAR;
}

/* Returns whether a feature is one of a near object that was not found well where it would be if it stood. */
SX_MOTION_INLINE bool sx_motion_may_move(const struct sx_motion_feature *f, const struct sx_motion_flow *flow)
{
	return f->score && (f->kind & SX_MOTION_OBJECT) && f->disparity_q8 >= SX_MOTION_PAIR_MOVER_Q8 &&
	       (flow->search == SX_MOTION_UNKNOWN || flow->cost > SX_MOTION_FAIR);
}

/*
 * Guesses where a feature of a thing that moves was: first as if it stood, then by sx_motion_mover_shift(). A guess
 * within 6 px of the first one says nothing new. Returns the number of guesses.
 */
int sx_motion_guess_movers(const struct sx_motion_pair *m, const struct sx_motion_feature *f, double seconds,
			   struct sx_motion_guess guesses[SX_MOTION_PAIR_GUESSES]);

#endif
