/*
 * Word wrap: text for a terminal in lines of at most 79 columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_WRAP_H
#define SX_CONFIG_WRAP_H

#include <stdio.h>

#define SX_WRAP_COLUMNS 79

/*
 * Prints text and a line end. at: column of the cursor. Further lines begin in column indent. Line ends in
 * the text are kept. A word wider than a line is not cut.
 */
void sx_wrap(FILE *to, const char *text, int at, int indent);

/* Prints two columns and wraps the second one. If the first is too wide, the second begins on a new line. */
void sx_wrap_row(FILE *to, const char *left, const char *right, int column);

#endif
