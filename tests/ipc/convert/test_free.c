/*
 * Tests how columns of synthetic frames are evaluated: how far a column is free, and which rays and points it
 * gives.
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

#include "tests/check.h"
#include "tests/ipc/convert/scan_case.h"

#define LOWEST_M 3.125 /* distance at which the lower edge of the image sees the road, m */

static struct stixel_free_column columns[CASE_COLUMNS];

/* Returns the free space of the column under test with the default options. */
static struct stixel_free_column said(struct scan *s)
{
	int end;
	double to;

	assert_int_equal(stixel_free_space(&s->c.frame, NULL, 0, columns, CASE_COLUMNS), CASE_COLUMNS);
	to = stixel_free_space_m(&s->c.frame, COLUMN, &end);
	assert_int_equal(end, columns[COLUMN].end);
	assert_true((float)to == columns[COLUMN].to_m);
	return columns[COLUMN];
}

/* Checks the free space of the column. stixel: expected index in the column from 0, or -1 for none. */
static void says(struct scan *s, uint32_t end, double to_m, int stixel)
{
	const struct stixel_free_column c = said(s);

	assert_int_equal(c.end, end);
	assert_true(fabs((double)c.to_m - to_m) <= 1e-5 * to_m);
	assert_int_equal(c.stixel, stixel < 0 ? UINT32_MAX : s->c.offsets[COLUMN] + (uint32_t)stixel);
}

/* Returns the distance of the ground at a row, m. */
static double ground_m(double row)
{
	return 250 / ((row - 239.5) / 3);
}

static void begin_with(struct scan *s, int bottom, int top, unsigned kind, double d)
{
	begin_column(s);
	if (bottom < 479)
		case_ground(&s->c, COLUMN, bottom + 1);
	case_add(&s->c, COLUMN, kind, bottom, top, d);
}

static void test_blind_zone(void **state)
{
	static struct scan s;
	float begins[ANGLES_MAX];

	begin_column(&s);
	case_open(&s.c, COLUMN);
	says(&s, STIXEL_FREE_GROUND, ground_m(240), -1);
	assert_float_equal(columns[COLUMN].from_m, LOWEST_M, 1e-6);
	/* a mask at the bottom makes the blind zone longer, and so do bottom rows without a stixel */
	for (int without = 0; without < 2; without++) {
		begin_column(&s);
		if (!without)
			case_add(&s.c, COLUMN, STIXEL_UNKNOWN, 479, 400, 0);
		case_add(&s.c, COLUMN, STIXEL_GROUND, 399, 240, 53);
		case_add(&s.c, COLUMN, STIXEL_SKY, 239, 0, 0);
		says(&s, STIXEL_FREE_GROUND, ground_m(240), -1);
		assert_float_equal(columns[COLUMN].from_m, ground_m(399.5), 1e-4);
		assert_true(isnan(middle(&s)));
		s.o.range_min = 4.7f; /* the scan does not cover anything nearer than that */
		assert_true(middle(&s) == INFINITY);
		assert_int_equal(stixel_scan_seen(&s.c.frame, &s.o, sizeof(s.o), s.ranges, begins), 1);
		assert_float_equal(begins[looks_through(&s, 322)], ground_m(399.5), 0.01);
		assert_float_equal(begins[looks_through(&s, 332)], LOWEST_M, 0.01);
	}
	/* a small mask does not matter */
	begin_column(&s);
	case_add(&s.c, COLUMN, STIXEL_UNKNOWN, 479, 460, 0);
	case_add(&s.c, COLUMN, STIXEL_GROUND, 459, 240, 73);
	assert_true(middle(&s) == INFINITY);
}

/* Fills all columns from `first` on: a mask at the bottom up to edge(u), and open road above it. */
static void masked(struct scan *s, unsigned first, int (*edge)(unsigned u))
{
	for (unsigned u = first; u < CASE_COLUMNS; u++) {
		case_add(&s->c, u, STIXEL_UNKNOWN, 479, edge(u) + 1, 0);
		case_add(&s->c, u, STIXEL_GROUND, edge(u), 240, (edge(u) - 239.5) / 3);
		case_add(&s->c, u, STIXEL_SKY, 239, 0, 0);
	}
}

