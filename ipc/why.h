/*
 * Formats an error message, one sentence for the user, into a caller's buffer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_WHY_H
#define SX_IPC_WHY_H

#include <stdarg.h>
#include <stdio.h>

/* Writes the message and returns r. why may be NULL. */
__attribute__((format(printf, 4, 5))) static inline int sx_why(int r, char *why, size_t why_bytes,
							       const char *format, ...)
{
	va_list list;

	if (why && why_bytes) {
		va_start(list, format);
		vsnprintf(why, why_bytes, format, list);
		va_end(list);
	}
	return r;
}

#endif
