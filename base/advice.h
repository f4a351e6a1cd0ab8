/*
 * Advice for users, in sentences that more than one program prints. Any thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_ADVICE_H
#define SX_BASE_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/why.h"

/*
 * Checks whether a path exists. For a pattern it checks the folder before the first wildcard (* ? [ {, %d).
 * Returns true if the path does not exist or the user may not look at it. why is then one sentence about what
 * is missing and what to do.
 */
bool sx_missing(const char *pattern, struct sx_why *why);

/* Returns advice for an engine that is too slow. */
const char *sx_advice_too_slow(void);
/* Returns advice about a reason in the daemon's status. NULL: the reason needs no advice, or is not known. */
const char *sx_advice_on_reason(const char *reason);

#endif
