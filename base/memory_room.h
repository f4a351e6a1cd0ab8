/*
 * Memory that this process may still take before the kernel kills it, or another process, because memory is
 * short.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_MEMORY_ROOM_H
#define SX_BASE_MEMORY_ROOM_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the smallest free memory, in bytes, of this process's memory cgroup, of the cgroups above it, and
 * of the machine. It knows cgroups of version 2, and of version 1 if they are mounted at the usual place.
 * File pages that the kernel can drop count as free. Free swap counts for the machine only. what: name of the
 * smallest one, such as "memory cgroup /system.slice (memory.max)". INT64_MAX, and what is empty: none of the
 * files can be read. root: prefix of all paths, "" except in tests. Reads files. Any thread.
 */
int64_t sx_memory_room(const char *root, char *what, size_t bytes);

#endif
