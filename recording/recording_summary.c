/*
 * Reads the index at the end of a finished recording, and finds places by it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "recording/recording_priv.h"

#define SUMMARY_MAX (UINT64_C(64) << 20)
/* Most bytes at once, because r->wait is called between two reads. */
#define READ_MAX ((uint64_t)4 << 20)

/* Reads bytes [at, at + bytes) of the file. The caller frees them. NULL: they cannot be read. */
static uint8_t *read_at(struct sx_recording *r, uint64_t at, uint64_t bytes)
{
	uint8_t *to;
	uint64_t n = 0;
	ssize_t more;

	if (at > r->state.total_bytes || bytes > r->state.total_bytes - at || bytes > SUMMARY_MAX)
		return NULL;
	to = malloc(bytes ? bytes : 1);
	while (to && n < bytes) {
		const uint64_t left = bytes - n;

		more = sx_recording_request(r, left < READ_MAX ? left : READ_MAX) < 0
			       ? 0
			       : pread(r->fd, to + n, left < READ_MAX ? left : READ_MAX, (off_t)(at + n));
		if (more <= 0) {
			free(to);
			return NULL;
		}
		n += (uint64_t)more;
	}
	return to;
}

int sx_recording_hides_chunk(struct sx_recording *r, uint64_t from, uint64_t to)
{
	/* the rest of a head that begins at the last byte */
	const size_t behind = SX_MCAP_HEAD_BYTES + SX_MCAP_CHUNK_BYTES + 8 - 1;
	uint8_t piece[16384];

	for (size_t places = sizeof(piece) - behind; from < to; from += places) {
		const uint8_t *at = piece, *end;
		ssize_t n;
		int e;

		if (places > to - from)
			places = (size_t)(to - from);
		e = sx_recording_request(r, places);
		if (e < 0)
			return e;
		n = pread(r->fd, piece, places + behind, (off_t)from);
		if (n <= (ssize_t)behind)
			return n < 0 ? -errno : 0;
		end = piece + n - behind;
		while ((at = memchr(at, SX_MCAP_CHUNK, (size_t)(end - at)))) {
			if (sx_mcap_resembles_chunk(at++))
				return 1;
		}
		places = (size_t)(end - piece);
	}
	return 0;
}

/* Reads the summary up to the checksum in the footer. NULL: there is none, or it is damaged. */
static uint8_t *read_summary(struct sx_recording *r, size_t *bytes)
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
	uint64_t place, *more;

	/* Skips the times, because their clock may have been set during the recording. */
	sx_cursor_number(&in, 8);
	sx_cursor_number(&in, 8);
	place = sx_cursor_number(&in, 8);
	if (in.failed || place >= r->state.total_bytes)
		return false;
	sx_must(r->place_count, <=, *room);
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

	/* The input ends with the part of the footer that was read. */
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

/*
 * Takes the last chunk, with the recording's end, if it is whole and from our recorder. That chunk
 * has no other content.
 */
