/*
 * Tests every case of health.c: states and their reasons, the loss of the last ten seconds, and when a
 * watchdog ping is allowed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/health.h"

#define S INT64_C(1000000000)
#define NOW (100 * S)

/*
 * Returns the input of a healthy daemon. The limit without progress is ten seconds, 20 pairs come a second,
 * and the last pair and its frame came just now.
 */
static struct sx_health_input well(void)
{
	return (struct sx_health_input){
		.now_ns = NOW,
		.limit_ns = 10 * S,
		.interval_ns = S / 20,
		.last_capture_ns = NOW - S / 20,
		.last_publish_ns = NOW - S / 20,
		.published = 1000,
		.captured = 1001,
	};
}

static void expect(const struct sx_health_input *in, enum stixel_state state, bool progress, bool serving,
		   const char *reason)
{
	struct sx_health h = {0};

	sx_health_judge(&h, in);
	assert_string_equal(h.reason, reason);
	assert_int_equal(h.state, state);
	assert_int_equal(h.progress, progress);
	assert_int_equal(h.serving, serving);
}

static void test_names(void **state)
{
	assert_string_equal(sx_health_name(STIXEL_STATE_STARTING), "starting");
	assert_string_equal(sx_health_name(STIXEL_STATE_NO_CAMERA), "no_camera");
	assert_string_equal(sx_health_name(STIXEL_STATE_STOPPING), "stopping");
	assert_string_equal(sx_health_name((enum stixel_state)99), "?");
}

static void test_running(void **state)
{
	struct sx_health_input in = well();

	expect(&in, STIXEL_STATE_RUNNING, true, true, "");
}

static void test_starting(void **state)
{
	struct sx_health_input in = well();

	in.published = 0;
	in.last_publish_ns = 0;
	expect(&in, STIXEL_STATE_STARTING, true, false, "no frame yet");
	in.in_flight_since_ns = NOW - 10 * S; /* just in time */
	expect(&in, STIXEL_STATE_STARTING, true, false, "no frame yet");
}

static void test_frame_overdue(void **state)
{
	struct sx_health_input in = well();

	/*
	 * Time counts from when progress could begin: the submission, or the previous frame if that is later.
	 */
	in.in_flight_since_ns = NOW - 11 * S;
	in.last_publish_ns = NOW - 12 * S;
	expect(&in, STIXEL_STATE_DEGRADED, false, false,
	       "no frame finished for 11.0 s while one is in flight");
	in.last_publish_ns = NOW - 10 * S;
	expect(&in, STIXEL_STATE_RUNNING, true, true, "");
	in.last_publish_ns--;
	expect(&in, STIXEL_STATE_DEGRADED, false, false,
	       "no frame finished for 10.0 s while one is in flight");
	/* reported before the camera, because a restart can mend a hung engine */
	in.absent = true;
	expect(&in, STIXEL_STATE_DEGRADED, false, false,
	       "no frame finished for 10.0 s while one is in flight");
	in.in_flight_since_ns = 0;
	expect(&in, STIXEL_STATE_NO_CAMERA, true, false, "camera absent, retried every few seconds");
}

static void test_silent_source(void **state)
{
	struct sx_health_input in = well();

	in.last_capture_ns = NOW - 10 * S;
	expect(&in, STIXEL_STATE_RUNNING, true, true, "");
	in.last_capture_ns--;
	expect(&in, STIXEL_STATE_DEGRADED, false, false, "no pair from the source for 10.0 s");
	/* a frame in flight is awaited first */
	in.in_flight_since_ns = NOW - S;
	expect(&in, STIXEL_STATE_RUNNING, true, true, "");
	/* a source with one pair in five seconds may miss two pairs */
	in.in_flight_since_ns = 0;
	in.interval_ns = 5 * S;
	in.last_capture_ns = NOW - 15 * S;
	expect(&in, STIXEL_STATE_RUNNING, true, true, "");
	in.last_capture_ns--;
	expect(&in, STIXEL_STATE_DEGRADED, false, false, "no pair from the source for 15.0 s");
}

