/*
 * The configuration: files and command line in, struct sx_settings out.
 *
 * Order: NAME.conf, then NAME.conf.d/ *.conf in byte order of their names, then overrides; the last one wins.
 * Nothing is opened but configuration and calibration files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_CONFIG_H
#define SX_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "config/settings.h"

#define SX_CONFIG_ERRORS 64  /* sentences kept; further ones are counted */
#define SX_OVERRIDES_MAX 256 /* -s of the daemon */

/* Sentences for the user, each with file and line or the option it came from. Zeroed: empty. */
struct sx_errors {
	char *text[SX_CONFIG_ERRORS];
	int count; /* sentences in text */
	int more;  /* that did not fit */
};
void sx_errors_add(struct sx_errors *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* One sentence a line, and how many more there were. */
void sx_errors_print(const struct sx_errors *e, FILE *to);
void sx_errors_finish(struct sx_errors *e);

/*
 * file: the main file, NULL for none (defaults and overrides only). It must exist; its
 * drop-in folder need not.
 * overrides: "SECTION.KEY=VALUE" as of -s, count of them. source_required: a configuration without
 * source.kind is an error (the daemon); stixel-process brings its own images and says false.
 * 0, or -EINVAL with every error found in errors, -ENOENT/-EACCES/... (also a sentence) when file cannot be
 * read, -ENOMEM. *ret is only written on success.
 */
int sx_settings_load(struct sx_settings *ret, const char *file, const char *const *overrides, int count,
		     bool source_required, struct sx_errors *errors);
/*
 * The defaults and the overrides, for somebody who has no configuration yet: each value is checked, but not
 * what only the whole can tell, such as a camera without a device. Else as sx_settings_load().
 */
int sx_settings_template(struct sx_settings *ret, const char *const *overrides, int count,
			 struct sx_errors *errors);
struct sx_origins; /* config/option.h */
/* The same; where each value came from goes to origins. */
int sx_settings_load_origins(struct sx_settings *ret, struct sx_origins *origins, const char *file,
			     const char *const *overrides, int count, bool source_required,
			     struct sx_errors *errors);
/* The same with a source; files and folders that keys name must exist. A device may come later. */
int sx_settings_load_existing(struct sx_settings *ret, struct sx_origins *origins, const char *file,
			      const char *const *overrides, int count, struct sx_errors *errors);
/*
 * Settings that run, changed by "SECTION.KEY=VALUE" as of a set: the rules and sentences of a file, and a key
 * that needs a restart is an error. No file is read but that of camera.calibration, and that only where a key
 * is among them that sx_option_calibrates(). origins: of base; on success of *ret. 0, -EINVAL with
 * errors, -ENOMEM; then *ret and origins are untouched.
 */
int sx_settings_set(struct sx_settings *ret, struct sx_origins *origins, const struct sx_settings *base,
		    const char *const *changes, int count, struct sx_errors *errors);
/* The defaults, without a source; never fails but for -ENOMEM. */
int sx_settings_init(struct sx_settings *ret);
/* Texts are copied. -ENOMEM; *ret is then untouched. */
int sx_settings_copy(struct sx_settings *ret, const struct sx_settings *s);
/* Frees the texts; accepts a zeroed structure and zeroes it. */
void sx_settings_finish(struct sx_settings *s);

/*
 * What a reload would change. changed counts keys whose value differs, restart those of them that need a
 * restart; their names go to text as "stereo.p1, source.fps", cut with "..." when it is short.
 */
struct sx_settings_diff {
	int changed, restart;
	char live_keys[256], restart_keys[256];
};
void sx_settings_diff(const struct sx_settings *old, const struct sx_settings *new,
		      struct sx_settings_diff *ret);
/*
 * Are images of this source rectified and measured the same way? Of a calibration file its content counts,
 * with the size of images that it is for.
 */
bool sx_settings_same_camera(const struct sx_settings *a, const struct sx_settings *b,
			     const struct sx_source_info *info);
/*
 * Moves the values of the keys that can change live, and what a calibration file says, from new to s; new is
 * fit for sx_settings_finish().
 */
void sx_settings_take_live(struct sx_settings *s, struct sx_settings *new);
/* Before it: the origins of those keys, and of all whose values are the same. */
void sx_origins_take_live(struct sx_origins *origins, const struct sx_origins *from,
			  const struct sx_settings *s, const struct sx_settings *new);

/*
 * Everything that needs the size of the images: sx_params_check(), and the size and the principal point of
 * the calibration file against it. -EINVAL with a sentence in why. To be asked when the source is open.
 * width, height: of the source's images; raw ones where s->rectify.
 */
int sx_settings_check_size(const struct sx_settings *s, int width, int height, char *why, size_t why_bytes);
/* By what images of this source become a rectified pair; NULL: they are one. Belongs to s or the source. */
const struct sx_rig *sx_settings_rig(const struct sx_settings *s, const struct sx_source_info *info);
/* The camera of what is matched, rectified if need be. Belongs to s or the source. */
const struct sx_camera *sx_settings_camera(const struct sx_settings *s, const struct sx_source_info *info);
/*
 * Of contexts for pairs of this source: size, format, parameters with the camera that belongs to them, and
 * how they are rectified. All else is 0.
 */
struct sx_context_config sx_settings_context(const struct sx_settings *s, const struct sx_source_info *info);
/* Images that output.planes means, as bits 1u << enum stixel_plane: two at most, as a frame has room for. */
unsigned sx_settings_images(enum sx_planes planes);
/* One sentence for the log on images that are rectified; false: they are not, text is as it was. */
bool sx_settings_tell_rectified(const struct sx_settings *s, const struct sx_source_info *info, char *text,
				size_t bytes);

/* A section for --help-keys: keys, ranges, defaults, at most 79 columns wide; NULL: all but [model]. */
void sx_config_help(const char *section, FILE *to);
/*
 * A commented file with every key: help, range, default, value. Loading it gives the same settings. A key
 * that must be given and was not is a comment. all: with keys of [model] that have their default, too.
 */
void sx_config_print(const struct sx_settings *s, bool all, FILE *to);
/*
 * {"source": {"fps": {"value": 30, "default": 0, "unit": "1/s", "restart": true, "from": "default", "live":
 * false}, ...}, ...} for GET /config. live: set live; without origins neither that nor from. A key of [model]
 * is also in the section that it had before, with "now": "model.KEY".
 */
void sx_config_json(const struct sx_settings *s, const struct sx_origins *origins, FILE *to);
/*
 * {"stereo.p1": {"value": "8", "default": "0", "restart": false, "from": "set stereo.p1=8", "live": true},
 * ...}: every value as a file takes it. A key of [model] also has its name of before, with "now" as above.
 */
void sx_config_json_texts(const struct sx_settings *s, const struct sx_origins *origins, FILE *to);
/*
 * {"stereo.p1": {"kind": "int", "allowed": "0..255", "min": 0, "max": 255, "change": "contexts", "help":
 * "..."}, ...}: what the table says of every key; kind is bool, int, real, text, choice, size. Numbers have
 * min, max and, if there is one, unit; choices have words. change: see sx_option_change_name(). all: with
 * [model], by the names of sx_config_json_texts(); else the keys that a user meets.
 */
void sx_config_json_options(bool all, FILE *to);
/* {"stereo": "matching: from the pair to disparity", ...}. all: with [model]. */
void sx_config_json_sections(bool all, FILE *to);
/* A string as JSON writes it, in quotes. */
void sx_config_json_string(const char *text, FILE *to);
/* scdoc input of stixeld.conf(5), without [model]. */
void sx_config_man(FILE *to);

#endif
