/*
 * The reason of a failure, as one sentence in a buffer: base/why.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/why.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

void sx_why_set(struct sx_why *why, const char *format, ...)
{
	va_list list;

	sx_why_clear(why);
	va_start(list, format);
	sx_why_add_list(why, format, list);
	va_end(list);
}

int sx_why_fail(int r, struct sx_why *why, const char *format, ...)
{
	va_list list;

	sx_why_clear(why);
	va_start(list, format);
	sx_why_add_list(why, format, list);
	va_end(list);
	return r;
}

void sx_why_add(struct sx_why *why, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	sx_why_add_list(why, format, list);
	va_end(list);
}

void sx_why_add_list(struct sx_why *why, const char *format, va_list list)
{
	size_t n;

	if (!why)
		return;
	n = strlen(why->text);
	vsnprintf(why->text + n, sizeof(why->text) - n, format, list);
}

void sx_why_clear(struct sx_why *why)
{
	if (why)
		why->text[0] = 0;
}

bool sx_why_is_empty(const struct sx_why *why)
{
	return !why->text[0];
}
