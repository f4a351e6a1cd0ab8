/*
 * Internals of the status socket: the server, and a request with a body.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_HTTP_STATUS_PRIV_H
#define SX_IPC_HTTP_STATUS_PRIV_H

#include <microhttpd.h>
#include <sys/types.h>

#include "ipc/http/acceptor.h"
#include "ipc/http/limiter.h"
#include "ipc/http/status.h"

/* Last answer of a page. Thread: the server's. */
struct sx_status_kept {
	char *data; /* owned; NULL: the page was never requested */
	bool cut;
	unsigned status;
	int64_t at_ns;
};

struct sx_status_server {
	struct MHD_Daemon *http;
	const struct sx_status_page *pages;
	struct sx_status_kept *kept; /* owned, one for each page */
	size_t count;
	void *user;
	gid_t tuners; /* SX_TUNERS_GROUP as found at the start; 0: no such group */
	struct sx_limiter limiter;
	struct sx_acceptor acceptor[2]; /* the acceptors; only acceptor[open_acceptor] is open */
	int open_acceptor;
};

/* Queues an answer. allow: value of the Allow header; NULL: no such header. */
enum MHD_Result sx_status_send(struct MHD_Connection *c, unsigned status, const char *type, const char *text,
			       const char *allow);
/* Drops the cached pages, so that the next request writes them again. */
void sx_status_forget(struct sx_status_server *s);
/*
 * Handles one step of a POST to a page that takes requests. MHD calls it repeatedly. *request is NULL at
 * first.
 */
enum MHD_Result sx_status_post(struct sx_status_server *s, const struct sx_status_page *page,
			       struct MHD_Connection *c, const char *upload, size_t *upload_bytes,
			       struct sx_status_request **request);
/* Call when the connection has ended. Accepts NULL. */
void sx_status_request_free(struct sx_status_request *o);

#endif
