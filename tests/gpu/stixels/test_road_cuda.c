/*
 * The road of the CUDA engine against stages/road/road.c, byte for byte: planes, noise, fallbacks, every
 * size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/stages_cuda.h"
#include "stages/road/road_ground.h"
#include "tests/gpu/on_device.h"
#include "tests/stixel_case.h"

/* One road finder of each engine on the same maps. */
struct rig {
	struct on_device x;
	struct sx_road_finder *want;
	struct sx_road_finder_cuda *got;
	struct sx_camera camera;
	struct sx_image map;
	struct sx_cuda_input *in, *dev_in;
	struct sx_cuda_road *road;
	int32_t *dev_ground, *want_ground, *got_ground;
	int measured, bent;
};

static void rig_init(struct rig *g, const struct sx_params *p, int w, int h, int range)
{
	struct sx_cuda_road road = {0};
	void *device;

	memset(g, 0, sizeof(*g));
	on_device_init(&g->x);
	g->camera = p->camera;
	assert_int_equal(sx_road_finder_create(&g->want, p, w, h, range), 0);
	assert_int_equal(sx_road_cuda_create(&g->got, &g->x.memory, g->want, 132), 0);
	assert_non_null(g->got);
	assert_int_equal(sx_image_init(&g->map, SX_PIXEL_U16, w, h), 0);
	g->in = sx_cuda_take_pinned(&g->x.memory, sizeof(*g->in), &device);
	g->dev_in = device;
	g->dev_ground = sx_cuda_take(&g->x.memory, (size_t)h * sizeof(*g->dev_ground));
	road.ground_q4 = g->dev_ground;
	g->road = sx_cuda_upload(&g->x.memory, &road, sizeof(road));
	g->want_ground = calloc((size_t)h, sizeof(*g->want_ground));
	g->got_ground = calloc((size_t)h, sizeof(*g->got_ground));
	assert_true(g->want_ground && g->got_ground);
	ON_DEVICE(g->x.memory.error);
}

static void rig_finish(struct rig *g)
{
	sx_road_cuda_destroy(g->got);
	sx_road_finder_destroy(g->want);
	sx_image_finish(&g->map);
	free(g->want_ground);
	free(g->got_ground);
	on_device_finish(&g->x);
}

static bool same(const struct sx_road *a, const struct sx_road *b)
{
	const double x[] = {a->slope,		a->offset,	   a->cross,	     a->axis, a->horizon_row,
			    a->pitch_rad,	a->roll_rad,	   a->height_m,	     a->bend, a->bend_row,
			    a->pitch_sigma_rad, a->roll_sigma_rad, a->height_sigma_m};
	const double y[] = {b->slope,		b->offset,	   b->cross,	     b->axis, b->horizon_row,
			    b->pitch_rad,	b->roll_rad,	   b->height_m,	     b->bend, b->bend_row,
			    b->pitch_sigma_rad, b->roll_sigma_rad, b->height_sigma_m};

	return !memcmp(x, y, sizeof(x)) && a->inliers == b->inliers && a->age == b->age &&
	       a->origin == b->origin;
}

/* Checks the current map. Returns the road that both engines found. */
static struct sx_road check_road(struct rig *g, const char *what, const struct sx_road *previous)
{
	const int h = g->map.height;
	const struct sx_image dev = on_device_copy(&g->x, &g->map);
	struct sx_cuda_road got;
	struct sx_road want;

