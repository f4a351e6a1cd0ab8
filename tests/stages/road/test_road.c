/*
 * Road estimation: known planes with outliers, objects beside and on the road, surfaces that must not be
 * taken for a road, the order of fallbacks.
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

#include "stages/road/road_ground.h"
#include "tests/emulated.h"
#include "tests/stages/road/road_world.h"

static void test_planes_with_outliers(void **state)
{
	uint64_t seed = 1;

	for (double height = 0.8; height < 2.6; height += 0.4)
		for (double pitch = -6; pitch <= 12; pitch += 3)
			for (double roll = -5; roll <= 5; roll += 2.5) {
				const struct sx_params p = params(height, pitch, 0.5);

				check_plane(&p, roll, seed++);
			}
}

/* fx and fy differ, and the plane's slopes follow. The axis is not in the middle of the image. */
static void test_other_cameras(void **state)
{
	struct sx_params p = params(1.5, 4, 0.5);
	struct sx_road road;

	p.camera.fy = 360;
	check_plane(&p, 0, 77);
	check_plane(&p, -4, 78);
	p.camera.cx = 110;
	p.camera.cy = 100;
	check_plane(&p, 4, 79);
	/* a point 1.5 m below the camera and 10 m ahead, by projection; pitch 0 keeps it simple */
	p.camera.pitch_deg = 0;
	sx_road_calibrated(&p.camera, &road);
	assert_true(fabs(road.slope * (p.camera.cy + 360 * 1.5 / 10) + road.offset - 300 * 0.5 / 10) < 1e-9);
	assert_true(fabs(road.horizon_row - p.camera.cy) < 1e-9);
	assert_true(fabs(road.height_m - 1.5) < 1e-9);
	assert_true(road.cross == 0 && road.roll_rad == 0 && road.axis == 110);
}

/* ---- parked cars: boxes on both sides, their sides along the road ---- */

struct box {
	double low[3], high[3];
};

/* Returns 1 / distance ahead of the point where the ray enters the box, or 0 if it misses the box. */
static double box_at(const struct box *b, const double ray[3])
{
	double enter = 0, leave = INFINITY;

	for (int k = 0; k < 3; k++) {
		const double t0 = b->low[k] / ray[k], t1 = b->high[k] / ray[k];

		if (ray[k] == 0 && (b->low[k] > 0 || b->high[k] < 0))
			return 0;
		if (ray[k] == 0)
			continue;
		enter = fmax(enter, fmin(t0, t1));
		leave = fmin(leave, fmax(t0, t1));
	}
	return enter > 0 && enter <= leave ? 1 / enter : 0;
}

/*
 * Draws cars of 4 m with gaps between them, and one car ahead on the road. `free_m`: from the axis to the
 * cars.
 */
static void draw_street(const struct world *w, double free_m, double gap_m, struct sx_image *d,
			struct check_rng *r)
{
	const double top = w->c.height_m - 1.5;

	for (int y = 0; y < d->height; y++)
		for (int x = 0; x < d->width; x++) {
			double ray[3], near;

			ray_of(w, x, y, ray);
			near = plane_at(w, ray);
			for (int i = 0; i < 2 * 6; i++) {
				const double side = i % 2 ? free_m : -free_m - 1.8;
				const double z = 3 + i / 2 * (4 + gap_m) + (i % 2 ? 1 : 0);
				const struct box car = {{side, top, z}, {side + 1.8, 9, z + 4}};

				near = fmax(near, box_at(&car, ray));
			}
			near = fmax(near, box_at(&(struct box){{-0.9, top, 18}, {0.9, 9, 22}}, ray));
			((uint16_t *)sx_image_row(d, y))[x] = pixel(w, near, r);
		}
}

static void test_parked_cars(void **state)
{
	static const struct limits most = {0.2, 0.01};
	struct check_rng r = check_rng_seed(5);
	struct sx_image d;

	assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, W, H), 0);
	for (int i = 0; i < ENOUGH_OF(60); i++) {
		const struct sx_params p = params(1.2 + 0.2 * (i % 3), i % 4, 0.5);
		struct world w = world_of(&p.camera, i % 5 - 2);
		struct sx_road got;

		w.outlier_percent = 5;
		draw_street(&w, 1.2 + 0.2 * (i / 3 % 4), i % 2 ? 1 : 3, &d, &r);
		got = find(&p, &d, NULL);
		check_world(&w, &got, &most, "cars");
	}
	sx_image_finish(&d);
}

