/*
 * Handles settings requests: checks a POST, and passes one to /api/NAME/settings on to the daemon.
 *
 * Settings requests are off unless stixel-web was started with --tune. A browser sends a stored password by
 * itself, if one is required at all. So a page of another site that is open in this browser must not be able
 * to send a settings request. Two checks prevent this. First, a settings request needs a header that only
 * scripts can set. A browser asks (OPTIONS) before it sends this header to another origin, and stixel-web
 * never allows it. Second, Origin and Sec-Fetch-Site, which the browser sets itself, must name this page.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/web/recordings/recordings.h"
#include "tools/web/server.h"

#define SETTINGS_HEADER "X-Stixel-Tune"

struct web_settings_request {
	const char *refusal; /* reason why the settings request is not passed on; NULL: it is passed on */
	unsigned status;     /* HTTP status of the refusal */
	size_t bytes;
	char body[WEB_SETTINGS_BYTES + 1]; /* ends with a 0 */
};

bool web_settings_request_is_for(const char *url)
{
	static const char api[] = "/api/", recordings[] = "/api/recordings/";
	static const char *const ends[] = {"/settings", "/record"};
	const size_t n = strlen(url);

	if (strncmp(url, recordings, strlen(recordings)) == 0)
		return web_recording_name(url + strlen(recordings));
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strncmp(url, api, strlen(api)) == 0 && n > strlen(api) + strlen(ends[i]) &&
		    strcmp(url + n - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

static const char *settings_header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/*
 * Returns true if the request comes from a page of this server. The page's own origin is the host name of the
 * request. A proxy may have changed this name. In that case the browser's own comparison counts
 * (Sec-Fetch-Site), which browsers send for secure pages and for localhost. Other programs send neither
 * header.
 */
static bool is_own_origin(struct MHD_Connection *c)
{
	const char *site = settings_header(c, "Sec-Fetch-Site"), *origin = settings_header(c, "Origin");
	const char *host = settings_header(c, MHD_HTTP_HEADER_HOST);
	const char *name = origin ? strstr(origin, "://") : NULL;

	if (site)
		return strcmp(site, "same-origin") == 0;
	return !origin || (name && host && strcasecmp(name + 3, host) == 0);
}

static void settings_refuse(struct web_settings_request *o, unsigned status, const char *why)
{
	if (o->refusal)
		return;
	o->status = status;
	o->refusal = why;
}

struct web_settings_request *web_settings_request_create(struct web_server *s, struct MHD_Connection *c)
{
	struct web_settings_request *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	if (!is_own_origin(c))
		settings_refuse(o, MHD_HTTP_FORBIDDEN, "not allowed for pages of other sites");
	else if (!s->tune)
		settings_refuse(o, MHD_HTTP_FORBIDDEN,
				"nothing can be changed here: stixel-web was started without --tune");
	else if (!settings_header(c, SETTINGS_HEADER))
		settings_refuse(o, MHD_HTTP_FORBIDDEN, "an order needs the header " SETTINGS_HEADER ": 1");
	return o;
}

void web_settings_request_add(struct web_settings_request *o, const char *upload, size_t bytes)
{
	if (bytes > WEB_SETTINGS_BYTES - o->bytes)
		settings_refuse(o, 413, "the request is too long");
	/*
	 * read and drop the rest of the body: a refused client must send all of it before it can read the
	 * reason
	 */
	if (o->refusal)
		return;
	memcpy(o->body + o->bytes, upload, bytes);
	o->bytes += bytes;
}

const char *web_settings_request_text(struct web_server *s, struct MHD_Connection *c,
				      struct web_settings_request *o, enum MHD_Result *done)
{
	if (memchr(o->body, 0, o->bytes))
		settings_refuse(o, MHD_HTTP_BAD_REQUEST, "the request has a byte 0");
	if (!o->refusal)
		return o->body;
	atomic_fetch_add(&s->counts.refused, 1);
	*done = web_refuse(c, o->status, "%s", o->refusal);
	return NULL;
}

enum MHD_Result web_settings_request_give(struct web_server *s, struct MHD_Connection *c,
					  struct web_settings_request *o, const char *instance)
{
	enum MHD_Result done = MHD_NO;
	const char *text = web_settings_request_text(s, c, o, &done);
	struct sx_reply reply;
	int code;

	if (!text)
		return done;
	code = web_ask_settings(&s->asks, instance, text, &reply);
	if (code < 0)
		return web_refuse_ask(c, &reply);
	if (code == MHD_HTTP_NOT_FOUND || code == MHD_HTTP_METHOD_NOT_ALLOWED)
		done = web_refuse(c, MHD_HTTP_BAD_GATEWAY,
				  "instance '%s' is of a version that takes no settings", instance);
	else
		done = web_reply(c, (unsigned)code, "text/plain; charset=utf-8", reply.body,
				 strlen(reply.body));
	sx_reply_finish(&reply);
	return done;
}

void web_settings_request_destroy(struct web_settings_request *o)
{
	free(o);
}
