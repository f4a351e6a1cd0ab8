/*
 * Tests scans of synthetic frames: the range at each angle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ipc/client/geometry.h"
#include "tests/check.h"
#include "tests/ipc/convert/scan_case.h"

static float many[65536]; /* room for the largest number of angles that the default options give */

static void test_usual_options(void **state)
{
	static struct scan s;
	double left, narrowest, gap;

	begin(&s);
	left = atan(320 / 500.0);
	narrowest = left - atan(315 / 500.0);
	gap = 2 * left / s.o.count;
	assert_true(gap <= narrowest && gap > narrowest * 0.99);
	assert_true(fabs((double)s.o.angle_increment - gap) < 1e-9);
	assert_true(fabs(angle(&s, 0) + left - gap / 2) < 1e-7);
	assert_true(fabs(angle(&s, s.o.count - 1) - left + gap / 2) < 1e-4 * gap);
	assert_true(s.o.range_min == 2.0f && s.o.range_max == 62.5f);
	assert_true(s.o.height_min == (float)(0.15 * 1.5 / 1.65) && s.o.height_max == 2.0f);
	assert_int_equal(s.o.above, STIXEL_SCAN_AS_FREE);
	assert_int_equal(s.o.below, STIXEL_SCAN_AS_FREE);
	assert_int_equal(s.o.unknown, STIXEL_SCAN_AS_UNSEEN);
	assert_int_equal(s.o.drop, STIXEL_SCAN_AS_OBSTACLE);
	assert_int_equal(s.o.filled, STIXEL_SCAN_AS_OBSTACLE);
	s.c.header.fx = 0;
	assert_int_equal(stixel_scan_defaults(&s.c.frame, &s.o, sizeof(s.o)), 0);
	assert_int_equal(s.o.count, 0);
	assert_true(s.o.height_max == 2.0f);
}

/* Calls the library as a program that was built with fewer options, or with more. */
static void test_options_grow(void **state)
{
	static struct scan s;
	struct {
		struct stixel_scan_options o;
		uint64_t more;
	} large = {.more = UINT64_MAX};
	unsigned char small[sizeof(s.o)];

	begin(&s);
	assert_int_equal(stixel_scan_defaults(&s.c.frame, &large.o, sizeof(large)), 1);
	assert_memory_equal(&large.o, &s.o, sizeof(s.o));
	assert_true(large.more == 0);
	memset(small, 77, sizeof(small));
	assert_int_equal(stixel_scan_defaults(&s.c.frame, (struct stixel_scan_options *)(void *)small, 28),
			 1);
	assert_memory_equal(small, &s.o, 28);
	assert_int_equal(small[28], 77);
	/* options that an older program does not pass are 0 */
	case_open_to(&s.c, 0, CASE_COLUMNS);
	assert_int_equal(stixel_scan(&s.c.frame, &s.o, 28, s.ranges), 1);
}

/* Default range limits with few disparities, with one disparity, and without columns. */
static void test_usual_ranges(void **state)
{
	static struct scan s;

	begin(&s);
	s.c.header.min_disparity = 0;
	s.c.header.disparities = 3;
	assert_int_equal(stixel_scan_defaults(&s.c.frame, &s.o, sizeof(s.o)), 1);
	assert_true(s.o.range_min > 0.0f && s.o.range_max == s.o.range_min);
	s.c.header.disparities = 1;
	assert_int_equal(stixel_scan_defaults(&s.c.frame, &s.o, sizeof(s.o)), 1);
	assert_true(s.o.range_min == 0.0f && s.o.range_max > 0.0f);
	s.c.header.columns = 1;
	s.c.header.column_width = 640;
	assert_int_equal(stixel_scan_defaults(&s.c.frame, &s.o, sizeof(s.o)), 1);
	assert_int_equal(s.o.count, 1);
	s.c.header.columns = 0;
	assert_int_equal(stixel_scan_defaults(&s.c.frame, &s.o, sizeof(s.o)), 0);
}

static void test_wall(void **state)
{
	static struct scan s;

	begin(&s);
	for (unsigned u = 0; u < CASE_COLUMNS; u++) {
		case_foot(&s.c, u);
		case_add(&s.c, u, STIXEL_OBJECT, CASE_FOOT, 0, 25);
	}
	assert_int_equal(run(&s), 1);
	for (uint32_t i = 0; i < s.o.count; i++) {
		const double want = 10 / cos(angle(&s, i));

		assert_true(fabs((double)s.ranges[i] - want) <= want * 1.2e-7);
	}
}

