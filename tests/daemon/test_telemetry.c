/*
 * Tests that counters never lose counts and no duration is negative, whatever cameras and other processes do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "daemon/telemetry/telemetry.h"

static int make_telemetry(void **state)
{
	struct sx_telemetry *t = NULL;
	int r = sx_telemetry_create(&t);

	*state = t;
	return r;
}

static int destroy_telemetry(void **state)
{
	sx_telemetry_destroy(*state);
	return 0;
}

/*
 * The pipeline and its feed are created again, and the feed's counters start at 0. The reported counters
 * continue.
 */
static void counters_of_a_feed_outlive_it(void **state)
{
	struct sx_telemetry *t = *state;
	const struct sx_feed_counters before = {
		.received = 7, .late = 3, .lost = 2, .refused = 5, .restarts = 1};
	const struct sx_feed_counters after = {.received = 1, .refused = 1};

	sx_telemetry_feed(t, SX_FEED_SCORES, &before, SX_FEED_READING, "");
	sx_telemetry_feed_closed(t, SX_FEED_SCORES, &before);
	sx_telemetry_feed(t, SX_FEED_SCORES, &after, SX_FEED_READING, "");
	assert_int_equal(sx_telemetry_count(t, SX_METRIC_SCORES_RECEIVED), 8);
	assert_int_equal(sx_telemetry_count(t, SX_METRIC_SCORES_LATE), 3);
	assert_int_equal(sx_telemetry_count(t, SX_METRIC_SCORES_LOST), 2);
	assert_int_equal(sx_telemetry_count(t, SX_METRIC_SCORES_REFUSED), 6);
	assert_int_equal(sx_telemetry_count(t, SX_METRIC_SCORES_RESTARTS), 1);
	assert_int_equal(sx_telemetry_count(t, SX_METRIC_MAPS_RECEIVED), 0);
}

/* The daemon takes the camera's timestamps as they are. The camera's clock may be ahead of the daemon's. */
static void camera_from_the_future(void **state)
{
	struct sx_telemetry *t = *state;
	const struct stixel_frame_header h = {.published = 1,
					      .clock = STIXEL_CLOCK_MONOTONIC,
					      .capture_left_ns = 9000,
					      .capture_right_ns = 9000,
					      .submitted_ns = 2000,
					      .published_ns = 2500};

	sx_telemetry_published(t, &h, 3000);
	assert_int_equal(atomic_load(&t->spans[SX_SPAN_ALL].sum_ns), 0);
	assert_int_equal(atomic_load(&t->spans[SX_SPAN_WAITING].sum_ns), 0);
	assert_int_equal(atomic_load(&t->spans[SX_SPAN_ENGINE].sum_ns), 500);
	assert_int_equal(atomic_load(&t->spans[SX_SPAN_OUTPUT].sum_ns), 500);
	assert_int_equal(sx_telemetry_count(t, SX_METRIC_FRAMES_PUBLISHED), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counters_of_a_feed_outlive_it, make_telemetry,
						destroy_telemetry),
		cmocka_unit_test_setup_teardown(camera_from_the_future, make_telemetry, destroy_telemetry),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
