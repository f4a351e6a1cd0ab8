/*
 * The decisions of group.h that every engine calls: which features a stixel has, what their sums say, and which
 * stixels are alike. Formulas as motion.h says: operations in a fixed order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_GROUP_ROUNDS_H
#define SX_STAGES_MOTION_GROUP_ROUNDS_H

#include "stages/motion/group.h"
#include "stixel.h"

#define SX_MOTION_FARTHEST_M_S 1.65 /* bias of a velocity at the farthest distance */
/* Errors of a step that its covariance does not show: features of all distances share them */
#define SX_MOTION_TURN_SIGMA_RAD 0.0002
#define SX_MOTION_WAY_SIGMA_BASELINES 0.011
#define SX_MOTION_APART_COLUMNS 3
#define SX_MOTION_APART_ROWS 6
#define SX_MOTION_APART_SQUARE 9.0

/* Returns sx_motion_farthest(). */
SX_MOTION_INLINE double sx_motion_farthest_of(const struct sx_camera *c, double seconds)
{
	return sqrt(SX_MOTION_FARTHEST_M_S * seconds * (c->fx * c->baseline_m) / SX_MOTION_BIAS_PX);
}

/* The place of a stixel's group: pixels, disparity (1/256 px) with its limit, and cells. */
struct sx_motion_group_place {
	int x, top, bottom, d, most;
	int left_cell, right_cell, top_cell, bottom_cell;
};

SX_MOTION_INLINE struct sx_motion_group_place sx_motion_group_place_of(const struct sx_motion_cells *cells,
								       const struct stixel *s, int width)
{
	struct sx_motion_group_place p;

	p.x = s->column * width + width / 2;
	p.top = s->row_top - SX_MOTION_ABOVE;
	p.bottom = s->row_bottom + SX_MOTION_ABOVE;
	p.d = 2 * s->disparity_q7;
	p.most = 256 + p.d / 50;
	p.left_cell = sx_motion_clamp((p.x - SX_MOTION_BESIDE) / cells->size, 0, cells->columns - 1);
	p.right_cell = sx_motion_clamp((p.x + SX_MOTION_BESIDE) / cells->size, 0, cells->columns - 1);
	p.top_cell = sx_motion_clamp(p.top / cells->size, 0, cells->rows - 1);
	p.bottom_cell = sx_motion_clamp(p.bottom / cells->size, 0, cells->rows - 1);
	return p;
}

/* Returns whether a feature of one of these cells is a member of the group. */
SX_MOTION_INLINE bool sx_motion_group_has(const struct sx_motion_group_place *p,
					  const struct sx_motion_feature *f,
					  const struct sx_motion_flow *flow)
{
	return f->score && flow->search == SX_MOTION_FOUND && (f->kind & SX_MOTION_OBJECT) &&
	       sx_motion_distance(f->x, p->x) <= SX_MOTION_BESIDE && f->y >= p->top && f->y <= p->bottom &&
	       sx_motion_distance(f->disparity_q8, p->d) <= p->most;
}

/* Returns a velocity that was not measured. */
SX_MOTION_INLINE struct sx_motion_velocity sx_motion_no_velocity(void)
{
	struct sx_motion_velocity v;

	v.state = SX_MOTION_STATE_UNKNOWN;
	v.measured = v.features = v.agree = 0;
	v.vx = v.vz = v.raw_x = v.raw_z = v.sxx = v.sxz = v.szz = v.gain = 0.0;
	return v;
}

/*
 * Returns whether the velocity of a stixel is measured. ego: has a step. least: px, the disparity at the farthest
 * distance.
 */
SX_MOTION_INLINE bool sx_motion_group_asks(const struct stixel *s, const struct sx_motion_ego *ego,
					   double least)
{
	return s->kind == STIXEL_OBJECT && s->disparity_q7 != STIXEL_DISPARITY_UNKNOWN &&
	       !((double)s->disparity_q7 / 128.0 + ego->used.px < least);
}

/*
 * Adds the variance that the errors of the step and the common bias cause. Shifts are in baselines here. x, z: place
 * of the stixel, baselines.
 */
SX_MOTION_INLINE void sx_motion_group_common(const struct sx_camera *c, const struct sx_motion_ego *ego,
					     double x, double z, double covariance[3])
{
	const double b = c->baseline_m * c->baseline_m;
	const double turn = ego->covariance[7] + SX_MOTION_TURN_SIGMA_RAD * SX_MOTION_TURN_SIGMA_RAD;
	const double way = SX_MOTION_WAY_SIGMA_BASELINES * SX_MOTION_WAY_SIGMA_BASELINES;
	const double bias = SX_MOTION_BIAS_PX * z / c->fx, along = bias * z, ray = x / z;

	covariance[0] +=
		(ego->covariance[21] / b + way) + turn * z * z + (ray * ray * along * along + bias * bias);
	covariance[1] += ray * along * along;
	covariance[2] += (ego->covariance[35] / b + way) + turn * x * x + (along * along + bias * bias);
}