/* An obstacle in a column appears in the scan however narrow the column is, and only in its direction. */
static void test_every_column(void **state)
{
	static struct scan s;

	for (int wide = 0; wide < 2; wide++)
		for (unsigned one = 0; one < CASE_COLUMNS; one++) {
			uint32_t found = 0;

			begin(&s);
			if (wide) {
				s.o.count = 21;
				s.o.angle_min = -0.5f;
				s.o.angle_increment = 0.05f;
			}
			for (unsigned u = 0; u < CASE_COLUMNS; u++) {
				if (u == one)
					case_add(&s.c, u, STIXEL_OBJECT, CASE_FOOT, 200, 25);
				else
					case_open(&s.c, u);
			}
			assert_int_equal(run(&s), 1);
			for (uint32_t i = 0; i < s.o.count; i++) {
				const double x = 319.5 - 500 * tan(angle(&s, i));

				found += isfinite(s.ranges[i]) != 0;
				if (isfinite(s.ranges[i]) && !wide)
					assert_true(fabs(x - (5 * one + 2)) <= 2.5001);
			}
			/* the outermost wide columns lie outside the scan's angles */
			assert_in_range(found, wide && (one < 7 || one > 120) ? 0 : 1, wide ? 1 : 2);
		}
}

static void test_nothing_seen(void **state)
{
	static struct scan s;

	begin_column(&s);
	case_open(&s.c, COLUMN);
	assert_true(middle(&s) == INFINITY);
	begin_column(&s); /* an empty column */
	assert_true(isnan(middle(&s)));
	begin_column(&s);
	case_add(&s.c, COLUMN, STIXEL_SKY, 479, 0, 0);
	assert_true(isnan(middle(&s)));
	begin_column(&s); /* rows that the right camera does not see, before a wall: the wall stays */
	case_add(&s.c, COLUMN, STIXEL_UNKNOWN, 479, 315, 0);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 0, 25);
	assert_ahead(&s, middle(&s), 10);
	/* an object without a measured disparity, then a kind that only newer publishers use */
	begin_column(&s);
	case_foot(&s.c, COLUMN);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 0, 0)->disparity_q7 = STIXEL_DISPARITY_UNKNOWN;
	assert_true(isnan(middle(&s)));
	begin_column(&s);
	case_foot(&s.c, COLUMN);
	case_add(&s.c, COLUMN, 9, CASE_FOOT, 0, 25);
	assert_true(isnan(middle(&s)));
}

static void test_unknown(void **state)
{
	static struct scan s;

	for (uint32_t as = 0; as <= 2; as++) {
		float r;

		begin_column(&s); /* ground to 10 m, unmeasured rows, and a wall at 20 m */
		s.o.unknown = as;
		case_foot(&s.c, COLUMN);
		case_add(&s.c, COLUMN, STIXEL_UNKNOWN, CASE_FOOT, 277, 0);
		case_add(&s.c, COLUMN, STIXEL_OBJECT, 276, 0, 12.5);
		r = middle(&s);
		assert_ahead(&s, r, as == STIXEL_SCAN_AS_OBSTACLE ? 10 : 20);
		begin_column(&s); /* unmeasured rows behind an obstacle do not matter */
		s.o.unknown = as;
		case_foot(&s.c, COLUMN);
		case_add(&s.c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 270, 25);
		case_add(&s.c, COLUMN, STIXEL_UNKNOWN, 269, 0, 0);
		assert_ahead(&s, middle(&s), 10);
		/* unmeasured rows beyond range_max do not matter: at 62.5 m the road is in row 251.5 */
		begin_column(&s);
		s.o.unknown = as;
		case_ground(&s.c, COLUMN, 251);
		case_add(&s.c, COLUMN, STIXEL_UNKNOWN, 250, 0, 0);
		assert_true(middle(&s) == INFINITY);
	}
	begin_column(&s); /* ground, and unmeasured rows alone */
	s.o.unknown = STIXEL_SCAN_AS_OBSTACLE;
	case_foot(&s.c, COLUMN);
	case_add(&s.c, COLUMN, STIXEL_UNKNOWN, CASE_FOOT, 0, 0);
	assert_ahead(&s, middle(&s), 10);
	begin_column(&s); /* a nearer obstacle above the unmeasured rows */
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 276, 260, 12.5);
	case_add(&s.c, COLUMN, STIXEL_UNKNOWN, 259, 240, 0);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 239, 0, 25);
	assert_ahead(&s, middle(&s), 10);
	begin_column(&s);
	case_ground(&s.c, COLUMN, 253);
	case_add(&s.c, COLUMN, STIXEL_UNKNOWN, 252, 0, 0);
	assert_true(isnan(middle(&s)));
}

/* Adds an object that was hardly measured. */
static void add_filled(struct scan *s, int bottom, int top, double disparity)
{
	case_add(&s->c, COLUMN, STIXEL_OBJECT, bottom, top, disparity)->flags = STIXEL_FLAG_FILLED;
}

