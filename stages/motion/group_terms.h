/*
 * What one feature adds to the sums of a group. Formulas as motion.h says: operations in a fixed order; sums are
 * integers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_GROUP_TERMS_H
#define SX_STAGES_MOTION_GROUP_TERMS_H

#include "stages/motion/ego_terms.h"

#define SX_MOTION_GROUP_ROUNDS 5
#define SX_MOTION_STANDING_ROUNDS 3
#define SX_MOTION_GROUP_ALIKE 4.0 /* features of a group whose errors are alike count as one */
/*
 * Standard deviations of the nuisances, px: rows in common, changes of disparity in common, and disparities in common
 * in both frames. The last one grows with the disparity by SX_MOTION_SHARE_D. It matters most to a camera that moves:
 * what is taken for farther than it is seems to come nearer.
 */
#define SX_MOTION_COMMON_V 0.2
#define SX_MOTION_COMMON_D 0.1
#define SX_MOTION_COMMON_RANGE 0.2
#define SX_MOTION_GROUP_SCALE 3.0   /* scale of the weights, standard deviations */
#define SX_MOTION_GROUP_AGREES 9.0  /* square of an error below which a feature agrees */
#define SX_MOTION_GROUP_SQUARE 16.0 /* squares above count as this in the gain */
#define SX_MOTION_SHIFT_MOST 16.0   /* baselines between two frames: a start is limited to it */

/*
 * Unknowns of a group: shift along x and z between the frames, baselines; offset of the rows before; offset of the
 * disparities before; offset of the disparities in both frames: px.
 */
enum { SX_MOTION_GROUP_UNKNOWNS = 5, SX_MOTION_GROUP_PAIRS = 15 };

struct sx_motion_group_sums {
	int64_t a[SX_MOTION_GROUP_PAIRS], b[SX_MOTION_GROUP_UNKNOWNS];
	int64_t weights, weighted; /* sums of the weights, and of weights times squares */
	int64_t squares;	   /* limited to SX_MOTION_GROUP_SQUARE */
	int64_t features, agree;
};

/* A hypothesis about a group. */
struct sx_motion_group_at {
	double x[SX_MOTION_GROUP_UNKNOWNS];
};

/* Returns the round in which a thing moves by the shift: R (P - s) + t = R P + (t - R s). */
SX_MOTION_INLINE struct sx_motion_round sx_motion_moving(const struct sx_motion_round *r, double x, double z)
{
	const struct sx_motion_point s = {x, 0.0, z}, turned = sx_motion_turned(&r->rotation, s);
	struct sx_motion_round moving = *r;

	moving.step.t[0] -= turned.x;
	moving.step.t[1] -= turned.y;
	moving.step.t[2] -= turned.z;
	return moving;
}

/* Derivatives of u, v, d by the shift along x and z: j[0], j[1]. */
SX_MOTION_INLINE void sx_motion_by_shift(const struct sx_motion_round *r, const struct sx_motion_error *error,
					 double j[2][3])
{
	for (int i = 0; i < 3; i++) {
		const double *by = &error->derived[3 * i], *m = r->rotation.r;

		j[0][i] = -((by[0] * m[0] + by[1] * m[3]) + by[2] * m[6]);
		j[1][i] = -((by[0] * m[2] + by[1] * m[5]) + by[2] * m[8]);
	}
}

/* Adds a feature. moving: sx_motion_moving() of the hypothesis. standing: the shift is no unknown (its terms are 0). */
SX_MOTION_INLINE void sx_motion_group_add(const struct sx_camera *c, const struct sx_motion_round *moving,
					  const struct sx_motion_group_at *at, bool standing,
					  const struct sx_motion_feature *f,
					  const struct sx_motion_flow *flow, struct sx_motion_group_sums *s)
{
	double info[6], ie[3], j[SX_MOTION_GROUP_UNKNOWNS][3] = {{0}}, square, weight;
	struct sx_motion_error error;

	s->features++;
	if (!sx_motion_error_of(c, moving, f, flow, &error)) {
		s->squares += sx_motion_fixed(SX_MOTION_GROUP_SQUARE);
		return;
	}
	error.e[1] -= at->x[2];
	error.e[2] -= at->x[3];
	for (int i = 0; i < 3; i++)
		error.e[i] -= at->x[4] * (i < 2 ? error.by[i] : error.by[i] - 1.0);
	sx_motion_inform(error.by, (double)f->disparity_q8 / 256.0, info);
	sx_motion_weigh(info, error.e, ie);
	square = (error.e[0] * ie[0] + error.e[1] * ie[1]) + error.e[2] * ie[2];
	s->agree += square < SX_MOTION_GROUP_AGREES;
	s->squares += sx_motion_fixed(square < SX_MOTION_GROUP_SQUARE ? square : SX_MOTION_GROUP_SQUARE);
	weight = 1.0 / (1.0 + square / (SX_MOTION_GROUP_SCALE * SX_MOTION_GROUP_SCALE));
	weight = weight * weight;
	s->weights += sx_motion_fixed(weight);
	s->weighted += sx_motion_fixed(weight * square);
	if (!standing)
		sx_motion_by_shift(moving, &error, j);
	j[2][1] = 1.0;
	j[3][2] = 1.0;
	for (int i = 0; i < 3; i++)
		j[4][i] = i < 2 ? error.by[i] : error.by[i] - 1.0;
	sx_motion_add_terms(info, error.e, j, SX_MOTION_GROUP_UNKNOWNS, weight, s->a, s->b);
}

