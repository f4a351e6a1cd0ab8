/*
 * Fuzzes requests as libmicrohttpd passes them to the status socket and to stixel-web: method, path, headers,
 * arguments, a body in pieces, user and password. For stixel-web the input also holds the answers of the
 * daemons. No server runs. This program makes the server's calls in the server's order, and takes all
 * arguments from the input. The first text of the input selects the server. The other parts follow text by
 * text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <crypt.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "include/stixel.h"
#include "ipc/http/acceptor.h"
#include "ipc/http/peer.h"
#include "ipc/http/status.h"
#include "tests/fuzz/fuzz.h"
#include "tools/common/instances.h"
#include "tools/web/server.h"
#include "tools/web/users.h"

enum { VALUES = 12, NAMES = 3, PIECES = 8, TURNS_MOST = 40 };

struct handler {
	MHD_AccessHandlerCallback answer;
	void *answer_user;
	MHD_RequestCompletedCallback completed;
	void *completed_user;
};

static struct handler status_handler, web_handler, *starting;

/* One request, with everything that MHD would know about it. */
static struct {
	struct fuzz_input *in;
	char *method, *url;
	struct {
		enum MHD_ValueKind kind;
		char *name, *value;
	} values[VALUES];
	int count;
	char *user, *password;
	uid_t uid;
	gid_t gid;
	char *names[NAMES]; /* running instances */
	/* results of the request */
	bool suspended, may_answer, is_web;
	unsigned status;
	bool ordered; /* a daemon, or this process, received a settings request */
	char sent[SX_STATUS_REQUEST_BYTES + 1];
	size_t sent_bytes;
} request;

/* ---- replacements of libmicrohttpd ---- */

struct MHD_Daemon *__wrap_MHD_start_daemon(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept,
					   void *accept_user, MHD_AccessHandlerCallback answer,
					   void *answer_user, ...);
struct MHD_Daemon *__wrap_MHD_start_daemon(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept,
					   void *accept_user, MHD_AccessHandlerCallback answer,
					   void *answer_user, ...)
{
	va_list args;
	int option;

	*starting = (struct handler){.answer = answer, .answer_user = answer_user};
	va_start(args, answer_user);
	while ((option = va_arg(args, int)) != MHD_OPTION_END && option != MHD_OPTION_ARRAY) {
		if (option == MHD_OPTION_NOTIFY_COMPLETED) {
			starting->completed = va_arg(args, MHD_RequestCompletedCallback);
			starting->completed_user = va_arg(args, void *);
		} else if (option == MHD_OPTION_NOTIFY_CONNECTION || option == MHD_OPTION_URI_LOG_CALLBACK) {
			va_arg(args, void *);
			va_arg(args, void *);
		} else if (option == MHD_OPTION_CONNECTION_MEMORY_LIMIT ||
			   option == MHD_OPTION_THREAD_STACK_SIZE) {
			va_arg(args, size_t);
		} else {
			va_arg(args, int);
		}
	}
	va_end(args);
	return (struct MHD_Daemon *)starting;
}

/* Returns a header with user and password. Only its length is correct, because only the length is used. */
static const char *authorization(void)
{
	static char text[1 << 16];
	size_t n, at = strlen("Basic ");

	if (!request.user || !request.password)
		return NULL;
	n = strlen(request.user) + 1 + strlen(request.password);
	if ((n + 2) / 3 * 4 >= sizeof(text) - at)
		return NULL;
	memcpy(text, "Basic ", at);
	memset(text + at, 'A', (n + 2) / 3 * 4);
	at += (n + 2) / 3 * 4;
	text[at] = 0;
	for (size_t left = (3 - n % 3) % 3; left > 0; left--)
		text[--at] = '=';
	return text;
}

const char *__wrap_MHD_lookup_connection_value(struct MHD_Connection *c, enum MHD_ValueKind kind,
					       const char *key);
