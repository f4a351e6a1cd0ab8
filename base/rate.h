/*
 * Events per second over the last 1 s and 10 s.
 *
 * Taken from the times of the first and the last event of the window, not from their count alone: 30 frames a
 * second read 30.0, not 29 and 31 in turn. When events stop, the rate sinks and is 0
 * once the window is empty.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_RATE_H
#define SX_BASE_RATE_H

#include <stdatomic.h>
#include <stdint.h>

#define SX_RATE_PART_NS INT64_C(100000000)
#define SX_RATE_PARTS 104 /* 101 are read, the rest is slack while a part is being emptied */

/* Ready when zeroed. */
struct sx_rate {
	struct {
		_Atomic int64_t part; /* time / SX_RATE_PART_NS + 1; 0 while empty or being emptied */
		_Atomic int64_t first_ns;
		_Atomic uint64_t last; /* count << 32 | time of the last event since the part began, ns */
	} parts[SX_RATE_PARTS];
};

/* Thread: the one that counts; real-time safe. now_ns: CLOCK_MONOTONIC, not falling. */
void sx_rate_add(struct sx_rate *r, int64_t now_ns);
/* Any thread: events per second over about the last seconds (1 to 10; whole parts, so up to 0.1 s longer). */
double sx_rate_get(const struct sx_rate *r, int seconds, int64_t now_ns);

#endif
