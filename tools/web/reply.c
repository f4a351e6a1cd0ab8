/*
 * Builds the answers of stixel-web: common headers, bodies, error sentences.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/web/certificate.h"
#include "tools/web/server.h"

/* Headers of every answer: a page loads only from this server, and no other site may embed or read it. */
static const char *const security_headers[][2] = {
	{"Content-Security-Policy",
	 "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
	 "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cache-Control", "no-cache"},
};

_Thread_local bool web_stranger;

void web_add_headers(struct MHD_Response *r, const char *type)
{
	time_t begins, ends;

	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (web_certificate_times(&begins, &ends))
		MHD_add_response_header(r, "Strict-Transport-Security", "max-age=31536000");
	/* a client without a login must not hold a connection that other clients could use */
	if (web_stranger)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	for (size_t i = 0; i < sizeof(security_headers) / sizeof(security_headers[0]); i++)
		MHD_add_response_header(r, security_headers[i][0], security_headers[i][1]);
}

enum MHD_Result web_reply(struct MHD_Connection *c, unsigned status, const char *type, const char *body,
			  size_t bytes)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(bytes, (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	web_add_headers(r, type);
	done = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return done;
}

enum MHD_Result web_refuse(struct MHD_Connection *c, unsigned status, const char *format, ...)
{
	char text[512];
	va_list list;
	size_t n;

	va_start(list, format);
	vsnprintf(text, sizeof(text) - 1, format, list);
	va_end(list);
	n = strlen(text);
	text[n] = '\n';
	return web_reply(c, status, "text/plain; charset=utf-8", text, n + 1);
}

/* Sends a body, or 304 if the client has it already. encoding: compression of the body; NULL: none. */
static enum MHD_Result reply_encoded(struct MHD_Connection *c, const char *type, const char *tag,
				     const char *encoding, const void *body, size_t bytes,
				     enum MHD_ResponseMemoryMode how)
{
	const char *has = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_IF_NONE_MATCH);
	bool same = has && strcmp(has, tag) == 0;
	struct MHD_Response *r =
		MHD_create_response_from_buffer(same ? 0 : bytes, (void *)(uintptr_t)body, how);
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	web_add_headers(r, type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_ETAG, tag);
	MHD_add_response_header(r, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
	if (encoding)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_ENCODING, encoding);
	done = MHD_queue_response(c, same ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, r);
	MHD_destroy_response(r);
	return done;
}

enum MHD_Result web_reply_tagged(struct MHD_Connection *c, const char *type, const char *tag,
				 const void *body, size_t bytes, enum MHD_ResponseMemoryMode how)
{
	return reply_encoded(c, type, tag, NULL, body, bytes, how);
}

/* A client that gives gzip a low weight gets the file as it is. */
static bool takes_gzip(struct MHD_Connection *c)
{
	const char *takes = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT_ENCODING);

	return takes && strstr(takes, "gzip") && !strstr(takes, "gzip;");
}

enum MHD_Result web_asset_page(struct MHD_Connection *c, const struct web_asset *a)
{
	if (takes_gzip(c))
		return reply_encoded(c, a->type, a->packed_tag, "gzip", a->packed, a->packed_bytes,
				     MHD_RESPMEM_PERSISTENT);
	return web_reply_tagged(c, a->type, a->tag, a->data, a->bytes, MHD_RESPMEM_PERSISTENT);
}
