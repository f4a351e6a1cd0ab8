/*
 * Events per second over the last 1 s and 10 s.
 *
 * The rate comes from the times of the first and the last event of the window, not from the count alone. So
 * 30 frames per second give 30.0, not 29 and 31 in turn. When events stop, the rate sinks, and it is 0 when
 * the window is empty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_STATISTICS_RATE_H
#define SX_BASE_STATISTICS_RATE_H

#include <stdatomic.h>
#include <stdint.h>

#define SX_RATE_PART_NS INT64_C(100000000)
#define SX_RATE_PARTS 104 /* 101 parts are read; the others are a reserve while a part is being emptied */

/* Counter of events. A zeroed structure is ready. */
struct sx_rate {
	struct {
		_Atomic int64_t part; /* time / SX_RATE_PART_NS + 1; 0 while empty or being emptied */
		_Atomic int64_t first_ns;
		/* number of events << 32 | time from the start of the part to its last event, ns */
		_Atomic uint64_t last;
	} parts[SX_RATE_PARTS];
};

/* Counts an event. now_ns: CLOCK_MONOTONIC, never falling. Real-time safe. Thread: always the same one. */
void sx_rate_add(struct sx_rate *r, int64_t now_ns);
/*
 * Returns the events per second over the last 1 to 10 seconds. The window has whole parts, so it is up to 0.1
 * s longer. Any thread.
 */
double sx_rate_get(const struct sx_rate *r, int seconds, int64_t now_ns);

#endif
