/*
 * The status socket, by libmicrohttpd: one separate thread, epoll, everything limited.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/http/status.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "ipc/http/status_priv.h"
#include "ipc/writers.h"

static int status_refuse(int r, const char *path, struct sx_why *why)
{
	return sx_why_fail(r, why, "%s: %s", path, strerror(-r));
}

int sx_status_listen(const char *path, unsigned mode, struct sx_why *why)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd, r;

	if (strlen(path) >= sizeof(a.sun_path))
		return sx_why_fail(-ENAMETOOLONG, why,
				   "%s: longer than the %zu bytes that a socket's path may have", path,
				   sizeof(a.sun_path) - 1);
	memcpy(a.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return status_refuse(-errno, path, why);
	unlink(path);
	/* A client can connect only after listen(), and the mode is set before. */
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		r = -errno;
		close(fd);
		return status_refuse(r, path, why);
	}
	if (chmod(path, mode) < 0 || listen(fd, SOMAXCONN) < 0) {
		r = -errno;
		close(fd);
		unlink(path);
		return status_refuse(r, path, why);
	}
	return fd;
}

static int check_listening(int fd, struct sx_why *why)
{
	struct sockaddr_un a;
	socklen_t a_bytes = sizeof(a), bytes = sizeof(int);
	int type = 0, listening = 0;

	memset(&a, 0, sizeof(a));
	if (getsockname(fd, (struct sockaddr *)&a, &a_bytes) == 0 && a.sun_family == AF_UNIX &&
	    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_STREAM &&
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &bytes) == 0 && listening)
		return 0;
	return sx_why_fail(-ENOTSOCK, why, "descriptor %d is not a listening Unix stream socket", fd);
}

static void write_page(const struct sx_status_server *s, const struct sx_status_page *page,
		       struct sx_status_kept *kept)
{
	const int64_t now = sx_now_ns();
	struct sx_text text;

	if (page->costly && kept->at_ns && now - kept->at_ns < SX_STATUS_FRESH_NS)
		return;
	sx_text_init(&text, kept->data, SX_STATUS_PAGE_BYTES);
	kept->status = page->write(s->user, &text);
	kept->cut = text.cut;
	kept->at_ns = now;
}

static enum MHD_Result send_page(struct MHD_Connection *c, const struct sx_status_server *s,
				 const struct sx_status_page *page)
{
	sx_must_index(page - s->pages, s->count);
	struct sx_status_kept *kept = &s->kept[page - s->pages];

	if (!kept->data)
		kept->data = malloc(SX_STATUS_PAGE_BYTES);
	if (!kept->data)
		return sx_status_send(c, MHD_HTTP_SERVICE_UNAVAILABLE, "text/plain", "out of memory\n", NULL);
	write_page(s, page, kept);
	if (kept->cut)
		return sx_status_send(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "text/plain",
				      "the page is too long\n", NULL);
	return sx_status_send(c, kept->status, page->type, kept->data, NULL);
}

static const struct sx_status_page *find_page(const struct sx_status_server *s, const char *url)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(url, s->pages[i].path) == 0)
			return &s->pages[i];
	return NULL;
}

static enum MHD_Result send_missing(struct MHD_Connection *c, const struct sx_status_server *s)
{
	char text[256];
	int n = snprintf(text, sizeof(text), "not found; there are");

	for (size_t i = 0; i < s->count && (size_t)n < sizeof(text); i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %s", s->pages[i].path);
	if ((size_t)n < sizeof(text) - 1)
		memcpy(text + n, "\n", 2);
	return sx_status_send(c, MHD_HTTP_NOT_FOUND, "text/plain", text, NULL);
}

static enum MHD_Result answer(void *user, struct MHD_Connection *c, const char *url, const char *method,
			      const char *version, const char *upload, size_t *upload_bytes, void **request)
{
	struct sx_status_server *s = user;
	const struct sx_status_page *page = find_page(s, url);
	const bool requests = page && page->request;

	if (!*request) /* the headers of a request have arrived */
		sx_limiter_wait(&s->limiter, c);
	if (requests && strcmp(method, MHD_HTTP_METHOD_POST) == 0)
		return sx_status_post(s, page, c, upload, upload_bytes, (struct sx_status_request **)request);
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return sx_status_send(c, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain",
				      requests ? "only GET, HEAD and POST\n" : "only GET and HEAD\n",
				      requests ? "GET, HEAD, POST" : "GET, HEAD");
	return page ? send_page(c, s, page) : send_missing(c, s);
}

static void completed(void *user, struct MHD_Connection *c, void **request,
		      enum MHD_RequestTerminationCode code)
{
	struct sx_status_server *s = user;

