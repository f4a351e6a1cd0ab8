/*
 * Parameters that every engine accepts, for tests that change one of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_STAGES_SOUND_PARAMS_H
#define SX_TESTS_STAGES_SOUND_PARAMS_H

#include "stages/params/params.h"
#include "tests/slanted_case.h"

static inline struct sx_params sound_params(void)
{
	return (struct sx_params){
		.camera = {700, 700, 320, 200, 0.5, 1.5, 1},
		.stereo = {SX_COST_CSCT, SX_AGGREGATION_SGM, SX_SEARCH_FULL, 4, 128, 0, 7, 86, 0, 0,
			   SX_OUT_OF_VIEW_ZERO, 95, SX_SUBPIXEL_TRUNC, .zncc_window = 5},
		.filters = {true, SX_MEDIAN_BORDER_COPY, 1, false, 0, 1},
		.road = {SX_ROAD_PLANE, 33, 0.5, 3, 50, 6, 30},
		.stixels = {.method = SX_STIXEL_DP,
			    .width = 5,
			    .reduction = SX_REDUCTION_MEDIAN,
			    .max_per_column = 128,
			    .sigma_object_px = 1,
			    .sigma_ground_px = 1.5,
			    .sigma_sky_px = 0.5,
			    .p_outlier = 0.15,
			    .p_outlier_sky = 0.4,
			    .p_order = 0.2,
			    .p_gravity = 0.1,
			    .p_below_ground = 0.04,
			    .epsilon_px = 1,
			    .depth_noise_m = 0.3,
			    .depth_order_m = 3,
			    .sigma_height_m = 0.05,
			    .sigma_pitch_rad = 0.005,
			    .p_invalid = 0.25,
			    .p_invalid_ground = 0.28,
			    .p_invalid_object = 0.44,
			    .p_invalid_sky = 0.28,
			    .rdp_epsilon_px = 2,
			    .rdp_sky_px = 1,
			    .rdp_ground_px = 1,
			    EVIDENCE_CASE,
			    .slanted = SLANTED_CASE},
	};
}

#endif
