/*
 * One value of the configuration: conversion from text to field and back, allowed values, comparison.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/printable.h"
#include "config/option.h"
#include "config/text/number.h"

#define SIZE_MIN 32 /* the limits of sx_params_check(), px */
#define SIZE_MAX_WIDTH 4096
#define SIZE_MAX_HEIGHT 2160

static void *field_of(const struct sx_option *o, struct sx_settings *s)
{
	return (char *)s + o->offset;
}

static const void *const_field_of(const struct sx_option *o, const struct sx_settings *s)
{
	return (const char *)s + o->offset;
}

bool sx_section_is_model(const char *section)
{
	return strcmp(section, SX_SECTION_MODEL) == 0;
}

const char *sx_option_section(const struct sx_option *o, int name)
{
	return name == 0 ? o->section : name == 1 ? o->was : NULL;
}

static bool is_in(const struct sx_option *o, const char *section)
{
	return !strcmp(o->section, section) || (o->was && !strcmp(o->was, section));
}

const struct sx_option *sx_option_find(const char *section, const char *key)
{
	for (int i = 0; i < sx_option_count; i++)
		if ((!section || is_in(&sx_options[i], section)) && !strcmp(sx_options[i].key, key))
			return &sx_options[i];
	return NULL;
}

bool sx_option_changes_live(const struct sx_option *o)
{
	return o->change != SX_CHANGE_RESTART;
}

bool sx_option_calibrates(const struct sx_option *o)
{
	return o->change == SX_CHANGE_CALIBRATION;
}

const char *sx_option_change_name(const struct sx_option *o)
{
	static const char *const names[] = {
		[SX_CHANGE_RESTART] = "restart",     [SX_CHANGE_NOTHING] = "nothing",
		[SX_CHANGE_CONTROLS] = "controls",   [SX_CHANGE_CONTEXTS] = "contexts",
		[SX_CHANGE_CAMERA] = "camera",	     [SX_CHANGE_CALIBRATION] = "calibration",
		[SX_CHANGE_ROW_CORRECTION] = "rows",
	};

	return names[o->change];
}

static void allowed_words(const struct sx_option *o, char text[SX_OPTION_ALLOWED_BYTES])
{
	size_t n = 0;

	for (int i = 0; o->words[i] && n < SX_OPTION_ALLOWED_BYTES; i++)
		n += (size_t)snprintf(text + n, SX_OPTION_ALLOWED_BYTES - n, "%s%s", i ? ", " : "",
				      o->words[i]);
}

void sx_option_allowed(const struct sx_option *o, char text[SX_OPTION_ALLOWED_BYTES])
{
	static const char *const rules[] = {
		[SX_RULE_NONE] = "",
		[SX_RULE_POWER_OF_TWO] = ", a power of two",
		[SX_RULE_MULTIPLE_OF_32] = ", a multiple of 32",
		[SX_RULE_ODD] = ", odd",
	};
	const char *space = o->unit ? " " : "", *unit = o->unit ? o->unit : "";

	switch (o->kind) {
	case SX_OPTION_BOOL:
		snprintf(text, SX_OPTION_ALLOWED_BYTES, "yes or no");
		break;
	case SX_OPTION_INT:
	case SX_OPTION_UNSIGNED:
		snprintf(text, SX_OPTION_ALLOWED_BYTES, "%.0f..%.0f%s%s%s", o->min, o->max, space, unit,
			 rules[o->rule]);
		break;
	case SX_OPTION_REAL:
		snprintf(text, SX_OPTION_ALLOWED_BYTES, "%.9g..%.9g%s%s", o->min, o->max, space, unit);
		break;
	case SX_OPTION_TEXT:
		snprintf(text, SX_OPTION_ALLOWED_BYTES, "text");
		break;
	case SX_OPTION_CHOICE:
		allowed_words(o, text);
		break;
	case SX_OPTION_SIZE:
		snprintf(text, SX_OPTION_ALLOWED_BYTES, "auto, or WIDTHxHEIGHT from %dx%d to %dx%d px",
			 SIZE_MIN, SIZE_MIN, SIZE_MAX_WIDTH, SIZE_MAX_HEIGHT);
		break;
	}
}

/* Writes the found text, the allowed values and a hint if there is one. Returns -EINVAL. */
static int value_refuse(const struct sx_option *o, const char *text, const char *what, struct sx_why *why)
{
	char allowed[SX_OPTION_ALLOWED_BYTES];

	sx_option_allowed(o, allowed);
	if (!*what && strstr(text, " #"))
		what = " (write a comment on a separate line, or begin it with ' ;')";
	return sx_why_fail(-EINVAL, why, "found '%.80s%s'%s, allowed %s", text,
			   strlen(text) > 80 ? "..." : "", what, allowed);
}