static void test_absent(void **state)
{
	struct sx_health_input in = well();

	in.absent = true;
	in.last_capture_ns = NOW - 1000 * S;
	expect(&in, STIXEL_STATE_NO_CAMERA, true, false, "camera absent, retried every few seconds");
	in.absent_why = "";
	expect(&in, STIXEL_STATE_NO_CAMERA, true, false, "camera absent, retried every few seconds");
	in.absent_why = "/dev/video0: No such file or directory";
	expect(&in, STIXEL_STATE_NO_CAMERA, true, false, "/dev/video0: No such file or directory");
}

/* Frames come, but they are not to be trusted. */
static void test_pictures(void **state)
{
	struct sx_health_input in = well();

	in.images_why = "";
	expect(&in, STIXEL_STATE_RUNNING, true, true, "");
	in.images_why = "the left image is black";
	expect(&in, STIXEL_STATE_DEGRADED, true, true, "the left image is black");
	in.published = 0;
	in.last_publish_ns = 0;
	expect(&in, STIXEL_STATE_STARTING, true, false, "no frame yet");
}

static void test_stopping(void **state)
{
	struct sx_health_input in = well();

	in.stopping = in.absent = true;
	expect(&in, STIXEL_STATE_STOPPING, true, false, "stopping");
	in.in_flight_since_ns = in.last_publish_ns = NOW - 11 * S;
	expect(&in, STIXEL_STATE_STOPPING, false, false, "stopping");
}

/*
 * Runs `ticks` ticks of 100 pairs each. In each tick, `overload` pairs are dropped by overload and `corrupt` more
 * are unreadable.
 */
static void tick(struct sx_health *h, struct sx_health_input *in, int ticks, unsigned overload,
		 unsigned corrupt)
{
	for (int i = 0; i < ticks; i++) {
		in->now_ns += SX_HEALTH_TICK_NS;
		in->last_capture_ns = in->last_publish_ns = in->now_ns;
		in->captured += 100 - corrupt;
		in->overload += overload;
		in->corrupt += corrupt;
		in->published += 100 - overload - corrupt;
		sx_health_update(h, in);
	}
}

static void test_loss_by_overload(void **state)
{
	struct sx_health_input in = well();
	struct sx_health h = {0};

	tick(&h, &in, 100, 10, 0); /* ten dropped of a hundred pairs are accepted */
	assert_int_equal(h.state, STIXEL_STATE_RUNNING);
	tick(&h, &in, 40, 11, 0);
	assert_int_equal(h.state, STIXEL_STATE_DEGRADED);
	assert_true(h.progress && h.serving);
	assert_string_equal(h.reason, "engine too slow: 440 of the last 4000 pairs dropped by overload");
	/* the drops stop counting after ten seconds, not earlier */
	tick(&h, &in, 1, 0, 0);
	tick(&h, &in, 2, 10, 0);
	assert_int_equal(h.state, STIXEL_STATE_DEGRADED);
	tick(&h, &in, 40, 10, 0);
	assert_int_equal(h.state, STIXEL_STATE_RUNNING);
	assert_string_equal(h.reason, "");
}

static void test_loss_by_damage(void **state)
{
	struct sx_health_input in = well();
	struct sx_health h = {0};

	tick(&h, &in, 100, 0, 10);
	assert_int_equal(h.state, STIXEL_STATE_RUNNING);
	tick(&h, &in, 41, 0, 11);
	assert_int_equal(h.state, STIXEL_STATE_DEGRADED);
	assert_true(h.progress && h.serving);
	assert_string_equal(h.reason, "440 of the last 4000 pairs were unreadable");
}

/*
 * Frames came. Then one frame stays in flight while pairs are dropped. The reason must not say that the
 * engine is too slow.
 */
static void test_an_engine_that_hangs(void **state)
{
	struct sx_health_input in = well();
	struct sx_health h = {0};
	const int64_t hung_ns = NOW + 40 * SX_HEALTH_TICK_NS;

	tick(&h, &in, 40, 0, 0);
	in.in_flight_since_ns = hung_ns;
	for (int i = 0; i < 4; i++) {
		in.now_ns += SX_HEALTH_TICK_NS;
		in.last_capture_ns = in.now_ns;
		in.captured += 500;
		in.overload += 500;
		sx_health_update(&h, &in);
		assert_int_equal(h.state, STIXEL_STATE_RUNNING);
	}
	in.now_ns++;
	sx_health_judge(&h, &in);
	assert_int_equal(h.state, STIXEL_STATE_DEGRADED);
	assert_string_equal(h.reason, "no frame finished for 1.0 s while one is in flight");
	assert_true(h.progress && h.serving); /* the watchdog decides, at its own limit */
	/* The reason stays as long as the engine hangs, however long ago the last frame was. */
	in.limit_ns = 60 * S;
	for (int i = 0; i < 96; i++) {
		in.now_ns += SX_HEALTH_TICK_NS;
		in.last_capture_ns = in.now_ns;
		in.captured += 5;
		in.overload += 5;
		sx_health_update(&h, &in);
	}
	assert_string_equal(h.reason, "no frame finished for 25.0 s while one is in flight");
	in.in_flight_since_ns = in.last_publish_ns = in.now_ns;
	in.published++;
	sx_health_update(&h, &in);
	assert_memory_equal(h.reason, "engine too slow: ", 17);
}

