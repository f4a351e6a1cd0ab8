/*
 * Guess: where features are expected in the frame before, and the step that the expectation begins with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_GUESS_H
#define SX_STAGES_MOTION_GUESS_H

#include "stages/motion/match.h"

#define SX_MOTION_FAN_TURNS 25 /* steps of 6 px to both sides: 72 px */
#define SX_MOTION_FAN_WAYS 15  /* ways from -1 to 16 baselines */
#define SX_MOTION_FAN (SX_MOTION_FAN_TURNS * SX_MOTION_FAN_WAYS)

/*
 * Returns step `i` of the fan, 0 .. SX_MOTION_FAN - 1: a way straight on, baselines, and a turn to the left or
 * right. Index 0 is standing still; ways and turns grow with the index, ways first.
 */
struct sx_motion_step sx_motion_fan_step(const struct sx_camera *camera, int i);

/*
 * Returns where a feature was in the frame before, seen from here, if it moved by `shift` (baselines, axes of
 * this frame) since then, and the camera by `step`. offset: added to its disparity, px. The displacement is
 * rounded to whole px and limited to +-4096. The warp is that of pixels 4 px beside and below the feature, which
 * have its disparity, or that of the road. A point without a picture there gets the displacement 0 and no warp.
 */
struct sx_motion_guess sx_motion_expect(const struct sx_camera *camera, const struct sx_motion_step *step,
					const struct sx_motion_feature *feature, double offset,
					const double shift[3]);

/*
 * Finds the judges of sx_motion_begin(). Returns their number, at most SX_MOTION_JUDGES_MAX, as there are at most
 * 8192 cells, and 16 cells to a block, cut ones.
 */
#define SX_MOTION_JUDGES_MAX 1024
int sx_motion_judges(const struct sx_motion_view *now, const struct sx_motion_feature *features,
		     const struct sx_motion_feature *judges[SX_MOTION_JUDGES_MAX]);

/*
 * Chooses the step that the search begins with. A subset of the features judges: the best of each block of
 * cells, 4 by 4, the first of equal ones. A judge searches +-3 by +-2 px around its expected place in images of
 * half size; its vote is the cost, at most SX_MOTION_VOTE_MOST, which a judge without a place gives, too.
 * The least sum of votes wins: of equal sums the expected step (NULL: there is none), then the lowest index of the
 * fan. Returns false if there are no judges.
 */
#define SX_MOTION_VOTE_MOST (6 * SX_MOTION_SAMPLES)
bool sx_motion_begin(const struct sx_motion_view *now, const struct sx_motion_view *before,
		     const struct sx_camera *camera, const struct sx_motion_feature *features, double offset,
		     const struct sx_motion_step *expected, struct sx_motion_step *ret);

#endif