static int read_bool(const struct sx_option *o, bool *ret, const char *text, struct sx_why *why)
{
	static const char *const words[] = {"no", "yes", "false", "true", "off", "on", "0", "1"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcasecmp(text, words[i])) {
			*ret = i & 1;
			return 0;
		}
	return value_refuse(o, text, "", why);
}

/* Checks the text after a number: it must be empty or the unit of the row. */
static int check_unit(const struct sx_option *o, const char *text, const char *rest, struct sx_why *why)
{
	char what[80];

	rest += strspn(rest, " \t");
	if (!*rest || (o->unit && !strcmp(rest, o->unit)))
		return 0;
	if (*rest == '#')
		return value_refuse(o, text, "", why);
	if (o->unit)
		snprintf(what, sizeof(what), " (unit '%.20s' instead of '%s')", rest, o->unit);
	else
		snprintf(what, sizeof(what), " (this number has no unit)");
	return value_refuse(o, text, what, why);
}

static bool follows_rule(enum sx_option_rule rule, int64_t v)
{
	switch (rule) {
	case SX_RULE_POWER_OF_TWO:
		return v > 0 && !(v & (v - 1));
	case SX_RULE_MULTIPLE_OF_32:
		return v % 32 == 0;
	case SX_RULE_ODD:
		return v % 2 != 0;
	default:
		return true;
	}
}

static int read_whole(const struct sx_option *o, int64_t *ret, const char *text, struct sx_why *why)
{
	const char *rest;
	double real;
	int64_t v;
	int r = sx_number_whole(text, &v, &rest);

	if (r == -EINVAL)
		return value_refuse(o, text, " (not a number)", why);
	if (r < 0) /* outside int64, so outside any range */
		return value_refuse(o, text, "", why);
	if (!sx_number_real(text, &real, &rest) && real != (double)v)
		return value_refuse(o, text, " (not a whole number)", why);
	r = check_unit(o, text, rest, why);
	if (r < 0)
		return r;
	if ((double)v < o->min || (double)v > o->max || !follows_rule(o->rule, v))
		return value_refuse(o, text, "", why);
	*ret = v;
	return 0;
}

static int read_real(const struct sx_option *o, double *ret, const char *text, struct sx_why *why)
{
	const char *rest;
	double v;
	int r = sx_number_real(text, &v, &rest);

	if (r < 0)
		return value_refuse(o, text, " (not a number)", why);
	r = check_unit(o, text, rest, why);
	if (r < 0)
		return r;
	if (!(v >= o->min && v <= o->max))
		return value_refuse(o, text, "", why);
	*ret = v;
	return 0;
}

_Static_assert(SX_OPTION_TEXT_BYTES == 512, "a sentence below says 511");

/*
 * Returns a reason why a configuration file could not hold this value; NULL: it could. The parser removes
 * blanks at both ends, and everything after ' ;'.
 */
static const char *text_fault(const char *text)
{
	size_t n = strlen(text);
	uint32_t code;

	if (n >= SX_OPTION_TEXT_BYTES)
		return " (longer than 511 bytes)";
	if (!sx_utf8_valid(text, n))
		return " (not UTF-8)";
	code = sx_unprintable(text); /* the value is printed on terminals of other users */
	if (code)
		return code < 0xa0 ? " (control character)" : " (a character that is not seen)";
	if (n && (text[0] == ' ' || text[n - 1] == ' '))
		return " (leading or trailing blank)";
	if (text[0] == ';' || strstr(text, " ;"))
		return " (' ;' begins a comment)";
	return NULL;
}

static int read_text(const struct sx_option *o, const char **ret, const char *text, struct sx_why *why)
{
	const char *fault = text_fault(text);
	char *copy = NULL;

	if (fault)
		return value_refuse(o, text, fault, why);
	if (*text) {
		copy = strdup(text);
		if (!copy)
			return -ENOMEM;
	}
	free((char *)*ret);
	*ret = copy;
	return 0;
}

static int read_choice(const struct sx_option *o, int *ret, const char *text, struct sx_why *why)
{
	const char *near;
	char what[80] = "";

	for (int i = 0; o->words[i]; i++)
		if (!strcmp(o->words[i], text)) {
			*ret = i;
			return 0;
		}
	near = sx_nearest_word(text, o->words);
	if (near)
		snprintf(what, sizeof(what), " (did you mean '%s'?)", near);
	return value_refuse(o, text, what, why);
}