static int bars_edge(unsigned u)
{
	return u == COLUMN ? 334 : 399; /* a tape that hides twice as much, in one column */
}

static int bonnet_edge(unsigned u)
{
	const double across = (u - 63.5) / 63.5;

	return (int)(479 - 110 * (1 - 0.6 * across * across));
}

static unsigned open_rays(const struct scan *s)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < s->o.count; i++)
		n += s->ranges[i] == INFINITY;
	return n;
}

/*
 * A mask over the bottom of all columns makes the blind zone longer and changes nothing else, whatever stands
 * beyond it.
 */
static void test_masked_foot(void **state)
{
	float begins[ANGLES_MAX];
	static struct scan s;

	begin(&s);
	masked(&s, 0, bars_edge);
	assert_int_equal(stixel_scan_defaults(&s.c.frame, &s.o, sizeof(s.o)), 1);
	assert_float_equal(s.o.range_min, ground_m(399.5), 0.01);
	s.o.range_min = 1;
	assert_int_equal(run(&s), 1);
	assert_in_range(open_rays(&s), s.o.count - 2, s.o.count - 1);
	assert_true(isnan(s.ranges[looks_through(&s, 322)])); /* behind the tape */
	assert_int_equal(stixel_scan_seen(&s.c.frame, &s.o, sizeof(s.o), s.ranges, begins), 1);
	assert_float_equal(begins[looks_through(&s, 352)], ground_m(399.5), 0.02);
	begin(&s); /* a mask with a curved edge, and an obstacle nearer than the end of the mask */
	case_add(&s.c, 0, STIXEL_UNKNOWN, 479, 400, 0);
	case_add(&s.c, 0, STIXEL_OBJECT, 399, 0, 100);
	masked(&s, 1, bonnet_edge);
	assert_int_equal(stixel_scan_defaults(&s.c.frame, &s.o, sizeof(s.o)), 1);
	assert_true(s.o.range_min > 2.5f && s.o.range_min < 3.0f); /* the obstacle keeps its range */
	assert_int_equal(run(&s), 1);
	assert_in_range(open_rays(&s), s.o.count - 5, s.o.count - 1);
	assert_true(isfinite(s.ranges[s.o.count - 1]));
	begin(&s); /* the typical start of the ground is taken from columns that begin with ground */
	for (unsigned u = 0; u < CASE_COLUMNS; u++) {
		if (u == COLUMN || u == COLUMN + 1)
			case_open(&s.c, u);
		if (u > COLUMN + 1 && u < COLUMN + 12) { /* ground seen above an object does not count */
			case_add(&s.c, u, STIXEL_OBJECT, 479, 300, 100);
			case_add(&s.c, u, STIXEL_GROUND, 299, 240, 20);
		}
		if (u == COLUMN + 12)
			case_add(&s.c, u, STIXEL_GROUND, 299, 240, 20);
	}
	assert_int_equal(run(&s), 1);
	assert_true(s.ranges[looks_through(&s, 322)] == INFINITY);
	assert_true(isnan(s.ranges[looks_through(&s, 382)]));
}

/*
 * Above an unmeasured foot, ground that is first seen behind an obstacle makes nothing before the obstacle
 * free. A mask with noise looks like that: a low thing far away, and an obstacle nearer than it.
 */
static void test_ground_behind_the_obstacle(void **state)
{
	static struct scan s;

	begin_with(&s, 479, 300, STIXEL_UNKNOWN, 0);
	case_add(&s.c, COLUMN, STIXEL_GROUND, 299, 290, 0);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 289, 100, 40);
	says(&s, STIXEL_FREE_UNSEEN, 0, 0);
	assert_true(isnan(said(&s).from_m));
	assert_ahead(&s, middle(&s), 6.25); /* the obstacle keeps its range */

	begin_with(&s, 479, 300, STIXEL_UNKNOWN, 0); /* an obstacle behind that ground */
	case_add(&s.c, COLUMN, STIXEL_GROUND, 299, 270, 0);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 269, 100, 10);
	says(&s, STIXEL_FREE_OBJECT, 25, 2);

	begin_with(&s, 479, 290, STIXEL_GROUND, 0); /* an obstacle in the ordinary blind zone */
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 289, 100, 130);
	says(&s, STIXEL_FREE_OBJECT, 250.0 / 130, 1);
}

