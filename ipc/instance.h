/*
 * An instance of the daemon: its name, its private folder, and the lock that keeps a second one out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_INSTANCE_H
#define SX_IPC_INSTANCE_H

#include <stddef.h>
#include <sys/types.h>

/* 0, or -EINVAL with a sentence: [A-Za-z0-9_.-], 1..64 characters, no leading dot. why may be NULL. */
int sx_instance_check(const char *name, char *why, size_t why_bytes);

/*
 * The folder of lock and sockets, made if it is not there (0755): $RUNTIME_DIRECTORY as systemd gives it
 * (with /NAME appended unless it ends so); else the system's place for root, the first of the user's places
 * for others (base/places.h). Negative errno with a sentence.
 */
int sx_runtime_dir(const char *name, char *dir, size_t dir_bytes, char *why, size_t why_bytes);

/*
 * Takes the lock of the instance: file "lock" (0600) in dir, held until the descriptor is closed or the
 * process ends, however it ends. Returns the descriptor (close-on-exec). -EADDRINUSE when another process
 * holds it: *owner (may be NULL) is its pid, 0 if unknown, and why names it.
 */
int sx_instance_lock(const char *dir, pid_t *owner, char *why, size_t why_bytes);

#endif
