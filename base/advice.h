/*
 * What a user may do, in sentences that more than one program says. Any thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_ADVICE_H
#define SX_BASE_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Looks whether a path is there, or, of a pattern, the folder before its first wildcard (* ? [ {, %d). True
 * when it is not there, or may not be looked at: why is one sentence about what is missing and what to do.
 */
bool sx_missing(const char *pattern, char *why, size_t why_bytes);

/* Of an engine that does not keep up. */
const char *sx_advice_too_slow(void);
/* Returns what to do about a reason of the daemon's status; NULL: the reason says it itself, or is not known. */
const char *sx_advice_on_reason(const char *reason);

#endif
