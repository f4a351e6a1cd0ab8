/*
 * Writes OpenMetrics text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/openmetrics.h"

void sx_openmetrics_family(struct sx_text *t, const char *name, const char *type, const char *unit,
			   const char *help)
{
	sx_text_add(t, "# TYPE %s %s\n", name, type);
	if (unit)
		sx_text_add(t, "# UNIT %s %s\n", name, unit);
	sx_text_add(t, "# HELP %s %s\n", name, help);
}

void sx_openmetrics_label(struct sx_text *t, const char *name, const char *value)
{
	sx_text_add(t, "%s=\"", name);
	for (; value && *value; value++) {
		if (*value == '\n')
			sx_text_add(t, "\\n");
		else if (*value == '"' || *value == '\\')
			sx_text_add(t, "\\%c", *value);
		else
			sx_text_add(t, "%c", *value);
	}
	sx_text_add(t, "\"");
}
