/*
 * The waker: two threads that wake the readers sleeping on a ring. The readers decide how many sleep, and the
 * kernel takes time to wake each. So if sleeping readers are many or slow to wake, the frame thread first
 * finishes its work for a frame, then writes to an eventfd (ring.h), and the waker's threads wake the readers
 * without delaying any other thread. The first thread wakes the first 64 readers at once. If there are more,
 * the second thread wakes the rest a few at a time. It sleeps most of the time, so that this work takes no
 * processor time from frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_WAKER_H
#define SX_DAEMON_WAKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "ipc/ring.h"

#define SX_WAKER_RINGS 2

struct sx_waker_thread {
	int fd; /* eventfd: readers wait to be woken */
	bool created, running;
	pthread_t thread;
};

struct sx_waker {
	struct sx_ring *rings[SX_WAKER_RINGS];
	int count;
	atomic_bool stop;
	struct sx_waker_thread first, rest;
};

/*
 * Starts the threads, which from now on wake the readers of these rings (NULL: none). The rings must outlive
 * the threads. Call it before any other thread publishes. On an error, returns a negative errno; call
 * sx_waker_stop() then.
 */
int sx_waker_start(struct sx_waker *g, struct sx_ring *first, struct sx_ring *second);
/*
 * Stops the threads. Call it after the publishing threads have ended. Accepts a zeroed waker, and one that
 * did not start.
 */
void sx_waker_stop(struct sx_waker *g);

#endif
