/*
 * The images of a case of aggregation: what it reads, and what the reference and the device make of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_STEREO_AGGREGATION_CASE_H
#define SX_TESTS_GPU_STEREO_AGGREGATION_CASE_H

#include "stages/stereo/cost.h"
#include "tests/gpu/on_device.h"

#define AGGREGATION_OUT 4 /* winner of the left and of the right image, confidence, S: [y][x][D] */

/* Host images of zeros. in: a grey pair and its descriptors. */
struct aggregation_case {
	struct sx_cost_input in;
	struct sx_image want[AGGREGATION_OUT];
};

void aggregation_case_init(struct aggregation_case *a, const struct sx_stereo_params *p, int width,
			   int height);
void aggregation_case_finish(struct aggregation_case *a);

/* Device images of zeros, each as that of want. */
void aggregation_take(struct on_device *d, const struct sx_image want[AGGREGATION_OUT],
		      struct sx_image got[AGGREGATION_OUT]);
/* Fails the test where they differ. disparities: of S; 0: it is left out. what, seed: check_same(). */
void aggregation_compare(struct on_device *d, const char *what, uint64_t seed,
			 const struct sx_image want[AGGREGATION_OUT],
			 const struct sx_image got[AGGREGATION_OUT], int disparities);

#endif