static void take_end(struct sx_recording *r)
{
	const uint64_t at = r->places[r->place_count - 1], left = r->state.total_bytes - at;
	uint8_t *bytes = read_at(r, at, left < 65536 ? left : 65536);
	struct sx_mcap_record rec = {0, 0};
	struct sx_cursor in = {NULL, 0, true};
	struct sx_mcap_chunk c;
	struct sx_record record; /* damage is reported and counted when the reader comes here */
	const uint64_t places = r->state.damaged_places, damaged = r->state.damaged_bytes;

	sx_must(at, <, r->state.total_bytes);
	if (bytes && left >= SX_MCAP_HEAD_BYTES)
		rec = sx_mcap_head(bytes);
	if (rec.op == SX_MCAP_CHUNK && rec.bytes <= (left < 65536 ? left : 65536) - SX_MCAP_HEAD_BYTES &&
	    sx_mcap_parse_chunk(&c, bytes + SX_MCAP_HEAD_BYTES, rec.bytes) && c.plain_bytes <= 65536)
		sx_content_records(r, &c, &in); /* if it fails, `in` stays failed */
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

static int in_file_order(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Sorts the offsets of chunks in the order of the file, and removes duplicates. The index may have any order.
 */
static void sort_places(struct sx_recording *r)
{
	size_t kept = 1;

	sx_must(r->place_count, >, 0);
	qsort(r->places, r->place_count, sizeof(*r->places), in_file_order);
	for (size_t i = 1; i < r->place_count; i++)
		if (r->places[i] != r->places[kept - 1])
			r->places[kept++] = r->places[i];
	r->place_count = kept;
}

void sx_summary_read(struct sx_recording *r)
{
	size_t bytes = 0;
	uint8_t *summary = read_summary(r, &bytes);

	sx_must(r->place_count, ==, 0);
	if (!summary)
		return;
	r->summarized = take_summary(r, (struct sx_cursor){summary, bytes, false});
	free(summary);
	if (!r->summarized)
		r->place_count = 0;
	r->state.indexed = r->place_count > 0;
	if (!r->state.indexed)
		return;
	sort_places(r);
	take_end(r);
	/* the last chunk has only the end and no frame */
	r->place_count -= r->state.end_known && r->place_count > 1;
}

/* ---- places ---- */

/*
 * Reads the records of the chunk at this offset. They may lie in *content, which the caller frees. False: the
 * chunk is not whole, or the budget of the file is used up.
 */
static bool read_chunk(struct sx_recording *r, uint64_t at, uint8_t **content, struct sx_cursor *records)
{
	uint8_t *head = read_at(r, at, SX_MCAP_HEAD_BYTES);
	struct sx_mcap_record rec = {0, 0};
	struct sx_mcap_chunk c;
	uint64_t plain;

	if (head)
		rec = sx_mcap_head(head);
	free(head);
	*content = NULL;
	if (rec.op == SX_MCAP_CHUNK && rec.bytes <= CHUNK_MAX && sx_recording_can_afford(r, 0, rec.bytes)) {
		/* charge the chunk to the budget, because the reader will read it again */
		r->vain += rec.bytes;
		*content = read_at(r, at + SX_MCAP_HEAD_BYTES, rec.bytes);
	}
	if (!*content || !sx_mcap_parse_chunk(&c, *content, rec.bytes))
		return false;
	plain = sx_content_expands_to(&c);
	if (!sx_affords_expansion(r, plain))
		return false;
	r->expanded += plain;
	return sx_content_records(r, &c, records) == 0;
}

/*
 * Copies the header of the first frame of the chunk at this offset. False: the chunk has no frame, or is not
 * whole.
 */
static bool first_frame(struct sx_recording *r, uint64_t at, struct stixel_frame_header *h)
{
	const size_t least = SX_MCAP_MESSAGE_BYTES + STIXEL_HEADER_BYTES_LEAST;
	uint8_t *chunk;
	struct sx_cursor in;
	bool found = false;

	if (!read_chunk(r, at, &chunk, &in))
		in.failed = true;
	while (!found && !in.failed && in.left >= SX_MCAP_HEAD_BYTES) {
		const struct sx_mcap_record rec = sx_mcap_head(sx_cursor_take(&in, SX_MCAP_HEAD_BYTES).at);
		const struct sx_span content = sx_cursor_take(&in, rec.bytes);

		found = !in.failed && rec.op == SX_MCAP_MESSAGE && content.bytes >= least &&
			r->role[content.at[0] | content.at[1] << 8] == ROLE_FRAMES;
		if (found)
			memcpy(h, content.at + SX_MCAP_MESSAGE_BYTES, STIXEL_HEADER_BYTES_LEAST);
	}
	free(chunk);
	return found;
}

/*
 * Searches places from index `low` on for the last chunk whose first frame has this epoch (0: any) and is no
 * later than published_ns. Returns 1 + its index, or low if there is no such chunk.
 */
static size_t find_behind(struct sx_recording *r, size_t low, uint64_t epoch, int64_t published_ns)
{
	size_t high = r->place_count;
	struct stixel_frame_header h;

	sx_must(low, <=, r->place_count);
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (first_frame(r, r->places[middle], &h) && (!epoch || h.epoch == epoch) &&
		    h.published_ns <= published_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the number of chunks of the index at or before the present offset. */
static size_t places_passed(const struct sx_recording *r)
{
	size_t low = 0, high = r->place_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (r->places[middle] <= r->state.offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int sx_recording_seek(struct sx_recording *r, uint64_t epoch, int64_t published_ns)
{
	/* kept during the search: its memory contains the chunk that is being read */
	struct sx_codec *reading = r->codec;
	size_t first, behind;

	if (!r->seekable || !r->state.indexed)
		return -ESPIPE;
	sx_must(r->place_count, >, 0);
	first = places_passed(r);
	if (sx_codec_create(&r->codec) < 0) {
		r->codec = reading;
		return -ENOMEM;
	}
	behind = find_behind(r, first, epoch, published_ns);
	sx_codec_destroy(r->codec);
	r->codec = reading;
	return behind > first ? sx_window_jump(r, r->places[behind - 1]) : 0;
}
