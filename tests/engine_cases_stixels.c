/*
 * Cases of stixels: flat and slanted ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/engine_case.h"

void engine_cases_stixels(engine_case_fn *check)
{
	for (int i = 0; i < 8; i++) {
		struct engine_case t = engine_case_small(900 + (uint64_t)i);

		t.width = 161;
		t.height = 90;
		t.params.stixels.method = i & 1 ? SX_STIXEL_RDP : SX_STIXEL_DP;
		t.params.stixels.width = i < 2 ? 1 : i < 4 ? 7 : 32;
		t.params.stixels.reduction = i & 2 ? SX_REDUCTION_MEAN : SX_REDUCTION_MEDIAN;
		t.params.stixels.max_per_column = i & 4 ? 2 : 2160;
		t.params.stixels.sky_grey = i % 3 ? 60 * (i % 3) : 256;
		t.params.stixels.saturated = i % 3 ? 256 : 80;
		t.params.road.mode = i & 2 ? SX_ROAD_CALIBRATED : SX_ROAD_PLANE;
		t.params.camera.roll_deg = i - 4;
		if (i == 6 || i == 7) {
			t.params.camera = (struct sx_camera){0};
			t.params.road.mode = SX_ROAD_PLANE;
		}
		check(&t);
	}
}

static const struct {
	int width, height, cell_width, cell_height, classes, scale;
} slanted_sizes[] = {
	{161, 90, 1, 1, 0, 0},	 {161, 90, 2, 1, 5, 1},	  {163, 91, 4, 4, 19, 1}, {160, 128, 8, 8, 19, 8},
	{163, 131, 8, 0, 19, 3}, {131, 90, 5, 3, 1, 4},	  {70, 43, 32, 32, 3, 2}, {97, 203, 7, 5, 32, 16},
	{64, 64, 16, 2, 0, 0},	 {33, 900, 11, 3, 4, 32}, {300, 40, 3, 9, 2, 5},  {129, 65, 32, 1, 19, 2},
	{260, 150, 4, 4, 19, 4}, {260, 150, 8, 8, 0, 0},
};

static void slanted_cases(enum sx_stixel_method method, engine_case_fn *check)
{
	for (int i = 0; i < 28; i++) {
		struct engine_case t = engine_case_small(1200 + (uint64_t)i);
		struct sx_slanted_params *s = &t.params.stixels.slanted;

		t.width = slanted_sizes[i / 2].width;
		t.height = slanted_sizes[i / 2].height;
		t.params.stixels.width = slanted_sizes[i / 2].cell_width;
		t.params.stixels.cell_height = slanted_sizes[i / 2].cell_height;
		t.params.stixels.method = method;
		t.params.stixels.reduction = i % 4 > 1 ? SX_REDUCTION_MEAN : SX_REDUCTION_MEDIAN;
		t.params.stixels.max_per_column = i % 7 == 6 ? 2 : 2160;
		t.params.semantics.classes = slanted_sizes[i / 2].classes;
		for (int k = 0; k < t.params.semantics.classes; k++)
			t.params.semantics.kind[k] = (uint8_t)((k * 7 + i) % (i % 5 == 4 ? 2 : 3));
		t.score_scale = slanted_sizes[i / 2].scale;
		t.fill = i % 6 == 5 ? CHECK_FLAT : i % 6 == 3 ? CHECK_STEPS : CHECK_NOISE;
		t.params.camera.cy = t.height * 0.45;
		t.params.road.mode = i % 3 ? SX_ROAD_CALIBRATED : SX_ROAD_PLANE;
		t.params.camera.height_m = 0.3 + (i % 4) * 0.6;
		/* the mounting height of the camera gives the limits */
		t.params.road.min_height_m = t.params.road.max_height_m = 0;
		t.params.camera.roll_deg = i % 7 * 4 - 12;
		s->confidence = (enum sx_confidence_weight)(i % 3);
		s->above = i % 4 == 3 ? 100 : 15 * (i % 4);
		s->slope_px = i % 5 ? 0.125 : 1;
		s->semantic = i % 8 == 7 ? 20 : 0.5;
		s->confidence_full = i % 2 ? 1 : 0.375;
		s->hole = i % 5 / 4.0;
		s->roughness = i % 3 ? 0.025 : 0;
		s->cut = i % 9 == 8 ? 0 : 4;
		s->below = i % 4 / 4.0;
		t.params.stixels.sky_grey =
			i % 4 == 3 ? 256 : 60 * (i % 4); /* bars and flat images become sky */
		t.params.stixels.saturated = i % 3 == 1 ? 80 * (i % 4) : 256;
		s->fill_px = i % 5 == 2 ? 0 : 8 << i % 5;
		s->feet_px = i % 3 ? 8 << i % 3 : 0;
		if (i == 26 || i == 27) {
			t.params.camera = (struct sx_camera){0};
			t.params.road.mode = SX_ROAD_PLANE;
		}
		check(&t);
	}
}

void engine_cases_slanted(engine_case_fn *check)
{
	slanted_cases(SX_STIXEL_SLANTED, check);
}

void engine_cases_slanted_exact(engine_case_fn *check)
{
	slanted_cases(SX_STIXEL_SLANTED_EXACT, check);
}
