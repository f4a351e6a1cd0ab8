/*
 * A configuration while it is being read: the settings so far and the origin of each value.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_LOAD_PRIV_H
#define SX_CONFIG_LOAD_PRIV_H

#include "base/why.h"
#include "config/config.h"
#include "config/draft.h"
#include "config/option.h"

#define SX_CONFIG_FILE_BYTES (256 * 1024)
#define SX_CONFIG_FILES 256 /* largest number of drop-ins of one instance */

/*
 * Numbers of a data set and of the preset, in place of a file's number. Values of files have a higher
 * priority.
 */
#define SX_LOAD_DATASET (-1)
#define SX_LOAD_PRESET (-2)

/*
 * Origin of a value. where: as in struct sx_origins. file: number of the file; 0: an override, which is read
 * after all files; SX_LOAD_DATASET, SX_LOAD_PRESET: the data set, the preset.
 */
struct sx_origin {
	char where[SX_WHERE_BYTES];
	int file;
	bool good; /* the last value was accepted */
};

struct sx_load {
	struct sx_settings settings;
	struct sx_errors *errors;
	int file;	 /* number of the current file, from 1 */
	const char *how; /* form of the overrides: "-s" or "set" */
	bool live;	 /* only keys that can change live are allowed */
	bool look;	 /* check that files named by keys exist */
	bool out_of_memory;
	const struct sx_draft *draft; /* a drop-in that is not written yet; NULL: none */
	struct {
		/* keys that the preset sets, and how many of them files or overrides set otherwise */
		int keys, unused;
	} preset;
	struct sx_origin origins[SX_OPTION_MAX];
};

/* Returns the row of a key in sx_options; -1: none. */
int sx_load_index_of(const char *section, const char *key);
/* Returns the place where a key was set; NULL: the key has its default. */
const char *sx_load_set_at(const struct sx_load *l, const char *section, const char *key);
/*
 * Sets source.fps and camera.calibration from the data set in source.path, unless they were set. Call it
 * after all keys were read. An error is only added if a source is required.
 */
void sx_load_dataset(struct sx_load *l, bool source_required);
/*
 * Reads the calibration file, checks it against the keys given beside it, and stores it in the settings. It
 * replaces values of keys that were set before the file was named. False: the file cannot be used.
 */
bool sx_load_calibration(struct sx_load *l);
/*
 * Clears everything in running settings that came from a calibration file. Call it before
 * sx_load_calibration().
 */
void sx_load_forget_calibration(struct sx_load *l);
/*
 * Checks the keys of rectification. Call it after sx_load_calibration(). read: the calibration file was read.
 */
void sx_load_check_rectify(struct sx_load *l, bool read);
/* Checks the configuration as a whole, after all keys were read. */
void sx_load_check(struct sx_load *l, bool source_required);
/*
 * Sets one KEY = VALUE: finds the row, reads the value and stores its origin. Every fault adds an error
 * message. where: as in struct sx_origin. folder: folder of the configuration file, for relative names of
 * calibration files; NULL: the names are used unchanged.
 */
void sx_load_set(struct sx_load *l, const char *section, const char *key, const char *value,
		 const char *where, const char *folder);
/*
 * Adds an error message with the nearest known section if the section does not exist. False: the section
 * exists.
 */
bool sx_load_unknown_section(struct sx_load *l, const char *section, const char *where);
/*
 * Reads one file. Returns a negative errno, with a message, if the file cannot be read. Faults inside the
 * file only add messages.
 */
int sx_load_file(struct sx_load *l, const char *path);
/*
 * Reads the preset that the settings name, if any, and sets the keys that were not set. Call it after files
 * and overrides. Returns as sx_load_file().
 */
int sx_load_preset(struct sx_load *l);
/* Reads one file as a preset. Returns as sx_load_file(). */
int sx_load_preset_file(struct sx_load *l, const char *path);
/*
 * Returns true if the preset may set key i. If a file or an override has set the key, the value is only
 * checked.
 */
bool sx_load_preset_may_set(struct sx_load *l, int i, const char *value, const char *where);
/*
 * Returns false with a message if images of this size, px, do not fit the size or the camera in the
 * calibration file.
 */
bool sx_settings_size_fits(const struct sx_settings *s, int width, int height, struct sx_why *why);

#endif
