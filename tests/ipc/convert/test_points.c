/*
 * Tests the points of synthetic frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/ipc/convert/convert_case.h"

#define ROOM 4096

static struct convert_case made;
static struct stixel_point points[ROOM + 1];

static int64_t take(uint32_t of, uint32_t coordinates, float step, float range_max, uint64_t room)
{
	const struct stixel_points_options o = {of, coordinates, step, range_max};

	memset(points, 0x5a, sizeof(points));
	return stixel_points(&made.frame, &o, sizeof(o), points, room);
}

static int64_t obstacles(uint32_t coordinates, float step, float range_max)
{
	return take(STIXEL_POINTS_OF_OBSTACLES, coordinates, step, range_max, ROOM);
}

static int64_t ground(uint32_t coordinates, float step, float range_max)
{
	return take(STIXEL_POINTS_OF_GROUND, coordinates, step, range_max, ROOM);
}

static void assert_point(const struct stixel_point *p, float x, float y, float z, unsigned part, unsigned id)
{
	assert_true(p->x == x && p->y == y && p->z == z);
	assert_int_equal(p->part, part);
	assert_int_equal(p->id, id);
}

/* Puts a box of 1 m with label 7 into column 64, 10 m ahead. Its middle is 2.5 px right of the axis. */
static void make_box(void)
{
	struct stixel *s;

	case_init(&made);
	case_ground(&made, 64, CASE_FOOT + 1);
	s = case_add(&made, 64, STIXEL_OBJECT, CASE_FOOT, CASE_FOOT - 49, 25);
	s->label = 7;
	s->confidence = 200;
	case_add(&made, 64, STIXEL_SKY, CASE_FOOT - 50, 0, 0);
}

static void test_foot_and_top(void **state)
{
	make_box();
	assert_int_equal(obstacles(STIXEL_COORDINATES_CAMERA, 0, 0), 2);
	assert_point(&points[0], 0.05f, 1.5f, 10, STIXEL_PART_FOOT, 1);
	assert_point(&points[1], 0.05f, 0.5f, 10, STIXEL_PART_TOP, 1);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(points[i].kind, STIXEL_OBJECT);
		assert_int_equal(points[i].label, 7);
		assert_int_equal(points[i].confidence, 200);
	}
	assert_int_equal(obstacles(STIXEL_COORDINATES_VEHICLE, 0, 0), 2);
	assert_point(&points[0], 10, -0.05f, 0, STIXEL_PART_FOOT, 1);
	assert_point(&points[1], 10, -0.05f, 1, STIXEL_PART_TOP, 1);
}

static void test_between(void **state)
{
	make_box();
	assert_int_equal(obstacles(STIXEL_COORDINATES_VEHICLE, 0.375f, 20), 4);
	assert_point(&points[0], 10, -0.05f, 0, STIXEL_PART_FOOT, 1);
	assert_point(&points[1], 10, -0.05f, 0.375f, STIXEL_PART_BETWEEN, 1);
	assert_point(&points[2], 10, -0.05f, 0.75f, STIXEL_PART_BETWEEN, 1);
	assert_point(&points[3], 10, -0.05f, 1, STIXEL_PART_TOP, 1);
	/* no point coincides with the top */
	assert_int_equal(obstacles(STIXEL_COORDINATES_VEHICLE, 0.5f, 20), 3);
	assert_int_equal(obstacles(STIXEL_COORDINATES_VEHICLE, 2, 20), 2);
}

static void test_range(void **state)
{
	make_box();
	assert_int_equal(obstacles(STIXEL_COORDINATES_CAMERA, 0, 10), 2);
	assert_int_equal(obstacles(STIXEL_COORDINATES_CAMERA, 0, 9.99f), 0);
	made.stixels[1].slope_q14 = 8192; /* leans towards the camera: 25 px in row 314, 50 px in row 264 */
	assert_int_equal(obstacles(STIXEL_COORDINATES_CAMERA, 0, 9.99f), 1);
	assert_int_equal(points[0].part, STIXEL_PART_TOP);
	made.stixels[1].slope_q14 = -16384; /* leans away from the camera and beyond infinity */
	assert_int_equal(obstacles(STIXEL_COORDINATES_CAMERA, 0.1f, 100), 1);
	assert_int_equal(points[0].part, STIXEL_PART_FOOT);
	made.stixels[1].slope_q14 = 0;
	made.stixels[1].disparity_q7 = 0;
	assert_int_equal(obstacles(STIXEL_COORDINATES_CAMERA, 0, 0), 0);
	made.stixels[1].disparity_q7 = STIXEL_DISPARITY_UNKNOWN;
	assert_int_equal(obstacles(STIXEL_COORDINATES_CAMERA, 0, 0), 0);
}