static int read_size(const struct sx_option *o, int *ret, const char *text, struct sx_why *why)
{
	const char *rest;
	int64_t width, height;

	if (!strcmp(text, "auto")) {
		ret[0] = ret[1] = 0;
		return 0;
	}
	if (sx_number_whole(text, &width, &rest) < 0 || *rest != 'x' ||
	    sx_number_whole(rest + 1, &height, &rest) < 0)
		return value_refuse(o, text, " (not a size)", why);
	rest += strspn(rest, " \t");
	if ((*rest && strcmp(rest, "px")) || width < SIZE_MIN || width > SIZE_MAX_WIDTH ||
	    height < SIZE_MIN || height > SIZE_MAX_HEIGHT)
		return value_refuse(o, text, "", why);
	ret[0] = (int)width;
	ret[1] = (int)height;
	return 0;
}

int sx_option_read(const struct sx_option *o, struct sx_settings *s, const char *text, struct sx_why *why)
{
	void *field = field_of(o, s);
	int64_t whole = 0;
	int r;

	switch (o->kind) {
	case SX_OPTION_BOOL:
		return read_bool(o, field, text, why);
	case SX_OPTION_REAL:
		return read_real(o, field, text, why);
	case SX_OPTION_TEXT:
		return read_text(o, field, text, why);
	case SX_OPTION_CHOICE:
		return read_choice(o, field, text, why);
	case SX_OPTION_SIZE:
		return read_size(o, field, text, why);
	default:
		r = read_whole(o, &whole, text, why);
		if (r < 0)
			return r;
		if (o->kind == SX_OPTION_INT)
			*(int *)field = (int)whole;
		else
			*(unsigned *)field = (unsigned)whole;
		return 0;
	}
}

void sx_option_write(const struct sx_option *o, const struct sx_settings *s, char text[SX_OPTION_TEXT_BYTES])
{
	const void *field = const_field_of(o, s);
	const int *size = field;
	const char *string;

	switch (o->kind) {
	case SX_OPTION_BOOL:
		snprintf(text, SX_OPTION_TEXT_BYTES, "%s", *(const bool *)field ? "yes" : "no");
		break;
	case SX_OPTION_INT:
		snprintf(text, SX_OPTION_TEXT_BYTES, "%d", *(const int *)field);
		break;
	case SX_OPTION_UNSIGNED:
		snprintf(text, SX_OPTION_TEXT_BYTES, "%u", *(const unsigned *)field);
		break;
	case SX_OPTION_REAL:
		sx_number_print(*(const double *)field, text, SX_OPTION_TEXT_BYTES);
		break;
	case SX_OPTION_TEXT:
		string = *(const char *const *)field;
		snprintf(text, SX_OPTION_TEXT_BYTES, "%s", string ? string : "");
		break;
	case SX_OPTION_CHOICE:
		snprintf(text, SX_OPTION_TEXT_BYTES, "%s", o->words[*(const int *)field]);
		break;
	case SX_OPTION_SIZE:
		if (size[0] && size[1])
			snprintf(text, SX_OPTION_TEXT_BYTES, "%dx%d", size[0], size[1]);
		else
			snprintf(text, SX_OPTION_TEXT_BYTES, "auto");
		break;
	}
}

bool sx_option_is_default(const struct sx_option *o, const struct sx_settings *s)
{
	char text[SX_OPTION_TEXT_BYTES];

	sx_option_write(o, s, text);
	return o->initial && !strcmp(text, o->initial);
}

static size_t field_bytes(const struct sx_option *o)
{
	switch (o->kind) {
	case SX_OPTION_BOOL:
		return sizeof(bool);
	case SX_OPTION_REAL:
		return sizeof(double);
	case SX_OPTION_TEXT:
		return sizeof(const char *);
	case SX_OPTION_SIZE:
		return 2 * sizeof(int);
	default:
		return sizeof(int);
	}
}

bool sx_option_equal(const struct sx_option *o, const struct sx_settings *a, const struct sx_settings *b)
{
	char text_a[SX_OPTION_TEXT_BYTES], text_b[SX_OPTION_TEXT_BYTES];

	/* most fields are equal, and then it is not necessary to compare their texts */
	if (memcmp(const_field_of(o, a), const_field_of(o, b), field_bytes(o)) == 0)
		return true;
	sx_option_write(o, a, text_a);
	sx_option_write(o, b, text_b);
	return !strcmp(text_a, text_b);
}

void sx_option_take(const struct sx_option *o, struct sx_settings *s, struct sx_settings *from)
{
	char *text = o->kind == SX_OPTION_TEXT ? *(char **)field_of(o, s) : NULL;

	memcpy(field_of(o, s), field_of(o, from), field_bytes(o));
	if (o->kind == SX_OPTION_TEXT)
		memcpy(field_of(o, from), &text, sizeof(text));
}

void sx_option_clear(const struct sx_option *o, struct sx_settings *s)
{
	const char **string = field_of(o, s);

	if (o->kind != SX_OPTION_TEXT)
		return;
	free((char *)*string);
	*string = NULL;
}
