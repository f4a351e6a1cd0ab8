/*
 * Shared by the tests of scans: synthetic frames with one column under test, their scan, and the range at an
 * angle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_IPC_CONVERT_SCAN_CASE_H
#define SX_TESTS_IPC_CONVERT_SCAN_CASE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/ipc/convert/convert_case.h"

#define ANGLES_MAX 4096
#define COLUMN 64 /* index of the column under test: image columns 320 .. 324 */
#define UNTOUCHED 12345.0f

struct scan {
	struct convert_case c;
	struct stixel_scan_options o;
	float ranges[ANGLES_MAX + 1];
};

static inline void begin(struct scan *s)
{
	case_init(&s->c);
	assert_int_equal(stixel_scan_defaults(&s->c.frame, &s->o, sizeof(s->o)), 1);
}

static inline int run(struct scan *s)
{
	int r;

	assert_true(s->o.count <= ANGLES_MAX);
	for (uint32_t i = 0; i <= s->o.count; i++)
		s->ranges[i] = UNTOUCHED;
	r = stixel_scan(&s->c.frame, &s->o, sizeof(s->o), s->ranges);
	assert_true(s->ranges[s->o.count] == UNTOUCHED);
	return r;
}

static inline double angle(const struct scan *s, uint32_t i)
{
	return (double)s->o.angle_min + i * (double)s->o.angle_increment;
}

/* Returns the index of the angle that looks through image column x of a level camera. */
static inline uint32_t looks_through(const struct scan *s, double x)
{
	return (uint32_t)lround((atan((319.5 - x) / 500) - (double)s->o.angle_min) /
				(double)s->o.angle_increment);
}

/*
 * Scans with open road in the neighbouring columns. Returns the range at the middle of the column under test.
 */
static inline float middle(struct scan *s)
{
	case_open_to(&s->c, COLUMN + 1, CASE_COLUMNS);
	assert_int_equal(run(s), 1);
	for (uint32_t i = 0; i < s->o.count; i++) /* the column changes no other angle */
		if (fabs(319.5 - 500 * tan(angle(s, i)) - 322) > 2.51)
			assert_true(s->ranges[i] == INFINITY);
	return s->ranges[looks_through(s, 322)];
}

/* Starts a frame with open road in all columns left of the one under test. */
static inline void begin_column(struct scan *s)
{
	begin(s);
	case_open_to(&s->c, 0, COLUMN);
}

/*
 * Checks that range is the distance at which the ray through image column 322 meets a plane `metres` ahead.
 */
static inline void assert_ahead(const struct scan *s, float range, double metres)
{
	const double want = metres / cos(angle(s, looks_through(s, 322)));

	assert_true(fabs((double)range - want) <= want * 1.2e-7);
}

#endif
