/*
 * The formulas of guess.h that every engine calls: steps of the fan, and places where features are expected. Formulas
 * as motion.h says: operations in a fixed order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_GUESS_TERMS_H
#define SX_STAGES_MOTION_GUESS_TERMS_H

#include "stages/motion/step.h"

#define SX_MOTION_FAN_TURNS 25 /* steps of 6 px to both sides: 72 px */
#define SX_MOTION_FAN_WAYS 15  /* ways from -1 to 16 baselines */
#define SX_MOTION_FAN (SX_MOTION_FAN_TURNS * SX_MOTION_FAN_WAYS)
#define SX_MOTION_FAN_PX 6.0	       /* between two turns of the fan */
#define SX_MOTION_EXPECT_LIMIT 4096.0  /* px: a displacement is at most this long */
#define SX_MOTION_EXPECT_NEIGHBOUR 4.0 /* px: the pixels that show how the surroundings change */

/*
 * Returns step `i` of the fan, 0 .. SX_MOTION_FAN - 1: a way straight on, baselines, and a turn to the left or
 * right. Index 0 is standing still; ways and turns grow with the index, ways first.
 */
SX_MOTION_INLINE struct sx_motion_step sx_motion_fan_step(const struct sx_camera *camera, int i)
{
	const double ways[SX_MOTION_FAN_WAYS] = {0.0, 0.5, -0.5, 1.0, 1.5,  2.0,  -1.0, 3.0,
						 4.0, 5.0, 6.0,	 8.0, 10.0, 13.0, 16.0};
	const int turn = i / SX_MOTION_FAN_WAYS, beside = (turn + 1) / 2;
	const double way[3] = {0.0, 0.0, ways[i % SX_MOTION_FAN_WAYS]};
	const double rad[3] = {
		0.0, (turn % 2 ? 1.0 : -1.0) * (double)beside * (SX_MOTION_FAN_PX / camera->fx), 0.0};
	struct sx_motion_step s = sx_motion_no_step();

	sx_motion_change(&s, rad, way);
	return s;
}

SX_MOTION_INLINE int32_t sx_motion_limited(double v, double least, double most)
{
	return (int32_t)rint(v > most ? most : v < least ? least : v);
}

/* Computes the place of a pixel in the frame before, as sx_motion_expect() does. False: it has none. */
SX_MOTION_INLINE bool sx_motion_expect_place(const struct sx_camera *camera,
					     const struct sx_motion_rotation *m, const double t[3],
					     const double shift[3], double x, double y, double d,
					     struct sx_motion_picture *ret)
{
	struct sx_motion_point p;

	if (!(d > 0.0))
		return false;
	p = sx_motion_point_of(camera, x, y, d);
	p.x -= shift[0];
	p.y -= shift[1];
	p.z -= shift[2];
	return sx_motion_picture_of(camera, sx_motion_moved(m, t, p), ret);
}

/*
 * Returns where a feature was in the frame before, seen from here, if it moved by `shift` (baselines, axes of
 * this frame) since then, and the camera by `step`. offset: added to its disparity, px. The displacement is
 * rounded to whole px and limited to +-4096. The warp is that of pixels 4 px beside and below the feature, which
 * have its disparity, or that of the road. A point without a picture there gets the displacement 0 and no warp.
 */
SX_MOTION_INLINE struct sx_motion_guess sx_motion_expect(const struct sx_camera *camera,
							 const struct sx_motion_step *step,
							 const struct sx_motion_feature *feature,
							 double offset, const double shift[3])
{
	const struct sx_motion_rotation m = sx_motion_rotation_of(step);
	const double x = (double)feature->x, y = (double)feature->y;
	const double d = (double)feature->disparity_q8 / 256.0 + offset;
	const double slope = (double)feature->slope_q14 / 16384.0;
	struct sx_motion_guess guess = {0, 0, 1024, 0, 1024};
	struct sx_motion_picture at, beside, below;

	if (!sx_motion_expect_place(camera, &m, step->t, shift, x, y, d, &at) ||
	    !sx_motion_expect_place(camera, &m, step->t, shift, x + SX_MOTION_EXPECT_NEIGHBOUR, y, d,
				    &beside) ||
	    !sx_motion_expect_place(camera, &m, step->t, shift, x, y + SX_MOTION_EXPECT_NEIGHBOUR,
				    d + SX_MOTION_EXPECT_NEIGHBOUR * slope, &below))
		return guess;
	guess.dx = sx_motion_limited(at.u - x, -SX_MOTION_EXPECT_LIMIT, SX_MOTION_EXPECT_LIMIT);
	guess.dy = sx_motion_limited(at.v - y, -SX_MOTION_EXPECT_LIMIT, SX_MOTION_EXPECT_LIMIT);
	guess.across = sx_motion_limited((beside.u - at.u) * (1024.0 / SX_MOTION_EXPECT_NEIGHBOUR),
					 SX_MOTION_WARP_LEAST, SX_MOTION_WARP_MOST);
	guess.shear =
		sx_motion_limited((below.u - at.u) * (1024.0 / SX_MOTION_EXPECT_NEIGHBOUR), -1024.0, 1024.0);
	guess.down = sx_motion_limited((below.v - at.v) * (1024.0 / SX_MOTION_EXPECT_NEIGHBOUR),
				       SX_MOTION_WARP_LEAST, SX_MOTION_WARP_MOST);
	return guess;
}

/*
 * Shifts of a thing, beside standing, whose places a feature of it is searched at: as fast as the camera, and by 4 and
 * 8 m/s slower or faster; against it; across to both sides by 3 m/s.
 */
#define SX_MOTION_MOVERS 9
/*
 * Computes shift i of 0 .. SX_MOTION_MOVERS - 1, baselines along the axes of this frame. 0: the thing stands. step: of
 * the camera. unit: baselines between the frames of a thing with 1 m/s.
 */
SX_MOTION_INLINE void sx_motion_mover_shift(const struct sx_motion_step *step, double unit, int i,
					    double shift[3])
{
	const double ahead_m_s[5] = {0.0, -4.0, 4.0, -8.0, 8.0}, across_m_s[2] = {3.0, -3.0};
	const struct sx_motion_rotation r = sx_motion_rotation_of(step);
	const double *t = step->t;
	/* the camera's way, along the axes of this frame */
	const double x = (r.r[0] * t[0] + r.r[3] * t[1]) + r.r[6] * t[2];
	const double z = (r.r[2] * t[0] + r.r[5] * t[1]) + r.r[8] * t[2];

	shift[0] = shift[1] = shift[2] = 0.0;
	if (i >= 7) {
		shift[0] = across_m_s[i - 7] * unit;
	} else if (i == 6) {
		shift[0] = -x;
		shift[2] = -z;
	} else if (i >= 1) {
		shift[0] = x;
		shift[2] = z + ahead_m_s[i - 1] * unit;
	}
}

/* Returns whether a guess about a thing that moves is another one than that about a thing that stands. */
SX_MOTION_INLINE bool sx_motion_is_other(const struct sx_motion_guess *guess,
					 const struct sx_motion_guess *stands)
{
	const int dx = guess->dx - stands->dx, dy = guess->dy - stands->dy;

	return dx > 6 || dx < -6 || dy > 6 || dy < -6;
}

#endif
