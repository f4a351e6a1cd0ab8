/*
 * Refine: the position of a feature in the frame before, to 1/64 px, and whether it is believed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_REFINE_H
#define SX_STAGES_MOTION_REFINE_H

#include "stages/motion/match.h"

#define SX_MOTION_LK_RADIUS 4 /* px: the window is 9x9 */
#define SX_MOTION_LK_ROUNDS 5
#define SX_MOTION_LK_FAR_Q6 128 /* 1/64 px: a refinement goes less far than this in x and in y */
#define SX_MOTION_REST_Q4 192	/* 1/16 grey level: a feature has less than this left */

/*
 * Refines the position of a feature that sx_motion_match() has found; others stay as they are.
 *
 * 1. Lucas, Kanade 1981, with the gradients of this frame, SX_MOTION_LK_ROUNDS rounds. Grey levels between
 *    pixels are bilinear, in 1/16, rounded down. The window in the frame before is warped as the guess says, since
 *    a road that is nearer by a tenth of its distance looks larger by a tenth. The mean difference of the window is free, so that a change of
 *    exposure does not move features. Sums are integers; the step is the quotient of two doubles that are
 *    computed from them, limited to 1 px and rounded to 1/64 px, half away from zero. SX_MOTION_UNREFINED: no
 *    gradient, the window leaves the image, the position moves by SX_MOTION_LK_FAR_Q6 or more, or
 *    SX_MOTION_REST_Q4 or more is left.
 * 2. The nearest pixel there is searched back in this frame, +-3 px around the feature (sx_motion_find(), full
 *    size), with the inverse of across and down. SX_MOTION_NOT_BACK: the result is more than 1 px from the feature in x or y.
 * 3. The disparity before is that of the nearest pixel (sx_motion_disparity_q8()). SX_MOTION_NO_DISPARITY: it
 *    is below SX_MOTION_LEAST_Q8.
 */
void sx_motion_refine(const struct sx_motion_view *now, const struct sx_motion_view *before,
		      const struct sx_motion_feature *feature, const struct sx_motion_guess *guess,
		      struct sx_motion_flow *flow);

/*
 * Step 1 of an engine: moves the position (*x, *y), 1/64 px, of a feature in the older image. Returns the mean
 * difference of grey levels that is left, 1/16, or -1: no gradient, or the window leaves the image.
 */
typedef int32_t sx_motion_move_fn(const struct sx_image *now, const struct sx_image *before,
				  const struct sx_motion_feature *feature,
				  const struct sx_motion_guess *guess, int32_t *x, int32_t *y);

/* Computes sx_motion_refine() with step 1 and the search back of an engine, whose reach is SX_MOTION_FINE. */
void sx_motion_refine_by(sx_motion_move_fn *move, sx_motion_search_fn *back, const struct sx_motion_view *now,
			 const struct sx_motion_view *before, const struct sx_motion_feature *feature,
			 const struct sx_motion_guess *guess, struct sx_motion_flow *flow);

/* Returns whether the warped window lies in an image of this size, with a pixel to spare. */
SX_MOTION_INLINE bool sx_motion_lk_fits(int width, int height, const struct sx_motion_guess *guess, int32_t x,
					int32_t y)
{
	const int32_t shear = guess->shear < 0 ? -guess->shear : guess->shear;
	const int32_t rx = ((guess->across + shear) * SX_MOTION_LK_RADIUS >> 10) + 1,
		      ry = (guess->down * SX_MOTION_LK_RADIUS >> 10) + 1;

	return (x >> 6) > rx && (y >> 6) > ry && (x >> 6) < width - rx - 2 && (y >> 6) < height - ry - 2;
}

/* Returns a step in 1/64 px. */
SX_MOTION_INLINE int32_t sx_motion_lk_limited(double step)
{
	const double limited = step > 64.0 ? 64.0 : step < -64.0 ? -64.0 : step;

	return (int32_t)(limited + (limited < 0.0 ? -0.5 : 0.5));
}

/* Computes the step of a round. xx, yy, xy, bx, by: sums less the products of means; det: xx yy - xy xy. */
SX_MOTION_INLINE void sx_motion_lk_step(const struct sx_motion_guess *guess, double xx, double yy, double xy,
					double det, int64_t bx, int64_t by, int32_t ret[2])
{
	/* gradients are doubled, differences are in 1/16, steps in 1/64 px of this frame: 64 * 2 / 16 */
	const double mx = 8.0 * ((double)bx * yy - (double)by * xy) / det;
	const double my = 8.0 * ((double)by * xx - (double)bx * xy) / det;

	ret[0] = sx_motion_lk_limited(((double)guess->across * mx + (double)guess->shear * my) / 1024.0);
	ret[1] = sx_motion_lk_limited((double)guess->down * my / 1024.0);
}

#endif
