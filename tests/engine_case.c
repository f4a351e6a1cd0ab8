/*
 * What tests of engines share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/engine_case.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <stixel.h>

#include "tests/slanted_case.h"

static const char *const tap_names[SX_TAP_COUNT] = {
	"left",	   "right",	"left-flat",	"right-flat", "left-census",	    "right-census",
	"sum",	   "winner",	"winner-right", "median",     "median-right",	    "left-right",
	"speckle", "disparity", "confidence",	"columns",    "columns-confidence",
};

struct sx_params engine_case_params(void)
{
	return (struct sx_params){
		.camera = {.fx = 721, .fy = 721, .cx = 609, .cy = 172, .baseline_m = 0.54, .height_m = 1.65},
		.stereo = {.cost = SX_COST_CSCT,
			   .paths = 4,
			   .disparities = 64,
			   .p1 = 10,
			   .p2 = 86, /* sums of two paths fit a byte, those of four are narrow (gpu/stereo) */
			   .uniqueness = 95,
			   .subpixel = SX_SUBPIXEL_TRUNC,
			   .zncc_window = 5},
		.filters = {.left_right = 1, .speckle_range = 1, .smooth = true},
		.road = {.top = 33,
			 .min_height_m = 0.5,
			 .max_height_m = 3,
			 .max_pitch_deg = 50,
			 .max_roll_deg = 6,
			 .max_age = 30},
		.stixels = {.width = 5,
			    .max_per_column = 128,
			    .sigma_object_px = 1,
			    .sigma_ground_px = 1,
			    .sigma_sky_px = 0.4,
			    .p_outlier = 0.15,
			    .p_outlier_sky = 0.4,
			    .p_order = 0.2,
			    .p_gravity = 0.1,
			    .p_below_ground = 0.04,
			    .epsilon_px = 2,
			    .depth_noise_m = 0.3,
			    .depth_order_m = 0.3,
			    .sigma_height_m = 0.05,
			    .sigma_pitch_rad = 0.005,
			    .p_invalid = 0.25,
			    .p_invalid_ground = 0.28,
			    .p_invalid_object = 0.44,
			    .p_invalid_sky = 0.28,
			    .rdp_epsilon_px = 2,
			    .rdp_sky_px = 1,
			    .rdp_ground_px = 1.5,
			    EVIDENCE_CASE,
			    .slanted = SLANTED_CASE},
	};
}

size_t engine_case_cells(const struct engine_case *t)
{
	const int deep = t->external ? 16 : t->params.stereo.disparities; /* nothing is matched */

	return (size_t)t->width * (size_t)t->height * (size_t)deep;
}

/* Planes with a few rows between them; smooth enough that stixels have classes, noise, or all the same. */
static void scores_init(struct engine_frame *f, const struct engine_case *t, struct check_rng *r)
{
	const int n = t->params.semantics.classes, w = (t->width + t->score_scale - 1) / t->score_scale,
		  h = (t->height + t->score_scale - 1) / t->score_scale;

	check_image_init(&f->planes, SX_PIXEL_U8, w, (h + 2) * n, t->padding);
	check_fill(&f->planes.image, t->fill, r);
	for (int y = 0; y < (h + 2) * n && t->seed % 3; y++)
		for (int x = 0; x < w; x++)
			((uint8_t *)sx_image_row(&f->planes.image, y))[x] =
				(uint8_t)(y % (h + 2) * n / (h + 2) == y / (h + 2) ? 150 + check_below(r, 106)
										   : check_below(r, 20));
	f->scores = (struct sx_scores){.data = f->planes.image.data,
				       .pitch = f->planes.image.pitch,
				       .plane_bytes = f->planes.image.pitch * (size_t)(h + 2),
				       .classes = n,
				       .width = w,
				       .height = h,
				       .scale = t->score_scale};
	f->pair.scores = &f->scores;
}

static void fill_images(struct engine_frame *f, const struct engine_case *t, struct check_rng *r)
{
	if (t->pixel == SX_PIXEL_U8) {
		check_fill_pair(&f->left.image, &f->right.image, t->fill, t->shift, 9, r);
	} else if (t->pixel == SX_PIXEL_Y16 && t->y16_levels) {
		check_fill_y16(&f->left.image, t->y16_levels, 0, r);
		check_fill_y16(&f->right.image, t->y16_levels, t->shift, r);
	} else {
		check_fill(&f->left.image, t->fill, r);
		check_fill(&f->right.image, t->fill, r);
	}
}

void engine_frame_init(struct engine_frame *f, const struct engine_case *t)
{
	const int width = t->rectify ? t->rig.raw_width : t->width,
		  height = t->rectify ? t->rig.raw_height : t->height;
	struct check_rng r = check_rng_seed(t->seed);

	check_image_init(&f->left, t->pixel, width, height, t->padding);
	check_image_init(&f->right, t->pixel, width, height, t->padding);
	fill_images(f, t, &r);
	f->pair = (struct sx_pair){.left = f->left.image, .right = f->right.image, .number = 1};
	if (t->interleaved) {
		f->pair.right = f->pair.left;
		f->pair.right.data = (uint8_t *)f->pair.left.data + 1;
	}
	f->planes = f->map = f->map_confidence = (struct check_image){0};
	if (t->external)
		engine_frame_external(f, t, &r);
	if (t->score_scale)
		scores_init(f, t, &r);
}

bool engine_frame_finish(struct engine_frame *f)
{
	const bool left = check_guards(&f->left, "left image"),
		   right = check_guards(&f->right, "right image");

	check_image_finish(&f->left);
	check_image_finish(&f->right);
	check_image_finish(&f->planes);
	check_image_finish(&f->map);
	check_image_finish(&f->map_confidence);
	return left && right;
}