/*
 * By default range_min is the shortest distance at which the frame shows anything. No range may be shorter.
 */
static void test_usual_range_min(void **state)
{
	static struct scan s;

	begin(&s);
	case_open_to(&s.c, 0, CASE_COLUMNS);
	assert_int_equal(stixel_scan_defaults(&s.c.frame, &s.o, sizeof(s.o)), 1);
	assert_float_equal(s.o.range_min, LOWEST_M, 0.001);
	begin_with(&s, 479, 0, STIXEL_OBJECT, 100); /* the foot of the object is below the image */
	case_open_to(&s.c, COLUMN + 1, CASE_COLUMNS);
	assert_int_equal(stixel_scan_defaults(&s.c.frame, &s.o, sizeof(s.o)), 1);
	assert_float_equal(s.o.range_min, 2.5, 0.001);
	assert_int_equal(run(&s), 1);
	assert_ahead(&s, s.ranges[looks_through(&s, 322)], 2.5);
	says(&s, STIXEL_FREE_OBJECT, 2.5, 0);
	assert_true(isnan(columns[COLUMN].from_m));
	begin(&s); /* if nothing is seen, the search range alone sets range_min */
	assert_int_equal(stixel_scan_defaults(&s.c.frame, &s.o, sizeof(s.o)), 1);
	assert_true(s.o.range_min == 2.0f);
}

/* A chair: its seat is nearer than the wall that is visible below it. The seat must count. */
static void test_nearest_object(void **state)
{
	static struct scan s;
	struct stixel_free_options o;

	begin_with(&s, 276, 231, STIXEL_OBJECT, 12.5);
	says(&s, STIXEL_FREE_OBJECT, 20, 1);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 230, 0, 25);
	says(&s, STIXEL_FREE_OBJECT, 10, 2);
	assert_ahead(&s, middle(&s), 10);
	/* above free floor */
	begin_with(&s, 230, 200, STIXEL_OBJECT, 25);
	s.c.stixels[s.c.offsets[COLUMN]].row_top = 240;
	case_add(&s.c, COLUMN, STIXEL_SKY, 199, 0, 0);
	says(&s, STIXEL_FREE_OBJECT, 10, 1);
	assert_float_equal(columns[COLUMN].from_m, LOWEST_M, 1e-6);
	/*
	 * the object does not count for a vehicle lower than its bottom edge at 1.68 m, nor for one that
	 * drives over 2.5 m
	 */
	assert_int_equal(stixel_free_defaults(&s.c.frame, &o, sizeof(o)), 0);
	o.height_max = 1.6f;
	stixel_free_space(&s.c.frame, &o, sizeof(o), columns, CASE_COLUMNS);
	assert_int_equal(columns[COLUMN].end, STIXEL_FREE_GROUND);
	o.height_min = 2.5f;
	o.height_max = 3;
	stixel_free_space(&s.c.frame, &o, sizeof(o), columns, CASE_COLUMNS);
	assert_int_equal(columns[COLUMN].end, STIXEL_FREE_GROUND);
}

/* A covered lens in frames of engines before 1.6: one object, infinitely far away, from bottom to top. */
static void test_covered_camera(void **state)
{
	static const struct stixel_points_options points = {0};
	static struct scan s;

	begin_with(&s, 479, 0, STIXEL_OBJECT, 0);
	says(&s, STIXEL_FREE_UNSEEN, 0, 0);
	assert_true(isnan(middle(&s)));
	begin_with(&s, 479, 0, STIXEL_OBJECT, 0.5);
	assert_true(isnan(middle(&s)));
	assert_int_equal(stixel_points(&s.c.frame, &points, sizeof(points), NULL, 0), 0);
	/* a lens that is covered in part */
	begin_with(&s, 399, 0, STIXEL_OBJECT, 0);
	says(&s, STIXEL_FREE_UNSEEN, ground_m(400), 1);
	assert_true(isnan(middle(&s)));
	begin_with(&s, 399, 0, STIXEL_SKY, 0);
	says(&s, STIXEL_FREE_UNSEEN, ground_m(400), 1);
	assert_true(isnan(middle(&s)));
	/* a distant object stays distant, even if it is smeared over a few rows of ground */
	for (unsigned kind = STIXEL_OBJECT; kind <= STIXEL_SKY; kind++) {
		begin_with(&s, 246, 0, kind, 0);
		says(&s, STIXEL_FREE_GROUND, ground_m(247), -1);
		assert_true(middle(&s) == INFINITY);
	}
}

