/*
 * Shows bridges (stixel-bridge) and segmentation networks (stixel-segment) in stixelctl list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_CTL_BRIDGES_H
#define SX_TOOLS_CTL_BRIDGES_H

#include <jansson.h>

/* A program that runs beside instances and has status sockets of its own. */
struct ctl_program {
	const char *folder; /* in the runtime directories */
	const char *key;    /* what its process is called in the list; key of its name */
	const char *sign;   /* key that the status of each such process has */
};

extern const struct ctl_program ctl_bridge, ctl_network;

/*
 * Returns the "/status" of every running process of a program, ordered by name, in an array that the caller
 * releases. A process that does not answer, or that this user may not ask, has only the key of its name and
 * "why". NULL: out of memory.
 */
json_t *ctl_programs(const struct ctl_program *program);
/*
 * Prints one line for each instance at each sink, and for each input of pairs. Prints nothing for an empty
 * array.
 */
void ctl_bridges_table(const json_t *bridges);
/* Prints one line for each network. Prints nothing for an empty array. */
void ctl_networks_table(const json_t *networks);

#endif
