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

/*
 * Ends the process as a broken contract does (contract.h): logs a sentence with errno and exits with code 70.
 * Any thread.
 */
void sx_clock_lost(void) __attribute__((noreturn, cold, noinline));

static inline int64_t sx_clock_ns(clockid_t id)
{
	struct timespec t = {0};

	/*
	 * clock_gettime() does not fail here. If it ever did, a time of 0 would do more harm than a second
	 * try.
	 */
	for (int i = 0; clock_gettime(id, &t) < 0 && i < 2; i++)
		;
	return (int64_t)t.tv_sec * SX_NS_PER_S + t.tv_nsec;
}

/*
 * Returns CLOCK_MONOTONIC, the only clock of frames, timelines and sockets. Without it no time stamp and no
 * timeout works, so the process ends. libstixel may not end the process: there the function returns 0.
 */
static inline int64_t sx_now_ns(void)
{
	const int64_t ns = sx_clock_ns(CLOCK_MONOTONIC);

#ifndef SX_CONTRACT_RETURNS
	if (ns == 0)
		sx_clock_lost();
#endif
	return ns;
}

#endif
