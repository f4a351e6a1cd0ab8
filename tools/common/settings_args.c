/*
 * Handles -c and -s of the programs that compute.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/why.h"

#include "tools/common/settings_args.h"

bool sx_settings_args_add(struct sx_settings_args *a, const char *text)
{
	if ((size_t)a->count >= sizeof(a->overrides) / sizeof(a->overrides[0]))
		return false;
	a->overrides[a->count++] = text;
	return true;
}

int sx_settings_args_load(struct sx_settings *ret, const struct sx_settings_args *a, const char *program)
{
	struct sx_errors errors = {0};
	int r;

	r = sx_settings_load(ret, a->file, a->overrides, a->count, false, &errors);
	if (r == 0)
		return 0;
	fprintf(stderr, "%s: the configuration is not usable:\n", program);
	sx_errors_print(&errors, stderr);
	sx_errors_finish(&errors);
	return r == -ENOMEM ? EX_SOFTWARE : EX_CONFIG;
}

int sx_settings_args_engine(struct sx_engine *ret, const struct sx_engine_params *p, const char *program)
{
	struct sx_why why = {""};
	int r = sx_engine_open(ret, p, &why);

	if (r == 0)
		return 0;
	fprintf(stderr, "%s: %s\n", program, why.text[0] ? why.text : strerror(-r));
	if (r == -ENODEV)
		return EX_UNAVAILABLE;
	return r == -EINVAL ? EX_CONFIG : EX_SOFTWARE;
}
