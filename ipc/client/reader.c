/*
 * Public interface of libstixel's reader, over ring or stream. Goes over to new publishers if opened with
 * FOLLOW.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/client/reader.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/runtime_dirs.h"
#include "ipc/check.h"
#include "ipc/instance.h"

#define FLAGS_KNOWN (STIXEL_OPEN_FOLLOW | STIXEL_OPEN_STREAM | STIXEL_OPEN_LEFTOVER | STIXEL_OPEN_ANY_OWNER)
/* attempts to copy a frame that the writer keeps overwriting; the last one tries the newest frame */
#define TRIES 4
#define AHEAD_NS INT64_C(1000000) /* a slot that is ahead of head for longer is damaged */
#define PACKETS 64 /* most packets read by one call: a publisher without a pause must not block the caller */

static void detach(struct stixel_reader *r)
{
	sx_link_close(&r->link);
	sx_link_close(&r->bell);
	sx_map_detach(&r->map);
}

/* ---- finding the publisher ---- */

/*
 * Starts to count frames of this epoch after frame `last`. A reader that was open before the publisher
 * started also gets its first frames.
 */
static void enter(struct stixel_reader *r, uint64_t epoch, uint64_t last)
{
	if (epoch == r->epoch)
		return;
	r->epoch = epoch;
	r->last = last;
	r->ahead = 0; /* belonged to the previous publisher's numbers */
	r->lives++;
	r->count.restarts = r->lives - 1;
}

static int attach(struct stixel_reader *r)
{
	uint64_t head;
	int e;

	sx_must_or(return -EINVAL, sx_reader_attached(r), ==, false);
	r->ended = 0;
	if (sx_reader_streams(r))
		return sx_reader_connect(r, &r->link, STIXEL_WANT_FRAMES | STIXEL_WANT_NOTICES);
	e = sx_map_attach(&r->map, r->ring_path, r->flags);
	if (e < 0)
		return e;
	head = sx_map_head(&r->map);
	enter(r, r->map.header.epoch, !r->opened && head ? head - 1 : 0);
	r->health_ns = sx_now_ns();
	sx_bell_renew(r);
	return 0;
}

/*
 * Returns 0 on success, also without a publisher if the reader follows. Negative errno: waiting would not
 * help.
 */
static int attach_or_wait(struct stixel_reader *r)
{
	int e = attach(r);

	if ((r->flags & STIXEL_OPEN_FOLLOW) &&
	    (e == -ENOENT || e == -EPIPE || e == -EAGAIN || e == -ENOBUFS)) /* ENOBUFS passes in a moment */
		return 0;
	return e;
}

static int gone(struct stixel_reader *r, int error)
{
	if (!(r->flags & STIXEL_OPEN_FOLLOW)) {
		r->ended = error;
		return error;
	}
	detach(r);
	return attach_or_wait(r);
}

/* ---- ring ---- */

/*
 * Returns 1: frames came; 0: none; or the error of a publisher that is gone. bell_ended: the publisher closed
 * the bell connection.
 */
static int ring_idle(struct stixel_reader *r, bool bell_ended)
{
	struct pollfd pid = {.fd = r->map.pid_fd, .events = POLLIN};
	int64_t now_ns = sx_now_ns();
	enum stixel_publisher health;
	uint32_t state = sx_map_state(&r->map);

	sx_must_or(return -EINVAL, sx_reader_streams(r), ==, false);
	if (r->ended)
		return r->ended;
	if (!bell_ended && state < STIXEL_STATE_CLOSED && now_ns - r->health_ns < SX_HEALTH_NS)
		return 0;
	if (bell_ended && pid.fd >= 0)
		poll(&pid, 1, 20); /* a dying process closes its sockets a moment before it is dead */
	r->health_ns = now_ns;
	health = sx_map_health(&r->map, r->ring_path, now_ns);
	if (health == STIXEL_PUBLISHER_ALIVE || health == STIXEL_PUBLISHER_STALLED)
		return 0;
	if (sx_map_head(&r->map) > r->last) /* published before the publisher ended */
		return 1;
	if (health == STIXEL_PUBLISHER_REPLACED)
		return gone(r, -ESTALE);
	return gone(r, sx_map_cut(&r->map) ? -EPROTO : -EPIPE);
}

