/*
 * One life of the daemon, from a checked configuration to its exit code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_RUN_H
#define SX_DAEMON_RUN_H

#include <stdbool.h>

#include "config/settings.h"
#include "daemon/options.h"

struct sx_origins; /* config/option.h */

/*
 * Returns true if error r is a shortage that may end soon: of memory, of descriptors, or a file that could
 * not be read. Such a start ends with SX_EXIT_FAILED, and the configuration may be right.
 */
bool sx_exit_is_shortage(int r);

/*
 * Runs the daemon and returns its exit code. Logs the reason of a failure. Live changes are written to
 * settings, and their origins to origins.
 */
int sx_run(const struct sx_options *options, struct sx_settings *settings, struct sx_origins *origins);

#endif
