/*
 * Scans of frames made by hand: what each angle has, and why.
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
#include "tests/ipc/convert_case.h"

#define ANGLES_MAX 4096
#define COLUMN 64 /* the one that is looked at: image columns 320 .. 324 */
#define UNTOUCHED 12345.0f

struct scan {
	struct convert_case c;
	struct stixel_scan_options o;
	float ranges[ANGLES_MAX + 1];
};

static void begin(struct scan *s)
{
	case_init(&s->c);
	assert_int_equal(stixel_scan_defaults(&s->c.frame, &s->o, sizeof(s->o)), 1);
}

static int run(struct scan *s)
{
	int r;

	assert_true(s->o.count <= ANGLES_MAX);
	for (uint32_t i = 0; i <= s->o.count; i++)
		s->ranges[i] = UNTOUCHED;
	r = stixel_scan(&s->c.frame, &s->o, sizeof(s->o), s->ranges);
	assert_true(s->ranges[s->o.count] == UNTOUCHED);
	return r;
}

static double angle(const struct scan *s, uint32_t i)
{
	return (double)s->o.angle_min + i * (double)s->o.angle_increment;
}

/* The angle that looks through image column x of a level camera. */
static uint32_t looks_through(const struct scan *s, double x)
{
	return (uint32_t)lround((atan((319.5 - x) / 500) - (double)s->o.angle_min) /
				(double)s->o.angle_increment);
}

/* What the middle of the column has, when its neighbours are open road. */
static float middle(struct scan *s)
{
	case_open_to(&s->c, COLUMN + 1, CASE_COLUMNS);
	assert_int_equal(run(s), 1);
	for (uint32_t i = 0; i < s->o.count; i++) /* nobody else's angle is touched */
		if (fabs(319.5 - 500 * tan(angle(s, i)) - 322) > 2.51)
			assert_true(s->ranges[i] == INFINITY);
	return s->ranges[looks_through(s, 322)];
}

/* Left of the column all is open road. */
static void begin_column(struct scan *s)
{
	begin(s);
	case_open_to(&s->c, 0, COLUMN);
}

/* Where image column 322 meets a plane so far ahead. */
static void assert_ahead(const struct scan *s, float range, double metres)
{
	const double want = metres / cos(angle(s, looks_through(s, 322)));

	assert_true(fabs((double)range - want) <= want * 1.2e-7);
}

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
	assert_true(s.o.height_min == 0.15f && s.o.height_max == 2.0f);
	assert_int_equal(s.o.above, STIXEL_SCAN_AS_FREE);
	assert_int_equal(s.o.below, STIXEL_SCAN_AS_FREE);
	assert_int_equal(s.o.unknown, STIXEL_SCAN_AS_UNSEEN);
	s.c.header.fx = 0;
	assert_int_equal(stixel_scan_defaults(&s.c.frame, &s.o, sizeof(s.o)), 0);
	assert_int_equal(s.o.count, 0);
	assert_true(s.o.height_max == 2.0f);
}

/* A program that knows less of the options, or more. */
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
}

static void test_wall(void **state)
{
	static struct scan s;

	begin(&s);
	for (unsigned u = 0; u < CASE_COLUMNS; u++) {
		case_ground(&s.c, u, CASE_FOOT + 1);
		case_add(&s.c, u, STIXEL_OBJECT, CASE_FOOT, 0, 25);
	}
	assert_int_equal(run(&s), 1);
	for (uint32_t i = 0; i < s.o.count; i++) {
		const double want = 10 / cos(angle(&s, i));

		assert_true(fabs((double)s.ranges[i] - want) <= want * 1.2e-7);
	}
}

/* However narrow a column is, an obstacle in it is somewhere, and nowhere but there. */
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
			/* of the wide ones the outermost lie outside of the scan's angles */
			assert_in_range(found, wide && (one < 7 || one > 120) ? 0 : 1, wide ? 1 : 2);
		}
}

