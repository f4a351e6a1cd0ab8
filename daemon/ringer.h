/*
 * The ringer: wakes the readers that sleep on a ring. How many sleep there is their choice, and the kernel
 * takes its time for each; so while they are many, or slow to wake, the frame thread ends what it has to do
 * for a frame, then writes to an eventfd (ring.h), and threads that nobody waits for do the waking. The
 * first 64 readers are woken at once; when there are more, a second thread, which sleeps most of the time,
 * wakes them a few at a time, so that a crowd takes no processor from frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_RINGER_H
#define SX_DAEMON_RINGER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "ipc/ring.h"

#define SX_RINGER_RINGS 2

struct sx_ringer_thread {
	int fd; /* eventfd: there is somebody to wake */
	bool made, runs;
	pthread_t thread;
};

struct sx_ringer {
	struct sx_ring *rings[SX_RINGER_RINGS];
	int count;
	atomic_bool stop;
	struct sx_ringer_thread bell, crowd;
};

/*
 * Starts the threads, which from now on wake the readers of these rings (NULL: none); the rings outlive them.
 * Before anybody else publishes. Negative errno; then stop.
 */
int sx_ringer_start(struct sx_ringer *g, struct sx_ring *first, struct sx_ring *second);
/* After the threads that publish have ended. Accepts a zeroed one, and one that did not start. */
void sx_ringer_stop(struct sx_ringer *g);

#endif