const char *__wrap_MHD_lookup_connection_value(struct MHD_Connection *c, enum MHD_ValueKind kind,
					       const char *key)
{
	for (int i = 0; i < request.count; i++)
		if (request.values[i].kind == kind && strcasecmp(request.values[i].name, key) == 0)
			return request.values[i].value;
	return kind == MHD_HEADER_KIND && strcasecmp(key, MHD_HTTP_HEADER_AUTHORIZATION) == 0
		       ? authorization()
		       : NULL;
}

int __wrap_MHD_get_connection_values(struct MHD_Connection *c, enum MHD_ValueKind kind,
				     MHD_KeyValueIterator take, void *user);
int __wrap_MHD_get_connection_values(struct MHD_Connection *c, enum MHD_ValueKind kind,
				     MHD_KeyValueIterator take, void *user)
{
	int n = 0;

	for (int i = 0; i < request.count; i++)
		if (request.values[i].kind == kind && ++n &&
		    take(user, kind, request.values[i].name, request.values[i].value) != MHD_YES)
			break;
	return n;
}

const union MHD_ConnectionInfo *__wrap_MHD_get_connection_info(struct MHD_Connection *c,
							       enum MHD_ConnectionInfoType type, ...);
const union MHD_ConnectionInfo *__wrap_MHD_get_connection_info(struct MHD_Connection *c,
							       enum MHD_ConnectionInfoType type, ...)
{
	static struct sockaddr_storage from;
	static union MHD_ConnectionInfo info;

	memset(&info, 0, sizeof(info));
	from.ss_family = request.uid & 1 ? AF_INET : AF_INET6;
	if (type == MHD_CONNECTION_INFO_CLIENT_ADDRESS)
		info.client_addr = (struct sockaddr *)&from;
	else if (type == MHD_CONNECTION_INFO_CONNECTION_FD)
		info.connect_fd = -1;
	return &info;
}

enum MHD_Result __wrap_MHD_queue_response(struct MHD_Connection *c, unsigned status, struct MHD_Response *r);
enum MHD_Result __wrap_MHD_queue_response(struct MHD_Connection *c, unsigned status, struct MHD_Response *r)
{
	if (!request.may_answer || request.suspended || request.status)
		fuzz_fail("an answer where the server takes none");
	if (status < 200 || status > 599)
		fuzz_fail("status %u", status);
	if (request.is_web && !MHD_get_response_header(r, "Content-Security-Policy"))
		fuzz_fail("an answer without the headers that all have");
	if (!MHD_get_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE))
		fuzz_fail("an answer without a type");
	request.status = status;
	return MHD_YES;
}

void __wrap_MHD_suspend_connection(struct MHD_Connection *c);
void __wrap_MHD_suspend_connection(struct MHD_Connection *c)
{
	request.suspended = true;
}

void __wrap_MHD_resume_connection(struct MHD_Connection *c);
void __wrap_MHD_resume_connection(struct MHD_Connection *c)
{
	if (!request.suspended)
		fuzz_fail("resumed, and was not suspended");
	request.suspended = false;
}

char *__wrap_MHD_basic_auth_get_username_password(struct MHD_Connection *c, char **password);
char *__wrap_MHD_basic_auth_get_username_password(struct MHD_Connection *c, char **password)
{
	*password = request.password ? strdup(request.password) : NULL;
	return request.user ? strdup(request.user) : NULL;
}

/* ---- replacements of the system and of other processes ---- */

int __wrap_sx_acceptor_open(struct sx_acceptor *d, int listen_fd, struct MHD_Daemon *http,
			    struct sx_limiter *limiter);
int __wrap_sx_acceptor_open(struct sx_acceptor *d, int listen_fd, struct MHD_Daemon *http,
			    struct sx_limiter *limiter)
{
	return 0;
}

int __wrap_sx_peer_of(int fd, struct sx_peer *ret);
int __wrap_sx_peer_of(int fd, struct sx_peer *ret)
{
	*ret = (struct sx_peer){.uid = request.uid, .groups = {request.gid}, .count = 1};
	return 0;
}

/* Accepts only the password "right", at no cost. */
char *__wrap_crypt_r(const char *password, const char *hash, struct crypt_data *data);
char *__wrap_crypt_r(const char *password, const char *hash, struct crypt_data *data)
{
	const size_t n = strlen(hash);

	if (n < 4 || n >= sizeof(data->output))
		return NULL;
	memcpy(data->output, hash, n + 1);
	data->output[n - 1] = (char)(data->output[n - 1] ^ (strcmp(password, "right") != 0));
	return data->output;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until)
{
	return ETIMEDOUT;
}

