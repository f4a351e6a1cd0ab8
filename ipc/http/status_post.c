/*
 * Requests of the status socket (POST) from permitted clients. A connection that waits for its answer is
 * suspended, so that the server can serve pages meanwhile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "ipc/http/peer.h"
#include "ipc/http/status_priv.h"
#include "ipc/writers.h"

struct sx_status_request {
	struct MHD_Connection *connection;
	char body[SX_STATUS_REQUEST_BYTES + 1];
	size_t bytes;
	bool forbidden, too_long, taken;
	/* the answer; text is on the heap */
	unsigned status;
	char *text;
};

#define GROUP SX_TUNERS_GROUP
static const char forbidden[] = "not allowed: only root, the daemon's own user and members of group " GROUP
				" change settings (usermod -aG " GROUP " NAME, then log in again)\n";
static const char forbidden_without_group[] =
	"not allowed: only root and the daemon's own user change settings; group " GROUP
	", whose members may, was not known here at the daemon's start (groupadd -r " GROUP
	", usermod -aG " GROUP " NAME, start stixeld again)\n";

static bool may_request(const struct sx_status_server *s, struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct sx_peer peer;

	return info && sx_peer_of(info->connect_fd, &peer) == 0 &&
	       sx_peer_may_change(&peer, geteuid(), s->tuners);
}

/*
 * Reads a part of the body. A part that does not fit is discarded: a refused client must be able to send
 * everything, so that it can read the reason.
 */
static void request_read(struct sx_status_request *o, const char *upload, size_t bytes)
{
	sx_must(o->bytes, <=, SX_STATUS_REQUEST_BYTES);
	o->too_long = o->too_long || bytes > SX_STATUS_REQUEST_BYTES - o->bytes;
	if (o->too_long || o->forbidden)
		return;
	memcpy(o->body + o->bytes, upload, bytes);
	o->bytes += bytes;
}

enum MHD_Result sx_status_post(struct sx_status_server *s, const struct sx_status_page *page,
			       struct MHD_Connection *c, const char *upload, size_t *upload_bytes,
			       struct sx_status_request **request)
{
	struct sx_status_request *o = *request;

	if (!o) {
		o = *request = calloc(1, sizeof(*o));
		if (!o)
			return MHD_NO;
		o->connection = c;
		o->forbidden = !may_request(s, c);
		return MHD_YES;
	}
	sx_must_be(o->connection == c);
	if (*upload_bytes) {
		request_read(o, upload, *upload_bytes);
		*upload_bytes = 0;
		return MHD_YES;
	}
	if (o->forbidden)
		return sx_status_send(c, MHD_HTTP_FORBIDDEN, "text/plain; charset=utf-8",
				      s->tuners ? forbidden : forbidden_without_group, NULL);
	if (o->too_long)
		return sx_status_send(c, 413, "text/plain; charset=utf-8", "the request is too long\n", NULL);
	if (o->taken) /* drop cached pages first, so that a client that has the answer also sees its effect */
		sx_status_forget(s);
	if (o->taken)
		return sx_status_send(c, o->text ? o->status : MHD_HTTP_SERVICE_UNAVAILABLE,
				      "text/plain; charset=utf-8", o->text ? o->text : "out of memory\n",
				      NULL);
	sx_must_be(!o->text);
	o->taken = true;
	sx_limiter_hold(&s->limiter, c);
	/*
	 * Suspend the connection before the page gets the request: the answer may come at once, and it
	 * resumes the connection.
	 */
	MHD_suspend_connection(c);
	page->request(s->user, o);
	return MHD_YES;
}

void sx_status_request_free(struct sx_status_request *o)
{
	if (!o)
		return;
	sx_must_be(!o->taken || o->status);
	free(o->text);
	free(o);
}

const char *sx_status_request_body(const struct sx_status_request *o)
{
	sx_must_be(o->taken);
	return o->body;
}

void sx_status_request_answer(struct sx_status_request *o, unsigned status, const char *text)
{
	sx_must_be(o->taken && !o->status);
	o->status = status;
	o->text = strdup(text);
	MHD_resume_connection(o->connection); /* o belongs to the server from here on */
}
