/*
 * Group: the velocity of each object stixel over the ground, by the features around it, and whether it stands.
 * docs/develop/motion.md, velocities.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_GROUP_H
#define SX_STAGES_MOTION_GROUP_H

#include "stages/motion/corners.h"
#include "stages/motion/ego.h"
#include "stages/motion/group_terms.h"

struct stixel;

#define SX_MOTION_BESIDE 14	/* px: features of a group lie this near to the middle column of the stixel */
#define SX_MOTION_ABOVE 6	/* px: and up to this far above and below its rows */
#define SX_MOTION_GROUP_LEAST 4 /* features */
#define SX_MOTION_GAIN 8.0	/* moving explains the group better than standing by this, see gain below */
#define SX_MOTION_MOVING_SIGMAS 3.5 /* a velocity that moves is this many standard deviations from 0 */
#define SX_MOTION_MOVING_M_S 0.8    /* and this fast */
#define SX_MOTION_STANDING_M_S 1.5 /* the standard deviation of what stands is below this in all directions */
#define SX_MOTION_ALIKE_LEAST 4	   /* stixels that move alike, next to each other, or they are unknown */
#define SX_MOTION_BIAS_PX 0.04	   /* error that all features of a group have in common */

enum sx_motion_state { SX_MOTION_STATE_UNKNOWN, SX_MOTION_STATE_STANDS, SX_MOTION_STATE_MOVES };

/*
 * Velocity of a stixel over the ground, along the axes of this frame's left camera: x right, z ahead. All fields but
 * state are 0 if nothing was measured. A stixel whose state is unknown may have a measured velocity.
 */
struct sx_motion_velocity {
	uint32_t state;	      /* enum sx_motion_state */
	uint32_t measured;    /* 1: the fields below are known */
	double vx, vz;	      /* m/s; 0 where standing explains the features as well */
	double raw_x, raw_z;  /* m/s; the same before that test */
	double sxx, sxz, szz; /* covariance, (m/s)^2 */
	double gain; /* gain of moving over standing: twice the logarithm of the ratio of likelihoods */
	uint32_t features, agree;
};

/* Returns the distance, m, beyond which no velocity is measured: there the bias alone is 1.65 m/s. */
double sx_motion_farthest(const struct sx_camera *camera, double seconds);

/*
 * Computes the velocity of each of the `count` stixels of a frame (`width` px wide); only objects nearer than
 * sx_motion_farthest() get one. features, flows: one for each cell of an image of this size. seconds: from the frame
 * before to this one, > 0. ego: with a step; without one nothing is measured.
 *
 * Unknowns of a group: the velocity (vx, vz), and two nuisances with priors, an offset of all rows (pitch, and a
 * thing that rises or falls) and one of all disparity changes. Features agree within 1 px and 1/50 of the stixel's
 * disparity. Start: medians of the velocities that single features say, in 1/1024 baselines. Then Gauss-Newton with
 * weights of Geman and McClure, each round with the derivatives at the moving position.
 *
 * A velocity is measured if SX_MOTION_GROUP_LEAST features and half of the group agree with it. It moves, if gain
 * and the limits above say so, and if SX_MOTION_ALIKE_LEAST stixels do: neighbours at most 3 columns apart, with at
 * most 6 rows between them, disparities within 1 px and 3 %, and velocities within 3 standard deviations. It stands
 * if it does not move and is sure. Each result depends on the arguments alone, not on the order of stixels.
 * work: 2 * count entries, scratch.
 */
void sx_motion_group(const struct sx_camera *camera, const struct sx_motion_cells *cells,
		     const struct sx_motion_feature *features, const struct sx_motion_flow *flows,
		     const struct stixel *stixels, uint32_t count, int width, double seconds,
		     const struct sx_motion_ego *ego, uint32_t *work, struct sx_motion_velocity *velocities);

/* Features of a group, at most; of more, the first ones in the order of the cells. */
#define SX_MOTION_GROUP_MOST 512
/* Sets members to the slots of a stixel's group, in the order of the cells. Returns their number. */
int sx_motion_group_members(const struct sx_motion_cells *cells, const struct sx_motion_feature *features,
			    const struct sx_motion_flow *flows, const struct stixel *s, int width,
			    int32_t members[SX_MOTION_GROUP_MOST]);

/* Returns the value of n >= 1 values that would be v[k] if they were sorted. Changes the order of v; does not sort it. */
int32_t sx_motion_select(int32_t *v, int n, int k);
/* Returns the lower median of n >= 1 values by sx_motion_select(). */
int32_t sx_motion_median(int32_t *v, int n);

/*
 * The parts of sx_motion_group(), for other engines. sx_motion_group_measure() measures each stixel alone.
 * sx_motion_group_drop() makes stixels unknown that move in sets of fewer than SX_MOTION_ALIKE_LEAST alike
 * neighbours. by: how an engine adds up the features of a group.
 */
struct sx_motion_group_by {
	void *arg;
	/* says which slots the group has that the next calls are about */
	void (*take)(void *arg, const int32_t *members, int count);
	/* sets *at to the lower medians of what sx_motion_single() says; false: no feature says anything */
	bool (*begin)(void *arg, struct sx_motion_group_at *at);
	/* sets *s to what sx_motion_group_add() makes of all features */
	void (*add)(void *arg, const struct sx_motion_round *moving, const struct sx_motion_group_at *at,
		    bool standing, struct sx_motion_group_sums *s);
};
/* Returns the round of sx_motion_single(): a thing that stands. */
struct sx_motion_round sx_motion_group_round(const struct sx_motion_ego *ego);
void sx_motion_group_measure(const struct sx_camera *camera, const struct sx_motion_cells *cells,
			     const struct sx_motion_feature *features, const struct sx_motion_flow *flows,
			     const struct stixel *stixels, uint32_t count, int width, double seconds,
			     const struct sx_motion_ego *ego, const struct sx_motion_group_by *by,
			     struct sx_motion_velocity *velocities);
/*
 * Sets root, for each stixel that moves, to the first stixel of the set of alike neighbours that it is in; of
 * others, to itself.
 */
void sx_motion_group_alike(const struct stixel *stixels, uint32_t count, uint32_t *root,
			   const struct sx_motion_velocity *velocities);
void sx_motion_group_drop(const struct stixel *stixels, uint32_t count, uint32_t *work,
			  struct sx_motion_velocity *velocities);

#endif
