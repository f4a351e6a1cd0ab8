/*
 * One of several instances in a process: what the supervisor (supervisor.h) and the thread of the instance tell
 * each other. The supervisor has the signals, the service manager and the log of the process. It gives orders,
 * and the instance reports. A process with one instance has neither.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_MEMBER_H
#define SX_DAEMON_MEMBER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"

#define SX_MEMBER_STATUS_BYTES 160

enum sx_member_state {
	SX_MEMBER_STARTING,
	SX_MEMBER_SERVING,
	SX_MEMBER_ENDING,
	SX_MEMBER_ENDED, /* the thread of the instance ends; code and abandoned are set */
};

struct sx_member {
	struct sx_log_part log; /* has the name of the instance */
	int64_t watchdog_ns;	/* period of the process's watchdog; 0: none. Constant */
	int order_fd;		/* eventfd: the supervisor has given an order */
	int report_fd;		/* eventfd of the supervisor: an instance has reported */

	/* orders, from the supervisor */
	atomic_bool stop, hurry, reload;

	/* reports, from the thread of the instance */
	_Atomic(enum sx_member_state) state;
	_Atomic int code;	   /* exit code */
	atomic_bool abandoned;	   /* threads of the instance hang and hold its memory and devices */
	atomic_bool reloading;	   /* set by the supervisor with the order, cleared by the instance */
	_Atomic int64_t alive_ns;  /* the main loop reports again before this time */
	_Atomic int64_t pinged_ns; /* last time at which a ping of the watchdog was justified */
	pthread_mutex_t lock;	   /* guards status */
	char status[SX_MEMBER_STATUS_BYTES]; /* state and figures, one line */
	atomic_bool status_changed;
};

/* Opens the order descriptor. name, report_fd and watchdog_ns must be set. Negative errno. */
int sx_member_init(struct sx_member *m);
void sx_member_finish(struct sx_member *m);

/* Thread: supervisor. Prepares for a start: no order, state STARTING, which may take until_ns. */
void sx_member_begin(struct sx_member *m, int64_t until_ns);
/* Thread: supervisor. Wakes the instance, which then reads its orders. */
void sx_member_order(struct sx_member *m);
/* Thread: supervisor. Copies the status. Returns true if it has changed since the last call. */
bool sx_member_status(struct sx_member *m, char status[SX_MEMBER_STATUS_BYTES]);

/* Thread: instance. Report: see the fields. Each wakes the supervisor if it may have something to do. */
void sx_member_tell_state(struct sx_member *m, enum sx_member_state state);
void sx_member_tell_end(struct sx_member *m, int code);
void sx_member_tell_status(struct sx_member *m, const char *status);
void sx_member_tell_reloaded(struct sx_member *m);
/* The loop is alive and reports again before watchdog_ns and more_ns have passed. */
void sx_member_tell_alive(struct sx_member *m, int64_t more_ns);
/* A ping is justified now, and for more_ns without another report. */
void sx_member_tell_ping(struct sx_member *m, int64_t more_ns);

#endif
