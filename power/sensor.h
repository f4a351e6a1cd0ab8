/*
 * Sensor of power: one of several kinds, chosen when it is opened. The code only reads: it changes no limit,
 * mode or clock.
 *
 * A read may block for milliseconds (a bus of 400 kHz, a driver that wakes a card). Never read in a thread
 * that handles frames. Thread: one at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_POWER_SENSOR_H
#define SX_POWER_SENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "power/params.h"

struct sx_power_sensor;

/* A reading. Unknown values are NAN, or negative. */
struct sx_power_reading {
	double watts; /* power now; a sensor that counts energy may leave it out */
	/* Energy counted since some start. It only falls when the counter is reset. */
	double joules;
	int64_t gpu_hz, gpu_max_hz, memory_hz;
	int others; /* number of other processes that compute on the measured device */
};

struct sx_power_kind {
	/*
	 * Reads all values. Negative errno with a sentence in why. A partial reading is an error, because a
	 * wrong sum would be worse.
	 */
	int (*read)(struct sx_power_sensor *s, struct sx_power_reading *r, struct sx_why *why);
	void (*close)(struct sx_power_sensor *s);
};

/* First member of the structure of every kind of sensor. */
struct sx_power_sensor {
	const struct sx_power_kind *kind;
	char source[16]; /* name of the sensor: "ina3221", "ina3221x", "ina238", "nvml", "rapl" */
	/* Measured part: "module", "board", "sum of 3 rails", "GPU board", "2 processors and memory". */
	char scope[64];
	char device[160]; /* description of the device for users */
	int least_ms;	  /* shortest time between two new values, ms; 0: not known */
};

/* Device that computes and is therefore measured: a discrete GPU, or the processor. */
struct sx_power_engine {
	bool gpu; /* the engine computes on a GPU */
	/* PCI address of the GPU, "0000:1b:00.0". Empty: unknown, or none as in a Jetson. */
	char bus_id[24];
};

/*
 * Opens the sensor that p asks for and reads it once. auto: the board's own monitors (INA). If there are
 * none, the GPU's sensor (NVML) if the engine computes on a GPU, else the processor's (RAPL). The processor's
 * watts are never taken for a GPU's work, nor the GPU's for the processor's.
 * Negative errno with a sentence in why. -ENODEV: there is no sensor. -EACCES: it may not be read. -EINVAL:
 * the configuration does not fit this machine.
 */
int sx_power_open(struct sx_power_sensor **ret, const struct sx_power_params *p,
		  const struct sx_power_engine *engine, struct sx_why *why);
/* Open a sensor of one kind. */
int sx_ina_open(struct sx_power_sensor **ret, const struct sx_power_params *p, struct sx_why *why);
int sx_rapl_open(struct sx_power_sensor **ret, const struct sx_power_params *p, struct sx_why *why);
int sx_nvml_open(struct sx_power_sensor **ret, const struct sx_power_params *p,
		 const struct sx_power_engine *engine, struct sx_why *why);

int sx_power_read(struct sx_power_sensor *s, struct sx_power_reading *r, struct sx_why *why);
/* Accepts NULL. */
void sx_power_close(struct sx_power_sensor *s);

#endif
