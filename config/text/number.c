/*
 * Numbers and words as users type them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/text/number.h"

static size_t digits(const char *text)
{
	return strspn(text, "0123456789");
}

static size_t length_of_real(const char *text)
{
	size_t n = strspn(text, "+-") ? 1 : 0, whole = digits(text + n), fraction = 0, exponent;

	n += whole;
	if (text[n] == '.') {
		fraction = digits(text + n + 1);
		n += whole || fraction ? 1 + fraction : 0;
	}
	if (!whole && !fraction)
		return 0;
	if (text[n] == 'e' || text[n] == 'E') {
		size_t sign = strspn(text + n + 1, "+-") ? 1 : 0;

		exponent = digits(text + n + 1 + sign);
		if (exponent)
			n += 1 + sign + exponent;
	}
	return n;
}

/* Calls strtod in the C locale, so that a program that called setlocale() reads the same files. */
static double to_double(const char *text)
{
	static locale_t c_locale; /* created once and kept */

	if (!c_locale)
		c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	return c_locale ? strtod_l(text, NULL, c_locale) : strtod(text, NULL);
}

int sx_number_real(const char *text, double *ret, const char **rest)
{
	size_t n = length_of_real(text);
	char copy[64];
	double v;

	if (!n || n >= sizeof(copy))
		return -EINVAL;
	memcpy(copy, text, n);
	copy[n] = 0;
	v = to_double(copy);
	if (!isfinite(v))
		return -ERANGE;
	*ret = v;
	*rest = text + n;
	return 0;
}

int sx_number_whole(const char *text, int64_t *ret, const char **rest)
{
	size_t sign = strspn(text, "+-") ? 1 : 0, n = digits(text + sign);
	long long v;
	char *end;

	if (!n)
		return -EINVAL;
	errno = 0;
	v = strtoll(text, &end, 10);
	if (errno)
		return -ERANGE;
	*ret = v;
	*rest = end;
	return 0;
}

void sx_number_print(double v, char *text, size_t bytes)
{
	for (int precision = 15; precision <= 17; precision++) {
		snprintf(text, bytes, "%.*g", precision, v);
		if (to_double(text) == v)
			return;
	}
}

#define WORD_BYTES 32

/* Optimal string alignment distance (Damerau 1964). Three rows of the table are kept. */
int sx_word_distance(const char *a, const char *b)
{
	int row[3][WORD_BYTES + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la >= WORD_BYTES || lb >= WORD_BYTES)
		return 99;
	for (size_t j = 0; j <= lb; j++)
		row[0][j] = (int)j;
	for (size_t i = 1; i <= la; i++) {
		int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];

		now[0] = (int)i;
		for (size_t j = 1; j <= lb; j++) {
			int best = last[j - 1] + (a[i - 1] != b[j - 1]);

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
	}
	return row[la % 3][lb];
}

bool sx_word_near(const char *text, int distance)
{
	size_t length = strlen(text);

	return distance <= (length < 4 ? 1 : (int)(length + 2) / 3);
}

const char *sx_nearest_word(const char *text, const char *const *words)
{
	const char *best = NULL;
	int least = 99;

	for (; *words; words++) {
		int distance = sx_word_distance(text, *words);

		if (distance < least) {
			least = distance;
			best = *words;
		}
	}
	return best && sx_word_near(text, least) ? best : NULL;
}
