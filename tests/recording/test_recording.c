/*
 * Tests recordings: the reader returns what was written. If a file is cut or damaged anywhere, the reader
 * returns every whole chunk, and nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "ipc/frame.h"
#include "recording/codec.h"
#include "recording/mcap.h"
#include "recording/recording.h"
#include "recording/recording_write.h"
#include "tests/ipc/help.h"

#define EPOCH 77u
#define FRAMES 5

static const struct help_shape small = {.columns = 2},
			       pictures = {.columns = 3, .plane_width = 16, .plane_height = 8, .left = true};

/* ---- a recording in memory, and the offsets of its chunks: one chunk for each frame ---- */

struct memory {
	uint8_t bytes[4u << 20];
	size_t count;
};

static struct memory memory, whole;
static char path[64];
static uint64_t chunk_at[FRAMES], chunk_end[FRAMES];

static int sink(void *user, const void *data, size_t bytes)
{
	struct memory *m = user;

	assert_true(m->count + bytes <= sizeof(m->bytes));
	memcpy(m->bytes + m->count, data, bytes);
	m->count += bytes;
	return 0;
}

static void begin(struct sx_recording_writer *w, bool compress)
{
	const struct sx_recording_params params = {.instance = "front",
						   .compress = compress,
						   .chunk_bytes = 1 << 20,
						   .period_ns = 3600 * SX_NS_PER_S};

	memory.count = 0;
	assert_int_equal(sx_recording_begin(w, sink, &memory, &params), 0);
}

static void end(struct sx_recording_writer *w)
{
	assert_int_equal(sx_recording_end(w), 0);
	sx_recording_finish(w);
}

static void add_frames(struct sx_recording_writer *w, const struct help_shape *shape, int frames)
{
	const struct sx_record_publisher publisher = {
		.epoch = EPOCH, .pid = 5, .version = "1.2.3", .classes = "road car"};
	uint64_t bytes[4096];
	struct stixel_frame frame;

	assert_true(help_frame_bytes(shape) <= sizeof(bytes));
	for (int i = 0; i < frames; i++) {
		size_t n = help_frame(bytes, shape, EPOCH, (uint64_t)i + 1);

		assert_int_equal(stixel_parse(&frame, bytes, n), 0);
		if (i == 0)
			assert_int_equal(sx_recording_publisher(w, &publisher, NULL, 1), 0);
		chunk_at[i] = memory.count;
		assert_int_equal(sx_recording_frame(w, &frame), 0);
		assert_int_equal(memory.count, chunk_at[i]); /* the chunk waits in memory */
		assert_int_equal(sx_recording_flush(w), 0);
		chunk_end[i] =
			chunk_at[i] + SX_MCAP_HEAD_BYTES + sx_mcap_head(memory.bytes + chunk_at[i]).bytes;
	}
}

static void make(const struct help_shape *shape, int frames, bool compress)
{
	struct sx_recording_writer w;

	begin(&w, compress);
	add_frames(&w, shape, frames);
	end(&w);
}

static void save(const void *bytes, size_t count)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), (ssize_t)count);
	close(fd);
}

/* Result of reading a recording. */
struct seen {
	int frames, publishers, gaps, damages, result;
	uint64_t numbers[64];
	struct sx_recording_state state;
	struct sx_recording_info info;
	struct sx_why why;
	uint64_t damage_at;
};

static struct seen read_all(const struct help_shape *shape)
{
	struct sx_recording *r = NULL;
	struct sx_record record;
	struct seen seen = {0};

	seen.result = sx_recording_open(&r, path, &seen.why);
	if (seen.result < 0) {
		assert_true(strlen(seen.why.text) > 10);
		return seen;
	}
	while ((seen.result = sx_recording_next(r, &record)) > 0) {
		if (record.kind == SX_RECORD_PUBLISHER) {
			seen.publishers++;
			assert_string_equal(record.publisher->classes, "road car");
		}
		seen.gaps += record.kind == SX_RECORD_GAP;
		if (record.kind == SX_RECORD_DAMAGE) {
			assert_true(record.why && strlen(record.why) > 10);
			if (!seen.damages++)
				seen.damage_at = record.offset;
		}
		if (record.kind != SX_RECORD_FRAME)
			continue;
		/* The reader returns only what was written. */
		assert_true(help_frame_good(&record.frame, shape));
		seen.numbers[seen.frames++ % 64] = record.frame.header->number;
	}
	seen.state = *sx_recording_state(r);
	seen.info = *sx_recording_info(r);
	sx_recording_close(r);
	return seen;
}