/* An object 0.9 m below the road, 10 m ahead: a drop. The ground ends nearer, at 6.2 m. */
static void test_drop(void **state)
{
	static const struct stixel_points_options of = {.coordinates = STIXEL_COORDINATES_VEHICLE};
	struct stixel_point points[2];
	static struct scan s;

	begin_with(&s, 359, 0, STIXEL_OBJECT, 25);
	says(&s, STIXEL_FREE_DROP, ground_m(360), 1);
	assert_float_equal(middle(&s), ground_m(360), 0.02);
	assert_int_equal(stixel_scan(&s.c.frame, &s.o, offsetof(struct stixel_scan_options, drop), s.ranges),
			 1); /* a program built before the option for drops */
	assert_float_equal(s.ranges[looks_through(&s, 322)], ground_m(360), 0.02);
	s.o.drop = STIXEL_SCAN_AS_UNSEEN;
	assert_true(isnan(middle(&s)));
	s.o.drop = STIXEL_SCAN_AS_FREE;
	assert_ahead(&s, middle(&s), 10);
	/* points begin where the object is above the road */
	assert_int_equal(stixel_points(&s.c.frame, &of, sizeof(of), points, 2), 2);
	assert_float_equal(points[0].z, 0, 1e-6);
	assert_true(points[0].part == STIXEL_PART_FOOT && points[1].z > 1);
	s.c.stixels[s.c.header.stixel_count - 1].row_bottom = 359;
	s.c.stixels[s.c.offsets[COLUMN] + 1].row_top = 315;
	assert_int_equal(stixel_points(&s.c.frame, &of, sizeof(of), points, 2), 0);
	/* an object that ends nearer than the drop does not count for it, but a nearer obstacle does */
	begin_with(&s, 359, 200, STIXEL_OBJECT, 25);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 199, 0, 50);
	says(&s, STIXEL_FREE_OBJECT, 5, 2);
}

/* Adds ground up to row 400, and ground above it whose surface is `step` px nearer than the road. */
static void begin_with_step(struct scan *s, double step, unsigned support)
{
	const int edge = 400;

	begin_column(s);
	case_add(&s->c, COLUMN, STIXEL_GROUND, 479, edge, (479 - 239.5) / 3)->support = 20;
	case_add(&s->c, COLUMN, STIXEL_GROUND, edge - 1, 240, (edge - 1 - 239.5) / 3 + step)->support =
		(uint16_t)support;
	case_add(&s->c, COLUMN, STIXEL_SKY, 239, 0, 0);
}

/* A kerb and a step down that the daemon published as ground. The vehicle climbs 0.15 m. */
static void test_steps_of_ground(void **state)
{
	static struct scan s;

	begin_with_step(&s, 5, 20); /* 0.14 m */
	assert_true(said(&s).end == STIXEL_FREE_OBJECT && said(&s).stixel == s.c.offsets[COLUMN] + 1);
	assert_float_equal(said(&s).to_m, ground_m(399), 0.001);
	assert_float_equal(middle(&s), ground_m(399), 0.05);
	begin_with_step(&s, 3.5, 20); /* 0.1 m */
	says(&s, STIXEL_FREE_GROUND, ground_m(240), -1);
	begin_with_step(&s, 5, 2); /* hardly measured */
	says(&s, STIXEL_FREE_GROUND, ground_m(240), -1);
	begin_with_step(&s, -6, 20); /* 0.2 m */
	says(&s, STIXEL_FREE_DROP, ground_m(400), 1);
	s.o.drop = STIXEL_SCAN_AS_FREE;
	assert_true(middle(&s) == INFINITY);
	begin_with_step(&s, -4, 20); /* 0.12 m */
	says(&s, STIXEL_FREE_GROUND, ground_m(240), -1);
	/* rows between both stixels that show no ground */
	begin_with_step(&s, 5, 20);
	s.c.stixels[s.c.offsets[COLUMN] + 1].row_bottom -= 4;
	says(&s, STIXEL_FREE_UNSEEN, ground_m(400), -1);
}

