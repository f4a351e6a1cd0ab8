/*
 * The listening end of a SOCK_SEQPACKET socket: created at a path, or passed in by the service manager.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_LISTENER_H
#define SX_IPC_LISTENER_H

#include <stddef.h>
#include <sys/types.h>

#include "base/why.h"

/*
 * Binds path and listens. Returns the descriptor (non-blocking, close-on-exec). The caller holds the lock of
 * the instance, so a socket without a listener belongs to a dead process and is replaced. group (gid_t)-1:
 * leaves the group as it is. On error returns negative errno with a message in why: -EADDRINUSE (another
 * process listens there, or the path is no socket), -ENAMETOOLONG, ...
 */
int sx_listener_make(const char *path, mode_t mode, gid_t group, struct sx_why *why);

/*
 * Checks a descriptor that was passed in, and makes it non-blocking. Returns -EINVAL if it is not a listening
 * SOCK_SEQPACKET socket.
 */
int sx_listener_check(int fd, struct sx_why *why);

#endif
