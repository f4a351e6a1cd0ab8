/*
 * Exposure, gain and controls of the cameras, and the fault of made-up ones, on their way from main to the
 * capture thread, and back with what became of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_EXCHANGE_TUNE_H
#define SX_DAEMON_EXCHANGE_TUNE_H

#include "capture/source.h"

#define SX_TUNE_TEXT_BYTES 512 /* as long as a value of the configuration */
#define SX_TUNE_WHY_BYTES 256

struct sx_tune {
	struct sx_source_params
		params; /* controls, fault point to these texts: main may change its own meanwhile */
	char text[SX_TUNE_TEXT_BYTES], fault[SX_TUNE_TEXT_BYTES];
	int result; /* of sx_source_tune(); -ENODEV: the camera is absent */
	char why[SX_TUNE_WHY_BYTES];
};

/* Copies the parameters; texts other than controls and fault still belong to the settings. */
void sx_tune_set(struct sx_tune *t, const struct sx_source_params *p);
/* Of p only what a tune changes: exposure, gain, controls, fault. All other texts of t stay as they are. */
void sx_tune_update(struct sx_tune *t, const struct sx_source_params *p);

#endif
