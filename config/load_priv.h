/*
 * A configuration while it is being read: the settings so far, and where each came from.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_LOAD_PRIV_H
#define SX_CONFIG_LOAD_PRIV_H

#include "config/config.h"
#include "config/draft.h"
#include "config/option.h"

#define SX_CONFIG_FILE_BYTES (256 * 1024)
#define SX_CONFIG_FILES 256 /* drop-ins of one instance */

/* where: as in struct sx_origins. file: index of the file, 0 for overrides, which come after all files. */
struct sx_origin {
	char where[SX_WHERE_BYTES];
	int file;
	bool good; /* the last value was accepted */
};

struct sx_load {
	struct sx_settings settings;
	struct sx_errors *errors;
	int file;	 /* counts files from 1 */
	const char *how; /* overrides came: "-s", "set" */
	bool live;	 /* only keys that can change live are allowed */
	bool look;	 /* for the files that keys name */
	bool out_of_memory;
	const struct sx_draft *draft; /* NULL: none */
	struct sx_origin origins[SX_OPTION_MAX];
};

/* Row of a key in sx_options, -1: there is none. */
int sx_load_index_of(const char *section, const char *key);
/* Where a key was set, NULL: it is the default. */
const char *sx_load_set_at(const struct sx_load *l, const char *section, const char *key);
/*
 * The calibration file against what is given beside it, then into the settings: what was said before the file
 * was named gives way to it. False: it cannot be used.
 */
bool sx_load_calibration(struct sx_load *l);
/* Settings that run, before that: nothing in them is of a calibration file any more. */
void sx_load_forget_calibration(struct sx_load *l);
/* After that, which was read or not: what else is said about rectifying makes sense with it. */
void sx_load_check_rectify(struct sx_load *l, bool read);
/* What only the whole can tell. */
void sx_load_check(struct sx_load *l, bool source_required);
/*
 * One KEY = VALUE: finds the row, reads the value, remembers where it came from; everything wrong becomes
 * a sentence. where: as in struct sx_origin. folder: of the file, for relative names of calibration
 * files; NULL: as they are.
 */
void sx_load_set(struct sx_load *l, const char *section, const char *key, const char *value,
		 const char *where, const char *folder);
/* Says that a section does not exist, with the nearest one that does. False: it exists. */
bool sx_load_unknown_section(struct sx_load *l, const char *section, const char *where);
/*
 * Reads one file. Negative errno when it cannot be read (a sentence is there);
 * errors inside only make sentences.
 */
int sx_load_file(struct sx_load *l, const char *path);
/* Images of that size and the one in the calibration file, if it has one; false with a sentence. */
bool sx_settings_size_fits(const struct sx_settings *s, int width, int height, char *why, size_t why_bytes);

#endif
