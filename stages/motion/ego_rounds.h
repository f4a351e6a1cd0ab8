/*
 * The rounds of ego-motion: what is computed from the sums of all features. Every engine calls these functions, with
 * sums of its own. Formulas as motion.h says: operations in a fixed order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_EGO_ROUNDS_H
#define SX_STAGES_MOTION_EGO_ROUNDS_H

#include "stages/motion/ego.h"

/*
 * px: standard deviation of an offset that a single frame measures, at least. What a frame measures wrongly, the
 * next ones do, too: features of the same road, the same lens.
 */
#define SX_MOTION_FRAME_SIGMA 0.2
/*
 * Share of the turn between two frames, px, by which the offset of a frame may differ from that of the cameras. A
 * right camera that exposes 4 ms before the left one sees another yaw: 0.04 of the turn in 0.1 s.
 */
#define SX_MOTION_TURN_SHARE 0.04

/* Sums that a search for a step asks for, at most. */
#define SX_MOTION_SUMS_MOST (2 * (SX_MOTION_ROUNDS + 1))

/* A search for a step. It asks for the sums of sx_motion_add() at `at`. */
struct sx_motion_ego_search {
	struct sx_motion_step start;
	struct sx_motion_range prior;
	struct sx_motion_round at;
	int free;	   /* 1: the offset is an unknown */
	int first;	   /* round of the scale that these rounds began with */
	int round, rounds; /* rounds made since then, and to make */
	int settled;	   /* 1: all rounds are made; 0 at the end: the features do not determine a step */
	int unused;	   /* keeps the doubles aligned */
	struct sx_motion_ego ego; /* the result */
};

SX_MOTION_INLINE void sx_motion_ego_start(struct sx_motion_ego_search *e, int free, int first, int rounds)
{
	e->free = free;
	e->first = first;
	e->round = 0;
	e->rounds = rounds;
	e->at.scale = sx_motion_scale(first);
}

SX_MOTION_INLINE void sx_motion_ego_reset(struct sx_motion_ego_search *e)
{
	e->at.step = e->start;
	e->at.rotation = sx_motion_rotation_of(&e->start);
	e->at.offset = e->prior.px;
}

/* Begins a search. Then the caller computes the sums, and calls sx_motion_ego_next(). */
SX_MOTION_INLINE void sx_motion_ego_begin(struct sx_motion_ego_search *e, const struct sx_motion_step *start,
					  const struct sx_motion_range *prior)
{
	e->start = *start;
	e->prior = *prior;
	e->settled = 0;
	e->unused = 0;
	e->ego = sx_motion_no_ego(SX_MOTION_STEP_FEW, start, prior);
	sx_motion_ego_reset(e);
	sx_motion_ego_start(e, 1, 0, SX_MOTION_ROUNDS);
}

/* Factors the normal matrix of n unknowns. With seven, the prior of the offset is a part of it. */
SX_MOTION_INLINE bool sx_motion_ego_factor(const struct sx_motion_sums *s, int n,
					   const struct sx_motion_range *prior, double a[SX_MOTION_PAIRS])
{
	for (int i = 0; i < SX_MOTION_PAIRS; i++)
		a[i] = (double)s->a[i] / SX_MOTION_FIXED;
	a[SX_MOTION_PAIRS - 1] += SX_MOTION_ALIKE / (prior->sigma_px * prior->sigma_px);
	return sx_motion_factor(a, n);
}

SX_MOTION_INLINE bool sx_motion_ego_improve(const struct sx_camera *c, const struct sx_motion_sums *s, int n,
					    const struct sx_motion_range *prior, struct sx_motion_round *r)
{
	double a[SX_MOTION_PAIRS], x[SX_MOTION_UNKNOWNS], turn[3];

	if (!sx_motion_ego_factor(s, n, prior, a))
		return false;
	for (int i = 0; i < SX_MOTION_UNKNOWNS; i++)
		x[i] = (double)s->b[i] / SX_MOTION_FIXED;
	x[6] += SX_MOTION_ALIKE * (prior->px - r->offset) / (prior->sigma_px * prior->sigma_px);
	sx_motion_solve(a, n, x);
	for (int i = 0; i < 3; i++)
		turn[i] = x[i] / c->fx;
	sx_motion_change(&r->step, turn, &x[3]);
	r->rotation = sx_motion_rotation_of(&r->step);
	if (n == SX_MOTION_UNKNOWNS)
		r->offset += x[6];
	return true;
}

