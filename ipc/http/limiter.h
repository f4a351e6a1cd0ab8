/*
 * The connection limiter of an HTTP server. Decides how long the server waits for a client, and which
 * connection it closes when slots are short.
 *
 * libmicrohttpd measures silence from the last byte, so a client that sends a byte now and then keeps a
 * connection for hours. The limiter measures from the moment when a request could begin.
 *
 * A Unix socket may also have too many clients. Then each new connection closes an old one: the limiter takes
 * the user with the most connections, then the process of this user with the most connections, and closes the
 * oldest connection of this process. So one process cannot lock out another, however many connections it
 * opens. Only as many processes as there are slots can lock out another, if they connect faster than a
 * request is served.
 *
 * Thread: any. The server's threads, the acceptor's thread and the thread that calls sx_limiter_tick() use
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_HTTP_LIMITER_H
#define SX_IPC_HTTP_LIMITER_H

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sx_limiter_slot {
	int fd;	       /* -1: free slot */
	bool arriving; /* admitted, but the server has not taken it yet */
	bool waiting;  /* the server waits for the client, so the time counts */
	bool ours;     /* a request is being processed: the limiter must not close this connection */
	bool gone;     /* the limiter closed it; the server will release it soon */
	uid_t uid;
	pid_t pid;
	int64_t since_ns;
};

struct sx_limiter {
	pthread_mutex_t lock;
	struct sx_limiter_slot *slot; /* owned */
	size_t count;
	size_t most; /* most admitted connections at a time */
	int64_t limit_ns;
};

/*
 * slots: number of slots, at least as many as the server's connections. A connection without a slot is
 * served, but without limits. Returns 0 or -ENOMEM.
 */
int sx_limiter_init(struct sx_limiter *p, size_t slots, size_t most, int64_t limit_ns);
/* Call after the server has been stopped. Accepts a zeroed struct. */
void sx_limiter_finish(struct sx_limiter *p);

/*
 * Decides about an accepted connection before the server gets it. Returns 1: it has a slot; the limiter may
 * have closed another one for it. 0: refused, because its process has too many connections that the server
 * has not yet taken, or has the most connections and opened its oldest one only just now. -EAGAIN: no
 * connection can be closed until the server has taken admitted ones or released closed ones.
 */
int sx_limiter_admit(struct sx_limiter *p, int fd);
/* Frees the slot of an admitted connection that the server did not take. */
void sx_limiter_forget(struct sx_limiter *p, int fd);

/*
 * Handler for MHD_OPTION_NOTIFY_CONNECTION; user: the struct sx_limiter. The time of a connection counts
 * from here.
 */
void sx_limiter_notify(void *user, struct MHD_Connection *c, void **context,
		       enum MHD_ConnectionNotificationCode code);
/* Restarts the time of the connection. */
void sx_limiter_wait(struct sx_limiter *p, struct MHD_Connection *c);
/* Stops the time of the connection: its request has arrived, and the answer may take long. */
void sx_limiter_rest(struct sx_limiter *p, struct MHD_Connection *c);
/*
 * Stops the time, and protects the connection until the next sx_limiter_wait(), because the client waits for
 * the server.
 */
void sx_limiter_hold(struct sx_limiter *p, struct MHD_Connection *c);
/* Closes the connections whose time is over. Call it periodically. */
void sx_limiter_tick(struct sx_limiter *p);

#endif
