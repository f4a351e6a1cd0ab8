/*
 * HTTP server of stixel-web, built on libmicrohttpd: routes, and the checks before a route is looked up.
 *
 * Each connection has a thread, and the number of threads is limited. A stream sleeps until there is a frame,
 * and waiting for a hung daemon's status delays no other client. One thread with suspended connections would
 * save a few hundred kB, but every one of these waits would become a state machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/web/server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "ipc/instance.h"
#include "tools/web/certificate.h"
#include "tools/web/recordings/recordings.h"

enum { STACK_BYTES = 512 * 1024, PARAMETERS_MAX = 32 };

/* Routes /api/NAME/WHAT. request: of a POST that web_settings_request_is_for() has accepted; else NULL. */
static enum MHD_Result route_instance(struct web_server *s, struct MHD_Connection *c, const char *path,
				      bool head, struct web_settings_request *settings)
{
	const char *what = strchr(path, '/');
	char name[WEB_NAME_BYTES];
	struct sx_why why;
	size_t n = what ? (size_t)(what - path) : strlen(path);

	if (!what || n >= sizeof(name))
		return web_refuse(c, MHD_HTTP_NOT_FOUND,
				  "not found: expected /api/INSTANCE/status or similar");
	memcpy(name, path, n);
	name[n] = '\0';
	if (sx_instance_check(name, &why) < 0)
		return web_refuse(c, MHD_HTTP_BAD_REQUEST, "%s", why.text);
	if (!web_ask_may(&s->only, name))
		return web_refuse(c, MHD_HTTP_NOT_FOUND, "instance '%s' is not shown here", name);
	if (strcmp(what, "/settings") == 0)
		return settings ? web_settings_request_give(s, c, settings, name)
				: web_settings_page(s, c, name);
	if (strcmp(what, "/record") == 0 && settings)
		return web_record_page(s, c, name, settings);
	if (strcmp(what, "/status") == 0)
		return web_status_page(s, c, name);
	if (strcmp(what, "/stream") == 0)
		return web_stream_page(s, c, name, head);
	if (strcmp(what, "/stream.mjpg") == 0)
		return web_mjpeg_page(s, c, name, head);
	if (strcmp(what, "/metrics") == 0)
		return web_metrics_page(s, c, name);
	if (strcmp(what, "/snapshot.jpg") == 0)
		return web_snapshot_page(s, c, name);
	return web_refuse(
		c, MHD_HTTP_NOT_FOUND,
		"not found; of an instance there are status, stream, stream.mjpg, metrics, settings and "
		"snapshot.jpg");
}

static enum MHD_Result route(struct web_server *s, struct MHD_Connection *c, const char *url, bool head,
			     struct web_settings_request *settings)
{
	static const char api[] = "/api/", recordings[] = "/api/recordings";
	const char *end = url + strlen(recordings), *file;

	for (const struct web_asset *a = web_assets; a->path; a++)
		if (strcmp(url, a->path) == 0)
			return web_asset_page(c, a);
	if (strcmp(url, "/healthz") == 0)
		return web_reply(c, MHD_HTTP_OK, "text/plain; charset=utf-8", "ok\n", 3);
	if (strcmp(url, "/metrics") == 0)
		return web_metrics_page(s, c, NULL);
	if (strcmp(url, "/api/instances") == 0)
		return web_instances_page(s, c);
	if (strcmp(url, "/api/presets") == 0)
		return web_presets_page(c);
	if (strcmp(url, "/api/clock") == 0)
		return web_clock_page(c);
	if (strcmp(url, recordings) == 0)
		return web_recordings_page(s, c);
	/* an instance may have this name, but none of its pages contains this */
	file = strncmp(url, recordings, strlen(recordings)) == 0 && *end == '/' ? strstr(end, ".mcap") : NULL;
	if (file && (!file[5] || file[5] == '/'))
		return web_recording_page(s, c, end + 1, head, settings);
	if (strncmp(url, api, strlen(api)) == 0)
		return route_instance(s, c, url + strlen(api), head, settings);
	return web_refuse(c, MHD_HTTP_NOT_FOUND, "not found; the page is at /");
}

static bool has_header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name) != NULL;
}

/*
 * Returns true for a request from another site's page. Such a page could not read the answer, but the drawing
 * would cost time.
 */
