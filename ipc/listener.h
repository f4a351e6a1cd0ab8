/*
 * The listening end of a SOCK_SEQPACKET socket: made at a path, or taken over from the service manager.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_LISTENER_H
#define SX_IPC_LISTENER_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Binds path and listens; returns the descriptor (non-blocking, close-on-exec). The caller holds the
 * lock of the instance: a socket that nobody listens on is a dead owner's and is replaced. group
 * (gid_t)-1: left as it is. Negative errno with a sentence: -EADDRINUSE somebody listens there, or it
 * is no socket; -ENAMETOOLONG.
 */
int sx_listener_make(const char *path, mode_t mode, gid_t group, char *why, size_t why_bytes);

/*
 * Checks a descriptor that was passed in, and makes it non-blocking. -EINVAL not a listening SOCK_SEQPACKET.
 */
int sx_listener_check(int fd, char *why, size_t why_bytes);

#endif
