/*
 * Tests scans of synthetic frames whose road is not a level plane, or whose camera has pitch or roll. Also
 * tests the angle functions that replace libm.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ipc/client/geometry.h"
#include "tests/ipc/convert/scan_case.h"

/* Converts a pixel to the vehicle's coordinates by the formulas of Road.to_vehicle(), with libm. */
static void vehicle(const struct stixel_frame_header *h, double x, double y, double d, double out[3])
{
	const double z = h->fx * h->baseline_m / d, r = h->roll_rad;
	const double p[3] = {(x - h->cx) / h->fx * z, (y - h->cy) / h->fy * z, z};
	const double a = atan(tan(h->pitch_rad) * cos(r));

	out[0] = -sin(a) * sin(r) * p[0] - sin(a) * cos(r) * p[1] + cos(a) * p[2];
	out[1] = -cos(r) * p[0] + sin(r) * p[1];
	out[2] = -cos(a) * sin(r) * p[0] - cos(a) * cos(r) * p[1] - sin(a) * p[2] + h->height_m;
}

/* Sets the road plane before a camera with pitch and roll: slope, offset and cross slope follow from both. */
static void set_rolled_plane(struct convert_case *c, double pitch, double roll)
{
	struct stixel_frame_header *h = &c->header;
	const double length = sqrt(1 + tan(pitch) * tan(pitch) + tan(roll) * tan(roll));

	h->pitch_rad = pitch;
	h->roll_rad = roll;
	h->road_slope = h->baseline_m / (h->height_m * length);
	h->road_offset = h->road_slope * (tan(pitch) * h->fy - h->cy);
	h->road_cross = tan(roll) * h->road_slope;
}

/*
 * Returns the distance, m, at which an azimuth meets the lowest row within the height limits, in column 90
 * at a disparity of 25 px.
 */
static double lowest_row(const struct scan *s, double azimuth)
{
	const struct stixel_frame_header *h = &s->c.header;
	const double c = cos(azimuth), n = sin(azimuth);
	double a[3], b[3], y = 300.5, t;

	do {
		y -= 0.01;
		vehicle(h, 449.5, y, 25, a);
		vehicle(h, 454.5, y, 25, b);
	} while ((a[2] + b[2]) / 2 < (double)s->o.height_min);
	t = (a[0] * n - a[1] * c) / ((a[0] - b[0]) * n - (a[1] - b[1]) * c);
	assert_true(t > -0.001 && t < 1.001);
	return hypot(a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]));
}

/* Fills columns with ground over the whole height, including the horizon. */
static void ground_to(struct convert_case *c, unsigned first, unsigned end)
{
	for (unsigned u = first; u < end; u++)
		case_ground(c, u, 0);
}

static void test_rolled_camera(void **state)
{
	static struct scan s;
	struct sx_geometry g;
	static const double angles[][2] = {{0.3, 0}, {-0.1, 0.05}, {0.2, -0.1}, {0, 0.2}, {0.3, 0.15}};

	for (size_t k = 0; k < sizeof(angles) / sizeof(angles[0]); k++) {
		int hits = 0, foot;

		begin(&s);
		set_rolled_plane(&s.c, angles[k][0], angles[k][1]);
		s.o.angle_increment /= 4;
		s.o.count *= 4;
		g = sx_geometry_of(&s.c.header);
		ground_to(&s.c, 0, 90);
		foot = (int)sx_geometry_upright(&g, 452, 25).foot_row;
		case_add(&s.c, 90, STIXEL_OBJECT, foot < 300 ? foot : 300, 0, 25);
		ground_to(&s.c, 91, CASE_COLUMNS);
		assert_int_equal(run(&s), 1);
		for (uint32_t i = 0; i < s.o.count; i++) {
			if (!isfinite(s.ranges[i]))
				continue;
			hits++;
			assert_true(fabs((double)s.ranges[i] - lowest_row(&s, angle(&s, i))) < 0.001);
		}
		assert_in_range(hits, 4, 7);
	}
}

/* Returns the direction in which image column x sees the plane of the road at infinity. */
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
		set_rolled_plane(&s.c, 0.3, 0.2 * k);
		s.o.angle_min = -1;
		s.o.angle_increment = 0.0005f;
		s.o.count = 4001;
		ground_to(&s.c, 0, CASE_COLUMNS);
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
 * Seen from above, the image columns of a camera that looks down do not run through the point below the
 * camera. So the area hidden by an obstacle lies in other directions than the obstacle.
 */
static void test_hidden_beside(void **state)
{
	static struct scan s;
	int unseen = 0;

	begin(&s);
	set_rolled_plane(&s.c, 0.4, 0);
	s.o.angle_increment /= 8;
	s.o.count *= 8;
	case_open_to(&s.c, 0, 110);
	case_add(&s.c, 110, STIXEL_OBJECT, 400, 300, 100);
	case_open_to(&s.c, 111, CASE_COLUMNS);
	assert_int_equal(run(&s), 1);
	for (uint32_t i = 0; i < s.o.count; i++) {
		/* direction of the column at the horizon */
		const double far = atan(-(554.5 - 319.5) / 500 * cos(0.4));
		double near[3];

		vehicle(&s.c.header, 554.5, 400.5, 100, near);
		unseen += isnan(s.ranges[i]) && angle(&s, i) < far && angle(&s, i) > atan2(near[1], near[0]);
	}
	assert_true(unseen > 20);
}

