/*
 * Belief: a velocity over the ground that is carried from frame to frame. Formulas as motion.h says: operations in a
 * fixed order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_FILTER_BELIEF_H
#define SX_STAGES_MOTION_FILTER_BELIEF_H

#include "stages/motion/group.h"
#include "stixel.h"

/* A velocity, m/s, with its covariance, (m/s)^2, along the axes of the left camera: x right, z ahead. */
struct sx_motion_estimate {
	double vx, vz, sxx, sxz, szz;
};

/* Returns an estimate as readers know it. */
SX_MOTION_INLINE struct stixel_velocity sx_motion_velocity_of(const struct sx_motion_estimate *e)
{
	const struct stixel_velocity v = {e->vx, e->vz, e->sxx, e->sxz, e->szz, STIXEL_MOTION_UNKNOWN};

	return v;
}

/* Knowledge about a stixel. */
struct sx_motion_belief {
	bool known;			    /* there is an estimate */
	uint32_t state;			    /* enum sx_motion_state, as published */
	struct sx_motion_estimate estimate; /* estimate without the bias that all frames have in common */
	double gain;	 /* gain of moving over standing, added up over the frames: see filter.h */
	double idle;	 /* s since the last measurement */
	uint32_t object; /* identity of the object that it belongs to, 0: none */
};

/* Returns the square of a difference of velocities (x, z), in standard deviations. */
SX_MOTION_INLINE double sx_motion_square(double x, double z, double sxx, double sxz, double szz)
{
	return ((szz * x * x - 2.0 * sxz * x * z) + sxx * z * z) / (sxx * szz - sxz * sxz);
}

/* Returns the estimate that a measurement makes alone, before its test whether standing explains it as well. */
SX_MOTION_INLINE struct sx_motion_estimate sx_motion_measured(const struct sx_motion_velocity *v)
{
	const struct sx_motion_estimate e = {v->raw_x, v->raw_z, v->sxx, v->sxz, v->szz};

	return e;
}

/* Returns the square of the difference of two estimates. more: added to the variances, (m/s)^2. */
SX_MOTION_INLINE double sx_motion_apart(const struct sx_motion_estimate *a,
					const struct sx_motion_estimate *b, double more)
{
	return sx_motion_square(a->vx - b->vx, a->vz - b->vz, (a->sxx + b->sxx) + more, a->sxz + b->sxz,
				(a->szz + b->szz) + more);
}

/*
 * Turns an estimate from the axes of the frame before into those of this frame, and widens its covariance. m: rotation
 * of the step, from this frame to the frame before. speed: standard deviation of the change of a velocity between the
 * frames, m/s.
 */
SX_MOTION_INLINE void sx_motion_carry(struct sx_motion_estimate *e, const struct sx_motion_rotation *m,
				      double speed)
{
	const double a = m->r[0], b = m->r[6], c = m->r[2], d = m->r[8], q = speed * speed;
	const struct sx_motion_estimate o = *e;

	e->vx = a * o.vx + b * o.vz;
	e->vz = c * o.vx + d * o.vz;
	e->sxx = ((a * a * o.sxx + 2.0 * a * b * o.sxz) + b * b * o.szz) + q;
	e->sxz = (a * c * o.sxx + (a * d + b * c) * o.sxz) + b * d * o.szz;
	e->szz = ((c * c * o.sxx + 2.0 * c * d * o.sxz) + d * d * o.szz) + q;
}

/* Corrects an estimate by another one: Kalman. times: the other one's covariance is this many times as large. */
SX_MOTION_INLINE void sx_motion_correct(struct sx_motion_estimate *e, const struct sx_motion_estimate *by,
					double times)
{
	const struct sx_motion_estimate o = *e;
	const double xx = o.sxx + times * by->sxx, xz = o.sxz + times * by->sxz, zz = o.szz + times * by->szz;
	const double det = xx * zz - xz * xz, x = by->vx - o.vx, z = by->vz - o.vz;
	const double k0 = (o.sxx * zz - o.sxz * xz) / det, k1 = (o.sxz * xx - o.sxx * xz) / det;
	const double k2 = (o.sxz * zz - o.szz * xz) / det, k3 = (o.szz * xx - o.sxz * xz) / det;

	e->vx = o.vx + (k0 * x + k1 * z);
	e->vz = o.vz + (k2 * x + k3 * z);
	e->sxx = o.sxx - (k0 * o.sxx + k1 * o.sxz);
	e->sxz = o.sxz - (k0 * o.sxz + k1 * o.szz);
	e->szz = o.szz - (k2 * o.sxz + k3 * o.szz);
}

/*
 * Returns an estimate with the bias that all frames have in common, which no filter takes away: px.
 * ray: x / z of the place. z: its distance, baselines. seconds: time of a pair.
 */
SX_MOTION_INLINE struct sx_motion_estimate sx_motion_biased(const struct sx_motion_estimate *e,
							    const struct sx_camera *c, double px, double ray,
							    double z, double seconds)
{
	const double across = px * z / c->fx * (c->baseline_m / seconds), along = across * z;
	struct sx_motion_estimate b = *e;

	b.sxx += ray * ray * along * along + across * across;
	b.sxz += ray * along * along;
	b.szz += along * along + across * across;
	return b;
}

/* Decides about an estimate, with the limits of group.h. */
SX_MOTION_INLINE uint32_t sx_motion_decide(const struct sx_motion_estimate *e)
{
	const double half = 0.5 * (e->sxx + e->szz), part = 0.5 * (e->sxx - e->szz);
	const double worst = half + sqrt(part * part + e->sxz * e->sxz);

	if (sx_motion_square(e->vx, e->vz, e->sxx, e->sxz, e->szz) >
		    SX_MOTION_MOVING_SIGMAS * SX_MOTION_MOVING_SIGMAS &&
	    e->vx * e->vx + e->vz * e->vz > SX_MOTION_MOVING_M_S * SX_MOTION_MOVING_M_S)
		return SX_MOTION_STATE_MOVES;
	return worst < SX_MOTION_STANDING_M_S * SX_MOTION_STANDING_M_S ? SX_MOTION_STATE_STANDS
								       : SX_MOTION_STATE_UNKNOWN;
}

#endif
