/*
 * Writes OpenMetrics 1.0 text: what a family of metrics begins with, and labels. stixeld and stixel-web write with
 * it; each adds its own samples.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_OPENMETRICS_H
#define SX_IPC_OPENMETRICS_H

#include "ipc/text.h"

/* Adds the lines TYPE, UNIT and HELP. unit: NULL for none. */
void sx_openmetrics_family(struct sx_text *t, const char *name, const char *type, const char *unit,
			   const char *help);
/* Adds name="value", escaped as the format wants it. value may be NULL: it is empty then. */
void sx_openmetrics_label(struct sx_text *t, const char *name, const char *value);

#endif
