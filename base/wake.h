/*
 * Wakes a thread that polls an eventfd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_WAKE_H
#define SX_BASE_WAKE_H

#include <stdint.h>
#include <unistd.h>

#include "base/contract.h"

/* Adds one to an eventfd. Thread: any, also a signal handler. */
static inline void sx_wake(int eventfd)
{
	const uint64_t one = 1;

	sx_must_or(return, eventfd, >=, 0);
	/* EAGAIN: the counter is full, so the reader is awake or about to wake */
	(void)!write(eventfd, &one, sizeof(one));
}

/* Empties an eventfd, which must be non-blocking. */
static inline void sx_wake_clear(int eventfd)
{
	uint64_t count;

	sx_must_or(return, eventfd, >=, 0);
	(void)!read(eventfd, &count, sizeof(count));
}

#endif
