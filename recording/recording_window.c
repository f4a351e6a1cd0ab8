/*
 * One window of memory on the file. It grows so that a whole chunk lies in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "recording/recording_priv.h"

#define WINDOW_MIN ((size_t)256 << 10)
/* Most bytes of one read, so that r->wait is called often even if the window has become large. */
#define READ_MAX ((size_t)4 << 20)

static int make_room(struct sx_recording *r, size_t bytes)
{
	size_t room = r->room;
	uint8_t *p;

	sx_must(r->end, <=, r->room);
	if (r->begin) {
		memmove(r->window, r->window + r->begin, r->end - r->begin);
		r->end -= r->begin;
		r->begin = 0;
	}
	while (room < bytes)
		room = room ? 2 * room : WINDOW_MIN;
	if (room == r->room)
		return 0;
	p = realloc(r->window, room);
	if (!p)
		return -ENOMEM;
	r->window = p;
	r->room = room;
	return 0;
}

int64_t sx_window_need(struct sx_recording *r, uint64_t bytes)
{
	while (r->end - r->begin < bytes && !r->eof) {
		size_t room;
		ssize_t n;

		if (r->room - r->begin < bytes) {
			int e = make_room(r, bytes);

			if (e < 0)
				return e;
		}
		if (r->wait) {
			int e = r->wait(r->user, r->fd);

			if (e < 0)
				return e;
		}
		room = r->room - r->end;
		sx_must(room, >, 0);
		n = read(r->fd, r->window + r->end, room < READ_MAX ? room : READ_MAX);
		if (n < 0)
			return -errno;
		r->eof = n == 0;
		r->end += (size_t)n;
	}
	return (int64_t)(r->end - r->begin);
}

const uint8_t *sx_window_at(const struct sx_recording *r)
{
	sx_must(r->begin, <=, r->end);
	return r->window + r->begin;
}

void sx_window_pass(struct sx_recording *r, uint64_t bytes)
{
	sx_must(bytes, <=, r->end - r->begin);
	r->begin += bytes;
	r->state.offset += bytes;
}

int64_t sx_window_skip(struct sx_recording *r, uint64_t bytes)
{
	uint64_t left = bytes;

	while (left) {
		int64_t have = sx_window_need(r, left < WINDOW_MIN ? left : WINDOW_MIN);

		if (have <= 0)
			return have < 0 ? have : (int64_t)(bytes - left);
		if ((uint64_t)have > left)
			have = (int64_t)left;
		if (r->crc_good)
			r->crc = sx_mcap_crc(r->crc, sx_window_at(r), (size_t)have);
		sx_must(have, >, 0);
		sx_window_pass(r, (uint64_t)have);
		left -= (uint64_t)have;
	}
	return (int64_t)bytes;
}

int sx_window_back(struct sx_recording *r, uint64_t offset)
{
	sx_must(r->begin, <=, r->end);
	if (offset <= r->state.offset && r->state.offset - offset <= r->begin) {
		r->begin -= r->state.offset - offset;
		r->state.offset = offset;
		r->eof = false;
		return 0;
	}
	if (lseek(r->fd, (off_t)offset, SEEK_SET) < 0)
		return -errno;
	r->begin = r->end = 0;
	r->eof = false;
	r->state.offset = offset;
	return 0;
}

int sx_window_jump(struct sx_recording *r, uint64_t offset)
{
	int e = sx_window_back(r, offset);

	if (e < 0)
		return e;
	r->lost = r->after_chunk = false;
	r->before_at = r->bad_before_at = 0;
	r->bad_why = NULL;
	r->fresh = offset == 0;
	r->crc = 0;
	r->crc_good = offset == 0;
	r->summary_at = r->chunk_bytes = r->skip_bytes = 0;
	r->missing = 0;
	r->checked_to = r->looked_at = 0;
	if (offset == 0)
		r->vain = r->expanded = r->given = 0;
	r->state.ended = false;
	return 0;
}
