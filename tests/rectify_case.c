/*
 * Cases of engines with raw pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "tests/engine_case.h"

#define DEGREE 0.017453292519943295

/* Computes a rotation about y, then about z, in degrees. The two cameras get different rotations. */
static void rotation_of(double ret[9], double y_deg, double z_deg)
{
	const double cy = cos(y_deg * DEGREE), sy = sin(y_deg * DEGREE);
	const double cz = cos(z_deg * DEGREE), sz = sin(z_deg * DEGREE);
	const double all[9] = {cz * cy, -sz, cz * sy, sz * cy, cz, sz * sy, -sy, 0, cy};

	for (int i = 0; i < 9; i++)
		ret[i] = all[i];
}

/*
 * Returns a rig. `zoom` scales the rectified images. 2: only the area that both cameras see is left. 0.7: a
 * large part of the images lies outside the raw ones.
 */
static struct sx_rig rig_of(const struct engine_case *t, enum sx_lens lens, int raw_width, int raw_height,
			    double zoom)
{
	static const double distortion[][SX_LENS_COEFFICIENTS] = {
		[SX_LENS_PLUMB_BOB] = {-0.12, 0.02, 0.001, -0.002, 0.001},
		[SX_LENS_RATIONAL] = {0.1, 0.02, -0.001, 0.001, 0.001, 0.3, 0.05, 0.002},
		[SX_LENS_EQUIDISTANT] = {-0.02, 0.004, -0.001, 0.0002},
	};
	struct sx_rig rig = {.raw_width = raw_width,
			     .raw_height = raw_height,
			     .width = t->width,
			     .height = t->height,
			     .fx = zoom * 0.9 * t->width,
			     .fy = zoom * 0.9 * t->width,
			     .cx = t->width * 0.49,
			     .cy = t->height * 0.52,
			     .baseline_m = 0.2};

	for (int side = 0; side < 2; side++) {
		struct sx_raw_camera *raw = &rig.raw[side];

		raw->fx = 0.9 * raw_width * (1 + 0.02 * side);
		raw->fy = raw->fx * 1.01;
		raw->cx = raw_width * (0.5 + 0.01 * side);
		raw->cy = raw_height * (0.5 - 0.02 * side);
		raw->lens = lens;
		for (int i = 0; i < SX_LENS_COEFFICIENTS; i++)
			raw->distortion[i] = distortion[lens][i];
		rotation_of(rig.rotation[side], side ? 1.5 : -1, side ? -2 : 1);
	}
	return rig;
}

static struct engine_case raw_case(uint64_t seed, enum sx_lens lens, double zoom)
{
	struct engine_case t = engine_case_small(seed);

	t.rectify = true;
	t.rig = rig_of(&t, lens, 83, 51, zoom);
	return t;
}

static void check_formats(engine_case_fn *check)
{
	static const enum sx_pixel formats[] = {SX_PIXEL_U8,   SX_PIXEL_Y16,  SX_PIXEL_YUYV,
						SX_PIXEL_UYVY, SX_PIXEL_NV12, SX_PIXEL_RGB24};

	for (int i = 0; i < 12; i++) {
		struct engine_case t = raw_case(1700 + (uint64_t)i, (enum sx_lens)(i % 3), i % 2 ? 0.7 : 2);

		t.pixel = formats[i / 2];
		if (i / 2 == 1 && i % 2)
			t.fill = CHECK_FLAT;
		check(&t);
	}
}

/*
 * Checks pixels whose partners lie outside the view of the right image, with and without the left-right
 * check.
 */
static void check_views(engine_case_fn *check)
{
	static const int min[] = {-40, 0, 33};

	for (int i = 0; i < 12; i++) {
		struct engine_case t =
			raw_case(1720 + (uint64_t)i, (enum sx_lens)(i % 3), 0.5 + 0.1 * (i % 4));

		t.params.stereo.min_disparity = min[i / 4];
		t.params.stereo.cost = i % 5 == 4 ? SX_COST_ZNCC : SX_COST_CSCT;
		t.params.stereo.zncc_window = i % 2 ? 3 : 15;
		t.params.filters.left_right = i % 3 == 0 ? -1 : 1;
		t.params.filters.left_right_keep = i % 4 == 1;
		t.params.filters.median = i % 2 == 0;
		check(&t);
	}
}

/*
 * Checks rows that end inside a vector, and rectified images smaller and larger than the raw ones. Scores
 * have the size of the rectified image.
 */
static void check_raw_sizes(engine_case_fn *check)
{
	static const struct {
		int width, height, raw_width, raw_height;
	} sizes[] = {{32, 32, 32, 32}, {33, 47, 64, 40}, {97, 35, 41, 60}, {161, 90, 200, 100}};

	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct engine_case t = engine_case_small(1740 + i);

		t.width = sizes[i / 2].width;
		t.height = sizes[i / 2].height;
		t.params.stixels.method = i % 2 ? SX_STIXEL_DP : SX_STIXEL_SLANTED;
		t.params.semantics.classes = i % 2 ? 0 : 3;
		for (int k = 0; k < 3; k++)
			t.params.semantics.kind[k] = (uint8_t)k;
		t.score_scale = i % 2 ? 0 : 2;
		t.rectify = true;
		t.rig = rig_of(&t, (enum sx_lens)(i % 3), sizes[i / 2].raw_width, sizes[i / 2].raw_height,
			       i % 2 ? 0.8 : 1.5);
		check(&t);
	}
}

void engine_cases_rectify(engine_case_fn *check)
{
	check_formats(check);
	check_views(check);
	check_raw_sizes(check);
}
