/*
 * What a GPU is, for reports: sx_backend.facts fills it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_DEVICE_FACTS_H
#define SX_STAGES_DEVICE_FACTS_H

#include <stdbool.h>
#include <stddef.h>

/* What a GPU and its driver say of themselves; 0 and empty: they do not. */
struct sx_device_facts {
	char name[96];
	char code[128];	     /* what the build has code for: "sm_72, sm_87" */
	int capability, sms; /* 87: sm_87; multiprocessors of all of it */
	bool integrated;     /* part of the processor's chip */
	double clock_hz;     /* of multiprocessors, at most */
	double bytes_per_s;  /* of its memory, at most */
	size_t memory_bytes; /* an integrated one shares it */
	int runtime, driver; /* CUDA that the engine was built with, and that the driver is for: 12060 */
};

#endif
