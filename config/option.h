/*
 * One row of the option table: everything that parser, --help-keys, man page, --print-config
 * and /config know of a key.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_OPTION_H
#define SX_CONFIG_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "config/settings.h"

enum sx_option_kind {
	SX_OPTION_BOOL,	    /* bool: yes, no (also true, false, on, off, 1, 0) */
	SX_OPTION_INT,	    /* int */
	SX_OPTION_UNSIGNED, /* unsigned */
	SX_OPTION_REAL,	    /* double, finite */
	SX_OPTION_TEXT,	    /* const char *, NULL when empty; heap, owned by the settings */
	SX_OPTION_CHOICE,   /* an enum; words[value] */
	SX_OPTION_SIZE	    /* two int, width then height: "1280x720", "auto" is 0x0 */
};

/* What else a whole number must be. */
enum sx_option_rule { SX_RULE_NONE, SX_RULE_POWER_OF_TWO, SX_RULE_MULTIPLE_OF_32, SX_RULE_ODD };

/* How the daemon applies a change of the key while it runs. CAMERA and the values behind it change the camera. */
enum sx_option_change {
	SX_CHANGE_RESTART,  /* refused until the daemon starts again */
	SX_CHANGE_NOTHING,  /* the value is read where it is used */
	SX_CHANGE_CONTROLS, /* the capture thread sets the cameras' controls */
	SX_CHANGE_CONTEXTS, /* new contexts */
	SX_CHANGE_CAMERA,   /* new contexts, and frames and status note a changed camera for a while */
	SX_CHANGE_CALIBRATION, /* like CAMERA, but new contexts only if images are rectified or measured otherwise */
	SX_CHANGE_ROWS	       /* like CAMERA, but new contexts only if another correction of rows applies */
};

struct sx_option {
	const char *section, *key;
	const char *was; /* section that the key had before and still may have in a file; NULL: none */
	enum sx_option_kind kind;
	enum sx_option_rule rule;
	size_t offset;		  /* of the field in struct sx_settings */
	const char *initial;	  /* default, as a user would write it; NULL: must be given */
	double min, max;	  /* inclusive, numbers */
	const char *unit;	  /* NULL: none; may follow a number in the file */
	const char *const *words; /* choices, NULL at the end */
	enum sx_option_change change;
	const char *help; /* one line */
};

struct sx_section {
	const char *name, *help;
};

extern const struct sx_option sx_options[];
extern const int sx_option_count;
extern const struct sx_section sx_sections[];
extern const int sx_section_count;

/* Constants of a model, whose keys and section help, man page and completion leave out. */
#define SX_SECTION_MODEL "model"
bool sx_section_is_model(const char *section);

#define SX_OPTION_MAX 160	    /* rows: a bound for arrays beside the table; options.c asserts it */
#define SX_OPTION_TEXT_BYTES 512    /* longest value, with its 0 */
#define SX_OPTION_ALLOWED_BYTES 320 /* longest description of what is allowed */

#define SX_WHERE_BYTES 288

/*
 * Where the values of settings came from, by the index of their rows: "FILE:12", "-s stereo.p1=8" (the
 * command line), "set stereo.p1=8" (set live); empty: the default.
 */
struct sx_origins {
	char where[SX_OPTION_MAX][SX_WHERE_BYTES];
};
/* As above, or "default". origins may be NULL: empty. */
const char *sx_origin_text(const struct sx_origins *origins, const struct sx_option *o);
/* Set live, and not taken from a file since. */
bool sx_origin_is_live(const struct sx_origins *origins, const struct sx_option *o);

/* Row of a key, in its section or the one of before. NULL: none. section NULL: the first key of that name. */
const struct sx_option *sx_option_find(const char *section, const char *key);
/* Sections by which a key is known: name 0 is its own, 1 the one that it had before. NULL: no more names. */
const char *sx_option_section(const struct sx_option *o, int name);
/* True if the key has its default. */
bool sx_option_is_default(const struct sx_option *o, const struct sx_settings *s);

/* True if the key can change without a restart. */
bool sx_option_changes_live(const struct sx_option *o);
/* True for a live key by which images are rectified and measured, such as the calibration file. */
bool sx_option_calibrates(const struct sx_option *o);
/* Returns enum sx_option_change as a word for programs: "restart", "nothing", "controls", "contexts", ... */
const char *sx_option_change_name(const struct sx_option *o);

/*
 * Reads text into the field. -EINVAL and "found 'x', allowed ..." in why, the field untouched; -ENOMEM.
 * The settings' text fields must be NULL or from here.
 */
int sx_option_read(const struct sx_option *o, struct sx_settings *s, const char *text, char *why,
		   size_t why_bytes);
/* The value as sx_option_read() takes it, always the shortest text that gives the same value. */
void sx_option_write(const struct sx_option *o, const struct sx_settings *s, char text[SX_OPTION_TEXT_BYTES]);
/* "1..255 px", "csct, census, zncc", "yes or no" */
void sx_option_allowed(const struct sx_option *o, char text[SX_OPTION_ALLOWED_BYTES]);
bool sx_option_equal(const struct sx_option *o, const struct sx_settings *a, const struct sx_settings *b);
/* Copies the value of a key, and exchanges texts, so that each keeps one owner. It cannot fail. */
void sx_option_take(const struct sx_option *o, struct sx_settings *s, struct sx_settings *from);
/* Frees a text field. */
void sx_option_clear(const struct sx_option *o, struct sx_settings *s);

#endif