/*
 * The engine hangs just before a tick, and until then it lost a few pairs. The tenth of its pairs that is lost by now
 * does not tell that it is too slow.
 */
static void test_an_engine_that_hangs_just_before_a_tick(void **state)
{
	struct sx_health_input in = well();
	struct sx_health h = {0};

	sx_health_update(&h, &in);
	for (int i = 0; i < 10; i++) {
		in.now_ns += SX_HEALTH_TICK_NS;
		in.last_capture_ns = in.last_publish_ns = in.now_ns;
		in.captured += 10;
		in.published += 10;
		sx_health_update(&h, &in);
	}
	in.in_flight_since_ns = in.now_ns + 10 * S / 1000;
	in.now_ns += SX_HEALTH_TICK_NS;
	in.last_capture_ns = in.now_ns;
	in.captured += 12;
	in.overload += 12;
	sx_health_update(&h, &in);
	assert_int_equal(h.state, STIXEL_STATE_RUNNING);
	/* it was slow, not hanging */
	in.in_flight_since_ns = in.last_publish_ns = in.now_ns;
	in.published++;
	sx_health_update(&h, &in);
	assert_memory_equal(h.reason, "engine too slow: ", 17);
}

/*
 * A source without a pace loses no pairs meanwhile. The reason appears after half of the watchdog's time, not
 * earlier.
 */
static void test_an_engine_that_hangs_without_losses(void **state)
{
	struct sx_health_input in = well();
	struct sx_health h = {0};

	tick(&h, &in, 40, 0, 0);
	in.in_flight_since_ns = in.now_ns;
	in.interval_ns = 0;
	for (int i = 0; i < 20; i++) {
		in.now_ns += SX_HEALTH_TICK_NS;
		sx_health_update(&h, &in);
		assert_int_equal(h.state, STIXEL_STATE_RUNNING);
	}
	in.now_ns++;
	sx_health_judge(&h, &in);
	assert_string_equal(h.reason, "no frame finished for 5.0 s while one is in flight");
	assert_true(h.progress && h.serving);
}

/* An engine that always took six seconds for a frame is too slow, but does not hang. */
static void test_a_slow_engine_does_not_hang(void **state)
{
	struct sx_health_input in = well();
	struct sx_health h = {0};

	for (int i = 0; i < 120; i++) {
		in.now_ns += SX_HEALTH_TICK_NS;
		in.last_capture_ns = in.now_ns;
		in.captured += 5;
		in.overload += 5;
		if (i % 24 == 0) {
			in.in_flight_since_ns = in.last_publish_ns = in.now_ns;
			in.published++;
		}
		sx_health_update(&h, &in);
		if (i > 8)
			assert_memory_equal(h.reason, "engine too slow: ", 17);
	}
}

static void test_changes(void **state)
{
	struct sx_health h = {.state = STIXEL_STATE_DEGRADED, .reason = "11 of 20 were unreadable"};
	struct sx_health_logged t = {0};
	int changes = 0;

	assert_true(sx_health_has_changed(&h, &t, NOW));
	assert_false(sx_health_has_changed(&h, &t, NOW));
	memcpy(h.reason, "12 of 25 were unreadable", sizeof("12 of 25 were unreadable"));
	assert_false(sx_health_has_changed(&h, &t, NOW)); /* the same reason with other numbers */
	memcpy(h.reason, "left is dark", sizeof("left is dark"));
	assert_true(sx_health_has_changed(&h, &t, NOW)); /* at once */
	/* the reason alternates for an hour, four times a second */
	for (int i = 0; i < 4 * 3600; i++) {
		memcpy(h.reason, i % 2 ? "left is dark " : "right is dark", sizeof("right is dark"));
		changes += sx_health_has_changed(&h, &t, NOW + i * SX_HEALTH_TICK_NS);
	}
	assert_in_range(changes, 58, 63);
	h.state = STIXEL_STATE_RUNNING;
	h.reason[0] = 0;
	assert_true(sx_health_has_changed(&h, &t, NOW)); /* a new state is always reported at once */
	assert_false(sx_health_has_changed(&h, &t, NOW));
}

