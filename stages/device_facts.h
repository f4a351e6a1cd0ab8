/*
 * Facts about a GPU, for reports. sx_backend.facts fills them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_DEVICE_FACTS_H
#define SX_STAGES_DEVICE_FACTS_H

#include <stdbool.h>
#include <stddef.h>

/* Facts that a GPU and its driver report; 0 or empty if they do not report one. */
struct sx_device_facts {
	char name[96];
	char code[128];	     /* architectures that the build has code for: "sm_72, sm_87" */
	int capability, sms; /* compute capability (87: sm_87); number of multiprocessors of the whole GPU */
	bool integrated;     /* the GPU is on the chip of the processor */
	double clock_hz;     /* highest clock of multiprocessors */
	double bytes_per_s;  /* highest bandwidth of the GPU's memory */
	size_t memory_bytes; /* an integrated GPU shares this memory with the processor */
	/* CUDA version that the engine was built with, and version that the driver supports: 12060 */
	int runtime, driver;
};

#endif
