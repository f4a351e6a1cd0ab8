/*
 * Says which part of a path does not exist, for the user who wrote it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_MISSING_H
#define SX_BASE_MISSING_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Looks whether a path is there, or, of a pattern, the folder before its first wildcard (* ? [ {, %d). True
 * when it is not there, or may not be looked at: why is one sentence about what is missing and what to do.
 * Any thread.
 */
bool sx_missing(const char *pattern, char *why, size_t why_bytes);

#endif
