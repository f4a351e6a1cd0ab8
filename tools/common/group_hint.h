/*
 * Tells which group may use a file that was refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_GROUP_HINT_H
#define SX_TOOLS_GROUP_HINT_H

#include <stddef.h>

#define SX_GROUP_HINT_BYTES 160

/*
 * Writes " (members of group stixel may: sudo usermod -aG stixel YOU, then log in again)". The group is that
 * of the file, or that of a folder of its path that this user cannot enter, if the mode gives the group
 * access. For group root the text says that only root may. Empty: membership of a group does not help, or
 * nothing can be seen.
 */
void sx_group_hint(const char *path, char *text, size_t bytes);

#endif
