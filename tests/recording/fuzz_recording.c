/*
 * Fuzz target for recordings. The first byte of an input selects how the rest, an MCAP file, is read. The
 * target corrects the file's checksums first, unless that byte forbids it, so that the fuzzer's changes reach
 * the messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/stixel.h"
#include "ipc/check.h"
#include "recording/codec.h"
#include "recording/mcap.h"
#include "recording/recording.h"
#include "recording/recording_priv.h"
#include "tests/fuzz/fails.h"
#include "tests/fuzz/frame_input.h"

enum { RECORDS_MOST = 1000 };
enum { AS_IT_IS = 1, COMPRESS = 2, SEEK = 4, REWIND = 8, CUT_LENGTHS = 16, PIPE = 32, PIPE_BYTES = 65536 };

/*
 * ---- the window: its buffer is far larger than these files, and bytes beyond those read are poisoned ----
 */

static void open_room(const struct sx_recording *r)
{
	ASAN_UNPOISON_MEMORY_REGION(r->window, r->room);
}

static void close_room(const struct sx_recording *r)
{
	if (r->window)
		ASAN_POISON_MEMORY_REGION(r->window + r->end, r->room - r->end);
}

int64_t __real_sx_window_need(struct sx_recording *r, uint64_t bytes);
int64_t __wrap_sx_window_need(struct sx_recording *r, uint64_t bytes);
int64_t __wrap_sx_window_need(struct sx_recording *r, uint64_t bytes)
{
	int64_t have;

	open_room(r);
	have = __real_sx_window_need(r, bytes);
	close_room(r);
	return have;
}

int64_t __real_sx_window_skip(struct sx_recording *r, uint64_t bytes);
int64_t __wrap_sx_window_skip(struct sx_recording *r, uint64_t bytes);
int64_t __wrap_sx_window_skip(struct sx_recording *r, uint64_t bytes)
{
	int64_t passed;

	open_room(r);
	passed = __real_sx_window_skip(r, bytes);
	close_room(r);
	return passed;
}

/* Checks the memory passed to libraries that are built without a sanitizer. */
static void check_readable(const void *at, size_t bytes)
{
#ifdef __SANITIZE_ADDRESS__
	if (bytes && __asan_region_is_poisoned((void *)(uintptr_t)at, bytes))
		fuzz_fail("%zu bytes are used, and not all of them were read", bytes);
#endif
}

uint32_t __real_sx_mcap_crc(uint32_t crc, const void *data, size_t bytes);
uint32_t __wrap_sx_mcap_crc(uint32_t crc, const void *data, size_t bytes);
uint32_t __wrap_sx_mcap_crc(uint32_t crc, const void *data, size_t bytes)
{
	check_readable(data, bytes);
	return __real_sx_mcap_crc(crc, data, bytes);
}

int __real_sx_codec_decode(struct sx_codec *c, const void **content, size_t bytes, size_t plain_bytes);
int __wrap_sx_codec_decode(struct sx_codec *c, const void **content, size_t bytes, size_t plain_bytes);
int __wrap_sx_codec_decode(struct sx_codec *c, const void **content, size_t bytes, size_t plain_bytes)
{
	check_readable(*content, bytes);
	return __real_sx_codec_decode(c, content, bytes, plain_bytes);
}

/* ---- cursors: they stay within their memory ---- */

/*
 * Checks one step of a cursor: it took `bytes` of the remaining bytes, at `at`, or it took nothing and
 * failed.
 */
static void check_step(struct sx_cursor was, const struct sx_cursor *is, const uint8_t *at, size_t bytes)
{
	const size_t taken = was.left - is->left;

	if (is->left > was.left || (!is->failed && is->at != was.at + taken) || bytes > taken)
		fuzz_fail("a cursor over %zu bytes has %zu left, and gave %zu", was.left, is->left, bytes);
	if (bytes && (at < was.at || bytes > was.left - (size_t)(at - was.at)))
		fuzz_fail("a cursor gives what lies outside");
}