/* ---- intact files ---- */

static void round_trip(const struct help_shape *shape, bool compress)
{
	struct seen seen;

	make(shape, FRAMES, compress);
	save(memory.bytes, memory.count);
	seen = read_all(shape);
	assert_int_equal(seen.result, 0);
	assert_int_equal(seen.frames, FRAMES);
	assert_int_equal(seen.publishers, 1);
	assert_int_equal(seen.damages, 0);
	assert_true(seen.state.ended && seen.state.indexed && seen.state.end_known);
	assert_int_equal(seen.state.cut_bytes, 0);
	assert_int_equal(seen.state.end.frames, FRAMES);
	assert_int_equal(seen.state.end.planes, shape->left ? 6 : 0);
	assert_int_equal(seen.state.offset, memory.count);
	assert_int_equal(seen.state.compressed > 0, compress);
	assert_string_equal(seen.info.instance, "front");
	assert_non_null(strstr(seen.info.recorder, "stixelctl "));
	for (int i = 0; i < FRAMES; i++)
		assert_int_equal(seen.numbers[i], i + 1);
}

static void test_round_trip(void **state)
{
	round_trip(&small, false);
	round_trip(&pictures, false);
}

static void test_compressed(void **state)
{
	const struct sx_recording_params params = {.instance = "front", .compress = true};
	struct sx_recording_writer w;

	if (!sx_codec_built()) {
		assert_int_equal(sx_recording_begin(&w, sink, &memory, &params), -ENOTSUP);
		return;
	}
	round_trip(&small, true);
	round_trip(&pictures, true);
}

/* A frame with additional bytes after its images, as another program may write it, is kept in one piece. */
static void test_a_frame_with_more(void **state)
{
	static uint64_t bytes[1024];
	struct stixel_frame_header *h = (struct stixel_frame_header *)bytes;
	struct sx_recording_writer w;
	struct stixel_frame frame;
	struct sx_recording *r;
	struct sx_record record;
	struct sx_why why;
	size_t n = help_frame(bytes, &pictures, EPOCH, 1) + 64;

	h->frame_bytes = (uint32_t)n;
	memset((uint8_t *)bytes + n - 64, 0x5a, 64);
	sx_frame_restamp(bytes, EPOCH, 1);
	assert_int_equal(stixel_parse(&frame, bytes, n), 0);
	begin(&w, false);
	assert_int_equal(sx_recording_frame(&w, &frame), 0);
	end(&w);
	save(memory.bytes, memory.count);
	assert_int_equal(sx_recording_open(&r, path, &why), 0);
	assert_int_equal(sx_recording_next(r, &record), 1);
	assert_int_equal(record.kind, SX_RECORD_FRAME);
	assert_memory_equal(record.frame.bytes, bytes, n);
	assert_int_equal(sx_recording_next(r, &record), 0);
	sx_recording_close(r);
}

static void test_no_frames(void **state)
{
	struct seen seen;

	make(&small, 0, false);
	save(memory.bytes, memory.count);
	seen = read_all(&small);
	assert_int_equal(seen.result, 0);
	assert_int_equal(seen.frames, 0);
	assert_true(seen.state.ended);
}

static void test_two_in_one(void **state)
{
	struct seen seen;
	size_t first;

	make(&small, FRAMES, false);
	first = memory.count;
	memcpy(memory.bytes + first, memory.bytes, first);
	save(memory.bytes, 2 * first);
	seen = read_all(&small);
	assert_int_equal(seen.frames, 2 * FRAMES);
	assert_int_equal(seen.damages, 0);
	assert_true(seen.state.ended);
	/* the same file with garbage at the end */
	memset(memory.bytes + 2 * first, 6, 100);
	save(memory.bytes, 2 * first + 100);
	seen = read_all(&small);
	assert_int_equal(seen.frames, 2 * FRAMES);
	assert_int_equal(seen.state.cut_at, 2 * first);
	assert_int_equal(seen.state.cut_bytes, 100);
}