static void test_nothing_seen(void **state)
{
	static struct scan s;

	begin_column(&s);
	case_open(&s.c, COLUMN);
	assert_true(middle(&s) == INFINITY);
	begin_column(&s); /* empty */
	assert_true(isnan(middle(&s)));
	begin_column(&s);
	case_add(&s.c, COLUMN, STIXEL_SKY, 479, 0, 0);
	assert_true(isnan(middle(&s)));
	begin_column(&s); /* what the right camera does not see, before a wall */
	case_add(&s.c, COLUMN, STIXEL_UNKNOWN, 479, 315, 0);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 0, 25);
	assert_true(isnan(middle(&s)));
	begin_column(&s); /* an object of which nothing was measured; a kind of newer publishers */
	case_ground(&s.c, COLUMN, CASE_FOOT + 1);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 0, 0)->disparity_q7 = STIXEL_DISPARITY_UNKNOWN;
	assert_true(isnan(middle(&s)));
	begin_column(&s);
	case_ground(&s.c, COLUMN, CASE_FOOT + 1);
	case_add(&s.c, COLUMN, 9, CASE_FOOT, 0, 25);
	assert_true(isnan(middle(&s)));
}

static void test_unknown(void **state)
{
	static struct scan s;

	for (uint32_t as = 0; as <= 2; as++) {
		float r;

		begin_column(&s); /* ground to 10 m, unmeasured, a wall at 20 m */
		s.o.unknown = as;
		case_ground(&s.c, COLUMN, CASE_FOOT + 1);
		case_add(&s.c, COLUMN, STIXEL_UNKNOWN, CASE_FOOT, 277, 0);
		case_add(&s.c, COLUMN, STIXEL_OBJECT, 276, 0, 12.5);
		r = middle(&s);
		if (as == STIXEL_SCAN_AS_UNSEEN)
			assert_true(isnan(r));
		else
			assert_ahead(&s, r, as == STIXEL_SCAN_AS_FREE ? 20 : 10);
		begin_column(&s); /* behind an obstacle it does not matter */
		s.o.unknown = as;
		case_add(&s.c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 270, 25);
		case_add(&s.c, COLUMN, STIXEL_UNKNOWN, 269, 0, 0);
		assert_ahead(&s, middle(&s), 10);
		begin_column(&s); /* nor beyond range_max: at 62.5 m the road is in row 251.5 */
		s.o.unknown = as;
		case_ground(&s.c, COLUMN, 251);
		case_add(&s.c, COLUMN, STIXEL_UNKNOWN, 250, 0, 0);
		assert_true(middle(&s) == INFINITY);
	}
	begin_column(&s); /* a nearer obstacle above what is unknown */
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 276, 260, 12.5);
	case_add(&s.c, COLUMN, STIXEL_UNKNOWN, 259, 240, 0);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 239, 0, 25);
	assert_ahead(&s, middle(&s), 10);
	begin_column(&s);
	case_ground(&s.c, COLUMN, 253);
	case_add(&s.c, COLUMN, STIXEL_UNKNOWN, 252, 0, 0);
	assert_true(isnan(middle(&s)));
}

static void test_limits_of_range(void **state)
{
	static struct scan s;

	for (int far = 0; far < 2; far++) {
		begin_column(&s);
		s.o.range_min = far ? 1.0f : 10.1f;
		s.o.range_max = far ? 9.9f : 50.0f;
		case_ground(&s.c, COLUMN, CASE_FOOT + 1);
		case_add(&s.c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 0, 25);
		assert_true(middle(&s) == (far ? INFINITY : -INFINITY));
	}
	begin_column(&s); /* infinitely far */
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 479, 0, 0);
	assert_true(middle(&s) == INFINITY);
	begin_column(&s); /* too near, before one that is not */
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 400, 315, 126);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 0, 25);
	assert_true(middle(&s) == -INFINITY);
}

/* 10 m ahead, from so many rows above the road to so many; 50 are a metre. */
static float one_at(struct scan *s, int from, int to, uint32_t as)
{
	begin_column(s);
	s->o.height_min = 0.2f;
	s->o.above = s->o.below = as;
	case_ground(&s->c, COLUMN, CASE_FOOT + 1);
	case_add(&s->c, COLUMN, STIXEL_OBJECT, CASE_FOOT - from, CASE_FOOT + 1 - to, 25);
	return middle(s);
}