uint64_t __real_sx_cursor_number(struct sx_cursor *c, int bytes);
uint64_t __wrap_sx_cursor_number(struct sx_cursor *c, int bytes);
uint64_t __wrap_sx_cursor_number(struct sx_cursor *c, int bytes)
{
	const struct sx_cursor was = *c;
	const uint64_t n = __real_sx_cursor_number(c, bytes);

	check_step(was, c, was.at, c->failed ? 0 : (size_t)bytes);
	return n;
}

struct sx_span __real_sx_cursor_take(struct sx_cursor *c, uint64_t bytes);
struct sx_span __wrap_sx_cursor_take(struct sx_cursor *c, uint64_t bytes);
struct sx_span __wrap_sx_cursor_take(struct sx_cursor *c, uint64_t bytes)
{
	const struct sx_cursor was = *c;
	const struct sx_span s = __real_sx_cursor_take(c, bytes);

	check_step(was, c, s.at, s.bytes);
	return s;
}

struct sx_span __real_sx_cursor_text(struct sx_cursor *c);
struct sx_span __wrap_sx_cursor_text(struct sx_cursor *c);
struct sx_span __wrap_sx_cursor_text(struct sx_cursor *c)
{
	const struct sx_cursor was = *c;
	const struct sx_span s = __real_sx_cursor_text(c);

	check_step(was, c, s.at, s.bytes);
	return s;
}

/* ---- changes to one record and to every length that it is part of ---- */

static uint64_t get(const uint8_t *at)
{
	uint64_t n = 0;

	for (int i = 8; i-- > 0;)
		n = n << 8 | at[i];
	return n;
}

static void put(uint8_t *at, uint64_t n, int bytes);

/* Returns the offset of a whole record in [begin, end), selected by seed. *count: number of whole records. */
static size_t record_at(const uint8_t *data, size_t begin, size_t end, unsigned seed, unsigned *count)
{
	size_t found = end;

	*count = 0;
	for (size_t at = begin; end - at >= SX_MCAP_HEAD_BYTES;) {
		const struct sx_mcap_record rec = sx_mcap_head(data + at);

		if (rec.bytes > end - at - SX_MCAP_HEAD_BYTES)
			break;
		if (seed % ++*count == 0) /* any record may be the last valid one */
			found = at;
		at += SX_MCAP_HEAD_BYTES + (size_t)rec.bytes;
	}
	return found;
}

/*
 * Replaces the content of the record at `at`, duplicates the record, or removes it. Returns by how many bytes
 * the file has grown.
 */