static bool is_cross_site(struct MHD_Connection *c, const char *url)
{
	const char *site = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Sec-Fetch-Site");
	const char *mode = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Sec-Fetch-Mode");

	if (!site || strcmp(site, "same-origin") == 0 || strcmp(site, "none") == 0)
		return false;
	/*
	 * a link to this server is allowed, but not to an answer that holds a connection as long as its
	 * window is open
	 */
	return !mode || strcmp(mode, "navigate") != 0 || strstr(url, "/stream") || strstr(url, "/snapshot") ||
	       strstr(url, "/recordings/");
}

static bool is_settings(const char *url, const char *method)
{
	return strcmp(method, MHD_HTTP_METHOD_POST) == 0 && web_settings_request_is_for(url);
}

static enum MHD_Result refuse_method(struct MHD_Connection *c, const char *url)
{
	static const char only[] = "only GET and HEAD\n", settings[] = "only GET, HEAD and POST\n";
	const bool post = web_settings_request_is_for(url);
	struct MHD_Response *r = MHD_create_response_from_buffer(strlen(post ? settings : only),
								 (void *)(uintptr_t)(post ? settings : only),
								 MHD_RESPMEM_PERSISTENT);
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	web_add_headers(r, "text/plain; charset=utf-8");
	MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, post ? "GET, HEAD, POST" : "GET, HEAD");
	done = MHD_queue_response(c, MHD_HTTP_METHOD_NOT_ALLOWED, r);
	MHD_destroy_response(r);
	return done;
}

/* ---- passwords ---- */

static enum MHD_Result refuse_login(struct MHD_Connection *c)
{
	static const char wrong[] = "a user and a password are needed\n";
	struct MHD_Response *r = MHD_create_response_from_buffer(strlen(wrong), (void *)(uintptr_t)wrong,
								 MHD_RESPMEM_PERSISTENT);
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	web_add_headers(r, "text/plain; charset=utf-8");
	MHD_add_response_header(r, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
				"Basic realm=\"stixeld\", charset=\"UTF-8\"");
	done = MHD_queue_response(c, MHD_HTTP_UNAUTHORIZED, r);
	MHD_destroy_response(r);
	return done;
}

/*
 * Returns true if the header has only this name and password. The library gives both as strings, which end at
 * a byte 0, so any bytes could follow a right password. So the number of bytes sent must match the lengths of
 * the strings.
 */
static bool is_whole(struct MHD_Connection *c, const char *name, const char *password)
{
	static const char scheme[] = "Basic ";
	const char *sent = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
	size_t n, bytes;

	if (!sent || strncasecmp(sent, scheme, strlen(scheme)) != 0)
		return false;
	sent += strlen(scheme);
	sent += strspn(sent, " \t");
	n = strcspn(sent, " \t");
	bytes = n / 4 * 3;
	for (int i = 0; i < 2 && n > 0 && sent[n - 1] == '='; i++, n--)
		bytes--;
	return bytes == strlen(name) + 1 + strlen(password);
}

static void forget(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	MHD_free(text);
}

/*
 * Checks the password. MHD_YES with *refused false: no password is required, or it is right. May sleep 1 s.
 */
static enum MHD_Result check_login(struct web_server *s, struct MHD_Connection *c, const char *url,
				   bool *refused)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	char *password = NULL, *name;
	bool right;

	/* monitoring programs may ask without a password whether the server is up */
	if (!s->logins || strcmp(url, "/healthz") == 0)
		return MHD_YES;
	name = MHD_basic_auth_get_username_password(c, &password);
	right = name && password && is_whole(c, name, password) &&
		web_login_check(s->logins, info ? info->client_addr : NULL, name, password);
	/* a browser first asks without a password to learn that it needs one: this is not a failed login */
	if (!right && name)
		atomic_fetch_add(&s->counts.logins_refused, 1);
	forget(name);
	forget(password);
	web_stranger = *refused = !right;
	return right ? MHD_YES : refuse_login(c);
}

/*
 * Headers that may occur only once. A proxy in between may have read another occurrence (RFC 9112, 3.2), and
 * a lookup finds the first.
 */
static const char *const only_once[] = {MHD_HTTP_HEADER_HOST,
					MHD_HTTP_HEADER_ORIGIN,
					MHD_HTTP_HEADER_AUTHORIZATION,
					MHD_HTTP_HEADER_CONTENT_LENGTH,
					MHD_HTTP_HEADER_TRANSFER_ENCODING,
					"Sec-Fetch-Site",
					"Sec-Fetch-Mode"};
