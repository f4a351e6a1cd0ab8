/*
 * What the service manager is told, and what it gives, by libsystemd: readiness and state out (sd_notify(3)),
 * the watchdog's period and listening sockets in. Without a manager everything here is a no-op; built without
 * libsystemd also with one, and sx_notify_init() says so. Thread: main.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_NOTIFY_H
#define SX_DAEMON_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sx_notify {
	int64_t watchdog_ns; /* a ping is due within this time; 0: none is expected of this process */
	bool failed;	     /* a message was not sent, and the log knows */
};

/*
 * -ENOTSUP with a sentence: a manager expects messages or passes sockets, and this build has no libsystemd.
 */
int sx_notify_init(struct sx_notify *n, char *why, size_t why_bytes);

/* Sends one message ("READY=1\nSTATUS=..."), at most 511 bytes. The first that cannot be sent is logged. */
void sx_notify_send(struct sx_notify *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The descriptor that systemd passed under this name (FileDescriptorName=), close-on-exec; -1 if none. */
int sx_notify_listen_fd(const char *name);

#endif
