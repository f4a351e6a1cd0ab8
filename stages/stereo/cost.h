/*
 * Matching cost of a pixel and its candidates: Hamming distance of census descriptors, or correlation of
 * windows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_COST_H
#define SX_STAGES_STEREO_COST_H

#include <stdint.h>

#include "base/image.h"
#include "stages/params/params.h"

/* Input of the costs of a pair; [0] left, [1] right, all of one size. */
struct sx_cost_input {
	struct sx_image grey[2];       /* U8; only zncc reads it */
	struct sx_image descriptor[2]; /* output of sx_describe() */
};

/* Returns U32 for csct, U64 for the other costs. */
enum sx_pixel sx_descriptor_pixel(enum sx_cost cost);
/* Computes one descriptor per pixel: of sx_census(), or words of sx_zncc_windows(). grey: U8. */
void sx_describe(const struct sx_image *grey, const struct sx_image *descriptors,
		 const struct sx_stereo_params *p);

/*
 * Computes the costs of image row y. cost[x * disparities + d] compares the left pixel at x with the right
 * one at x - d - min_disparity. It is the number of bits that differ, or sx_zncc_cost(), 0..sx_cost_max(). If
 * that column is outside the right image (on either side), out_of_view decides. zero: the right descriptor is
 * 0, as in libSGM, and a correlation is 0. max: the cost is sx_cost_max().
 *
 * cost: width * disparities bytes.
 */
void sx_cost_row(const struct sx_cost_input *in, int y, const struct sx_stereo_params *p, uint8_t *cost);
/* Computes the same costs without rounding: bits that differ, or 1 - z of zncc, 0..2. */
void sx_cost_row_float(const struct sx_cost_input *in, int y, const struct sx_stereo_params *p, float *cost);

#endif
