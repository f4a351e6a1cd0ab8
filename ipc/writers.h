/*
 * Two groups of users: those that may write for stixeld, and those that may change its settings. Readers are
 * members of neither. Both sides find the groups by name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_WRITERS_H
#define SX_IPC_WRITERS_H

#include <sys/types.h>

#define SX_WRITERS_GROUP "stixel-feed"
#define SX_TUNERS_GROUP "stixel-tune"

/*
 * Finds the number of a group, of any number of members. 0: the machine has no such group, or the lookup
 * failed. May take long if groups come over a network. Returns 0 or -ENOMEM.
 */
int sx_group_number(const char *name, gid_t *ret);
/* Finds the number of SX_WRITERS_GROUP. */
int sx_writers_group(gid_t *ret);
/* Returns 1 if the caller may give files to this group, else 0. Also -ENOMEM. */
int sx_writers_member(gid_t group);

#endif
