/*
 * Writes OpenMetrics 1.0 text: the head of a metric family, and labels. stixeld and stixel-web use it; each
 * adds its own samples.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_OPENMETRICS_H
#define SX_IPC_OPENMETRICS_H

#include "ipc/text.h"

/* Adds the lines TYPE, UNIT and HELP. unit may be NULL: no UNIT line. */
void sx_openmetrics_family(struct sx_text *t, const char *name, const char *type, const char *unit,
			   const char *help);
/* Adds name="value", escaped as the format requires. value NULL is written as empty text. */
void sx_openmetrics_label(struct sx_text *t, const char *name, const char *value);

#endif