static void test_band(void **state)
{
	static struct scan s;
	static const struct {
		int from, to;
		bool in;
	} rows[] = {{0, 100, true},  {0, 11, true},	{0, 10, false}, {10, 11, true},	   {-20, -5, false},
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
	/* a kerb before a wall, a branch before and above a wall, a bridge before it */
	begin_column(&s);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 310, 25);
	case_add(&s.c, COLUMN, STIXEL_OBJECT, 309, 100, 12.5);
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

/* With numbers that are exact: 1 m above the road, of which a row is 1/64 m at 7.8125 m. */
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
			if (above)
				case_add(&s.c, COLUMN, STIXEL_OBJECT, 303 - 32 + more, 200, 32);
			else
				case_add(&s.c, COLUMN, STIXEL_OBJECT, 303, 304 - 16 + more, 32);
			if (more == (above ? 1 : -1))
				assert_ahead(&s, middle(&s), 7.8125);
			else
				assert_true(middle(&s) == INFINITY);
		}
}

/* Straight ahead is the edge between two columns. */
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

/* Of one column, some rays may meet it before range_max and others behind. */
static void test_column_across_range_max(void **state)
{
	static struct scan s;
	int numbers = 0, free_ones = 0;

	begin(&s);
	s.o.range_max = (float)(10 * hypot(1, 268 / 500.0)); /* its middle is at 267.5 px */
	s.o.angle_increment /= 64;
	s.o.count *= 64;
	case_open_to(&s.c, 0, 10);
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

/* All around: behind and beside nothing is seen. */
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
			case_ground(&s.c, u, CASE_FOOT + 1);
			case_add(&s.c, u, u < COLUMN ? STIXEL_OBJECT : STIXEL_SKY, CASE_FOOT, 0, 25);
		}
		assert_int_equal(run(&s), 1);
		for (uint32_t i = 0; i < s.o.count; i++) {
			const double a = remainder(angle(&s, i), 2 * SX_PI);

			if (fabs(a) > atan(320 / 500.0))
				assert_true(isnan(s.ranges[i]));
			else if (a > 1e-3)
				assert_true(fabs((double)s.ranges[i] * cos(a) - 10) <
					    0.04); /* narrow columns */
			else if (a < -1e-3)
				assert_true(s.ranges[i] == INFINITY);
		}
	}
}

/* One angle that many columns fall on has the nearest, and is free only where all are. */
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

/* The formulas of Road.to_vehicle(), by libm. */
static void vehicle(const struct stixel_frame_header *h, double x, double y, double d, double out[3])
{
	const double z = h->fx * h->baseline_m / d, r = h->roll_rad;
	const double p[3] = {(x - h->cx) / h->fx * z, (y - h->cy) / h->fy * z, z};
	const double a = atan(tan(h->pitch_rad) * cos(r));

	out[0] = -sin(a) * sin(r) * p[0] - sin(a) * cos(r) * p[1] + cos(a) * p[2];
	out[1] = -cos(r) * p[0] + sin(r) * p[1];
	out[2] = -cos(a) * sin(r) * p[0] - cos(a) * cos(r) * p[1] - sin(a) * p[2] + h->height_m;
}

/* A plane in front of a camera that looks down and leans: slope, offset and cross are those of its angles. */
static void lean(struct convert_case *c, double pitch, double roll)
{
	struct stixel_frame_header *h = &c->header;
	const double length = sqrt(1 + tan(pitch) * tan(pitch) + tan(roll) * tan(roll));

	h->pitch_rad = pitch;
	h->roll_rad = roll;
	h->road_slope = h->baseline_m / (h->height_m * length);
	h->road_offset = h->road_slope * (tan(pitch) * h->fy - h->cy);
	h->road_cross = tan(roll) * h->road_slope;
}

/* Where an azimuth meets the lowest row, within the band, of column 90 at 25 px, m. */
static double lowest_row(const struct stixel_frame_header *h, double azimuth)
{
	const double c = cos(azimuth), n = sin(azimuth);
	double a[3], b[3], y = 300.5, t;

	do {
		y -= 0.01;
		vehicle(h, 449.5, y, 25, a);
		vehicle(h, 454.5, y, 25, b);
	} while ((a[2] + b[2]) / 2 < 0.15);
	t = (a[0] * n - a[1] * c) / ((a[0] - b[0]) * n - (a[1] - b[1]) * c);
	assert_true(t > -0.001 && t < 1.001);
	return hypot(a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]));
}

