/*
 * -c and -s of the programs that compute, and the engine that the settings ask for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_COMMON_SETTINGS_ARGS_H
#define SX_TOOLS_COMMON_SETTINGS_ARGS_H

#include <stdbool.h>

#include "config/config.h"
#include "engines/select.h"

/* -c FILE and -s SECTION.KEY=VALUE as they were given; texts belong to argv. Zeroed: none. */
struct sx_settings_args {
	const char *file;
	const char *overrides[256];
	int count;
};
/* false: too many. */
bool sx_settings_args_add(struct sx_settings_args *a, const char *text);
/*
 * Loads the settings for a tool that brings its own images. 0, or the exit code after every
 * error was printed to stderr.
 */
int sx_settings_args_load(struct sx_settings *ret, const struct sx_settings_args *a, const char *program);

/* sx_engine_open() for a tool: 0, or the exit code after a sentence on stderr. */
int sx_settings_args_engine(struct sx_engine *ret, const struct sx_engine_params *p, const char *program);

#endif