	sx_limiter_wait(&s->limiter, c);
	sx_status_request_free(*request);
	*request = NULL;
}

static void status_free(struct sx_status_server *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++)
		free(s->kept[i].data);
	free(s->kept);
	sx_limiter_finish(&s->limiter);
	free(s);
}

int sx_status_start(struct sx_status_server **ret, int listen_fd, const struct sx_status_page *pages,
		    size_t count, void *user, struct sx_why *why)
{
	struct sx_status_server *s = NULL;
	int r = check_listening(listen_fd, why);

	if (r < 0)
		goto fail;
	s = calloc(1, sizeof(*s));
	if (s)
		s->kept = calloc(count ? count : 1, sizeof(*s->kept));
	if (!s || !s->kept ||
	    sx_limiter_init(&s->limiter, SX_STATUS_CLIENTS + SX_STATUS_LEAVING, SX_STATUS_CLIENTS,
			    SX_STATUS_CLIENT_TIMEOUT_S * SX_NS_PER_S) < 0) {
		sx_why_set(why, "out of memory");
		r = -ENOMEM;
		goto fail;
	}
	s->count = count;
	s->pages = pages;
	s->user = user;
	if (sx_group_number(SX_TUNERS_GROUP, &s->tuners) < 0) {
		sx_why_set(why, "out of memory");
		r = -ENOMEM;
		goto fail;
	}
	s->http = MHD_start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_NO_LISTEN_SOCKET |
			MHD_ALLOW_SUSPEND_RESUME,
		0, NULL, NULL, answer, s, MHD_OPTION_NOTIFY_COMPLETED, completed, s,
		MHD_OPTION_NOTIFY_CONNECTION, sx_limiter_notify, &s->limiter, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)(SX_STATUS_CLIENTS + 2 * SX_STATUS_LEAVING), MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)SX_STATUS_CLIENT_TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)SX_STATUS_REQUEST_BYTES, MHD_OPTION_END);
	if (!s->http) {
		sx_why_set(why, "cannot start the HTTP server's thread: %s", strerror(errno));
		r = -EAGAIN;
		goto fail;
	}
	r = sx_acceptor_open(&s->acceptor[0], listen_fd, s->http, &s->limiter);
	if (r < 0) {
		sx_why_set(why, "cannot start the thread of the status socket: %s", strerror(-r));
		MHD_stop_daemon(s->http);
		goto fail;
	}
	*ret = s;
	return 0;
fail:
	status_free(s);
	close(listen_fd);
	return r;
}

void sx_status_tick(struct sx_status_server *s)
{
	if (s)
		sx_limiter_tick(&s->limiter);
}

int sx_status_move(struct sx_status_server *s, int listen_fd)
{
	sx_must(listen_fd, >=, 0);
	struct sx_acceptor *before = &s->acceptor[s->open_acceptor], *next = &s->acceptor[!s->open_acceptor];
	int r = sx_acceptor_open(next, listen_fd, s->http, &s->limiter);

	if (r < 0) {
		close(listen_fd);
		return r;
	}
	sx_acceptor_close(before);
	close(before->listen_fd);
	s->open_acceptor = !s->open_acceptor;
	return 0;
}

void sx_status_stop(struct sx_status_server *s)
{
	struct sx_acceptor *acceptor;

	if (!s)
		return;
	acceptor = &s->acceptor[s->open_acceptor];
	sx_must(acceptor->listen_fd, >=, 0);
	sx_acceptor_close(acceptor);
	close(acceptor->listen_fd);
	MHD_stop_daemon(s->http);
	status_free(s);
}
