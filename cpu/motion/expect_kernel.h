/*
 * Places where features are expected. stages/motion/guess.h defines the result.
 *
 * Work:   VD_LANES features at a time, with the operations of sx_motion_expect() in their order.
 * Memory: reads the features.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CPU_MOTION_EXPECT_KERNEL_H
#define SX_CPU_MOTION_EXPECT_KERNEL_H

#include "cpu/motion/ego_kernel.h"
#include "stages/motion/guess.h"

#define EXPECT_NEIGHBOUR 4.0 /* px: the pixels that show how the surroundings change, see guess.c */
#define EXPECT_LIMIT 4096.0  /* px */

/* Computes where pixels were in the frame before. Returns where there is a place; elsewhere it is any number. */
static ALWAYS_INLINE vl expect_place(const struct sx_camera *c, const struct sx_motion_rotation *m,
				     const double t[3], vd x, vd y, vd disparity, vd *u, vd *v)
{
	const vd one = vd_set1(1.0);
	const vl ahead = (vl)(disparity > 0.0);
	const vd d = vd_where(ahead, disparity, one), pz = c->fx / d;
	const vd px = (x - c->cx) / c->fx * pz, py = (y - c->cy) / c->fy * pz;
	const vd qx = ((m->r[0] * px + m->r[1] * py) + m->r[2] * pz) + t[0];
	const vd qy = ((m->r[3] * px + m->r[4] * py) + m->r[5] * pz) + t[1];
	const vd qz = ((m->r[6] * px + m->r[7] * py) + m->r[8] * pz) + t[2];
	const vl valid = ahead & (vl)(qz * SX_MOTION_NEAREST_PX > c->fx);
	const vd z = vd_where(valid, qz, one);

	*u = qx * (c->fx / z) + c->cx;
	*v = qy / z * c->fy + c->cy;
	return valid;
}

/* Limits and rounds; `without` where it is not valid. */
static ALWAYS_INLINE vl expect_rounded(vd v, double least, double most, vl valid, double without)
{
	v = vd_where((vl)(v > most), vd_set1(most), v);
	v = vd_where((vl)(v < least), vd_set1(least), v);
	v = vd_where(valid, v, vd_set1(without));
	return (vl)((vul)(v + EGO_ROUNDS_AT) - EGO_BITS_AT);
}

/* Computes sx_motion_expect() of `count` features that stand. */
static void motion_expect(const struct sx_camera *c, const struct sx_motion_step *step, double offset,
			  const struct sx_motion_feature *const *features, int count,
			  struct sx_motion_guess *guesses)
{
	const struct sx_motion_rotation m = sx_motion_rotation_of(step);
	const double per = 1024.0 / EXPECT_NEIGHBOUR;

	for (int n = 0; n < count; n += VD_LANES) {
		const int lanes = count - n < VD_LANES ? count - n : VD_LANES;
		vd x = vd_set1(0.0), y = x, d = x, slope = x, u, v, beside_u, below_u, below_v, unused;
		vl valid, dx, dy, across, shear, down;

		for (int i = 0; i < lanes; i++) {
			const struct sx_motion_feature *f = features[n + i];

			x[i] = (double)f->x;
			y[i] = (double)f->y;
			d[i] = (double)f->disparity_q8 / 256.0 + offset;
			slope[i] = (double)f->slope_q14 / 16384.0;
		}
		valid = expect_place(c, &m, step->t, x, y, d, &u, &v);
		valid &= expect_place(c, &m, step->t, x + EXPECT_NEIGHBOUR, y, d, &beside_u, &unused);
		valid &= expect_place(c, &m, step->t, x, y + EXPECT_NEIGHBOUR, d + EXPECT_NEIGHBOUR * slope,
				      &below_u, &below_v);
		dx = expect_rounded(u - x, -EXPECT_LIMIT, EXPECT_LIMIT, valid, 0.0);
		dy = expect_rounded(v - y, -EXPECT_LIMIT, EXPECT_LIMIT, valid, 0.0);
		across = expect_rounded((beside_u - u) * per, SX_MOTION_WARP_LEAST, SX_MOTION_WARP_MOST,
					valid, 1024.0);
		shear = expect_rounded((below_u - u) * per, -1024.0, 1024.0, valid, 0.0);
		down = expect_rounded((below_v - v) * per, SX_MOTION_WARP_LEAST, SX_MOTION_WARP_MOST, valid,
				      1024.0);
		for (int i = 0; i < lanes; i++)
			guesses[n + i] =
				(struct sx_motion_guess){(int32_t)dx[i], (int32_t)dy[i], (int32_t)across[i],
							 (int32_t)shear[i], (int32_t)down[i]};
	}
}

#endif
