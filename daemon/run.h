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
 * What may be there a moment later: memory, descriptors, a file that could not be read. Such a start has
 * failed (SX_EXIT_FAILED), and the configuration may be right.
 */
bool sx_exit_is_shortage(int r);

/*
 * Keys that change live change in settings, and in origins where they came from. Returns the exit code; says
 * why on the log.
 */
int sx_run(const struct sx_options *options, struct sx_settings *settings, struct sx_origins *origins);

#endif
