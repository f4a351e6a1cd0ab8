/*
 * Replaces parse.c in a build of the engines alone, which has no inih. Settings are given by -s.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "config/load_priv.h"

int sx_load_file(struct sx_load *l, const char *path)
{
	sx_errors_add(l->errors, "%s: this build of the engines alone reads no configuration files; use -s",
		      path);
	return -ENOTSUP;
}

int sx_load_preset_file(struct sx_load *l, const char *path)
{
	return sx_load_file(l, path);
}
