/*
 * Tests the meter against known integrals: ramps, counters, gaps, standstill, frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "power/meter.h"

#define MS INT64_C(1000000)
#define S (1000 * MS)
#define START (1234567 * S) /* clocks do not start at 0 */
#define CLOSE(a, b)                                                                      \
	do {                                                                             \
		if (!(fabs((a) - (b)) < 1e-9 + 1e-9 * fabs(b)))                          \
			fail_msg("line %d: %.12g, not %.12g", __LINE__, a, (double)(b)); \
	} while (0)

static struct sx_power_reading of_watts(double watts)
{
	return (struct sx_power_reading){.watts = watts, .joules = NAN};
}

static struct sx_power_reading of_joules(double joules)
{
	return (struct sx_power_reading){.watts = NAN, .joules = joules};
}

static struct sx_meter_readings get(const struct sx_meter *m, int64_t now_ns)
{
	struct sx_meter_readings f;

	sx_meter_get(m, now_ns, &f);
	return f;
}

static void assert_unknown(const struct sx_meter_readings *f)
{
	assert_true(isnan(f->watts) && isnan(f->watts_10s));
	assert_true(isnan(f->joules_per_frame) && isnan(f->fps_per_watt));
}

/* 10 W + 2 W/s at 30 frames a second. The trapezoid rule is exact here. */
static void a_ramp(void **state)
{
	struct sx_meter m;
	struct sx_meter_readings f;

	sx_meter_init(&m, 100 * MS);
	for (int i = 0; i <= 300; i++) {
		struct sx_power_reading r = of_watts(10.0 + 0.2 * i);

		sx_meter_add(&m, START + i * 100 * MS, &r, 500 + 3 * (uint64_t)i);
	}
	f = get(&m, START + 30 * S + 40 * MS);
	assert_false(f.stale);
	assert_int_equal(f.age_ns, 40 * MS);
	CLOSE(f.joules, 10.0 * 30 + 30 * 30); /* integral of 10 + 2t */
	CLOSE(f.seconds, 30.0);
	assert_int_equal(f.frames, 900);
	CLOSE(f.watts, 10 + 2 * 29.5); /* the middle of the last second */
	CLOSE(f.watts_10s, 10 + 2 * 25.0);
	CLOSE(f.joules_per_frame, 600.0 / 300);
	CLOSE(f.fps_per_watt, 0.5);
	CLOSE(f.fps_per_watt * f.joules_per_frame, 1.0);
	CLOSE(f.fps_per_watt, 30.0 / f.watts_10s);
}

/* A curve at uneven steps: the error is that of the trapezoid rule. */
static void a_sine_at_uneven_times(void **state)
{
	struct sx_meter m;
	struct sx_meter_readings f;
	double t = 0.0;

	sx_meter_init(&m, 100 * MS);
	for (int i = 0; t < 20.0; i++) {
		struct sx_power_reading r = of_watts(20.0 + 5.0 * sin(t));

		sx_meter_add(&m, START + (int64_t)(t * 1e9), &r, 0);
		t += 0.08 + 0.04 * (i % 3);
	}
	f = get(&m, START + (int64_t)(t * 1e9));
	t = f.seconds;
	assert_true(fabs(f.joules - (20.0 * t + 5.0 * (1.0 - cos(t)))) < 0.01);
	assert_true(isnan(f.joules_per_frame));
	CLOSE(f.fps_per_watt, 0.0); /* a known value: energy was used without a frame */
}

static void nothing_yet(void **state)
{
	struct sx_power_reading r = of_watts(12.0);
	struct sx_meter_readings f;
	struct sx_meter m;

	sx_meter_init(&m, 100 * MS);
	f = get(&m, START);
	assert_true(f.stale && f.age_ns < 0 && f.frames == 0);
	assert_unknown(&f);
	sx_meter_add(&m, START, &r, 7);
	f = get(&m, START);
	assert_true(!f.stale && f.age_ns == 0);
	assert_unknown(&f); /* one reading covers no time */
	sx_meter_add(&m, START + 100 * MS, &r, 10);
	f = get(&m, START + 100 * MS);
	CLOSE(f.watts, 12.0);
	assert_true(isnan(f.joules_per_frame)); /* three frames are too few for a rate */
	assert_int_equal(f.frames, 3);
	/* a reading that is not later than the last one adds nothing */
	sx_meter_add(&m, START + 100 * MS, &r, 10);
	sx_meter_add(&m, START, &r, 10);
	CLOSE(get(&m, START + 100 * MS).joules, 1.2);
	assert_int_equal(get(&m, START).age_ns, 0);
}

/*
 * Adds constant power for some seconds: a reading every step_ms, one frame each. Returns the time of the last
 * reading.
 */
static int64_t run_at(struct sx_meter *m, int64_t from_ns, int seconds, int step_ms, double watts,
		      uint64_t *frames)
{
	struct sx_power_reading r = of_watts(watts);
	int64_t t = from_ns;

	for (; t <= from_ns + seconds * S; t += step_ms * MS)
		sx_meter_add(m, t, &r, (*frames)++);
	return t - step_ms * MS;
}

