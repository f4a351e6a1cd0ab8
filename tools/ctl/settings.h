/*
 * Reads the settings of a running instance from /settings of its status socket.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_SETTINGS_H
#define SX_TOOLS_CTL_SETTINGS_H

#include <jansson.h>

#include "tools/ctl/ctl.h"

/*
 * Returns the answer to GET /settings, which the caller releases. On an error prints it, sets the exit code
 * and returns NULL.
 */
json_t *sx_settings_ask(const struct ctl *c, int *code);
/* Returns the exit code for the daemon's answer to a POST: 0, EX_CONFIG, EX_NOPERM, ... */
int sx_settings_code(int http_status);

/*
 * Makes all texts of an answer fit for a terminal (base/printable.h). Does not change keys of objects:
 * sx_unprintable() finds unprintable keys.
 */
void sx_json_make_printable(json_t *value);

#endif