	sx_road_find(g->want, &g->map, previous, &want);
	sx_road_ground(&want, h, g->want_ground);
	g->in->has_previous = previous != NULL;
	if (previous)
		g->in->previous = *previous;
	g->in->number++;
	ON_DEVICE(sx_road_cuda_run(g->got, &dev, g->dev_in, g->road, g->x.stream));
	on_device_read(&g->x, g->road, &got, sizeof(got));
	on_device_read(&g->x, g->dev_ground, g->got_ground, (size_t)h * sizeof(*g->got_ground));
	if (got.road.origin == SX_ROAD_MEASURED)
		sx_road_describe(&g->camera, &got.road);
	if (!same(&got.road, &want))
		fail_msg("%s, %dx%d: want origin %d slope %a offset %a cross %a inliers %u age %u, got %d %a "
			 "%a %a %u %u",
			 what, g->map.width, h, want.origin, want.slope, want.offset, want.cross,
			 want.inliers, want.age, got.road.origin, got.road.slope, got.road.offset,
			 got.road.cross, got.road.inliers, got.road.age);
	assert_int_equal(got.number, g->in->number);
	assert_ptr_equal(got.ground_q4, g->dev_ground);
	assert_memory_equal(g->got_ground, g->want_ground, (size_t)h * sizeof(*g->want_ground));
	g->measured += want.origin == SX_ROAD_MEASURED;
	g->bent += want.bend != 0.0;
	return want;
}

static struct sx_params params(int w, int h, double pitch_deg)
{
	struct sx_params p = stixel_case_params(h);

	p.camera.fx = p.camera.fy = w;
	p.camera.cx = w / 2.0;
	p.camera.cy = h / 2.0;
	p.camera.height_m = 1.5;
	p.camera.pitch_deg = pitch_deg;
	p.road.mode = SX_ROAD_PLANE;
	return p;
}

/*
 * Draws a plane that is a little off the calibrated one and has roll, with outliers, invalid pixels and a
 * wall.
 */
static void draw(struct rig *g, const struct sx_params *p, int range, int outlier_percent,
		 struct check_rng *r)
{
	const int w = g->map.width, h = g->map.height, wall = check_below(r, 16 * range),
		  left = check_below(r, w);
	struct sx_camera c = p->camera;
	struct sx_road plane;

	c.height_m *= 0.8 + check_below(r, 40) / 100.0;
	c.pitch_deg += check_below(r, 200) / 100.0 - 1;
	sx_road_calibrated(&c, &plane);
	plane.cross += plane.slope * (check_below(r, 21) - 10) / 100.0;
	plane.bend_row = check_below(r, h);
	plane.bend = plane.slope * (check_below(r, 13) - 4) / 10.0;
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++) {
			double d = 16 * (plane.slope * y + plane.offset + plane.cross * (x - plane.axis) +
					 plane.bend * (y < plane.bend_row ? plane.bend_row - y : 0)) +
				   check_below(r, 17) - 8;

			d = d < 0 ? 0 : d < 16 * range - 1 ? d : 16 * range - 1;
			if (x >= left && x < left + w / 4 && d < wall)
				d = wall;
			if (check_below(r, 100) < outlier_percent)
				d = check_below(r, 16 * range);
			((uint16_t *)sx_image_row(&g->map, y))[x] =
				check_below(r, 100) < 10 ? SX_DISPARITY_INVALID : (uint16_t)d;
		}
}

static void test_planes(void **state)
{
	static const int sizes[][3] = {{32, 32, 32},   {33, 47, 33},   {64, 48, 64},	{100, 75, 96},
				       {161, 120, 45}, {200, 33, 128}, {256, 160, 128}, {320, 240, 256},
				       {90, 301, 384}, {1, 1, 1},      {4000, 9, 64},	{640, 480, 128}};
	struct check_rng r = check_rng_seed(1);
	int measured = 0, roads = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const int *s = sizes[i];
		struct sx_params p = params(s[0], s[1], check_below(&r, 8) - 2);
		struct rig g;

		p.road.top = check_below(&r, 3) * 30;
		p.camera.roll_deg = (int)(i % 4) * 4 - 6;
		p.camera.cx = s[0] * (0.3 + check_below(&r, 5) / 10.0);
		rig_init(&g, &p, s[0], s[1], s[2]);
		for (int round = 0; round < 6; round++, roads++) {
			draw(&g, &p, s[2], 20 * round, &r);
			check_road(&g, "plane", NULL);
		}
		measured += g.measured;
		rig_finish(&g);
	}
	assert_in_range(measured, roads / 3, roads - 1);
}