/* Returns the range of a column with a wall at 20 m, and a filled object at m above its foot. */
static float wall_below_filled(struct scan *s, double m, uint32_t as)
{
	begin_column(s);
	s->o.filled = as;
	case_ground(&s->c, COLUMN, 277);
	case_add(&s->c, COLUMN, STIXEL_OBJECT, 276, 231, 12.5);
	add_filled(s, 230, 0, 250 / m);
	return middle(s);
}

static void test_filled(void **state)
{
	static struct scan s;

	for (uint32_t as = 0; as <= STIXEL_SCAN_AS_UNSEEN; as++) {
		const bool unseen = as == STIXEL_SCAN_AS_UNSEEN;
		float r;

		begin_column(&s);
		s.o.filled = as;
		case_foot(&s.c, COLUMN);
		add_filled(&s, CASE_FOOT, 0, 25);
		r = middle(&s);
		if (unseen)
			assert_true(isnan(r));
		else
			assert_ahead(&s, r, 10);
		r = wall_below_filled(&s, 10, as); /* the filled object hides the wall, which is farther */
		if (unseen)
			assert_true(isnan(r));
		else
			assert_ahead(&s, r, 10);
		assert_ahead(&s, wall_below_filled(&s, 30, as), 20);
		/* a filled object before ground that goes on beyond range_max, or ends there */
		for (int ends = 0; ends < 2; ends++) {
			begin_column(&s);
			s.o.filled = as;
			case_ground(&s.c, COLUMN, 251);
			if (ends)
				case_add(&s.c, COLUMN, STIXEL_UNKNOWN, 250, 240, 0);
			else
				case_add(&s.c, COLUMN, STIXEL_GROUND, 250, 240, (250 - 239.5) / 3);
			add_filled(&s, 239, 100, 25);
			r = middle(&s);
			if (unseen)
				assert_true(isnan(r));
			else
				assert_ahead(&s, r, 10);
		}
		/* a filled bridge above the vehicle does not matter */
		begin_column(&s);
		s.o.filled = as;
		case_foot(&s.c, COLUMN);
		case_add(&s.c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 200, 25);
		add_filled(&s, 100, 0, 50);
		assert_ahead(&s, middle(&s), 10);
	}
	begin_column(&s); /* an older program, which does not know the option */
	case_foot(&s.c, COLUMN);
	add_filled(&s, CASE_FOOT, 0, 25);
	case_open_to(&s.c, COLUMN + 1, CASE_COLUMNS);
	assert_int_equal(stixel_scan(&s.c.frame, &s.o, 44, s.ranges), 1);
	assert_ahead(&s, s.ranges[looks_through(&s, 322)], 10);
}

/* Checks that the middle ray ends at a wall about m metres ahead, or that nothing is known of it. */
static void check_wall(struct scan *s, double m, bool known)
{
	const float r = middle(s);

	if (known)
		assert_true(fabs((double)r * cos(angle(s, looks_through(s, 322))) - m) < 0.05);
	else
		assert_true(isnan(r));
}

/* The camera is 1.5 m high. If the ground ends unseen within 6 m, there may be a drop. */
static void test_a_drop_may_hide_before_it(void **state)
{
	static const struct {
		int ground_top; /* last row of the ground; 480: no ground */
		double m;	/* distance of the wall, m */
		bool known;
	} cases[] = {{390, 9.5, true},	 /* ground to 5 m, and a wall less than twice as far */
		     {390, 10.5, false}, /* ground to 5 m, and a wall more than twice as far */
		     {360, 15, true},	 /* ground to 6.2 m: too far for a hidden drop */
		     {480, 20, true}};	 /* rows that the right camera does not see, from the vehicle on */
	static struct scan s;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int foot = 239 + (int)(750 / cases[i].m);

		begin_column(&s);
		if (cases[i].ground_top < 480)
			case_ground(&s.c, COLUMN, cases[i].ground_top);
		case_add(&s.c, COLUMN, STIXEL_UNKNOWN, cases[i].ground_top - 1, foot + 1, 0);
		case_add(&s.c, COLUMN, STIXEL_OBJECT, foot, 0, 250 / cases[i].m);
		check_wall(&s, cases[i].m, cases[i].known);
	}
}

/*
 * The edge of a drop is in the blind zone: the image shows the lower floor from its lowest row on, which sees
 * the road 3.1 m away, and a wall.
 */
