/*
 * Tests the sampler: a thread that reads a sensor, loses it and finds it again, and never blocks its callers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "power/sampler.h"
#include "tests/power/tree.h"

#define LIMIT_NS (60 * SX_NS_PER_S) /* timeout of actions that take a second on an idle machine */

static const struct sx_power_engine on_cpu;
static _Atomic uint64_t frames;

static uint64_t count_frames(const void *user)
{
	return atomic_load((const _Atomic uint64_t *)user);
}

static struct sx_sampler *start(const struct tree *t)
{
	const struct sx_power_params p = {.source = SX_POWER_AUTO, .interval_ms = 20, .root = t->root};
	struct sx_sampler *s = NULL;

	assert_int_equal(sx_sampler_start(&s, &p, &on_cpu, count_frames, &frames), 0);
	return s;
}

static struct sx_sampler_look look(struct sx_sampler *s)
{
	struct sx_sampler_look l;

	sx_sampler_look(s, sx_now_ns(), &l);
	return l;
}

static void pause_ms(int ms)
{
	const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	nanosleep(&t, NULL);
}

/*
 * Replaces all sensors by the sensors of a board in one step. With half of them the sampler would see another
 * board.
 */
static void plug(const struct tree *t, const char *board)
{
	char from[96], to[96];
	struct tree aside;

	tree_create(&aside);
	tree_make(&aside, tree_board(board));
	snprintf(from, sizeof(from), "%s/sys", aside.root);
	snprintf(to, sizeof(to), "%s/sys", t->root);
	if (access(to, F_OK) == 0)
		tree_delete(t, "/sys");
	assert_int_equal(rename(from, to), 0);
	tree_remove(&aside);
}

/* Polls the sampler until the condition holds. */
static struct sx_sampler_look until(struct sx_sampler *s, bool (*so)(const struct sx_sampler_look *l),
				    const char *what)
{
	int64_t end = sx_now_ns() + LIMIT_NS;
	struct sx_sampler_look l;

	do {
		atomic_fetch_add(&frames, 1);
		pause_ms(5);
		l = look(s);
		if (so(&l))
			return l;
	} while (sx_now_ns() < end);
	fail_msg("not %s in time; source '%s', reason '%s', %g W, %g s", what, l.source, l.reason,
		 l.readings.watts, l.readings.seconds);
	return l;
}

static bool present(const struct sx_sampler_look *l)
{
	return *l->source;
}

static bool absent(const struct sx_sampler_look *l)
{
	return !*l->source && l->changes > 0;
}

static bool stale(const struct sx_sampler_look *l)
{
	return l->readings.stale && *l->reason;
}

static bool told_by_frame(const struct sx_sampler_look *l)
{
	return isfinite(l->readings.joules_per_frame);
}

static double joules_before;
static bool more_joules(const struct sx_sampler_look *l)
{
	return l->readings.joules > joules_before;
}

static void a_board(void **state)
{
	const struct tree_board *b = tree_board("orin-nano");
	struct sx_sampler_look l;
	struct sx_sampler *s;
	struct tree t;

	tree_create(&t);
	tree_make(&t, b);
	s = start(&t);
	l = until(s, told_by_frame, "known by frame");
	assert_string_equal(l.source, "ina3221");
	assert_string_equal(l.scope, "module");
	assert_string_equal(l.reason, "");
	assert_int_equal(l.interval_ms, 20);
	assert_true(fabs(l.readings.watts - tree_total(b)) < 0.01);
	assert_true(l.readings.frames > 0 && l.readings.seconds >= 1.0);
	assert_true(fabs(l.readings.joules - l.readings.seconds * tree_total(b)) < 0.01 * l.readings.joules);
	sx_sampler_stop(s);
	tree_remove(&t);
}

/*
 * A missing sensor is reported first as stale, then as lost. The measured energy stays. The same sensor under
 * another name continues the sum.
 */
static void unplugged_and_back(void **state)
{
	const struct tree_board *b = tree_board("orin-nano");
	struct sx_sampler_look before, l;
	struct sx_sampler *s;
	struct tree t;

	tree_create(&t);
	tree_make(&t, b);
	s = start(&t);
	before = until(s, told_by_frame, "known by frame");
	tree_delete(&t, "/sys/class/hwmon/hwmon9");
	l = until(s, stale, "stale");
	assert_non_null(strstr(l.reason, "hwmon9/in1_input: No such file or directory"));
	assert_true(isnan(l.readings.watts) && isnan(l.readings.fps_per_watt));
	l = until(s, absent, "lost");
	assert_int_equal(l.changes, before.changes + 1);
	assert_true(l.readings.stale && l.readings.joules >= before.readings.joules);
	before = l;
	plug(&t, b->name);
	l = until(s, present, "found again");
	assert_int_equal(l.changes, before.changes + 1);
	joules_before = before.readings.joules;
	l = until(s, more_joules, "measured again");
	assert_false(l.readings.stale);
	sx_sampler_stop(s);
	tree_remove(&t);
}

/* A new sensor starts a new sum: energy of a module and of a board is not added up. */
static void another_sensor_begins_anew(void **state)
{
	struct sx_sampler_look before, l;
	struct sx_sampler *s;
	struct tree t;

	tree_create(&t);
	tree_make(&t, tree_board("orin-nano"));
	s = start(&t);
	before = until(s, told_by_frame, "known by frame");
	tree_delete(&t, "/sys/class/hwmon/hwmon9");
	until(s, absent, "lost");
	plug(&t, "thor");
	l = until(s, present, "found");
	assert_string_equal(l.scope, "board");
	assert_true(l.readings.seconds < before.readings.seconds || l.readings.joules == 0.0);
	sx_sampler_stop(s);
	tree_remove(&t);
}

static void none_and_then_one(void **state)
{
	struct sx_sampler_look l;
	struct sx_sampler *s;
	struct tree t;

	tree_create(&t);
	s = start(&t);
	l = until(s, absent, "searching for a sensor");
	assert_int_equal(l.changes, 1);
	assert_non_null(strstr(l.reason, "no INA power monitor"));
	assert_true(l.readings.age_ns < 0);
	plug(&t, "nano");
	l = until(s, present, "found");
	assert_int_equal(l.changes, 2);
	assert_string_equal(l.source, "ina3221x");
	sx_sampler_stop(s);
	tree_remove(&t);
}

static void it_ends_at_any_time(void **state)
{
	struct tree t;

	tree_create(&t);
	tree_make(&t, tree_board("agx-orin-5"));
	for (int i = 0; i < 50; i++) {
		struct sx_sampler *s = start(&t);

		pause_ms(i % 5);
		look(s);
		sx_sampler_stop(s);
	}
	sx_sampler_stop(NULL);
	tree_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_board),
		cmocka_unit_test(unplugged_and_back),
		cmocka_unit_test(another_sensor_begins_anew),
		cmocka_unit_test(none_and_then_one),
		cmocka_unit_test(it_ends_at_any_time),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