/*
 * Points come column by column, each from bottom to top, and never more than the caller's array has room for.
 */
static void test_order_and_room(void **state)
{
	case_init(&made);
	for (unsigned u = 0; u < CASE_COLUMNS; u++) {
		case_add(&made, u, STIXEL_OBJECT, 400, 300, 50);
		case_add(&made, u, STIXEL_UNKNOWN, 299, 200, 0);
		case_add(&made, u, STIXEL_OBJECT, 199, 100, 20);
	}
	assert_int_equal(obstacles(STIXEL_COORDINATES_CAMERA, 0, 0), 512);
	for (unsigned i = 0; i < 512; i++) {
		assert_int_equal(points[i].id, i / 4 * 3 + i % 4 / 2 * 2);
		assert_int_equal(points[i].part, i % 2 ? STIXEL_PART_TOP : STIXEL_PART_FOOT);
	}
	for (unsigned room = 0; room <= 512; room += 73) {
		assert_int_equal(take(STIXEL_POINTS_OF_OBSTACLES, STIXEL_COORDINATES_CAMERA, 0, 0, room),
				 512);
		assert_int_equal(points[room].part, 0x5a);
		if (room)
			assert_int_equal(points[room - 1].part <= STIXEL_PART_TOP, 1);
	}
}

/* In a frame flagged as blind, ground clears nothing, but obstacles stay. */
static void test_blind_frame(void **state)
{
	make_box();
	made.header.flags = STIXEL_FRAME_BLIND;
	assert_int_equal(ground(STIXEL_COORDINATES_VEHICLE, 0.5f, 12), 0);
	assert_int_equal(ground(STIXEL_COORDINATES_CAMERA, 0.5f, 12), 0);
	assert_int_equal(obstacles(STIXEL_COORDINATES_VEHICLE, 0, 0), 2);
}

static void test_ground(void **state)
{
	double row;

	case_init(&made);
	case_ground(&made, 10, 240); /* the lower edge sees ground 3.11 m ahead */
	case_add(&made, 10, STIXEL_SKY, 239, 0, 0);
	case_ground(&made, 20, CASE_FOOT + 1); /* ground up to 10 m */
	case_add(&made, 20, STIXEL_OBJECT, CASE_FOOT, 0, 25);
	/*
	 * expected distances: 3.5 .. 12 m, and 3.5 .. 9.5 or 10 m, because the rounded slope shifts the end
	 * slightly
	 */
	assert_in_range(ground(STIXEL_COORDINATES_VEHICLE, 0.5f, 12), 18 + 13, 18 + 14);
	for (unsigned i = 0; i < 18 + 13; i++) {
		const struct stixel_point *p = &points[i];
		const double x = 3.5 + 0.5 * (i < 18 ? i : i - 18), middle = i < 18 ? 52 : 102;

		assert_true(fabs((double)p->x - x) < 1e-6);
		assert_true(fabs((double)p->y - (319.5 - middle) / 500 * x) < 1e-5);
		assert_true(fabs((double)p->z) < 0.02);
		assert_int_equal(p->kind, STIXEL_GROUND);
		assert_int_equal(p->part, STIXEL_PART_GROUND);
		assert_int_equal(p->id, i < 18 ? 0 : 2);
	}
	assert_int_equal(ground(STIXEL_COORDINATES_CAMERA, 4, 4), 2);
	row = 479 - (62.5 - made.stixels[0].disparity_q7 / 128.0) / (made.stixels[0].slope_q14 / 16384.0);
	assert_point(&points[0], (float)((52 - 319.5) / 500 * 4), (float)((row - 239.5) / 500 * 4), 4,
		     STIXEL_PART_GROUND, 0);
	assert_int_equal(ground(STIXEL_COORDINATES_CAMERA, 1, 3), 0);
}

