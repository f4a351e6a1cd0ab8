/*
 * A fake libnvidia-ml.so.1. Its answers are in fake_nvml, which the test finds with dlsym().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_POWER_FAKE_NVML_H
#define SX_TESTS_POWER_FAKE_NVML_H

#include <stdatomic.h>

struct fake_nvml {
	int init, energy, power, name, clock; /* results of these functions; 0: success */
	unsigned count;
	_Atomic unsigned long long mj;
	_Atomic unsigned mw;
	unsigned sm_mhz, sm_max_mhz, memory_mhz;
	int starts, stops; /* number of calls */
	char asked[64];	   /* the last device that the program requested: "index 0", "bus ...", "uuid ..." */
};

#endif