static void test_same_reason(void **state)
{
	assert_true(sx_health_same_reason("", ""));
	assert_true(sx_health_same_reason("11 of the last 20 pairs", "3 of the last 4000 pairs"));
	assert_true(sx_health_same_reason("for 5.0 s", "for 10.25 s"));
	assert_false(sx_health_same_reason("", "no frame yet"));
	assert_false(sx_health_same_reason("for 5.0 s", "for 5.0 seconds"));
	assert_false(sx_health_same_reason("left is dark", "right is dark"));
}

/* Ten lost pairs make no pattern, even of very few pairs. Eleven do. */
static void test_few_losses_of_a_cold_start(void **state)
{
	struct sx_health_input in = well();
	struct sx_health h = {0};

	sx_health_update(&h, &in);
	in.captured += 12;
	in.overload += 10;
	sx_health_update(&h, &in);
	assert_int_equal(h.state, STIXEL_STATE_RUNNING);
	in.overload++;
	sx_health_judge(&h, &in); /* no loss is known without a sample */
	assert_int_equal(h.state, STIXEL_STATE_RUNNING);
	sx_health_update(&h, &in);
	assert_string_equal(h.reason, "engine too slow: 11 of the last 12 pairs dropped by overload");
}

/* An external process matches: counts pairs that got no map. */
static void test_loss_for_want_of_maps(void **state)
{
	struct sx_health_input in = well();
	struct sx_health h = {0};

	in.published = 0;
	in.map_why = "no process writes disparity maps";
	sx_health_update(&h, &in);
	assert_int_equal(h.state, STIXEL_STATE_STARTING);
	in.captured += 20;
	in.no_map += 20;
	sx_health_update(&h, &in);
	assert_int_equal(h.state, STIXEL_STATE_DEGRADED);
	assert_true(h.progress && !h.serving); /* the daemon lives, but serves no frames */
	assert_string_equal(h.reason,
			    "20 of the last 20 pairs had no disparity map: no process writes disparity maps");
	in.captured += 20;
	in.published = 20;
	in.map_why = "";
	sx_health_update(&h, &in);
	assert_true(h.state == STIXEL_STATE_DEGRADED && h.serving);
	assert_string_equal(h.reason, "20 of the last 40 pairs had no disparity map");
	/* the pairs came before the window and were dropped in it */
	h = (struct sx_health){0};
	sx_health_update(&h, &in);
	in.captured += 13;
	in.no_map += 14;
	sx_health_update(&h, &in);
	assert_string_equal(h.reason, "14 of the last 14 pairs had no disparity map");
	h = (struct sx_health){0};
	sx_health_update(&h, &in);
	in.captured += 13;
	in.overload += 14;
	in.published++;
	sx_health_update(&h, &in);
	assert_non_null(strstr(h.reason, "14 of the last 15 pairs dropped by overload"));
	in.captured += 20;
	in.overload += 20;
	in.no_map = 0;
	h = (struct sx_health){0};
	sx_health_update(&h, &in);
	in.captured += 20;
	in.overload += 20;
	sx_health_update(&h, &in);
	assert_string_equal(h.reason,
			    "the other process that matches, or the engine, is too slow: 20 of the last "
			    "20 pairs dropped by overload");
}

/*
 * Runs a little more than ten seconds. In each tick `no_map` pairs get no map, `overload` pairs are dropped,
 * `published` are published.
 */
static void ten_seconds(struct sx_health *h, struct sx_health_input *in, unsigned no_map, unsigned overload,
			unsigned published)
{
	for (int i = 0; i <= SX_HEALTH_SAMPLES; i++) {
		in->captured += no_map + overload + published;
		in->no_map += no_map;
		in->overload += overload;
		in->published += published;
		sx_health_update(h, in);
	}
}

