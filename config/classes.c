/*
 * The table of semantic classes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/classes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "stixel.h"

#define BLANKS " \t,"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

/* Writes a message about entry number `index`, whose text has `length` bytes. */
__attribute__((format(printf, 5, 6))) static int classes_refuse(struct sx_why *why, int index,
								const char *text, int length,
								const char *format, ...)
{
	va_list list;

	sx_why_set(why, "entry %d '%.*s': ", index + 1, length < 40 ? length : 40, text);
	va_start(list, format);
	sx_why_add_list(why, format, list);
	va_end(list);
	return -EINVAL;
}

/* Returns the kind named by the word after the colon; -1: unknown. */
static int kind_of(const char *word, size_t length)
{
	for (int kind = STIXEL_GROUND; kind < STIXEL_UNKNOWN; kind++) {
		const char *name = stixel_kind_name((unsigned)kind);

		if (strlen(name) == length && memcmp(name, word, length) == 0)
			return kind;
	}
	return -1;
}

static bool is_known(const struct sx_class_names *names, int count, const char *word, size_t length)
{
	for (int i = 0; i < count; i++)
		if (strlen(names->name[i]) == length && memcmp(names->name[i], word, length) == 0)
			return true;
	return false;
}

int sx_classes_parse(const char *text, struct sx_semantic_params *p, struct sx_class_names *names,
		     struct sx_why *why)
{
	struct sx_semantic_params read = {0};
	struct sx_class_names known = {0};
	const char *at = text ? text : "";

	for (at += strspn(at, BLANKS); *at; at += strspn(at, BLANKS)) {
		int length = (int)strcspn(at, BLANKS), i = read.classes, kind = STIXEL_OBJECT;
		size_t name = strcspn(at, ":" BLANKS);

		if (i == SX_CLASSES_MAX)
			return classes_refuse(why, i, at, length, "at most %d classes are allowed",
					      SX_CLASSES_MAX);
		if (name == 0 || name >= SX_CLASS_NAME_BYTES || strspn(at, LETTERS) < name)
			return classes_refuse(
				why, i, at, length,
				"allowed is NAME or NAME:KIND, names of 1 to %d of A-Z a-z 0-9 _ . -",
				SX_CLASS_NAME_BYTES - 1);
		if (at[name] == ':')
			kind = kind_of(at + name + 1, (size_t)length - name - 1);
		if (kind < 0)
			return classes_refuse(why, i, at, length, "kind '%.*s', allowed ground, object, sky",
					      length - (int)name - 1 < 40 ? length - (int)name - 1 : 40,
					      at + name + 1);
		if (is_known(&known, i, at, name))
			return classes_refuse(why, i, at, length, "this class is already listed");
		memcpy(known.name[i], at, name);
		read.kind[i] = (uint8_t)kind;
		read.classes++;
		at += length;
	}
	if (!read.classes)
		return sx_why_fail(-EINVAL, why, "no class is given");
	*p = read;
	if (names)
		*names = known;
	return 0;
}
