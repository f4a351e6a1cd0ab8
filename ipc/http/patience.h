/*
 * How long an HTTP server waits for its peers, and who gives way where places are short.
 *
 * libmicrohttpd counts silence from the last byte: who sends one now and then holds a connection for hours.
 * Here the time counts from where a request could begin.
 *
 * On a Unix socket there may also be a crowd. Then one gives way to each that comes: of the user who holds
 * most, of the process that holds most of those, the longest there. So one process cannot keep another out,
 * however many connections it makes; as many processes as there are places can, if they are faster than a
 * request.
 *
 * Thread: any; those of the server, the door's and one that ticks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_HTTP_PATIENCE_H
#define SX_IPC_HTTP_PATIENCE_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sx_patience_place {
	int fd;	       /* -1: free */
	bool arriving; /* admitted, and not yet a connection of the server */
	bool waiting;  /* for the peer, so that time counts */
	bool ours;     /* we work for it: it is not let go */
	bool gone;     /* let go: the server closes it soon */
	uid_t uid;
	pid_t pid;
	int64_t since_ns;
};

struct sx_patience {
	pthread_mutex_t lock;
	struct sx_patience_place *place; /* own */
	size_t count;
	size_t crowd; /* connections that may stay, of those that are admitted */
	int64_t limit_ns;
};

/* places: at least what the server takes at once; one beyond is served and not looked after. -ENOMEM. */
int sx_patience_init(struct sx_patience *p, size_t places, size_t crowd, int64_t limit_ns);
/* When the server has been stopped. Accepts a zeroed one. */
void sx_patience_finish(struct sx_patience *p);

/*
 * A connection that was accepted, before the server has it. 1: it has a place, another one may have been let
 * go. 0: refused; its process comes with more at once than are looked at, or holds most and has only just
 * come. -EAGAIN: nobody can be let go before the server has taken those that were admitted, or closed those
 * that were let go.
 */
int sx_patience_admit(struct sx_patience *p, int fd);
/* Admitted, and the server did not take it. */
void sx_patience_forget(struct sx_patience *p, int fd);

/* MHD_OPTION_NOTIFY_CONNECTION; user: the struct sx_patience. Time counts from here. */
void sx_patience_notify(void *user, struct MHD_Connection *c, void **context,
			enum MHD_ConnectionNotificationCode code);
/* Time counts from now on, anew. */
void sx_patience_wait(struct sx_patience *p, struct MHD_Connection *c);
/* No time counts any more: its request is here, and the answer may be long. */
void sx_patience_rest(struct sx_patience *p, struct MHD_Connection *c);
/* The same, and it is not let go either until the next sx_patience_wait(): it waits for us. */
void sx_patience_hold(struct sx_patience *p, struct MHD_Connection *c);
/* Now and then: ends the connections whose time is over. */
void sx_patience_tick(struct sx_patience *p);

#endif