/* A platform fills more of the corridor than the road. A surface with something below it is not a road. */
static void test_platform(void **state)
{
	static const struct limits most = {0.5, 0.01};
	const struct sx_params p = params(2, 0, 0.5);
	struct world w = world_of(&p.camera, 0);
	struct check_rng r = check_rng_seed(6);
	struct sx_image d;

	w.outlier_percent = 0;
	assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, W, H), 0);
	for (int i = 0; i < 8; i++) {
		const struct box platform = {{-9, 1.2, 0}, {0.05 * i, 9, 60}};
		struct sx_road got;

		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++) {
				double ray[3];

				ray_of(&w, x, y, ray);
				((uint16_t *)sx_image_row(&d, y))[x] =
					pixel(&w, fmax(plane_at(&w, ray), box_at(&platform, ray)), &r);
			}
		got = find(&p, &d, NULL);
		check_world(&w, &got, &most, "platform");
	}
	sx_image_finish(&d);
}

/* ---- ground of rows and columns ---- */

/* Draws the flat world up to z ahead, then a road of that grade. Pitch and roll are 0. */
static void draw_hill(const struct world *w, double z, double grade, struct sx_image *d, struct check_rng *r)
{
	for (int y = 0; y < d->height; y++)
		for (int x = 0; x < d->width; x++) {
			double ray[3], near;

			ray_of(w, x, y, ray);
			near = ray[1] / w->c.height_m;
			if (near < 1 / z) /* height - grade (Z - z) = ray Z */
				near = (ray[1] + grade) / (w->c.height_m + grade * z);
			((uint16_t *)sx_image_row(d, y))[x] = pixel(w, near > 0 ? near : 0, r);
		}
}

static void check_hill(double z, double grade, bool bends, uint64_t seed)
{
	struct sx_params p = params(1.5, 0, 0.9);
	struct check_rng r = check_rng_seed(seed);
	struct sx_image d;
	struct sx_road road;
	struct world w;
	double worst = 0;

	p.camera.fx = p.camera.fy = 400;
	w = world_of(&p.camera, 0);
	w.outlier_percent = 10;
	assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, W, H), 0);
	draw_hill(&w, z, grade, &d, &r);
	road = find(&p, &d, NULL);
	assert_int_equal(road.origin, SX_ROAD_MEASURED);
	/* rows from the nearest one to the row where the road is above the horizon or 60 m ahead */
	for (int y = H - 1; y >= 0; y--) {
		const double ray = (y - p.camera.cy) / p.camera.fy, flat = ray / 1.5;
		const double near = flat >= 1 / z ? flat : (ray + grade) / (1.5 + grade * z);
		const double off = fabs(sx_road_row_q4(&road, y) / 16 - 360 * near);

		if (near > 1 / 60.0 && off > worst)
			worst = off;
	}
	if (bends != (road.bend != 0) || (bends && (road.bend > 0) != (grade > 0)) || worst > 0.75)
		fail_msg("%g m ahead %g %%: bend %g from row %g, %g px off", z, 100 * grade, road.bend,
			 road.bend_row, worst);
	sx_image_finish(&d);
}

/* Hills are followed. A flat road gets no hill. */
static void test_hills(void **state)
{
	uint64_t seed = 60;

	for (double z = 14; z < 30; z += 5)
		for (int percent = 6; percent <= 10; percent += 2)
			check_hill(z, percent / 100.0, true, seed++);
	check_hill(16, -0.04, true, seed++);
	for (int i = 0; i < 10; i++)
		check_hill(20, 0, false, seed++);
}

/* Computes the ground of a column on the axis. */
static int ground_of(const struct sx_road *road, int height, int32_t *ground_q4)
{
	sx_road_ground(road, height, ground_q4);
	return sx_road_column_ground(ground_q4, height, 0, ground_q4);
}

