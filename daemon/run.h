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

struct sx_member;  /* daemon/instance/member.h */
struct sx_origins; /* config/option.h */

/*
 * Returns true if error r is a shortage that may end soon: of memory, of descriptors, or a file that could
 * not be read. Such a start ends with SX_EXIT_FAILED, and the configuration may be right.
 */
bool sx_exit_is_shortage(int r);

/*
 * Runs the daemon and returns its exit code. Logs the reason of a failure. Live changes are written to
 * settings, and their origins to origins. member: NULL, or how this instance of several talks to the
 * supervisor. Then the function runs in a thread of its own. If an engine hangs at the end, member->abandoned is
 * set, and settings, origins and all that the instance holds must stay as they are.
 */
int sx_run(const struct sx_options *options, struct sx_settings *settings, struct sx_origins *origins,
	   struct sx_member *member);

#endif
