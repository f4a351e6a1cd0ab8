/*
 * Configuration of power measurement.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_POWER_PARAMS_H
#define SX_POWER_PARAMS_H

enum sx_power_choice { SX_POWER_AUTO, SX_POWER_INA, SX_POWER_NVML, SX_POWER_RAPL, SX_POWER_NONE };

/* Settings of the section. A text that is not set is NULL. */
struct sx_power_params {
	enum sx_power_choice source;
	int interval_ms; /* time between two readings, ms */
	/* INA: labels of the rails that add up to the total, in place of the table of boards. */
	const char *rails;
	const char *gpu;  /* NVML: index, UUID or PCI address, in place of the engine's GPU */
	const char *root; /* folder used in place of /; empty: as NULL */
};

#endif