static void test_ground_of_rows(void **state)
{
	struct sx_road road = {.slope = 0.25, .offset = -10};
	int32_t g[100];

	/* ground > 0 from y = 41: 59 rows; row 40 has 0 and is not ground */
	assert_int_equal(ground_of(&road, 100, g), 59);
	assert_int_equal(g[0], 16 * 99 / 4 - 160);
	assert_int_equal(g[58], 4);
	assert_int_equal(g[59], 0);
	assert_int_equal(g[60], -4);
	road.offset = 5;
	assert_int_equal(ground_of(&road, 100, g), 100);
	road.offset = -1000;
	assert_int_equal(ground_of(&road, 100, g), 0);
	road = (struct sx_road){.slope = 1e200, .offset = -1e200};
	sx_road_ground(&road, 100, g);
	assert_int_equal(g[0], SX_GROUND_MAX_Q4);
	road = (struct sx_road){0};
	assert_int_equal(ground_of(&road, 100, g), 0);
	/* ties are rounded to the even number */
	road = (struct sx_road){.slope = 1 / 32.0, .offset = 0};
	sx_road_ground(&road, 8, g);
	assert_int_equal(g[7 - 1], 0);
	assert_int_equal(g[7 - 3], 2);
	assert_int_equal(g[7 - 5], 2);
}

static void test_shift_of_columns(void **state)
{
	/* centres of columns of 5 px: 2, 7, 12; of columns of 4 px: 1.5, 5.5 */
	assert_int_equal(sx_road_shift_q4(0.25, 2, 0, 5), 0);
	assert_int_equal(sx_road_shift_q4(0.25, 2, 1, 5), 20);
	assert_int_equal(sx_road_shift_q4(0.25, 2, 2, 5), 40);
	assert_int_equal(sx_road_shift_q4(-0.25, 2, 2, 5), -40);
	assert_int_equal(sx_road_shift_q4(0.25, 12, 0, 5), -40);
	assert_int_equal(sx_road_shift_q4(0.25, 0, 0, 4), 6);
	assert_int_equal(sx_road_shift_q4(0.25, 0, 1, 4), 22);
	assert_int_equal(sx_road_shift_q4(0.25, 0, 3, 1), 12);
	assert_int_equal(sx_road_shift_q4(0, 1e300, 7, 32), 0);
	/* ties are rounded to the even number */
	assert_int_equal(sx_road_shift_q4(1 / 32.0, 0, 1, 1), 0);
	assert_int_equal(sx_road_shift_q4(1 / 32.0, 0, 3, 1), 2);
	assert_int_equal(sx_road_shift_q4(1 / 32.0, 0, 5, 1), 2);
	/* limited to the bounds for any road */
	assert_int_equal(sx_road_shift_q4(1, 0, 1000, 1), SX_ROAD_SHIFT_MAX_Q4);
	assert_int_equal(sx_road_shift_q4(-1, 0, 1000, 1), -SX_ROAD_SHIFT_MAX_Q4);
	assert_int_equal(sx_road_shift_q4(1e300, -1e300, 1, 1), SX_ROAD_SHIFT_MAX_Q4);
	assert_int_equal(sx_road_shift_q4(1e300, 1e300, 1, 1), -SX_ROAD_SHIFT_MAX_Q4);
}

/* ---- fallbacks ---- */

