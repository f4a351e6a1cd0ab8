/*
 * Reads a recording, record by record.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/recording.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/contract.h"
#include "recording/recording_priv.h"

#define STEP 64u /* bytes of work charged for one step */

/* ---- damaged bytes ---- */

/* Handles bytes that are no record: the reader searches for a whole chunk from the next byte on. */
static int damaged(struct sx_recording *r, const char *why)
{
	if (r->lost) { /* the bytes looked like a chunk, but are none */
		sx_window_pass(r, 1);
		return 0;
	}
	r->lost = true;
	r->crc_good = r->after_chunk = false;
	r->bad_before_at = r->before_at;
	r->before_at = 0;
	if (!r->bad_why) {
		r->bad_at = r->state.offset;
		r->bad_why = why;
	}
	sx_window_pass(r, 1);
	return 0;
}

static int tell(struct sx_recording *r, struct sx_record *record, uint64_t at, const char *why)
{
	sx_must(at, <=, r->state.offset);
	*record = (struct sx_record){
		.kind = SX_RECORD_DAMAGE, .offset = at, .bytes = r->state.offset - at, .why = why};
	r->state.damaged_places++;
	r->state.damaged_bytes += record->bytes;
	return 1;
}

/*
 * Reports the bytes passed over as damage, because a whole record, or a whole end of the file, follows them.
 */
static int tell_damage(struct sx_recording *r, struct sx_record *record)
{
	const char *why = r->bad_why;

	sx_must_be(why);
	if (r->bad_before_at)
		r->bad_at = r->bad_before_at;
	r->bad_before_at = 0;
	r->bad_why = NULL;
	return tell(r, record, r->bad_at, why);
}

/*
 * Handles bytes passed over at the end of the file. The file was cut there, unless it ends with the magic:
 * then its end is damaged.
 */
static int tell_end(struct sx_recording *r, struct sx_record *record)
{
	if (!r->bad_why)
		return 0;
	sx_must(r->bad_at, <=, r->state.offset);
	if (r->state.offset - r->bad_at >= SX_MCAP_MAGIC_BYTES && r->end >= SX_MCAP_MAGIC_BYTES &&
	    memcmp(r->window + r->end - SX_MCAP_MAGIC_BYTES, SX_MCAP_MAGIC, SX_MCAP_MAGIC_BYTES) == 0)
		return tell_damage(r, record);
	r->state.cut_at = r->bad_at;
	r->state.cut_bytes = r->state.offset - r->bad_at;
	r->bad_why = NULL;
	return 0;
}

/* ---- chunks ---- */

static const char cut[] = "the file ends within a record", bad_head[] = "the head of a record is damaged",
		  bad_content[] = "the content of a chunk is damaged",
		  vain[] = "chunks expand to far more than their frames";

static bool fits(const struct sx_recording *r, uint64_t bytes)
{
	const uint64_t end = r->state.offset + SX_MCAP_HEAD_BYTES, total = r->state.total_bytes;

	return end <= total && bytes <= total - end;
}

/*
 * Returns whether a record with this content ends beyond the file. Uses only the size of the file, which may
 * have grown, and reads nothing.
 */
static bool beyond_the_end(struct sx_recording *r, uint64_t bytes)
{
	struct stat st;

	if (!r->seekable || fits(r, bytes))
		return false;
	if (fstat(r->fd, &st) == 0)
		r->state.total_bytes = (uint64_t)st.st_size;
	return !fits(r, bytes);
}

/*
 * Takes a chunk whose head is in the window. Like every step it returns 1: *record is set; 0: go on;
 * -ENODATA: the end of the file; or another error.
 */
