/*
 * Prints text in scdoc's language.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/man_text.h"

#include <string.h>

void sx_man_text(const char *text, FILE *to)
{
	for (; *text; text++) {
		if (strchr("_*\\<>#[]`", *text))
			fputc('\\', to);
		fputc(*text, to);
	}
}
