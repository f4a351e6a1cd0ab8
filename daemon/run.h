/*
 * One life of the daemon, from a checked configuration to its exit code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_RUN_H
#define SX_DAEMON_RUN_H

#include "config/settings.h"
#include "daemon/options.h"

/* settings: live keys change in it on SIGHUP. Returns the exit code; says why on the log. */
int sx_run(const struct sx_options *options, struct sx_settings *settings);

#endif
