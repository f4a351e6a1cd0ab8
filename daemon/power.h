/*
 * Measurement of power, as the daemon starts and reports it. Thread: main.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_POWER_H
#define SX_DAEMON_POWER_H

#include "daemon/core.h"

struct sx_power_watch {
	struct sx_sampler *sampler; /* NULL: power is not measured, or its thread cannot be started */
	unsigned changes_logged;    /* number of sensor changes (sx_sampler_look.changes) that were logged */
	bool others_logged;	    /* the log says that other processes use the GPU */
};

/* Starts the measurement if it is configured. The daemon runs without a sensor, too. */
void sx_power_start(struct sx_power_watch *w, struct sx_core *core);
/* Logs that a sensor was found or lost. configured: power.source. Called once a tick. */
void sx_power_tell(struct sx_power_watch *w, enum sx_power_choice configured);

#endif
