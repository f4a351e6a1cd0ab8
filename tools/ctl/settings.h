/*
 * The settings of a running instance, as its status socket tells them at /settings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_SETTINGS_H
#define SX_TOOLS_CTL_SETTINGS_H

#include <jansson.h>

#include "tools/ctl/ctl.h"

/* The answer to GET /settings, to be released; NULL after a sentence, with the exit code. */
json_t *sx_settings_ask(const struct ctl *c, int *code);
/* Exit code for what the daemon answered to a POST: 0, EX_CONFIG, EX_NOPERM, ... */
int sx_settings_code(int http_status);

/*
 * Makes all texts of an answer fit for a terminal (base/printable.h). Keys of objects stay: sx_unprintable()
 * tells of them.
 */
void sx_json_make_printable(json_t *value);

#endif