#define MANY 1300
#define A_CHUNK 100

static int64_t time_of(int i)
{
	return 1000 + 10 * (int64_t)i;
}

static void make_many(void)
{
	const struct help_shape one = {.columns = 1};
	struct sx_recording_writer w;
	struct stixel_frame frame;
	uint64_t bytes[512];

	begin(&w, false);
	for (int i = 0; i < MANY; i++) {
		struct stixel_frame_header *h = (struct stixel_frame_header *)bytes;
		size_t n = help_frame(bytes, &one, EPOCH, (uint64_t)i + 1);

		h->published_ns = time_of(i);
		h->anchor_realtime_ns = i < MANY / 2 ? 0 : 9 - time_of(MANY / 4); /* the clock was set back */
		h->anchor_monotonic_ns = 0;
		sx_frame_restamp(bytes, EPOCH, (uint64_t)i + 1);
		assert_int_equal(stixel_parse(&frame, bytes, n), 0);
		assert_int_equal(sx_recording_frame(&w, &frame), 0);
		if (i % A_CHUNK == A_CHUNK - 1)
			assert_int_equal(sx_recording_flush(&w), 0);
	}
	end(&w);
	save(memory.bytes, memory.count);
}

static void next_frame(struct sx_recording *r, struct sx_record *record)
{
	do
		assert_int_equal(sx_recording_next(r, record), 1);
	while (record->kind != SX_RECORD_FRAME);
}

static void test_seek(void **state)
{
	static const int wanted[] = {1299, 0, 1, 99, 100, 101, 1199, 1200};
	struct sx_recording *r;
	struct sx_record record;
	struct sx_why why;

	make_many();
	assert_int_equal(sx_recording_open(&r, path, &why), 0);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		assert_int_equal(sx_recording_rewind(r), 0);
		next_frame(r, &record);
		assert_int_equal(record.frame.header->number, 1);
		assert_int_equal(sx_recording_seek(r, EPOCH, time_of(wanted[i]) + 9), 0);
		next_frame(r, &record); /* if there is no place to seek to, reading continues */
		assert_int_equal(record.frame.header->number,
				 wanted[i] < A_CHUNK ? 2 : wanted[i] / A_CHUNK * A_CHUNK + 1);
	}
	assert_int_equal(sx_recording_seek(r, EPOCH + 1, time_of(1299)), 0);
	next_frame(r, &record);
	assert_int_equal(record.frame.header->number, 1202);
	sx_recording_close(r);

	/* Without its end the file has no index, and reading continues from the current position. */
	save(memory.bytes, memory.count - 8);
	assert_int_equal(sx_recording_open(&r, path, &why), 0);
	assert_int_equal(sx_recording_seek(r, EPOCH, time_of(700)), -ESPIPE);
	next_frame(r, &record);
	assert_int_equal(record.frame.header->number, 1);
	sx_recording_close(r);
}

/* ---- cut and damaged files ---- */

/* Returns the end of the last whole record of any kind, or of the magic. */
static uint64_t last_whole(size_t bytes)
{
	uint64_t at = SX_MCAP_MAGIC_BYTES;

	while (at + SX_MCAP_HEAD_BYTES <= bytes) {
		uint64_t next = at + SX_MCAP_HEAD_BYTES + sx_mcap_head(memory.bytes + at).bytes;

		if (next > bytes)
			break;
		at = next;
	}
	return at;
}

static void cut_everywhere(const struct help_shape *shape, bool compress)
{
	make(shape, FRAMES, compress);
	for (size_t n = 0; n < memory.count; n++) {
		struct seen seen;
		int frames = 0;

		save(memory.bytes, n);
		seen = read_all(shape);
		if (n < SX_MCAP_MAGIC_BYTES + SX_MCAP_HEAD_BYTES || seen.result < 0) {
			assert_int_equal(seen.result, n == 0 ? -ENODATA : -EBADMSG);
			assert_true(n < 60);
			continue;
		}
		while (frames < FRAMES && chunk_end[frames] <= n)
			frames++;
		assert_int_equal(seen.frames, frames);
		assert_int_equal(seen.damages, 0);
		assert_false(seen.state.ended);
		assert_int_equal(seen.state.cut_bytes, n - last_whole(n));
		if (seen.state.cut_bytes)
			assert_int_equal(seen.state.cut_at, last_whole(n));
	}
}

