/*
 * Asks a status socket with HTTP/1.1 and "Connection: close". The server is the project's own, and a full
 * HTTP client would be a dependency for one line of text. Time, header and body are limited.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/common/ask.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/runtime_dirs.h"
#include "tools/common/group_hint.h"

enum { ANSWER_MAX = 1024 * 1024, READ_STEP = 16 * 1024 };

struct answer {
	char *text;
	size_t bytes;
};

static int connect_to(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd, r;

	if (strlen(path) >= sizeof(to.sun_path))
		return -ENAMETOOLONG;
	memcpy(to.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	r = errno == EAGAIN ? -EBUSY : -errno;
	close(fd);
	return r;
}

/* Waits for events on a descriptor. Returns 0 if it is ready before deadline_ns. */
static int wait_for(int fd, short events, int64_t deadline_ns)
{
	struct pollfd p = {.fd = fd, .events = events};

	for (;;) {
		int64_t left_ms = (deadline_ns - sx_now_ns() + 999999) / 1000000;
		int r = left_ms > 0 ? poll(&p, 1, (int)left_ms) : 0;

		if (r > 0)
			return 0;
		if (r == 0)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

static int send_all(int fd, const char *data, size_t bytes, int64_t deadline_ns)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t n = send(fd, data + done, bytes - done, MSG_NOSIGNAL);
		int r;

		if (n >= 0) {
			done += (size_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return -errno;
		r = wait_for(fd, POLLOUT, deadline_ns);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Sends the request. post: body of a POST; NULL: a GET. */
static int send_request(int fd, const char *target, const char *post, int64_t deadline_ns)
{
	char request[256], length_line[48] = "";
	int length, r;

	if (post)
		snprintf(length_line, sizeof(length_line), "Content-Length: %zu\r\n", strlen(post));
	length = snprintf(request, sizeof(request),
			  "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n",
			  post ? "POST" : "GET", target, length_line);
	if (length < 0 || (size_t)length >= sizeof(request))
		return -EINVAL;
	r = send_all(fd, request, (size_t)length, deadline_ns);
	return r < 0 || !post ? r : send_all(fd, post, strlen(post), deadline_ns);
}

static int grow(struct answer *a)
{
	char *text;

	if (a->bytes >= ANSWER_MAX)
		return -EMSGSIZE;
	text = realloc(a->text, a->bytes + READ_STEP + 1);
	if (!text)
		return -ENOMEM;
	a->text = text;
	return 0;
}

/* Reads to the end of the stream. */
static int receive(int fd, struct answer *a, int64_t deadline_ns)
{
	for (;;) {
		ssize_t n;
		int r = grow(a);

		if (r == 0)
			r = wait_for(fd, POLLIN, deadline_ns);
		if (r < 0)
			return r;
		n = recv(fd, a->text + a->bytes, READ_STEP, 0);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -errno;
		a->text[a->bytes += (size_t)n] = '\0';
		if (n == 0)
			return 0;
	}
}

/* Returns the value of a header line, or NULL. text ends where the body begins. */
static const char *header_value(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = strstr(text, "\r\n"); line; line = strstr(line + 2, "\r\n"))
		if (strncasecmp(line + 2, name, length) == 0 && line[2 + length] == ':')
			return line + 2 + length + 1 + strspn(line + 2 + length + 1, " \t");
	return NULL;
}

/* Reduces the answer to its body. Returns the status code. */
static int split(struct answer *a)
{
	const char *length, *chunked;
	char *end, *number_end;
	size_t body_bytes;
	long code;

	end = a->text ? strstr(a->text, "\r\n\r\n") : NULL;
	if (!end || strncmp(a->text, "HTTP/1.", 7) != 0 || a->bytes < 12)
		return -EPROTO;
	code = strtol(a->text + 9, &number_end, 10);
	if (code < 100 || code > 599 || number_end != a->text + 12)
		return -EPROTO;
	*end = '\0';
	length = header_value(a->text, "Content-Length");
	chunked = header_value(a->text, "Transfer-Encoding");
	body_bytes = a->bytes - (size_t)(end + 4 - a->text);
	if (chunked || (length && strtoull(length, NULL, 10) != body_bytes))
		return -EPROTO;
	memmove(a->text, end + 4, body_bytes + 1);
	a->bytes = body_bytes;
	return (int)code;
}

static int exchange(int fd, const struct sx_question *q, struct answer *a)
{
	int64_t deadline_ns = sx_now_ns() + (int64_t)q->timeout_ms * 1000000;
	int r;

	r = send_request(fd, q->target, q->post, deadline_ns);
	if (r == 0)
		r = receive(fd, a, deadline_ns);
	return r < 0 ? r : split(a);
}

int sx_socket_ask_at(const char *path, const struct sx_question *q, struct sx_reply *ret)
{
	const char *method = q->post ? "POST" : "GET";
	char hint[SX_GROUP_HINT_BYTES] = "";
	struct answer a = {0};
	int fd = connect_to(path);

	*ret = (struct sx_reply){.code = fd};
	if (fd < 0) {
		if (fd == -EACCES)
			sx_group_hint(path, hint, sizeof(hint));
		snprintf(ret->why, sizeof(ret->why), "cannot connect to %s: %s%s", path, strerror(-fd), hint);
		return fd;
	}
	ret->code = exchange(fd, q, &a);
	close(fd);
	if (ret->code < 0) {
		free(a.text);
		snprintf(ret->why, sizeof(ret->why), "%s did not answer as expected to %s %s: %s", path,
			 method, q->target,
			 ret->code == -EPROTO ? "not a complete HTTP answer" : strerror(-ret->code));
		return ret->code;
	}
	if (ret->code != 200)
		snprintf(ret->why, sizeof(ret->why), "%s answered %d to %s %s", path, ret->code, method,
			 q->target);
	ret->body = a.text;
	return ret->code;
}

int sx_socket_ask(const struct sx_question *q, struct sx_reply *ret)
{
	const char *program = q->program ? q->program : SX_RUNTIME_DIR_PROGRAM;
	char folder[PATH_MAX], path[PATH_MAX + NAME_MAX + sizeof("//" SX_STATUS_SOCKET)];
	/*
	 * the error of a folder that this user may not open has priority over that of a folder without a
	 * socket
	 */
	struct sx_reply first = {.code = -ENOENT};

	for (int place = 0; place < SX_RUNTIME_DIRS; place++) {
		if (!sx_runtime_dir_name_of((enum sx_runtime_dir)place, program, folder, sizeof(folder)))
			continue;
		snprintf(path, sizeof(path), "%s/%s/" SX_STATUS_SOCKET, folder, q->name);
		if (sx_socket_ask_at(path, q, ret) >= 0 || !sx_runtime_dir_passed(ret->code))
			return ret->code;
		if (first.code == -ENOENT && ret->code != -ECONNREFUSED)
			first = *ret;
	}
	*ret = first;
	if (first.code == -ENOENT)
		snprintf(ret->why, sizeof(ret->why), "no %s runs as %s'%s'", program,
			 strcmp(program, SX_RUNTIME_DIR_PROGRAM) == 0 ? "instance " : "", q->name);
	return ret->code;
}

void sx_reply_finish(struct sx_reply *r)
{
	free(r->body);
	r->body = NULL;
}
