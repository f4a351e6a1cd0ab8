/*
 * Default parameters of slanted stixels for tests: every prior and every limit of the model has an effect.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_SLANTED_CASE_H
#define SX_TESTS_SLANTED_CASE_H

#include "stages/params/slanted_params.h"

/* Evidence members of a struct sx_stixel_params. */
#define EVIDENCE_CASE .sky_grey = 220, .saturated = 250

/* Initialises a struct sx_slanted_params. */
#define SLANTED_CASE                                                                                        \
	{                                                                                                   \
		.confidence_full = 1, .sigma_ground_px = 1, .sigma_object_px = 1, .sigma_sky_px = 2,        \
		.roughness = 0.02, .offset_px = 1, .slope_px = 0.125, .bent_px = 0.25, .above = 15,         \
		.cut = 4, .gravity = 1, .order = 1, .gap = 1, .hole = 0.3, .semantic = 0.5, .class_cut = 2, \
		.sky_outlier = 8, .below = 0.15, .fill_px = 128, .feet_px = 8                               \
	}

#endif