int __wrap_sx_socket_ask(const struct sx_question *q, struct sx_reply *ret);
int __wrap_sx_socket_ask(const struct sx_question *q, struct sx_reply *ret)
{
	static const int codes[] = {200, 200, 200, 400,	    403,	404,
				    405, 409, 503, -ENOENT, -ETIMEDOUT, -EACCES};

	request.ordered = request.ordered || q->post;
	if (q->post &&
	    (strlen(q->post) != request.sent_bytes || memcmp(q->post, request.sent, request.sent_bytes) != 0))
		fuzz_fail("the daemon gets another order than was sent");
	*ret = (struct sx_reply){.code = codes[fuzz_choice(request.in, sizeof(codes) / sizeof(codes[0]))]};
	snprintf(ret->why, sizeof(ret->why), "%s", ret->code == 200 ? "" : "so it is");
	if (ret->code < 0)
		return ret->code;
	ret->body = fuzz_text(request.in);
	if (!ret->body)
		ret->body = strdup("");
	return ret->code;
}

static void tell_names(void (*take)(void *user, const char *name), void *user)
{
	for (int i = 0; i < NAMES; i++)
		if (request.names[i])
			take(user, request.names[i]);
}

void __wrap_sx_instances_find(void (*take)(void *user, const char *name), void *user);
void __wrap_sx_instances_find(void (*take)(void *user, const char *name), void *user)
{
	tell_names(take, user);
}

void __wrap_sx_instances_find_rings(void (*take)(void *user, const char *name, bool trusted), void *user);
void __wrap_sx_instances_find_rings(void (*take)(void *user, const char *name, bool trusted), void *user)
{
	for (int i = 0; i < NAMES; i++)
		if (request.names[i])
			take(user, request.names[i], i & 1);
}

void __wrap_sx_programs_find(const char *program, void (*take)(void *user, const char *name), void *user);
void __wrap_sx_programs_find(const char *program, void (*take)(void *user, const char *name), void *user)
{
	tell_names(take, user);
}

int __wrap_web_feed_join(struct web_feeds *f, struct web_viewer *v, const char *instance);
int __wrap_web_feed_join(struct web_feeds *f, struct web_viewer *v, const char *instance)
{
	return fuzz_choice(request.in, 2) ? -EBUSY : 0;
}

void __wrap_web_feed_leave(struct web_feeds *f, struct web_viewer *v);
void __wrap_web_feed_leave(struct web_feeds *f, struct web_viewer *v)
{
}

int __wrap_stixel_open(struct stixel_reader **ret, const char *instance, unsigned flags);
int __wrap_stixel_open(struct stixel_reader **ret, const char *instance, unsigned flags)
{
	return fuzz_choice(request.in, 2) ? -ENOENT : -EACCES;
}

/* ---- the servers ---- */

/* Replaces the page, which is made at build time. */
const struct web_asset web_assets[] = {{"/", "text/html; charset=utf-8", "\"1\"",
					(const unsigned char *)"<!doctype html>", 15, "\"1-gzip\"",
					(const unsigned char *)"\x1f\x8b", 2},
				       {0}};

static unsigned write_page(void *user, struct sx_text *text)
{
	sx_text_add(text, "{}\n");
	return fuzz_choice(request.in, 2) ? 200 : 503;
}

static unsigned write_long_page(void *user, struct sx_text *text)
{
	for (unsigned i = 0; i < SX_STATUS_PAGE_BYTES / 8 + 1; i++)
		sx_text_add(text, "12345678");
	return 200;
}

static void take_settings(void *user, struct sx_status_request *o)
{
	const char *body = sx_status_request_body(o);

	request.ordered = true;
	if (memcmp(body, request.sent, request.sent_bytes) != 0 || body[request.sent_bytes])
		fuzz_fail("another order than was sent");
	sx_status_request_answer(o, fuzz_choice(request.in, 2) ? 200 : 409, "so it is\n");
}