static void test_cut_everywhere(void **state)
{
	cut_everywhere(&small, false);
	if (sx_codec_built())
		cut_everywhere(&pictures, true);
}

/*
 * Checks a recording with changed bytes at `at`: only the chunk with these bytes may be lost, and the reader
 * reports its offset.
 */
static void check_damaged(const struct help_shape *shape, size_t at, size_t bytes)
{
	int lost = 0, first = 0;
	struct seen seen;

	save(memory.bytes, memory.count);
	memcpy(memory.bytes, whole.bytes, whole.count);
	while (first < FRAMES - 1 && at >= chunk_end[first])
		first++;
	for (int i = 0; i < FRAMES; i++)
		lost += at < chunk_end[i] && at + bytes > chunk_at[i];
	seen = read_all(shape);
	assert_int_equal(seen.result, 0);
	assert_in_range(seen.frames, FRAMES - lost, FRAMES);
	assert_in_range(seen.damages + (seen.state.cut_bytes != 0), 1, 2);
	for (int i = 1; i < seen.frames; i++)
		assert_true(seen.numbers[i] > seen.numbers[i - 1]);
	if (seen.frames < FRAMES)
		assert_in_range(seen.damage_at, chunk_at[first], at + bytes);
}

static void damage_everywhere(const struct help_shape *shape, bool compress)
{
	make(shape, FRAMES, compress);
	memcpy(whole.bytes, memory.bytes, memory.count);
	whole.count = memory.count;
	for (size_t n = SX_MCAP_MAGIC_BYTES; n < whole.count; n++) {
		memory.bytes[n] ^= (uint8_t)(1u << n % 8);
		check_damaged(shape, n, 1);
	}
	/* large and small lengths; no checksum becomes 0, because 0 means that there is none */
	for (size_t n = 60; n + 16 < whole.count; n += 7) {
		size_t bytes = n & 1 ? 4 : 8;

		memset(memory.bytes + n, n & 2 ? 0xff : 0, bytes);
		memory.bytes[n] |= 1;
		if (memcmp(memory.bytes + n, whole.bytes + n, bytes) != 0)
			check_damaged(shape, n, bytes);
	}
}

static void test_damaged_everywhere(void **state)
{
	damage_everywhere(&pictures, false);
	if (sx_codec_built())
		damage_everywhere(&small, true);
}

/*
 * A damaged length may by chance end exactly where the footer begins. The bytes before it must be searched
 * all the same.
 */
static void test_a_length_that_leads_to_the_footer(void **state)
{
	const size_t footer = SX_MCAP_HEAD_BYTES + SX_MCAP_FOOTER_BYTES + SX_MCAP_MAGIC_BYTES;

	make(&pictures, FRAMES, false);
	memcpy(whole.bytes, memory.bytes, memory.count);
	whole.count = memory.count;
	for (int i = 0; i < 2 * FRAMES; i++) { /* the length of each chunk, and of the record after it */
		const size_t at = i % 2 ? chunk_end[i / 2] : chunk_at[i / 2];
		uint64_t bytes = whole.count - footer - at - SX_MCAP_HEAD_BYTES;

		for (int k = 0; k < 8; k++, bytes >>= 8)
			memory.bytes[at + 1 + (size_t)k] = (uint8_t)bytes;
		check_damaged(&pictures, at + 1, 8);
	}
}

/*
 * A damaged length may end anywhere: at another record, or at bytes that resemble one by chance. The chunks
 * that it leaps over must be found all the same.
 */
static void test_a_length_that_leads_to_a_record(void **state)
{
	make(&pictures, FRAMES, false);
	memcpy(whole.bytes, memory.bytes, memory.count);
	whole.count = memory.count;
	for (int i = 0; i < 2; i++) { /* the length of a chunk, and of the message index after it */
		const size_t at = i ? chunk_end[0] : chunk_at[0];
		/* the lengths that a message index may have */
		const size_t most = whole.count - at - SX_MCAP_HEAD_BYTES;

		for (size_t n = 6; n <= most; n += 16) {
			for (int k = 0; k < 8; k++)
				memory.bytes[at + 1 + (size_t)k] = (uint8_t)((uint64_t)n >> 8 * k);
			if (memcmp(memory.bytes + at, whole.bytes + at, SX_MCAP_HEAD_BYTES) != 0)
				check_damaged(&pictures, at + 1, 8);
		}
	}
}

