/*
 * Images of a case of aggregation: its inputs, and the outputs of the reference and of the device.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_STEREO_AGGREGATION_CASE_H
#define SX_TESTS_GPU_STEREO_AGGREGATION_CASE_H

#include "stages/stereo/cost.h"
#include "tests/gpu/on_device.h"

#define AGGREGATION_OUT 4 /* winner of the left and of the right image, confidence, S: [y][x][D] */

/* Host images, initially zero. in: a grey pair and its descriptors. */
struct aggregation_case {
	struct sx_cost_input in;
	struct sx_image want[AGGREGATION_OUT];
};

/* Returns the default parameters of SGM with csct, resolved. */
struct sx_stereo_params aggregation_case_params(int disparities, int paths);

void aggregation_case_init(struct aggregation_case *a, const struct sx_stereo_params *p, int width,
			   int height);
void aggregation_case_finish(struct aggregation_case *a);

/* Creates device images of zeros, each with the size of the image in `want`. */
void aggregation_take(struct on_device *d, const struct sx_image want[AGGREGATION_OUT],
		      struct sx_image got[AGGREGATION_OUT]);
/*
 * Fails the test if the images differ. disparities: number of disparities of S; 0: S is left out. what, seed:
 * see check_same().
 */
void aggregation_compare(struct on_device *d, const char *what, uint64_t seed,
			 const struct sx_image want[AGGREGATION_OUT],
			 const struct sx_image got[AGGREGATION_OUT], int disparities);

#endif
