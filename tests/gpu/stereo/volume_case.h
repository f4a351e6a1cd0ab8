/*
 * Cases of the kernels that write and read volumes: cost volume and winner, against stages/. Used by the unit
 * tests of the kernels, in the emulator and on a device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_STEREO_VOLUME_CASE_H
#define SX_TESTS_GPU_STEREO_VOLUME_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "stages/params/params.h"

enum volume_fill {
	VOLUME_NOISE, /* every value, equally likely */
	/*
	 * S of few values, which gives ties everywhere: on rows of the left image and on diagonals of the
	 * right one
	 */
	VOLUME_TIES,
	VOLUME_WINNER,	/* one clear winner per pixel, with rivals near the uniqueness threshold */
	VOLUME_EXTREME, /* V = 0 or the largest value, for whole pixels and single cells */
	VOLUME_FILL_COUNT
};

/*
 * Returns false, with a line on stderr, if left, right, confidence or S differ from sx_winner() on the same
 * sums.
 */
bool volume_case_winner(const struct sx_stereo_params *p, int width, int height, enum volume_fill how,
			uint64_t seed);
/* Does the same for the cost volume and sx_cost_row(). */
bool volume_case_cost(const struct sx_stereo_params *p, int width, int height, uint64_t seed);

#endif
