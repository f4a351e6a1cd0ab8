/*
 * Where the watts come from: one sensor out of several kinds, chosen when it is opened. Nothing is ever
 * changed: no limit, no mode, no clock.
 *
 * A read may block for milliseconds (a bus of 400 kHz, a driver that wakes a card): never in a thread that
 * frames pass. Thread: one at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_POWER_SENSOR_H
#define SX_POWER_SENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "power/params.h"

struct sx_power_sensor;

/* What it does not know is NAN, or negative. */
struct sx_power_reading {
	double watts;  /* just now; sensors that count energy need not say */
	double joules; /* counted since some moment; never falls, but where the counter was set back */
	int64_t gpu_hz, gpu_max_hz, memory_hz;
	int others; /* other processes that compute on what is measured */
};

struct sx_power_kind {
	/* Negative errno with a sentence in why: no part of a reading is better than a wrong sum. */
	int (*read)(struct sx_power_sensor *s, struct sx_power_reading *r, char *why, size_t why_bytes);
	void (*close)(struct sx_power_sensor *s);
};

/* The head of every kind's own structure. */
struct sx_power_sensor {
	const struct sx_power_kind *kind;
	char source[16]; /* "ina3221", "ina3221x", "ina238", "nvml", "rapl" */
	/* of what: "module", "board", "sum of 3 rails", "GPU board", "2 processors and memory" */
	char scope[64];
	char device[160]; /* which one, for people */
	int least_ms;	  /* its values do not change faster; 0: not known */
};

/* What computes, and so what is to be measured: a GPU of its own, or the processor. */
struct sx_power_engine {
	bool gpu;	 /* it computes on a GPU */
	char bus_id[24]; /* its PCI address, "0000:1b:00.0"; empty: unknown, or none as in a Jetson */
};

/*
 * Opens the sensor that p asks for and reads it once. auto: the board's own monitors (INA), else the GPU's
 * (NVML) if the engine computes on one, else the processor's (RAPL). Never the processor's watts for a GPU's
 * work, or the other way round.
 * Negative errno with a sentence in why: -ENODEV there is none, -EACCES it may not be read, -EINVAL the
 * configuration does not fit this machine.
 */
int sx_power_open(struct sx_power_sensor **ret, const struct sx_power_params *p,
		  const struct sx_power_engine *engine, char *why, size_t why_bytes);
/* The kinds. */
int sx_ina_open(struct sx_power_sensor **ret, const struct sx_power_params *p, char *why, size_t why_bytes);
int sx_rapl_open(struct sx_power_sensor **ret, const struct sx_power_params *p, char *why, size_t why_bytes);
int sx_nvml_open(struct sx_power_sensor **ret, const struct sx_power_params *p,
		 const struct sx_power_engine *engine, char *why, size_t why_bytes);

int sx_power_read(struct sx_power_sensor *s, struct sx_power_reading *r, char *why, size_t why_bytes);
/* Accepts NULL. */
void sx_power_close(struct sx_power_sensor *s);

#endif