SX_MOTION_INLINE enum sx_motion_verdict sx_motion_ego_judge(const struct sx_motion_sums *s)
{
	if (s->inliers < SX_MOTION_INLIERS_LEAST)
		return SX_MOTION_STEP_FEW;
	if (s->inliers * SX_MOTION_SHARE < s->found)
		return SX_MOTION_STEP_SPLIT;
	if (s->road_found >= SX_MOTION_ROAD_LEAST && 5 * s->road_inliers < s->road_found)
		return SX_MOTION_STEP_ROAD;
	return SX_MOTION_STEP_FOUND;
}

/*
 * Divides the offset that the features and the prior gave together into what was known before and what this
 * frame adds, which counts with SX_MOTION_FRAME_SIGMA at least. Combines both, for the range and for the step. s: sums there.
 */
SX_MOTION_INLINE void sx_motion_ego_measure(const struct sx_camera *c, const struct sx_motion_sums *s,
					    const struct sx_motion_round *r,
					    const struct sx_motion_range *prior, struct sx_motion_ego *ret)
{
	const double *q = r->step.q, turn = q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
	const double by_turn = SX_MOTION_TURN_SHARE * SX_MOTION_TURN_SHARE * (4.0 * turn) * (c->fx * c->fx);
	const double before = 1.0 / (prior->sigma_px * prior->sigma_px);
	const double frame = 1.0 / (prior->sigma_px * prior->sigma_px + by_turn);
	double a[SX_MOTION_PAIRS], x[SX_MOTION_UNKNOWNS] = {0, 0, 0, 0, 0, 0, 1.0}, more, px, variance,
				   counted;

	ret->offset_verdict = SX_MOTION_OFFSET_VAGUE;
	if (!sx_motion_ego_factor(s, SX_MOTION_UNKNOWNS, prior, a))
		return;
	sx_motion_solve(a, SX_MOTION_UNKNOWNS, x);
	more = 1.0 / (SX_MOTION_ALIKE * x[6]) - before; /* information of the features alone */
	if (!(more * SX_MOTION_OFFSET_UNSURE * SX_MOTION_OFFSET_UNSURE > 1.0))
		return;
	ret->offset_verdict = SX_MOTION_OFFSET_FOUND;
	px = (r->offset * (more + before) - prior->px * before) / more;
	variance = 1.0 / more + SX_MOTION_FRAME_SIGMA * SX_MOTION_FRAME_SIGMA;
	ret->measured.px = px;
	ret->measured.sigma_px = sqrt(variance + by_turn);
	counted = 1.0 / (variance + by_turn);
	ret->range.sigma_px = 1.0 / sqrt(before + counted);
	ret->range.px = (prior->px * before + px * counted) / (before + counted);
	counted = 1.0 / variance;
	ret->used.sigma_px = 1.0 / sqrt(frame + counted);
	ret->used.px = (prior->px * frame + px * counted) / (frame + counted);
}

/*
 * Standard deviations from sums at the result. The offset, which is not an unknown of the step, adds its own
 * uncertainty. The unknowns are a turn and a way after it, so that the way of the step also changes with the turn:
 * dt = way + turn x t. Parts that do not depend on each other are functions of their own, for threads.
 */
struct sx_motion_spread {
	double a[SX_MOTION_PAIRS], inverse[6][6], by_offset[6];
	double by[6][6]; /* rows: turn and way of the step by the unknowns, in their units */
};

/* Computes row i of the inverse, or with i = 6 the derivatives by the offset. a: factored. */
SX_MOTION_INLINE void sx_motion_spread_column(const struct sx_motion_sums *s, int i,
					      struct sx_motion_spread *ret)
{
	double *x = i < 6 ? ret->inverse[i] : ret->by_offset;

	for (int k = 0; k < 6; k++)
		x[k] = i < 6 ? (i == k ? 1.0 : 0.0)
			     : -(double)s->a[SX_MOTION_PAIRS - SX_MOTION_UNKNOWNS + k] / SX_MOTION_FIXED;
	sx_motion_solve(ret->a, 6, x);
}

/* Computes row i of the unknowns' covariance, in place of that of the inverse. Before: all columns. */
SX_MOTION_INLINE void sx_motion_spread_row(const struct sx_camera *c, const struct sx_motion_ego *ego, int i,
					   struct sx_motion_spread *ret)
{
	const double alike = SX_MOTION_ALIKE * (ego->fit > 1.0 ? ego->fit : 1.0), *t = ego->step.t;