/*
 * How far below the road a foot may appear without being a drop: matching windows and cells smear it over the
 * ground.
 */
static void test_no_drop(void **state)
{
	static struct scan s;

	begin_with(&s, 320, 0, STIXEL_OBJECT, 25); /* 6 rows below the road */
	says(&s, STIXEL_FREE_OBJECT, 10, 1);
	assert_ahead(&s, middle(&s), 10);
	/* 6 rows below the road, although 1.3 times the distance */
	begin_with(&s, 265, 0, STIXEL_OBJECT, 6.5);
	says(&s, STIXEL_FREE_OBJECT, ground_m(265.5), 1);
	/* 17 rows below the road, but only 1.24 times the distance */
	begin_with(&s, 332, 0, STIXEL_OBJECT, 25);
	says(&s, STIXEL_FREE_OBJECT, ground_m(332.5), 1);
	/* a floor 14 m below the road is not a drop, nor is a low object without ground before it */
	begin_with(&s, 359, 0, STIXEL_OBJECT, 3.9);
	says(&s, STIXEL_FREE_UNSEEN, ground_m(360), 1);
	assert_true(isnan(middle(&s)));
	begin_with(&s, 479, 0, STIXEL_OBJECT, 25);
	says(&s, STIXEL_FREE_UNSEEN, 0, 0);
	assert_true(isnan(middle(&s)));
}

/*
 * A wall behind the edge of a drop: the lower floor before the wall has about its disparity, and both are one
 * object. It stands where its foot sees the road.
 */
static void test_foot_nearer_than_disparity(void **state)
{
	static struct scan s;

	begin_with(&s, 329, 0, STIXEL_OBJECT, 25); /* 1.2 times as far as its foot */
	says(&s, STIXEL_FREE_OBJECT, ground_m(329.5), 1);
	assert_float_equal(middle(&s), ground_m(329.5), 0.02);
	begin_with(&s, 317, 0, STIXEL_OBJECT, 25); /* 3 rows below the road are no evidence */
	says(&s, STIXEL_FREE_OBJECT, 10, 1);
	begin_with(&s, 379, 330, STIXEL_UNKNOWN, 0); /* the ground does not reach the object */
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 329, 0, 25);
	says(&s, STIXEL_FREE_UNSEEN, ground_m(380), 1);
	assert_ahead(&s, middle(&s), 10);
}

static void test_unknown(void **state)
{
	static struct scan s;

	begin_with(&s, 299, 0, STIXEL_UNKNOWN, 0);
	says(&s, STIXEL_FREE_UNSEEN, ground_m(300), 1);
	begin_with(&s, 299, 0, 9, 25); /* a kind that only newer publishers use */
	says(&s, STIXEL_FREE_UNSEEN, ground_m(300), 1);
	begin_with(&s, 239, 0, STIXEL_UNKNOWN, 0); /* unknown rows above the horizon do not matter */
	says(&s, STIXEL_FREE_GROUND, ground_m(240), -1);
	assert_true(middle(&s) == INFINITY);
	/* an object above the unknown rows stays in the scan, and nothing before it may be cleared */
	for (int foot = 0; foot < 2; foot++) {
		float begins[ANGLES_MAX];
		const int bottom = foot ? 479 : 379;

		begin_with(&s, bottom, 315, STIXEL_UNKNOWN, 0);
		case_add(&s.c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 0, 25);
		says(&s, STIXEL_FREE_UNSEEN, foot ? 0 : ground_m(380), foot ? 0 : 1);
		assert_ahead(&s, middle(&s), 10);
		assert_int_equal(stixel_scan_seen(&s.c.frame, &s.o, sizeof(s.o), s.ranges, begins), 1);
		assert_true(begins[looks_through(&s, 322)] == s.ranges[looks_through(&s, 322)]);
	}
	/* an object below the unknown rows ends the column */
	begin_with(&s, CASE_FOOT, 270, STIXEL_OBJECT, 25);
	case_add(&s.c, COLUMN, STIXEL_UNKNOWN, 269, 0, 0);
	says(&s, STIXEL_FREE_OBJECT, 10, 1);
	/* rows that are cut off count as unknown, too */
	begin_column(&s);
	case_ground(&s.c, COLUMN, 300);
	says(&s, STIXEL_FREE_UNSEEN, ground_m(300), -1);
	assert_true(isnan(middle(&s)));
}

