/*
 * In place of parse.c and calibration_yaml.c in a build of the engines alone, which has neither inih nor
 * libyaml: settings are given by -s.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>

#include "config/calibration_priv.h"
#include "config/load_priv.h"

int sx_load_file(struct sx_load *l, const char *path)
{
	sx_errors_add(l->errors, "%s: this build of the engines alone reads no configuration files; use -s",
		      path);
	return -ENOTSUP;
}

bool sx_calibration_is_yaml(const char *text)
{
	return text[0] == '%';
}

int sx_calibration_yaml(struct sx_calibration_raw *raw, const char *text, size_t size, char *why,
			size_t why_bytes)
{
	snprintf(why, why_bytes, "this build of the engines alone reads no YAML");
	return -ENOTSUP;
}