static void test_a_drop_in_the_blind_zone(void **state)
{
	static const struct {
		double m; /* distance of the wall, m */
		bool filled, drop_is_free, known;
	} cases[] = {{6, false, false, true},
		     {6.5, false, false, false}, /* more than twice as far as the lowest row */
		     {6.5, true, false, true},	 /* the lower floor was hardly measured */
		     {6.5, false, true, true}};
	static struct scan s;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int foot = 239 + (int)(750 / cases[i].m);

		begin_column(&s);
		s.o.drop = cases[i].drop_is_free ? STIXEL_SCAN_AS_FREE : STIXEL_SCAN_AS_OBSTACLE;
		case_add(&s.c, COLUMN, STIXEL_OBJECT, 479, foot + 1, 40)->flags =
			cases[i].filled ? STIXEL_FLAG_FILLED : 0;
		case_add(&s.c, COLUMN, STIXEL_OBJECT, foot, 0, 250 / cases[i].m);
		check_wall(&s, cases[i].m, cases[i].known);
	}
}

static void test_limits_of_range(void **state)
{
	static struct scan s;

	for (int far = 0; far < 2; far++) {
		begin_column(&s);
		s.o.range_min = far ? 1.0f : 10.1f;
		s.o.range_max = far ? 9.9f : 50.0f;
		case_foot(&s.c, COLUMN);
		case_add(&s.c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 0, 25);
		assert_true(middle(&s) == (far ? INFINITY : -INFINITY));
	}
	begin_column(&s); /* an object infinitely far away */
	case_ground(&s.c, COLUMN, 240);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 239, 0, 0);
	assert_true(middle(&s) == INFINITY);
	begin_column(&s); /* an object nearer than range_min, before one in range */
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 400, 315, 126);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 0, 25);
	assert_true(middle(&s) == -INFINITY);
}

/*
 * Returns the range of an object 10 m ahead between two heights above the road. Heights are in rows; 50 rows
 * are 1 m.
 */
static float one_at(struct scan *s, int from, int to, uint32_t as)
{
	begin_column(s);
	s->o.height_min = 0.2f;
	s->o.above = s->o.below = as;
	case_ground(&s->c, COLUMN, from < 75 ? CASE_FOOT + 1 - from : 240);
	case_add(&s->c, COLUMN, STIXEL_OBJECT, CASE_FOOT - from, CASE_FOOT + 1 - to, 25);
	case_ground(&s->c, COLUMN, 240); /* ground beyond the object */
	return middle(s);
}

static void test_band(void **state)
{
	static struct scan s;
	static const struct {
		int from, to;
		bool in;
	} rows[] = {{0, 100, true},  {0, 11, true},	{0, 10, false}, {10, 11, true},	   {-15, -5, false},
		    {99, 150, true}, {100, 150, false}, {0, 314, true}, {120, 200, false}, {-5, 150, true}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (uint32_t as = 0; as <= 2; as++) {
			const float r = one_at(&s, rows[i].from, rows[i].to, as);

			if (rows[i].in || as == STIXEL_SCAN_AS_OBSTACLE)
				assert_ahead(&s, r, 10);
			else if (as == STIXEL_SCAN_AS_FREE)
				assert_true(r == INFINITY);
			else
				assert_true(isnan(r));
		}
	/* a kerb before a wall, a branch before and above a wall, a bridge before a wall */
	begin_column(&s);
	case_foot(&s.c, COLUMN);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 310, 25);
	case_ground(&s.c, COLUMN, 277);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 276, 100, 12.5);
	assert_ahead(&s, middle(&s), 20);
	begin_column(&s);
	case_ground(&s.c, COLUMN, 277);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 276, 231, 12.5);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 230, 0, 25);
	assert_ahead(&s, middle(&s), 10);
	s.c.stixels[s.c.offsets[COLUMN] + 2].row_bottom = 214;
	assert_int_equal(run(&s), 1);
	assert_ahead(&s, s.ranges[looks_through(&s, 322)], 20);
}

/* Tests the height limits with exact numbers: camera 1 m above the road, a row is 1/64 m at 7.8125 m. */
static void test_band_to_the_row(void **state)
{
	static struct scan s;

	for (int more = -1; more <= 1; more++)
		for (int above = 0; above < 2; above++) {
			begin_column(&s);
			s.c.header.height_m = 1;
			s.c.header.road_slope = 0.5;
			s.c.header.road_offset = -0.5 * 239.5;
			s.o.height_min = 0.25f; /* 16 rows above row 303.5 */
			s.o.height_max = 0.5f;
			case_ground(&s.c, COLUMN, above ? 240 : 304);
			if (above)
				case_add(&s.c, COLUMN, STIXEL_OBJECT, 303 - 32 + more, 200, 32);
			else
				case_add(&s.c, COLUMN, STIXEL_OBJECT, 303, 304 - 16 + more, 32);
			case_ground(&s.c, COLUMN, 0); /* ground beyond the object */
			if (more == (above ? 1 : -1))
				assert_ahead(&s, middle(&s), 7.8125);
			else
				assert_true(middle(&s) == INFINITY);
		}
}

