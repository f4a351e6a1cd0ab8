/*
 * Who may use a file that was refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_GROUP_HINT_H
#define SX_TOOLS_GROUP_HINT_H

#include <stddef.h>

#define SX_GROUP_HINT_BYTES 160

/*
 * " (members of group stixel may: sudo usermod -aG stixel YOU, then log in again)", by the group that the
 * file, or a folder on its way that may not be entered, belongs to and its rights; of group root that root
 * may. Empty where a group does not help, or nothing can be seen.
 */
void sx_group_hint(const char *path, char *text, size_t bytes);

#endif