/* An object that the vehicle can drive over counts as ground, at its own distance. */
static void test_low_object(void **state)
{
	static struct scan s;

	begin_with(&s, CASE_FOOT, 310, STIXEL_OBJECT, 25);
	case_add(&s.c, COLUMN, STIXEL_UNKNOWN, 309, 0, 0);
	says(&s, STIXEL_FREE_UNSEEN, 10, 2);
	begin_with(&s, CASE_FOOT, 310, STIXEL_OBJECT, 25);
	case_add(&s.c, COLUMN, STIXEL_GROUND, 309, 240, 23);
	says(&s, STIXEL_FREE_GROUND, ground_m(240), -1);
	assert_true(middle(&s) == INFINITY);
}

/* The publisher flags the images as bad: free directions become unknown, and the obstacle stays. */
static void test_blind_frame(void **state)
{
	static struct scan s;

	for (int blind = 0; blind < 2; blind++) {
		begin_with(&s, CASE_FOOT, 0, STIXEL_OBJECT, 25);
		case_open_to(&s.c, COLUMN + 1, CASE_COLUMNS);
		s.c.header.flags = blind ? STIXEL_FRAME_BLIND : 0;
		assert_int_equal(run(&s), 1);
		for (uint32_t i = 0; i < s.o.count; i++)
			if (fabs(319.5 - 500 * tan(angle(&s, i)) - 322) > 2.51)
				assert_true(blind ? isnan(s.ranges[i]) : isinf(s.ranges[i]));
		assert_ahead(&s, s.ranges[looks_through(&s, 322)], 10);
		assert_int_equal(said(&s).end, blind ? STIXEL_FREE_UNSEEN : STIXEL_FREE_OBJECT);
		for (uint32_t u = 0; u < CASE_COLUMNS; u++)
			assert_true(!blind || (columns[u].end == STIXEL_FREE_UNSEEN &&
					       columns[u].to_m == 0.0f && isnan(columns[u].from_m)));
	}
}

/* A camera that looks down and does not see the horizon: its view ends at the upper edge of the image. */
static void test_upper_edge(void **state)
{
	static struct scan s;

	begin(&s);
	s.c.header.pitch_rad = 0.6;
	s.c.header.road_slope = 0.5 / 1.5 * cos(0.6);
	s.c.header.road_offset = s.c.header.road_slope * (tan(0.6) * 500 - 239.5);
	for (unsigned u = 0; u < CASE_COLUMNS; u++)
		case_ground(&s.c, u, 3); /* cells of 4 rows leave some rows uncovered */
	assert_int_equal(stixel_scan_defaults(&s.c.frame, &s.o, sizeof(s.o)), 1);
	assert_true(s.o.range_max > 8.0f && s.o.range_max < 10.0f);
	assert_int_equal(run(&s), 1);
	assert_true(s.ranges[s.o.count / 2] == INFINITY);
	assert_int_equal(said(&s).end, STIXEL_FREE_GROUND);
	s.o.range_max = 12;
	assert_int_equal(run(&s), 1);
	assert_true(isnan(s.ranges[s.o.count / 2]));
}

