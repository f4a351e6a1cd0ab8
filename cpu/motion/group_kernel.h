/*
 * Sums of a group. stages/motion/group_terms.h defines the result.
 *
 * Work:   as ego_kernel.h. A derivative that is 1 is no factor, and one that is 0 no term.
 * Memory: reads the columns of the group.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_MOTION_GROUP_KERNEL_H
#define SX_CPU_MOTION_GROUP_KERNEL_H

#include "cpu/motion/ego_kernel.h"
#include "stages/motion/group_terms.h"

/* Derivatives by the unknowns; those by the offsets of rows and of disparities before are 1 in one part. */
static const int group_parts[SX_MOTION_GROUP_UNKNOWNS] = {7, 7, 2, 4, 7};

/* Returns the sum of a[i] times the derivative by unknown m. */
static ALWAYS_INLINE vd group_dot(const vd a[3], const vd j[3], int m)
{
	return m == 2 ? a[1] : m == 3 ? a[2] : ego_dot(a, j, group_parts[m]);
}

/* Adds up for the unknowns from `least` on; earlier unknowns are fixed. */
static ALWAYS_INLINE void group_sums(const struct sx_camera *c, const struct sx_motion_round *moving,
				     const struct sx_motion_group_at *at, int least,
				     const struct sx_motion_columns *f, struct sx_motion_group_sums *s)
{
	const double *m = moving->rotation.r;
	vul a[SX_MOTION_GROUP_PAIRS] = {{0}}, b[SX_MOTION_GROUP_UNKNOWNS] = {{0}};
	vul weights = {0}, weighted = {0}, squares = {0}, agree = {0};
	uint64_t bits = 0;

	for (int n = 0; n < f->count; n += VD_LANES) {
		vd info[6], ie[3], j[SX_MOTION_GROUP_UNKNOWNS][3], square, weight, part[3];
		const vd most = vd_set1(SX_MOTION_GROUP_SQUARE);
		struct ego_error error;
		vl counts, valid;
		int k = 0;

		memcpy(&counts, &f->counts[n], sizeof(counts));
		ego_error_of(c, moving, f, n, &error);
		valid = error.valid & counts;
		part[0] = error.by[0];
		part[1] = error.by[1];
		part[2] = error.by[2] - 1.0;
		error.e[1] = error.e[1] - at->x[2];
		error.e[2] = error.e[2] - at->x[3];
		for (int i = 0; i < 3; i++)
			error.e[i] = error.e[i] - at->x[4] * part[i];
		ego_inform(error.by, vd_load(&f->dd[n]), info);
		ego_weigh(info, error.e, EGO_ALL, ie);
		square = ego_dot(error.e, ie, EGO_ALL);
		agree -= (vul)((vl)(square < SX_MOTION_GROUP_AGREES) & valid);
		square = vd_where(valid, square, most);
		squares += ego_bits(vd_only(counts, vd_where((vl)(square < most), square, most)) *
				    SX_MOTION_FIXED);
		weight = 1.0 / (1.0 + square / (SX_MOTION_GROUP_SCALE * SX_MOTION_GROUP_SCALE));
		weight = vd_only(valid, weight * weight) * SX_MOTION_FIXED;
		weights += ego_bits(weight);
		weighted += ego_bits(weight * square);
		j[0][0] = -(error.uu * m[0] + error.uz * m[6]);
		j[0][1] = -(error.vv * m[3] + error.vz * m[6]);
		j[0][2] = -(error.dz * m[6]);
		j[1][0] = -(error.uu * m[2] + error.uz * m[8]);
		j[1][1] = -(error.vv * m[5] + error.vz * m[8]);
		j[1][2] = -(error.dz * m[8]);
		for (int i = 0; i < 3; i++) {
			j[2][i] = vd_set1(i == 1 ? 1.0 : 0.0);
			j[3][i] = vd_set1(i == 2 ? 1.0 : 0.0);
			j[4][i] = part[i];
		}
		UNROLL
		for (int i = 0; i < SX_MOTION_GROUP_UNKNOWNS; i++) {
			vd ij[3];

			if (i < least) {
				k += i + 1;
				continue;
			}
			ego_weigh(info, j[i], group_parts[i], ij);
			UNROLL
			for (int q = 0; q <= i; q++, k++)
				if (q >= least)
					a[k] += ego_bits(weight * group_dot(ij, j[q], q));
			b[i] += ego_bits(weight * ego_dot(ij, error.e, EGO_ALL));
		}
		bits += EGO_BITS_AT;
	}
	*s = (struct sx_motion_group_sums){.features = f->count};
	for (int i = least, k = least * (least + 1) / 2; i < SX_MOTION_GROUP_UNKNOWNS; i++) {
		for (int q = 0; q <= i; q++, k++)
			if (q >= least)
				s->a[k] = (int64_t)vul_sum(a[k] - bits);
		s->b[i] = (int64_t)vul_sum(b[i] - bits);
	}
	s->weights = (int64_t)vul_sum(weights - bits);
	s->weighted = (int64_t)vul_sum(weighted - bits);
	s->squares = (int64_t)vul_sum(squares - bits);
	s->agree = (int64_t)vul_sum(agree);
}

/* Computes the sums of sx_motion_group_add() over all columns. */
static void motion_group_sums(const struct sx_camera *c, const struct sx_motion_round *moving,
			      const struct sx_motion_group_at *at, bool standing,
			      const struct sx_motion_columns *f, struct sx_motion_group_sums *s)
{
	if (standing)
		group_sums(c, moving, at, 2, f, s);
	else
		group_sums(c, moving, at, 0, f, s);
}

#endif
