/*
 * Word wrap for a terminal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/wrap.h"

#include <string.h>

void sx_wrap(FILE *to, const char *text, int at, int indent)
{
	int gap = 0; /* spaces before the next word of this line */

	while (*text) {
		int n = (int)strcspn(text, " \n");

		if (gap && at + gap + n > SX_WRAP_COLUMNS) {
			fprintf(to, "\n%*s", indent, "");
			at = indent;
			gap = 0;
		}
		at += fprintf(to, "%*s%.*s", gap, "", n, text);
		text += n;
		gap = (int)strspn(text, " ");
		text += gap;
		if (*text != '\n')
			continue;
		fprintf(to, "\n%*s", text[1] == '\n' ? 0 : indent, "");
		at = indent;
		gap = 0;
		text++;
	}
	fputc('\n', to);
}

void sx_wrap_row(FILE *to, const char *left, const char *right, int column)
{
	int n = (int)strlen(left) + 2;

	fprintf(to, "  %s", left);
	if (n + 2 > column) {
		fputc('\n', to);
		n = 0;
	}
	fprintf(to, "%*s", column - n, "");
	sx_wrap(to, right, column, column);
}
