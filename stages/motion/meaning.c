/*
 * What ego-motion means for a user, see meaning.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/meaning.h"

#include <math.h>
#include <stdio.h>

#define DEGREES 57.29577951308232
#define ABOUT_PX 20.0 /* disparity of the distance that the sentence names, about */

const char *sx_motion_verdict_text(enum sx_motion_verdict verdict)
{
	static const char *const texts[] = {
		[SX_MOTION_STEP_FOUND] = "found",
		[SX_MOTION_STEP_FIRST] = "there is no pair before",
		[SX_MOTION_STEP_REPEATS] = "the left image is equal to the one before, byte by byte",
		[SX_MOTION_STEP_FEW] = "too few features were found again",
		[SX_MOTION_STEP_SPLIT] = "too few of the features agree",
		[SX_MOTION_STEP_ROAD] = "the near road moves in another way than most features",
	};

	return texts[verdict];
}

void sx_motion_turn_rad(const struct sx_motion_step *step, double turn[3])
{
	const double *q = step->q, half = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
	const double k = half > 0 ? 2.0 * atan2(half, q[0]) / half : 0.0;

	for (int i = 0; i < 3; i++)
		turn[i] = k * q[1 + i];
}

void sx_motion_turn_deg(const struct sx_motion_step *step, double turn[3])
{
	sx_motion_turn_rad(step, turn);
	for (int i = 0; i < 3; i++)
		turn[i] *= DEGREES;
}

bool sx_range_is_known(const struct sx_motion_range *range)
{
	return range->sigma_px > 0 && range->sigma_px <= SX_MOTION_OFFSET_UNSURE;
}

/* Returns a round distance, m, whose disparity is about ABOUT_PX. */
static double round_distance(double focal_baseline)
{
	const double wanted = focal_baseline / ABOUT_PX, ten = pow(10.0, floor(log10(wanted)));
	const double part = wanted / ten;

	return ten * (part < 1.5 ? 1.0 : part < 3.5 ? 2.0 : part < 7.5 ? 5.0 : 10.0);
}

struct sx_range_error sx_range_error_of(const struct sx_camera *camera, const struct sx_motion_range *range)
{
	const double fb = camera->fx * camera->baseline_m, at = round_distance(fb);
	const double true_px = fb / at, measured_px = true_px - range->px;

	struct sx_range_error e = {
		.at_m = at,
		.percent = 100.0 * range->px / measured_px,
		.sigma_percent = 100.0 * range->sigma_px / measured_px,
		.found = fabs(range->px) >= SX_RANGE_SIGMAS * range->sigma_px,
	};

	e.wrong = e.found && fabs(e.percent) >= SX_RANGE_WRONG_PERCENT;
	return e;
}

void sx_range_describe(const struct sx_camera *camera, const struct sx_motion_range *range, double applied_px,
		       char text[SX_RANGE_TEXT_BYTES])
{
	const struct sx_range_error e = sx_range_error_of(camera, range);
	const double px = range->px, sigma = range->sigma_px;

	if (!e.found)
		snprintf(
			text, SX_RANGE_TEXT_BYTES,
			"no error found: offset %.2f px (+-%.2f); distances at %g m are right within %.1f %%",
			px, sigma, e.at_m, fabs(e.percent) + e.sigma_percent);
	else
		snprintf(
			text, SX_RANGE_TEXT_BYTES,
			"at %g m distances are %.1f %% (+-%.1f) too %s: offset %.2f px (+-%.2f); the cameras are "
			"rotated by %.3f degrees (+-%.3f) against their calibration",
			e.at_m, fabs(e.percent), e.sigma_percent, px > 0 ? "long" : "short", px, sigma,
			fabs(px + applied_px) / camera->fx * DEGREES, sigma / camera->fx * DEGREES);
}