enum { ONLY_ONCE = sizeof(only_once) / sizeof(only_once[0]) };

static enum MHD_Result count_header(void *user, enum MHD_ValueKind kind, const char *name, const char *value)
{
	unsigned *counts = user;

	for (size_t i = 0; i < ONLY_ONCE; i++)
		counts[i] += strcasecmp(name, only_once[i]) == 0;
	return MHD_YES;
}

/* Returns the name of a header that occurs twice. NULL: there is none. */
static const char *find_repeated(struct MHD_Connection *c)
{
	unsigned counts[ONLY_ONCE] = {0};

	MHD_get_connection_values(c, MHD_HEADER_KIND, count_header, counts);
	for (size_t i = 0; i < ONLY_ONCE; i++)
		if (counts[i] > 1)
			return only_once[i];
	return NULL;
}

/* Checks a request. MHD_YES with *refused false: the request is accepted. */
static enum MHD_Result check_request(struct web_server *s, struct MHD_Connection *c, const char *url,
				     const char *method, bool *refused)
{
	const bool settings = is_settings(url, method);
	const char *repeated = find_repeated(c);

	*refused = true;
	if (repeated)
		return web_refuse(c, MHD_HTTP_BAD_REQUEST, "two %s headers", repeated);
	if (!web_host_allowed(&s->hosts,
			      MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)))
		return web_refuse(
			c, MHD_HTTP_FORBIDDEN,
			"host name not allowed: start stixel-web with --host NAME, or use its address");
	if (!settings && strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return refuse_method(c, url);
	if (!settings && (has_header(c, MHD_HTTP_HEADER_CONTENT_LENGTH) ||
			  has_header(c, MHD_HTTP_HEADER_TRANSFER_ENCODING)))
		return web_refuse(c, MHD_HTTP_BAD_REQUEST, "requests with a body are not supported");
	if (is_cross_site(c, url))
		return web_refuse(c, MHD_HTTP_FORBIDDEN, "not allowed for pages of other sites");
	*refused = false;
	return check_login(s, c, url, refused);
}

void web_server_tick(struct web_server *s)
{
	sx_limiter_tick(&s->limiter);
	web_certificate_tick();
}

/* ---- life ---- */

static char seen;    /* *request points here after the headers of a GET */
static char crowded; /* *request points here first if the request has too many parameters */

/*
 * Counts the parameters before the library parses them. Each parameter takes memory of the connection, and
 * without memory the library ends the connection without an answer. uri is the connection's own buffer, so
 * this function may change it.
 */
static void *look_at_uri(void *user, const char *uri, struct MHD_Connection *c)
{
	char *at = (char *)(uintptr_t)uri;
	unsigned parameters = 0;

	for (const char *p = uri; *p; p++)
		parameters += *p == '&';
	if (parameters <= PARAMETERS_MAX)
		return NULL;
	for (; *at; at++)
		if (*at == '&')
			*at = '_';
	return &crowded;
}

/*
 * Begins a settings request: its headers have arrived. Until its body is complete, the time limit of a
 * request applies to the connection.
 */
static enum MHD_Result begin_settings(struct web_server *s, struct MHD_Connection *c, void **request)
{
	struct web_settings_request *o = web_settings_request_create(s, c);

	sx_limiter_wait(&s->limiter, c);
	*request = o ? (void *)o : &seen;
	return o ? MHD_YES : MHD_NO;
}

static enum MHD_Result take_settings(struct web_server *s, struct MHD_Connection *c, const char *url,
				     struct web_settings_request *o, const char *upload, size_t *upload_bytes)
{
	if (*upload_bytes) {
		web_settings_request_add(o, upload, *upload_bytes);
		*upload_bytes = 0;
		return MHD_YES;
	}
	sx_limiter_rest(&s->limiter, c);
	return route(s, c, url, false, o);
}