/* Variance of the last nuisance of a group with disparity d px. */
SX_MOTION_INLINE double sx_motion_group_range(double d)
{
	const double share = SX_MOTION_SHARE_D * d;

	return SX_MOTION_COMMON_RANGE * SX_MOTION_COMMON_RANGE + share * share;
}

/*
 * Makes the factored normal matrix of a group, with the priors of the nuisances, and a tiny one of the shift (which
 * also keeps it regular when standing). range: sx_motion_group_range(). False: there is none.
 */
SX_MOTION_INLINE bool sx_motion_group_factor(const struct sx_motion_group_sums *s, double range,
					     double a[SX_MOTION_GROUP_PAIRS])
{
	for (int i = 0; i < SX_MOTION_GROUP_PAIRS; i++)
		a[i] = (double)s->a[i] / SX_MOTION_FIXED / SX_MOTION_GROUP_ALIKE;
	a[0] += 1e-6;
	a[2] += 1e-6;
	a[5] += 1.0 / (SX_MOTION_COMMON_V * SX_MOTION_COMMON_V);
	a[9] += 1.0 / (SX_MOTION_COMMON_D * SX_MOTION_COMMON_D);
	a[14] += 1.0 / range;
	return sx_motion_factor(a, SX_MOTION_GROUP_UNKNOWNS);
}

/* Makes a step of Gauss-Newton. False: there is none. */
SX_MOTION_INLINE bool sx_motion_group_improve(const struct sx_motion_group_sums *s, double range,
					      struct sx_motion_group_at *at)
{
	double a[SX_MOTION_GROUP_PAIRS], x[SX_MOTION_GROUP_UNKNOWNS];

	if (!sx_motion_group_factor(s, range, a))
		return false;
	for (int i = 0; i < SX_MOTION_GROUP_UNKNOWNS; i++)
		x[i] = (double)s->b[i] / SX_MOTION_FIXED / SX_MOTION_GROUP_ALIKE;
	x[2] -= at->x[2] / (SX_MOTION_COMMON_V * SX_MOTION_COMMON_V);
	x[3] -= at->x[3] / (SX_MOTION_COMMON_D * SX_MOTION_COMMON_D);
	x[4] -= at->x[4] / range;
	sx_motion_solve(a, SX_MOTION_GROUP_UNKNOWNS, x);
	for (int i = 0; i < SX_MOTION_GROUP_UNKNOWNS; i++)
		at->x[i] += x[i];
	return true;
}

/* Computes the shift of one feature alone, without nuisances, 1/1024 baselines. False: the feature has none. */
SX_MOTION_INLINE bool sx_motion_single(const struct sx_camera *c, const struct sx_motion_round *r,
				       const struct sx_motion_feature *f, const struct sx_motion_flow *flow,
				       int32_t ret[2])
{
	double info[6], ij[3], j[2][3], a[3], b[2];
	struct sx_motion_error error;

	if (!sx_motion_error_of(c, r, f, flow, &error))
		return false;
	sx_motion_inform(error.by, (double)f->disparity_q8 / 256.0, info);
	sx_motion_by_shift(r, &error, j);
	for (int i = 0; i < 2; i++) {
		sx_motion_weigh(info, j[i], ij);
		for (int k = 0; k <= i; k++)
			a[i + k] = (ij[0] * j[k][0] + ij[1] * j[k][1]) + ij[2] * j[k][2];
		b[i] = (ij[0] * error.e[0] + ij[1] * error.e[1]) + ij[2] * error.e[2];
	}
	a[0] += 1e-3;
	a[2] += 1e-3;
	if (!sx_motion_factor(a, 2))
		return false;
	sx_motion_solve(a, 2, b);
	for (int i = 0; i < 2; i++) {
		const double v = b[i] > SX_MOTION_SHIFT_MOST	? SX_MOTION_SHIFT_MOST
				 : b[i] < -SX_MOTION_SHIFT_MOST ? -SX_MOTION_SHIFT_MOST
								: b[i];

		ret[i] = (int32_t)rint(1024.0 * v);
	}
	return true;
}

#endif
