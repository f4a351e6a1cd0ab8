/*
 * Inside of the status socket: the server, and a request with a body.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_HTTP_STATUS_PRIV_H
#define SX_IPC_HTTP_STATUS_PRIV_H

#include <microhttpd.h>
#include <sys/types.h>

#include "ipc/http/door.h"
#include "ipc/http/patience.h"
#include "ipc/http/status.h"

/* What a page said last. Thread: the server's. */
struct sx_status_kept {
	char *data; /* own; NULL: it was never asked for */
	bool cut;
	unsigned status;
	int64_t at_ns;
};

struct sx_status_server {
	struct MHD_Daemon *http;
	const struct sx_status_page *pages;
	struct sx_status_kept *kept; /* own, one for each page */
	size_t count;
	void *user;
	gid_t tuners; /* SX_TUNERS_GROUP as it was at the start; 0: there is none */
	struct sx_patience patience;
	struct sx_door door[2]; /* one is open: this one */
	int open_door;
};

/* Queues an answer; allow: what the header of that name says, NULL without it. */
enum MHD_Result sx_status_send(struct MHD_Connection *c, unsigned status, const char *type, const char *text,
			       const char *allow);
/* Pages are written anew when they are asked for next. */
void sx_status_forget(struct sx_status_server *s);
/*
 * One step of a POST to a page that takes orders: called again and again, as MHD does. *order is NULL at
 * first.
 */
enum MHD_Result sx_status_post(struct sx_status_server *s, const struct sx_status_page *page,
			       struct MHD_Connection *c, const char *upload, size_t *upload_bytes,
			       struct sx_status_order **order);
/* The connection is over. Accepts NULL. */
void sx_status_order_free(struct sx_status_order *o);

#endif