static ptrdiff_t change_record(uint8_t *data, size_t at, size_t bytes, size_t most, unsigned seed)
{
	const size_t was = (size_t)get(data + at + 1), end = at + SX_MCAP_HEAD_BYTES + was;
	const size_t whole = end - at, tail = bytes - end;
	uint8_t *rest = malloc(tail + whole + 1);
	ptrdiff_t grown = 0;

	memcpy(rest, data + end, tail);
	if (seed % 8 == 0 && whole <= most - bytes) {
		memcpy(data + end, data + at, whole);
		grown = (ptrdiff_t)whole;
	} else if (seed % 8 == 1 || was + (most - bytes) == 0) {
		grown = -(ptrdiff_t)whole;
	} else {
		const size_t is = LLVMFuzzerMutate(data + at + SX_MCAP_HEAD_BYTES, was, most - bytes + was);

		put(data + at + 1, is, 8);
		grown = (ptrdiff_t)is - (ptrdiff_t)was;
	}
	memcpy(data + (size_t)((ptrdiff_t)end + grown), rest, tail);
	free(rest);
	return grown;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t most, unsigned seed)
{
	const size_t begin = 1 + SX_MCAP_MAGIC_BYTES;
	unsigned count;
	size_t at = bytes > begin ? record_at(data, begin, bytes, seed >> 8, &count) : bytes;
	struct sx_mcap_chunk c;
	ptrdiff_t grown;
	uint64_t chunk;

	if (seed % 16 == 2)
		return fails_mutate(data, bytes, most, seed >> 4,
				    1u << FAILS_MEMORY | 1u << FAILS_SYSTEM | 1u << FAILS_CALLER);
	if (seed % 32 == 1 && at < bytes) { /* the file ends within a record, and its size is unknown */
		data[0] |= PIPE;
		data[0] &= (uint8_t)~CUT_LENGTHS;
		return at + 1 + (seed >> 8) % (bytes - at);
	}
	if (seed % 4 == 0 || at >= bytes)
		return LLVMFuzzerMutate(data, bytes, most);
	chunk = get(data + at + 1);
	if (data[at] == SX_MCAP_CHUNK && seed >> 4 & 3 &&
	    sx_mcap_parse_chunk(&c, data + at + SX_MCAP_HEAD_BYTES, (size_t)chunk) && !c.compression.bytes) {
		const size_t from = (size_t)(c.records.at - data),
			     inner = record_at(data, from, from + c.records.bytes, seed >> 12, &count);
		const size_t plain = c.records.bytes;

		if (inner >= from + plain)
			return LLVMFuzzerMutate(data, bytes, most);
		grown = change_record(data, inner, bytes, most, seed >> 6);
		put(data + at + 1, chunk + (uint64_t)grown, 8);
		put(data + at + SX_MCAP_HEAD_BYTES + 16, plain + (uint64_t)grown, 8);
		put(data + from - 8, plain + (uint64_t)grown, 8);
	} else {
		grown = change_record(data, at, bytes, most, seed >> 6);
	}
	return (size_t)((ptrdiff_t)bytes + grown);
}

/* ---- corrections of lengths and checksums ---- */

static void put(uint8_t *at, uint64_t n, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(n >> 8 * i);
}

/* Corrects the checksum if a message's data is a frame whose sizes have room for one. */
static void mend_frame(uint8_t *at, size_t bytes)
{
	struct stixel_frame_header h;
	uint8_t *aligned;
	size_t end;

	if (bytes < STIXEL_HEADER_BYTES_LEAST)
		return;
	memcpy(&h, at, STIXEL_HEADER_BYTES_LEAST);
	end = h.plane_kind ? h.plane_offset : h.frame_bytes;
	if (h.magic != STIXEL_FRAME_MAGIC || end > bytes || end < STIXEL_HEADER_BYTES_LEAST)
		return;
	aligned = malloc(bytes);
	memcpy(aligned, at, bytes);
	h.checksum = sx_frame_checksum(aligned, (const struct stixel_frame_header *)aligned);
	put(at + offsetof(struct stixel_frame_header, checksum), h.checksum, 4);
	free(aligned);
}

/*
 * Corrects the messages among the records of a chunk or of a file. cut: also limits lengths to the available
 * bytes.
 */
static void mend_messages(uint8_t *at, size_t left, bool cut)
{
	while (left >= SX_MCAP_HEAD_BYTES) {
		struct sx_mcap_record rec = sx_mcap_head(at);

		left -= SX_MCAP_HEAD_BYTES;
		if (rec.bytes > left) {
			if (!cut)
				return;
			rec.bytes = left;
			put(at + 1, left, 8);
		}
		at += SX_MCAP_HEAD_BYTES;
		if (rec.op == SX_MCAP_MESSAGE && rec.bytes > SX_MCAP_MESSAGE_BYTES)
			mend_frame(at + SX_MCAP_MESSAGE_BYTES, (size_t)rec.bytes - SX_MCAP_MESSAGE_BYTES);
		at += rec.bytes;
		left -= (size_t)rec.bytes;
	}
}

/* The file while it is rewritten with correct lengths and checksums. */
struct mend {
	struct sx_bytes out;
	struct sx_codec *codec;
	unsigned how;
	uint32_t crc; /* checksum of the bytes since the start of the file or of its summary */
	size_t summed_to;
	uint64_t summary_at;
};

