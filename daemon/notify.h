/*
 * systemd's readiness protocol, both directions: notifications out (sd_notify(3)), sockets and watchdog in.
 *
 * One datagram of text per message and three environment variables: less than the library's linkage. Without
 * a manager everything here is a no-op. Thread: main.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_NOTIFY_H
#define SX_DAEMON_NOTIFY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

struct sx_notify {
	int fd; /* -1: no manager listens */
	struct sockaddr_un to;
	socklen_t to_bytes;
	int64_t watchdog_ns; /* WATCHDOG_USEC, 0 if none is set for this process */
};

/* Reads NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID. -EINVAL with why: a socket name that cannot be used. */
int sx_notify_init(struct sx_notify *n, char *why, size_t why_bytes);
void sx_notify_finish(struct sx_notify *n);

/* Sends one message ("READY=1\nSTATUS=..."); a manager that is gone or slow is not waited for. */
void sx_notify_send(struct sx_notify *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The descriptor that systemd passed under this name (FileDescriptorName=), close-on-exec; -1 if none. */
int sx_notify_listen_fd(const char *name);

#endif