struct sx_context *engine_case_context(const struct sx_backend *backend, struct sx_device *device,
				       const struct engine_case *t, bool keep_volume)
{
	struct sx_context_config c = {.width = t->width,
				      .height = t->height,
				      .pixel = t->pixel,
				      .params = t->params,
				      .rectify = t->rectify,
				      .rig = t->rig,
				      .keep_volume = keep_volume};
	struct sx_context *x = NULL;
	char why[256] = "";

	if (backend->context_create(&x, device, &c, why, sizeof(why)) < 0)
		fprintf(stderr, "%dx%d: %s\n", t->width, t->height, why);
	return x;
}

static void describe_case(char *text, size_t bytes, const struct engine_case *t, const char *tap,
			  const char *how)
{
	const struct sx_stereo_params *p = &t->params.stereo;

	snprintf(text, bytes,
		 "%s %s, %s %dx%d+%d D %d min %d paths %d cost %d p2 %d %d window %d edge %d fastdt %d", how,
		 tap, check_fill_name(t->fill), t->width, t->height, t->padding, p->disparities,
		 p->min_disparity, p->paths, p->cost, p->p2, p->p2_vertical, p->zncc_window, p->p2_edge,
		 p->aggregation == SX_AGGREGATION_FASTDT ? (int)p->fastdt : -1);
}

static bool same_road(const struct sx_road *a, const struct sx_road *b)
{
	return a->slope == b->slope && a->offset == b->offset && a->cross == b->cross && a->axis == b->axis &&
	       a->bend == b->bend && a->bend_row == b->bend_row && a->horizon_row == b->horizon_row &&
	       a->pitch_rad == b->pitch_rad && a->roll_rad == b->roll_rad && a->height_m == b->height_m &&
	       a->pitch_sigma_rad == b->pitch_sigma_rad && a->roll_sigma_rad == b->roll_sigma_rad &&
	       a->height_sigma_m == b->height_sigma_m && a->inliers == b->inliers && a->age == b->age &&
	       a->origin == b->origin;
}

static bool same_result(const char *what, const struct sx_result *want, const struct sx_result *got)
{
	if (want->columns != got->columns || want->count != got->count ||
	    memcmp(want->offsets, got->offsets, (want->columns + 1) * sizeof(*want->offsets)) != 0 ||
	    memcmp(want->stixels, got->stixels, want->count * sizeof(*want->stixels)) != 0) {
		fprintf(stderr, "%s: stixels differ: want %u, got %u\n", what, want->count, got->count);
		return false;
	}
	if (!same_road(&want->road, &got->road)) {
		fprintf(stderr, "%s: road differs\n", what);
		return false;
	}
	if (want->stretch.min != got->stretch.min || want->stretch.max != got->stretch.max) {
		fprintf(stderr, "%s: range of raw values differs: want %u to %u, got %u to %u\n", what,
			want->stretch.min, want->stretch.max, got->stretch.min, got->stretch.max);
		return false;
	}
	if (memcmp(&want->monitor, &got->monitor, sizeof(want->monitor)) != 0) {
		fprintf(stderr, "%s: what the pair says about the cameras differs\n", what);
		return false;
	}
	return true;
}

bool engine_case_same(const struct engine_case *t, struct engine_output want, struct engine_output got,
		      const char *how, bool volume)
{
	char text[256];
	bool same = true;

	for (int tap = 0; tap < SX_TAP_COUNT; tap++) {
		struct sx_image a, b;
		int r;

		if (tap == SX_TAP_SUM && !volume)
			continue;
		describe_case(text, sizeof(text), t, tap_names[tap], how);
		r = want.backend->peek(want.context, (enum sx_tap)tap, &a);
		if (r == -ENOENT && t->external &&
		    got.backend->peek(got.context, (enum sx_tap)tap, &b) == -ENOENT)
			continue; /* nothing makes it */
		if (r < 0 || (r = got.backend->peek(got.context, (enum sx_tap)tap, &b)) < 0) {
			fprintf(stderr, "%s: not there (error %d)\n", text, -r);
			return false;
		}
		same &= check_same(text, t->seed, &a, &b,
				   tap == SX_TAP_SUM ? t->params.stereo.disparities : 0);
	}
	describe_case(text, sizeof(text), t, "result", how);
	return same & same_result(text, want.backend->result(want.context), got.backend->result(got.context));
}

struct engine_case engine_case_small(uint64_t seed)
{
	return (struct engine_case){.width = 70,
				    .height = 43,
				    .params = engine_case_params(),
				    .pixel = SX_PIXEL_U8,
				    .fill = CHECK_NOISE,
				    .shift = 7,
				    .padding = 3,
				    .seed = seed};
}

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

/* Widths below the disparities, rows that end inside a task, every count of disparities' vectors. */
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
	for (int i = 0; i < 2 * CHECK_FILL_COUNT; i++) { /* flat windows; the largest sums and covariances */
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
 * P2 of each step from the left image; p2 and its least value, p1 + 1, apart, close and the same; vertical
 * paths with the penalties of the others or their own.
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

/* Penalties on both sides of what one byte holds for 2 and for 6 stored paths; directions differ or not. */
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
		t.params.road.min_height_m = t.params.road.max_height_m = 0; /* as the height has it */
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
			i % 4 == 3 ? 256 : 60 * (i % 4); /* bars and flat images are sky */
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
 * Largest sums: flat images and no limit to the right of them;
 * each cost, with the largest sigma_s that it may have.
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

/* Weights from none to nearly one, all grey levels, rivals by every share. */
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