static uint32_t mend_sum(struct mend *m)
{
	m->crc = sx_mcap_crc(m->crc, m->out.at + m->summed_to, m->out.count - m->summed_to);
	m->summed_to = m->out.count;
	return m->crc;
}

static void mend_chunk(struct mend *m, uint8_t *at, size_t bytes)
{
	struct sx_mcap_chunk c;
	const void *content;
	int64_t n = 0;
	uint64_t plain;

	if (!sx_mcap_parse_chunk(&c, at, bytes) || c.compression.bytes) {
		sx_bytes_number(&m->out, bytes, 8);
		sx_bytes_add(&m->out, at, bytes);
		return;
	}
	mend_messages((uint8_t *)(uintptr_t)c.records.at, c.records.bytes, m->how & CUT_LENGTHS);
	content = c.records.at;
	plain = c.records.bytes;
	c.crc = c.crc ? sx_mcap_crc(0, content, (size_t)plain) : 0;
	if (m->how & COMPRESS && plain > 0)
		n = sx_codec_encode(m->codec, &content, (size_t)plain, false);
	sx_bytes_number(&m->out, SX_MCAP_CHUNK_BYTES + (n > 0 ? 4 + (uint64_t)n : plain), 8);
	sx_bytes_add(&m->out, at, 16);
	sx_bytes_number(&m->out, plain, 8);
	sx_bytes_number(&m->out, c.crc, 4);
	sx_bytes_text(&m->out, n > 0 ? "zstd" : "");
	sx_bytes_number(&m->out, n > 0 ? (uint64_t)n : plain, 8);
	sx_bytes_add(&m->out, content, n > 0 ? (size_t)n : (size_t)plain);
}

/* Corrects one record. A length that reaches beyond the end stays unchanged, and that record is the last. */
static size_t mend_record(struct mend *m, uint8_t *at, size_t left)
{
	const struct sx_mcap_record rec = sx_mcap_head(at);
	const size_t bytes =
		rec.bytes < left - SX_MCAP_HEAD_BYTES ? (size_t)rec.bytes : left - SX_MCAP_HEAD_BYTES;
	uint8_t *content = at + SX_MCAP_HEAD_BYTES;
	const bool whole = bytes == rec.bytes;

	if (rec.op == SX_MCAP_DATA_END && whole && bytes >= 4) {
		put(content, mend_sum(m), 4);
	} else if (rec.op == SX_MCAP_FOOTER && whole && bytes == SX_MCAP_FOOTER_BYTES) {
		put(content, m->summary_at, 8);
		sx_bytes_add(&m->out, at, SX_MCAP_HEAD_BYTES + 16);
		sx_bytes_number(&m->out, mend_sum(m), 4);
		return SX_MCAP_HEAD_BYTES + bytes;
	} else if (rec.op == SX_MCAP_CHUNK && whole) {
		sx_bytes_add(&m->out, at, 1);
		mend_chunk(m, content, bytes);
		return SX_MCAP_HEAD_BYTES + bytes;
	} else if (rec.op == SX_MCAP_MESSAGE) {
		mend_messages(at, SX_MCAP_HEAD_BYTES + bytes, m->how & CUT_LENGTHS);
	}
	sx_bytes_add(&m->out, at, SX_MCAP_HEAD_BYTES + bytes);
	if (rec.op == SX_MCAP_DATA_END) {
		m->crc = 0;
		m->summed_to = m->out.count;
		m->summary_at = m->out.count;
	}
	return SX_MCAP_HEAD_BYTES + bytes;
}

static void mend_file(struct mend *m, uint8_t *at, size_t bytes)
{
	size_t n = bytes < SX_MCAP_MAGIC_BYTES ? bytes : SX_MCAP_MAGIC_BYTES;

	sx_bytes_add(&m->out, SX_MCAP_MAGIC, n);
	while (n < bytes) {
		if (bytes - n < SX_MCAP_HEAD_BYTES) {
			sx_bytes_add(&m->out, at + n, bytes - n);
			break;
		}
		n += mend_record(m, at + n, bytes - n);
	}
	if (m->out.failed)
		fuzz_fail("out of memory");
}

