/*
 * Server of the frame socket. The frame thread leaves its newest frame in one of three buffers. The main
 * thread takes it from there and sends it to every client that can take it now. A client that is not ready
 * is marked, and gets the newest frame when it is ready. So there is no queue, and nothing to bound.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/stream.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/wake.h"
#include "base/why.h"
#include "ipc/frame.h"
#include "ipc/listener.h"

/* The kernel allocates a packet in one piece. Larger packets would fail when memory is fragmented. */
#define PACKET_MAX (1u << 20)
#define FRESH 4u /* flag in the exchanged index: the main thread has not seen this buffer yet */
#define EVENTS 32

enum tag { TAG_LISTEN = 1000, TAG_WAKE, TAG_TIMER };
enum due { DUE_NOTICE = 1, DUE_FRAME = 2 };

struct client {
	int fd; /* -1: free slot */
	struct stixel_hello hello;
	unsigned due;
	bool watched;	     /* epoll watches this client for EPOLLOUT */
	uint64_t last;	     /* newest frame that the client got or missed */
	int64_t progress_ns; /* time when the client last took everything that was due */
	struct sx_stream_client seen;
};

struct sx_stream {
	/* empty: the socket file is not ours to remove */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int epoll, listen, wake, timer;
	bool listening; /* false while this process is out of descriptors */
	uint64_t epoch;
	uint32_t period_ms;
	size_t packet_bytes;
	int buffer_bytes; /* requested SO_SNDBUF */
	uint8_t *buffer[3];
	unsigned back;	    /* buffer of the frame thread */
	atomic_uint middle; /* buffer to exchange: the thread that exchanges it owns the returned buffer */
	unsigned front;	    /* buffer of the main thread */
	atomic_uint state;
	atomic_uint images;  /* images that clients request: bits 1u << enum stixel_plane */
	unsigned sent_state; /* last state sent to the clients */
	atomic_ullong shrunk;
	struct sx_stream_counters count;
	int clients_max;
	int64_t stall_ns;
	struct client client[SX_STREAM_CLIENTS_MAX];
};

/* ---- creating the server ---- */

/*
 * Sets the send buffer. A size above the system's limit needs a privilege; without it, accept the smaller
 * size.
 */
static void size_buffer(int fd, int bytes)
{
	sx_must(bytes, >, 0);
	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

/*
 * Finds the largest packet size. The buffer should hold two frames, so that one can wait while the client
 * reads the other.
 */
static int measure_packet(struct sx_stream *s, size_t frame_bytes, struct sx_why *why)
{
	size_t smallest = sx_frame_bytes(0, 0, 0);
	int pair[2], got = 0, r;
	socklen_t n = sizeof(got);

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return sx_why_fail(-errno, why, "cannot create a socket: %s", strerror(errno));
	if (frame_bytes > PACKET_MAX)
		frame_bytes = PACKET_MAX;
	if (frame_bytes < smallest)
		frame_bytes = smallest;
	s->buffer_bytes = (int)frame_bytes + 4096; /* the kernel doubles it, for its own bookkeeping */
	size_buffer(pair[0], s->buffer_bytes);
	r = getsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &got, &n) < 0 ? -errno : 0;
	close(pair[0]);
	close(pair[1]);
	if (r < 0)
		return sx_why_fail(r, why, "cannot tell how much a socket holds: %s", strerror(-r));
	s->packet_bytes = frame_bytes;
	if ((size_t)got < s->packet_bytes + 64)
		s->packet_bytes = ((size_t)got - 64) & ~(size_t)7;
	return 0;
}

static int take_listener(struct sx_stream *s, const struct sx_stream_params *p, struct sx_why *why)
{
	int r;

	sx_must(s->listen, ==, -1);
	if (p->listen_fd >= 0) {
		r = sx_listener_check(p->listen_fd, why);
		s->listen = r < 0 ? -1 : p->listen_fd;
		return r;
	}
	s->listen = sx_listener_make(p->path, p->mode ? p->mode : 0660, p->group, why);
	if (s->listen >= 0)
		snprintf(s->path, sizeof(s->path), "%s", p->path);
	return s->listen < 0 ? s->listen : 0;
}