static struct web_server web = {.quality = 75};

static void start(void)
{
	static const struct sx_status_page pages[] = {
		{"/status", "application/json", write_page, NULL, false},
		{"/metrics", "text/plain", write_page, NULL, true},
		{"/long", "text/plain", write_long_page, NULL, false},
		{"/settings", "application/json", write_page, take_settings, false}};
	struct sockaddr_un any = {.sun_family = AF_UNIX};
	struct sx_status_server *status;
	struct sx_log_levels quiet;
	static struct web_address listens[2];
	const int fds[] = {-1};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sx_why why;

	if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof(any.sun_family)) < 0 || listen(fd, 1) < 0)
		fuzz_fail("no socket");
	if (sx_log_levels_parse(&quiet, "error", &why) < 0)
		fuzz_fail("%s", why.text);
	sx_log_levels_set(&quiet);
	starting = &status_handler;
	if (sx_status_start(&status, fd, pages, sizeof(pages) / sizeof(pages[0]), NULL, &why) < 0)
		fuzz_fail("%s", why.text);
	starting = &web_handler;
	if (web_address_parse(&listens[0], "10.0.0.1:8470", &why) < 0 ||
	    web_address_parse(&listens[1], "[fe80::1]:8470", &why) < 0)
		fuzz_fail("%s", why.text);
	web.hosts =
		(struct web_hosts){.name = {"car.example"}, .names = 1, .address = listens, .addresses = 2};
	if (web_server_start(&web, fds, 1, &why) < 0)
		fuzz_fail("%s", why.text);
}

/* Runs a request from its headers to its end, like the server. */
static void serve(const struct handler *h, struct fuzz_input *in)
{
	struct MHD_Connection *c = (struct MHD_Connection *)&request;
	void *context = NULL;
	size_t none = 0;
	enum MHD_Result r;
	/* the server refuses a body of other methods when it sees the headers */
	unsigned pieces = fuzz_choice(in, PIECES) * (strcmp(request.method, MHD_HTTP_METHOD_POST) == 0);

	request.may_answer = true;
	r = h->answer(h->answer_user, c, request.url, request.method, "HTTP/1.1", NULL, &none, &context);
	request.may_answer = false;
	while (r == MHD_YES && !request.status && pieces--) {
		const unsigned repeat = fuzz_choice(in, 16) == 15 ? 200 : 1;
		char *text = fuzz_text(in);
		size_t bytes = text ? strlen(text) : 0;

		for (unsigned i = 0; i < repeat && bytes && r == MHD_YES; i++) {
			size_t left = bytes, fits = sizeof(request.sent) - 1 - request.sent_bytes;

			memcpy(request.sent + request.sent_bytes, text, bytes < fits ? bytes : fits);
			request.sent_bytes += bytes < fits ? bytes : fits;
			r = h->answer(h->answer_user, c, request.url, request.method, "HTTP/1.1", text, &left,
				      &context);
			if (left && r == MHD_YES)
				fuzz_fail("%zu of %zu bytes were left", left, bytes);
		}
		free(text);
	}
	request.may_answer = true;
	for (int turn = 0; r == MHD_YES && !request.status; turn++) {
		if (turn == TURNS_MOST)
			fuzz_fail("no answer, for ever");
		r = h->answer(h->answer_user, c, request.url, request.method, "HTTP/1.1", NULL, &none,
			      &context);
		if (request.suspended)
			fuzz_fail("suspended, and nobody will resume it");
	}
	if (r == MHD_YES && !request.status)
		fuzz_fail("no answer");
	h->completed(h->completed_user, c, &context, MHD_REQUEST_TERMINATED_COMPLETED_OK);
}

static const char *header(const char *name)
{
	return __wrap_MHD_lookup_connection_value(NULL, MHD_HEADER_KIND, name);
}

