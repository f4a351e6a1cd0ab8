/*
 * Settings of a running instance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/ctl/settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/printable.h"
#include "tools/common/instances.h"

json_t *sx_settings_ask(const struct ctl *c, int *code)
{
	char why[512] = "", *body = NULL;
	int r = sx_instance_get(c->instance, "/settings", CTL_ANSWER_MS, &body, why, sizeof(why));
	json_error_t error;
	json_t *j = NULL;

	if (r == 200) {
		j = json_loads(body, JSON_REJECT_DUPLICATES, &error);
		if (!json_is_object(json_object_get(j, "keys"))) {
			*code = ctl_fail(EX_DATAERR, "instance '%s': its settings are not what was expected",
					 c->instance);
			json_decref(j);
			j = NULL;
		}
	} else if (r == 404) {
		*code = ctl_fail(EX_DATAERR, "instance '%s' is of a version that tells no settings",
				 c->instance);
	} else {
		*code = ctl_ask_failed(c, r, why);
	}
	free(body);
	return j;
}

void sx_json_make_printable(json_t *value)
{
	const char *text = json_string_value(value), *key;
	char *copy = text ? strdup(text) : NULL;
	size_t i;
	json_t *inner;

	if (copy)
		sx_make_printable(copy);
	if (copy)
		json_string_set(value, copy);
	free(copy);
	json_array_foreach(value, i, inner) sx_json_make_printable(inner);
	json_object_foreach(value, key, inner) sx_json_make_printable(inner);
}

int sx_settings_code(int http_status)
{
	switch (http_status) {
	case 200:
		return 0;
	case 403:
		return EX_NOPERM;
	case 409:
	case 422:
		return EX_CONFIG;
	case 500:
	case 507:
		return EX_SOFTWARE;
	case 503:
		return CTL_NOTHING;
	default:
		return EX_DATAERR;
	}
}
