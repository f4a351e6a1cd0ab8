/*
 * Refuses a calibration with an error message.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "config/calibration/calibration_priv.h"

int sx_calibration_refuse(char *why, size_t why_bytes, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, why_bytes, format, args);
	va_end(args);
	return -EINVAL;
}
