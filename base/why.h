/*
 * The reason of a failure: one sentence for the user, in a buffer of one size for all functions.
 *
 * A function that can fail takes a `struct sx_why *why` as its last parameter. It writes the sentence if it
 * fails and leaves the buffer alone if it succeeds, unless its own comment says otherwise. why may be NULL if
 * the caller wants no sentence, except for functions whose comment asks for one. The caller owns the buffer
 * and may read `text` directly. The text always ends in 0. A text that is too long is cut. No function
 * allocates memory or takes a lock, so any thread may call them, one thread at a time for each buffer. A
 * zeroed buffer is empty.
 *
 *	struct sx_why why;
 *
 *	if (sx_source_open(&source, &params, slots, &why) < 0)
 *		sx_log(CAPTURE, ERROR, "%s", why.text);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_WHY_H
#define SX_BASE_WHY_H

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>

#define SX_WHY_BYTES (PATH_MAX + 256) /* a path of any length and a sentence */

struct sx_why {
	char text[SX_WHY_BYTES];
};

/* Replaces the sentence. No argument of this function or of those below may point into *why. */
void sx_why_set(struct sx_why *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes the sentence as sx_why_set() does, and returns r, usually a negative errno. */
int sx_why_fail(int r, struct sx_why *why, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Adds text at the end. */
void sx_why_add(struct sx_why *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds text at the end, for functions that take a format themselves. */
void sx_why_add_list(struct sx_why *why, const char *format, va_list list)
	__attribute__((format(printf, 2, 0)));
/* Makes the buffer empty. */
void sx_why_clear(struct sx_why *why);
/* Checks whether there is no sentence. why may not be NULL. */
bool sx_why_is_empty(const struct sx_why *why);

#endif