/* Ground that does not recede gives no points, nor does ground above the horizon. */
static void test_odd_ground(void **state)
{
	case_init(&made);
	case_ground(&made, 10, 240);
	made.stixels[0].slope_q14 = 0;
	assert_int_equal(ground(STIXEL_COORDINATES_CAMERA, 1, 20), 0);
	made.stixels[0].slope_q14 = 5461;
	assert_int_equal(ground(STIXEL_COORDINATES_CAMERA, 1, 20), 0);
	made.stixels[0].slope_q14 = -5461;
	made.stixels[0].disparity_q7 = 0;
	assert_int_equal(ground(STIXEL_COORDINATES_CAMERA, 1, 20), 0);
	made.stixels[0].disparity_q7 = STIXEL_DISPARITY_UNKNOWN;
	assert_int_equal(ground(STIXEL_COORDINATES_CAMERA, 1, 20), 0);
	case_init(&made);
	case_ground(&made, 10, 0); /* ground up to the top of the image, above the horizon */
	assert_int_equal(ground(STIXEL_COORDINATES_CAMERA, 1, 20), 17);
}

static void test_frames_without(void **state)
{
	make_box();
	made.header.road_origin = STIXEL_ROAD_NONE;
	assert_int_equal(obstacles(STIXEL_COORDINATES_VEHICLE, 0, 0), 0);
	assert_int_equal(obstacles(STIXEL_COORDINATES_CAMERA, 0, 0), 2);
	assert_int_equal(ground(STIXEL_COORDINATES_VEHICLE, 1, 10), 0);
	assert_in_range(ground(STIXEL_COORDINATES_CAMERA, 1, 10), 6, 7);
	made.header.fx = 0;
	assert_int_equal(obstacles(STIXEL_COORDINATES_CAMERA, 0, 0), 0);
	assert_int_equal(ground(STIXEL_COORDINATES_CAMERA, 1, 10), 0);
}

/* A point that does not fit a float is left out. */
static void test_only_finite_points(void **state)
{
	const double odd[] = {1e44, 1e300, -1e300, INFINITY, NAN};

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		for (uint32_t of = 0; of < 2; of++)
			for (uint32_t coordinates = 0; coordinates < 2; coordinates++) {
				make_box();
				made.header.cx = odd[i];
				assert_int_equal(take(of, coordinates, 1, 20, ROOM), 0);
			}
	make_box();
	made.header.height_m = 1e300;
	assert_int_equal(obstacles(STIXEL_COORDINATES_VEHICLE, 0, 0), 0);
	assert_int_equal(obstacles(STIXEL_COORDINATES_CAMERA, 0, 0), 2);
}

static void test_bad_options(void **state)
{
	const struct stixel_points_options bad[] = {
		{2, 0, 0, 0}, {0, 2, 0, 0},	   {0, 0, -1, 10}, {0, 0, 0.001f, 10},	{0, 0, NAN, 10},
		{0, 0, 1, 0}, {0, 0, 0, -1},	   {0, 0, 0, NAN}, {0, 0, 0, INFINITY}, {1, 0, 0, 10},
		{1, 0, 1, 0}, {1, 0, 1, INFINITY}, {1, 0, 1, NAN}, {1, 0, 0.01f, 660},	{1, 0, 0.001f, 10},
	};
	const struct stixel_points_options good = {0, 0, 0, 0};

	make_box();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(take(bad[i].of, bad[i].coordinates, bad[i].step, bad[i].range_max, ROOM),
				 -EINVAL);
	assert_int_equal(points[0].part, 0x5a);
	assert_int_equal(stixel_points(NULL, &good, sizeof(good), points, ROOM), -EINVAL);
	assert_int_equal(stixel_points(&made.frame, NULL, sizeof(good), points, ROOM), -EINVAL);
	assert_int_equal(stixel_points(&made.frame, &good, sizeof(good), NULL, ROOM), -EINVAL);
	assert_int_equal(stixel_points(&made.frame, &good, sizeof(good), NULL, 0), 2);
	assert_int_equal(stixel_points(&made.frame, &good, 0, NULL, 0), 2); /* all options are 0 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_foot_and_top), cmocka_unit_test(test_between),
		cmocka_unit_test(test_range),	     cmocka_unit_test(test_order_and_room),
		cmocka_unit_test(test_blind_frame),  cmocka_unit_test(test_ground),
		cmocka_unit_test(test_odd_ground),   cmocka_unit_test(test_frames_without),
		cmocka_unit_test(test_bad_options),  cmocka_unit_test(test_only_finite_points),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