static int take_chunk(struct sx_recording *r, uint64_t bytes, struct sx_record *record)
{
	struct sx_mcap_chunk c;
	struct sx_cursor records;
	const bool beyond = beyond_the_end(r, bytes), known = r->looked_at == r->state.offset;
	const uint64_t end = r->state.offset + SX_MCAP_HEAD_BYTES + bytes;
	uint64_t plain, more;
	int64_t have;
	int e;

	sx_must(r->chunk_bytes, ==, 0);
	if (beyond || bytes > CHUNK_MAX)
		return damaged(r, beyond ? cut : bad_head);
	if (!known && !sx_recording_can_afford(r, end, 0))
		return damaged(r, bad_head);
	have = sx_window_need(r, SX_MCAP_HEAD_BYTES + bytes);
	if (have < 0)
		return (int)have;
	if ((uint64_t)have < SX_MCAP_HEAD_BYTES + bytes)
		return damaged(r, cut);
	if (!sx_mcap_parse_chunk(&c, sx_window_at(r) + SX_MCAP_HEAD_BYTES, bytes))
		return damaged(r, bad_head);
	plain = sx_content_expands_to(&c);
	if (!known && !sx_affords_expansion(r, plain))
		return damaged(r, vain);
	if (!known)
		sx_recording_spend(r, end, plain);
	r->looked_at = r->state.offset;
	e = sx_content_records(r, &c, &records);
	if (e < 0)
		return e == -EBADMSG ? damaged(r, bad_content) : e;
	/* If more bytes follow the records, the format is a newer version, or the length is wrong. */
	more = bytes - SX_MCAP_CHUNK_BYTES - c.compression.bytes - c.records.bytes;
	if (more && r->seekable) {
		e = sx_recording_hides_chunk(r, end - more, end);
		if (e)
			return e < 0 ? e : damaged(r, bad_head);
	}
	if (r->bad_why) /* report the damage before the chunk first; the next call takes the chunk */
		return tell_damage(r, record);
	r->lost = false;
	r->state.compressed += c.compression.bytes > 0;
	r->chunk = records;
	r->chunk_bytes = SX_MCAP_HEAD_BYTES + bytes;
	r->chunk_plain = c.compression.bytes || !c.crc ? 0 : c.records.bytes;
	r->chunk_crc = c.crc;
	r->before_at = more ? r->state.offset : 0;
	return 0;
}

/*
 * Passes over a chunk whose records were all taken. Uses the checksum in the chunk instead of computing it
 * again.
 */
static void pass_chunk(struct sx_recording *r)
{
	const uint64_t bytes = r->chunk_bytes, plain = r->chunk_plain;
	const uint64_t head = plain ? SX_MCAP_HEAD_BYTES + SX_MCAP_CHUNK_BYTES : bytes;

	sx_must(plain, <=, bytes);
	r->chunk_bytes = 0;
	r->after_chunk = true;
	sx_window_skip(r, head);
	if (!plain)
		return;
	r->crc = sx_mcap_crc_joined(r->crc, r->chunk_crc, plain);
	sx_window_pass(r, plain);
	sx_window_skip(r, bytes - head - plain);
}

static int step_in_chunk(struct sx_recording *r, struct sx_record *record)
{
	struct sx_cursor in = r->chunk;
	struct sx_span head, content;
	struct sx_mcap_record rec;
	int e = 0;

	sx_must(r->chunk_bytes, >, 0);
	if (!in.left) {
		pass_chunk(r);
		return 0;
	}
	if (!sx_affords_record(r, r->chunk_bytes)) {
		r->chunk_bytes = 0;
		return damaged(r, vain);
	}
	head = sx_cursor_take(&in, SX_MCAP_HEAD_BYTES);
	rec = in.failed ? (struct sx_mcap_record){0, 0} : sx_mcap_head(head.at);
	content = sx_cursor_take(&in, rec.bytes);
	if (in.failed) {
		r->chunk_bytes = 0;
		return damaged(r, "a chunk contradicts itself");
	}
	if (rec.op == SX_MCAP_CHANNEL)
		sx_content_channel(r, content);
	else if (rec.op == SX_MCAP_MESSAGE)
		e = sx_content_message(r, content, record);
	if (e == 2) /* the message will be taken again */
		return 1;
	if (e < 0)
		return e;
	r->chunk = in;
	r->vain += VAIN_RECORD;
	return e;
}

