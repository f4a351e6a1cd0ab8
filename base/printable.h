/*
 * Text of others, on its way to a terminal, a log or a file: what in it is no character that a reader sees.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_PRINTABLE_H
#define SX_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tells valid UTF-8: no surrogates, no overlong forms, nothing above U+10FFFF. */
bool sx_utf8_valid(const char *text, size_t bytes);
/*
 * Finds the first code point that a terminal obeys, that changes the order of its neighbours, or that shows
 * nothing: control characters (C0, C1), marks of direction and format, separators of lines, blanks other
 * than U+0020, private use, noncharacters. Its number, or 0: there is none. text: valid UTF-8.
 */
uint32_t sx_unprintable(const char *text);
/*
 * Writes '?' for each of those, in place; for each byte above 0x7e of a text that is no UTF-8, too. A text
 * that was cut within its last character loses that part.
 */
void sx_make_printable(char *text);

#endif