/* The direction straight ahead is the edge between two columns. */
static void test_edge(void **state)
{
	static struct scan s;

	for (unsigned one = 63; one <= 64; one++) {
		begin(&s);
		s.o.angle_min = -0.0625f;
		s.o.angle_increment = 1.0f / 512;
		s.o.count = 64;
		case_open_to(&s.c, 0, one);
		case_add(&s.c, one, STIXEL_OBJECT, CASE_FOOT, 200, 25);
		case_open_to(&s.c, one + 1, CASE_COLUMNS);
		assert_int_equal(run(&s), 1);
		assert_true(s.ranges[32] == 10.0f);
		assert_true(s.ranges[one == 63 ? 31 : 33] == INFINITY);
	}
}

/* Some rays of one column may meet an object before range_max, and others beyond it. */
static void test_column_across_range_max(void **state)
{
	static struct scan s;
	int numbers = 0, free_ones = 0;

	begin(&s);
	s.o.range_max = (float)(10 * hypot(1, 268 / 500.0)); /* the middle of the column is at 267.5 px */
	s.o.angle_increment /= 64;
	s.o.count *= 64;
	case_open_to(&s.c, 0, 10);
	case_foot(&s.c, 10);
	case_add(&s.c, 10, STIXEL_OBJECT, CASE_FOOT, 200, 25);
	case_open_to(&s.c, 11, CASE_COLUMNS);
	s.o.angle_min = (float)atan(265.1 / 500);
	s.o.count = (uint32_t)((atan(269.9 / 500) - (double)s.o.angle_min) / (double)s.o.angle_increment);
	assert_int_equal(run(&s), 1);
	for (uint32_t i = 0; i < s.o.count; i++) {
		const double want = 10 / cos(angle(&s, i));

		if (want < (double)s.o.range_max - 1e-4)
			numbers += isfinite(s.ranges[i]) != 0;
		else if (want > (double)s.o.range_max + 1e-4)
			free_ones += s.ranges[i] == INFINITY;
		else
			numbers++;
	}
	assert_int_equal(numbers + free_ones, s.o.count);
	assert_true(numbers > 5 && free_ones > 5);
}

static void test_frames_without(void **state)
{
	static struct scan s;

	for (int what = 0; what < 7; what++) {
		begin(&s);
		for (unsigned u = 0; u < CASE_COLUMNS; u++)
			case_add(&s.c, u, STIXEL_OBJECT, CASE_FOOT, 200, 25);
		s.c.header.fx = what == 0 ? 0 : 500;
		s.c.header.baseline_m = what == 1 ? NAN : 0.5;
		s.c.header.road_origin = what == 2 ? STIXEL_ROAD_NONE : STIXEL_ROAD_MEASURED;
		s.c.header.road_slope = what == 3 ? 0 : 1;
		s.c.header.height_m = what == 4 ? -1 : 1.5;
		s.c.header.columns = what == 5 ? 0 : CASE_COLUMNS;
		s.c.header.pitch_rad = what == 6 ? NAN : 0;
		assert_int_equal(run(&s), 0);
		for (uint32_t i = 0; i < s.o.count; i++)
			assert_true(isnan(s.ranges[i]));
	}
}

/* A scan over the full circle: nothing is seen behind the camera and beside it. */
static void test_full_turn(void **state)
{
	static struct scan s;
	static const float starts[] = {-3.14159265f, 0.0f, -6.28318531f, 6.28318531f, 3.0f};

	for (size_t k = 0; k < sizeof(starts) / sizeof(starts[0]); k++) {
		begin(&s);
		s.o.angle_min = starts[k];
		s.o.angle_increment = 6.28318531f / 720;
		s.o.count = 720;
		for (unsigned u = 0; u < CASE_COLUMNS; u++) {
			if (u >= COLUMN)
				case_open(&s.c, u);
			else
				case_foot(&s.c, u);
			if (u < COLUMN)
				case_add(&s.c, u, STIXEL_OBJECT, CASE_FOOT, 0, 25);
		}
		assert_int_equal(run(&s), 1);
		for (uint32_t i = 0; i < s.o.count; i++) {
			const double a = remainder(angle(&s, i), 2 * SX_PI);

			if (fabs(a) > atan(320 / 500.0))
				assert_true(isnan(s.ranges[i]));
			else if (a > 1e-3)
				assert_true(fabs((double)s.ranges[i] * cos(a) - 10) <
					    0.04); /* columns are narrow at the image's edge */
			else if (a < -1e-3)
				assert_true(s.ranges[i] == INFINITY);
		}
	}
}

