/*
 * Reads a sensor repeatedly in its own thread, and keeps the results of the meter. A sensor that disappears
 * is searched for again, and so is one that was never found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_POWER_SAMPLER_H
#define SX_POWER_SAMPLER_H

#include "power/meter.h"

#define SX_SAMPLER_WHY_BYTES 320

struct sx_sampler;

/* Returns the number of frames published up to now. The sampler's thread calls it. */
typedef uint64_t sx_sampler_frames_fn(const void *user);

struct sx_sampler_look {
	char source[16], scope[64], device[160]; /* empty without a sensor */
	/* Why there is no sensor, or why its values are stale. Else empty. */
	char reason[SX_SAMPLER_WHY_BYTES];
	struct sx_meter_readings readings;
	int64_t gpu_hz, gpu_max_hz, memory_hz; /* negative: not known */
	/*
	 * Number of other processes that compute on the card; negative: not known. The energy includes
	 * theirs.
	 */
	int others;
	int interval_ms;
	unsigned changes; /* grows by 1 when a sensor is found or lost, or when the first search finds none */
};

/*
 * Starts the thread. The thread also opens the sensor, because a driver may be slow. p and engine are copied.
 * Negative errno. Thread: main.
 */
int sx_sampler_start(struct sx_sampler **ret, const struct sx_power_params *p,
		     const struct sx_power_engine *engine, sx_sampler_frames_fn *frames, const void *user);
/*
 * Stops the thread. Waits at most two seconds: if a driver blocks the thread for longer, it is left running.
 * Accepts NULL.
 */
void sx_sampler_stop(struct sx_sampler *s);

/* Returns the current values. Never waits for a sensor. Any thread. */
void sx_sampler_look(struct sx_sampler *s, int64_t now_ns, struct sx_sampler_look *ret);

#endif
