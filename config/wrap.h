/*
 * Text for a terminal, in lines of at most 79 columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_WRAP_H
#define SX_CONFIG_WRAP_H

#include <stdio.h>

#define SX_WRAP_COLUMNS 79

/*
 * Text from column at on, which the cursor has reached, and a line end; further lines begin in column
 * indent. Line ends in the text stay. A word that is wider than a line is not cut.
 */
void sx_wrap(FILE *to, const char *text, int at, int indent);

/* Two columns, the second one wrapped; it begins on a line of its own where the first is too wide. */
void sx_wrap_row(FILE *to, const char *left, const char *right, int column);

#endif