static int stream_watch(struct sx_stream *s, int op, int fd, unsigned events, uint32_t tag)
{
	struct epoll_event e = {.events = events, .data.u32 = tag};

	return epoll_ctl(s->epoll, op, fd, &e) < 0 ? -errno : 0;
}

static int make_loop(struct sx_stream *s)
{
	struct itimerspec t = {0};
	int r;

	sx_must(s->listen, >=, 0);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->epoll < 0 || s->wake < 0 || s->timer < 0)
		return -errno;
	t.it_value.tv_sec = t.it_interval.tv_sec = s->period_ms / 1000;
	t.it_value.tv_nsec = t.it_interval.tv_nsec = (long)(s->period_ms % 1000) * 1000000;
	if (timerfd_settime(s->timer, 0, &t, NULL) < 0)
		return -errno;
	r = stream_watch(s, EPOLL_CTL_ADD, s->listen, EPOLLIN, TAG_LISTEN);
	if (r == 0)
		r = stream_watch(s, EPOLL_CTL_ADD, s->wake, EPOLLIN, TAG_WAKE);
	if (r == 0)
		r = stream_watch(s, EPOLL_CTL_ADD, s->timer, EPOLLIN, TAG_TIMER);
	s->listening = true;
	return r;
}

int sx_stream_create(struct sx_stream **ret, const struct sx_stream_params *p, struct sx_why *why)
{
	struct sx_stream *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return sx_why_fail(-ENOMEM, why, "out of memory");
	s->epoll = s->listen = s->wake = s->timer = -1;
	s->epoch = p->epoch;
	s->period_ms = p->heartbeat_period_ms > 0 ? (uint32_t)p->heartbeat_period_ms : 1000;
	s->clients_max = p->clients > 0 && p->clients <= SX_STREAM_CLIENTS_MAX ? p->clients : 16;
	s->stall_ns = (int64_t)(p->stall_ms > 0 ? p->stall_ms : 10000) * 1000000;
	s->back = 0;
	atomic_init(&s->middle, 1);
	s->front = 2;
	for (int i = 0; i < SX_STREAM_CLIENTS_MAX; i++)
		s->client[i].fd = -1;
	r = measure_packet(s, p->frame_bytes, why);
	if (r < 0)
		goto fail;
	for (int i = 0; i < 3; i++) {
		s->buffer[i] = calloc(1, s->packet_bytes);
		if (!s->buffer[i]) {
			r = sx_why_fail(-ENOMEM, why, "out of memory");
			goto fail;
		}
	}
	r = take_listener(s, p, why);
	if (r < 0)
		goto fail;
	r = make_loop(s);
	if (r < 0) {
		sx_why_fail(r, why, "cannot watch the frame socket: %s", strerror(-r));
		goto fail;
	}
	*ret = s;
	return 0;
fail:
	if (p->listen_fd >= 0)
		s->listen = -1; /* on failure the descriptor remains the caller's */
	sx_stream_destroy(s);
	return r;
}

/* ---- frame thread ---- */

static void ring_main(struct sx_stream *s)
{
	sx_wake(s->wake);
}

void sx_stream_publish(struct sx_stream *s, const void *frame)
{
	struct stixel_frame_header h;
	uint8_t *to = s->buffer[s->back];

	sx_must_index(s->back, 3);
	memcpy(&h, frame, STIXEL_HEADER_BYTES_LEAST);
	sx_must(h.frame_bytes, >=, STIXEL_HEADER_BYTES_LEAST);
	if (h.frame_bytes <= s->packet_bytes) {
		memcpy(to, frame, h.frame_bytes);
	} else {
		if (sx_frame_shrink(to, s->packet_bytes, frame) < 0)
			return;
		atomic_fetch_add_explicit(&s->shrunk, 1, memory_order_relaxed);
	}
	s->back = atomic_exchange_explicit(&s->middle, s->back | FRESH, memory_order_acq_rel) & 3u;
	ring_main(s);
}

void sx_stream_set_state(struct sx_stream *s, enum stixel_state state)
{
	sx_must(state, <=, STIXEL_STATE_REPLACED);
	if (atomic_exchange_explicit(&s->state, (unsigned)state, memory_order_acq_rel) != (unsigned)state)
		ring_main(s);
}

