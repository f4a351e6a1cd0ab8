/*
 * The configuration: reads files and the command line into struct sx_settings.
 *
 * Order of reading: the preset (config/preset.h), NAME.conf, then NAME.conf.d/ *.conf in byte order of the
 * names, then overrides. The last value of a key wins. Only configuration files and calibration files are
 * opened.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CONFIG_H
#define SX_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/why.h"
#include "config/settings.h"

#define SX_CONFIG_ERRORS 64  /* messages kept; further messages are only counted */
#define SX_OVERRIDES_MAX 256 /* largest number of -s options of the daemon */

/* Error messages for the user. Each names the file and line, or the option, that caused it. Zeroed: empty. */
struct sx_errors {
	char *text[SX_CONFIG_ERRORS];
	int count; /* messages in text */
	int more;  /* messages that did not fit into text */
};
void sx_errors_add(struct sx_errors *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints one message per line, then the number of messages that did not fit. */
void sx_errors_print(const struct sx_errors *e, FILE *to);
void sx_errors_finish(struct sx_errors *e);

/*
 * Loads the configuration.
 * file: main file, or NULL for defaults and overrides only. It must exist; its drop-in folder may be missing.
 * overrides: `count` texts "SECTION.KEY=VALUE", as given with -s.
 * source_required: a configuration without source.kind is an error. The daemon passes true. stixel-process
 * passes false, because it brings its own images.
 * Returns 0; -EINVAL with every error in errors; -ENOENT, -EACCES, ... (also with a message) if file cannot
 * be read; -ENOMEM. *ret is written on success only.
 */
int sx_settings_load(struct sx_settings *ret, const char *file, const char *const *overrides, int count,
		     bool source_required, struct sx_errors *errors);
/*
 * Loads the defaults and the overrides, for a first configuration. Each value is checked. Checks of the whole
 * configuration, such as a camera without a device, are skipped. origins: where each value came from; may be
 * NULL. Returns as sx_settings_load().
 */
struct sx_origins; /* config/option.h */
int sx_settings_template(struct sx_settings *ret, struct sx_origins *origins, const char *const *overrides,
			 int count, struct sx_errors *errors);
/* Loads as sx_settings_load(), and stores in origins where each value came from. */
int sx_settings_load_origins(struct sx_settings *ret, struct sx_origins *origins, const char *file,
			     const char *const *overrides, int count, bool source_required,
			     struct sx_errors *errors);
/*
 * Loads as sx_settings_load_origins() with source_required. Files and folders named by keys must exist. A
 * device may be missing: it may be plugged in later.
 */
int sx_settings_load_existing(struct sx_settings *ret, struct sx_origins *origins, const char *file,
			      const char *const *overrides, int count, struct sx_errors *errors);
/*
 * Applies live changes "SECTION.KEY=VALUE" to the running settings `base`. Rules and messages are the same as
 * for a file, and a key that needs a restart is an error. The only file read is camera.calibration, and only
 * if one of the changed keys is one for which sx_option_calibrates() is true.
 * origins: on entry the origins of base, on success the origins of *ret.
 * Returns 0, -EINVAL with errors, or -ENOMEM. On failure *ret and origins are unchanged.
 */
int sx_settings_set(struct sx_settings *ret, struct sx_origins *origins, const struct sx_settings *base,
		    const char *const *changes, int count, struct sx_errors *errors);
/* Fills *ret with the defaults, without a source. The only error is -ENOMEM. */
int sx_settings_init(struct sx_settings *ret);
/* Copies the settings with their texts. On -ENOMEM *ret is unchanged. */
int sx_settings_copy(struct sx_settings *ret, const struct sx_settings *s);
/* Frees the texts and zeroes the structure. Accepts a zeroed structure. */
void sx_settings_finish(struct sx_settings *s);

/*
 * Changes that a reload would make. changed: number of keys whose value differs. restart: number of these
 * keys that need a restart. live_keys, restart_keys: the names as "stereo.p1, source.fps", cut with "..." if
 * the array is too short.
 */
struct sx_settings_diff {
	int changed, restart;
	char live_keys[256], restart_keys[256];
};
void sx_settings_diff(const struct sx_settings *old, const struct sx_settings *new,
		      struct sx_settings_diff *ret);
/*
 * Returns true if a and b rectify and measure images of this source in the same way. Calibration files are
 * compared by their content, and by the image size that they are made for.
 */
bool sx_settings_same_camera(const struct sx_settings *a, const struct sx_settings *b,
			     const struct sx_source_info *info);
/*
 * Moves from new to s the values of the live keys and the content of the calibration file. The caller then
 * frees new with sx_settings_finish().
 */
void sx_settings_take_live(struct sx_settings *s, struct sx_settings *new);
/*
 * Copies the origins of the live keys and of the keys whose values are equal. Call it before
 * sx_settings_take_live().
 */
void sx_origins_take_live(struct sx_origins *origins, const struct sx_origins *from,
			  const struct sx_settings *s, const struct sx_settings *new);

/*
 * Checks the parameters with the camera and the image size of an open source: sx_params_check(). Returns 0, or
 * -EINVAL with a message in why.
 */
int sx_settings_check_params(const struct sx_settings *s, const struct sx_source_info *info,
			     struct sx_why *why);
/*
 * Runs all checks that need an open source: sx_settings_check_params(), and the size and the principal point in
 * the calibration file. Returns 0, or -EINVAL with a message in why.
 */
int sx_settings_check_source(const struct sx_settings *s, const struct sx_source_info *info,
			     struct sx_why *why);
/* Runs the same checks for images of this size, px (raw images if s->rectify), with the configuration's camera. */
int sx_settings_check_size(const struct sx_settings *s, int width, int height, struct sx_why *why);
/*
 * Returns the rig that rectifies the images of this source; NULL: the images are rectified already. The rig
 * belongs to s or to the source.
 */
const struct sx_rig *sx_settings_rig(const struct sx_settings *s, const struct sx_source_info *info);
/* Returns true if the camera of the source counts, and not that of the configuration. */
bool sx_settings_camera_of_source(const struct sx_settings *s, const struct sx_source_info *info);
/* Returns the camera of the images that are matched, after rectification if any. */
struct sx_camera sx_settings_camera(const struct sx_settings *s, const struct sx_source_info *info);
/*
 * Returns the configuration of a context for pairs of this source: size, pixel format, parameters with the
 * matching camera, and rectification. All other members are 0. If a writer is awaited that has to give the
 * camera, road.mode is plane: a calibrated road needs the camera, and these contexts compute nothing before
 * the writer comes.
 */
struct sx_context_config sx_settings_context(const struct sx_settings *s, const struct sx_source_info *info);
/*
 * Returns the images that output.planes selects, as bits 1u << enum stixel_plane. At most two bits are set,
 * because a frame has room for two images.
 */
unsigned sx_settings_images(enum sx_planes planes);
/*
 * Writes a message for the log about rectified images. False: the images are not rectified, and text is
 * unchanged.
 */
bool sx_settings_tell_rectified(const struct sx_settings *s, const struct sx_source_info *info, char *text,
				size_t bytes);

/*
 * Writes a message for the log about the data set of an open source of image files: "EuRoC: 3682 pairs at 20
 * pairs/s; calibration of cam0/sensor.yaml and cam1/sensor.yaml". False: the images are of no known data set,
 * and text is unchanged.
 */
bool sx_settings_tell_dataset(const struct sx_settings *s, const struct sx_source_info *info, char *text,
			      size_t bytes);

/*
 * Prints a section for --help-keys: keys, ranges and defaults, at most 79 columns wide. NULL: all sections
 * except [model].
 */
void sx_config_help(const char *section, FILE *to);
/*
 * Prints a commented configuration file with every key: help, range, default and value. Loading the file
 * gives the same settings. A key that must be given but was not is printed as a comment. all: includes keys
 * of [model] that have their default. origins: comments name where values come from; NULL: they do not.
 */
void sx_config_print(const struct sx_settings *s, const struct sx_origins *origins, bool all, FILE *to);
/*
 * Prints {"source": {"fps": {"value": 30, "default": 0, "unit": "1/s", "restart": true, "from": "default",
 * "live": false}, ...}, ...} for GET /config. live: the value was set at run time. If origins is NULL, "live"
 * and "from" are omitted. A key of [model] also appears in its former section, with "now": "model.KEY".
 */
void sx_config_json(const struct sx_settings *s, const struct sx_origins *origins, FILE *to);
/*
 * Prints {"stereo.p1": {"value": "8", "default": "0", "restart": false, "from": "set stereo.p1=8", "live":
 * true}, ...}. Each value is written as in a configuration file. A key of [model] also appears under its
 * former name, with "now" as in sx_config_json().
 */
void sx_config_json_texts(const struct sx_settings *s, const struct sx_origins *origins, FILE *to);
/*
 * Prints the option table: {"stereo.p1": {"kind": "int", "allowed": "0..255", "min": 0, "max": 255, "change":
 * "contexts", "help": "..."}, ...}. kind is bool, int, real, text, choice or size. Numbers have min and max,
 * and unit if there is one. Choices have words. change: see sx_option_change_name(). all: includes [model],
 * under the names of sx_config_json_texts(); otherwise only the keys meant for users.
 */
void sx_config_json_options(bool all, FILE *to);
/* Prints the sections: {"stereo": "matching: from the pair to disparity", ...}. all: includes [model]. */
void sx_config_json_sections(bool all, FILE *to);
/* Prints a string as JSON, in quotes. */
void sx_config_json_string(const char *text, FILE *to);
/* Prints the scdoc source of stixeld.conf(5), without [model]. */
void sx_config_man(FILE *to);

#endif
