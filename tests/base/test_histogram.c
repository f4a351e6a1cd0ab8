/*
 * Compares the histogram with sorted values, and windows with a simulated clock. Both are also read by
 * another thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/statistics/histogram.h"

static uint64_t random_state = 88172645463325252u;

/* xorshift64 (Marsaglia 2003) */
static uint64_t random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void assert_near(int64_t got, int64_t want)
{
	int64_t slack = want / 62; /* half a bucket; a bucket is 1/32 of an octave, so 1.6 % */

	if (got < want - slack || got > want + slack)
		fail_msg("quantile %lld, want %lld within 1.6 %%", (long long)got, (long long)want);
}

static void counts_below_a_power_of_two_are_exact(void **state)
{
	static struct sx_histogram h;
	uint64_t want = 0;

	sx_histogram_init(&h);
	for (int i = 0; i < 5000; i++) {
		int64_t v = (int64_t)(random_u64() >> (24 + random_u64() % 40));

		want += v < 65536;
		sx_histogram_add(&h, v);
	}
	assert_in_range(want, 1, 4999);
	assert_int_equal(sx_histogram_below(&h, 65536), want);
	assert_int_equal(sx_histogram_below(&h, 0), 0);
	sx_histogram_init(&h);
	sx_histogram_add(&h, 1023);
	sx_histogram_add(&h, 1024);
	assert_int_equal(sx_histogram_below(&h, 1024), 1);
	assert_int_equal(sx_histogram_below(&h, 2048), 2);
}

static void quantiles_follow_sorted_values(void **state)
{
	static const unsigned permille[] = {0, 1, 250, 500, 900, 990, 999, 1000};
	static const int counts[] = {1, 2, 3, 10, 99, 100, 101, 5000};
	int64_t *values = malloc(5000 * sizeof(*values));
	struct sx_histogram h;

	assert_non_null(values);
	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		int n = counts[c];

		sx_histogram_init(&h);
		for (int i = 0; i < n; i++) {
			values[i] =
				(int64_t)(random_u64() >>
					  (24 + random_u64() % 40)); /* values in every octave up to 2^40 */
			sx_histogram_add(&h, values[i]);
		}
		qsort(values, (size_t)n, sizeof(*values), by_value);
		for (size_t p = 0; p < sizeof(permille) / sizeof(permille[0]); p++) {
			int64_t rank = ((int64_t)n * permille[p] + 999) / 1000;

			assert_near(sx_histogram_quantile(&h, permille[p]), values[rank ? rank - 1 : 0]);
		}
	}
	free(values);
}

static void small_values_are_exact(void **state)
{
	struct sx_histogram h;

	for (int64_t v = 0; v < 64; v++) {
		sx_histogram_init(&h);
		sx_histogram_add(&h, v);
		sx_histogram_add(&h, 1000);
		assert_int_equal(sx_histogram_quantile(&h, 500), v);
	}
}

static void ends_of_the_range(void **state)
{
	struct sx_histogram h;
	struct sx_summary s;

	sx_histogram_init(&h);
	sx_histogram_summary(&h, &s);
	assert_int_equal(s.n, 0);
	assert_int_equal(s.p50_ns, 0);
	assert_int_equal(s.p99_ns, 0);
	assert_int_equal(s.max_ns, 0);
	assert_int_equal(sx_histogram_quantile(&h, 1000), 0);

	sx_histogram_add(&h, -5);
	sx_histogram_summary(&h, &s);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.p99_ns, 0);

	sx_histogram_add(&h, INT64_MAX);
	sx_histogram_summary(&h, &s);
	assert_int_equal(s.n, 2);
	assert_true(s.max_ns == INT64_MAX);
	assert_true(s.p99_ns <= INT64_MAX && s.p99_ns > INT64_C(1000000000000));
	/* the middle of a bucket may lie above its only value, but is never returned then */
	sx_histogram_init(&h);
	sx_histogram_add(&h, 1 << 20);
	sx_histogram_summary(&h, &s);
	assert_int_equal(s.p50_ns, 1 << 20);
}

static void counts_go_on_beyond_32_bits(void **state)
{
	struct sx_histogram h;
	struct sx_summary s;

	sx_histogram_init(&h);
	atomic_store(&h.count[7], UINT32_MAX - 1);
	atomic_store(&h.count[9], UINT32_MAX);
	for (int i = 0; i < 3; i++)
		sx_histogram_add(&h, 7);
	sx_histogram_add(&h, 9);
	sx_histogram_summary(&h, &s);
	assert_int_equal(s.n, 2 * (uint64_t)UINT32_MAX + 3);
	assert_int_equal(s.p50_ns, 7); /* by two */
	assert_int_equal(s.p90_ns, 9);
}