/*
 * Returns 1 if head is past the last frame taken. Empties the bell first, so that later frames ring it again.
 */
static int ring_ready(struct stixel_reader *r)
{
	bool ended;
	int e;

	sx_must_or(return -EINVAL, sx_reader_attached(r), ==, true);
	if (sx_map_head(&r->map) > r->last)
		return 1;
	ended = sx_bell_drain(r);
	if (sx_map_head(&r->map) > r->last)
		return 1;
	e = ring_idle(r, ended);
	return e == 0 && sx_reader_attached(r) && sx_map_head(&r->map) > r->last ? 1 : e;
}

/*
 * Handles a newest slot that was ahead of head at every attempt. A live publisher advances head at once. If
 * head stays the same for AHEAD_NS, the slot is damaged.
 */
static int ring_ahead(struct stixel_reader *r, uint64_t head, uint64_t *missed)
{
	const int64_t now_ns = sx_now_ns();

	sx_must_or(return -EINVAL, sx_reader_streams(r), ==, false);
	if (r->ahead != head) {
		r->ahead = head;
		r->ahead_ns = now_ns;
	}
	if (now_ns - r->ahead_ns < AHEAD_NS)
		return 0;
	*missed = head - r->last - 1;
	r->last = head;
	return -EBADMSG;
}

static int ring_take(struct stixel_reader *r, bool next, uint64_t *missed)
{
	uint64_t head = 0, n;
	int e = ring_ready(r);

	sx_must_or(return -EINVAL, sx_reader_streams(r), ==, false);
	if (e != 1)
		return e;
	sx_bell_keep(r);
	for (int try = 0; try < TRIES; try++) {
		head = sx_map_head(&r->map);
		if (head <= r->last) /* head went back, which no publisher does */
			return 0;
		n = head;
		if (next && try < TRIES - 1) {
			n = sx_map_oldest(&r->map, head);
			n = n > r->last + 1 ? n : r->last + 1;
		}
		e = sx_map_read(&r->map, n, &r->buffer, &r->frame);
		if (e == -EAGAIN) {
			r->count.overruns++;
			continue;
		}
		if (e == -EPROTO)
			return gone(r, e);
		if (e < 0 && e != -EBADMSG)
			return e;
		*missed = n - r->last - 1;
		r->last = n;
		return e < 0 ? e : 1;
	}
	return ring_ahead(r, head, missed);
}

/* ---- stream ---- */

static int stream_ended(struct stixel_reader *r)
{
	/* The connection was closed before the first notice: a server with too many clients does this. */
	return gone(r, r->link.notice.magic == 0 && r->epoch == 0 ? -EAGAIN : -EPIPE);
}

static int stream_ready(struct stixel_reader *r, size_t *bytes)
{
	int e = sx_link_peek(&r->link, bytes);

	return e == SX_PACKET_FRAME ? 1 : e < 0 ? stream_ended(r) : 0;
}

/* Computes the number of frames missed before this one. False: the reader has this frame already. */
static bool stream_enter(struct stixel_reader *r, uint64_t *missed)
{
	const struct stixel_frame_header *h = r->frame.header;
	uint64_t before = 0;

	sx_must_or(return false, sx_reader_streams(r), ==, true);
	if (r->joined && r->link.notice.magic) /* the publisher answers the hello before it sends a frame */
		before = r->link.head ? r->link.head - 1 : 0;
	else if (r->joined)
		before = h->number - 1;
	enter(r, h->epoch, before);
	r->joined = false;
	if (h->number <= r->last)
		return false;
	*missed = h->number - r->last - 1;
	r->last = h->number;
	if (h->published_ns > r->link.heard_ns)
		r->link.heard_ns = h->published_ns;
	return true;
}

static int stream_take(struct stixel_reader *r, bool next, uint64_t *missed)
{
	int e, got = 0;
	size_t bytes;

	sx_must_or(return -EINVAL, sx_reader_streams(r), ==, true);
	e = stream_ready(r, &bytes);
	for (int i = 0; e == 1 && i < PACKETS; i++) {
		int n = sx_link_take(&r->link, &r->buffer, bytes);

		if (n < 0 && got == 0)
			return n;
		if (n < 0) /* the previous packet is still in the buffer */
			break;
		got = n;
		if (next)
			break;
		e = sx_link_peek(&r->link, &bytes) == SX_PACKET_FRAME;
	}
	if (got <= 0)
		return e < 0 ? e : 0;
	if (sx_frame_check(&r->frame, r->buffer.bytes, (size_t)got) < 0)
		return -EBADMSG;
	return stream_enter(r, missed) ? 1 : 0;
}

