/*
 * The index at the end of a finished recording.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording/recording_priv.h"

#define SUMMARY_MAX (UINT64_C(1) << 30)

/* Bytes [at, at + bytes) of the file, to be freed; NULL: they cannot be had. */
static uint8_t *read_at(const struct sx_recording *r, uint64_t at, uint64_t bytes)
{
	uint8_t *to;
	uint64_t n = 0;

	if (at > r->state.total_bytes || bytes > r->state.total_bytes - at || bytes > SUMMARY_MAX)
		return NULL;
	to = malloc(bytes ? bytes : 1);
	while (to && n < bytes) {
		ssize_t more = pread(r->fd, to + n, bytes - n, (off_t)(at + n));

		if (more <= 0) {
			free(to);
			return NULL;
		}
		n += (uint64_t)more;
	}
	return to;
}

/* The summary, up to the checksum in the footer; NULL: there is none, or it is damaged. */
static uint8_t *read_summary(const struct sx_recording *r, size_t *bytes)
{
	const uint64_t tail = SX_MCAP_HEAD_BYTES + SX_MCAP_FOOTER_BYTES + SX_MCAP_MAGIC_BYTES;
	const uint64_t total = r->state.total_bytes;
	uint8_t *end = total < tail ? NULL : read_at(r, total - tail, tail), *summary = NULL;
	struct sx_cursor in = {end, tail, false};
	uint64_t start, crc;

	if (!end)
		return NULL;
	in.failed = sx_cursor_number(&in, 1) != SX_MCAP_FOOTER ||
		    sx_cursor_number(&in, 8) != SX_MCAP_FOOTER_BYTES;
	start = sx_cursor_number(&in, 8);
	sx_cursor_number(&in, 8);
	crc = sx_cursor_number(&in, 4);
	if (!in.failed && memcmp(in.at, SX_MCAP_MAGIC, SX_MCAP_MAGIC_BYTES) == 0 && start &&
	    start <= total - tail) {
		*bytes = (size_t)(total - SX_MCAP_MAGIC_BYTES - 4 - start);
		summary = read_at(r, start, *bytes);
	}
	free(end);
	if (summary && crc && sx_mcap_crc(0, summary, *bytes) != crc) {
		free(summary);
		return NULL;
	}
	return summary;
}

static bool take_place(struct sx_recording *r, struct sx_span content, size_t *room)
{
	struct sx_cursor in = {content.at, content.bytes, false};
	struct chunk_place place, *more;

	place.start_ns = sx_cursor_number(&in, 8);
	sx_cursor_number(&in, 8);
	place.offset = sx_cursor_number(&in, 8);
	if (in.failed || place.offset >= r->state.total_bytes)
		return false;
	if (r->place_count == *room) {
		*room = *room ? 2 * *room : 64;
		more = realloc(r->places, *room * sizeof(*more));
		if (!more)
			return false;
		r->places = more;
	}
	r->places[r->place_count++] = place;
	return true;
}

static bool take_summary(struct sx_recording *r, struct sx_cursor in)
{
	size_t room = 0;

	/* behind it, the part of the footer that was read */
	while (in.left > SX_MCAP_HEAD_BYTES + 16) {
		const struct sx_mcap_record rec = sx_mcap_head(sx_cursor_take(&in, SX_MCAP_HEAD_BYTES).at);
		const struct sx_span content = sx_cursor_take(&in, rec.bytes);

		if (in.failed)
			return false;
		if (rec.op == SX_MCAP_CHANNEL)
			sx_content_channel(r, content);
		else if (rec.op == SX_MCAP_CHUNK_INDEX && !take_place(r, content, &room))
			return false;
	}
	return true;
}

/* The chunk of the recording's end, if it is whole, and one of ours: it has nothing else. */
static void take_end(struct sx_recording *r)
{
	const uint64_t at = r->places[r->place_count - 1].offset, left = r->state.total_bytes - at;
	uint8_t *bytes = read_at(r, at, left < 65536 ? left : 65536);
	struct sx_mcap_record rec = {0, 0};
	struct sx_cursor in = {NULL, 0, true};
	struct sx_mcap_chunk c;
	struct sx_record record; /* damage is told, and counted, when it is read */
	const uint64_t places = r->state.damaged_places, damaged = r->state.damaged_bytes;

	if (bytes && left >= SX_MCAP_HEAD_BYTES)
		rec = sx_mcap_head(bytes);
	if (rec.op == SX_MCAP_CHUNK && rec.bytes <= (left < 65536 ? left : 65536) - SX_MCAP_HEAD_BYTES &&
	    sx_mcap_parse_chunk(&c, bytes + SX_MCAP_HEAD_BYTES, rec.bytes) && c.plain_bytes <= 65536)
		sx_content_records(r, &c, &in); /* else in stays as it is */
	while (!in.failed && in.left >= SX_MCAP_HEAD_BYTES && !r->state.end_known) {
		struct sx_span content;

		rec = sx_mcap_head(sx_cursor_take(&in, SX_MCAP_HEAD_BYTES).at);
		content = sx_cursor_take(&in, rec.bytes);
		if (!in.failed && rec.op == SX_MCAP_MESSAGE && content.bytes > 2 &&
		    r->role[content.at[0] | content.at[1] << 8] == ROLE_EVENTS)
			sx_content_message(r, content, &record);
	}
	r->state.damaged_places = places;
	r->state.damaged_bytes = damaged;
	free(bytes);
}

void sx_summary_read(struct sx_recording *r)
{
	size_t bytes = 0;
	uint8_t *summary = read_summary(r, &bytes);

	if (!summary)
		return;
	r->state.indexed = take_summary(r, (struct sx_cursor){summary, bytes, false});
	free(summary);
	if (!r->state.indexed) {
		r->place_count = 0;
		return;
	}
	if (r->place_count) {
		r->state.first_time_ns = (int64_t)r->places[0].start_ns;
		take_end(r);
		r->place_count -= r->state.end_known && r->place_count > 1; /* no frame is there */
	}
}
