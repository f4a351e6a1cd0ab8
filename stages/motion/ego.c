/*
 * Ego-motion, see ego.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/ego.h"

#define FORGETS 0.98 /* share of its information that the offset keeps from frame to frame */
/*
 * px: standard deviation of an offset that a single frame measures, at least. What a frame measures wrongly, the
 * next ones do, too: features of the same road, the same lens.
 */
#define FRAME_SIGMA 0.2
/*
 * Share of the turn between two frames, px, by which the offset of a frame may differ from that of the cameras. A
 * right camera that exposes 4 ms before the left one sees another yaw: 0.04 of the turn in 0.1 s.
 */
#define TURN_SHARE 0.04

/* Sums of sx_motion_ego(). */
struct all {
	const struct sx_camera *camera;
	const struct sx_motion_feature *features;
	const struct sx_motion_flow *flows;
	int count;
};

static void add_all(void *arg, const struct sx_motion_round *r, struct sx_motion_sums *s)
{
	const struct all *all = arg;

	*s = (struct sx_motion_sums){.found = 0};
	for (int i = 0; i < all->count; i++)
		if (all->features[i].score && all->flows[i].search == SX_MOTION_FOUND)
			sx_motion_add(all->camera, r, &all->features[i], &all->flows[i], s);
}

/* Factors the normal matrix of n unknowns. With seven, the prior of the offset is a part of it. */
static bool factor(const struct sx_motion_sums *s, int n, const struct sx_motion_range *prior,
		   double a[SX_MOTION_PAIRS])
{
	for (int i = 0; i < SX_MOTION_PAIRS; i++)
		a[i] = (double)s->a[i] / SX_MOTION_FIXED;
	a[SX_MOTION_PAIRS - 1] += SX_MOTION_ALIKE / (prior->sigma_px * prior->sigma_px);
	return sx_motion_factor(a, n);
}

