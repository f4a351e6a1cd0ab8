/*
 * Cases of matching: sizes, costs, paths, FastDT, winner, filters, pixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/engine_case.h"

void engine_cases_sizes(engine_case_fn *check)
{
	static const struct {
		int width, height, disparities;
	} sizes[] = {
		{32, 32, 32},	{33, 47, 64},	{47, 33, 128},	{64, 64, 256},	{97, 35, 96},
		{300, 40, 128}, {1500, 40, 32}, {40, 1100, 32}, {129, 65, 160}, {631, 479, 128},
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct engine_case t = engine_case_small(100 + i);

		t.width = sizes[i].width;
		t.height = sizes[i].height;
		t.params.stereo.disparities = sizes[i].disparities;
		check(&t);
	}
}

void engine_cases_fills(engine_case_fn *check)
{
	for (int fill = 0; fill < CHECK_FILL_COUNT; fill++) {
		struct engine_case t = engine_case_small(200 + (uint64_t)fill);

		t.fill = (enum check_fill)fill;
		check(&t);
	}
}

void engine_cases_costs(engine_case_fn *check)
{
	static const enum sx_cost costs[] = {SX_COST_CSCT, SX_COST_CENSUS, SX_COST_CENSUS48,
					     SX_COST_CENSUS63};

	for (int i = 0; i < 8; i++) {
		struct engine_case t = engine_case_small(300 + (uint64_t)i);

		t.params.stereo.cost = costs[i / 2];
		t.params.stereo.out_of_view = i % 2 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
		check(&t);
	}
}

static void check_zncc_windows(engine_case_fn *check)
{
	for (int i = 0; i < 14; i++) {
		struct engine_case t = engine_case_small(1000 + (uint64_t)i);

		t.params.stereo.cost = SX_COST_ZNCC;
		t.params.stereo.zncc_window = 3 + i / 2 * 2;
		t.params.stereo.out_of_view = i % 2 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
		t.params.stereo.paths = i % 3 == 0 ? 2 : i % 3 == 1 ? 4 : 8;
		check(&t);
	}
}

/*
 * Checks widths below the number of disparities, rows that end inside a task, and every number of disparity
 * vectors.
 */
static void check_zncc_sizes(engine_case_fn *check)
{
	static const struct {
		int width, height, disparities, window;
	} sizes[] = {
		{32, 32, 32, 15}, {32, 35, 256, 3}, {33, 47, 64, 5},   {47, 33, 128, 15}, {64, 64, 256, 9},
		{97, 35, 96, 3},  {97, 81, 96, 7},  {300, 33, 128, 3}, {40, 300, 32, 11}, {129, 65, 160, 13},
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct engine_case t = engine_case_small(1020 + i);

		t.width = sizes[i].width;
		t.height = sizes[i].height;
		t.params.stereo.cost = SX_COST_ZNCC;
		t.params.stereo.disparities = sizes[i].disparities;
		t.params.stereo.zncc_window = sizes[i].window;
		check(&t);
	}
}

void engine_cases_zncc(engine_case_fn *check)
{
	static const int min[] = {-128, -40, -1, 1, 33, 128};

	check_zncc_windows(check);
	check_zncc_sizes(check);
	/* flat windows, and the largest sums and covariances */
	for (int i = 0; i < 2 * CHECK_FILL_COUNT; i++) {
		struct engine_case t = engine_case_small(1040 + (uint64_t)i);

		t.fill = (enum check_fill)(i / 2);
		t.params.stereo.cost = SX_COST_ZNCC;
		t.params.stereo.zncc_window = i % 2 ? 15 : 3;
		check(&t);
	}
	for (int i = 0; i < 12; i++) {
		struct engine_case t = engine_case_small(1060 + (uint64_t)i);

		t.params.stereo.cost = SX_COST_ZNCC;
		t.params.stereo.zncc_window = i % 4 < 2 ? 3 : 9;
		t.params.stereo.min_disparity = min[i / 2];
		t.params.stereo.out_of_view = i % 2 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
		t.shift = min[i / 2] + 20;
		check(&t);
	}
}

/*
 * Checks edge-dependent P2, computed from the left image. p2 and its least value, p1 + 1, are apart, close or
 * equal. Vertical paths use the penalties of the other paths or their own.
 */
void engine_cases_edges(engine_case_fn *check)
{
	static const enum sx_cost costs[] = {SX_COST_CSCT, SX_COST_CENSUS, SX_COST_ZNCC};
	static const int edges[] = {1, 8, 60, 255};

	for (int i = 0; i < 18; i++) {
		struct engine_case t = engine_case_small(1100 + (uint64_t)i);
		struct sx_stereo_params *p = &t.params.stereo;

		t.width = i % 5 == 4 ? 33 : 60 + i;
		t.fill = i % 4 == 3 ? CHECK_STEPS : CHECK_NOISE;
		p->cost = costs[i % 3];
		p->paths = i / 3 % 3 == 0 ? 2 : i / 3 % 3 == 1 ? 4 : 8;
		p->disparities = i < 9 ? 64 : i < 15 ? 128 : 96;
		p->p2_edge = edges[i % 4];
		p->p2 = i % 6 == 5 ? p->p1 : i % 6 == 4 ? p->p1 + 1 : i % 6 == 3 ? 20 : 180;
		p->p1_vertical = i % 2 ? 0 : 6;
		p->p2_vertical = i % 4 < 2 ? 0 : 60;
		check(&t);
	}
}

