/*
 * The status socket: HTTP/1.1 on a Unix stream socket, so that `curl --unix-socket`
 * and every monitor can ask.
 *
 * GET and HEAD of a fixed list of pages, and POST to those that take orders: from root, the user of this
 * process and group SX_TUNERS_GROUP (peer.h), which is looked up once, at the start. Requests, answers,
 * connections and their time are bounded; a page is written by the server's own thread, which shares
 * nothing with the pipeline but atomics.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_HTTP_STATUS_H
#define SX_IPC_HTTP_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#include "ipc/text.h"

#define SX_STATUS_PAGE_BYTES (128u << 10) /* longest answer */
#define SX_STATUS_CLIENTS 32		  /* connections at once; one more lets one go (patience.h) */
#define SX_STATUS_LEAVING 16		  /* further ones, that were let go and are not closed yet */
#define SX_STATUS_PATIENCE_S 5		  /* for a whole request, for reading its answer, between two */
#define SX_STATUS_REQUEST_BYTES (16u << 10)
#define SX_STATUS_ORDER_BYTES (16u << 10) /* longest body of a POST */
#define SX_STATUS_FRESH_NS 10000000	  /* a costly page is given again for this long */
#define SX_STATUS_ORDERS 16		  /* that wait at once: places stay for those who only ask */

/* A POST that waits for its answer; its sender may be gone by then. */
struct sx_status_order;

/*
 * write: thread: the server's. Fills the answer and returns its HTTP status (200, 503).
 * order: likewise. Takes a POST, which has to be answered, by any thread, before the server is stopped. NULL:
 *   the page takes none.
 * costly: write() takes so long that a crowd that asks would keep others waiting.
 */
struct sx_status_page {
	const char *path, *type;
	unsigned (*write)(void *user, struct sx_text *text);
	void (*order)(void *user, struct sx_status_order *o);
	bool costly;
};

/* Until it is answered. The body ends with a 0. */
const char *sx_status_order_body(const struct sx_status_order *o);
/* Any thread, once. text: copied, sentences with their line ends. */
void sx_status_order_answer(struct sx_status_order *o, unsigned status, const char *text);

struct sx_status_server;

/*
 * Binds and listens on a Unix stream socket; the file gets this mode. A left-over socket file is replaced, so
 * the caller holds the instance's lock. Returns the descriptor or negative errno with a sentence in why.
 */
int sx_status_listen(const char *path, unsigned mode, char *why, size_t why_bytes);

/*
 * Serves pages (count of them, kept by the caller while the server lives) on a listening socket, own or
 * passed by systemd; the server closes it, also on failure. Call with all signals blocked: the thread
 * inherits that. -ENOTSOCK: not a listening Unix stream socket; -ENOMEM, -EAGAIN: no thread.
 */
int sx_status_start(struct sx_status_server **ret, int listen_fd, const struct sx_status_page *pages,
		    size_t count, void *user, char *why, size_t why_bytes);
/*
 * From now on clients come in by this socket, which the server closes, also on failure;
 * who is in stays. Negative errno: no descriptor, no thread, and the socket before stays.
 */
int sx_status_move(struct sx_status_server *s, int listen_fd);
/* Now and then: ends connections whose time is over. Accepts NULL. */
void sx_status_tick(struct sx_status_server *s);
/* Ends open connections, waits for the thread. The socket's file stays: the caller removes what it made. */
void sx_status_stop(struct sx_status_server *s);

#endif