/* ---- interface ---- */

static int reader_take(struct stixel_reader *r, const struct stixel_frame **frame, bool next,
		       uint64_t *missed)
{
	int e;

	sx_must_or(return -EINVAL, r->opened, ==, true);
	*missed = 0;
	if (!sx_reader_attached(r)) {
		if (!(r->flags & STIXEL_OPEN_FOLLOW))
			return -EPIPE;
		e = attach_or_wait(r);
		if (e < 0 || !sx_reader_attached(r))
			return e;
	}
	e = sx_reader_streams(r) ? stream_take(r, next, missed) : ring_take(r, next, missed);
	if (e == 1) {
		r->count.taken++;
		*frame = &r->frame;
	} else if (e == -EBADMSG) {
		r->count.corrupt++;
	}
	return e;
}

int stixel_latest(struct stixel_reader *r, const struct stixel_frame **frame)
{
	uint64_t missed;
	int e;

	if (!r || !frame)
		return -EINVAL;
	e = reader_take(r, frame, false, &missed);
	r->count.skipped += missed;
	return e;
}

int stixel_next(struct stixel_reader *r, const struct stixel_frame **frame, uint64_t *lost)
{
	uint64_t missed;
	int e;

	if (!r || !frame)
		return -EINVAL;
	e = reader_take(r, frame, true, &missed);
	r->count.lost += missed;
	if (lost)
		*lost = missed;
	return e;
}

static int64_t slice_end(int64_t deadline_ns, int64_t slice_ns)
{
	int64_t end_ns = sx_now_ns() + slice_ns;

	sx_must_or(return deadline_ns, slice_ns, >, 0);
	return end_ns < deadline_ns ? end_ns : deadline_ns;
}

/* Sleeps on the publisher's socket. fd -1: just sleeps, without a publisher. */
static int sleep_on(int fd, int64_t until_ns)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int64_t left_ns = until_ns - sx_now_ns();
	struct timespec t;

	if (left_ns <= 0)
		return 0;
	t.tv_sec = left_ns / SX_NS_PER_S;
	t.tv_nsec = left_ns % SX_NS_PER_S;
	return ppoll(&p, fd >= 0 ? 1 : 0, &t, NULL) < 0 && errno == EINTR ? -EINTR : 0;
}

/* Checks once. Returns 1 ready, 0 after a sleep of one slice, or negative errno. */
static int wait_once(struct stixel_reader *r, int64_t deadline_ns)
{
	uint32_t bell = 0;
	size_t bytes;
	int e;

	sx_must_or(return -EINVAL, r->opened, ==, true);
	if (!sx_reader_attached(r)) {
		if (!(r->flags & STIXEL_OPEN_FOLLOW))
			return -EPIPE;
		e = attach_or_wait(r);
		if (e < 0)
			return e;
		if (!sx_reader_attached(r))
			return sleep_on(-1, slice_end(deadline_ns, SX_HEALTH_NS));
	}
	if (sx_reader_streams(r)) {
		e = stream_ready(r, &bytes);
		if (e != 0 || !sx_reader_attached(r))
			return e;
		return sleep_on(r->link.fd, slice_end(deadline_ns, SX_SLICE_NS));
	}
	/* Read the bell before the test: if it rings in between, the sleep does not begin. */
	bell = sx_map_bell(&r->map);
	e = ring_ready(r);
	if (e != 0 || !sx_reader_attached(r) || sx_map_bell(&r->map) != bell)
		return e;
	return sx_map_sleep(&r->map, bell, slice_end(deadline_ns, SX_SLICE_NS));
}

