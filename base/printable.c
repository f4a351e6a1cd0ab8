/*
 * Printable and unprintable code points of UTF-8.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/printable.h"

#include <string.h>

/*
 * Reads the character at t, before end. Returns its length in bytes, and its code point in code. 0: these
 * bytes are not a character. missing: the text ends within the character.
 */
static int read_character(const unsigned char *t, const unsigned char *end, uint32_t *code, bool *missing)
{
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
	const int more = *t < 0x80 ? 0 : *t >> 5 == 6 ? 1 : *t >> 4 == 14 ? 2 : *t >> 3 == 30 ? 3 : -1;

	*missing = false;
	if (more < 0)
		return 0;
	*code = more ? *t & (0x3fu >> more) : *t;
	for (int i = 1; i <= more; i++) {
		*missing = t + i == end;
		if (*missing || t[i] >> 6 != 2)
			return 0;
		*code = *code << 6 | (t[i] & 0x3fu);
	}
	if (*code < least[more] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return more + 1;
}

bool sx_utf8_valid(const char *text, size_t bytes)
{
	const unsigned char *t = (const unsigned char *)text, *end = t + bytes;
	uint32_t code;
	bool missing;

	while (t < end) {
		const int n = read_character(t, end, &code, &missing);

		if (!n)
			return false;
		t += n;
	}
	return true;
}

/*
 * Returns true for the categories Cc, Cf, Co, Zl, Zp, Zs of Unicode 15 except U+0020, and for noncharacters.
 * The ranges are sorted.
 */
static bool is_unprintable(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{0x00, 0x1f},	    {0x7f, 0xa0},	{0xad, 0xad},	     {0x600, 0x605},
		{0x61c, 0x61c},	    {0x6dd, 0x6dd},	{0x70f, 0x70f},	     {0x890, 0x891},
		{0x8e2, 0x8e2},	    {0x1680, 0x1680},	{0x180e, 0x180e},    {0x2000, 0x200f},
		{0x2028, 0x202f},   {0x205f, 0x206f},	{0x3000, 0x3000},    {0xe000, 0xf8ff},
		{0xfdd0, 0xfdef},   {0xfeff, 0xfeff},	{0xfff0, 0xfffb},    {0x110bd, 0x110bd},
		{0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},  {0x1d173, 0x1d17a},
		{0xe0000, 0xe00ff}, {0xe01f0, 0xe0fff}, {0xf0000, 0x10ffff},
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]) && code >= ranges[i].first; i++)
		if (code <= ranges[i].last)
			return true;
	return (code & 0xfffe) == 0xfffe;
}

uint32_t sx_unprintable(const char *text)
{
	const unsigned char *t = (const unsigned char *)text, *end = t + strlen(text);
	uint32_t code = 0;
	bool missing;
	int n;

	for (; t < end && (n = read_character(t, end, &code, &missing)) > 0; t += n)
		if (is_unprintable(code))
			return code;
	return 0;
}

/* Returns true if the text is UTF-8, apart from an incomplete last character. Removes that character. */
static bool take_cut(char *text)
{
	unsigned char *t = (unsigned char *)text, *end = t + strlen(text);
	uint32_t code;
	bool missing;

	while (t < end) {
		const int n = read_character(t, end, &code, &missing);

		if (!n && missing)
			*t = 0;
		if (!n)
			return missing;
		t += n;
	}
	return true;
}

void sx_make_printable(char *text)
{
	const bool utf8 = take_cut(text);
	unsigned char *to = (unsigned char *)text, *end = to + strlen(text);
	uint32_t code;
	bool missing;

	for (const unsigned char *t = to; t < end;) {
		const int n = utf8 ? read_character(t, end, &code, &missing) : 1;

		if (!utf8)
			code = *t > 0x7e ? 0 : *t;
		if (is_unprintable(code)) {
			*to++ = '?';
		} else {
			memmove(to, t, (size_t)n);
			to += n;
		}
		t += n;
	}
	*to = 0;
}
