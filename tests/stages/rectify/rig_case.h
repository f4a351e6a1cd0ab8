/*
 * Rigs for tests: one for each lens model, with cameras placed as in calibrated rigs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_STAGES_RECTIFY_RIG_CASE_H
#define SX_TESTS_STAGES_RECTIFY_RIG_CASE_H

#include <math.h>
#include <string.h>

#include "base/rig.h"
#include "tests/check.h"

/* Returns a random number from low to high. */
static inline double rig_case_between(struct check_rng *r, double low, double high)
{
	return low + (high - low) * (check_random(r) / 4294967295.0);
}

/* Computes the rotation around x, then y, then z, in degrees. */
static inline void rig_case_turn(double ret[9], double x, double y, double z)
{
	const double d = M_PI / 180, cx = cos(x * d), sx = sin(x * d), cy = cos(y * d), sy = sin(y * d);
	const double cz = cos(z * d), sz = sin(z * d);
	const double turn[9] = {cz * cy,
				cz * sy * sx - sz * cx,
				cz * sy * cx + sz * sx,
				sz * cy,
				sz * sy * sx + cz * cx,
				sz * sy * cx - cz * sx,
				-sy,
				cy * sx,
				cy * cx};

	memcpy(ret, turn, sizeof(turn));
}

/* Returns pinhole cameras whose images are already rectified: 64x48 px, or any size. */
static inline struct sx_rig rig_case_identity(int width, int height)
{
	struct sx_rig rig = {.raw_width = width,
			     .raw_height = height,
			     .width = width,
			     .height = height,
			     .fx = 0.8 * width,
			     .fy = 0.81 * width,
			     .cx = 0.5 * width - 1.25,
			     .cy = 0.5 * height + 0.75,
			     .baseline_m = 0.12};

	for (int side = 0; side < 2; side++) {
		rig.raw[side] =
			(struct sx_raw_camera){rig.fx, rig.fy, rig.cx, rig.cy, SX_LENS_PLUMB_BOB, {0}};
		rig_case_turn(rig.rotation[side], 0, 0, 0);
	}
	return rig;
}

/*
 * Returns raw cameras of 640x480 px with the given lens and a slightly rotated rectified pair of 600x440 px.
 */
static inline struct sx_rig rig_case_of(enum sx_lens lens, struct check_rng *r)
{
	static const double distortion[3][SX_LENS_COEFFICIENTS] = {
		{-0.28, 0.09, 0.0007, -0.0004, -0.01},
		{0.6, 0.12, 0.0004, -0.0006, 0.01, 0.7, 0.15, 0.01},
		{-0.013, 0.004, -0.002, 0.0003},
	};
	struct sx_rig rig = rig_case_identity(640, 480);

	rig.width = 600;
	rig.height = 440;
	for (int side = 0; side < 2; side++) {
		struct sx_raw_camera *c = &rig.raw[side];

		c->fx = rig_case_between(r, 430, 520);
		c->fy = rig_case_between(r, 0.99, 1.01) * c->fx;
		c->cx = rig_case_between(r, 300, 340);
		c->cy = rig_case_between(r, 225, 255);
		c->lens = lens;
		memcpy(c->distortion, distortion[lens], sizeof(c->distortion));
		rig_case_turn(rig.rotation[side], rig_case_between(r, -3, 3), rig_case_between(r, -3, 3),
			      rig_case_between(r, -3, 3));
	}
	return rig;
}

#endif
