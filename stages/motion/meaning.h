/*
 * What ego-motion means for a user: degrees, percent of a distance, and sentences.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_MEANING_H
#define SX_STAGES_MOTION_MEANING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/camera.h"
#include "stages/motion/ego.h"

#define SX_RANGE_TEXT_BYTES 256
#define SX_RANGE_WRONG_PERCENT 1.0
#define SX_RANGE_SIGMAS 2.0 /* an offset of fewer standard deviations is no error that was found */

/* Returns a verdict in words: "found", "too few features were found again". */
const char *sx_motion_verdict_text(enum sx_motion_verdict verdict);

/* Computes the turn of a step as a vector along its axis: about x (up), y (to the right), z (clockwise). */
void sx_motion_turn_rad(const struct sx_motion_step *step, double turn[3]);
void sx_motion_turn_deg(const struct sx_motion_step *step, double turn[3]);

/* at_m: a round distance, about where disparities are 20 px. Positive: distances there are too long. */
struct sx_range_error {
	double at_m, percent, sigma_percent;
	bool found; /* the offset is no chance */
	bool wrong; /* and the error is at least SX_RANGE_WRONG_PERCENT */
};

/* Returns whether the frames so far say anything about the range. */
bool sx_range_is_known(const struct sx_motion_range *range);
/* Computes what the offset means. camera: with fx and baseline. */
struct sx_range_error sx_range_error_of(const struct sx_camera *camera, const struct sx_motion_range *range);
/*
 * Writes a sentence without a full stop about a known range: "at 20 m distances are 4.7 % (+-0.3) too long: ...", or
 * "no error found: ...". applied_px: part of the cameras' offset that is added to the disparities, and no part of range.
 */
void sx_range_describe(const struct sx_camera *camera, const struct sx_motion_range *range, double applied_px,
		       char text[SX_RANGE_TEXT_BYTES]);

#endif