/* Returns the range in the middle of the column. The road has slope 1/6 from 10 m on, or is a plane. */
static float bent_with(struct scan *s, bool bent, int bottom, int top, double d)
{
	begin(s);
	s->c.header.road_bend = bent ? 1 / 6.0 : 0;
	s->c.header.road_bend_row = 314.5;
	ground_to(&s->c, 0, COLUMN);
	case_ground(&s->c, COLUMN, bottom + 1);
	case_add(&s->c, COLUMN, STIXEL_OBJECT, bottom, top, d);
	case_ground(&s->c, COLUMN, 0);
	ground_to(&s->c, COLUMN + 1, CASE_COLUMNS);
	assert_int_equal(run(s), 1);
	return s->ranges[looks_through(s, 322)];
}

/* The road climbs beyond its bend. A low object on the climbing road is no obstacle. A tall one is. */
static void test_bend(void **state)
{
	static struct scan s;

	for (int bent = 0; bent < 2; bent++)
		for (int tall = 0; tall < 2; tall++) {
			/*
			 * at 20 m the disparity is 12.5 px: row 277 of the plane, row 239.5 of the bent road
			 */
			const float r = bent_with(&s, bent, 239, tall ? 200 : 238, 12.5);

			if (bent && !tall)
				assert_true(r == INFINITY);
			else
				assert_ahead(&s, r, 20);
			/*
			 * before the bend the object does not count, because it begins 2.4 m above the road
			 */
			assert_true(bent_with(&s, bent, 150, 100, 50) == INFINITY);
		}
}

/* Publishers before 1.3 send no cross slope. */
/*
 * Starts a frame of a camera that lies on its side. Each column, from its foot to the horizon, covers all of
 * the few angles.
 */
static void begin_aside(struct scan *s, uint32_t columns)
{
	struct stixel_frame_header *h = &s->c.header;

	case_init(&s->c);
	h->columns = h->image_width = columns;
	h->column_width = 1;
	h->image_height = 40000;
	h->cx = columns / 2;
	h->cy = 20000;
	h->fx = h->fy = 1e6;
	set_rolled_plane(&s->c, 0.01, 0.8);
	s->o = (struct stixel_scan_options){.angle_min = 0.005f,
					    .angle_increment = 1e-6f,
					    .count = 600,
					    .range_max = 5000,
					    .height_min = -1e6f,
					    .height_max = 1e6f,
					    .unknown = STIXEL_SCAN_AS_UNSEEN};
}

/* Columns that see nothing cost work, too. A frame with too many of them is given up. */
static void test_too_many_columns(void **state)
{
	static uint32_t offsets[12001];
	static struct scan s;

	for (uint32_t columns = 10000; columns <= 12000; columns += 2000) {
		begin_aside(&s, columns);
		s.c.frame.offsets = offsets;
		assert_int_equal(run(&s), columns == 10000);
		for (uint32_t i = 0; i < s.o.count; i++)
			assert_true(isnan(s.ranges[i]));
	}
}

/* Looking up what an obstacle hides costs work for each obstacle. */
static void test_too_much_hidden(void **state)
{
	static struct scan s;
	const uint32_t columns = 40;

	begin_aside(&s, columns);
	/* between the directions of the obstacles and their directions at the horizon */
	s.o.angle_min = -0.0066f;
	for (unsigned i = 0; i < CASE_STIXELS; i++)
		case_add(&s.c, i * columns / CASE_STIXELS, STIXEL_OBJECT, 12000, 11000, 500);
	assert_int_equal(run(&s), 0);
	s.c.header.stixel_count = s.c.offsets[columns] = s.c.offsets[columns - 1] = 1000;
	for (uint32_t u = 0; u < columns; u++)
		s.c.offsets[u] = s.c.offsets[u] < 1000 ? s.c.offsets[u] : 1000;
	assert_int_equal(run(&s), 1);
}

static void test_old_frame(void **state)
{
	static struct scan s;

	for (int old = 0; old < 2; old++) {
		begin_column(&s);
		s.c.header.road_cross = 0.1; /* ground 0.25 px nearer in this column */
		s.c.header.header_bytes = old ? STIXEL_HEADER_BYTES_LEAST : sizeof(s.c.header);
		s.o.height_min = 0.1f;
		/*
		 * height of the object: 0.12 m without the cross slope, 0.105 m with it, which is below
		 * height_min
		 */
		s.o.height_min = 0.11f;
		case_add(&s.c, COLUMN, STIXEL_OBJECT, CASE_FOOT, 309, 25);
		case_open_to(&s.c, COLUMN + 1, CASE_COLUMNS);
		assert_int_equal(run(&s), 1);
		assert_true(isfinite(s.ranges[looks_through(&s, 322)]) == old);
	}
}

/* Compares sine, cosine and angles computed without libm to libm's results. */
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
	assert_true(sx_atan2(1, 0) == 0.5 * SX_PI && sx_atan2(-1, 0) == -0.5 * SX_PI);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rolled_camera),	 cmocka_unit_test(test_field_of_view),
		cmocka_unit_test(test_hidden_beside),	 cmocka_unit_test(test_bend),
		cmocka_unit_test(test_old_frame),	 cmocka_unit_test(test_angles_by_arithmetic),
		cmocka_unit_test(test_too_many_columns), cmocka_unit_test(test_too_much_hidden),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