/* An angle that covers many columns has their nearest range. It is free only if all of them are free. */
static void test_wide_angles(void **state)
{
	static struct scan s;
	float with, without;

	for (int hidden = 0; hidden < 2; hidden++) {
		begin(&s);
		s.o.count = 3;
		s.o.angle_increment = 0.3f;
		s.o.angle_min = -0.3f;
		for (unsigned u = 0; u < CASE_COLUMNS; u++) {
			if ((u == 60 || u == 70) && hidden)
				case_add(&s.c, u, STIXEL_UNKNOWN, 479, 0, 0);
			else if (u == 61 || u == 66)
				case_add(&s.c, u, STIXEL_OBJECT, CASE_FOOT, 200, u == 61 ? 25 : 50);
			else if (u == 20)
				case_add(&s.c, u, STIXEL_UNKNOWN, 479, 0, 0);
			else
				case_open(&s.c, u);
		}
		assert_int_equal(run(&s), 1);
		with = s.ranges[1];
		without = s.ranges[2];
		/* the middle of column 66 is 12.5 px right of the axis */
		assert_true(fabs((double)with - 5 * hypot(1, 12.5 / 500)) < 1e-5);
		assert_true(isnan(without) && s.ranges[0] == INFINITY);
	}
}

static void test_bad_options(void **state)
{
	static struct scan s;
	struct stixel_scan_options bad[18];
	int n = 0;

	begin(&s);
	for (int i = 0; i < 18; i++)
		bad[i] = s.o;
	bad[n++].angle_min = NAN;
	bad[n++].angle_min = 7;
	bad[n++].angle_increment = 0;
	bad[n++].angle_increment = -0.1f;
	bad[n++].angle_increment = NAN;
	bad[n++].angle_increment = 1; /* more than a full turn */
	bad[n++].range_min = -1;
	bad[n++].range_min = 100;
	bad[n++].range_max = INFINITY;
	bad[n++].range_max = NAN;
	bad[n++].height_min = 3;
	bad[n++].height_max = NAN;
	bad[n++].above = 3;
	bad[n++].below = 3;
	bad[n++].unknown = 3;
	bad[n++].drop = 3;
	bad[n++].filled = 3;
	for (int i = 0; i < n; i++) {
		s.o = bad[i];
		assert_int_equal(run(&s), -EINVAL);
		assert_true(s.ranges[0] == UNTOUCHED);
	}
	s.o = bad[n];
	assert_int_equal(run(&s), 1);
	assert_int_equal(stixel_scan(NULL, &s.o, sizeof(s.o), s.ranges), -EINVAL);
	assert_int_equal(stixel_scan(&s.c.frame, NULL, sizeof(s.o), s.ranges), -EINVAL);
	assert_int_equal(stixel_scan(&s.c.frame, &s.o, sizeof(s.o), NULL), -EINVAL);
	assert_int_equal(stixel_scan_defaults(NULL, &s.o, sizeof(s.o)), -EINVAL);
	assert_int_equal(stixel_scan_defaults(&s.c.frame, NULL, sizeof(s.o)), -EINVAL);
	s.o.count = 0;
	assert_int_equal(stixel_scan(&s.c.frame, &s.o, sizeof(s.o), NULL), 1);
}

/* For a camera with absurd numbers, either there are no default options, or stixel_scan() accepts them. */
static void test_options_of_any_camera(void **state)
{
	static const struct {
		double fx, cx;
		uint32_t columns, width;
	} odd[] = {{10437182272151754, -7661211705058241, 530, 1},
		   {24402252282126568, -36804332915000696, 392, 6},
		   {1.1274534207051308e18, -4.7583617456992512e17, 2423, 10},
		   {61638610868903416, 68984186531247920, 387, 10},
		   {1e-20, 1e-20, 3000, 4000000},
		   {500, 319.5, 128, 5}};
	static struct scan s;
	int given = 0;

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		begin(&s);
		s.c.header.fx = s.c.header.fy = odd[i].fx;
		s.c.header.cx = odd[i].cx;
		s.c.header.columns = odd[i].columns;
		s.c.header.column_width = odd[i].width;
		if (stixel_scan_defaults(&s.c.frame, &s.o, sizeof(s.o)) == 1) {
			assert_in_range(s.o.count, 1, 65536);
			s.c.header.columns = 0; /* without columns, stixel_scan() checks only the options */
			assert_int_equal(stixel_scan(&s.c.frame, &s.o, sizeof(s.o), many), 0);
			given++;
		} else {
			assert_int_equal(s.o.count, 0);
			assert_true(s.o.angle_increment == 0.0f && s.o.range_max == 0.0f);
		}
	}
	assert_in_range(given, 1, 5);
}

