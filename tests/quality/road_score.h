/*
 * Scores measured roads against the true one: their errors, and the errors that they state.
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
	int within[ROAD_ERRORS]; /* number of frames with an error within 2 sigma */
	double error[ROAD_ERRORS], square[ROAD_ERRORS],
		sigma[ROAD_ERRORS]; /* sums of errors, of their squares, and of sigma squared */
};

/* Scores a frame. truth: the camera in this frame. */
void score_road(struct road_score *s, const struct sx_camera *truth, const struct sx_road *got);

void print_road(FILE *f, const struct road_score *s);

/*
 * Returns true if at least 85 % of the errors are within 2 sigma and sigma is at most 4 times the error, or
 * if there are too few frames for a verdict.
 */
bool judge_road(const struct road_score *s);

#endif
