/*
 * What one feature adds to the sums of ego-motion, and the solution of the sums. Every engine calls these
 * functions. Formulas as motion.h says: operations in a fixed order; sums are integers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_EGO_TERMS_H
#define SX_STAGES_MOTION_EGO_TERMS_H

#include "stages/motion/step.h"

/* Standard deviations, px: of a position after refinement; of a disparity, in either frame, and its growth */
#define SX_MOTION_SIGMA_UV 0.2
#define SX_MOTION_SIGMA_D 0.25
#define SX_MOTION_SHARE_D 0.01 /* share of d: scale of the calibration, slanted and near surfaces */
#define SX_MOTION_AGREES 16.0  /* square of an error, in standard deviations, below which a feature agrees */
/* Errors of neighbours are alike, so that only one feature of this number counts: for standard deviations */
#define SX_MOTION_ALIKE 20.0

#define SX_MOTION_ROUNDS 16
#define SX_MOTION_ROUNDS_AGAIN 6 /* rounds after the offset is settled */

/* Unknowns: turn about x, y, z (1 / fx rad), way along x, y, z (baselines), offset (px). */
#define SX_MOTION_UNKNOWNS 7
#define SX_MOTION_PAIRS (SX_MOTION_UNKNOWNS * (SX_MOTION_UNKNOWNS + 1) / 2)

/* Sums of terms in 1 / 2^20. A term is below 2^49, and there are at most 2^13 of them. */
#define SX_MOTION_FIXED 1048576.0
#define SX_MOTION_TERM_MOST 562949953421312.0

struct sx_motion_sums {
	int64_t a[SX_MOTION_PAIRS]; /* normal matrix: lower triangle, row by row */
	int64_t b[SX_MOTION_UNKNOWNS];
	int64_t squares; /* sum of the errors of features that agree */
	int64_t found, inliers, road_found, road_inliers;
};

/* A round: the step so far, the offset so far, and the scale of the weights. */
struct sx_motion_round {
	struct sx_motion_step step;
	struct sx_motion_rotation rotation;
	double offset, scale;
};

SX_MOTION_INLINE int64_t sx_motion_fixed(double v)
{
	const double f = rint(v * SX_MOTION_FIXED);

	return f >= SX_MOTION_TERM_MOST	   ? (int64_t)SX_MOTION_TERM_MOST
	       : f <= -SX_MOTION_TERM_MOST ? -(int64_t)SX_MOTION_TERM_MOST
					   : (int64_t)f;
}

/* Returns the scale of the weights in a round, standard deviations. */
SX_MOTION_INLINE double sx_motion_scale(int round)
{
	const double s = 24.0 / (double)(1 + round);

	return s > 3.0 ? s : 3.0;
}

/*
 * Error of a feature: what the frame before shows less what the round expects there (u, v, d). `by`: derivative
 * of the expectation by the feature's disparity. `derived`: by the point, as sx_motion_derive().
 */
struct sx_motion_error {
	double e[3], by[3], derived[9];
	struct sx_motion_point there; /* the feature in the camera before, baselines */
};

SX_MOTION_INLINE bool sx_motion_error_of(const struct sx_camera *c, const struct sx_motion_round *r,
					 const struct sx_motion_feature *f, const struct sx_motion_flow *flow,
					 struct sx_motion_error *ret)
{
	const double d = (double)f->disparity_q8 / 256.0 + r->offset;
	struct sx_motion_picture picture;
	struct sx_motion_point p, q;

	if (!(d > 0.25))
		return false;
	p = sx_motion_point_of(c, (double)f->x, (double)f->y, d);
	q = sx_motion_turned(&r->rotation, p);
	ret->there.x = q.x + r->step.t[0];
	ret->there.y = q.y + r->step.t[1];
	ret->there.z = q.z + r->step.t[2];
	if (!sx_motion_picture_of(c, ret->there, &picture))
		return false;
	ret->e[0] = (double)flow->x_q6 / 64.0 - picture.u;
	ret->e[1] = (double)flow->y_q6 / 64.0 - picture.v;
	ret->e[2] = ((double)flow->disparity_q8 / 256.0 + r->offset) - picture.d;
	sx_motion_derive(c, ret->there, picture.d, ret->derived);
	for (int i = 0; i < 3; i++) {
		const double *j = &ret->derived[3 * i];

		/* the point moves along its ray by -1 / d of itself */
		ret->by[i] = -((j[0] * q.x + j[1] * q.y) + j[2] * q.z) / d;
	}
	return true;
}

/*
 * Information of an error: inverse of the covariance diag(uv^2, uv^2, dd^2) + by by^T dd^2 (Sherman, Morrison).
 * The disparity of the feature itself, d px, moves the expectation along `by`. Order: 00, 10, 11, 20, 21, 22.
 */
SX_MOTION_INLINE void sx_motion_inform(const double by[3], double d, double ret[6])
{
	const double uv = 1.0 / (SX_MOTION_SIGMA_UV * SX_MOTION_SIGMA_UV);
	const double share = SX_MOTION_SHARE_D * d;
	const double dd = 1.0 / (SX_MOTION_SIGMA_D * SX_MOTION_SIGMA_D + share * share);
	const double x = uv * by[0], y = uv * by[1], z = dd * by[2];
	const double by_all = 1.0 / (dd + ((x * by[0] + y * by[1]) + z * by[2]));

	ret[0] = uv - x * x * by_all;
	ret[1] = -(y * x * by_all);
	ret[2] = uv - y * y * by_all;
	ret[3] = -(z * x * by_all);
	ret[4] = -(z * y * by_all);
	ret[5] = dd - z * z * by_all;
}