	for (int k = 0; k < 6; k++) {
		ret->inverse[i][k] = alike * ret->inverse[i][k] + ret->by_offset[i] * ret->by_offset[k] *
									  ego->used.sigma_px *
									  ego->used.sigma_px;
		ret->by[i][k] = i == k ? 1.0 : 0.0;
	}
	if (i >= 3) {
		const int next = (i - 2) % 3, last = (i - 1) % 3;

		ret->by[i][next] = t[last] / c->fx;
		ret->by[i][last] = -t[next] / c->fx;
	}
}

/* Computes element i, k of the covariance of the step. Before: all rows. */
SX_MOTION_INLINE double sx_motion_spread_at(const struct sx_camera *c, const struct sx_motion_spread *s,
					    int i, int k)
{
	const double unit_i = i < 3 ? 1.0 / c->fx : c->baseline_m;
	const double unit_k = k < 3 ? 1.0 / c->fx : c->baseline_m;
	double sum = 0.0;

	for (int m = 0; m < 6; m++)
		for (int l = 0; l < 6; l++)
			sum += s->by[i][m] * s->inverse[m][l] * s->by[k][l];
	return sum * unit_i * unit_k;
}

/*
 * Takes the sums at e->at, and makes the next round. Returns true if the search wants sums again, at the changed
 * e->at; else the caller concludes.
 */
SX_MOTION_INLINE bool sx_motion_ego_next(const struct sx_camera *c, const struct sx_motion_sums *s,
					 struct sx_motion_ego_search *e)
{
	/* two calls with constant numbers of unknowns, so that a device has their arrays in registers */
	if (e->round < e->rounds && s->found >= SX_MOTION_INLIERS_LEAST &&
	    (e->free ? sx_motion_ego_improve(c, s, SX_MOTION_UNKNOWNS, &e->prior, &e->at)
		     : sx_motion_ego_improve(c, s, SX_MOTION_UNKNOWNS - 1, &e->prior, &e->at))) {
		e->round++;
		e->at.scale = sx_motion_scale(e->first + e->round);
		return true;
	}
	e->settled = e->round == e->rounds;
	if (!e->free)
		return false;
	if (e->settled && s->road_inliers >= SX_MOTION_ROAD_LEAST) {
		sx_motion_ego_measure(c, s, &e->at, &e->prior, &e->ego);
		e->at.offset = e->ego.used.px;
		sx_motion_ego_start(e, 0, SX_MOTION_ROUNDS, SX_MOTION_ROUNDS_AGAIN);
	} else {
		sx_motion_ego_reset(e);
		e->ego.offset_verdict = SX_MOTION_OFFSET_FEW_ROAD;
		sx_motion_ego_start(e, 0, 0, SX_MOTION_ROUNDS);
	}
	return true;
}

/*
 * The conclusion from the sums at the result, in three parts. sx_motion_ego_verdict() judges; with a step it makes
 * the factored matrix. Then, with a step alone, the spread is computed: all columns, all rows, all elements into
 * ego.covariance. sx_motion_ego_conclude() is the last part.
 */
SX_MOTION_INLINE void sx_motion_ego_verdict(const struct sx_motion_sums *s, struct sx_motion_ego_search *e,
					    struct sx_motion_spread *spread)
{
	struct sx_motion_ego *ret = &e->ego;

	ret->found = (uint32_t)s->found;
	ret->inliers = (uint32_t)s->inliers;
	ret->road_found = (uint32_t)s->road_found;
	ret->road_inliers = (uint32_t)s->road_inliers;
	ret->verdict = e->settled ? sx_motion_ego_judge(s) : SX_MOTION_STEP_FEW;
	if (ret->verdict != SX_MOTION_STEP_FOUND)
		return;
	ret->step = e->at.step;
	ret->fit = (double)s->squares / SX_MOTION_FIXED / (3.0 * (double)s->inliers);
	if (!sx_motion_ego_factor(s, 6, &e->prior, spread->a))
		ret->verdict = SX_MOTION_STEP_FEW;
}

SX_MOTION_INLINE void sx_motion_ego_conclude(const struct sx_camera *c, struct sx_motion_ego_search *e)
{
	struct sx_motion_ego *ret = &e->ego;

	if (ret->verdict == SX_MOTION_STEP_FOUND) {
		for (int i = 0; i < 3; i++) {
			ret->turn_sigma_rad[i] = sqrt(ret->covariance[7 * i]);
			ret->way_sigma_m[i] = sqrt(ret->covariance[7 * (i + 3)]);
			ret->way_m[i] = ret->step.t[i] * c->baseline_m;
		}
		return;
	}
	ret->step = e->start;
	ret->offset_verdict = SX_MOTION_OFFSET_NO_STEP;
	ret->range = ret->used = e->prior;
}

#endif
