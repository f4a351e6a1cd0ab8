/*
 * Shows bridges (stixel-bridge) in stixelctl list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_BRIDGES_H
#define SX_TOOLS_CTL_BRIDGES_H

#include <jansson.h>

/*
 * Returns the "/status" of every running bridge, ordered by name, in an array that the caller releases. A
 * bridge that does not answer, or that this user may not ask, has only the keys "bridge" and "why". NULL: out
 * of memory.
 */
json_t *ctl_bridges(void);
/*
 * Prints one line for each instance at each sink, and for each input of pairs. Prints nothing for an empty
 * array.
 */
void ctl_bridges_table(const json_t *bridges);

#endif