/* ---- main thread: sending ---- */

static const struct stixel_frame_header *newest(const struct sx_stream *s)
{
	sx_must_index(s->front, 3);
	return (const struct stixel_frame_header *)s->buffer[s->front];
}

/*
 * Returns the number of frames that the client will not get any more: all before the newest frame that is
 * due.
 */
static uint64_t missed(const struct sx_stream *s, const struct client *c)
{
	return c->due & DUE_FRAME && newest(s)->number > c->last ? newest(s)->number - c->last - 1 : 0;
}

unsigned sx_stream_images(const struct sx_stream *s)
{
	return atomic_load_explicit(&s->images, memory_order_relaxed);
}

/* Recomputes the requested images. Call after a client came, went or changed its request. */
static void note_images(struct sx_stream *s)
{
	unsigned images = 0;

	for (int i = 0; i < s->clients_max; i++) {
		unsigned want = s->client[i].fd >= 0 ? s->client[i].hello.want : 0;

		if (want & STIXEL_WANT_DISPARITY)
			images |= 1u << STIXEL_PLANE_DISPARITY;
		if (want & STIXEL_WANT_LEFT)
			images |= 1u << STIXEL_PLANE_LEFT;
		if (want & STIXEL_WANT_RIGHT)
			images |= 1u << STIXEL_PLANE_RIGHT;
	}
	atomic_store_explicit(&s->images, images, memory_order_relaxed);
}

static void drop_client(struct sx_stream *s, struct client *c)
{
	sx_must(s->count.clients, >, 0);
	s->count.dropped += missed(s, c);
	sx_must(c->fd, >=, 0);
	close(c->fd); /* also removes it from the epoll set */
	c->fd = -1;
	s->count.clients--;
	note_images(s);
}