static void test_order_of_fallbacks(void **state)
{
	struct sx_params p = params(1.5, 4, 0.5);
	const struct world w = world_of(&p.camera, 0);
	const struct sx_road measured = {.slope = 0.5,
					 .offset = -70,
					 .cross = 0.01,
					 .axis = 3,
					 .roll_sigma_rad = 0.001,
					 .origin = SX_ROAD_MEASURED};
	struct check_rng r = check_rng_seed(9);
	struct sx_road_finder *f;
	struct sx_road previous, road;
	struct sx_image d;

	p.camera.roll_deg = 3;
	p.road.max_age = 3;
	assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, W, H), 0);
	assert_int_equal(sx_road_finder_create(&f, &p, W, H, RANGE), 0);
	assert_true(sx_road_finder_bytes(f) > 0);
	memset(d.data, 0xff, d.pitch * (size_t)d.height);
	sx_road_find(f, &d, NULL, &road);
	assert_int_equal(road.origin, SX_ROAD_FROM_CALIBRATION);
	assert_true(fabs(road.pitch_rad - 4 * RADIANS) < 1e-12);
	assert_true(fabs(road.roll_rad - 3 * RADIANS) < 1e-12);
	previous = measured;
	for (uint32_t age = 1; age <= 3; age++) {
		sx_road_find(f, &d, &previous, &road);
		assert_int_equal(road.origin, SX_ROAD_PREVIOUS);
		assert_int_equal(road.age, age);
		assert_true(road.slope == 0.5 && road.cross == 0.01 && road.axis == 3);
		assert_true(road.roll_sigma_rad == 0.001); /* sigma as measured before */
		previous = road;
	}
	sx_road_find(f, &d, &previous, &road);
	assert_int_equal(road.origin, SX_ROAD_FROM_CALIBRATION);
	previous = road; /* a calibrated road does not count as a found road */
	sx_road_find(f, &d, &previous, &road);
	assert_int_equal(road.origin, SX_ROAD_FROM_CALIBRATION);
	draw_plane(&w, &d, &r);
	sx_road_find(f, &d, &measured, &road);
	assert_int_equal(road.origin, SX_ROAD_MEASURED);
	assert_true(road.slope != 0.5);
	sx_road_finder_destroy(f);
	p.road.mode = SX_ROAD_CALIBRATED;
	assert_int_equal(find(&p, &d, &measured).origin, SX_ROAD_FROM_CALIBRATION);
	p.road.mode = SX_ROAD_PLANE;
	p.camera.fx = p.camera.fy = p.camera.baseline_m = 0;
	assert_int_equal(find(&p, &d, NULL).origin, SX_ROAD_NONE);
	sx_image_finish(&d);
	assert_int_equal(sx_road_finder_create(&f, &p, 0, H, RANGE), -EINVAL);
	assert_int_equal(sx_road_finder_create(&f, &p, W, 65536, RANGE), -EINVAL);
	assert_int_equal(sx_road_finder_create(&f, &p, W, H, 0), -EINVAL);
	sx_road_finder_destroy(NULL);
}

/* ---- surfaces that are not a road ---- */

/* Checks a map of another camera's road: no plane may be found. */
static void check_no_plane(const char *what, double height_m, double pitch_deg, double roll_deg,
			   uint64_t seed)
{
	const struct sx_params p = params(1.5, 0, 0.5), other = params(height_m, pitch_deg, 0.5);
	struct world w = world_of(&other.camera, roll_deg);
	struct check_rng r = check_rng_seed(seed);
	struct sx_road road;
	struct sx_image d;

	assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, W, H), 0);
	w.outlier_percent = seed % 2 ? 30 : 0;
	draw_plane(&w, &d, &r);
	road = find(&p, &d, NULL);
	if (road.origin != SX_ROAD_FROM_CALIBRATION)
		fail_msg("%s: height %g pitch %g roll %g from %u", what, road.height_m,
			 road.pitch_rad / RADIANS, road.roll_rad / RADIANS, road.inliers);
	sx_image_finish(&d);
}

static void test_roads_of_other_cameras(void **state)
{
	for (uint64_t seed = 1; seed <= ENOUGH_OF(20); seed++) {
		check_no_plane("too high", 4.5, 0, 0, seed);
		check_no_plane("too low", 0.3, 0, 0, seed);
		check_no_plane("leans to the left", 1.5, 0, -12, seed);
		check_no_plane("leans to the right", 1.5, 0, 12, seed);
		check_no_plane("looks down", 1.5, 60, 0, seed);
	}
}

static void fill_pixel(struct sx_image *d, int kind, int x, int y, struct check_rng *r)
{
	const int noise = check_below(r, 17) - 8;
	const int q4[] = {
		20 * 16 + noise,				 /* a wall across the view, */
		60 * 16 + noise,				 /* a near wall, */
		0,						 /* the sky, */
		check_below(r, 16 * RANGE),			 /* noise, */
		abs(x - W / 2) * 150 * 16 / 300 / 2 * 2 + noise, /* walls of a corridor, */
		(40 - y / 8) * 16 + noise,			 /* an overhanging object */
	};

	((uint16_t *)sx_image_row(d, y))[x] = (uint16_t)(q4[kind] < 0 ? 0 : q4[kind]);
}

