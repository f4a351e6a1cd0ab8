/*
 * What the command lines of several tools have in common.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tools/args.h"

bool sx_parse_int(const char *text, int min, int max, int *ret)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 10);
	if (end == text || *end || errno || v < min || v > max)
		return false;
	*ret = (int)v;
	return true;
}

bool sx_parse_seconds(const char *text, double max, int *ret_ms)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(text, &end);
	if (end == text || *end || errno || !(v >= 0.0 && v <= max))
		return false;
	*ret_ms = (int)lrint(v * 1000.0);
	return true;
}

bool sx_parse_size(const char *text, int *width, int *height)
{
	long w, h;
	char *end;

	errno = 0;
	w = strtol(text, &end, 10);
	if (end == text || *end != 'x' || errno || w < 1 || w > 65535)
		return false;
	text = end + 1;
	h = strtol(text, &end, 10);
	if (end == text || *end || errno || h < 1 || h > 65535)
		return false;
	*width = (int)w;
	*height = (int)h;
	return true;
}
