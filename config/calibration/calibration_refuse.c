/*
 * Refuses a calibration with an error message.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "config/calibration/calibration_priv.h"

int sx_calibration_refuse(struct sx_why *why, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sx_why_clear(why);
	sx_why_add_list(why, format, args);
	va_end(args);
	return -EINVAL;
}
