/*
 * Numbers and words as people type them: strict parsing, shortest printing, nearest word, UTF-8.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_TEXT_NUMBER_H
#define SX_CONFIG_TEXT_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * [+-]digits[.digits][e[+-]digits], the decimal point whatever the locale; no hexadecimal, nan or inf.
 * *rest: first character after it. -EINVAL no number, -ERANGE not finite.
 */
int sx_number_real(const char *text, double *ret, const char **rest);
/* [+-]digits. -EINVAL no number, -ERANGE beyond int64. */
int sx_number_whole(const char *text, int64_t *ret, const char **rest);
/* The shortest of %.15g, %.16g, %.17g that reads back as the same value. */
void sx_number_print(double v, char *text, size_t bytes);

/* The one of words (NULL at the end) that text was probably meant to be, NULL: none is near. */
const char *sx_nearest_word(const char *text, const char *const *words);
/* Edits (insert, delete, replace, swap neighbours) between two words; 99 for words beyond 31 bytes. */
int sx_word_distance(const char *a, const char *b);
/* True when edits are few enough for "did you mean". */
bool sx_word_near(const char *text, int distance);

#endif
