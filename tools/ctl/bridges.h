/*
 * Bridges (stixel-bridge) in stixelctl list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_BRIDGES_H
#define SX_TOOLS_CTL_BRIDGES_H

#include <jansson.h>

/*
 * What every bridge that runs says of itself ("/status"), in the order of their names: an array for the
 * caller to give back; those that do not answer, or that this user may not ask, are in it with "bridge" and
 * "why" alone. NULL without memory.
 */
json_t *ctl_bridges(void);
/* A line for each instance at each sink; nothing for an empty array. */
void ctl_bridges_table(const json_t *bridges);

#endif
