/*
 * Reads the settings of a running instance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/ctl/settings.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/printable.h"
#include "tools/ctl/ctl_ask.h"

json_t *sx_settings_ask(const struct ctl *c, int *code)
{
	const struct sx_question q = {
		.name = c->instance, .target = "/settings", .timeout_ms = CTL_ANSWER_MS};
	struct sx_reply reply;
	json_t *j = ctl_ask_object(&q, &reply);

	if (reply.code == 404) {
		*code = ctl_fail(EX_DATAERR, "instance '%s' is of a version that tells no settings",
				 c->instance);
	} else if (!j) {
		*code = ctl_ask_failed(c, &reply);
	} else if (!json_is_object(json_object_get(j, "keys"))) {
		*code = ctl_fail(EX_DATAERR, "instance '%s': its settings are not what was expected",
				 c->instance);
		json_decref(j);
		j = NULL;
	}
	sx_reply_finish(&reply);
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