static void test_leaning_camera(void **state)
{
	static struct scan s;
	static const double angles[][2] = {{0.3, 0}, {-0.1, 0.05}, {0.2, -0.1}, {0, 0.2}, {0.3, 0.15}};

	for (size_t k = 0; k < sizeof(angles) / sizeof(angles[0]); k++) {
		int hits = 0;

		begin(&s);
		lean(&s.c, angles[k][0], angles[k][1]);
		s.o.angle_increment /= 4;
		s.o.count *= 4;
		case_open_to(&s.c, 0, 90);
		case_add(&s.c, 90, STIXEL_OBJECT, 300, 130, 25);
		case_open_to(&s.c, 91, CASE_COLUMNS);
		assert_int_equal(run(&s), 1);
		for (uint32_t i = 0; i < s.o.count; i++) {
			if (!isfinite(s.ranges[i]))
				continue;
			hits++;
			assert_true(fabs((double)s.ranges[i] - lowest_row(&s.c.header, angle(&s, i))) <
				    0.001);
		}
		assert_in_range(hits, 4, 7);
	}
}

/* Direction in which image column x sees the plane of the road infinitely far away. */
static double far_away(const struct stixel_frame_header *h, double x)
{
	double a[3], b[3], share;

	vehicle(h, x, 0, 1, a);
	vehicle(h, x, 479, 1, b);
	share = (a[2] - h->height_m) / (a[2] - b[2]);
	return atan2(a[1] + share * (b[1] - a[1]), a[0] + share * (b[0] - a[0]));
}

static void test_field_of_view(void **state)
{
	static struct scan s;

	for (int k = -1; k <= 1; k++) {
		double right, left;

		begin(&s);
		lean(&s.c, 0.3, 0.2 * k);
		s.o.angle_min = -1;
		s.o.angle_increment = 0.0005f;
		s.o.count = 4001;
		case_open_to(&s.c, 0, CASE_COLUMNS);
		assert_int_equal(run(&s), 1);
		right = far_away(&s.c.header, 639.5);
		left = far_away(&s.c.header, -0.5);
		assert_true(left > 0.5 && right < -0.5);
		for (uint32_t i = 0; i < s.o.count; i++)
			if (angle(&s, i) < right || angle(&s, i) > left)
				assert_true(isnan(s.ranges[i]));
			else
				assert_true(s.ranges[i] == INFINITY);
	}
}

/*
 * Seen from above, columns of a camera that looks down do not run through the point below it: what is behind
 * an obstacle lies in other directions than it does.
 */
static void test_hidden_beside(void **state)
{
	static struct scan s;
	int unseen = 0;

	begin(&s);
	lean(&s.c, 0.4, 0);
	s.o.angle_increment /= 8;
	s.o.count *= 8;
	case_open_to(&s.c, 0, 110);
	case_add(&s.c, 110, STIXEL_OBJECT, 400, 300, 100);
	case_open_to(&s.c, 111, CASE_COLUMNS);
	assert_int_equal(run(&s), 1);
	for (uint32_t i = 0; i < s.o.count; i++) {
		const double far = atan(-(554.5 - 319.5) / 500 * cos(0.4)); /* the column at the horizon */
		double near[3];

		vehicle(&s.c.header, 554.5, 400.5, 100, near);
		unseen += isnan(s.ranges[i]) && angle(&s, i) < far && angle(&s, i) > atan2(near[1], near[0]);
	}
	assert_true(unseen > 20);
}

/* Beyond its bend the road climbs: what lies on it is no obstacle, what stands on it is. */
static void test_bend(void **state)
{
	static struct scan s;

	for (int bent = 0; bent < 2; bent++)
		for (int tall = 0; tall < 2; tall++) {
			float r;

			begin_column(&s);
			s.c.header.road_bend = bent ? 1 / 6.0 : 0; /* from 10 m on as if the slope were 1/6 */
			s.c.header.road_bend_row = 314.5;
			/* 20 m: disparity 12.5, of the plane in row 277, of the bent road in 239.5 */
			case_add(&s.c, COLUMN, STIXEL_OBJECT, 239, tall ? 200 : 238, 12.5);
			r = middle(&s);
			if (bent && !tall)
				assert_true(r == INFINITY);
			else
				assert_ahead(&s, r, 20);
			/* before the bend it does not count, however high a thing is */
			begin_column(&s);
			s.c.header.road_bend = bent ? 1 / 6.0 : 0;
			s.c.header.road_bend_row = 314.5;
			case_add(&s.c, COLUMN, STIXEL_OBJECT, 150, 100, 50); /* from 2.4 m on */
			assert_true(middle(&s) == INFINITY);
		}
}

