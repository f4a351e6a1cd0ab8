/*
 * One row of the option table: all facts about a key for the parser, --help-keys, the man page,
 * --print-config and /config.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_OPTION_H
#define SX_CONFIG_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/why.h"
#include "config/settings.h"

enum sx_option_kind {
	SX_OPTION_BOOL,	    /* bool: yes, no (also true, false, on, off, 1, 0) */
	SX_OPTION_INT,	    /* int */
	SX_OPTION_UNSIGNED, /* unsigned */
	SX_OPTION_REAL,	    /* double, finite */
	SX_OPTION_TEXT,	    /* const char *; NULL if empty. Heap, owned by the settings */
	SX_OPTION_CHOICE,   /* an enum; words[value] */
	SX_OPTION_SIZE	    /* two int, width then height: "1280x720", "auto" is 0x0 */
};

/* Further rule for a whole number. */
enum sx_option_rule { SX_RULE_NONE, SX_RULE_POWER_OF_TWO, SX_RULE_MULTIPLE_OF_32, SX_RULE_ODD };

/*
 * How the daemon applies a change of the key at run time. SX_CHANGE_CAMERA and the values after it stand for
 * keys that change the camera.
 */
enum sx_option_change {
	SX_CHANGE_RESTART,     /* refused; needs a restart of the daemon */
	SX_CHANGE_NOTHING,     /* none: the value is read where it is used */
	SX_CHANGE_CONTROLS,    /* the capture thread sets the controls of the cameras */
	SX_CHANGE_CONTEXTS,    /* the daemon creates new contexts */
	SX_CHANGE_CAMERA,      /* new contexts, and frames and status note a changed camera for a while */
	SX_CHANGE_CALIBRATION, /* like CAMERA, but new contexts only if rectification or measurement changes */
	SX_CHANGE_ROW_CORRECTION /* like CAMERA, but new contexts only if the row correction changes */
};

struct sx_option {
	const char *section, *key;
	const char *was; /* former section of the key, still accepted in a file; NULL: none */
	enum sx_option_kind kind;
	enum sx_option_rule rule;
	size_t offset; /* offset of the field in struct sx_settings, bytes */
	/* default, in the form that a user would write; NULL: the key must be given */
	const char *initial;
	double min, max;	  /* inclusive range of a number */
	const char *unit;	  /* unit that may follow a number in the file; NULL: none */
	const char *const *words; /* names of the choices, NULL at the end */
	enum sx_option_change change;
	const char *help; /* one line of help */
};

struct sx_section {
	const char *name, *help;
};

extern const struct sx_option sx_options[];
extern const int sx_option_count;
extern const struct sx_section sx_sections[];
extern const int sx_section_count;

/* Section whose key "name" selects the preset. */
#define SX_SECTION_PRESET "preset"

/* Section with constants of the models. Section help, man page and completion leave out its keys. */
#define SX_SECTION_MODEL "model"
bool sx_section_is_model(const char *section);

/* upper bound of rows, for arrays parallel to the table; options.c asserts it */
#define SX_OPTION_MAX 160
#define SX_OPTION_TEXT_BYTES 512    /* longest value, including its final 0 */
#define SX_OPTION_ALLOWED_BYTES 320 /* longest description of the allowed values */

#define SX_WHERE_BYTES 288

/*
 * Origin of each value of the settings, by row index: "FILE:12", "-s stereo.p1=8" (command line) or "set
 * stereo.p1=8" (set live). Empty: the default.
 */
struct sx_origins {
	char where[SX_OPTION_MAX][SX_WHERE_BYTES];
};
#define SX_ORIGIN_DEFAULT "default"
/*
 * Returns the origin of a value as in struct sx_origins, or SX_ORIGIN_DEFAULT. origins NULL counts as empty.
 */
const char *sx_origin_text(const struct sx_origins *origins, const struct sx_option *o);
/* Returns true if the value was set live and no file has replaced it since. */
bool sx_origin_is_live(const struct sx_origins *origins, const struct sx_option *o);

/*
 * Returns the row of a key, found by its current or its former section; NULL: none. section NULL: the first
 * key of that name.
 */
const struct sx_option *sx_option_find(const char *section, const char *key);
/*
 * Returns a section of the key: name 0 is its current section, 1 its former section. NULL: no further
 * section.
 */
const char *sx_option_section(const struct sx_option *o, int name);
/* Returns true if the key has its default. */
bool sx_option_is_default(const struct sx_option *o, const struct sx_settings *s);

/* Returns true if the key can change without a restart. */
bool sx_option_changes_live(const struct sx_option *o);
/*
 * Returns true for a live key that decides how images are rectified and measured, such as the calibration
 * file.
 */
bool sx_option_calibrates(const struct sx_option *o);
/* Returns enum sx_option_change as a word for programs: "restart", "nothing", "controls", "contexts", ... */
const char *sx_option_change_name(const struct sx_option *o);

/*
 * Reads text into the field of the key. Returns -EINVAL with "found 'x', allowed ..." in why, the field
 * unchanged; or -ENOMEM. The text fields of the settings must be NULL or come from this function.
 */
int sx_option_read(const struct sx_option *o, struct sx_settings *s, const char *text, struct sx_why *why);
/* Writes the value as sx_option_read() accepts it, as the shortest text that gives the same value. */
void sx_option_write(const struct sx_option *o, const struct sx_settings *s, char text[SX_OPTION_TEXT_BYTES]);
/* Describes the allowed values: "1..255 px", "csct, census, zncc", "yes or no". */
void sx_option_allowed(const struct sx_option *o, char text[SX_OPTION_ALLOWED_BYTES]);
bool sx_option_equal(const struct sx_option *o, const struct sx_settings *a, const struct sx_settings *b);
/* Copies the value of a key. Texts are exchanged, so that each keeps one owner. Cannot fail. */
void sx_option_take(const struct sx_option *o, struct sx_settings *s, struct sx_settings *from);
/* Frees a text field. */
void sx_option_clear(const struct sx_option *o, struct sx_settings *s);

#endif