/* Searches for a chunk. Tries every byte, so that a damaged length cannot hide a whole chunk. */
static int look_for_chunk(struct sx_recording *r, struct sx_record *record)
{
	const uint64_t least = SX_MCAP_HEAD_BYTES + SX_MCAP_CHUNK_BYTES + 8;
	const int64_t have = sx_window_need(r, least);
	const uint8_t *at = sx_window_at(r), *found;
	size_t places;

	sx_must_be(r->lost && !r->missing);
	if (have < 0)
		return (int)have;
	if ((uint64_t)have < least) {
		sx_window_pass(r, (uint64_t)have);
		return -ENODATA;
	}
	places = (size_t)have - least + 1;
	found = memchr(at, SX_MCAP_CHUNK, places);
	if (found == at && sx_mcap_resembles_chunk(at))
		return take_chunk(r, sx_mcap_head(at).bytes, record);
	sx_window_pass(r, found == at ? 1 : found ? (uint64_t)(found - at) : places);
	return 0;
}

/* ---- other records ---- */

/* Takes the end of the data. Checks the checksum of the data; the summary begins after it. */
static int take_data_end(struct sx_recording *r, struct sx_span content, struct sx_record *record)
{
	struct sx_cursor in = {content.at, content.bytes, false};
	const uint32_t crc = (uint32_t)sx_cursor_number(&in, 4);
	const bool wrong = in.failed || (crc && r->crc_good && crc != r->crc);
	const uint64_t at = r->state.offset;

	sx_must(at, >=, r->summary_at);
	sx_window_skip(r, SX_MCAP_HEAD_BYTES + content.bytes);
	r->crc = 0;
	r->crc_good = true;
	r->summary_at = r->state.offset;
	return wrong ? tell(r, record, at, "the data do not add up to their checksum") : 0;
}

static int take_footer(struct sx_recording *r, struct sx_span content, struct sx_record *record)
{
	struct sx_cursor in = {content.at, content.bytes, false};
	const uint64_t at = r->state.offset, summary_at = sx_cursor_number(&in, 8);
	uint32_t crc;
	bool wrong;

	sx_must(content.bytes, ==, SX_MCAP_FOOTER_BYTES);
	sx_cursor_number(&in, 8);
	crc = (uint32_t)sx_cursor_number(&in, 4);
	sx_window_skip(r, SX_MCAP_HEAD_BYTES + 16);
	if (summary_at) /* the end of the data must have come before */
		wrong = !r->summary_at || (crc && r->crc_good && crc != r->crc);
	else
		wrong = r->summary_at && r->summary_at != at;
	sx_window_skip(r, content.bytes - 16);
	if (sx_window_need(r, SX_MCAP_MAGIC_BYTES) >= (int64_t)SX_MCAP_MAGIC_BYTES &&
	    memcmp(sx_window_at(r), SX_MCAP_MAGIC, SX_MCAP_MAGIC_BYTES) == 0) {
		sx_window_pass(r, SX_MCAP_MAGIC_BYTES);
		r->state.ended = r->fresh = true;
	}
	return wrong ? tell(r, record, at, "the summary does not add up to its checksum") : 0;
}

/* Handles a message index without a chunk: the bytes before it must be a damaged chunk. */
static void lose_before(struct sx_recording *r)
{
	sx_must(r->before_at, <=, r->state.offset);
	if (!r->bad_why) {
		r->bad_at = r->before_at ? r->before_at : r->state.offset;
		r->bad_why = bad_head;
	}
	r->crc_good = false;
	r->after_chunk = true;
}

static int take_whole(struct sx_recording *r, struct sx_mcap_record rec, struct sx_record *record)
{
	const struct sx_span content = {sx_window_at(r) + SX_MCAP_HEAD_BYTES, (size_t)rec.bytes};
	int e = 0;

	sx_must(SX_MCAP_HEAD_BYTES + rec.bytes, <=, r->end - r->begin);
	if (rec.op == SX_MCAP_DATA_END)
		return take_data_end(r, content, record);
	if (rec.op == SX_MCAP_FOOTER)
		return take_footer(r, content, record);
	if (rec.op == SX_MCAP_CHANNEL)
		sx_content_channel(r, content);
	else if (rec.op == SX_MCAP_MESSAGE) /* a writer without chunks puts messages here */
		e = sx_content_message(r, content, record);
	if (e >= 0 && e != 2)
		sx_window_skip(r, SX_MCAP_HEAD_BYTES + rec.bytes);
	return e == 2 ? 1 : e;
}

