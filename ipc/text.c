/*
 * Bounded writer for status documents. Escapes JSON text as RFC 8259 requires. Bytes that are not UTF-8 (a
 * file name may contain any byte) become U+FFFD, so that a parser never refuses the document.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/contract.h"

#define REAL_WHOLE 1e6 /* from here on six significant digits would lose whole units */
#define REAL_WHOLE_MOST 1e15

void sx_text_init(struct sx_text *t, char *data, size_t bytes)
{
	sx_must(bytes, >, 0);
	*t = (struct sx_text){.data = data, .bytes = bytes};
	data[0] = 0;
}

void sx_text_add(struct sx_text *t, const char *format, ...)
{
	size_t room = t->bytes - t->used;
	va_list args;
	int n;

	sx_must(t->used, <, t->bytes);
	if (t->cut)
		return;
	va_start(args, format);
	n = vsnprintf(t->data + t->used, room, format, args);
	va_end(args);
	if ((size_t)n >= room) {
		t->data[t->used] = 0;
		t->cut = true;
		return;
	}
	t->used += (size_t)n;
}

/*
 * Returns the length of the well-formed UTF-8 sequence at s, bytes; 0 if there is none. (Unicode 15, table
 * 3-7.)
 */
static int utf8_bytes(const unsigned char *s)
{
	static const struct {
		unsigned char first, last, second_min, second_max, bytes;
	} forms[] = {
		{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
		{0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (s[0] < forms[i].first || s[0] > forms[i].last)
			continue;
		if (s[1] < forms[i].second_min || s[1] > forms[i].second_max)
			return 0;
		for (int k = 2; k < forms[i].bytes; k++)
			if ((s[k] & 0xc0) != 0x80)
				return 0;
		return forms[i].bytes;
	}
	return 0;
}

static void add_quoted(struct sx_text *t, const char *value)
{
	const unsigned char *s = (const unsigned char *)value;

	sx_text_add(t, "\"");
	while (*s) {
		int n = *s < 0x80 ? 1 : utf8_bytes(s);

		if (n == 0) {
			sx_text_add(t, "\\ufffd");
			n = 1;
		} else if (*s == '"' || *s == '\\') {
			sx_text_add(t, "\\%c", *s);
		} else if (*s < 0x20 || *s == 0x7f) {
			sx_text_add(t, "\\u%04x", (unsigned)*s);
		} else {
			sx_text_add(t, "%.*s", n, (const char *)s);
		}
		sx_must(n, >, 0);
		s += n;
	}
	sx_text_add(t, "\"");
}

static void add_key(struct sx_text *t, const char *key)
{
	sx_must(t->used, <, t->bytes);
	if (t->used > 0 && !strchr("{[\n", t->data[t->used - 1]))
		sx_text_add(t, ",");
	if (!key)
		return;
	add_quoted(t, key);
	sx_text_add(t, ":");
}

void sx_json_open(struct sx_text *t, const char *key, char bracket)
{
	sx_must_be(bracket == '{' || bracket == '[');
	add_key(t, key);
	sx_text_add(t, "%c", bracket);
}

void sx_json_close(struct sx_text *t, char bracket)
{
	sx_must_be(t->used > 0 || t->cut);
	sx_must_be(bracket == '}' || bracket == ']');
	sx_text_add(t, "%c", bracket);
}

void sx_json_text(struct sx_text *t, const char *key, const char *value)
{
	add_key(t, key);
	if (value)
		add_quoted(t, value);
	else
		sx_text_add(t, "null");
}

void sx_json_count(struct sx_text *t, const char *key, int64_t value)
{
	add_key(t, key);
	if (value < 0)
		sx_text_add(t, "null");
	else
		sx_text_add(t, "%" PRId64, value);
}

void sx_json_whole(struct sx_text *t, const char *key, uint64_t value)
{
	add_key(t, key);
	sx_text_add(t, "%" PRIu64, value);
}

void sx_json_real(struct sx_text *t, const char *key, double value)
{
	add_key(t, key);
	/* long-running sums must still advance by ones: seconds after two weeks, joules after a day */
	if (fabs(value) >= REAL_WHOLE && fabs(value) < REAL_WHOLE_MOST)
		sx_text_add(t, "%.0f", value);
	else if (isfinite(value))
		sx_text_add(t, "%.6g", value);
	else
		sx_text_add(t, "null");
}

void sx_json_bool(struct sx_text *t, const char *key, bool value)
{
	add_key(t, key);
	sx_text_add(t, "%s", value ? "true" : "false");
}

void sx_json_us(struct sx_text *t, const char *key, int64_t ns)
{
	sx_must(ns, >=, 0);
	add_key(t, key);
	sx_text_add(t, "%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
}
