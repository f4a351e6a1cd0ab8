/*
 * What the configuration says about measuring power.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_POWER_PARAMS_H
#define SX_POWER_PARAMS_H

enum sx_power_choice { SX_POWER_AUTO, SX_POWER_INA, SX_POWER_NVML, SX_POWER_RAPL, SX_POWER_NONE };

/* Text is NULL where nothing is said. */
struct sx_power_params {
	enum sx_power_choice source;
	int interval_ms;   /* between two readings */
	const char *rails; /* INA: labels that make up the whole, in place of what is known of the board */
	const char *gpu;   /* NVML: index, UUID or PCI address, in place of the engine's GPU */
	const char *root;  /* stands for /; empty: as NULL */
};

#endif