/* A frame in which each of many objects covers all angles is given up early, and all its ranges are NaN. */
static void test_too_much_work(void **state)
{
	static struct scan s;
	int seen = 0;

	begin(&s);
	s.c.header.columns = 1;
	s.c.header.column_width = 640;
	for (int i = 0; i < CASE_STIXELS; i++)
		case_add(&s.c, 0, STIXEL_OBJECT, CASE_FOOT, 200, 25);
	s.o.angle_increment /= 20;
	s.o.count *= 20;
	assert_int_equal(run(&s), 0);
	for (uint32_t i = 0; i < s.o.count; i++)
		assert_true(isnan(s.ranges[i]));
	s.c.header.stixel_count = s.c.offsets[1] = 200; /* one object for each row of a real image */
	assert_int_equal(run(&s), 1);
	for (uint32_t i = 0; i < s.o.count; i++)
		seen += isfinite(s.ranges[i]) != 0;
	assert_true(seen > 0);
	/* the scan is given up at the first column and does not look at the second */
	s.c.header.columns = 2;
	s.c.header.column_width = 320;
	s.c.header.stixel_count = s.c.offsets[1] = s.c.offsets[2] = CASE_STIXELS;
	assert_int_equal(run(&s), 0);
}

static void nonsense_header(struct stixel_frame_header *h, struct check_rng *r)
{
	static const double odd[] = {0, -1, 1e-300, 1e300, NAN, INFINITY, 1, 500, 3, -0.01};
	double *const fields[] = {&h->fx,
				  &h->fy,
				  &h->cx,
				  &h->cy,
				  &h->baseline_m,
				  &h->road_slope,
				  &h->road_offset,
				  &h->road_cross,
				  &h->road_axis,
				  &h->road_bend,
				  &h->road_bend_row,
				  &h->pitch_rad,
				  &h->roll_rad,
				  &h->height_m};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (check_below(r, 8) == 0)
			*fields[i] = odd[check_below(r, 10)];
	h->column_width = check_below(r, 8) ? 5 : (uint32_t)check_below(r, 3) * 0x7fffffffu;
}

static void nonsense_stixels(struct convert_case *c, struct check_rng *r)
{
	for (unsigned u = 0; u < CASE_COLUMNS; u++)
		for (int n = check_below(r, 4); n; n--) {
			const int bottom = check_below(r, 480), top = check_below(r, bottom + 1);
			struct stixel *s = case_add(c, u, (unsigned)check_below(r, 5), bottom, top, 0);

			s->disparity_q7 = (uint16_t)check_below(r, check_below(r, 3) ? 8000 : 65536);
			s->slope_q14 = (int16_t)(uint16_t)check_random(r);
		}
}

/* Meaningless frames that pass the check must not crash the scan. All ranges must be as in REP 117. */
static void test_nonsense(void **state)
{
	static struct scan s;
	struct check_rng r = check_rng_seed(20);
	int numbers = 0;

	for (int round = 0; round < 3000; round++) {
		const struct stixel_points_options p = {(uint32_t)check_below(&r, 2),
							(uint32_t)check_below(&r, 2), 1, 30};

		begin(&s);
		nonsense_stixels(&s.c, &r);
		nonsense_header(&s.c.header, &r);
		if (check_below(&r, 2)) {
			if (stixel_scan_defaults(&s.c.frame, &s.o, sizeof(s.o)) == 1)
				assert_in_range(s.o.count, 1, 65536);
			s.o.count = s.o.count < ANGLES_MAX ? s.o.count : ANGLES_MAX;
		}
		numbers += run(&s) == 1;
		for (uint32_t i = 0; i < s.o.count; i++)
			assert_true(isnan(s.ranges[i]) || isinf(s.ranges[i]) || s.ranges[i] == UNTOUCHED ||
				    (s.ranges[i] >= s.o.range_min && s.ranges[i] <= s.o.range_max));
		assert_true(stixel_points(&s.c.frame, &p, sizeof(p), NULL, 0) >= 0);
	}
	assert_true(numbers > 300);
}

/* Frames with records of motion for their stixels. */
struct moving {
	struct scan s;
	struct stixel_motion records[CASE_STIXELS];
	float speeds[ANGLES_MAX];
};

/* Scans with speeds. Returns the angle that looks through the middle of the column under test. */
static uint32_t run_speeds(struct moving *m)
{
	struct scan *s = &m->s;
	static float begins[ANGLES_MAX], want[ANGLES_MAX];

	s->c.header.motion_offset = (uint32_t)((char *)m->records - (char *)&s->c.header);
	case_open_to(&s->c, COLUMN + 1, CASE_COLUMNS);
	assert_int_equal(run(s), 1);
	memcpy(want, s->ranges, sizeof(want));
	for (uint32_t i = 0; i < ANGLES_MAX; i++)
		m->speeds[i] = UNTOUCHED;
	assert_int_equal(stixel_scan_speeds(&s->c.frame, &s->o, sizeof(s->o), s->ranges, begins, m->speeds),
			 1);
	assert_memory_equal(s->ranges, want, s->o.count * sizeof(want[0]));
	assert_true(m->speeds[s->o.count] == UNTOUCHED);
	assert_int_equal(stixel_scan_speeds(&s->c.frame, &s->o, sizeof(s->o), s->ranges, NULL, NULL), 1);
	return looks_through(s, 322);
}

