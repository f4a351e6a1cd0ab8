/*
 * Tests rates in events per second: steady, stopping, single events, and with a reading thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/statistics/rate.h"

static void rate_of_steady_frames_is_steady(void **state)
{
	struct sx_rate r = {0};
	int64_t t = 77 * SX_NS_PER_S + 123456789;

	assert_true(sx_rate_get(&r, 1, t) == 0);
	for (int i = 0; i < 30 * 15; i++) {
		sx_rate_add(&r, t);
		if (i > 30)
			assert_true(sx_rate_get(&r, 1, t) > 29.99 && sx_rate_get(&r, 1, t) < 30.01);
		if (i > 300)
			assert_true(sx_rate_get(&r, 10, t + 20000000) > 29.99 &&
				    sx_rate_get(&r, 10, t) < 30.01);
		t += 33333333;
	}
}

static void rate_sinks_when_frames_stop(void **state)
{
	struct sx_rate r = {0};
	int64_t t = 5 * SX_NS_PER_S;
	double last = 101;

	for (int i = 0; i < 200; i++, t += 10000000)
		sx_rate_add(&r, t);
	assert_true(sx_rate_get(&r, 1, t) > 99.9);
	for (int i = 1; i <= 12; i++) {
		double now = sx_rate_get(&r, 1, t + i * (SX_NS_PER_S / 10));

		assert_true(now <= last);
		if (i == 5) /* half of the window is empty */
			assert_true(now > 40 && now < 70);
		last = now;
	}
	assert_true(last == 0);
	assert_true(sx_rate_get(&r, 10, t + 2 * SX_NS_PER_S) > 10);
	assert_true(sx_rate_get(&r, 10, t + 13 * SX_NS_PER_S) == 0);
}

static void one_frame_has_a_rate(void **state)
{
	struct sx_rate r = {0};

	sx_rate_add(&r, 1000);
	assert_true(sx_rate_get(&r, 1, 1000) == 1);
	assert_true(sx_rate_get(&r, 10, 1000) == 0.1);
	sx_rate_add(&r, 1000); /* two at the same time */
	assert_true(sx_rate_get(&r, 1, 1000) == 2);
}

struct shared {
	struct sx_rate rate;
	_Atomic int64_t now_ns;
	_Atomic int stop;
};

static void *rate_add_frames(void *arg)
{
	struct shared *s = arg;

	for (int64_t i = 1; !atomic_load(&s->stop); i++) {
		sx_rate_add(&s->rate, i * 2000000); /* 500 a second; a new part every 50 */
		atomic_store(&s->now_ns, i * 2000000);
	}
	return NULL;
}

/*
 * The writer may advance by any number of parts while a reader reads them. The reader then misses events, but
 * never sees additional or older ones.
 */
static void readers_see_whole_parts(void **state)
{
	static struct shared s;
	pthread_t thread;
	int reads = 0;

	assert_int_equal(pthread_create(&thread, NULL, rate_add_frames, &s), 0);
	for (int64_t end = sx_now_ns() + SX_NS_PER_S / 2; sx_now_ns() < end; reads++)
		assert_true(sx_rate_get(&s.rate, 1, atomic_load(&s.now_ns)) <= 501);
	atomic_store(&s.stop, 1);
	pthread_join(thread, NULL);
	assert_true(reads > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_of_steady_frames_is_steady),
		cmocka_unit_test(rate_sinks_when_frames_stop),
		cmocka_unit_test(one_frame_has_a_rate),
		cmocka_unit_test(readers_see_whole_parts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