/* Roads that climb or fall from 14 m ahead. */
static void test_bends(void **state)
{
	struct sx_params p = params(320, 240, 0);
	struct check_rng r = check_rng_seed(5);
	struct sx_road plane;
	struct rig g;

	p.camera.baseline_m = 1;
	sx_road_calibrated(&p.camera, &plane);
	plane.bend_row = floor((320 / 14.0 - plane.offset) / plane.slope);
	rig_init(&g, &p, 320, 240, 256);
	for (int i = 0; i < 12; i++) {
		plane.bend = plane.slope * (i - 3) / 12;
		for (int y = 0; y < 240; y++)
			for (int x = 0; x < 320; x++) {
				const double d = sx_road_row_q4(&plane, y) + check_below(&r, 9) - 4;

				((uint16_t *)sx_image_row(&g.map, y))[x] = (uint16_t)(d < 0 ? 0 : d);
			}
		check_road(&g, "bend", NULL);
	}
	assert_int_equal(g.measured, 12);
	assert_in_range(g.bent, 6, 11);
	rig_finish(&g);
}

/*
 * Parameters that depend on the camera's height: limits, tolerances, knees, the last rows, the expected road.
 */
static void test_low_cameras(void **state)
{
	static const double heights[] = {0.25, 0.45, 0.9, 1.6};
	struct check_rng r = check_rng_seed(6);
	int measured = 0, bent = 0;

	for (size_t i = 0; i < 2 * sizeof(heights) / sizeof(*heights); i++) {
		struct sx_params p = params(320, 240, i % 2 ? 8 : 0);
		struct rig g;

		p.camera.height_m = heights[i / 2];
		p.camera.baseline_m = 0.4 * p.camera.height_m;
		p.road.min_height_m = p.road.max_height_m = p.road.max_pitch_deg = 0;
		rig_init(&g, &p, 320, 240, 128);
		for (int round = 0; round < 12; round++) {
			draw(&g, &p, 128, 5 * round, &r);
			check_road(&g, "low", NULL);
		}
		measured += g.measured;
		bent += g.bent;
		rig_finish(&g);
	}
	assert_in_range(measured, 40, 95);
	assert_in_range(bent, 1, 95);
}

/*
 * Ramps and kerbs behind a floor that shows nothing: no plane is found, and the calibrated road of a low camera may
 * have a bend. A previous road takes its place.
 */
static void test_bends_of_the_expected_road(void **state)
{
	struct sx_params p = params(320, 240, 0);
	struct sx_road plane, previous = {0};
	struct check_rng r = check_rng_seed(7);
	int bent = 0;
	struct rig g;

	p.camera.height_m = 0.25;
	p.camera.baseline_m = 0.08;
	p.road.min_height_m = p.road.max_height_m = p.road.max_pitch_deg = 0;
	p.road.max_age = 2;
	sx_road_calibrated(&p.camera, &plane);
	rig_init(&g, &p, 320, 240, 128);
	for (int i = 0; i < 24; i++) {
		const bool kerb = i % 4 == 3;
		struct sx_road found;

		plane.bend_row = floor((320 * 0.08 / (1 + 0.04 * i) - plane.offset) / plane.slope);
		plane.bend = plane.slope * (kerb ? -0.25 : 0.1 + 0.02 * i);
		for (int y = 0; y < 240; y++)
			for (int x = 0; x < 320; x++) {
				const double step =
					kerb ? 16 * 0.25 * (plane.slope * plane.bend_row + plane.offset) : 0;
				const double d = sx_road_row_q4(&plane, y) + step + check_below(&r, 9) - 4;

				((uint16_t *)sx_image_row(&g.map, y))[x] =
					y > plane.bend_row ? SX_DISPARITY_INVALID : (uint16_t)(d < 0 ? 0 : d);
			}
		found = check_road(&g, kerb ? "kerb" : "ramp", NULL);
		bent += found.origin == SX_ROAD_FROM_CALIBRATION && found.bend > 0;
		if (i > 0 && found.origin == SX_ROAD_FROM_CALIBRATION)
			assert_int_equal(check_road(&g, "previous", &previous).origin, SX_ROAD_PREVIOUS);
		previous = plane;
		previous.origin = SX_ROAD_MEASURED;
	}
	assert_in_range(bent, 6, 18);
	rig_finish(&g);
}