static void test_what_is_not_a_road(void **state)
{
	static const char *const names[] = {"wall", "near wall", "sky", "noise", "corridor", "overhang"};
	const struct sx_params p = params(1.5, 0, 0.5);
	struct check_rng r = check_rng_seed(4);
	struct sx_image d;

	assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, W, H), 0);
	for (int i = 0; i < 6 * 8; i++) {
		struct sx_road road;

		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++)
				fill_pixel(&d, i % 6, x, y, &r);
		road = find(&p, &d, NULL);
		if (road.origin != SX_ROAD_FROM_CALIBRATION)
			fail_msg("%s: slope %g offset %g cross %g height %g from %u", names[i % 6],
				 road.slope, road.offset, road.cross, road.height_m, road.inliers);
	}
	sx_image_finish(&d);
}

/* ---- sizes ---- */

static bool same(const struct sx_road *a, const struct sx_road *b)
{
	return a->slope == b->slope && a->offset == b->offset && a->cross == b->cross && a->axis == b->axis &&
	       a->horizon_row == b->horizon_row && a->pitch_rad == b->pitch_rad &&
	       a->roll_rad == b->roll_rad && a->height_m == b->height_m && a->inliers == b->inliers &&
	       a->age == b->age && a->origin == b->origin && a->bend == b->bend &&
	       a->bend_row == b->bend_row && a->pitch_sigma_rad == b->pitch_sigma_rad &&
	       a->roll_sigma_rad == b->roll_sigma_rad && a->height_sigma_m == b->height_sigma_m;
}

/* The axis may lie outside of the image, to either side: the image is a part of a larger one. */
static void test_axis_outside(void **state)
{
	const struct limits most = {0.5, 0.02};

	for (int side = 0; side < 2; side++) {
		struct sx_params p = params(1.5, 2, 0.5);
		struct check_rng r = check_rng_seed(70);
		struct sx_road road;
		struct sx_image d;
		struct world w;

		p.camera.cx = side ? W + 20 : -20;
		w = world_of(&p.camera, 2);
		assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, W, H), 0);
		draw_plane(&w, &d, &r);
		road = find(&p, &d, NULL);
		check_world(&w, &road, &most, side ? "axis to the right" : "axis to the left");
		assert_true(road.bend == 0);
		sx_image_finish(&d);
	}
}

/*
 * The same map gives the same result, whatever the context computed before. No size and content causes a
 * stray access (ASan).
 */
static void test_repeatable_at_any_size(void **state)
{
	static const int sizes[][3] = {{32, 32, 32},	  {33, 2160, 384}, {4096, 40, 128}, {101, 67, 64},
				       {3840, 2160, 384}, {1, 1, 1},	   {7, 90, 4096}};
	struct check_rng r = check_rng_seed(8);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct sx_params p = stixel_case_params(sizes[i][1]);
		struct sx_road_finder *f;
		struct sx_road a, b, other;
		struct sx_image map, noise;
		struct world w;

		p.camera.cx = sizes[i][0] / 2.0;
		p.road.top = (int)i * 15;
		w = world_of(&p.camera, 3);
		w.range = sizes[i][2];
		assert_int_equal(sx_image_init(&map, SX_PIXEL_U16, sizes[i][0], sizes[i][1]), 0);
		assert_int_equal(sx_image_init(&noise, SX_PIXEL_U16, sizes[i][0], sizes[i][1]), 0);
		assert_int_equal(sx_road_finder_create(&f, &p, sizes[i][0], sizes[i][1], sizes[i][2]), 0);
		draw_plane(&w, &map, &r);
		check_fill(&noise, CHECK_NOISE, &r);
		sx_road_find(f, &map, NULL, &a);
		sx_road_find(f, &noise, NULL, &other);
		sx_road_find(f, &map, NULL, &b);
		assert_true(same(&a, &b));
		assert_int_equal(a.origin, i == 1 || i == 4 ? SX_ROAD_MEASURED : a.origin);
		sx_road_finder_destroy(f);
		sx_image_finish(&map);
		sx_image_finish(&noise);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_planes_with_outliers),
		cmocka_unit_test(test_other_cameras),
		cmocka_unit_test(test_parked_cars),
		cmocka_unit_test(test_platform),
		cmocka_unit_test(test_ground_of_rows),
		cmocka_unit_test(test_shift_of_columns),
		cmocka_unit_test(test_order_of_fallbacks),
		cmocka_unit_test(test_roads_of_other_cameras),
		cmocka_unit_test(test_what_is_not_a_road),
		cmocka_unit_test(test_repeatable_at_any_size),
		cmocka_unit_test(test_hills),
		cmocka_unit_test(test_axis_outside),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
