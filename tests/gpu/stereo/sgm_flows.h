/*
 * One case of path aggregation on the device, in every flow that supports it, against sx_sgm() and
 * sx_winner().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_GPU_STEREO_SGM_FLOWS_H
#define TESTS_GPU_STEREO_SGM_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "stages/engine.h"

/*
 * Checks one case. p: resolved. only_checkpoint: leaves out the stored flow, and checks the supported
 * parameters of the checkpoint flow, with rows in one part and in two.
 */
void sgm_flows_check(struct sx_stereo_params p, int width, int height, uint64_t seed, bool only_checkpoint);

#endif