static enum MHD_Result answer(void *user, struct MHD_Connection *c, const char *url, const char *method,
			      const char *version, const char *upload, size_t *upload_bytes, void **request)
{
	struct web_server *s = user;
	const bool too_many = *request == &crowded;
	enum MHD_Result r;
	bool refused = true;

	/*
	 * only the headers have arrived: an answer now would end the connection, and most clients want to
	 * keep it
	 */
	if (!*request || too_many) {
		*request = &seen;
		web_stranger = s->logins != NULL;
		sx_limiter_rest(&s->limiter, c);
		atomic_fetch_add(&s->counts.requests, 1);
		r = too_many ? web_refuse(c, MHD_HTTP_BAD_REQUEST, "more than %d parameters", PARAMETERS_MAX)
			     : check_request(s, c, url, method, &refused);
		if (refused)
			atomic_fetch_add(&s->counts.refused, 1);
		return !refused && is_settings(url, method) ? begin_settings(s, c, request) : r;
	}
	if (*request != &seen)
		return take_settings(s, c, url, *request, upload, upload_bytes);
	return route(s, c, url, strcmp(method, MHD_HTTP_METHOD_HEAD) == 0, NULL);
}

static void completed(void *user, struct MHD_Connection *c, void **request,
		      enum MHD_RequestTerminationCode code)
{
	struct web_server *s = user;

	if (*request != &seen && *request != &crowded)
		web_settings_request_destroy(*request);
	*request = NULL;
	sx_limiter_wait(&s->limiter, c);
}

/* Limits the connections of an address, before anything is read from the new connection. */
static enum MHD_Result accept_one(void *user, const struct sockaddr *from, socklen_t bytes)
{
	struct web_server *s = user;

	if (web_share_has_room(&s->share, from))
		return MHD_YES;
	atomic_fetch_add(&s->counts.connections_refused, 1);
	return MHD_NO;
}

static void notify(void *user, struct MHD_Connection *c, void **context,
		   enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct web_server *s = user;

	sx_limiter_notify(&s->limiter, c, context, code);
	(code == MHD_CONNECTION_NOTIFY_STARTED ? web_share_join
					       : web_share_leave)(&s->share, info ? info->client_addr : NULL);
}

static struct MHD_Daemon *start_one(struct web_server *s, int fd, unsigned connections)
{
	struct MHD_OptionItem tls[WEB_CERTIFICATE_OPTIONS] = {{MHD_OPTION_END, 0, NULL}};

	if (s->tls)
		web_certificate_options(tls);
	return MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
					MHD_USE_POLL | MHD_USE_ITC | (s->tls ? MHD_USE_TLS : 0u),
				0, accept_one, s, answer, s, MHD_OPTION_LISTEN_SOCKET, fd,
				MHD_OPTION_CONNECTION_LIMIT, connections, MHD_OPTION_CONNECTION_TIMEOUT,
				(unsigned)WEB_CLIENT_TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				(size_t)WEB_CONNECTION_BYTES, MHD_OPTION_THREAD_STACK_SIZE,
				(size_t)STACK_BYTES, MHD_OPTION_NOTIFY_CONNECTION, notify, s,
				MHD_OPTION_URI_LOG_CALLBACK, look_at_uri, s, MHD_OPTION_NOTIFY_COMPLETED,
				completed, s, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
}

int web_server_start(struct web_server *s, const int *fds, size_t count, struct sx_why *why)
{
	size_t started = 0;

	s->started_ns = sx_now_ns();
	web_asks_init(&s->asks);
	web_share_init(&s->share);
	if (sx_limiter_init(&s->limiter, WEB_CONNECTIONS + WEB_ADDRESSES, 0,
			    WEB_CLIENT_TIMEOUT_S * SX_NS_PER_S) == 0)
		s->feeds = web_feeds_create();
	while (s->feeds && started < count) {
		s->http[started] = start_one(s, fds[started], WEB_CONNECTIONS / (unsigned)count);
		if (!s->http[started])
			break;
		started++;
	}
	if (started == count)
		return 0;
	sx_why_set(why, "cannot start the HTTP server's thread: %s", strerror(errno));
	while (started < count)
		close(fds[started++]);
	web_server_stop(s);
	return -EAGAIN;
}

void web_server_stop(struct web_server *s)
{
	if (s->feeds)
		web_feeds_stop(s->feeds);
	if (s->logins)
		web_logins_stop(s->logins);
	for (int i = 0; i < WEB_ADDRESSES; i++)
		if (s->http[i])
			MHD_stop_daemon(s->http[i]);
	web_feeds_destroy(s->feeds);
	web_asks_finish(&s->asks);
	web_share_finish(&s->share);
	sx_limiter_finish(&s->limiter);
	web_recordings_close(s->recordings);
	web_logins_destroy(s->logins);
	web_certificate_finish();
}
