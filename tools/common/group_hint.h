/*
 * Who may use a file that was refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_GROUP_HINT_H
#define SX_TOOLS_GROUP_HINT_H

#include <stddef.h>

/*
 * " (members of group stixel may: sudo usermod -aG stixel YOU, then log in again)", by the group that the
 * file belongs to and its rights; empty where a group does not help, or the file cannot be seen.
 */
void sx_group_hint(const char *path, char *text, size_t bytes);

#endif
