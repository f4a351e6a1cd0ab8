/*
 * Reads a sensor again and again in a thread of its own, and keeps what the meter makes of it. A sensor that
 * goes away is looked for again; one that never was, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_POWER_SAMPLER_H
#define SX_POWER_SAMPLER_H

#include "power/meter.h"

#define SX_SAMPLER_WHY_BYTES 320

struct sx_sampler;

/* Frames published up to now. Called by the sampler's thread. */
typedef uint64_t sx_sampler_frames_fn(const void *user);

struct sx_sampler_look {
	char source[16], scope[64], device[160]; /* empty: there is no sensor */
	char reason[SX_SAMPLER_WHY_BYTES];	 /* why there is none, or why it is stale; else empty */
	struct sx_meter_figures figures;
	int64_t gpu_hz, gpu_max_hz, memory_hz; /* negative: not known */
	int others; /* other processes that compute on the card, negative: not known; energy is theirs, too */
	int interval_ms;
	unsigned changes; /* grows when a sensor is found, found missing, or lost */
};

/*
 * Starts the thread, which also opens the sensor: a driver may take its time. p and engine are copied.
 * Negative errno. Thread: main.
 */
int sx_sampler_start(struct sx_sampler **ret, const struct sx_power_params *p,
		     const struct sx_power_engine *engine, sx_sampler_frames_fn *frames, const void *user);
/* Waits two seconds at most: a thread that a driver holds for longer is left to itself. Accepts NULL. */
void sx_sampler_stop(struct sx_sampler *s);

/* Any thread; waits for no sensor. */
void sx_sampler_look(struct sx_sampler *s, int64_t now_ns, struct sx_sampler_look *ret);

#endif