static bool improve(const struct sx_camera *c, const struct sx_motion_sums *s, int n,
		    const struct sx_motion_range *prior, struct sx_motion_round *r)
{
	double a[SX_MOTION_PAIRS], x[SX_MOTION_UNKNOWNS], turn[3];

	if (!factor(s, n, prior, a))
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

static enum sx_motion_verdict judge(const struct sx_motion_sums *s)
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
 * Computes the standard deviations from sums at the result. The offset, which is not an unknown of the step, adds
 * its own uncertainty. The unknowns are a turn and a way after it, so that the way of the step also changes with
 * the turn: dt = way + turn x t.
 */
static bool spread(const struct sx_camera *c, const struct sx_motion_sums *s,
		   const struct sx_motion_range *prior, struct sx_motion_ego *ret)
{
	const double alike = SX_MOTION_ALIKE * (ret->fit > 1.0 ? ret->fit : 1.0), *t = ret->step.t;
	const double unit[6] = {1.0 / c->fx,   1.0 / c->fx,   1.0 / c->fx,
				c->baseline_m, c->baseline_m, c->baseline_m};
	double a[SX_MOTION_PAIRS], inverse[6][6], by_offset[6];
	/* rows: turn and way of the step by the unknowns, in their units */
	double by[6][6] = {{0}};

	if (!factor(s, 6, prior, a))
		return false;
	for (int i = 0; i < 6; i++) {
		for (int k = 0; k < 6; k++)
			inverse[i][k] = i == k ? 1.0 : 0.0;
		sx_motion_solve(a, 6, inverse[i]);
		by[i][i] = 1.0;
		by_offset[i] = -(double)s->a[SX_MOTION_PAIRS - SX_MOTION_UNKNOWNS + i] / SX_MOTION_FIXED;
	}
	sx_motion_solve(a, 6, by_offset);
	for (int i = 0; i < 6; i++)
		for (int k = 0; k < 6; k++)
			inverse[i][k] = alike * inverse[i][k] +
					by_offset[i] * by_offset[k] * ret->used.sigma_px * ret->used.sigma_px;
	by[3][1] = t[2] / c->fx;
	by[3][2] = -t[1] / c->fx;
	by[4][0] = -t[2] / c->fx;
	by[4][2] = t[0] / c->fx;
	by[5][0] = t[1] / c->fx;
	by[5][1] = -t[0] / c->fx;
	for (int i = 0; i < 6; i++)
		for (int k = 0; k < 6; k++) {
			double sum = 0.0;

			for (int m = 0; m < 6; m++)
				for (int l = 0; l < 6; l++)
					sum += by[i][m] * inverse[m][l] * by[k][l];
			ret->covariance[6 * i + k] = sum * unit[i] * unit[k];
		}
	for (int i = 0; i < 3; i++) {
		ret->turn_sigma_rad[i] = sqrt(ret->covariance[7 * i]);
		ret->way_sigma_m[i] = sqrt(ret->covariance[7 * (i + 3)]);
		ret->way_m[i] = t[i] * c->baseline_m;
	}
	return true;
}

/*
 * Divides the offset that the features and the prior gave together into what was known before and what this
 * frame adds, which counts with FRAME_SIGMA at least. Combines both, for the range and for the step. s: sums there.
 */
static void measure(const struct sx_camera *c, const struct sx_motion_sums *s,
		    const struct sx_motion_round *r, const struct sx_motion_range *prior,
		    struct sx_motion_ego *ret)
{
	const double *q = r->step.q, turn = q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
	const double by_turn = TURN_SHARE * TURN_SHARE * (4.0 * turn) * (c->fx * c->fx);
	const double before = 1.0 / (prior->sigma_px * prior->sigma_px);
	const double frame = 1.0 / (prior->sigma_px * prior->sigma_px + by_turn);
	double a[SX_MOTION_PAIRS], x[SX_MOTION_UNKNOWNS] = {0, 0, 0, 0, 0, 0, 1.0}, more, px, variance,
				   counted;

	ret->offset_verdict = SX_MOTION_OFFSET_VAGUE;
	if (!factor(s, SX_MOTION_UNKNOWNS, prior, a))
		return;
	sx_motion_solve(a, SX_MOTION_UNKNOWNS, x);
	more = 1.0 / (SX_MOTION_ALIKE * x[6]) - before; /* information of the features alone */
	if (!(more * SX_MOTION_OFFSET_UNSURE * SX_MOTION_OFFSET_UNSURE > 1.0))
		return;
	ret->offset_verdict = SX_MOTION_OFFSET_FOUND;
	px = (r->offset * (more + before) - prior->px * before) / more;
	variance = 1.0 / more + FRAME_SIGMA * FRAME_SIGMA;
	ret->measured = (struct sx_motion_range){px, sqrt(variance + by_turn)};
	counted = 1.0 / (variance + by_turn);
	ret->range.sigma_px = 1.0 / sqrt(before + counted);
	ret->range.px = (prior->px * before + px * counted) / (before + counted);
	counted = 1.0 / variance;
	ret->used.sigma_px = 1.0 / sqrt(frame + counted);
	ret->used.px = (prior->px * frame + px * counted) / (frame + counted);
}

/*
 * Makes `rounds` rounds, with scales from the round `first` on. free: the offset is an unknown. *s: sums at the
 * result. False: the features do not determine a step.
 */
static bool iterate(const struct sx_camera *camera, sx_motion_add_fn *add, void *arg,
		    const struct sx_motion_range *prior, bool free, int first, int rounds,
		    struct sx_motion_round *r, struct sx_motion_sums *s)
{
	for (int round = 0;; round++) {
		r->scale = sx_motion_scale(first + round);
		add(arg, r, s);
		if (round == rounds)
			return true;
		if (s->found < SX_MOTION_INLIERS_LEAST ||
		    !improve(camera, s, free ? SX_MOTION_UNKNOWNS : SX_MOTION_UNKNOWNS - 1, prior, r))
			return false;
	}
}

void sx_motion_ego(const struct sx_camera *camera, const struct sx_motion_feature *features,
		   const struct sx_motion_flow *flows, int count, const struct sx_motion_step *start,
		   const struct sx_motion_range *prior, struct sx_motion_ego *ret)
{
	struct all all = {camera, features, flows, count};

	sx_motion_ego_by(camera, add_all, &all, start, prior, ret);
}

void sx_motion_ego_by(const struct sx_camera *camera, sx_motion_add_fn *add, void *arg,
		      const struct sx_motion_step *start, const struct sx_motion_range *prior,
		      struct sx_motion_ego *ret)
{
	struct sx_motion_round r = {*start, sx_motion_rotation_of(start), prior->px, 0.0};
	const struct sx_motion_round first = r;
	struct sx_motion_sums s;
	bool ok;

	*ret = (struct sx_motion_ego){.verdict = SX_MOTION_STEP_FEW,
				      .offset_verdict = SX_MOTION_OFFSET_NO_STEP,
				      .step = *start,
				      .range = *prior,
				      .used = *prior};
	ok = iterate(camera, add, arg, prior, true, 0, SX_MOTION_ROUNDS, &r, &s);
	if (ok && s.road_inliers >= SX_MOTION_ROAD_LEAST) {
		measure(camera, &s, &r, prior, ret);
		r.offset = ret->used.px;
		ok = iterate(camera, add, arg, prior, false, SX_MOTION_ROUNDS, SX_MOTION_ROUNDS_AGAIN, &r,
			     &s);
	} else {
		r = first;
		ret->offset_verdict = SX_MOTION_OFFSET_FEW_ROAD;
		ok = iterate(camera, add, arg, prior, false, 0, SX_MOTION_ROUNDS, &r, &s);
	}
	ret->found = (uint32_t)s.found;
	ret->inliers = (uint32_t)s.inliers;
	ret->road_found = (uint32_t)s.road_found;
	ret->road_inliers = (uint32_t)s.road_inliers;
	ret->verdict = ok ? judge(&s) : SX_MOTION_STEP_FEW;
	if (ret->verdict == SX_MOTION_STEP_FOUND) {
		ret->step = r.step;
		ret->fit = (double)s.squares / SX_MOTION_FIXED / (3.0 * (double)s.inliers);
		if (!spread(camera, &s, prior, ret))
			ret->verdict = SX_MOTION_STEP_FEW;
	}
	if (ret->verdict != SX_MOTION_STEP_FOUND) {
		ret->step = *start;
		ret->offset_verdict = SX_MOTION_OFFSET_NO_STEP;
		ret->range = ret->used = *prior;
	}
}

struct sx_motion_range sx_motion_range_next(const struct sx_motion_range *range)
{
	return (struct sx_motion_range){range->px, range->sigma_px / sqrt(FORGETS)};
}
