/*
 * Sums of ego-motion. stages/motion/ego_terms.h defines the result.
 *
 * Work:   VD_LANES features at a time, with the operations of sx_motion_add() in their order, so that each term
 *         has the same bytes. To round a term, 1.5 * 2^52 is added: then the low bits of the double are the integer,
 *         and the sum of such bits less those of the constant is the sum of the integers.
 * Memory: reads the columns of the features.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_MOTION_EGO_KERNEL_H
#define SX_CPU_MOTION_EGO_KERNEL_H

#include "cpu/motion/motion_terms.h"
#include "cpu/vec/vec_double.h"

#define EGO_ROUNDS_AT 6755399441055744.0 /* 1.5 * 2^52 */
#define EGO_BITS_AT UINT64_C(0x4338000000000000)

/* A feature's error, as struct sx_motion_error, and where it is valid. Other derivatives are 0. */
struct ego_error {
	vd e[3], by[3], x, y, z;
	vd uu, uz, vv, vz, dz; /* derivatives of u, v and d by x, y and z */
	vl valid;
};

/*
 * Parts of a derivative by an unknown that are not 0, as bits. Terms that are 0 are left out: without them a value
 * is the same, but for the sign of zero, which no later operation sees.
 */
static const int ego_parts[SX_MOTION_UNKNOWNS] = {7, 7, 3, 1, 2, 7, 7};
#define EGO_ALL 7

/* Adds the terms v, that were multiplied by SX_MOTION_FIXED, to bits; see above. */
static ALWAYS_INLINE vul ego_bits(vd v)
{
	return (vul)(vd_held(v, SX_MOTION_TERM_MOST) + EGO_ROUNDS_AT);
}

static ALWAYS_INLINE void ego_error_of(const struct sx_camera *c, const struct sx_motion_round *r,
				       const struct sx_motion_columns *f, int n, struct ego_error *ret)
{
	const double *m = r->rotation.r;
	const vd at = vd_load(&f->d[n]) + r->offset, one = vd_set1(1.0);
	const vl near = (vl)(at > 0.25);
	const vd d = vd_where(near, at, one), pz = c->fx / d, px = vd_load(&f->ray_x[n]) * pz;
	const vd py = vd_load(&f->ray_y[n]) * pz;
	const vd qx = (m[0] * px + m[1] * py) + m[2] * pz, qy = (m[3] * px + m[4] * py) + m[5] * pz;
	const vd qz = (m[6] * px + m[7] * py) + m[8] * pz, x = qx + r->step.t[0], y = qy + r->step.t[1];
	const vd behind = qz + r->step.t[2];
	const vl valid = near & (vl)(behind * SX_MOTION_NEAREST_PX > c->fx);
	const vd z = vd_where(valid, behind, one), picture_d = c->fx / z, x_z = x / z, y_z = y / z;
	const vd fy = picture_d * (c->fy / c->fx);

	ret->valid = valid;
	ret->x = x;
	ret->y = y;
	ret->z = z;
	ret->e[0] = vd_load(&f->u[n]) - (x * picture_d + c->cx);
	ret->e[1] = vd_load(&f->v[n]) - (y_z * c->fy + c->cy);
	ret->e[2] = (vd_load(&f->before[n]) + r->offset) - picture_d;
	ret->uu = picture_d;
	ret->uz = -picture_d * x_z;
	ret->vv = fy;
	ret->vz = -fy * y_z;
	ret->dz = -picture_d / z;
	ret->by[0] = -(ret->uu * qx + ret->uz * qz) / d;
	ret->by[1] = -(ret->vv * qy + ret->vz * qz) / d;
	ret->by[2] = -(ret->dz * qz) / d;
}

/* dd: information of the disparity; its place in the order of sx_motion_inform() stays. */
static ALWAYS_INLINE void ego_inform(const vd by[3], vd dd, vd ret[6])
{
	const double uv = 1.0 / (SX_MOTION_SIGMA_UV * SX_MOTION_SIGMA_UV);
	const vd x = uv * by[0], y = uv * by[1], z = dd * by[2];
	const vd by_all = 1.0 / (dd + ((x * by[0] + y * by[1]) + z * by[2]));

	ret[0] = uv - x * x * by_all;
	ret[1] = -(y * x * by_all);
	ret[2] = uv - y * y * by_all;
	ret[3] = -(z * x * by_all);
	ret[4] = -(z * y * by_all);
	ret[5] = dd - z * z * by_all;
}

/* Returns the sum of a[i] b[i] over the parts. */
static ALWAYS_INLINE vd ego_dot(const vd a[3], const vd b[3], int parts)
{
	vd sum = vd_set1(0.0);

	if (parts & 1)
		sum = a[0] * b[0];
	if (parts & 2)
		sum = parts & 1 ? sum + a[1] * b[1] : a[1] * b[1];
	if (parts & 4)
		sum = parts & 3 ? sum + a[2] * b[2] : a[2] * b[2];
	return sum;
}

