/*
 * An instance of the daemon: its name, its private folder, and the lock that prevents a second daemon.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_INSTANCE_H
#define SX_IPC_INSTANCE_H

#include <stddef.h>
#include <sys/types.h>

#include "base/why.h"

/*
 * Checks a name: [A-Za-z0-9_.-], 1..64 characters, no leading dot. Returns 0, or -EINVAL with an error
 * message in why. why may be NULL.
 */
int sx_instance_check(const char *name, struct sx_why *why);

/*
 * Finds the folder of lock and sockets, and creates it (0755) if it is missing. It is the folder of
 * $RUNTIME_DIRECTORY, as set by systemd, that ends in /NAME, else its first folder with /NAME appended.
 * Without this variable it is the system's runtime directory for root, and the first of the user's runtime
 * directories for other users (base/runtime_dirs.h). Returns 0, or negative errno with an error message in
 * why.
 */
int sx_runtime_dir(const char *name, char *dir, size_t dir_bytes, struct sx_why *why);

/*
 * Takes the lock of the instance: file "lock" (0600) in dir. The process holds it until it closes the
 * descriptor or ends in any way. Returns the descriptor (close-on-exec), or -EADDRINUSE if another process
 * holds the lock: *owner (may be NULL) is its pid, 0 if unknown, and why names it.
 */
int sx_instance_lock(const char *dir, pid_t *owner, struct sx_why *why);

#endif