/* Returns false if the length is impossible for this kind of record. */
static bool length_good(struct sx_mcap_record rec)
{
	switch (rec.op) {
	case 0:
		return false;
	case SX_MCAP_FOOTER:
		return rec.bytes == SX_MCAP_FOOTER_BYTES;
	case SX_MCAP_DATA_END:
		return rec.bytes >= 4 && rec.bytes < HEADER_MAX;
	case SX_MCAP_MESSAGE_INDEX:
		return rec.bytes >= 6 && (rec.bytes - 6) % 16 == 0 && rec.bytes <= CHUNK_MAX;
	case SX_MCAP_CHANNEL:
	case SX_MCAP_MESSAGE:
		return rec.bytes <= CHUNK_MAX;
	default:
		return rec.bytes < UINT64_C(1) << 56;
	}
}

/* Returns the number of `width` bytes at this offset in the content of a record; UINT64_MAX: not known. */
static uint64_t number_at(struct sx_recording *r, uint64_t at, int width)
{
	const uint64_t end = SX_MCAP_HEAD_BYTES + at + (uint64_t)width;
	struct sx_cursor in;

	if (at > HEADER_MAX || sx_window_need(r, end) < (int64_t)end)
		return UINT64_MAX;
	in = (struct sx_cursor){sx_window_at(r) + SX_MCAP_HEAD_BYTES + at, (size_t)width, false};
	return sx_cursor_number(&in, width);
}

/*
 * Returns whether the content confirms the length of a record. Checks message indexes and metadata, which our
 * recordings have between chunks, and attachments, which may be whole recordings.
 */
static bool length_sure(struct sx_recording *r, struct sx_mcap_record rec)
{
	const bool attachment = rec.op == SX_MCAP_ATTACHMENT;
	const int texts = attachment ? 2 : rec.op == SX_MCAP_METADATA, width = attachment ? 8 : 4;
	uint64_t at = attachment ? 16 : rec.op == SX_MCAP_MESSAGE_INDEX ? 2 : 0, bytes;

	if (!attachment && rec.op != SX_MCAP_MESSAGE_INDEX && rec.op != SX_MCAP_METADATA)
		return false;
	for (int i = 0; i < texts; i++) {
		bytes = number_at(r, at, 4);
		if (bytes > HEADER_MAX)
			return false;
		at += 4 + bytes;
	}
	bytes = number_at(r, at, width);
	at += (uint64_t)width + (attachment ? 4 : 0); /* an attachment ends with a checksum */
	return at <= rec.bytes && bytes == rec.bytes - at;
}

static int take_other(struct sx_recording *r, struct sx_mcap_record rec, struct sx_record *record)
{
	const uint64_t at = r->state.offset, end = at + SX_MCAP_HEAD_BYTES + rec.bytes;
	bool sure;
	const bool whole = rec.op == SX_MCAP_CHANNEL || rec.op == SX_MCAP_MESSAGE ||
			   rec.op == SX_MCAP_DATA_END || rec.op == SX_MCAP_FOOTER;
	int64_t n = 0;

	sx_must_be(rec.op != SX_MCAP_CHUNK && !r->lost);
	if (!length_good(rec) || beyond_the_end(r, rec.bytes))
		return damaged(r, length_good(rec) ? cut : bad_head);
	if (!sx_recording_can_afford(r, end, 0))
		return damaged(r, bad_head);
	if (whole) /* a footer needs the magic behind it, too */
		n = sx_window_need(r, SX_MCAP_HEAD_BYTES + rec.bytes +
					      (rec.op == SX_MCAP_FOOTER ? SX_MCAP_MAGIC_BYTES : 0));
	if (n < 0)
		return (int)n;
	if (whole && (uint64_t)n < SX_MCAP_HEAD_BYTES + rec.bytes)
		return damaged(r, cut);
	sure = !r->seekable || length_sure(r, rec);
	if (!sure) /* the record is skipped only if it hides no chunk: what follows it may be a record by chance */
		n = sx_recording_hides_chunk(r, at + 1, end);
	if (!sure && n)
		return n < 0 ? (int)n : damaged(r, bad_head);
	if (rec.op == SX_MCAP_MESSAGE_INDEX && !r->after_chunk)
		lose_before(r);
	if (r->bad_why)
		return tell_damage(r, record);
	if (r->seekable)
		sx_recording_spend(r, end, 0);
	r->before_at = sure ? 0 : at;
	r->after_chunk = rec.op == SX_MCAP_MESSAGE_INDEX;
	if (whole)
		return take_whole(r, rec, record);
	r->skip_at = at;
	r->skip_bytes = SX_MCAP_HEAD_BYTES + rec.bytes;
	return 0;
}

