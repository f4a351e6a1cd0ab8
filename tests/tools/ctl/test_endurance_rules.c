/*
 * Tests the rules of stixelctl endurance on made-up frames: which side causes a gap, which intervals count,
 * and that each fault makes its own line bad.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "tools/ctl/endurance/endurance.h"

#define MS INT64_C(1000000)
#define PERIOD_NS (33 * MS)
#define BEGAN_NS (1000 * PERIOD_NS)

static struct ctl command = {
	.instance = "front",
	.interval_ms = 1000,
	.budget = {.first_s = -1,
		   .rate = -1,
		   .jitter = -1,
		   .dropped = -1,
		   .lost = -1,
		   .cpu = -1,
		   .memory = -1,
		   .descriptors = -1,
		   .log = -1},
};

struct fixture {
	struct endurance e;
	struct stixel_frame_header next; /* the next frame, if nothing goes wrong */
	struct endurance_row rows[ENDURANCE_ROWS];
	int count;
};

/* Starts a daemon of 1000 / 33 frames per second without problems. */
static void begin(struct fixture *x)
{
	struct endurance_status *s = &x->e.status;

	memset(x, 0, sizeof(*x));
	x->e.c = &command;
	x->e.began_ns = BEGAN_NS;
	x->e.planned_ns = 10 * SX_NS_PER_S;
	x->e.paced = true;
	x->e.frames.state = STIXEL_STATE_RUNNING;
	*s = (struct endurance_status){.asked = 10,
				       .answered = 10,
				       .running = 10,
				       .cores = 2,
				       .first_ns = BEGAN_NS,
				       .last_ns = BEGAN_NS + 10 * SX_NS_PER_S,
				       .lines_first_ns = BEGAN_NS,
				       .lines_ns = BEGAN_NS + 10 * SX_NS_PER_S,
				       .first_frame_s = 1.0,
				       .fps = 1000.0 / 33.0,
				       .least = {20, 20}};
	s->first = (struct endurance_process){.cpu_s = 1.0, .memory = 5000000, .descriptors = 20};
	s->last = (struct endurance_process){.cpu_s = 6.0, .memory = 5000000, .descriptors = 20};
	for (int i = 0; i < 5; i++)
		endurance_line_add(&s->memory, i, 5e6);
	x->next = (struct stixel_frame_header){.epoch = 7,
					       .number = 1,
					       .captured = 1,
					       .clock = STIXEL_CLOCK_MONOTONIC,
					       .capture_left_ns = BEGAN_NS,
					       .capture_right_ns = BEGAN_NS,
					       .published_ns = BEGAN_NS + 10 * MS};
}

/* Delivers the next pair after `ns`. */
static void pass(struct fixture *x, int64_t ns)
{
	x->next.capture_left_ns += ns;
	x->next.capture_right_ns += ns;
	x->next.published_ns += ns;
	x->next.captured++;
}

static void frame(struct fixture *x, uint64_t lost)
{
	endurance_count(&x->e, &x->next, lost);
	x->next.number++;
	pass(x, PERIOD_NS);
}

static void frames(struct fixture *x, int n)
{
	for (int i = 0; i < n; i++)
		frame(x, 0);
}

static struct endurance_row *judged(struct fixture *x, const char *check)
{
	x->e.ended_ns = BEGAN_NS + x->e.planned_ns;
	x->count = endurance_judge(&x->e, x->rows);
	for (int i = 0; i < x->count; i++)
		if (strcmp(x->rows[i].check, check) == 0)
			return &x->rows[i];
	fail_msg("there is no check %s", check);
	return NULL;
}

/* Checks that the checks in `wanted` ("a, b") are bad, and no others. */
static void assert_bad(struct fixture *x, const char *wanted)
{
	char got[512] = "";
	size_t used = 0;

	judged(x, "state");
	for (int i = 0; i < x->count; i++)
		if (x->rows[i].verdict == ENDURANCE_BAD)
			used += (size_t)snprintf(got + used, sizeof(got) - used, "%s%s", used ? ", " : "",
						 x->rows[i].check);
	assert_string_equal(got, wanted);
}

static void nothing_is_wrong(void **state)
{
	struct fixture x;

	begin(&x);
	frames(&x, 100);
	assert_bad(&x, "");
	assert_int_equal(x.e.frames.nominal_ns, PERIOD_NS);
	assert_true(x.e.frames.as_reported);
	assert_int_equal(judged(&x, "latency p99")->verdict, ENDURANCE_NOT_JUDGED);
	assert_int_equal((int)judged(&x, "cpu")->value, 50);
}

static void nothing_came(void **state)
{
	struct fixture x;

	begin(&x);
	assert_bad(&x, "rate, numbers");
	assert_int_equal(judged(&x, "jitter p99")->verdict, ENDURANCE_NOT_JUDGED);
}

