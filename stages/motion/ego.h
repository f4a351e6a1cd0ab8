/*
 * Ego-motion: the step of the camera between two frames, and an offset of all disparities, by the features
 * that were found again. docs/develop/motion.md, ego-motion.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_EGO_H
#define SX_STAGES_MOTION_EGO_H

#include "stages/motion/ego_terms.h"

#define SX_MOTION_INLIERS_LEAST 60  /* features that agree with the step */
#define SX_MOTION_SHARE 4	    /* and one of this number of all that were found */
#define SX_MOTION_ROAD_LEAST 60	    /* features of the near road that the offset needs */
#define SX_MOTION_OFFSET_UNSURE 0.5 /* px: an offset with a larger standard deviation is not known */

/* Why there is no step. */
enum sx_motion_verdict {
	SX_MOTION_STEP_FOUND,
	SX_MOTION_STEP_FIRST,	/* there is no frame before */
	SX_MOTION_STEP_REPEATS, /* the left images of the two frames are equal, byte by byte */
	SX_MOTION_STEP_FEW,	/* fewer than SX_MOTION_INLIERS_LEAST features were found, or agree */
	SX_MOTION_STEP_SPLIT,	/* the features that agree are no SX_MOTION_SHARE-th part */
	SX_MOTION_STEP_ROAD	/* the near road moves in another way than the features that agree */
};

/* Why the offset of disparities was not measured in this frame. */
enum sx_motion_offset {
	SX_MOTION_OFFSET_FOUND,
	SX_MOTION_OFFSET_NO_STEP,
	SX_MOTION_OFFSET_FEW_ROAD, /* fewer than SX_MOTION_ROAD_LEAST features of the near road agree */
	SX_MOTION_OFFSET_VAGUE	   /* the frame says next to nothing: the camera hardly moves */
};

/*
 * Knowledge of the offset, which must be added to all measured disparities. sigma_px: standard
 * deviation, > 0.
 */
struct sx_motion_range {
	double px, sigma_px;
};
/* Before the first frame. */
#define SX_MOTION_RANGE_FIRST ((struct sx_motion_range){0.0, 1.0})

struct sx_motion_ego {
	enum sx_motion_verdict verdict;
	enum sx_motion_offset offset_verdict;
	struct sx_motion_step step; /* step of the frame before if this frame has none: not a measurement */
	double turn_sigma_rad[3];   /* about x, y, z */
	double way_m[3], way_sigma_m[3]; /* step.t in m */
	double covariance[36];		 /* covariance of turn (rad) and way (m), row by row */
	struct sx_motion_range range;	 /* prior, and this frame's measurement if there is one */
	struct sx_motion_range measured; /* this frame's alone; only with SX_MOTION_OFFSET_FOUND */
	struct sx_motion_range
		used;		 /* offset of this frame, by which the step was found: SX_MOTION_TURN_SHARE */
	uint32_t found, inliers; /* features found again; features that agree with the step */
	uint32_t road_found, road_inliers; /* features of the near road among them */
	double fit; /* mean square of what is left of the inliers, in standard deviations: 1 is expected */
};

/*
 * Computes the step. features, flows: `count` of both, in any order: the result has the same bytes.
 * start: where the search began. prior: what is known of the offset. *ret depends on the arguments alone.
 *
 * Gauss-Newton with weights of Geman and McClure, whose scale falls from 24 to 3 standard deviations, for seven
 * unknowns: the step and the offset, which begins at the prior. A feature agrees if the square of its error is
 * below SX_MOTION_AGREES. Without enough features of the near road the offset stays at the prior, and the rounds
 * begin again with six unknowns. With enough of them the frame measures the offset; prior and measurement give
 * the range, and SX_MOTION_ROUNDS_AGAIN rounds settle the step with it.
 */
void sx_motion_ego(const struct sx_camera *camera, const struct sx_motion_feature *features,
		   const struct sx_motion_flow *flows, int count, const struct sx_motion_step *start,
		   const struct sx_motion_range *prior, struct sx_motion_ego *ret);
/*
 * Same, with sums from elsewhere. add: sets *s to what sx_motion_add() makes of all features that were found.
 */
typedef void sx_motion_add_fn(void *arg, const struct sx_motion_round *r, struct sx_motion_sums *s);
void sx_motion_ego_by(const struct sx_camera *camera, sx_motion_add_fn *add, void *arg,
		      const struct sx_motion_step *start, const struct sx_motion_range *prior,
		      struct sx_motion_ego *ret);

/* Share of its information that the offset keeps from frame to frame. */
#define SX_MOTION_FORGETS 0.98
/* Returns what is known of the offset before the next frame: older frames count less. */
SX_MOTION_INLINE struct sx_motion_range sx_motion_range_next(const struct sx_motion_range *range)
{
	struct sx_motion_range r;

	r.px = range->px;
	r.sigma_px = range->sigma_px / sqrt(SX_MOTION_FORGETS);
	return r;
}

/* Returns a result without a step. */
SX_MOTION_INLINE struct sx_motion_ego sx_motion_no_ego(enum sx_motion_verdict verdict,
						       const struct sx_motion_step *step,
						       const struct sx_motion_range *prior)
{
	struct sx_motion_ego e;

	e.verdict = verdict;
	e.offset_verdict = SX_MOTION_OFFSET_NO_STEP;
	e.step = *step;
	for (int i = 0; i < 3; i++)
		e.turn_sigma_rad[i] = e.way_m[i] = e.way_sigma_m[i] = 0.0;
	for (int i = 0; i < 36; i++)
		e.covariance[i] = 0.0;
	e.range = e.used = *prior;
	e.measured.px = e.measured.sigma_px = 0.0;
	e.found = e.inliers = e.road_found = e.road_inliers = 0;
	e.fit = 0.0;
	return e;
}

#endif