/* Passes over a record that is not needed. A signal may interrupt it; the next call continues. */
static int skip(struct sx_recording *r)
{
	const uint64_t end = r->skip_at + r->skip_bytes;
	int64_t n;

	sx_must(r->state.offset, <=, end);
	n = sx_window_skip(r, end - r->state.offset);
	if (n < 0)
		return (int)n;
	r->skip_bytes = 0;
	if (r->state.offset == end)
		return 0;
	r->bad_at = r->skip_at; /* the pipe ended within the record */
	r->bad_why = cut;
	return -ENODATA;
}

static int take_magic(struct sx_recording *r)
{
	const int64_t have = sx_window_need(r, SX_MCAP_MAGIC_BYTES);

	sx_must(r->chunk_bytes, ==, 0);
	if (have <= 0)
		return have < 0 ? (int)have : -ENODATA;
	r->fresh = r->state.ended = false;
	if (have < (int64_t)SX_MCAP_MAGIC_BYTES ||
	    memcmp(sx_window_at(r), SX_MCAP_MAGIC, SX_MCAP_MAGIC_BYTES) != 0)
		return damaged(r, "there are bytes behind the end");
	if (r->state.offset) { /* another file follows the first one in the stream */
		memset(r->role, ROLE_NONE, sizeof(r->role));
		r->topics[0] = 0;
	}
	r->crc = 0;
	r->crc_good = true;
	r->summary_at = 0;
	sx_window_skip(r, SX_MCAP_MAGIC_BYTES);
	return 0;
}

static int step(struct sx_recording *r, struct sx_record *record)
{
	struct sx_mcap_record rec;
	int64_t have;

	if (r->chunk_bytes)
		return step_in_chunk(r, record);
	if (r->skip_bytes)
		return skip(r);
	if (r->fresh)
		return take_magic(r);
	if (r->lost && r->missing) /* a frame without its images comes before the damage */
		return sx_content_end(r, record);
	if (r->lost)
		return look_for_chunk(r, record);
	have = sx_window_need(r, SX_MCAP_HEAD_BYTES);
	if (have <= 0)
		return have < 0 ? (int)have : -ENODATA;
	if (have < (int64_t)SX_MCAP_HEAD_BYTES)
		return damaged(r, cut);
	rec = sx_mcap_head(sx_window_at(r));
	return rec.op == SX_MCAP_CHUNK ? take_chunk(r, rec.bytes, record) : take_other(r, rec, record);
}

int sx_recording_next(struct sx_recording *r, struct sx_record *record)
{
	int e;

	do {
		e = sx_recording_request(r, STEP);
		if (e == 0)
			e = step(r, record);
	} while (e == 0);
	if (e != -ENODATA)
		return e;
	sx_must_be(!r->chunk_bytes);
	e = sx_content_end(r, record);
	return e ? e : tell_end(r, record);
}

const char *sx_recording_strerror(int error)
{
	if (error == -ENOTSUP)
		return "frames are compressed by zstd, and this program was built without it";
	if (error == -ENOPKG)
		return "chunks are compressed by lz4, which is not supported: zstd and none are";
	return error == -ESPIPE ? "a pipe can only be read once" : strerror(-error);
}
