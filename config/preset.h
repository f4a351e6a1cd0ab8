/*
 * Presets: configuration files whose values replace the defaults. The key preset.name selects one.
 *
 * A preset is a file of the usual syntax, NAME.conf in the folder of presets; its first line is a comment
 * that says what it is for. Any other file can be used by its path.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_PRESET_H
#define SX_CONFIG_PRESET_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/why.h"

#define SX_PRESETS_MAX 64	/* presets listed; further files in the folder are ignored */
#define SX_PRESET_NAME_BYTES 32 /* longest name, including its final 0 */

#define SX_PRESET_HELP \
	"car, robot, indoor, fast, or a path: values that replace the defaults; files and -s count more"
#define SX_PRESET_OVERRIDE_BYTES (PATH_MAX + 32)

/* Names of the presets, in byte order. */
struct sx_preset_names {
	char name[SX_PRESETS_MAX][SX_PRESET_NAME_BYTES];
	int count;
};

/*
 * Writes the folder of presets: that of the variable STIXEL_PRESET_PATH, else of the program's build tree,
 * else of the installation.
 */
void sx_preset_folder(char *path, size_t bytes);
/* Lists the presets of the folder. A folder that cannot be read has none. */
void sx_preset_names(struct sx_preset_names *ret);
/*
 * Writes the path of a preset's file. name: the name of a preset, or a path, which contains a '/'. Returns 0,
 * or -ENOENT with the allowed values in why: "car, fast of /usr/share/stixeld/presets, or a path such as
 * ./FILE".
 */
int sx_preset_find(const char *name, char path[PATH_MAX], struct sx_why *why);
/*
 * Writes the override for the option --preset NAME: "preset.name=NAME". Returns false if there is no such
 * preset. Then why says which values the option takes, in the form of sx_usage_option.take.
 */
bool sx_preset_take(const char *name, char override[SX_PRESET_OVERRIDE_BYTES], struct sx_why *why);
/*
 * Prints all presets: [{"name": "robot", "path": "/usr/share/stixeld/presets/robot.conf", "help": "...",
 * "keys": {"stereo.p2_edge": "20", ...}}, ...]. help: the first comment of the file. Each value is written as
 * in a configuration file. A preset that cannot be read has "error" instead of "keys".
 */
void sx_presets_json(FILE *to);

#endif
