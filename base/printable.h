/*
 * Text from outside that goes to a terminal, a log or a file: finds and replaces unprintable characters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_PRINTABLE_H
#define SX_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns true for valid UTF-8: no surrogates, no overlong forms, no code point above U+10FFFF. */
bool sx_utf8_valid(const char *text, size_t bytes);
/*
 * Returns the first code point that a terminal obeys, that changes the order of its neighbours, or that is
 * invisible; 0 if there is none. These are control characters (C0, C1), marks of direction and format, line
 * separators, blanks other than U+0020, private use, and noncharacters. text: valid UTF-8.
 */
uint32_t sx_unprintable(const char *text);
/*
 * Replaces each code point that sx_unprintable() would find by '?', in place. If the text is not UTF-8, also
 * replaces each byte above 0x7e. If the text was cut within its last character, removes that incomplete
 * character.
 */
void sx_make_printable(char *text);

#endif
