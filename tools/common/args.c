/*
 * Parses values that the command lines of several tools share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stixel.h"
#include "tools/common/args.h"

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

bool sx_parse_real(const char *text, double min, double max, double *ret)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(text, &end);
	if (end == text || *end || errno || !(v >= min && v <= max))
		return false;
	*ret = v;
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

bool sx_parse_images(const char *text, unsigned *kinds)
{
	*kinds = 0;
	if (strcmp(text, "none") == 0)
		return true;
	for (;;) {
		size_t n = strcspn(text, ",");

		if (n == 4 && strncmp(text, "left", n) == 0)
			*kinds |= 1u << STIXEL_PLANE_LEFT;
		else if (n == 5 && strncmp(text, "right", n) == 0)
			*kinds |= 1u << STIXEL_PLANE_RIGHT;
		else if (n == 9 && strncmp(text, "disparity", n) == 0)
			*kinds |= 1u << STIXEL_PLANE_DISPARITY;
		else
			return false;
		if (!text[n])
			return true;
		text += n + 1;
	}
}
