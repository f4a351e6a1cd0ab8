/*
 * Handles -c and -s of the programs that compute, and opens the engine that the settings name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_COMMON_SETTINGS_ARGS_H
#define SX_TOOLS_COMMON_SETTINGS_ARGS_H

#include <stdbool.h>

#include "config/config.h"
#include "config/preset.h"
#include "engines/select.h"

/* Values of -c FILE, --preset NAME and -s SECTION.KEY=VALUE. The texts belong to argv. Zeroed: none. */
struct sx_settings_args {
	const char *file;
	char preset[SX_PRESET_OVERRIDE_BYTES]; /* override of --preset; one of overrides points to it */
	const char *overrides[256];
	int count;
};
/* Adds a -s. False: too many. */
bool sx_settings_args_add(struct sx_settings_args *a, const char *text);
/*
 * Loads the settings for a tool that brings its own images. Returns 0, or prints every error to stderr and
 * returns the exit code.
 */
int sx_settings_args_load(struct sx_settings *ret, const struct sx_settings_args *a, const char *program);

/*
 * Opens the engine with sx_engine_open() for a tool. Returns 0, or prints an error to stderr and returns the
 * exit code.
 */
int sx_settings_args_engine(struct sx_engine *ret, const struct sx_engine_params *p, const char *program);

#endif