/*
 * Checks penalties just below and just above the limit of one byte, for 2 and for 6 stored paths. Penalties
 * differ between directions or not.
 */
void engine_cases_paths(engine_case_fn *check)
{
	static const int p2[] = {10, 42, 43, 127, 128, 180};
	static const int paths[] = {2, 4, 8};

	for (int i = 0; i < 18; i++) {
		struct engine_case t = engine_case_small(400 + (uint64_t)i);
		struct sx_stereo_params *p = &t.params.stereo;

		t.width = 55 + i;
		p->paths = paths[i % 3];
		p->p2 = p2[i / 3];
		p->p1 = i % 2 ? 5 : p->p2 < 40 ? 1 : 40;
		if (i % 4 == 1)
			p->cost = SX_COST_CENSUS;
		if (i % 4 >= 2) {
			p->p2_vertical = p2[5 - i / 3];
			p->p1_vertical = p->p2_vertical < 40 ? 2 : 30;
		}
		check(&t);
	}
}

void engine_cases_extreme_sums(engine_case_fn *check)
{
	for (int i = 0; i < 6; i++) {
		struct engine_case t = engine_case_small(450 + (uint64_t)i);

		t.params.stereo.cost = SX_COST_CENSUS;
		t.params.stereo.paths = i < 3 ? 4 : 8;
		t.params.stereo.p1 = 1;
		t.params.stereo.p2 = 192;
		t.params.stereo.out_of_view = SX_OUT_OF_VIEW_MAX;
		t.fill = i % 3 == 0 ? CHECK_CHECKERBOARD : i % 3 == 1 ? CHECK_STEPS : CHECK_NOISE;
		check(&t);
	}
}

void engine_cases_min_disparity(engine_case_fn *check)
{
	static const int min[] = {-128, -33, -16, 1, 16, 60, 128};

	for (size_t i = 0; i < 2 * sizeof(min) / sizeof(min[0]); i++) {
		struct engine_case t = engine_case_small(500 + i);

		t.params.stereo.min_disparity = min[i / 2];
		t.params.stereo.out_of_view = i % 2 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
		t.params.filters.left_right_keep = i % 3 == 0;
		t.shift = min[i / 2] + 20;
		check(&t);
	}
	for (size_t i = 0; i < 5; i++) { /* all disparities are negative, in every flow of cuda */
		struct engine_case t = engine_case_small(520 + i);

		t.params.stereo.disparities = 32;
		t.params.stereo.min_disparity = -66 - (int)i;
		t.width = 38;
		t.height = 32;
		t.params.stereo.p2_edge = i % 2 ? 20 : 0;
		t.shift = -50;
		check(&t);
	}
}

void engine_cases_winner(engine_case_fn *check)
{
	static const int uniqueness[] = {1, 50, 90, 95, 99, 100};

	for (int i = 0; i < 18; i++) {
		struct engine_case t = engine_case_small(600 + (uint64_t)i);

		t.params.stereo.uniqueness = uniqueness[i % 6];
		t.params.stereo.subpixel = (enum sx_subpixel)(i / 6);
		t.fill = i % 4 == 0 ? CHECK_NEAR_0 : CHECK_NOISE;
		check(&t);
	}
}

void engine_cases_filters(engine_case_fn *check)
{
	for (int i = 0; i < 16; i++) {
		struct engine_case t = engine_case_small(700 + (uint64_t)i);
		struct sx_filter_params *f = &t.params.filters;

		f->median = i % 4 != 0;
		f->median_border = i & 1 ? SX_MEDIAN_BORDER_ZERO : SX_MEDIAN_BORDER_COPY;
		f->left_right = i % 3 == 0 ? -1 : i % 5;
		f->left_right_keep = i & 2;
		f->speckle_size = i & 4 ? 3 + 20 * (i & 8) : 0;
		f->speckle_range = i % 3;
		f->smooth = i % 5 != 2;
		t.height = 30 + 7 * i < 32 ? 32 : 30 + 7 * i;
		check(&t);
	}
}

void engine_cases_pixels(engine_case_fn *check)
{
	static const enum sx_pixel formats[] = {SX_PIXEL_Y16, SX_PIXEL_YUYV, SX_PIXEL_UYVY, SX_PIXEL_NV12,
						SX_PIXEL_RGB24};

	for (int i = 0; i < 10; i++) {
		struct engine_case t = engine_case_small(800 + (uint64_t)i);

		t.pixel = formats[i % 5];
		t.fill = i < 5 ? CHECK_NOISE : CHECK_FLAT;
		t.width = 71;
		check(&t);
		t.interleaved = t.pixel == SX_PIXEL_YUYV;
		if (t.interleaved)
			check(&t);
	}
	for (int i = 0; i < 6; i++) {
		static const int levels[] = {1, 20, 70, 1000, 4000, 65000};
		struct engine_case t = engine_case_small(820 + (uint64_t)i);

		t.pixel = SX_PIXEL_Y16;
		t.y16_levels = levels[i];
		t.width = 71 + 67 * i;
		t.height = 43 + 2 * i;
		check(&t);
	}
}