/* Checks that a settings request was passed on only for a client that may change settings. */
static void check_web_settings_request(const struct web_server *s)
{
	const char *site = header("Sec-Fetch-Site");

	if (!request.ordered)
		return;
	if (!s->tune || !header("X-Stixel-Tune") || strcmp(request.method, "POST") != 0 ||
	    (site && strcmp(site, "same-origin") != 0) || !header("Host"))
		fuzz_fail("an order that nobody may give was passed on");
	if (s->logins && (!request.user || !request.password || strcmp(request.password, "right") != 0))
		fuzz_fail("an order was passed on without the password");
}

static void ask_web(struct fuzz_input *in, unsigned how)
{
	char *users = how & 4 ? fuzz_text(in) : NULL, *only = how & 8 ? fuzz_text(in) : NULL;
	struct sx_why why;
	struct web_users *known;
	const char *path;

	web.logins = NULL;
	web.only.count = 0;
	web.tune = how & 2;
	request.is_web = true;
	if (users) {
		path = fuzz_file(0, users, strlen(users));
		if (chmod(path, 0600) == 0 && web_users_read(&known, path, &why) == 0)
			web.logins = web_logins_create(known);
	}
	if (only && strlen(only) < WEB_NAME_BYTES)
		snprintf(web.only.name[web.only.count++], WEB_NAME_BYTES, "%s", only);
	web_asks_finish(&web.asks); /* keep nothing of the previous input */
	web_asks_init(&web.asks);
	serve(&web_handler, in);
	check_web_settings_request(&web);
	if (web.logins && strcmp(request.url, "/healthz") != 0 && request.status < 400 &&
	    (!request.password || strcmp(request.password, "right") != 0))
		fuzz_fail("%u without the password", request.status);
	web_logins_destroy(web.logins);
	free(users);
	free(only);
}

static void ask_status(struct fuzz_input *in)
{
	serve(&status_handler, in);
	if (request.ordered && request.uid != 0 && request.uid != geteuid())
		fuzz_fail("user %u has given an order", (unsigned)request.uid);
	if (request.ordered && strcmp(request.method, "POST") != 0)
		fuzz_fail("an order by %s", request.method);
}

/* Parses an address as on stixel-web's command line, prints it, and parses the printed text again. */
static void parse_address(const char *text)
{
	struct web_address address;
	char printed[128];
	struct sx_why why;

	web_host_check(text);
	if (web_address_parse(&address, text, &why) < 0)
		return;
	web_address_print(&address, printed, sizeof(printed));
	web_address_is_loopback(&address);
	if (web_address_parse(&address, printed, &why) < 0)
		fuzz_fail("'%s' is printed as '%s'", text, printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_input in = {data, bytes};
	const unsigned how = (unsigned)fuzz_number(&in, 1);
	unsigned values, names;

	if (!status_handler.answer)
		start();
	memset(&request, 0, sizeof(request));
	request.in = &in;
	values = fuzz_choice(&in, VALUES + 1);
	names = fuzz_choice(&in, NAMES + 1);
	request.uid = how & 16 ? geteuid() : how & 32 ? 0 : 12345;
	request.gid = 54321;
	request.method = fuzz_text(&in);
	request.url = fuzz_text(&in);
	for (unsigned i = 0; i < values && in.left; i++) {
		request.values[i].kind = fuzz_choice(&in, 2) ? MHD_GET_ARGUMENT_KIND : MHD_HEADER_KIND;
		request.values[i].name = fuzz_text(&in);
		request.values[i].value = fuzz_text(&in); /* an argument may have no value */
		if (!request.values[i].name) {
			free(request.values[i].value);
			break;
		}
		request.count++;
	}
	for (unsigned i = 0; i < names; i++)
		request.names[i] = fuzz_text(&in);
	request.user = how & 64 ? fuzz_text(&in) : NULL;
	request.password = how & 128 ? fuzz_text(&in) : NULL;
	if (request.url && request.method) {
		parse_address(request.url);
		if (how & 1)
			ask_web(&in, how);
		else
			ask_status(&in);
	}
	free(request.method);
	free(request.url);
	free(request.user);
	free(request.password);
	for (int i = 0; i < request.count; i++) {
		free(request.values[i].name);
		free(request.values[i].value);
	}
	for (int i = 0; i < NAMES; i++)
		free(request.names[i]);
	return 0;
}
