/*
 * Helper threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_THREAD_H
#define SX_BASE_THREAD_H

#include <pthread.h>

/*
 * Starts a thread in which every signal is blocked, because signals are for the threads of the program.
 * Negative errno.
 */
int sx_thread_start(pthread_t *thread, void *(*run)(void *), void *user);

/* Initialises a condition whose timed waits take CLOCK_MONOTONIC times, as sx_now_ns() returns. */
void sx_cond_init(pthread_cond_t *cond);

/* Returns the number of processors that this process may use, 1 or more. */
int sx_processors(void);

#endif