int stixel_wait(struct stixel_reader *r, int timeout_ms)
{
	int64_t deadline_ns;
	bool last = false;
	int e;

	if (!r)
		return -EINVAL;
	sx_must_or(return -EINVAL, r->opened, ==, true);
	deadline_ns = timeout_ms < 0 ? INT64_MAX : sx_now_ns() + (int64_t)timeout_ms * 1000000;
	for (;;) {
		e = wait_once(r, deadline_ns);
		if (e != 0 || last)
			return e;
		/* Check once more after the timeout: a frame may have arrived in the meantime. */
		last = sx_now_ns() >= deadline_ns;
	}
}

int stixel_fd(struct stixel_reader *r)
{
	int e;

	if (!r)
		return -EINVAL;
	sx_must_or(return -EINVAL, r->opened, ==, true);
	if (!sx_reader_attached(r) && (r->flags & STIXEL_OPEN_FOLLOW)) {
		e = attach_or_wait(r);
		if (e < 0)
			return e;
	}
	if (sx_reader_streams(r))
		return sx_reader_attached(r) ? r->link.fd : -ENOTCONN;
	if (!sx_reader_attached(r) || !r->map.header.stream_path[0])
		return -ENOTCONN;
	if (sx_bell_want(r, r->bell_want | STIXEL_WANT_NOTICES | STIXEL_WANT_BELL) < 0)
		return -ENOTCONN;
	return r->bell.fd;
}

/*
 * Formats a path into `to`. The caller has checked that it fits; else the path is left empty, which means
 * none.
 */
__attribute__((format(printf, 3, 4))) static void set_path(char *to, size_t room, const char *format, ...)
{
	va_list list;
	int n;

	sx_must_or(return, room, >, 0);
	va_start(list, format);
	n = vsnprintf(to, room, format, list);
	va_end(list);
	sx_must_or(to[0] = 0, (size_t)n, <, room);
}

static struct stixel_reader *reader_new(unsigned flags)
{
	struct stixel_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->flags = flags;
	r->map.fd = r->map.pid_fd = r->link.fd = r->bell.fd = -1;
	return r;
}

static int reader_start(struct stixel_reader **ret, struct stixel_reader *r)
{
	int e = attach_or_wait(r);

	sx_must_or(return -EINVAL, r->opened, ==, false);
	if (e < 0) {
		stixel_close(r);
		return e == -EPIPE ? -ENOENT : e;
	}
	r->opened = true;
	r->joined = sx_reader_attached(r);
	*ret = r;
	return 0;
}

int stixel_open(struct stixel_reader **ret, const char *instance, unsigned flags)
{
	struct stixel_reader *r;

	if (!ret || (flags & ~FLAGS_KNOWN) || sx_instance_check(instance, NULL) < 0)
		return -EINVAL;
	r = reader_new(flags);
	if (!r)
		return -ENOMEM;
	set_path(r->ring_path, sizeof(r->ring_path), "/dev/shm/stixeld.%s", instance);
	/* the path stays empty if this system has no such folder */
	for (int place = 0; place < SX_RUNTIME_DIRS; place++)
		sx_runtime_dir_path((enum sx_runtime_dir)place, instance, SX_FRAMES_SOCKET,
				    r->socket_path[place], sizeof(r->socket_path[place]));
	return reader_start(ret, r);
}

int stixel_open_path(struct stixel_reader **ret, const char *path, unsigned flags)
{
	const size_t room = sizeof(((struct stixel_reader *)0)->socket_path[0]);
	bool stream = flags & STIXEL_OPEN_STREAM;
	struct stixel_reader *r;

	if (!ret || !path || !path[0] || (flags & ~FLAGS_KNOWN))
		return -EINVAL;
	if (strlen(path) >= (stream ? room : PATH_MAX))
		return -ENAMETOOLONG;
	r = reader_new(flags);
	if (!r)
		return -ENOMEM;
	if (stream)
		set_path(r->socket_path[0], room, "%s", path);
	else
		set_path(r->ring_path, sizeof(r->ring_path), "%s", path);
	return reader_start(ret, r);
}

void stixel_close(struct stixel_reader *r)
{
	if (!r)
		return;
	detach(r);
	free(r->buffer.bytes);
	free(r);
}

int stixel_reopen(struct stixel_reader *r)
{
	int e;

	if (!r)
		return -EINVAL;
	detach(r);
	e = attach_or_wait(r);
	return e == -EPIPE ? -ENOENT : e;
}