SX_MOTION_INLINE void sx_motion_weigh(const double info[6], const double v[3], double ret[3])
{
	ret[0] = (info[0] * v[0] + info[1] * v[1]) + info[3] * v[2];
	ret[1] = (info[1] * v[0] + info[2] * v[1]) + info[4] * v[2];
	ret[2] = (info[3] * v[0] + info[4] * v[1]) + info[5] * v[2];
}

/*
 * Adds the terms of a feature to the normal equations of `unknowns` unknowns: a, row by row up to the diagonal, and b.
 * j: derivatives of column, row and disparity by each unknown.
 */
SX_MOTION_INLINE void sx_motion_add_terms(const double info[6], const double e[3], double j[][3],
					  int unknowns, double weight, int64_t *a, int64_t *b)
{
	int n = 0;

	SX_MOTION_UNROLL
	for (int i = 0; i < unknowns; i++) {
		double ij[3];

		sx_motion_weigh(info, j[i], ij);
		SX_MOTION_UNROLL
		for (int k = 0; k <= i; k++)
			a[n++] += sx_motion_fixed(weight *
						  ((ij[0] * j[k][0] + ij[1] * j[k][1]) + ij[2] * j[k][2]));
		b[i] += sx_motion_fixed(weight * ((ij[0] * e[0] + ij[1] * e[1]) + ij[2] * e[2]));
	}
}

/* Adds a feature that was found. */
SX_MOTION_INLINE void sx_motion_add(const struct sx_camera *c, const struct sx_motion_round *r,
				    const struct sx_motion_feature *f, const struct sx_motion_flow *flow,
				    struct sx_motion_sums *s)
{
	const bool road = (f->kind & SX_MOTION_ROAD) != 0;
	double info[6], ie[3], j[SX_MOTION_UNKNOWNS][3], square, weight;
	struct sx_motion_error error;

	s->found++;
	s->road_found += road;
	if (!sx_motion_error_of(c, r, f, flow, &error))
		return;
	sx_motion_inform(error.by, (double)f->disparity_q8 / 256.0, info);
	sx_motion_weigh(info, error.e, ie);
	square = (error.e[0] * ie[0] + error.e[1] * ie[1]) + error.e[2] * ie[2];
	if (square < SX_MOTION_AGREES) {
		s->inliers++;
		s->road_inliers += road;
		s->squares += sx_motion_fixed(square);
	}
	weight = 1.0 / (1.0 + square / (r->scale * r->scale));
	weight = weight * weight;
	for (int i = 0; i < 3; i++) {
		const double *by = &error.derived[3 * i], per_px = 1.0 / c->fx;

		/* turn x point, for a turn of 1 / fx about each axis */
		j[0][i] = (by[2] * error.there.y - by[1] * error.there.z) * per_px;
		j[1][i] = (by[0] * error.there.z - by[2] * error.there.x) * per_px;
		j[2][i] = (by[1] * error.there.x - by[0] * error.there.y) * per_px;
		j[3][i] = by[0];
		j[4][i] = by[1];
		j[5][i] = by[2];
		j[6][i] = i < 2 ? error.by[i] : error.by[i] - 1.0;
	}
	sx_motion_add_terms(info, error.e, j, SX_MOTION_UNKNOWNS, weight, s->a, s->b);
}

/*
 * Factors a symmetric matrix (lower triangle, row by row) of n unknowns, n <= 7, as L D L^T, in place: D on the
 * diagonal. False: it has no inverse.
 */
SX_MOTION_INLINE bool sx_motion_factor(double *a, int n)
{
	SX_MOTION_UNROLL
	for (int i = 0; i < n; i++) {
		double *row = &a[i * (i + 1) / 2], pivot = row[i];

		SX_MOTION_UNROLL
		for (int k = 0; k < i; k++) {
			const double *upper = &a[k * (k + 1) / 2];
			double v = row[k];

			SX_MOTION_UNROLL
			for (int m = 0; m < k; m++)
				v -= row[m] * upper[m]; /* row[m] is L D there */
			row[k] = v;
		}
		SX_MOTION_UNROLL
		for (int k = 0; k < i; k++) {
			const double v = row[k];

			row[k] = v / a[k * (k + 1) / 2 + k];
			pivot -= v * row[k];
		}
		if (!(pivot > 1e-9))
			return false;
		row[i] = pivot;
	}
	return true;
}

/* Solves a x = b for a factored matrix; x holds b before. */
SX_MOTION_INLINE void sx_motion_solve(const double *a, int n, double *x)
{
	SX_MOTION_UNROLL
	for (int i = 0; i < n; i++) {
		SX_MOTION_UNROLL
		for (int k = 0; k < i; k++)
			x[i] -= a[i * (i + 1) / 2 + k] * x[k];
	}
	SX_MOTION_UNROLL
	for (int i = 0; i < n; i++)
		x[i] /= a[i * (i + 1) / 2 + i];
	SX_MOTION_UNROLL
	for (int i = n - 1; i >= 0; i--) {
		SX_MOTION_UNROLL
		for (int k = i + 1; k < n; k++)
			x[i] -= a[k * (k + 1) / 2 + i] * x[k];
	}
}

#endif
