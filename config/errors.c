/*
 * A list of error messages for the user.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "config/config.h"

void sx_errors_add(struct sx_errors *e, const char *format, ...)
{
	char text[1024];
	va_list args;

	if (e->count == SX_CONFIG_ERRORS) {
		e->more++;
		return;
	}
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* control characters in a file or an argument must not reach the terminal */
	sx_make_printable(text);
	e->text[e->count] = strdup(text);
	if (e->text[e->count])
		e->count++;
	else
		e->more++;
}

void sx_errors_print(const struct sx_errors *e, FILE *to)
{
	for (int i = 0; i < e->count; i++)
		fprintf(to, "%s\n", e->text[i]);
	if (e->more)
		fprintf(to, "and %d more errors\n", e->more);
}

void sx_errors_finish(struct sx_errors *e)
{
	for (int i = 0; i < e->count; i++)
		free(e->text[i]);
	memset(e, 0, sizeof(*e));
}