static void test_speeds(void **state)
{
	static struct moving m;
	struct scan *s = &m.s;
	const struct stixel_motion moves = {
		.vx = 300, .vz = -800, .sigma_x = 9, .sigma_z = 9, .state = STIXEL_MOTION_MOVES};
	struct stixel_motion *near;
	uint32_t i;

	begin_column(s);
	case_foot(&s->c, COLUMN);
	near = &m.records[s->c.header.stixel_count];
	case_add(&s->c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 200, 25);
	m.records[s->c.header.stixel_count] =
		(struct stixel_motion){.vz = 500, .sigma_x = 9, .sigma_z = 9, .state = STIXEL_MOTION_MOVES};
	case_add(&s->c, COLUMN, STIXEL_OBJECT, 199, 100, 12); /* behind, so that it does not matter */
	*near = moves;
	i = run_speeds(&m);
	assert_ahead(s, s->ranges[i], 10);
	/* to the right is against the angle */
	assert_float_equal(m.speeds[i], -8 * cos(angle(s, i)) - 3 * sin(angle(s, i)), 1e-5);
	for (uint32_t k = 0; k < s->o.count; k++)
		assert_true(isnan(m.speeds[k]) == !isfinite(s->ranges[k]));
	near->state = STIXEL_MOTION_STANDS;
	near->vx = near->vz = 0;
	assert_true(m.speeds[run_speeds(&m)] == 0);
	near->state = STIXEL_MOTION_UNKNOWN;
	assert_true(isnan(m.speeds[run_speeds(&m)]));
	*near = moves;
	near->sigma_x = 0; /* not measured */
	assert_true(isnan(m.speeds[run_speeds(&m)]));
	*near = moves;
	s->o.range_min = 20;
	assert_true(s->ranges[run_speeds(&m)] == -INFINITY && isnan(m.speeds[i]));
	s->o.range_min = 1;
	assert_false(isnan(m.speeds[run_speeds(&m)]));
	s->c.header.header_bytes = 776; /* before 1.7 */
	assert_true(isnan(m.speeds[run_speeds(&m)]));
}

/* A camera that looks down measures along its axes, and the scan turns the velocity into the road's plane. */
static void test_speeds_turn(void **state)
{
	static struct moving m;
	struct scan *s = &m.s;
	const double pitch = 0.1;
	struct sx_vector v;
	struct sx_geometry g;
	uint32_t i;

	begin_column(s);
	case_foot(&s->c, COLUMN);
	m.records[s->c.header.stixel_count] = (struct stixel_motion){
		.vx = 300, .vz = -800, .sigma_x = 9, .sigma_z = 9, .state = STIXEL_MOTION_MOVES};
	case_add(&s->c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 200, 25);
	s->c.header.pitch_rad = pitch;
	s->c.header.motion_offset = (uint32_t)((char *)m.records - (char *)&s->c.header);
	assert_int_equal(stixel_scan_speeds(&s->c.frame, &s->o, sizeof(s->o), s->ranges, NULL, m.speeds), 1);
	g = sx_geometry_of(&s->c.header);
	v = sx_geometry_turn(&g, (struct sx_vector){3, 0, -8});
	assert_float_equal(v.x, -8 * cos(pitch), 1e-9);
	for (i = 0; i < s->o.count && !isfinite(s->ranges[i]); i++)
		;
	assert_true(i < s->o.count);
	assert_float_equal(m.speeds[i], v.x * cos(angle(s, i)) + v.y * sin(angle(s, i)), 1e-5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_speeds),
		cmocka_unit_test(test_speeds_turn),
		cmocka_unit_test(test_usual_options),
		cmocka_unit_test(test_options_grow),
		cmocka_unit_test(test_usual_ranges),
		cmocka_unit_test(test_wall),
		cmocka_unit_test(test_every_column),
		cmocka_unit_test(test_nothing_seen),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_filled),
		cmocka_unit_test(test_a_drop_may_hide_before_it),
		cmocka_unit_test(test_a_drop_in_the_blind_zone),
		cmocka_unit_test(test_limits_of_range),
		cmocka_unit_test(test_band),
		cmocka_unit_test(test_band_to_the_row),
		cmocka_unit_test(test_edge),
		cmocka_unit_test(test_column_across_range_max),
		cmocka_unit_test(test_frames_without),
		cmocka_unit_test(test_full_turn),
		cmocka_unit_test(test_wide_angles),
		cmocka_unit_test(test_bad_options),
		cmocka_unit_test(test_options_of_any_camera),
		cmocka_unit_test(test_too_much_work),
		cmocka_unit_test(test_nonsense),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
