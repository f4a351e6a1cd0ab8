/*
 * The functions that compute the motion of a pair: those of the reference, or an engine's faster twins of the same
 * results.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_BY_H
#define SX_STAGES_MOTION_BY_H

#include "stages/motion/pair.h"
#include "stages/motion/refine.h"

/* The functions that find one feature again. */
struct sx_motion_finders {
	/* sx_motion_match() */
	void (*match)(const struct sx_motion_view *now, const struct sx_motion_view *before,
		      const struct sx_motion_feature *feature, const struct sx_motion_guess *guesses,
		      int count, struct sx_motion_flow *flow);
	/* sx_motion_refine() */
	void (*refine)(const struct sx_motion_view *now, const struct sx_motion_view *before,
		       const struct sx_motion_feature *feature, const struct sx_motion_guess *guess,
		       struct sx_motion_flow *flow);
	/* sx_motion_find() with the reach SX_MOTION_AGAIN */
	sx_motion_search_fn *again;
};

/* A part of a stage's work: part i of those that `each` has. Parts do not depend on each other. */
typedef void sx_motion_task(void *context, int i);

struct sx_motion_by {
	void *arg;
	/* sx_motion_view_fill() */
	void (*view)(void *arg, struct sx_motion_view *view, const struct sx_image *grey,
		     const struct sx_image *disparity);
	/* sx_motion_pair() */
	void (*pair)(void *arg, struct sx_motion_pair *pair, const struct sx_motion_frame *now,
		     const struct sx_motion_view *before, const struct sx_motion_step *expected,
		     const struct sx_motion_range *prior);
	const struct sx_motion_finders *find; /* any thread */
	/*
	 * sx_motion_group() with other flows than those of the pair. pair: the result of the last call of pair(), with
	 * the same frame. work: two for each stixel. velocities: one for each stixel.
	 */
	void (*group)(void *arg, const struct sx_motion_pair *pair, const struct sx_motion_frame *now,
		      const struct sx_motion_flow *flows, uint32_t *work,
		      struct sx_motion_velocity *velocities);
	/* Calls task(context, i) for i from 0 to count - 1, in any order. Returns when all calls have returned. */
	void (*each)(void *arg, int count, sx_motion_task *task, void *context);
};

extern const struct sx_motion_by sx_motion_by_reference;

#endif
