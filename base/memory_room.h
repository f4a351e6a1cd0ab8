/*
 * How much memory this process may still take before the kernel ends it, or another one, for want of memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_MEMORY_ROOM_H
#define SX_BASE_MEMORY_ROOM_H

#include <stddef.h>
#include <stdint.h>

/*
 * Finds the least room, in bytes, of this process's memory cgroup, of those above it (version 2; 1 where it
 * is mounted at its usual place) and of the machine. File pages that can be dropped count as room; swap
 * counts of the machine alone. what: of which it is, "memory cgroup /system.slice (memory.max)". INT64_MAX:
 * nothing of it can be read, and what is empty. root: in front of all paths, "" but in tests. Thread: any;
 * reads files.
 */
int64_t sx_memory_room(const char *root, char *what, size_t bytes);

#endif