/* A recording attached to a recording is not read, although chunks lie in it. */
static void test_an_attachment(void **state)
{
	struct sx_bytes b = {0};
	struct seen seen;

	make(&small, FRAMES, false);
	sx_bytes_add(&b, memory.bytes, chunk_at[0]);
	sx_bytes_number(&b, SX_MCAP_ATTACHMENT, 1);
	sx_bytes_number(&b, 16 + 4 + 3 + 4 + 1 + 8 + memory.count + 4, 8);
	sx_bytes_number(&b, 0, 8); /* times */
	sx_bytes_number(&b, 0, 8);
	sx_bytes_text(&b, "old"); /* name and type */
	sx_bytes_text(&b, "x");
	sx_bytes_number(&b, memory.count, 8);
	sx_bytes_add(&b, memory.bytes, memory.count);
	sx_bytes_number(&b, 0, 4); /* no checksum */
	sx_bytes_add(&b, memory.bytes + chunk_at[0], chunk_end[FRAMES - 1] - chunk_at[0]);
	assert_false(b.failed);
	save(b.at, b.count);
	sx_bytes_free(&b);
	seen = read_all(&small);
	assert_int_equal(seen.result, 0);
	assert_int_equal(seen.frames, FRAMES);
	assert_int_equal(seen.damages, 0);
	assert_int_equal(seen.state.cut_bytes, 0);
}

static void test_a_hole(void **state)
{
	struct seen seen;

	/* The third frame and a part of the fourth are lost: the reader returns the frames after them. */
	make(&pictures, FRAMES, false);
	memset(memory.bytes + chunk_at[2], 0, (chunk_at[3] - chunk_at[2]) / 2);
	memmove(memory.bytes + chunk_at[3] + 64, memory.bytes + chunk_at[4], memory.count - chunk_at[4]);
	save(memory.bytes, memory.count - (chunk_at[4] - chunk_at[3]) + 64);
	seen = read_all(&pictures);
	assert_int_equal(seen.frames, FRAMES - 2);
	assert_int_equal(seen.numbers[1], 2);
	assert_int_equal(seen.numbers[2], 5);
	assert_int_equal(seen.state.damaged_places, 1);
	assert_int_equal(seen.damage_at, chunk_at[2]);
}

/* Without the first chunk, which has the schemas, and without the index, all other chunks are read. */
static void test_the_first_chunk_is_gone(void **state)
{
	struct seen seen;

	make(&pictures, FRAMES, false);
	memset(memory.bytes + chunk_at[0] + 100, 0, 50);
	save(memory.bytes, chunk_end[FRAMES - 1]);
	seen = read_all(&pictures);
	assert_int_equal(seen.frames, FRAMES - 1);
	assert_int_equal(seen.damage_at, chunk_at[0]);
}

/* ---- malicious files, and files of other programs ---- */

static const struct sx_mcap_pair frames_pairs[] = {{"stixel", "stixel"}, {NULL, NULL}};

/* Writes a file with this one message and correct checksums, among records that other programs may write. */
static void make_foreign(const void *data, size_t bytes, bool ours)
{
	static const char text[] = "{\"speed\": 3.5}";
	const struct sx_mcap_part parts[] = {{text, sizeof(text) - 1}, {data, bytes}};
	struct sx_mcap *m;
	int json, channel;

	memory.count = 0;
	assert_int_equal(sx_mcap_create(&m, sink, &memory, 1 << 20, false), 0);
	json = sx_mcap_channel(m, sx_mcap_schema(m, "car.Speed", "jsonschema", "{}", 2), "/car/speed", "json",
			       NULL);
	channel = ours ? sx_mcap_channel(m, 0, "/front/stixel", "stixel", frames_pairs) : json;
	assert_true(json > 0 && channel > 0);
	assert_int_equal(sx_mcap_message(m, json, 1, parts, 1), 0);
	assert_int_equal(sx_mcap_message(m, channel, 2, parts + 1, 1), 0);
	assert_int_equal(sx_mcap_message(m, json, 3, parts, 1), 0);
	assert_int_equal(sx_mcap_finish(m), 0);
	sx_mcap_destroy(m);
	save(memory.bytes, memory.count);
}

