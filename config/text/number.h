/*
 * Numbers and words as users type them: strict parsing, shortest printing, nearest word, UTF-8.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CONFIG_TEXT_NUMBER_H
#define SX_CONFIG_TEXT_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads [+-]digits[.digits][e[+-]digits], with a decimal point in every locale. Hexadecimal numbers, nan and
 * inf are refused. *rest: first character after the number. Returns -EINVAL if there is no number, -ERANGE if
 * it is not finite.
 */
int sx_number_real(const char *text, double *ret, const char **rest);
/* Reads [+-]digits. Returns -EINVAL if there is no number, -ERANGE if it is outside int64. */
int sx_number_whole(const char *text, int64_t *ret, const char **rest);
/* Prints the shortest of %.15g, %.16g and %.17g that reads back as the same value. */
void sx_number_print(double v, char *text, size_t bytes);

/* Returns the word of `words` (NULL at the end) that text was probably meant to be; NULL: no word is near. */
const char *sx_nearest_word(const char *text, const char *const *words);
/*
 * Counts the edits (insert, delete, replace, swap neighbours) between two words. Returns 99 for words above
 * 31 bytes.
 */
int sx_word_distance(const char *a, const char *b);
/* Returns true if a word at this distance is near enough for "did you mean". */
bool sx_word_near(const char *text, int distance);

#endif
