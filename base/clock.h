/*
 * Time in nanoseconds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_CLOCK_H
#define SX_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define SX_NS_PER_S INT64_C(1000000000)

static inline int64_t sx_clock_ns(clockid_t id)
{
	struct timespec t = {0};

	/* It does not fail. Were it so once, a time of 0 would do more harm than a second try. */
	for (int i = 0; clock_gettime(id, &t) < 0 && i < 2; i++)
		;
	return (int64_t)t.tv_sec * SX_NS_PER_S + t.tv_nsec;
}

/* CLOCK_MONOTONIC: the only clock of frames, timelines and sockets. */
static inline int64_t sx_now_ns(void)
{
	return sx_clock_ns(CLOCK_MONOTONIC);
}

#endif