static void test_among_others(void **state)
{
	uint64_t bytes[512];
	size_t n = help_frame(bytes, &small, EPOCH, 1);
	struct seen seen;

	make_foreign(bytes, n, true);
	seen = read_all(&small);
	assert_int_equal(seen.result, 0);
	assert_int_equal(seen.frames, 1);
	assert_string_equal(seen.info.instance, "front");
	make_foreign(bytes, n, false);
	seen = read_all(&small);
	assert_int_equal(seen.result, -ENOMSG);
	assert_non_null(strstr(seen.why.text, "without frames"));
}

/* A frame whose header claims more data than the message has. The reader must not read beyond the message. */
static void test_more_claimed_than_there_is(void **state)
{
	uint64_t bytes[512], claims[][3] = {{STIXEL_FRAME_BYTES_MAX, 0, 0},
					    {1u << 20, 0, 0},
					    {0, 0, 0},
					    {STIXEL_FRAME_BYTES_MAX, 1, 0xfffffff0u},
					    {8, 2, 0xffffffffu}};
	size_t n = help_frame(bytes, &small, EPOCH, 1);
	struct seen seen;

	for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		struct stixel_frame_header *h = (struct stixel_frame_header *)bytes;

		h->frame_bytes = (uint32_t)claims[i][0];
		h->plane_kind = (uint32_t)claims[i][1];
		h->plane_offset = (uint32_t)n;
		h->plane_bytes = (uint32_t)claims[i][2];
		make_foreign(bytes, i == 1 ? 100 : n, true);
		seen = read_all(&small);
		assert_int_equal(seen.result, 0);
		assert_int_equal(seen.frames, 0);
		assert_int_equal(seen.damages, 1);
	}
}

/*
 * Another program copied the frames without their images. The reader returns the frames without images and
 * flags them so.
 */
static void test_images_left_out(void **state)
{
	static uint64_t bytes[1024];
	struct sx_recording *r;
	struct sx_record record;
	struct sx_why why;
	size_t n = help_frame(bytes, &pictures, EPOCH, 1);
	const struct stixel_frame_header *h = (const struct stixel_frame_header *)bytes;
	const uint32_t bare = h->plane_offset;

	assert_true(h->plane_offset < n);
	make_foreign(bytes, h->plane_offset, true);
	assert_int_equal(sx_recording_open(&r, path, &why), 0);
	assert_int_equal(sx_recording_next(r, &record), 1);
	assert_int_equal(record.kind, SX_RECORD_FRAME);
	h = record.frame.header;
	assert_int_equal(h->frame_bytes, bare);
	assert_int_equal(h->plane_kind | h->plane2_kind, 0);
	assert_int_equal(h->flags & STIXEL_FRAME_PLANE_LEFT_OUT, STIXEL_FRAME_PLANE_LEFT_OUT);
	assert_memory_equal((const uint8_t *)record.frame.bytes + 760, (const uint8_t *)bytes + 760,
			    bare - 760);
	assert_int_equal(sx_recording_next(r, &record), 0);
	sx_recording_close(r);
	/* a damaged frame without images is not returned */
	bytes[10] ^= 1;
	make_foreign(bytes, bare, true);
	assert_int_equal(read_all(&pictures).damages, 1);
}

