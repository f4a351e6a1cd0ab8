/*
 * Status of a reader: its publisher's health and its own counters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "ipc/client/reader.h"

static void status_of_stream(struct stixel_reader *r, struct stixel_status *s, int64_t now_ns)
{
	const struct stixel_notice *n = &r->link.notice;
	int64_t period_ms = n->magic && n->heartbeat_period_ms ? n->heartbeat_period_ms : 1000;
	size_t bytes;

	sx_must_or(return, r->link.fd, >=, 0);
	if (sx_link_peek(&r->link, &bytes) == -EPIPE) {
		s->publisher = STIXEL_PUBLISHER_DIED;
		s->state = n->state;
		if (n->state == STIXEL_STATE_CLOSED)
			s->publisher = STIXEL_PUBLISHER_ENDED;
		return;
	}
	s->state = n->state;
	s->epoch = n->magic ? n->epoch : r->epoch;
	s->head = n->magic && n->head > r->last ? n->head : r->last;
	s->pid = n->pid;
	s->heartbeat_age_ns = now_ns - r->link.heard_ns;
	s->publisher = s->heartbeat_age_ns > 3 * period_ms * 1000000 ? STIXEL_PUBLISHER_STALLED
								     : STIXEL_PUBLISHER_ALIVE;
}

static void status_of_ring(struct stixel_reader *r, struct stixel_status *s, int64_t now_ns)
{
	int64_t beat_ns = sx_map_beat_ns(&r->map);

	sx_must_or(return, r->map.fd, >=, 0);
	s->publisher = sx_map_health(&r->map, r->ring_path, now_ns);
	s->state = sx_map_state(&r->map);
	s->epoch = r->map.header.epoch;
	s->head = sx_map_head(&r->map);
	s->pid = r->map.header.pid;
	s->heartbeat_age_ns = beat_ns > 0 && beat_ns <= now_ns ? now_ns - beat_ns : 0;
	memcpy(s->version, r->map.header.version, sizeof(s->version));
}

int stixel_status(struct stixel_reader *r, struct stixel_status *status, size_t bytes)
{
	struct stixel_status s;
	int64_t now_ns = sx_now_ns();

	if (!r || !status)
		return -EINVAL;
	s = r->count;
	s.heartbeat_age_ns = INT64_MAX;
	if (!sx_reader_attached(r))
		s.publisher = STIXEL_PUBLISHER_ABSENT;
	else if (sx_reader_streams(r))
		status_of_stream(r, &s, now_ns);
	else
		status_of_ring(r, &s, now_ns);
	memset(status, 0, bytes);
	memcpy(status, &s, bytes < sizeof(s) ? bytes : sizeof(s));
	return 0;
}
