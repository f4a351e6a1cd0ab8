/*
 * Road estimation: known planes under outliers, what must not be taken for a road, the order of fallbacks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/stixel_case.h"

enum { W = 320, H = 240, RANGE = 128 };

/* A camera of that height and pitch above a plane: every pixel below the horizon, outlier_percent random. */
static void draw_plane(const struct sx_camera *c, int outlier_percent, int invalid_percent,
		       struct sx_image *d, struct check_rng *r)
{
	struct sx_road plane;

	sx_road_calibrated(c, &plane);
	for (int y = 0; y < d->height; y++)
		for (int x = 0; x < d->width; x++) {
			double px = plane.slope * y + plane.offset + (check_below(r, 101) - 50) / 100.0;
			uint16_t *p = (uint16_t *)sx_image_row(d, y) + x;

			px = px < 0 ? 0 : px;
			*p = (uint16_t)(16 * px + 0.5 < 16 * RANGE - 1 ? 16 * px + 0.5 : 16 * RANGE - 1);
			if (check_below(r, 100) < outlier_percent)
				*p = (uint16_t)check_below(r, 16 * RANGE);
			if (check_below(r, 100) < invalid_percent)
				*p = SX_DISPARITY_INVALID;
		}
}

static struct sx_params params(double height_m, double pitch_deg, double baseline_m)
{
	struct sx_params p = stixel_case_params(H);

	p.camera.fx = p.camera.fy = 300;
	p.camera.cx = W / 2.0;
	p.camera.cy = H / 2.0;
	p.camera.baseline_m = baseline_m;
	p.camera.height_m = height_m;
	p.camera.pitch_deg = pitch_deg;
	return p;
}

static uint32_t pixels_of_plane(const struct sx_road *plane)
{
	uint32_t rows = 0;

	for (int y = H * 33 / 100; y < H; y++) {
		const double d = plane->slope * y + plane->offset;

		rows += d >= 1 && d < RANGE - 1;
	}
	return rows * W;
}

static void check_plane(const struct sx_params *p, uint64_t seed)
{
	struct check_rng r = check_rng_seed(seed);
	struct sx_road_finder *f;
	struct sx_road want, got;
	struct sx_image d;

	assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, W, H), 0);
	assert_int_equal(sx_road_finder_create(&f, p, W, H, RANGE), 0);
	draw_plane(&p->camera, 30, 10, &d, &r);
	sx_road_calibrated(&p->camera, &want);
	sx_road_find(f, &d, NULL, &got);
	if (got.origin != SX_ROAD_MEASURED || fabs(got.horizon_row - want.horizon_row) > 1 ||
	    fabs(got.slope / want.slope - 1) > 0.02)
		fail_msg("height %g pitch %g: origin %d slope %g horizon %g, want %g and %g",
			 p->camera.height_m, p->camera.pitch_deg, got.origin, got.slope, got.horizon_row,
			 want.slope, want.horizon_row);
	assert_true(fabs(got.pitch_rad - want.pitch_rad) < 1.0 / p->camera.fy);
	assert_true(fabs(got.height_m / p->camera.height_m - 1) < 0.03);
	/* six in ten of the central pixels that see the plane within the range */
	assert_true(got.inliers > pixels_of_plane(&want) * 8 / 10 * 6 / 10);
	assert_int_equal(got.age, 0);
	sx_road_finder_destroy(f);
	sx_image_finish(&d);
}

static void test_plane_with_outliers(void **state)
{
	uint64_t seed = 1;

	for (double height = 0.8; height < 2.6; height += 0.4)
		for (double pitch = -6; pitch <= 12; pitch += 3) {
			const struct sx_params p = params(height, pitch, 0.5);

			check_plane(&p, seed++);
		}
}

/* fx and fy differ: the plane's slope follows fx / fy. */
static void test_pixels_that_are_not_square(void **state)
{
	struct sx_params p = params(1.5, 4, 0.5);
	struct sx_road road;

	p.camera.fy = 360;
	check_plane(&p, 77);
	sx_road_calibrated(&p.camera, &road);
	/* a point 1.5 m below the camera and 10 m ahead, by projection; pitch 0 keeps it simple */
	p.camera.pitch_deg = 0;
	sx_road_calibrated(&p.camera, &road);
	assert_true(fabs(road.slope * (p.camera.cy + 360 * 1.5 / 10) + road.offset - 300 * 0.5 / 10) < 1e-9);
	assert_true(fabs(road.horizon_row - p.camera.cy) < 1e-9);
	assert_true(fabs(road.height_m - 1.5) < 1e-9);
}

static void test_ground_of_rows(void **state)
{
	struct sx_road road = {.slope = 0.25, .offset = -10};
	int32_t g[100];

	/* ground > 0 from y = 41: 59 rows; row 40 has 0 and is not ground */
	assert_int_equal(sx_road_ground(&road, 100, g), 59);
	assert_int_equal(g[0], 16 * 99 / 4 - 160);
	assert_int_equal(g[58], 4);
	assert_int_equal(g[59], 0);
	assert_int_equal(g[60], -4);
	road.offset = 5;
	assert_int_equal(sx_road_ground(&road, 100, g), 100);
	road.offset = -1000;
	assert_int_equal(sx_road_ground(&road, 100, g), 0);
	road = (struct sx_road){.slope = 1e200, .offset = -1e200};
	sx_road_ground(&road, 100, g);
	assert_int_equal(g[0], SX_GROUND_MAX_Q4);
	road = (struct sx_road){0};
	assert_int_equal(sx_road_ground(&road, 100, g), 0);
	/* ties of the rounding go to the even number */
	road = (struct sx_road){.slope = 1 / 32.0, .offset = 0};
	sx_road_ground(&road, 8, g);
	assert_int_equal(g[7 - 1], 0);
	assert_int_equal(g[7 - 3], 2);
	assert_int_equal(g[7 - 5], 2);
}