/* A file of records without chunks, with an end but no index, and without checksums. */
static void test_without_chunks(void **state)
{
	struct sx_bytes b = {0};
	uint64_t bytes[512];
	size_t n = help_frame(bytes, &small, EPOCH, 1);
	struct seen seen;

	sx_bytes_add(&b, SX_MCAP_MAGIC, SX_MCAP_MAGIC_BYTES);
	sx_bytes_number(&b, SX_MCAP_HEADER, 1);
	sx_bytes_number(&b, 8, 8);
	sx_bytes_number(&b, 0, 8);
	sx_bytes_number(&b, SX_MCAP_CHANNEL, 1);
	sx_bytes_number(&b, 2 + 2 + 4 + 13 + 4 + 6 + 4 + 4 + 6 + 4 + 6, 8);
	sx_bytes_number(&b, 7, 4);
	sx_bytes_text(&b, "/front/stixel");
	sx_bytes_text(&b, "stixel");
	sx_bytes_number(&b, 20, 4);
	sx_bytes_text(&b, "stixel");
	sx_bytes_text(&b, "stixel");
	sx_bytes_number(&b, 0x99, 1); /* an extension */
	sx_bytes_number(&b, 3, 8);
	sx_bytes_number(&b, 0, 3);
	for (int i = 0; i < 2; i++) {
		sx_bytes_number(&b, SX_MCAP_MESSAGE, 1);
		sx_bytes_number(&b, SX_MCAP_MESSAGE_BYTES + n, 8);
		sx_bytes_number(&b, 7, 6);
		sx_bytes_number(&b, 1, 8);
		sx_bytes_number(&b, 1, 8);
		sx_bytes_add(&b, bytes, n);
	}
	sx_bytes_number(&b, SX_MCAP_FOOTER, 1);
	sx_bytes_number(&b, SX_MCAP_FOOTER_BYTES, 8);
	sx_bytes_number(&b, 0, 8);
	sx_bytes_number(&b, 0, 8);
	sx_bytes_number(&b, 0, 4);
	sx_bytes_add(&b, SX_MCAP_MAGIC, SX_MCAP_MAGIC_BYTES);
	assert_false(b.failed);
	save(b.at, b.count);
	sx_bytes_free(&b);
	seen = read_all(&small);
	assert_int_equal(seen.result, 0);
	assert_int_equal(seen.frames, 2);
	assert_int_equal(seen.damages, 0);
	assert_true(seen.state.ended && !seen.state.indexed);
}

static void test_lz4(void **state)
{
	static const uint8_t lz4[] = {SX_MCAP_CHUNK, 43, 0, 0, 0, 0, 0, 0, 0, [33] = 3, [37] = 0};
	uint8_t chunk[SX_MCAP_HEAD_BYTES + 43] = {0};
	struct seen seen;

	memcpy(chunk, lz4, sizeof(lz4));
	chunk[37] = 3;
	chunk[33] = 0;
	memcpy(chunk + 41, "lz4", 3);
	make(&small, 1, false);
	memmove(memory.bytes + chunk_at[0] + sizeof(chunk), memory.bytes + chunk_at[0],
		memory.count - chunk_at[0]);
	memcpy(memory.bytes + chunk_at[0], chunk, sizeof(chunk));
	save(memory.bytes, memory.count + sizeof(chunk));
	seen = read_all(&small);
	assert_int_equal(seen.result, -ENOPKG);
	assert_non_null(strstr(sx_recording_strerror(seen.result), "lz4"));
}

static void test_no_such_file(void **state)
{
	struct sx_recording *r;
	struct sx_why why;

	assert_int_equal(sx_recording_open(&r, "/nonexistent/file", &why), -ENOENT);
	assert_non_null(strstr(why.text, "/nonexistent/file"));
	assert_int_equal(sx_recording_open(&r, "/dev", &why), -EISDIR);
	save("STIXREC\n\1\0\0\0", 12);
	assert_int_equal(sx_recording_open(&r, path, &why), -EBADMSG);
	assert_non_null(strstr(why.text, "older stixelctl"));
	sx_recording_close(NULL);
}

static int remove_file(void **state)
{
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_a_frame_with_more),
		cmocka_unit_test(test_no_frames),
		cmocka_unit_test(test_two_in_one),
		cmocka_unit_test(test_seek),
		cmocka_unit_test(test_cut_everywhere),
		cmocka_unit_test(test_damaged_everywhere),
		cmocka_unit_test(test_a_length_that_leads_to_the_footer),
		cmocka_unit_test(test_a_length_that_leads_to_a_record),
		cmocka_unit_test(test_an_attachment),
		cmocka_unit_test(test_a_hole),
		cmocka_unit_test(test_the_first_chunk_is_gone),
		cmocka_unit_test(test_among_others),
		cmocka_unit_test(test_more_claimed_than_there_is),
		cmocka_unit_test(test_images_left_out),
		cmocka_unit_test(test_without_chunks),
		cmocka_unit_test(test_lz4),
		cmocka_unit_test(test_no_such_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	snprintf(path, sizeof(path), "/dev/shm/sx-recording-%d", (int)getpid());
	return cmocka_run_group_tests(tests, NULL, remove_file);
}