static void gaps_are_told_apart(void **state)
{
	struct fixture x;

	/* this reader came too late for two frames */
	begin(&x);
	frames(&x, 50);
	x.next.number += 2;
	pass(&x, PERIOD_NS);
	pass(&x, PERIOD_NS);
	frame(&x, 2);
	frames(&x, 50);
	assert_bad(&x, "lost here");
	assert_int_equal((int)judged(&x, "lost here")->value, 2);

	/* two frames are missing without an explanation */
	begin(&x);
	frames(&x, 50);
	x.next.number += 2;
	pass(&x, PERIOD_NS);
	pass(&x, PERIOD_NS);
	frame(&x, 1);
	frames(&x, 50);
	assert_bad(&x, "numbers, lost here");
	assert_int_equal((int)judged(&x, "numbers")->value, 1);

	/* The daemon dropped pairs. Numbers continue, and the long interval is not the camera's. */
	begin(&x);
	frames(&x, 50);
	x.next.dropped_overload += 3;
	x.next.dropped_corrupt += 1;
	for (int i = 0; i < 4; i++)
		pass(&x, PERIOD_NS);
	frames(&x, 50);
	assert_bad(&x, "dropped");
	assert_string_equal(judged(&x, "dropped")->figure, "3 overload, 0 unpaired, 1 corrupt");

	/* An external process gave no disparity map. The headers do not say so, and the interval is long. */
	begin(&x);
	frames(&x, 50);
	x.e.status.no_map[0] = 10;
	x.e.status.no_map[1] = 12;
	pass(&x, PERIOD_NS);
	pass(&x, PERIOD_NS);
	frame(&x, 0);
	assert_bad(&x, "jitter p99, jitter max, dropped");
	assert_string_equal(judged(&x, "dropped")->figure,
			    "0 overload, 0 unpaired, 0 corrupt, 2 without a map");

	/* a number occurs twice */
	begin(&x);
	frames(&x, 50);
	x.next.number--;
	frames(&x, 50);
	assert_bad(&x, "numbers");
}

static void a_new_epoch_is_a_restart(void **state)
{
	struct fixture x;

	begin(&x);
	frames(&x, 50);
	x.next.epoch++;
	x.next.number = 1;
	x.next.captured = 1;
	frames(&x, 50);
	assert_bad(&x, "restarts");
	assert_int_equal(x.e.frames.lost, 0);
}

static void intervals_are_judged(void **state)
{
	struct fixture x;

	/* a single pair in 150 is late by two thirds of an interval: within five times 20 % */
	begin(&x);
	frames(&x, 75);
	pass(&x, PERIOD_NS * 2 / 3);
	x.next.captured--;
	frames(&x, 75);
	assert_bad(&x, "");
	/* another pair is late by more than a period */
	pass(&x, PERIOD_NS * 11 / 10);
	x.next.captured--;
	frames(&x, 75);
	assert_bad(&x, "jitter max");

	/* all pairs are 40 % early or late in turn, with the right mean rate */
	begin(&x);
	for (int i = 0; i < 60; i++) {
		frame(&x, 0);
		pass(&x, i % 2 ? PERIOD_NS * 4 / 10 : -PERIOD_NS * 4 / 10);
		x.next.captured--;
	}
	judged(&x, "rate");
	assert_int_equal(judged(&x, "jitter p99")->verdict, ENDURANCE_BAD);
	assert_int_equal(judged(&x, "rate")->verdict, ENDURANCE_GOOD);

	/* a camera that delivers 30 instead of 36 pairs per second is steady, but too slow */
	begin(&x);
	x.e.status.fps = 36.0;
	frames(&x, 100);
	assert_bad(&x, "rate");
	assert_false(x.e.frames.as_reported);

	/* the last pair of a short run is late by half an interval, which is more than 1 % of the time */
	begin(&x);
	frames(&x, 30);
	pass(&x, PERIOD_NS / 2);
	x.next.captured--;
	frame(&x, 0);
	assert_int_equal(judged(&x, "rate")->verdict, ENDURANCE_GOOD);
}

static void silence_is_judged(void **state)
{
	struct fixture x;

	begin(&x);
	frames(&x, 50);
	x.next.published_ns += 1100 * MS;
	frames(&x, 50);
	assert_bad(&x, "silence");
}

static void the_process_is_judged(void **state)
{
	struct fixture x;

	begin(&x);
	frames(&x, 50);
	x.e.status.last.cpu_s = 1.0 + 10 * 1.91; /* all but 4.5 % of two cores */
	assert_bad(&x, "cpu");

	begin(&x);
	frames(&x, 50);
	for (int i = 5; i < 10; i++) /* memory grows by 1 MB per second */
		endurance_line_add(&x.e.status.memory, i, 5e6 + (i - 4) * 1e6);
	assert_bad(&x, "memory");

	begin(&x);
	frames(&x, 50);
	x.e.status.least[1] = 21;
	assert_bad(&x, "descriptors");

	begin(&x);
	frames(&x, 50);
	x.e.status.lines[1] = 3; /* in ten seconds: two lines are allowed */
	assert_bad(&x, "log");

	/* a value that cannot be measured is not good */
	begin(&x);
	frames(&x, 50);
	x.e.status.not_seen.text[0] = '?';
	assert_bad(&x, "");
	assert_int_equal(judged(&x, "cpu")->verdict, ENDURANCE_NOT_JUDGED);
	assert_int_equal(judged(&x, "memory")->verdict, ENDURANCE_NOT_JUDGED);
	assert_int_equal(judged(&x, "descriptors")->verdict, ENDURANCE_NOT_JUDGED);
}