static struct engine_case fastdt_case(uint64_t seed, enum sx_fastdt variant)
{
	struct engine_case t = engine_case_small(seed);

	t.params.stereo.aggregation = SX_AGGREGATION_FASTDT;
	t.params.stereo.fastdt = variant;
	return t;
}

static void fastdt_sizes(engine_case_fn *check, enum sx_fastdt variant)
{
	static const struct {
		int width, height, disparities, min;
	} sizes[] = {
		{32, 32, 32, 0},     {33, 47, 64, -20},	 {47, 33, 128, 5},
		{64, 40, 256, -128}, {97, 35, 96, 3},	 {129, 65, 160, 0},
		{40, 700, 32, 0},    {600, 33, 32, 128}, {131, 70, 128, -7},
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct engine_case t = fastdt_case(1000 + i, variant);

		t.width = sizes[i].width;
		t.height = sizes[i].height;
		t.params.stereo.disparities = sizes[i].disparities;
		t.params.stereo.min_disparity = sizes[i].min;
		t.params.stereo.out_of_view = i % 2 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
		t.params.stereo.uniqueness = i % 3 ? 95 : 100;
		t.shift = sizes[i].min + 9;
		check(&t);
	}
}

/*
 * Checks the largest sums: flat images without a limit to the right, and each cost with the largest sigma_s
 * that it allows.
 */
static void fastdt_extremes(engine_case_fn *check, enum sx_fastdt variant)
{
	static const struct {
		enum sx_cost cost;
		double space;
	} most[] = {{SX_COST_CSCT, 6.25},
		    {SX_COST_CENSUS, 5.18},
		    {SX_COST_CENSUS48, 5.55},
		    {SX_COST_CENSUS63, 5.18},
		    {SX_COST_ZNCC, 5.77}};

	for (int i = 0; i < 10; i++) {
		struct engine_case t = fastdt_case(1100 + (uint64_t)i, variant);

		t.params.stereo.cost = most[i / 2].cost;
		t.params.stereo.fastdt_sigma_space = most[i / 2].space;
		t.params.stereo.fastdt_sigma_range = i % 2 ? 1e9 : 30;
		t.params.stereo.out_of_view = SX_OUT_OF_VIEW_MAX;
		t.params.stereo.subpixel = (enum sx_subpixel)(i % 3);
		t.fill = i % 4 == 1 ? CHECK_FLAT : i % 4 == 3 ? CHECK_STEPS : CHECK_NOISE;
		check(&t);
	}
}

/* Checks weights from none to nearly one, all grey levels, and rivals at every share. */
static void fastdt_weights(engine_case_fn *check, enum sx_fastdt variant)
{
	static const double space[] = {0.05, 0.8, 3, 5}, range[] = {0.5, 4, 52, 1000};
	static const int uniqueness[] = {1, 60, 99, 100};

	for (int i = 0; i < CHECK_FILL_COUNT; i++) {
		struct engine_case t = fastdt_case(1200 + (uint64_t)i, variant);

		t.params.stereo.fastdt_sigma_space = space[i % 4];
		t.params.stereo.fastdt_sigma_range = range[(i + i / 4) % 4];
		t.params.stereo.uniqueness = uniqueness[(i + 1) % 4];
		t.params.stereo.subpixel = (enum sx_subpixel)(i % 3);
		t.fill = (enum check_fill)i;
		t.width = 61 + i;
		check(&t);
	}
}

static void fastdt_zncc(engine_case_fn *check, enum sx_fastdt variant)
{
	for (int i = 0; i < 7; i++) {
		struct engine_case t = fastdt_case(1300 + (uint64_t)i, variant);

		t.params.stereo.cost = SX_COST_ZNCC;
		t.params.stereo.zncc_window = i == 6 ? 15 : 3 + 2 * (i % 3);
		t.params.stereo.out_of_view = i % 2 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
		t.params.stereo.min_disparity = i == 4 ? -12 : i == 5 ? 6 : 0;
		t.params.stereo.disparities = i == 2 ? 96 : i == 3 ? 128 : 64;
		t.fill = i < 3 ? CHECK_NOISE : i == 3 ? CHECK_STEPS : i == 4 ? CHECK_NEAR_255 : CHECK_FLAT;
		t.width = 67 + i;
		t.height = 32 + i;
		check(&t);
	}
}

void engine_cases_fastdt(engine_case_fn *check)
{
	static const enum sx_fastdt variants[] = {SX_FASTDT_AUTO, SX_FASTDT_INT16, SX_FASTDT_INT8};

	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		fastdt_sizes(check, variants[i]);
		fastdt_extremes(check, variants[i]);
		fastdt_weights(check, variants[i]);
		fastdt_zncc(check, variants[i]);
	}
}
