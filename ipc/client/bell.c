/*
 * Reader's connection to frames.sock beside a ring: a bell for poll(), and a channel to request images.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "base/clock.h"
#include "base/contract.h"
#include "ipc/client/reader.h"

#define WANT_IMAGES (STIXEL_WANT_DISPARITY | STIXEL_WANT_LEFT | STIXEL_WANT_RIGHT)

int sx_reader_connect(struct stixel_reader *r, struct sx_link *l, unsigned want)
{
	/* the error to return: the first one other than ENOENT, if a folder gives one */
	int e, first = -ENOENT;

	sx_must_or(return -EINVAL, want, !=, 0);
	for (int i = 0; i < SX_RUNTIME_DIRS; i++) {
		if (!r->socket_path[i][0])
			continue;
		e = sx_link_connect(l, r->socket_path[i], want);
		if (!sx_runtime_dir_passed(e))
			return e;
		if (first == -ENOENT)
			first = e;
	}
	return first;
}

/*
 * Opens the bell connection. Tries the path from the ring's header first. In a container that path may
 * differ, so the instance's usual runtime directories follow.
 */
static int open_bell(struct stixel_reader *r)
{
	sx_must_or(return -ENOTCONN, r->bell.fd, ==, -1);
	r->bell_ns = sx_now_ns();
	if (!r->map.header.stream_path[0] ||
	    (sx_link_connect(&r->bell, r->map.header.stream_path, r->bell_want) < 0 &&
	     sx_reader_connect(r, &r->bell, r->bell_want) < 0))
		return -ENOTCONN;
	return 0;
}

int sx_bell_want(struct stixel_reader *r, unsigned want)
{
	sx_must_or(return -ENOTCONN, sx_reader_streams(r), ==, false);
	if (r->bell.fd >= 0 && r->bell_want != want && (!want || sx_link_want(&r->bell, want) < 0))
		sx_link_close(&r->bell);
	r->bell_want = want;
	return r->bell.fd >= 0 || !want ? 0 : open_bell(r);
}

void sx_bell_renew(struct stixel_reader *r)
{
	if (r->bell_want & WANT_IMAGES)
		open_bell(r);
}

bool sx_bell_drain(struct stixel_reader *r)
{
	if (r->bell.fd < 0 || sx_link_drain(&r->bell) >= 0)
		return false;
	sx_link_close(&r->bell);
	return true;
}

void sx_bell_keep(struct stixel_reader *r)
{
	sx_must_or(return, sx_reader_streams(r), ==, false);
	if (!(r->bell_want & WANT_IMAGES) || sx_now_ns() - r->bell_ns < SX_SLICE_NS)
		return;
	r->bell_ns = sx_now_ns();
	sx_bell_drain(r);
	if (r->bell.fd < 0)
		open_bell(r);
}

int stixel_want_images(struct stixel_reader *r, unsigned kinds)
{
	const unsigned known =
		1u << STIXEL_PLANE_DISPARITY | 1u << STIXEL_PLANE_LEFT | 1u << STIXEL_PLANE_RIGHT;
	unsigned what;
	int e;

	if (!r || kinds & ~known)
		return -EINVAL;
	if (sx_reader_streams(r))
		return kinds ? -ENOTSUP : 0;
	what = (r->bell_want & ~WANT_IMAGES) |
	       (kinds & 1u << STIXEL_PLANE_DISPARITY ? STIXEL_WANT_DISPARITY : 0) |
	       (kinds & 1u << STIXEL_PLANE_LEFT ? STIXEL_WANT_LEFT : 0) |
	       (kinds & 1u << STIXEL_PLANE_RIGHT ? STIXEL_WANT_RIGHT : 0);
	if (!sx_reader_attached(r)) {
		r->bell_want = what;
		return r->flags & STIXEL_OPEN_FOLLOW || !kinds ? 0 : -ENOTCONN;
	}
	e = sx_bell_want(r, what);
	return r->flags & STIXEL_OPEN_FOLLOW ? 0 : e;
}
