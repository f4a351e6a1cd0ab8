/*
 * Reader's side of frames.sock. The first four bytes tell the kind of a packet. Unknown kinds are skipped, so
 * that a newer publisher may send more kinds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "ipc/client/reader.h"

int sx_link_want(struct sx_link *l, unsigned want)
{
	const struct stixel_hello hello = {STIXEL_HELLO_MAGIC, want};

	sx_must_or(return -EINVAL, want, !=, 0);
	sx_must_or(return -EINVAL, l->fd, >=, 0);
	return send(l->fd, &hello, sizeof(hello), MSG_NOSIGNAL) == (ssize_t)sizeof(hello) ? 0 : -errno;
}

int sx_link_connect(struct sx_link *l, const char *path, unsigned want)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int r;

	memset(l, 0, sizeof(*l));
	l->fd = -1;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	l->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (l->fd < 0)
		return -errno;
	r = connect(l->fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : sx_link_want(l, want);
	if (r < 0) {
		sx_link_close(l);
		/*
		 * A dead publisher leaves a socket without a listener (ECONNREFUSED). EPIPE: the publisher
		 * refused us, it has too many clients.
		 */
		return r == -ECONNREFUSED ? -ENOENT : r == -EPROTOTYPE ? -EPROTO : r == -EPIPE ? -EAGAIN : r;
	}
	l->heard_ns = sx_now_ns();
	return 0;
}

void sx_link_close(struct sx_link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

static void take_notice(struct sx_link *l)
{
	struct stixel_notice notice = {0};
	ssize_t n = recv(l->fd, &notice, sizeof(notice), MSG_DONTWAIT);

	if (n != (ssize_t)sizeof(notice) || notice.magic != STIXEL_NOTICE_MAGIC ||
	    notice.bytes < sizeof(notice))
		return;
	if (!l->notice.magic)
		l->head = notice.head;
	l->notice = notice;
	if (notice.heartbeat_ns > l->heard_ns)
		l->heard_ns = notice.heartbeat_ns;
}

int sx_link_peek(struct sx_link *l, size_t *bytes)
{
	uint32_t magic;
	ssize_t n;

	sx_must_or(return -EPIPE, l->fd, >=, 0);
	for (;;) {
		magic = 0;
		n = recv(l->fd, &magic, sizeof(magic), MSG_DONTWAIT | MSG_PEEK | MSG_TRUNC);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? SX_PACKET_NONE : -EPIPE;
		if (n == 0)
			return -EPIPE;
		if (n >= 4 && magic == STIXEL_FRAME_MAGIC) {
			*bytes = (size_t)n;
			return SX_PACKET_FRAME;
		}
		take_notice(l);
	}
}

int sx_link_take(struct sx_link *l, struct sx_buffer *to, size_t bytes)
{
	ssize_t n;
	int r;

	sx_must_or(return -EINVAL, bytes, >, 0);
	sx_must_or(return -EPIPE, l->fd, >=, 0);
	if (bytes > STIXEL_FRAME_BYTES_MAX) {
		take_notice(l); /* throws the packet away */
		return -EBADMSG;
	}
	r = sx_buffer_reserve(to, bytes);
	if (r < 0)
		return r;
	n = recv(l->fd, to->bytes, to->room, MSG_DONTWAIT);
	return n < 0 ? -errno : (int)n;
}

int sx_link_drain(struct sx_link *l)
{
	size_t bytes;
	int r;

	sx_must_or(return -EPIPE, l->fd, >=, 0);
	while ((r = sx_link_peek(l, &bytes)) == SX_PACKET_FRAME)
		take_notice(l); /* frames are not for this connection */
	return r;
}