/* Returns 1 sent, 0 not now, negative errno: the client is gone. */
static int send_packet(const struct client *c, const void *packet, size_t bytes)
{
	sx_must(c->fd, >=, 0);
	if (send(c->fd, packet, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return 1;
	/* Treat a lack of memory like a full socket: the next frame comes soon. */
	return errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM || errno == EINTR ? 0 : -errno;
}

static int send_notice(struct sx_stream *s, const struct client *c)
{
	struct stixel_notice n = {
		.magic = STIXEL_NOTICE_MAGIC,
		.bytes = sizeof(n),
		.epoch = s->epoch,
		.head = newest(s)->number,
		.heartbeat_ns = sx_now_ns(),
		.state = atomic_load_explicit(&s->state, memory_order_acquire),
		.pid = (uint32_t)getpid(),
		.heartbeat_period_ms = s->period_ms,
	};

	return send_packet(c, &n, sizeof(n));
}

static int send_frame(struct sx_stream *s, struct client *c)
{
	const struct stixel_frame_header *h = newest(s);
	int r;

	if (h->number <= c->last)
		return 1;
	sx_must(h->frame_bytes, <=, s->packet_bytes);
	r = send_packet(c, h, h->frame_bytes);
	if (r != 1)
		return r;
	c->seen.dropped += missed(s, c);
	s->count.dropped += missed(s, c);
	c->seen.sent++;
	s->count.sent++;
	c->last = h->number;
	return 1;
}

/* Sends everything that is due, as far as possible without waiting. */
static void flush(struct sx_stream *s, uint32_t i)
{
	struct client *c = &s->client[i];
	int r = 1;

	sx_must_index(i, s->clients_max);
	if (c->due & DUE_NOTICE) {
		r = send_notice(s, c);
		if (r == 1)
			c->due &= ~(unsigned)DUE_NOTICE;
	}
	if (r == 1 && c->due & DUE_FRAME) {
		r = send_frame(s, c);
		if (r == 1)
			c->due &= ~(unsigned)DUE_FRAME;
	}
	if (r == 1)
		c->progress_ns = sx_now_ns();
	if (r >= 0 && c->watched != (c->due != 0)) {
		c->watched = c->due != 0;
		r = stream_watch(s, EPOLL_CTL_MOD, c->fd, c->watched ? EPOLLIN | EPOLLOUT : EPOLLIN, i);
	}
	if (r < 0)
		drop_client(s, c);
}

static void flush_all(struct sx_stream *s, unsigned want, unsigned due)
{
	sx_must(due, !=, 0);
	for (uint32_t i = 0; i < (uint32_t)s->clients_max; i++) {
		struct client *c = &s->client[i];

		if (c->fd < 0 || !(c->hello.want & want))
			continue;
		c->due |= due;
		flush(s, i);
	}
}

/* ---- main thread: receiving ---- */

/*
 * Finds a slot for a new client. If all are taken, drops the client that has not read for longest, if it
 * stalled long enough. NULL: none.
 */
static struct client *find_place(struct sx_stream *s)
{
	struct client *oldest = NULL;

	for (int i = 0; i < s->clients_max; i++) {
		struct client *c = &s->client[i];

		if (c->fd < 0)
			return c;
		if (c->due && (!oldest || c->progress_ns < oldest->progress_ns))
			oldest = c;
	}
	if (!oldest || sx_now_ns() - oldest->progress_ns < s->stall_ns)
		return NULL;
	drop_client(s, oldest);
	return oldest;
}

static void admit(struct sx_stream *s, int fd)
{
	struct client *c = find_place(s);
	struct ucred who = {0};
	socklen_t n = sizeof(who);

	if (!c) {
		s->count.refused++;
		close(fd);
		return;
	}
	sx_must(c->fd, ==, -1);
	size_buffer(fd, s->buffer_bytes);
	(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n);
	memset(c, 0, sizeof(*c));
	c->fd = fd;
	c->hello.want = STIXEL_WANT_FRAMES;
	c->last = newest(s)->number; /* a client without a hello begins with the next frame */
	c->progress_ns = sx_now_ns();
	c->seen.pid = who.pid;
	c->seen.uid = who.uid;
	s->count.accepted++;
	s->count.clients++;
	if (stream_watch(s, EPOLL_CTL_ADD, fd, EPOLLIN, (uint32_t)(c - s->client)) < 0)
		drop_client(s, c);
}

static void accept_all(struct sx_stream *s)
{
	int fd;

	/* Limited, so that a flood of connections cannot keep the loop from sending frames. */
	for (int i = 0; i < SX_STREAM_CLIENTS_MAX; i++) {
		fd = accept4(s->listen, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			admit(s, fd);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
			/* The socket stays readable and the loop would spin. The timer tries again. */
			s->listening = false;
			(void)stream_watch(s, EPOLL_CTL_MOD, s->listen, 0, TAG_LISTEN);
		}
		return;
	}
}

static bool good_hello(const struct stixel_hello *h, ssize_t n)
{
	const unsigned known = STIXEL_WANT_FRAMES | STIXEL_WANT_NOTICES | STIXEL_WANT_BELL |
			       STIXEL_WANT_DISPARITY | STIXEL_WANT_LEFT | STIXEL_WANT_RIGHT;

	return n == (ssize_t)sizeof(*h) && h->magic == STIXEL_HELLO_MAGIC && h->want && !(h->want & ~known);
}

static void hear(struct sx_stream *s, uint32_t i)
{
	struct client *c = &s->client[i];
	struct stixel_hello hello = {0};
	/* MSG_TRUNC returns the true length, even of a longer packet. */
	ssize_t n = recv(c->fd, &hello, sizeof(hello), MSG_DONTWAIT | MSG_TRUNC);

	sx_must(c->fd, >=, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (!good_hello(&hello, n)) {
		s->count.garbage += n > 0;
		drop_client(s, c);
		return;
	}
	c->hello = hello;
	note_images(s);
	c->seen.want = hello.want;
	if (hello.want & STIXEL_WANT_FRAMES && newest(s)->number && c->seen.sent == 0) {
		c->last = newest(s)->number - 1;
		c->due |= DUE_FRAME;
	}
	if (hello.want & (STIXEL_WANT_NOTICES | STIXEL_WANT_BELL))
		c->due |= DUE_NOTICE;
	flush(s, i);
}

/* ---- main thread: handlers of the loop ---- */

static void on_wake(struct sx_stream *s)
{
	unsigned state;
	uint64_t n;

	/* Clear the eventfd first: changes after this wake us again. */
	(void)!read(s->wake, &n, sizeof(n));
	state = atomic_load_explicit(&s->state, memory_order_acquire);
	if (atomic_load_explicit(&s->middle, memory_order_relaxed) & FRESH) {
		s->front = atomic_exchange_explicit(&s->middle, s->front, memory_order_acq_rel) & 3u;
		flush_all(s, STIXEL_WANT_BELL, DUE_NOTICE);
		flush_all(s, STIXEL_WANT_FRAMES, DUE_FRAME);
	}
	sx_must(state, <=, STIXEL_STATE_REPLACED);
	if (state != s->sent_state) {
		s->sent_state = state;
		flush_all(s, STIXEL_WANT_NOTICES | STIXEL_WANT_BELL, DUE_NOTICE);
	}
}

static void on_timer(struct sx_stream *s)
{
	uint64_t n;

	(void)!read(s->timer, &n, sizeof(n));
	flush_all(s, STIXEL_WANT_NOTICES | STIXEL_WANT_BELL, DUE_NOTICE);
	if (!s->listening && stream_watch(s, EPOLL_CTL_MOD, s->listen, EPOLLIN, TAG_LISTEN) == 0)
		s->listening = true;
}

static void on_client(struct sx_stream *s, uint32_t i, unsigned events)
{
	sx_must_index(i, SX_STREAM_CLIENTS_MAX);
	/*
	 * The client was dropped earlier in this round. A new client in its slot is not harmed by one more
	 * check.
	 */
	if (s->client[i].fd < 0)
		return;
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		hear(s, i);
	if (s->client[i].fd >= 0 && events & EPOLLOUT)
		flush(s, i);
}

void sx_stream_dispatch(struct sx_stream *s)
{
	struct epoll_event event[EVENTS];
	int n = epoll_wait(s->epoll, event, EVENTS, 0);

	for (int i = 0; i < n; i++) {
		uint32_t tag = event[i].data.u32;

		if (tag == TAG_LISTEN)
			accept_all(s);
		else if (tag == TAG_WAKE)
			on_wake(s);
		else if (tag == TAG_TIMER)
			on_timer(s);
		else
			on_client(s, tag, event[i].events);
	}
}

void sx_stream_disown(struct sx_stream *s)
{
	s->path[0] = 0;
}

void sx_stream_destroy(struct sx_stream *s)
{
	if (!s)
		return;
	if (s->wake >= 0) {
		/* The last frame is sent before the end state. */
		sx_stream_set_state(s, STIXEL_STATE_CLOSED);
		on_wake(s);
	}
	for (int i = 0; i < SX_STREAM_CLIENTS_MAX; i++)
		if (s->client[i].fd >= 0)
			drop_client(s, &s->client[i]);
	sx_must(s->count.clients, ==, 0);
	if (s->path[0])
		unlink(s->path);
	if (s->listen >= 0)
		close(s->listen);
	if (s->wake >= 0)
		close(s->wake);
	if (s->timer >= 0)
		close(s->timer);
	if (s->epoll >= 0)
		close(s->epoll);
	for (int i = 0; i < 3; i++)
		free(s->buffer[i]);
	free(s);
}

int sx_stream_fd(const struct sx_stream *s)
{
	return s->epoll;
}

void sx_stream_counters(const struct sx_stream *s, struct sx_stream_counters *ret)
{
	*ret = s->count;
	for (int i = 0; i < s->clients_max; i++)
		if (s->client[i].fd >= 0)
			ret->dropped += missed(s, &s->client[i]);
	ret->shrunk = atomic_load_explicit(&s->shrunk, memory_order_relaxed);
}

int sx_stream_clients(const struct sx_stream *s, struct sx_stream_client *ret, int room)
{
	int n = 0;

	sx_must(room, >=, 0);
	for (int i = 0; i < s->clients_max; i++)
		if (s->client[i].fd >= 0 && n < room) {
			ret[n] = s->client[i].seen;
			ret[n].want = s->client[i].hello.want;
			ret[n++].dropped += missed(s, &s->client[i]);
		}
	return s->count.clients;
}

size_t sx_stream_packet_bytes(const struct sx_stream *s)
{
	return s->packet_bytes;
}
