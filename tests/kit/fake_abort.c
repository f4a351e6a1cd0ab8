/*
 * Ends the program with a sentence on stderr, see fake_abort.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/kit/fake_abort.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void fake_abort(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("# fake: contract broken: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	abort();
}