/* The daemon serves nothing if ten seconds pass without a frame, whatever happened to the pairs. */
static void test_nothing_is_served_without_frames(void **state)
{
	static const struct {
		unsigned no_map, overload, published;
		bool serving;
	} cases[] = {
		{1, 6, 0, false}, /* a matcher that is late for each pair, at 30 pairs a second */
		{0, 8, 0, false}, {5, 0, 0, false}, {0, 8, 1, true}, {5, 0, 1, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sx_health_input in = well();
		struct sx_health h = {0};

		in.map_why = "";
		ten_seconds(&h, &in, cases[i].no_map, cases[i].overload, cases[i].published);
		assert_int_equal(h.state, STIXEL_STATE_DEGRADED);
		assert_int_equal(h.serving, cases[i].serving);
	}
	/* The losses are few, but all pairs are lost. With frames between them they make no pattern. */
	for (unsigned frames = 0; frames < 2; frames++) {
		struct sx_health_input in = well();
		struct sx_health h = {0};

		in.map_why = "";
		sx_health_update(&h, &in);
		in.captured += 8;
		in.no_map += 8;
		in.published += frames;
		sx_health_update(&h, &in);
		assert_int_equal(h.state, frames ? STIXEL_STATE_RUNNING : STIXEL_STATE_DEGRADED);
		assert_int_equal(h.serving, frames > 0);
	}
}

/* Runs ticks with `pairs` pairs each. The last sample determines the state. */
static void paired(struct sx_health *h, struct sx_health_input *in, unsigned ticks, unsigned pairs)
{
	while (ticks--) {
		in->now_ns += SX_HEALTH_TICK_NS;
		in->last_capture_ns = in->last_publish_ns = in->now_ns;
		in->captured += pairs;
		in->published += pairs;
		sx_health_update(h, in);
	}
}

static void test_slow_source(void **state)
{
	struct sx_health_input in = well();
	struct sx_health h = {0};

	in.rate = 60;
	paired(&h, &in, 40, 1); /* a slow start is judged only after ten seconds */
	assert_int_equal(h.state, STIXEL_STATE_RUNNING);
	paired(&h, &in, 1, 1);
	assert_int_equal(h.state, STIXEL_STATE_DEGRADED);
	assert_true(h.progress && h.serving);
	assert_string_equal(h.reason, "source gives 4.0 of 60 pairs a second");
	/* between two fifths and three quarters of the rate, the state stays as it was */
	paired(&h, &in, 60, 10);
	assert_string_equal(h.reason, "source gives 40.0 of 60 pairs a second");
	paired(&h, &in, 60, 12);
	assert_int_equal(h.state, STIXEL_STATE_RUNNING);
	paired(&h, &in, 60, 7); /* slightly below half of the rate, as in the dark */
	assert_int_equal(h.state, STIXEL_STATE_RUNNING);
	paired(&h, &in, 60, 5);
	assert_string_equal(h.reason, "source gives 20.0 of 60 pairs a second");
}

/* No pair is expected while the camera is absent, before the first frame, and while ticks are missing. */
static void test_time_that_does_not_count(void **state)
{
	struct sx_health_input in = well();
	struct sx_health h = {0};

	in.rate = 60;
	paired(&h, &in, 60, 15);
	in.absent = true;
	paired(&h, &in, 60, 0);
	in.absent = false;
	for (int i = 0; i < 60; i++) {
		paired(&h, &in, 1, 15);
		assert_int_equal(h.state, STIXEL_STATE_RUNNING);
	}
	in.now_ns += 8 * S;
	for (int i = 0; i < 60; i++) {
		paired(&h, &in, 1, 15);
		assert_int_equal(h.state, STIXEL_STATE_RUNNING);
	}
	sx_health_forget(&h);
	paired(&h, &in, 40, 1);
	assert_int_equal(h.state, STIXEL_STATE_RUNNING);
	h = (struct sx_health){0};
	in.published = 0;
	for (int i = 0; i < 60; i++) { /* the first frame is late */
		in.now_ns += SX_HEALTH_TICK_NS;
		sx_health_update(&h, &in);
	}
	paired(&h, &in, 1, 15);
	assert_int_equal(h.state, STIXEL_STATE_RUNNING);
}

static void test_source_without_a_rate(void **state)
{
	struct sx_health_input in = well();
	struct sx_health h = {0};

	paired(&h, &in, 60, 1);
	assert_int_equal(h.state, STIXEL_STATE_RUNNING);
	/* one pair in two seconds, two pairs missing: too few to judge */
	in.rate = 0.5;
	paired(&h, &in, 60, 0);
	assert_int_equal(h.state, STIXEL_STATE_RUNNING);
	/* unreadable pairs count as arrived, and have a reason of their own */
	in.rate = 60;
	tick(&h, &in, 60, 0, 20);
	assert_string_equal(h.reason, "800 of the last 4000 pairs were unreadable");
}

static void test_rate_of_a_camera(void **state)
{
	assert_true(sx_health_camera_rate(30, 15) == 15);
	/* an external trigger, which the driver does not know */
	assert_true(sx_health_camera_rate(10, 60) == 10);
	assert_true(sx_health_camera_rate(0, 60) == 60);
	assert_true(sx_health_camera_rate(30, 0) == 0); /* no pair is expected if the rate is unknown */
}

static void test_ping_for_each_frame(void **state)
{
	struct sx_health_input in = well();
	struct sx_health h = {0};

	sx_health_update(&h, &in);
	assert_true(sx_health_may_ping(&h, &in));
	assert_false(sx_health_may_ping(&h, &in));
	in.published++;
	assert_true(sx_health_may_ping(&h, &in));
	assert_false(sx_health_may_ping(&h, &in));
	in.no_map++; /* the daemon also does not hang when the external process does */
	assert_true(sx_health_may_ping(&h, &in));
	assert_false(sx_health_may_ping(&h, &in));
}

static void test_ping_without_a_camera(void **state)
{
	struct sx_health_input in = well();
	struct sx_health h = {.pinged_pairs = in.published};

	in.absent = true;
	sx_health_update(&h, &in);
	assert_true(sx_health_may_ping(&h, &in));
	assert_true(sx_health_may_ping(&h, &in));
	/* no ping while an earlier frame hangs in the engine */
	in.in_flight_since_ns = in.last_publish_ns = NOW - 11 * S;
	sx_health_update(&h, &in);
	assert_false(sx_health_may_ping(&h, &in));
}

static void test_ping_of_a_slow_source(void **state)
{
	struct sx_health_input in = well();
	struct sx_health h = {.pinged_pairs = in.published};

	in.interval_ns = 6 * S; /* two intervals are longer than the limit: no pair need come in time */
	in.last_capture_ns = NOW - 18 * S;
	assert_true(sx_health_may_ping(&h, &in));
	in.last_capture_ns--;
	assert_false(sx_health_may_ping(&h, &in)); /* three intervals without a pair count as silence */
	in.last_capture_ns = NOW - S;
	in.in_flight_since_ns = NOW - S; /* a pair is in flight: its frame is awaited */
	assert_false(sx_health_may_ping(&h, &in));
	in.in_flight_since_ns = 0;
	in.interval_ns = 5 * S;
	assert_false(sx_health_may_ping(&h, &in));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_starting),
		cmocka_unit_test(test_frame_overdue),
		cmocka_unit_test(test_silent_source),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_pictures),
		cmocka_unit_test(test_stopping),
		cmocka_unit_test(test_loss_by_overload),
		cmocka_unit_test(test_an_engine_that_hangs),
		cmocka_unit_test(test_an_engine_that_hangs_just_before_a_tick),
		cmocka_unit_test(test_an_engine_that_hangs_without_losses),
		cmocka_unit_test(test_a_slow_engine_does_not_hang),
		cmocka_unit_test(test_same_reason),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_loss_by_damage),
		cmocka_unit_test(test_few_losses_of_a_cold_start),
		cmocka_unit_test(test_loss_for_want_of_maps),
		cmocka_unit_test(test_nothing_is_served_without_frames),
		cmocka_unit_test(test_slow_source),
		cmocka_unit_test(test_time_that_does_not_count),
		cmocka_unit_test(test_source_without_a_rate),
		cmocka_unit_test(test_rate_of_a_camera),
		cmocka_unit_test(test_ping_for_each_frame),
		cmocka_unit_test(test_ping_without_a_camera),
		cmocka_unit_test(test_ping_of_a_slow_source),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
