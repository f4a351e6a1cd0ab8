/*
 * The status socket: HTTP/1.1 on a Unix stream socket, so that `curl --unix-socket` and every monitor can use
 * it.
 *
 * It serves GET and HEAD for a fixed list of pages. Some pages also take requests: POST requests from root,
 * the user of this process and group SX_TUNERS_GROUP (peer.h). The group is looked up once, at the start.
 * Requests, answers, connections and their time are limited. The server's thread writes the pages. It shares
 * only atomics with the pipeline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_HTTP_STATUS_H
#define SX_IPC_HTTP_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/why.h"
#include "ipc/text.h"

#define SX_STATUS_PAGE_BYTES (128u << 10) /* largest answer */
#define SX_STATUS_CLIENTS 32 /* most connections at once; one more closes an old one (limiter.h) */
/* further connections that the limiter has closed and the server not yet released */
#define SX_STATUS_LEAVING 16
#define SX_STATUS_CLIENT_TIMEOUT_S \
	5 /* timeouts, s: for sending a whole request, for reading its answer, and between two requests */
#define SX_STATUS_REQUEST_BYTES (16u << 10)
#define SX_STATUS_REQUEST_BYTES (16u << 10) /* largest body of a POST */
/* the server sends the same text of a costly page again for this long */
#define SX_STATUS_FRESH_NS 10000000
#define SX_STATUS_REQUESTS \
	16 /* most POST requests that wait at once, so that slots remain for clients that only read */

/* A POST that waits for its answer. The client may be gone by then. */
struct sx_status_request;

/*
 * A page of the server.
 * write: thread: the server's. Fills the answer and returns its HTTP status (200, 503).
 * request: thread: the server's. Takes a POST, which must be answered before the server is stopped, by any
 * thread. NULL: the page takes no POST.
 * costly: write() takes so long that many clients of the page would delay others.
 */
struct sx_status_page {
	const char *path, *type;
	unsigned (*write)(void *user, struct sx_text *text);
	void (*request)(void *user, struct sx_status_request *o);
	bool costly;
};

/* Returns the body, valid until the request is answered. The body ends with a 0. */
const char *sx_status_request_body(const struct sx_status_request *o);
/* Answers the request, once, from any thread. text: copied; sentences, each with a line end. */
void sx_status_request_answer(struct sx_status_request *o, unsigned status, const char *text);

struct sx_status_server;

/*
 * Binds and listens on a Unix stream socket. The file gets this mode. Replaces a left-over socket file, so
 * the caller must hold the instance's lock. Returns the descriptor, or negative errno with an error message
 * in why.
 */
int sx_status_listen(const char *path, unsigned mode, struct sx_why *why);

/*
 * Serves pages (count of them; the caller keeps them while the server lives) on a listening socket, created
 * here or passed by systemd. The server closes the socket, also on failure. Call with all signals blocked, as
 * the thread inherits the mask. Returns -ENOTSOCK: no listening Unix stream socket; -ENOMEM; -EAGAIN: no
 * thread.
 */
int sx_status_start(struct sx_status_server **ret, int listen_fd, const struct sx_status_page *pages,
		    size_t count, void *user, struct sx_why *why);
/*
 * Accepts clients on this socket from now on. The server closes the socket, also on failure. Existing
 * connections stay. Returns negative errno if there is no descriptor or no thread; then the previous socket
 * stays.
 */
int sx_status_move(struct sx_status_server *s, int listen_fd);
/* Closes connections whose time is over. Call it periodically. Accepts NULL. */
void sx_status_tick(struct sx_status_server *s);
/*
 * Closes all connections and waits for the thread. The socket file stays: the caller removes what it created.
 */
void sx_status_stop(struct sx_status_server *s);

#endif
