/*
 * Matching cost: Hamming distance of census descriptors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_COST_H
#define SX_STAGES_COST_H

#include <stdint.h>

#include "base/image.h"
#include "stages/params.h"

/*
 * Costs of image row y: cost[x * disparities + d] = bits that differ between the left descriptor at x and the
 * right one at x - d - min_disparity, 0..sx_cost_max(). Where that column is outside the right image (on
 * either side): out_of_view zero: the right descriptor is 0, as in libSGM; max: sx_cost_max().
 *
 * left, right: descriptors of sx_census(), same size. cost: width * disparities bytes.
 */
void sx_cost_row(const struct sx_image *left, const struct sx_image *right, int y,
		 const struct sx_stereo_params *p, uint8_t *cost);

#endif
