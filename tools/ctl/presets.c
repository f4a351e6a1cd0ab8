/*
 * Implements stixelctl presets: lists the presets that are installed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "config/preset.h"
#include "tools/ctl/ctl.h"

static void print_preset(const json_t *preset)
{
	json_t *keys = json_object_get(preset, "keys"), *value;
	const char *error = json_string_value(json_object_get(preset, "error")), *key;

	printf("%s: %s\n", json_string_value(json_object_get(preset, "name")),
	       json_string_value(json_object_get(preset, "help")));
	if (error)
		ctl_fail(0, "%s", error);
	json_object_foreach(keys, key, value) printf("    %s=%s\n", key, json_string_value(value));
}

int ctl_presets(const struct ctl *c)
{
	char *text = NULL;
	size_t bytes, i;
	FILE *to = open_memstream(&text, &bytes);
	json_t *presets, *preset;
	int code = 0;

	if (to)
		sx_presets_json(to);
	presets = to && fclose(to) == 0 ? json_loads(text, 0, NULL) : NULL;
	if (!presets)
		code = ctl_fail(EX_SOFTWARE, "out of memory");
	else if (c->json)
		fputs(text, stdout);
	else
		json_array_foreach(presets, i, preset) print_preset(preset);
	if (!code && fflush(stdout) != 0)
		code = ctl_fail(EX_CANTCREAT, "cannot print: %s", strerror(errno));
	json_decref(presets);
	free(text);
	return code;
}
