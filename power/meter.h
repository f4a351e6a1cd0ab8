/*
 * From readings to energy: watts are integrated (trapezoid), counters are subtracted, frames are counted in
 * the same spans of time. A span over which nothing is known (a sensor that did not answer, a counter that
 * was set back) is left out of energy, time and frames alike, so that every quotient stays right.
 *
 * Knows no clock and no sensor, so that every case can be tried. Thread: one at a time.
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
#define SX_METER_POINTS 640 /* ten seconds at 20 ms, and slack */

struct sx_meter {
	int64_t stale_ns; /* older readings say nothing of now, nor of the time until the next one */
	bool begun;
	int64_t last_ns;
	uint64_t last_frames;
	struct sx_power_reading last;
	/* measured since it was begun, at moments of readings */
	struct sx_meter_point {
		int64_t ns, measured_ns;
		double joules;
		uint64_t frames;
	} points[SX_METER_POINTS];
	uint64_t count; /* of points in all; the newest ones are kept */
};

struct sx_meter_figures {
	bool stale;		 /* the four that follow are NAN */
	double watts, watts_10s; /* means over the last 1 and 10 s */
	double joules_per_frame; /* over 10 s; NAN: no frame */
	double fps_per_watt;	 /* over 10 s; 0: no frame */
	int64_t age_ns;		 /* of the last reading with news in it; negative: there was none */
	double joules, seconds;	 /* measured in all */
	uint64_t frames;
};

/* interval_ns: between two readings, as planned. */
void sx_meter_init(struct sx_meter *m, int64_t interval_ns);
/* Times do not fall; frames: published up to now. A counter that stands still is no news. */
void sx_meter_add(struct sx_meter *m, int64_t now_ns, const struct sx_power_reading *r, uint64_t frames);
void sx_meter_get(const struct sx_meter *m, int64_t now_ns, struct sx_meter_figures *ret);

#endif
