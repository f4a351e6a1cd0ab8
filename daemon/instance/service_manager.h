/*
 * Interface to the service manager, by libsystemd. The daemon sends readiness and state (sd_notify(3)) and
 * gets the watchdog's period and listening sockets. Without a service manager all functions do nothing. In a
 * build without libsystemd they never do anything, and sx_service_init() reports it if there is a manager.
 * In a process with several instances, the messages of an instance go to the supervisor, which sends one for
 * all (supervisor.h). Thread: main, or that of the instance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_SERVICE_MANAGER_H
#define SX_DAEMON_SERVICE_MANAGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"

struct sx_member; /* daemon/instance/member.h */

struct sx_service {
	struct sx_member *member; /* NULL: messages go to the manager itself */
	int64_t watchdog_ns;	  /* a ping is due within this time; 0: the manager expects no pings */
	bool ready;		  /* READY=1 was sent */
	bool failed;		  /* a message could not be sent, and that was logged */
};

/*
 * Returns -ENOTSUP with a sentence if the manager expects messages or passes sockets and this build has no
 * libsystemd.
 */
int sx_service_init(struct sx_service *n, struct sx_why *why);

/* Returns the interface for an instance of several. */
struct sx_service sx_service_of_member(struct sx_member *member);

/*
 * Reports that the daemon is ready, at start and after a reload. status: a line for the status of the
 * service, or NULL.
 */
void sx_service_ready(struct sx_service *n, const char *status);

/* Reports state and figures: one line for the status of the service. */
void sx_service_status(struct sx_service *n, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reports that the configuration is read again; sx_service_ready() follows. */
void sx_service_reloading(struct sx_service *n);
/* Reports that the daemon ends. */
void sx_service_stopping(struct sx_service *n);
/* Reports that the main loop runs. Only a supervisor wants to know. */
void sx_service_alive(struct sx_service *n);
/* Pings the watchdog. */
void sx_service_ping(struct sx_service *n);

/* Sends one message ("STATUS=..."), at most 511 bytes. Logs the first message that cannot be sent. */
void sx_service_send(struct sx_service *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Pings the watchdog and lets the next ping be due within watchdog_ns plus more_ns. Call it with 0 when the work
 * that takes longer is done. Does nothing without a watchdog, or before the daemon is ready: until then the
 * manager waits for READY=1.
 */
void sx_service_extend(struct sx_service *n, int64_t more_ns);

/*
 * Returns the descriptor that systemd passed under this name (FileDescriptorName=), close-on-exec; -1 if
 * none.
 */
int sx_service_listen_fd(const char *name);

#endif