static bool has_ended(int e)
{
	return e == -ENODATA || e == 0;
}

static int read_some(struct sx_recording *r, int most)
{
	struct sx_record record;
	int n = 0, e = 1;

	while (n < most && (e = sx_recording_next(r, &record)) == 1) {
		n++;
		if (record.kind == SX_RECORD_FRAME)
			frame_input_touch(&record.frame);
		else if (record.kind == SX_RECORD_PUBLISHER)
			fuzz_touch(record.publisher, sizeof(*record.publisher));
		else if (record.kind == SX_RECORD_GAP)
			fuzz_touch(record.gap, sizeof(*record.gap));
		else if (!record.why)
			fuzz_fail("damage without a reason");
	}
	if (e < 0 && !has_ended(e) && !*sx_recording_strerror(e))
		fuzz_fail("%d without a sentence", e);
	return n;
}

/* Writes the input into a pipe whose writer has ended: its size is unknown, and the reader cannot seek. */
static int fill_pipe(const uint8_t *at, size_t bytes, char path[32])
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0 || write(ends[1], at, bytes) != (ssize_t)bytes)
		fuzz_fail("no pipe");
	close(ends[1]);
	snprintf(path, 32, "/proc/self/fd/%d", ends[0]);
	return ends[0];
}

/*
 * Number of waits before on_wait() returns -EINTR. The recording calls on_wait() while it waits, or with fd
 * -1 to ask whether to go on.
 */
static unsigned waits_left;

static int on_wait(void *user, int fd)
{
	if (user != &waits_left || fd < -1)
		fuzz_fail("waits for descriptor %d", fd);
	return waits_left-- > 0 ? 0 : -EINTR;
}

static void read_recording(const uint8_t *at, unsigned how, size_t bytes)
{
	char of_pipe[32];
	const int fd = how & PIPE && bytes <= PIPE_BYTES ? fill_pipe(at, bytes, of_pipe) : -1;
	const char *path = fd >= 0 ? of_pipe : fuzz_file(0, at, bytes);
	const struct sx_recording_state *state;
	struct sx_recording *r;
	struct sx_why why;
	int e;

	fails_begin();
	e = sx_recording_open(&r, path, &why);
	if (fd >= 0)
		close(fd);
	if (e < 0) {
		fails_end();
		return;
	}
	if (fails_is(FAILS_CALLER, &waits_left, NULL))
		sx_recording_on_wait(r, on_wait, &waits_left);
	state = sx_recording_state(r);
	if (how & SEEK) {
		read_some(r, 2);
		sx_recording_seek(r, 1000, (int64_t)how << 32);
		sx_recording_seek(r, state->end_known ? 1001 : 1000, INT64_MAX);
	}
	read_some(r, RECORDS_MOST);
	if (state->offset > bytes || state->cut_bytes > bytes)
		fuzz_fail("at %llu of %zu bytes", (unsigned long long)state->offset, bytes);
	fuzz_touch(sx_recording_info(r), sizeof(struct sx_recording_info));
	if (how & REWIND && sx_recording_rewind(r) == 0)
		read_some(r, 4);
	sx_recording_close(r);
	fails_end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_input in = fails_input(data, bytes);
	const unsigned how = (unsigned)fuzz_number(&in, 1);
	struct mend m = {.how = how};
	uint8_t *file;

	if (how & AS_IT_IS) {
		read_recording(in.at, how, in.left);
		return 0;
	}
	file = malloc(in.left + 1);
	memcpy(file, in.at, in.left);
	if (sx_codec_create(&m.codec) < 0)
		fuzz_fail("out of memory");
	mend_file(&m, file, in.left);
	read_recording(m.out.at, how, m.out.count);
	sx_codec_destroy(m.codec);
	sx_bytes_free(&m.out);
	free(file);
	return 0;
}
