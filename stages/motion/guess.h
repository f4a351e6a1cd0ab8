/*
 * Guess: where features are expected in the frame before, and the step that the expectation begins with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_MOTION_GUESS_H
#define SX_STAGES_MOTION_GUESS_H

#include "stages/motion/guess_terms.h"
#include "stages/motion/match.h"

/*
 * Finds the judges of sx_motion_begin(). Returns their number, at most SX_MOTION_JUDGES_MAX, as there are at most
 * 8192 cells, and 16 cells to a block, cut ones.
 */
#define SX_MOTION_JUDGES_MAX 1024
#define SX_MOTION_JUDGE_BLOCK 4 /* cells: width and height of the block that has one judge */
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
