/*
 * What the service manager is told, and what it gives, by libsystemd: readiness and state out (sd_notify(3)),
 * the watchdog's period and listening sockets in. Without a manager everything here is a no-op; built without
 * libsystemd also with one, and sx_service_init() says so. Thread: main.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_SERVICE_MANAGER_H
#define SX_DAEMON_SERVICE_MANAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sx_service {
	int64_t watchdog_ns; /* a ping is due within this time; 0: none is expected of this process */
	bool failed;	     /* a message was not sent, and the log knows */
};

/*
 * -ENOTSUP with a sentence: a manager expects messages or passes sockets, and this build has no libsystemd.
 */
int sx_service_init(struct sx_service *n, char *why, size_t why_bytes);

/* Tells it that the daemon is ready, at start and after a reload. status: a line for its status, or NULL. */
void sx_service_ready(struct sx_service *n, const char *status);

/* Sends one message ("STATUS=..."), at most 511 bytes. The first that cannot be sent is logged. */
void sx_service_send(struct sx_service *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The descriptor that systemd passed under this name (FileDescriptorName=), close-on-exec; -1 if none. */
int sx_service_listen_fd(const char *name);

#endif