/* A time without readings adds no energy, no time and no frames, so the quotients stay right. */
static void a_gap(void **state)
{
	struct sx_meter_readings f;
	uint64_t frames = 100;
	struct sx_meter m;
	int64_t t;

	sx_meter_init(&m, 100 * MS);
	t = run_at(&m, START, 4, 100, 10.0, &frames);
	f = get(&m, t + S);
	assert_false(f.stale);
	f = get(&m, t + S + 1);
	assert_true(f.stale);
	assert_unknown(&f);
	assert_int_equal(f.age_ns, S + 1);
	CLOSE(f.joules, 40.0); /* the energy measured before stays */
	frames += 1000;	       /* frames published during the gap */
	t = run_at(&m, t + 5 * S, 4, 100, 30.0, &frames);
	f = get(&m, t);
	CLOSE(f.joules, 40.0 + 120.0);
	CLOSE(f.seconds, 8.0);
	assert_int_equal(f.frames, 80);
	CLOSE(f.watts, 30.0);
	/*
	 * the last ten seconds contain one second at 10 W and four at 30 W that were measured, ten frames in
	 * each
	 */
	CLOSE(f.watts_10s, 26.0);
	CLOSE(f.joules_per_frame, 2.6);
	t = run_at(&m, t + 60 * S, 2, 100, 50.0, &frames);
	f = get(&m, t);
	CLOSE(f.watts_10s, 50.0); /* the minute before is outside of the window */
	CLOSE(f.joules, 160.0 + 100.0);
}

/* Slow readings are not a gap. */
static void slow_intervals(void **state)
{
	struct sx_meter_readings f;
	uint64_t frames = 0;
	struct sx_meter m;
	int64_t t;

	sx_meter_init(&m, 5000 * MS);
	t = run_at(&m, START, 60, 5000, 15.0, &frames);
	f = get(&m, t + 14 * S);
	assert_false(f.stale);
	CLOSE(f.joules, 900.0);
	CLOSE(f.watts, 15.0);
	CLOSE(f.joules_per_frame, 75.0);
	assert_true(get(&m, t + 16 * S).stale);
}

/*
 * A counter that changes every 250 ms, read every 100 ms. The meter has neither peaks nor gaps, and the right
 * power.
 */
static void a_counter(void **state)
{
	struct sx_meter_readings f;
	struct sx_meter m;

	sx_meter_init(&m, 100 * MS);
	for (int i = 0; i <= 200; i++) {
		struct sx_power_reading r = of_joules(5e6 + 40.0 * 0.25 * (i * 100 / 250));

		sx_meter_add(&m, START + i * 100 * MS, &r, (uint64_t)i);
	}
	f = get(&m, START + 20 * S);
	CLOSE(f.joules, 800.0);
	CLOSE(f.seconds, 20.0);
	assert_true(fabs(f.watts - 40.0) < 4.1);
	assert_true(fabs(f.watts_10s - 40.0) < 0.5);
	assert_true(fabs(f.joules_per_frame - 4.0) < 0.05);
}

/* Counters of some virtual machines never change. This does not mean 0 W. */
static void a_counter_that_stands_still(void **state)
{
	struct sx_power_reading r = of_joules(77.0);
	struct sx_meter_readings f;
	struct sx_meter m;

	sx_meter_init(&m, 100 * MS);
	for (int i = 0; i <= 50; i++)
		sx_meter_add(&m, START + i * 100 * MS, &r, (uint64_t)i);
	f = get(&m, START + 5 * S);
	assert_true(f.stale);
	assert_int_equal(f.age_ns, 5 * S);
	assert_unknown(&f);
	CLOSE(f.seconds, 0.0);
	/* the counter changes again: its energy since the last change counts */
	r = of_joules(177.0);
	sx_meter_add(&m, START + 6 * S, &r, 60);
	f = get(&m, START + 6 * S);
	CLOSE(f.joules, 100.0);
	assert_int_equal(f.frames, 60);
}

static void a_counter_that_is_set_back(void **state)
{
	static const double values[] = {1000, 1010, 1020, 3, 13, 23, 1e9, 1e9 + 10};
	struct sx_meter_readings f;
	struct sx_meter m;

	sx_meter_init(&m, 100 * MS);
	for (int i = 0; i < 8; i++) {
		struct sx_power_reading r = of_joules(values[i]);

		sx_meter_add(&m, START + i * S, &r, 10 * (uint64_t)i);
	}
	f = get(&m, START + 7 * S);
	CLOSE(f.joules, 50.0); /* neither the step back nor the jump of a billion joules in a second counts */
	CLOSE(f.seconds, 5.0);
	assert_int_equal(f.frames, 50);
	CLOSE(f.joules_per_frame, 1.0);
}

/* In runs of hours the window keeps its length and the sum its precision. */
static void long_runs(void **state)
{
	struct sx_meter_readings f;
	uint64_t frames = 0;
	struct sx_meter m;
	int64_t t;

	sx_meter_init(&m, 20 * MS);
	t = run_at(&m, START, 3600, 20, 8.0, &frames);
	t = run_at(&m, t, 10, 20, 16.0, &frames);
	f = get(&m, t);
	assert_true(fabs(f.watts_10s - 16.0) < 0.01);
	assert_true(fabs(f.joules - (3600 * 8.0 + 160.0)) < 0.5);
	assert_true(fabs(f.seconds - 3610.0) < 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ramp),
		cmocka_unit_test(a_sine_at_uneven_times),
		cmocka_unit_test(nothing_yet),
		cmocka_unit_test(a_gap),
		cmocka_unit_test(slow_intervals),
		cmocka_unit_test(a_counter),
		cmocka_unit_test(a_counter_that_stands_still),
		cmocka_unit_test(a_counter_that_is_set_back),
		cmocka_unit_test(long_runs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