/* In frames of publishers before 1.6 the camera's height determines the vehicle's heights. */
static void test_vehicle(void **state)
{
	static const struct {
		double camera, low, high;
	} usual[] = {{1.65, 0.15, 2}, {0.25, 0.15 * 0.25 / 1.65, 2}, {2.5, 0.15, 2.85}, {NAN, 0.15, 2}};
	struct stixel_frame_header h = {.header_bytes = 760, .vehicle_low_m = 1, .vehicle_high_m = 3};
	struct stixel_vehicle v;

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		h.height_m = usual[i].camera;
		v = stixel_vehicle_of(&h);
		assert_float_equal(v.low_m, usual[i].low, 1e-12);
		assert_float_equal(v.high_m, usual[i].high, 1e-12);
	}
	h.header_bytes = sizeof(h);
	v = stixel_vehicle_of(&h);
	assert_true(v.low_m == 1 && v.high_m == 3);
	h.vehicle_high_m = NAN; /* the library must accept any value in a frame */
	v = stixel_vehicle_of(&h);
	assert_true(v.low_m == 0.15 && v.high_m == 2);
}

static void test_frames_without(void **state)
{
	static struct scan s;

	for (int what = 0; what < 4; what++) {
		begin_with(&s, CASE_FOOT, 0, STIXEL_OBJECT, 25);
		case_open_to(&s.c, COLUMN + 1, CASE_COLUMNS);
		s.c.header.fx = what == 0 ? 0 : 500;
		s.c.header.road_origin = what == 1 ? STIXEL_ROAD_NONE : STIXEL_ROAD_MEASURED;
		s.c.header.height_m = what == 2 ? 0 : 1.5;
		s.c.header.road_slope = what == 3 ? NAN : 0.5 / 1.5;
		says(&s, STIXEL_FREE_UNSEEN, 0, -1);
	}
	begin(&s);
	case_add(&s.c, COLUMN, STIXEL_SKY, 200, 0, 0);
	says(&s, STIXEL_FREE_UNSEEN, 0, -1);
}

static void test_calls(void **state)
{
	struct stixel_free_options o = {.height_min = 2, .height_max = 1}, small;
	static struct scan s;
	int end;

	begin_with(&s, CASE_FOOT, 0, STIXEL_OBJECT, 25);
	assert_int_equal(stixel_free_space(&s.c.frame, &o, sizeof(o), columns, CASE_COLUMNS), -EINVAL);
	o.height_max = NAN;
	assert_int_equal(stixel_free_space(&s.c.frame, &o, sizeof(o), columns, CASE_COLUMNS), -EINVAL);
	assert_int_equal(stixel_free_space(NULL, NULL, 0, columns, 1), -EINVAL);
	assert_int_equal(stixel_free_space(&s.c.frame, NULL, 0, NULL, 1), -EINVAL);
	assert_int_equal(stixel_free_space(&s.c.frame, NULL, 0, NULL, 0), CASE_COLUMNS);
	assert_int_equal(stixel_free_defaults(NULL, &o, sizeof(o)), -EINVAL);
	assert_int_equal(stixel_free_defaults(&s.c.frame, NULL, sizeof(o)), -EINVAL);
	memset(&small, 77, sizeof(small));
	assert_int_equal(stixel_free_defaults(&s.c.frame, &small, 4), 0);
	assert_float_equal(small.height_min, 0.15 * 1.5 / 1.65, 1e-6);
	assert_int_equal(*(unsigned char *)&small.height_max, 77);
	memset(columns, 77, sizeof(columns));
	assert_int_equal(stixel_free_space(&s.c.frame, NULL, 0, columns, COLUMN), CASE_COLUMNS);
	assert_int_equal(columns[COLUMN].end, 0x4d4d4d4d);
	assert_true(stixel_free_space_m(&s.c.frame, CASE_COLUMNS, &end) == 0.0);
	assert_int_equal(end, STIXEL_FREE_UNSEEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blind_zone),
		cmocka_unit_test(test_masked_foot),
		cmocka_unit_test(test_ground_behind_the_obstacle),
		cmocka_unit_test(test_usual_range_min),
		cmocka_unit_test(test_nearest_object),
		cmocka_unit_test(test_covered_camera),
		cmocka_unit_test(test_drop),
		cmocka_unit_test(test_steps_of_ground),
		cmocka_unit_test(test_no_drop),
		cmocka_unit_test(test_foot_nearer_than_disparity),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_low_object),
		cmocka_unit_test(test_blind_frame),
		cmocka_unit_test(test_upper_edge),
		cmocka_unit_test(test_vehicle),
		cmocka_unit_test(test_frames_without),
		cmocka_unit_test(test_calls),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