static void the_status_is_judged(void **state)
{
	struct fixture x;

	begin(&x);
	frames(&x, 50);
	x.e.status.running = 9;
	assert_bad(&x, "state");
	x.e.status.running = 10;
	x.e.frames.state = STIXEL_STATE_DEGRADED; /* changes between two answers */
	assert_bad(&x, "state");
	x.e.frames.state = STIXEL_STATE_RUNNING;
	x.e.status.asked = 11;
	assert_bad(&x, "answers");
	x.e.status.asked = 10;
	x.e.frames.stalled_ns = 1;
	assert_bad(&x, "heartbeat");
	x.e.frames.stalled_ns = 0;
	x.e.status.unbalanced = -1;
	assert_bad(&x, "counts");
	x.e.status.unbalanced = 0;
	x.e.status.first_frame_s = 5.1;
	assert_bad(&x, "first frame");
	/* After an hour, the first frame is no longer judged. Late cameras are not the daemon's fault. */
	x.e.status.uptime_s = 3600.0;
	assert_int_equal(judged(&x, "first frame")->verdict, ENDURANCE_NOT_JUDGED);
	x.e.status.uptime_s = 6.0;
	x.e.status.camera_late = true;
	assert_int_equal(judged(&x, "first frame")->verdict, ENDURANCE_NOT_JUDGED);
	command.budget.first_s = 5;
	assert_bad(&x, "first frame");
	command.budget.first_s = 6;
	assert_int_equal(judged(&x, "first frame")->verdict, ENDURANCE_GOOD);
	command.budget.first_s = -1;
}

static void a_figure_ends_with_a_letter(void **state)
{
	char whole[] = "g\xc3\xbcnstig", half[] = "gr\xc3\xbc\xc3";
	struct fixture x;
	json_t *figure;

	endurance_cut(whole);
	assert_string_equal(whole, "g\xc3\xbcnstig");
	endurance_cut(half);
	assert_string_equal(half, "gr\xc3\xbc");

	/* the buffer cut the reason within a character */
	begin(&x);
	frames(&x, 50);
	x.e.status.running = 0;
	snprintf(x.e.status.state, sizeof(x.e.status.state), "degraded");
	memset(x.e.status.reason, 'x', sizeof(x.e.status.reason) - 2);
	x.e.status.reason[sizeof(x.e.status.reason) - 2] = '\xc3';
	figure = json_string(judged(&x, "state")->figure);
	assert_non_null(figure);
	assert_true(json_string_length(figure) > sizeof(x.e.status.reason));
	json_decref(figure);
}

static int64_t unbalanced(int captured, int published, int overload, int unpaired, int no_map)
{
	json_t *j = json_pack("{s:{s:i}, s:{s:i, s:i, s:{s:i, s:i, s:i, s:i}}}", "engine", "contexts", 2,
			      "frames", "captured", captured, "published", published, "dropped", "overload",
			      overload, "unpaired", unpaired, "corrupt", 0, "no_map", no_map);
	int64_t rest;

	assert_non_null(j);
	rest = endurance_unbalanced(j);
	json_decref(j);
	return rest;
}

static void counts_add_up(void **state)
{
	assert_int_equal(unbalanced(100, 100, 0, 0, 0), 0);
	assert_int_equal(unbalanced(100, 90, 5, 0, 3), 0);
	assert_int_equal(unbalanced(100, 96, 0, 0, 0), 0); /* four pairs are in flight */
	assert_int_equal(unbalanced(100, 95, 0, 0, 0), 1);
	assert_int_equal(unbalanced(100, 96, 5, 0, 0), -1);
	assert_int_equal(unbalanced(100, 100, 0, 7, 0),
			 0); /* images without a pair do not count as captured pairs */
}

static void a_slope_is_that_of_the_points(void **state)
{
	struct endurance_line l = {0};

	assert_true(endurance_line_slope(&l) == 0.0);
	endurance_line_add(&l, 3.0, 10.0);
	assert_true(endurance_line_slope(&l) == 0.0);
	endurance_line_add(&l, 5.0, 14.0);
	assert_true(endurance_line_slope(&l) == 2.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_wrong),
		cmocka_unit_test(nothing_came),
		cmocka_unit_test(gaps_are_told_apart),
		cmocka_unit_test(a_new_epoch_is_a_restart),
		cmocka_unit_test(intervals_are_judged),
		cmocka_unit_test(silence_is_judged),
		cmocka_unit_test(the_process_is_judged),
		cmocka_unit_test(the_status_is_judged),
		cmocka_unit_test(a_figure_ends_with_a_letter),
		cmocka_unit_test(counts_add_up),
		cmocka_unit_test(a_slope_is_that_of_the_points),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
