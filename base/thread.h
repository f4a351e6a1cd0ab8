/*
 * Threads beside the program's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_THREAD_H
#define SX_BASE_THREAD_H

#include <pthread.h>

/* Starts one in which every signal is blocked: signals are for the threads of the program. Negative errno. */
int sx_thread_start(pthread_t *thread, void *(*run)(void *), void *user);

/* A condition whose timed waits are told CLOCK_MONOTONIC, as sx_now_ns() is. */
void sx_cond_init(pthread_cond_t *cond);

#endif
