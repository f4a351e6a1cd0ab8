/*
 * Answers of the status socket: sends an answer, drops cached pages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <string.h>

#include "base/contract.h"
#include "ipc/http/status_priv.h"

enum MHD_Result sx_status_send(struct MHD_Connection *c, unsigned status, const char *type, const char *text,
			       const char *allow)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result done = MHD_NO;

	sx_must_be(status >= 200 && status < 600);
	if (!r)
		return MHD_NO;
	if (MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type) == MHD_YES &&
	    MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store") == MHD_YES &&
	    (!allow || MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, allow) == MHD_YES))
		done = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return done;
}

void sx_status_forget(struct sx_status_server *s)
{
	for (size_t i = 0; i < s->count; i++)
		s->kept[i].at_ns = 0;
}