/* Maps without a road: patches, noise, no valid pixel; with cameras in any pose. */
static void test_no_road(void **state)
{
	struct sx_params p = params(128, 96, 2);
	struct check_rng r = check_rng_seed(2);
	struct rig g;

	p.road.top = 0;
	p.road.max_pitch_deg = 60;
	p.road.max_roll_deg = 45;
	p.road.min_height_m = 0.01;
	p.road.max_height_m = 100;
	rig_init(&g, &p, 128, 96, 128);
	check_road(&g, "zeros", NULL);
	for (int i = 0; i < 8; i++) {
		check_fill_disparity(&g.map, 1 + check_below(&r, 128), check_below(&r, 60), &r);
		check_road(&g, "patches", NULL);
		check_fill(&g.map, CHECK_NOISE, &r);
		check_road(&g, "noise", NULL);
		for (int y = 0; y < 96; y++)
			for (int x = 0; x < 128; x++)
				((uint16_t *)sx_image_row(&g.map, y))[x] = (uint16_t)check_below(&r, 16 << i);
		check_road(&g, "noise in range", NULL);
	}
	memset(g.map.data, 0xff, g.map.pitch * 96);
	check_road(&g, "invalid", NULL);
	rig_finish(&g);
}

static void test_fallbacks(void **state)
{
	struct sx_params p = params(128, 96, 2);
	struct check_rng r = check_rng_seed(3);
	struct sx_road previous, road;
	struct rig g;

	p.road.max_age = 2;
	rig_init(&g, &p, 128, 96, 64);
	draw(&g, &p, 64, 0, &r);
	previous = check_road(&g, "plane", NULL);
	assert_int_equal(previous.origin, SX_ROAD_MEASURED);
	memset(g.map.data, 0xff, g.map.pitch * 96);
	road = check_road(&g, "once", &previous);
	assert_int_equal(road.origin, SX_ROAD_PREVIOUS);
	road = check_road(&g, "twice", &road);
	assert_int_equal(road.age, 2);
	road = check_road(&g, "too old", &road);
	assert_int_equal(road.origin, SX_ROAD_FROM_CALIBRATION);
	road = check_road(&g, "calibrated does not count as previous", &road);
	assert_int_equal(road.age, 0);
	draw(&g, &p, 64, 0, &r);
	assert_int_equal(check_road(&g, "found again", &previous).origin, SX_ROAD_MEASURED);
	rig_finish(&g);
}

static void test_calibrated(void **state)
{
	struct sx_params p = params(100, 77, 3);
	struct sx_road road;
	struct check_rng r = check_rng_seed(4);
	struct rig g;

	p.road.mode = SX_ROAD_CALIBRATED;
	p.camera.roll_deg = 5;
	rig_init(&g, &p, 100, 77, 64);
	draw(&g, &p, 64, 0, &r);
	road = check_road(&g, "calibrated", NULL);
	assert_int_equal(road.origin, SX_ROAD_FROM_CALIBRATION);
	assert_true(road.roll_rad > 0.08 && road.cross > 0);
	rig_finish(&g);
	p.road.mode = SX_ROAD_PLANE;
	p.camera.fx = 0;
	rig_init(&g, &p, 100, 77, 64);
	assert_int_equal(check_road(&g, "no camera", NULL).origin, SX_ROAD_NONE);
	rig_finish(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_planes),
		cmocka_unit_test(test_bends),
		cmocka_unit_test(test_no_road),
		cmocka_unit_test(test_fallbacks),
		cmocka_unit_test(test_calibrated),
		cmocka_unit_test(test_low_cameras),
		cmocka_unit_test(test_bends_of_the_expected_road),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
