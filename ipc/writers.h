/*
 * The group of those who may give stixeld something, and that of those who may change its settings. Readers
 * are members of neither. Both sides look them up by their names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_WRITERS_H
#define SX_IPC_WRITERS_H

#include <sys/types.h>

#define SX_WRITERS_GROUP "stixel-feed"
#define SX_TUNERS_GROUP "stixel-tune"

/*
 * The number of a group; 0: the machine has none, or cannot say. However many members it has. May take long
 * where groups come over a network. -ENOMEM.
 */
int sx_group_number(const char *name, gid_t *ret);
/* That of SX_WRITERS_GROUP. */
int sx_writers_group(gid_t *ret);
/* Whether the caller may give files to this group: 1, 0, -ENOMEM. */
int sx_writers_member(gid_t group);

#endif
