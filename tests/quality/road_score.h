/*
 * How far measured roads are off the true one, and how far they say that they are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_QUALITY_ROAD_SCORE_H
#define SX_TESTS_QUALITY_ROAD_SCORE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/camera.h"
#include "stages/road/road.h"

enum { ROAD_PITCH, ROAD_ROLL, ROAD_HEIGHT, ROAD_ERRORS };

struct road_score {
	int frames, measured;
	int within[ROAD_ERRORS]; /* 2 sigma */
	double error[ROAD_ERRORS], square[ROAD_ERRORS],
		sigma[ROAD_ERRORS]; /* sums; of errors and their squares, */
};

/* truth: the camera as it was in this frame. */
void score_road(struct road_score *s, const struct sx_camera *truth, const struct sx_road *got);

void print_road(FILE *f, const struct road_score *s);

/* Within 2 sigma in 85 % at least, sigma at most 4 times the error. Of a few frames nothing is said: true. */
bool judge_road(const struct road_score *s);

#endif