/* Publishers before 1.3 have no cross slope. */
static void test_old_frame(void **state)
{
	static struct scan s;

	for (int old = 0; old < 2; old++) {
		begin_column(&s);
		s.c.header.road_cross = 0.1; /* ground 0.25 px nearer in this column */
		s.c.header.header_bytes = old ? STIXEL_HEADER_BYTES_LEAST : sizeof(s.c.header);
		s.o.height_min = 0.1f;
		/* 0.12 m high over the road without the cross slope, 0.105 with; lower than 0.11 */
		s.o.height_min = 0.11f;
		case_add(&s.c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 309, 25);
		case_open_to(&s.c, COLUMN + 1, CASE_COLUMNS);
		assert_int_equal(run(&s), 1);
		assert_true(isfinite(s.ranges[looks_through(&s, 322)]) == old);
	}
}

static void test_bad_options(void **state)
{
	static struct scan s;
	struct stixel_scan_options bad[16];
	int n = 0;

	begin(&s);
	for (int i = 0; i < 16; i++)
		bad[i] = s.o;
	bad[n++].angle_min = NAN;
	bad[n++].angle_min = 7;
	bad[n++].angle_increment = 0;
	bad[n++].angle_increment = -0.1f;
	bad[n++].angle_increment = NAN;
	bad[n++].angle_increment = 1; /* more than a turn */
	bad[n++].range_min = -1;
	bad[n++].range_min = 100;
	bad[n++].range_max = INFINITY;
	bad[n++].range_max = NAN;
	bad[n++].height_min = 3;
	bad[n++].height_max = NAN;
	bad[n++].above = 3;
	bad[n++].below = 3;
	bad[n++].unknown = 3;
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

/* Sine, cosine and angles without libm: next to its own. */
static void test_angles_by_arithmetic(void **state)
{
	for (int i = -40000; i <= 40000; i++) {
		const double x = i * 0.0003217;
		double s, c;

		sx_sin_cos(x, &s, &c);
		assert_true(fabs(s - sin(x)) < 3e-16 && fabs(c - cos(x)) < 3e-16);
		assert_true(fabs(sx_atan2(s, c) - atan2(sin(x), cos(x))) < 9e-16);
		assert_true(fabs(sx_atan2(x, 1) - atan(x)) < 6e-16);
	}
	assert_true(sx_atan2(0, 0) == 0 && sx_atan2(0, -1) == SX_PI);
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

/* Frames that pass the check and mean nothing: no crash, no other values than those of REP 117. */
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
			assert_in_range(stixel_scan_defaults(&s.c.frame, &s.o, sizeof(s.o)), 0, 1);
			assert_true(s.o.count <= 65536);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usual_options),
		cmocka_unit_test(test_options_grow),
		cmocka_unit_test(test_wall),
		cmocka_unit_test(test_every_column),
		cmocka_unit_test(test_nothing_seen),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_limits_of_range),
		cmocka_unit_test(test_band),
		cmocka_unit_test(test_band_to_the_row),
		cmocka_unit_test(test_edge),
		cmocka_unit_test(test_column_across_range_max),
		cmocka_unit_test(test_frames_without),
		cmocka_unit_test(test_full_turn),
		cmocka_unit_test(test_wide_angles),
		cmocka_unit_test(test_leaning_camera),
		cmocka_unit_test(test_field_of_view),
		cmocka_unit_test(test_hidden_beside),
		cmocka_unit_test(test_bend),
		cmocka_unit_test(test_old_frame),
		cmocka_unit_test(test_bad_options),
		cmocka_unit_test(test_angles_by_arithmetic),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
