/*
 * Computes energy from readings. It integrates watts (trapezoid), subtracts counters, and counts frames in
 * the same spans of time. If nothing is known about a span (a sensor did not answer, a counter was reset),
 * the span is left out of energy, time and frames. So every quotient stays right.
 *
 * The meter uses no clock and no sensor, so that tests can try every case. Thread: one at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_POWER_METER_H
#define SX_POWER_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "power/sensor.h"

#define SX_METER_STALE_NS INT64_C(1000000000)
#define SX_METER_WINDOW_NS INT64_C(10000000000)
#define SX_METER_POINTS 640 /* ten seconds at 20 ms, and a reserve */

struct sx_meter {
	/* An older reading is not valid for now, nor for the time until the next reading. */
	int64_t stale_ns;
	bool begun;
	int64_t last_ns;
	uint64_t last_frames;
	struct sx_power_reading last;
	/* Sums since the start of the meter, one point per reading. */
	struct sx_meter_point {
		int64_t ns, measured_ns;
		double joules;
		uint64_t frames;
	} points[SX_METER_POINTS];
	uint64_t count; /* number of points in all; the newest ones are kept */
};

struct sx_meter_readings {
	bool stale;		 /* true: the next four values are NAN */
	double watts, watts_10s; /* means over the last 1 and 10 s */
	double joules_per_frame; /* mean over 10 s; NAN: no frame */
	double fps_per_watt;	 /* mean over 10 s; 0: no frame */
	/* Time since the last reading that had a new value. Negative: there was none. */
	int64_t age_ns;
	double joules, seconds; /* totals since the start of the meter */
	uint64_t frames;
};

/* Starts a meter. interval_ns: planned time between two readings. */
void sx_meter_init(struct sx_meter *m, int64_t interval_ns);
/*
 * Adds a reading. now_ns never falls. frames: number published up to now. A counter that did not change is
 * not a new value, and is ignored.
 */
void sx_meter_add(struct sx_meter *m, int64_t now_ns, const struct sx_power_reading *r, uint64_t frames);
void sx_meter_get(const struct sx_meter *m, int64_t now_ns, struct sx_meter_readings *ret);

#endif