static void windows_forget(void **state)
{
	struct sx_windows *w = calloc(1, sizeof(*w));
	int64_t t = 1234 * SX_NS_PER_S;
	struct sx_summary s;

	assert_non_null(w);
	for (int i = 0; i < 100; i++) /* 1 s of slow frames */
		sx_windows_add(w, t + i * 10000000, 50000000);
	t += SX_NS_PER_S;
	sx_windows_read(w, SX_WINDOW_1S, t, &s);
	assert_int_equal(s.n, 100);
	for (int i = 0; i < 200; i++) /* 2 s of fast frames */
		sx_windows_add(w, t + i * 10000000, 1000000);
	t += 2 * SX_NS_PER_S - 1;
	sx_windows_read(w, SX_WINDOW_1S, t, &s);
	assert_in_range(s.n, 100, 150);
	assert_int_equal(s.max_ns, 1000000);
	sx_windows_read(w, SX_WINDOW_10S, t, &s);
	assert_int_equal(s.n, 300);
	assert_int_equal(s.max_ns, 50000000);
	assert_near(s.p99_ns, 50000000);
	/* 9 s without frames: the slow ones are older than 10 s, the last fast ones are not */
	t += 9 * SX_NS_PER_S;
	sx_windows_read(w, SX_WINDOW_1S, t, &s);
	assert_int_equal(s.n, 0);
	sx_windows_read(w, SX_WINDOW_10S, t, &s);
	assert_in_range(s.n, 100, 150);
	assert_int_equal(s.max_ns, 1000000);
	t += 100 * SX_NS_PER_S;
	sx_windows_add(w, t, 5);
	sx_windows_read(w, SX_WINDOW_10S, t, &s);
	assert_int_equal(s.n, 1);
	sx_windows_read(w, SX_WINDOW_START, t, &s);
	assert_int_equal(s.n, 301);
	assert_int_equal(s.max_ns, 50000000);
	free(w);
}

/* Records durations of all sizes for minutes. The parts of a window are reused many times. */
static void windows_are_what_fell_into_them(void **state)
{
	enum { ADDED = 4000 };
	static int64_t at[ADDED], ns[ADDED];
	struct sx_windows *w = calloc(1, sizeof(*w));
	int64_t t = 77 * SX_NS_PER_S;

	assert_non_null(w);
	for (int i = 0; i < ADDED; i++) {
		const int64_t newest = (t += (int64_t)(random_u64() % 120000000)) / SX_WINDOW_PART_NS;
		struct sx_summary second, ten, want;
		struct sx_histogram h[2];

		at[i] = t / SX_WINDOW_PART_NS;
		ns[i] = (int64_t)(random_u64() >> (24 + random_u64() % 40));
		sx_windows_add(w, t, ns[i]);
		if (i % 50)
			continue;
		sx_histogram_init(&h[0]);
		sx_histogram_init(&h[1]);
		for (int k = i; k >= 0 && at[k] >= newest - 20; k--) {
			sx_histogram_add(&h[1], ns[k]);
			if (at[k] >= newest - 2)
				sx_histogram_add(&h[0], ns[k]);
		}
		sx_windows_read(w, SX_WINDOW_1S, t, &second);
		sx_windows_read(w, SX_WINDOW_10S, t, &ten);
		sx_histogram_summary(&h[0], &want);
		assert_memory_equal(&second, &want, sizeof(want));
		sx_histogram_summary(&h[1], &want);
		assert_memory_equal(&ten, &want, sizeof(want));
	}
	free(w);
}

/* The writer stores two values only, the greater one first. A reader must see only sums of these values. */
struct shared {
	struct sx_windows windows;
	_Atomic int64_t now_ns;
	_Atomic int stop;
};

#define SLOW_NS 8000000
#define FAST_NS 1000000

static void *add_frames(void *arg)
{
	struct shared *s = arg;

	for (int64_t i = 1; !atomic_load(&s->stop); i++) {
		int64_t now = i * 2000000; /* 500 frames a second; a new part every 250 frames */

		sx_windows_add(&s->windows, now, i % 2 ? SLOW_NS : FAST_NS);
		atomic_store(&s->now_ns, now);
	}
	return NULL;
}

static void readers_see_whole_parts(void **state)
{
	struct shared *s = calloc(1, sizeof(*s));
	pthread_t thread;
	int reads = 0;
	uint64_t last = 0;

	assert_non_null(s);
	assert_int_equal(pthread_create(&thread, NULL, add_frames, s), 0);
	for (int64_t end = sx_now_ns() + SX_NS_PER_S; sx_now_ns() < end; reads++) {
		int64_t now = atomic_load(&s->now_ns);
		struct sx_summary sum;

		/*
		 * the writer may advance by any number of parts meanwhile: the reader then misses frames, but
		 * never sees additional or older ones
		 */
		sx_windows_read(&s->windows, SX_WINDOW_1S, now, &sum);
		assert_true(sum.n <= 750 + 1);
		assert_true(sum.max_ns == 0 || sum.max_ns == SLOW_NS || sum.max_ns == FAST_NS);
		if (sum.n)
			assert_true(sum.p50_ns <= sum.max_ns && sum.p90_ns >= sum.p50_ns);
		sx_windows_read(&s->windows, SX_WINDOW_10S, now, &sum);
		assert_true(sum.n <= 5250 + 1);
		sx_windows_read(&s->windows, SX_WINDOW_START, now, &sum);
		assert_true(sum.n >= last);
		last = sum.n;
	}
	atomic_store(&s->stop, 1);
	pthread_join(thread, NULL);
	assert_true(reads > 10);
	assert_true(last > 1000);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_below_a_power_of_two_are_exact),
		cmocka_unit_test(quantiles_follow_sorted_values),
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(ends_of_the_range),
		cmocka_unit_test(counts_go_on_beyond_32_bits),
		cmocka_unit_test(windows_forget),
		cmocka_unit_test(windows_are_what_fell_into_them),
		cmocka_unit_test(readers_see_whole_parts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