/* Multiplies the symmetric matrix info by v, whose other parts are 0. */
static ALWAYS_INLINE void ego_weigh(const vd info[6], const vd v[3], int parts, vd ret[3])
{
	const vd rows[3][3] = {
		{info[0], info[1], info[3]}, {info[1], info[2], info[4]}, {info[3], info[4], info[5]}};

	for (int i = 0; i < 3; i++)
		ret[i] = ego_dot(rows[i], v, parts);
}

/* Derivatives of the error by the unknowns of ego-motion. */
static ALWAYS_INLINE void ego_derive(const struct ego_error *error, double per_px,
				     vd j[SX_MOTION_UNKNOWNS][3])
{
	const vd none = vd_set1(0.0), x = error->x, y = error->y, z = error->z;

	j[0][0] = (error->uz * y) * per_px;
	j[0][1] = (error->vz * y - error->vv * z) * per_px;
	j[0][2] = (error->dz * y) * per_px;
	j[1][0] = (error->uu * z - error->uz * x) * per_px;
	j[1][1] = -(error->vz * x) * per_px;
	j[1][2] = -(error->dz * x) * per_px;
	j[2][0] = -(error->uu * y) * per_px;
	j[2][1] = (error->vv * x) * per_px;
	j[2][2] = none;
	j[3][0] = error->uu;
	j[3][1] = j[3][2] = none;
	j[4][1] = error->vv;
	j[4][0] = j[4][2] = none;
	j[5][0] = error->uz;
	j[5][1] = error->vz;
	j[5][2] = error->dz;
	j[6][0] = error->by[0];
	j[6][1] = error->by[1];
	j[6][2] = error->by[2] - 1.0;
}

/* Computes the sums of sx_motion_add() over features first .. end - 1, which are whole vectors. */
static void motion_ego_sums(const struct sx_camera *c, const struct sx_motion_round *r,
			    const struct sx_motion_columns *f, int first, int end, struct sx_motion_sums *s)
{
	const double per_px = 1.0 / c->fx;
	vul a[SX_MOTION_PAIRS] = {{0}}, b[SX_MOTION_UNKNOWNS] = {{0}};
	vul squares = {0}, found = {0}, inliers = {0}, road_found = {0}, road_inliers = {0};
	uint64_t bits = 0;

	for (int n = first; n < end; n += VD_LANES) {
		vd info[6], ie[3], j[SX_MOTION_UNKNOWNS][3], square, weight;
		struct ego_error error;
		vl counts, road, agrees;
		int k = 0;

		memcpy(&counts, &f->counts[n], sizeof(counts));
		memcpy(&road, &f->road[n], sizeof(road));
		found -= (vul)counts;
		road_found -= (vul)road;
		ego_error_of(c, r, f, n, &error);
		ego_inform(error.by, vd_load(&f->dd[n]), info);
		ego_weigh(info, error.e, EGO_ALL, ie);
		square = ego_dot(error.e, ie, EGO_ALL);
		agrees = (vl)(square < SX_MOTION_AGREES) & error.valid & counts;
		inliers -= (vul)agrees;
		road_inliers -= (vul)(agrees & road);
		squares += ego_bits(vd_only(agrees, square) * SX_MOTION_FIXED);
		weight = 1.0 / (1.0 + square / (r->scale * r->scale));
		/* a power of two times a term is exact, so that it may come first */
		weight = vd_only(error.valid & counts, weight * weight) * SX_MOTION_FIXED;
		ego_derive(&error, per_px, j);
		UNROLL
		for (int i = 0; i < SX_MOTION_UNKNOWNS; i++) {
			vd ij[3];

			ego_weigh(info, j[i], ego_parts[i], ij);
			UNROLL
			for (int m = 0; m <= i; m++)
				a[k++] += ego_bits(weight * ego_dot(ij, j[m], ego_parts[m]));
			b[i] += ego_bits(weight * ego_dot(ij, error.e, EGO_ALL));
		}
		bits += EGO_BITS_AT;
	}
	for (int i = 0; i < SX_MOTION_PAIRS; i++)
		s->a[i] = (int64_t)vul_sum(a[i] - bits);
	for (int i = 0; i < SX_MOTION_UNKNOWNS; i++)
		s->b[i] = (int64_t)vul_sum(b[i] - bits);
	s->squares = (int64_t)vul_sum(squares - bits);
	s->found = (int64_t)vul_sum(found);
	s->inliers = (int64_t)vul_sum(inliers);
	s->road_found = (int64_t)vul_sum(road_found);
	s->road_inliers = (int64_t)vul_sum(road_inliers);
}

#endif