/* Decides about a stixel alone. */
SX_MOTION_INLINE uint32_t sx_motion_group_decide(const struct sx_motion_velocity *v)
{
	const double det = v->sxx * v->szz - v->sxz * v->sxz, speed = v->vx * v->vx + v->vz * v->vz;
	const double square =
		((v->szz * v->vx * v->vx - 2.0 * v->sxz * v->vx * v->vz) + v->sxx * v->vz * v->vz) / det;
	const double half = 0.5 * (v->sxx + v->szz), part = 0.5 * (v->sxx - v->szz);
	const double worst = half + sqrt(part * part + v->sxz * v->sxz);

	if (square > SX_MOTION_MOVING_SIGMAS * SX_MOTION_MOVING_SIGMAS &&
	    speed > SX_MOTION_MOVING_M_S * SX_MOTION_MOVING_M_S)
		return SX_MOTION_STATE_MOVES;
	return worst < SX_MOTION_STANDING_M_S * SX_MOTION_STANDING_M_S ? SX_MOTION_STATE_STANDS
								       : SX_MOTION_STATE_UNKNOWN;
}

/*
 * Concludes the velocity of a stixel from the sums m at the moving hypothesis `moves`, and n at the standing one.
 * range: sx_motion_group_range().
 */
SX_MOTION_INLINE void sx_motion_group_conclude(const struct sx_camera *c, const struct stixel *s, int width,
					       double seconds, const struct sx_motion_ego *ego, double range,
					       const struct sx_motion_group_at *moves,
					       const struct sx_motion_group_sums *m,
					       const struct sx_motion_group_sums *n,
					       struct sx_motion_velocity *v)
{
	const double d = (double)s->disparity_q7 / 128.0 + ego->used.px, z = c->fx / d;
	const double x = ((double)(s->column * width) + 0.5 * (double)(width - 1) - c->cx) / c->fx * z;
	const double unit = c->baseline_m / seconds;
	double a[SX_MOTION_GROUP_PAIRS],
		column[2][SX_MOTION_GROUP_UNKNOWNS] = {{1.0, 0.0, 0.0, 0.0, 0.0}, {0.0, 1.0, 0.0, 0.0, 0.0}};
	double chi, covariance[3];

	if (!sx_motion_group_factor(m, range, a))
		return;
	v->agree = (uint32_t)m->agree;
	if (m->agree < SX_MOTION_GROUP_LEAST || 2 * m->agree < m->features)
		return;
	chi = (double)m->weighted / SX_MOTION_FIXED;
	chi /= 2.0 * (double)m->weights / SX_MOTION_FIXED - 2.0 > 1.0
		       ? 2.0 * (double)m->weights / SX_MOTION_FIXED - 2.0
		       : 1.0;
	chi = chi > 1.0 ? chi : 1.0;
	sx_motion_solve(a, SX_MOTION_GROUP_UNKNOWNS, column[0]);
	sx_motion_solve(a, SX_MOTION_GROUP_UNKNOWNS, column[1]);
	covariance[0] = chi * column[0][0];
	covariance[1] = chi * column[0][1];
	covariance[2] = chi * column[1][1];
	sx_motion_group_common(c, ego, x, z, covariance);
	v->measured = 1;
	v->gain = (double)(n->squares - m->squares) / SX_MOTION_FIXED / SX_MOTION_GROUP_ALIKE / chi;
	v->raw_x = moves->x[0] * unit;
	v->raw_z = moves->x[1] * unit;
	if (v->gain >= SX_MOTION_GAIN) {
		v->vx = v->raw_x;
		v->vz = v->raw_z;
	}
	v->sxx = covariance[0] * unit * unit;
	v->sxz = covariance[1] * unit * unit;
	v->szz = covariance[2] * unit * unit;
	v->state = sx_motion_group_decide(v);
}

/* Returns whether two stixels that move are parts of one thing. */
SX_MOTION_INLINE bool sx_motion_is_alike(const struct stixel *a, const struct stixel *b,
					 const struct sx_motion_velocity *v,
					 const struct sx_motion_velocity *w)
{
	const int top = a->row_top > b->row_top ? a->row_top : b->row_top;
	const int bottom = a->row_bottom < b->row_bottom ? a->row_bottom : b->row_bottom;
	const int nearer = a->disparity_q7 > b->disparity_q7 ? a->disparity_q7 : b->disparity_q7;
	const double x = v->vx - w->vx, z = v->vz - w->vz;
	/* half a (m/s)^2: parts of a thing that turns or bends differ */
	const double sxx = v->sxx + w->sxx + 0.5, sxz = v->sxz + w->sxz, szz = v->szz + w->szz + 0.5;

	return sx_motion_distance(a->column, b->column) <= SX_MOTION_APART_COLUMNS &&
	       top - bottom <= SX_MOTION_APART_ROWS &&
	       sx_motion_distance(a->disparity_q7, b->disparity_q7) <= 128 + nearer * 3 / 100 &&
	       (szz * x * x - 2.0 * sxz * x * z) + sxx * z * z <
		       SX_MOTION_APART_SQUARE * (sxx * szz - sxz * sxz);
}

#endif
