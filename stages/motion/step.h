/*
 * Geometry of steps: points in baselines, their pictures, and derivatives. Formulas as motion.h says:
 * operations in a fixed order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_STEP_H
#define SX_STAGES_MOTION_STEP_H

#include <math.h>

#include "stages/motion/motion.h"

/* A point with a larger disparity, px, is too near to have a picture. */
#define SX_MOTION_NEAREST_PX 1024.0

/* A point, baselines, and its picture: column, row, disparity, px. */
struct sx_motion_point {
	double x, y, z;
};
struct sx_motion_picture {
	double u, v, d;
};

/* Rotation matrix of a step, row by row. */
struct sx_motion_rotation {
	double r[9];
};

SX_MOTION_INLINE struct sx_motion_step sx_motion_no_step(void)
{
	struct sx_motion_step s = {{1.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};

	return s;
}

SX_MOTION_INLINE struct sx_motion_rotation sx_motion_rotation_of(const struct sx_motion_step *s)
{
	const double w = s->q[0], x = s->q[1], y = s->q[2], z = s->q[3];
	struct sx_motion_rotation m;

	m.r[0] = 1.0 - 2.0 * (y * y + z * z);
	m.r[1] = 2.0 * (x * y - w * z);
	m.r[2] = 2.0 * (x * z + w * y);
	m.r[3] = 2.0 * (x * y + w * z);
	m.r[4] = 1.0 - 2.0 * (x * x + z * z);
	m.r[5] = 2.0 * (y * z - w * x);
	m.r[6] = 2.0 * (x * z - w * y);
	m.r[7] = 2.0 * (y * z + w * x);
	m.r[8] = 1.0 - 2.0 * (x * x + y * y);
	return m;
}

SX_MOTION_INLINE struct sx_motion_point sx_motion_turned(const struct sx_motion_rotation *m,
							 struct sx_motion_point p)
{
	struct sx_motion_point q;

	q.x = (m->r[0] * p.x + m->r[1] * p.y) + m->r[2] * p.z;
	q.y = (m->r[3] * p.x + m->r[4] * p.y) + m->r[5] * p.z;
	q.z = (m->r[6] * p.x + m->r[7] * p.y) + m->r[8] * p.z;
	return q;
}

/*
 * Changes a step: turns it further by the small rotation `turn` (rad, about x, y, z), then moves it by `way`
 * (baselines). The turn is the Cayley map of turn / 2: exact as a rotation, and without sine and cosine.
 */
SX_MOTION_INLINE void sx_motion_change(struct sx_motion_step *s, const double turn[3], const double way[3])
{
	const double x = 0.5 * turn[0], y = 0.5 * turn[1], z = 0.5 * turn[2];
	const double length = sqrt(((1.0 + x * x) + y * y) + z * z);
	const struct sx_motion_step more = {{1.0 / length, x / length, y / length, z / length}, {0, 0, 0}};
	const struct sx_motion_rotation m = sx_motion_rotation_of(&more);
	const struct sx_motion_point t =
		sx_motion_turned(&m, (struct sx_motion_point){s->t[0], s->t[1], s->t[2]});
	const double *a = more.q, *b = s->q;
	const double q0 = ((a[0] * b[0] - a[1] * b[1]) - a[2] * b[2]) - a[3] * b[3];
	const double q1 = ((a[0] * b[1] + a[1] * b[0]) + a[2] * b[3]) - a[3] * b[2];
	const double q2 = ((a[0] * b[2] - a[1] * b[3]) + a[2] * b[0]) + a[3] * b[1];
	const double q3 = ((a[0] * b[3] + a[1] * b[2]) - a[2] * b[1]) + a[3] * b[0];
	const double norm = sqrt(((q0 * q0 + q1 * q1) + q2 * q2) + q3 * q3);

	s->q[0] = q0 / norm;
	s->q[1] = q1 / norm;
	s->q[2] = q2 / norm;
	s->q[3] = q3 / norm;
	s->t[0] = t.x + way[0];
	s->t[1] = t.y + way[1];
	s->t[2] = t.z + way[2];
}

/* Returns the point that pixel (x, y) shows. d > 0: its disparity, px. */
SX_MOTION_INLINE struct sx_motion_point sx_motion_point_of(const struct sx_camera *c, double x, double y,
							   double d)
{
	struct sx_motion_point p;

	p.z = c->fx / d;
	p.x = (x - c->cx) / c->fx * p.z;
	p.y = (y - c->cy) / c->fy * p.z;
	return p;
}

/* Returns the point in the camera of the frame before. */
SX_MOTION_INLINE struct sx_motion_point sx_motion_moved(const struct sx_motion_rotation *m, const double t[3],
							struct sx_motion_point p)
{
	struct sx_motion_point q = sx_motion_turned(m, p);

	q.x += t[0];
	q.y += t[1];
	q.z += t[2];
	return q;
}

/* Computes the picture of a point. False: it is behind the camera or too near. */
SX_MOTION_INLINE bool sx_motion_picture_of(const struct sx_camera *c, struct sx_motion_point p,
					   struct sx_motion_picture *ret)
{
	if (!(p.z * SX_MOTION_NEAREST_PX > c->fx))
		return false;
	ret->d = c->fx / p.z;
	ret->u = p.x * ret->d + c->cx;
	ret->v = p.y / p.z * c->fy + c->cy;
	return true;
}

/* Derivatives of u, v and d by x, y and z of the point, px per baseline: row by row. d: its disparity. */
SX_MOTION_INLINE void sx_motion_derive(const struct sx_camera *c, struct sx_motion_point p, double d,
				       double ret[9])
{
	const double fy = d * (c->fy / c->fx);

	ret[0] = d;
	ret[1] = 0.0;
	ret[2] = -d * (p.x / p.z);
	ret[3] = 0.0;
	ret[4] = fy;
	ret[5] = -fy * (p.y / p.z);
	ret[6] = 0.0;
	ret[7] = 0.0;
	ret[8] = -d / p.z;
}

#endif
