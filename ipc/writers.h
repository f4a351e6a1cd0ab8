/*
 * The group of those who may give stixeld something: both sides look it up by its name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_WRITERS_H
#define SX_IPC_WRITERS_H

#include <sys/types.h>

#define SX_WRITERS_GROUP "stixel-feed"

/*
 * Its number; 0: the machine has none, or cannot say. However many members it has. May take long where groups
 * come over a network. -ENOMEM.
 */
int sx_writers_group(gid_t *ret);
/* Whether the caller may give files to this group: 1, 0, -ENOMEM. */
int sx_writers_member(gid_t group);

#endif
