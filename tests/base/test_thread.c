/*
 * Tests a helper thread: it receives no signal, and the caller's signal mask stays unchanged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/thread.h"

static void *look(void *mask)
{
	pthread_sigmask(SIG_SETMASK, NULL, mask);
	return mask;
}

static void signals_stay_with_the_program(void **state)
{
	sigset_t before, mine, its;
	pthread_t thread;

	sigemptyset(&mine);
	sigaddset(&mine, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &mine, &before);
	assert_int_equal(sx_thread_start(&thread, look, &its), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_sigmask(SIG_SETMASK, &before, &mine);
	assert_int_equal(sigismember(&mine, SIGUSR1), 1);
	assert_int_equal(sigismember(&mine, SIGTERM), 0);
	assert_int_equal(sigismember(&its, SIGTERM), 1);
	assert_int_equal(sigismember(&its, SIGHUP), 1);
	assert_int_equal(sigismember(&its, SIGUSR1), 1);
}

static void a_condition_waits_by_the_monotonic_clock(void **state)
{
	const int64_t until_ns = sx_now_ns() + SX_NS_PER_S / 50;
	const struct timespec until = {.tv_sec = until_ns / SX_NS_PER_S, .tv_nsec = until_ns % SX_NS_PER_S};
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond;
	int r;

	sx_cond_init(&cond);
	pthread_mutex_lock(&lock);
	do {
		r = pthread_cond_timedwait(&cond, &lock, &until);
	} while (r == 0);
	pthread_mutex_unlock(&lock);
	assert_int_equal(r, ETIMEDOUT);
	assert_true(sx_now_ns() >= until_ns); /* a wait on the realtime clock would end at once */
	pthread_cond_destroy(&cond);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signals_stay_with_the_program),
		cmocka_unit_test(a_condition_waits_by_the_monotonic_clock),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
