/*
 * Helper threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/thread.h"

#include <sched.h>
#include <signal.h>
#include <time.h>

int sx_thread_start(pthread_t *thread, void *(*run)(void *), void *user)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(thread, NULL, run, user);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -r;
}

void sx_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

int sx_processors(void)
{
	cpu_set_t set;
	const int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return n < 1 ? 1 : n;
}