static void test_order_of_fallbacks(void **state)
{
	struct sx_params p = params(1.5, 4, 0.5);
	const struct sx_road measured = {.slope = 0.5, .offset = -70, .origin = SX_ROAD_MEASURED};
	struct check_rng r = check_rng_seed(9);
	struct sx_road_finder *f;
	struct sx_road previous, road;
	struct sx_image d;

	p.road.max_age = 3;
	assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, W, H), 0);
	assert_int_equal(sx_road_finder_create(&f, &p, W, H, RANGE), 0);
	memset(d.data, 0xff, d.pitch * (size_t)d.height);
	sx_road_find(f, &d, NULL, &road);
	assert_int_equal(road.origin, SX_ROAD_FROM_CALIBRATION);
	assert_true(fabs(road.pitch_rad - 4 * acos(-1) / 180) < 1e-12);
	previous = measured;
	for (uint32_t age = 1; age <= 3; age++) {
		sx_road_find(f, &d, &previous, &road);
		assert_int_equal(road.origin, SX_ROAD_PREVIOUS);
		assert_int_equal(road.age, age);
		assert_true(road.slope == 0.5);
		previous = road;
	}
	sx_road_find(f, &d, &previous, &road);
	assert_int_equal(road.origin, SX_ROAD_FROM_CALIBRATION);
	previous = road; /* a calibrated road is not one that was found */
	sx_road_find(f, &d, &previous, &road);
	assert_int_equal(road.origin, SX_ROAD_FROM_CALIBRATION);
	draw_plane(&p.camera, 0, 0, &d, &r);
	sx_road_find(f, &d, &measured, &road);
	assert_int_equal(road.origin, SX_ROAD_MEASURED);
	sx_road_finder_destroy(f);
	p.road.mode = SX_ROAD_CALIBRATED;
	assert_int_equal(sx_road_finder_create(&f, &p, W, H, RANGE), 0);
	sx_road_find(f, &d, &measured, &road);
	assert_int_equal(road.origin, SX_ROAD_FROM_CALIBRATION);
	sx_road_finder_destroy(f);
	p.road.mode = SX_ROAD_VDISPARITY;
	p.camera.fx = p.camera.fy = p.camera.baseline_m = 0;
	assert_int_equal(sx_road_finder_create(&f, &p, W, H, RANGE), 0);
	sx_road_find(f, &d, NULL, &road);
	assert_int_equal(road.origin, SX_ROAD_NONE);
	sx_road_finder_destroy(f);
	sx_image_finish(&d);
	assert_int_equal(sx_road_finder_create(&f, &p, 0, H, RANGE), -EINVAL);
}

/* A wall, an empty sky, noise, a plane outside the accepted heights: not a road. */
static void test_what_is_not_a_road(void **state)
{
	struct sx_params p = params(1.5, 0, 0.5);
	struct check_rng r = check_rng_seed(4);
	struct sx_road_finder *f;
	struct sx_road road;
	struct sx_image d;

	assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, W, H), 0);
	assert_int_equal(sx_road_finder_create(&f, &p, W, H, RANGE), 0);
	for (int kind = 0; kind < 4; kind++) {
		struct sx_params other = params(6, 0, 0.5);

		draw_plane(&other.camera, 0, 0, &d, &r);
		for (int y = 0; y < H && kind < 3; y++)
			for (int x = 0; x < W; x++)
				((uint16_t *)sx_image_row(&d, y))[x] =
					(uint16_t)(kind == 0   ? 20 * 16
						   : kind == 1 ? 0
							       : check_below(&r, 16 * RANGE));
		sx_road_find(f, &d, NULL, &road);
		if (road.origin != SX_ROAD_FROM_CALIBRATION)
			fail_msg("kind %d: slope %g offset %g height %g from %u", kind, road.slope,
				 road.offset, road.height_m, road.inliers);
	}
	sx_road_finder_destroy(f);
	sx_image_finish(&d);
}

/* Same map, same answer, whatever was there before; any size and content without a stray access (ASan). */
static void test_repeatable_at_any_size(void **state)
{
	static const int sizes[][3] = {{32, 32, 32}, {33, 2160, 384}, {4096, 40, 128}, {101, 67, 64}};
	struct check_rng r = check_rng_seed(8);

	for (size_t i = 0; i < 4; i++) {
		struct sx_params p = stixel_case_params(sizes[i][1]);
		struct sx_road_finder *f;
		struct sx_road a = {0}, b;
		struct sx_image d;

		p.road.top = (int)i * 30;
		assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, sizes[i][0], sizes[i][1]), 0);
		assert_int_equal(sx_road_finder_create(&f, &p, sizes[i][0], sizes[i][1], sizes[i][2]), 0);
		for (int round = 0; round < 3; round++) {
			draw_plane(&p.camera, 40, 20, &d, &r);
			sx_road_find(f, &d, NULL, &a);
			check_fill(&d, CHECK_NOISE, &r);
			sx_road_find(f, &d, NULL, &b);
			sx_road_find(f, &d, NULL, &a);
			assert_memory_equal(&a, &b, sizeof(a));
		}
		sx_road_finder_destroy(f);
		sx_image_finish(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plane_with_outliers), cmocka_unit_test(test_pixels_that_are_not_square),
		cmocka_unit_test(test_ground_of_rows),	    cmocka_unit_test(test_order_of_fallbacks),
		cmocka_unit_test(test_what_is_not_a_road),  cmocka_unit_test(test_repeatable_at_any_size),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
