/*
 * Recordings: what is written is read; cut anywhere or damaged anywhere, everything that is
 * whole is read, and only that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "ipc/crc32c.h"
#include "ipc/frame.h"
#include "recording/file_queue.h"
#include "recording/recording.h"
#include "recording/recording_codec.h"
#include "recording/recording_write.h"
#include "tests/ipc/help.h"

#define EPOCH 77u
#define FRAMES 6

static const struct help_shape small = {.columns = 2},
			       pictures = {.columns = 3, .plane_width = 16, .plane_height = 8};

/* ---- a recording in memory, and where its records begin ---- */

struct memory {
	uint8_t bytes[4u << 20];
	size_t count;
};

static struct memory memory;
static char path[64];
static uint64_t record_at[64]; /* offsets of frame records, then the end of the last */

static int sink(void *user, const void *data, size_t bytes)
{
	struct memory *m = user;

	assert_true(m->count + bytes <= sizeof(m->bytes));
	memcpy(m->bytes + m->count, data, bytes);
	m->count += bytes;
	return 0;
}

static void add_frames(struct sx_recording_writer *w, const struct help_shape *shape, int frames)
{
	uint64_t bytes[4096];
	struct stixel_frame frame;

	assert_true(help_frame_bytes(shape) <= sizeof(bytes));
	for (int i = 0; i < frames; i++) {
		size_t n = help_frame(bytes, shape, EPOCH, (uint64_t)i + 1);

		assert_int_equal(stixel_parse(&frame, bytes, n), 0);
		record_at[i] = w->offset;
		assert_int_equal(sx_recording_frame(w, &frame), 0);
		record_at[i + 1] = w->offset;
	}
}

static void make(const struct help_shape *shape, int frames, bool compress)
{
	struct sx_record_publisher publisher = {.epoch = EPOCH, .pid = 5, .version = "1.2.3"};
	struct sx_recording_writer w;

	memory.count = 0;
	assert_int_equal(sx_recording_begin(&w, sink, &memory, "front", compress), 0);
	assert_int_equal(sx_recording_publisher(&w, &publisher), 0);
	add_frames(&w, shape, frames);
	assert_int_equal(sx_recording_end(&w), 0);
	assert_int_equal(w.end.file_bytes, memory.count);
	sx_recording_finish(&w);
}

static void save(const void *bytes, size_t count)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), (ssize_t)count);
	close(fd);
}

/* What reading gives. */
struct seen {
	int frames, publishers, gaps, damages, result;
	uint64_t numbers[64];
	struct sx_recording_state state;
};

static struct seen read_all(const struct help_shape *shape)
{
	struct sx_recording *r = NULL;
	struct sx_record record;
	struct seen seen = {0};
	char why[256];

	seen.result = sx_recording_open(&r, path, why, sizeof(why));
	if (seen.result < 0) {
		assert_true(strlen(why) > 10);
		return seen;
	}
	while ((seen.result = sx_recording_next(r, &record)) > 0) {
		seen.publishers += record.kind == SX_RECORD_PUBLISHER;
		seen.gaps += record.kind == SX_RECORD_GAP;
		seen.damages += record.kind == SX_RECORD_DAMAGE;
		if (record.kind != SX_RECORD_FRAME)
			continue;
		/* Nothing is given out that is not what was put in. */
		assert_true(help_frame_good(&record.frame, shape));
		seen.numbers[seen.frames++ % 64] = record.frame.header->number;
	}
	seen.state = *sx_recording_state(r);
	sx_recording_close(r);
	return seen;
}

/* ---- sound files ---- */

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
	assert_true(seen.state.ended);
	assert_int_equal(seen.state.cut_bytes, 0);
	assert_int_equal(seen.state.end.frames, FRAMES);
	assert_int_equal(seen.state.offset, memory.count);
	assert_int_equal(seen.state.compressed > 0, compress);
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
	struct sx_recording_writer w;

	if (!sx_record_codec_built()) {
		assert_int_equal(sx_recording_begin(&w, sink, &memory, "front", true), -ENOTSUP);
		return;
	}
	round_trip(&small, true);
	round_trip(&pictures, true);
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
	save(memory.bytes, first);
	memmove(memory.bytes + first, memory.bytes, first);
	save(memory.bytes, 2 * first);
	seen = read_all(&small);
	assert_int_equal(seen.frames, 2 * FRAMES);
	assert_int_equal(seen.damages, 1); /* the second header */
}

#define MANY 1300

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

	memory.count = 0;
	assert_int_equal(sx_recording_begin(&w, sink, &memory, "front", false), 0);
	for (int i = 0; i < MANY; i++) {
		size_t n = help_frame(bytes, &one, EPOCH, (uint64_t)i + 1);

		((struct stixel_frame_header *)bytes)->published_ns = time_of(i);
		sx_frame_restamp(bytes, EPOCH, (uint64_t)i + 1);
		assert_int_equal(stixel_parse(&frame, bytes, n), 0);
		assert_int_equal(sx_recording_frame(&w, &frame), 0);
	}
	assert_int_equal(sx_recording_end(&w), 0);
	sx_recording_finish(&w);
	save(memory.bytes, memory.count);
}

static void test_seek(void **state)
{
	static const int wanted[] = {1299, 0, 1, 511, 512, 513, 1023, 1024};
	struct sx_recording *r;
	struct sx_record record;
	char why[256];

	make_many();
	assert_int_equal(sx_recording_open(&r, path, why, sizeof(why)), 0);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		assert_int_equal(sx_recording_seek(r, time_of(wanted[i]) + 9), 0);
		do
			assert_int_equal(sx_recording_next(r, &record), 1);
		while (record.kind != SX_RECORD_FRAME);
		assert_int_equal(record.frame.header->number, wanted[i] + 1);
	}
	assert_int_equal(sx_recording_seek(r, -5), 0);
	assert_int_equal(sx_recording_next(r, &record), 1);
	assert_int_equal(record.frame.header->number, 1);
	assert_int_equal(sx_recording_rewind(r), 0);
	sx_recording_close(r);

	/* Without its end there is no index; it is read on from where it is. */
	save(memory.bytes, memory.count - 8);
	assert_int_equal(sx_recording_open(&r, path, why, sizeof(why)), 0);
	assert_int_equal(sx_recording_seek(r, time_of(700)), -ESPIPE);
	assert_int_equal(sx_recording_next(r, &record), 1);
	assert_int_equal(record.frame.header->number, 1);
	sx_recording_close(r);
}

/* ---- cut and damaged files ---- */

static int whole_before(size_t bytes)
{
	int n = 0;

	while (n < FRAMES && record_at[n + 1] <= bytes)
		n++;
	return n;
}

/* The end of the last whole record, of whatever kind. */
static uint64_t last_whole(size_t bytes)
{
	uint64_t at = sizeof(struct sx_recording_header);
	struct sx_record_head h;

	for (;;) {
		if (at + sizeof(h) > bytes)
			return at;
		memcpy(&h, memory.bytes + at, sizeof(h));
		if (at + sizeof(h) + ((h.bytes + 7) & ~7u) > bytes)
			return at;
		at += sizeof(h) + ((h.bytes + 7) & ~7u);
	}
}

static void cut_everywhere(bool compress)
{
	make(&small, FRAMES, compress);
	for (size_t n = 0; n < memory.count; n++) {
		struct seen seen;

		save(memory.bytes, n);
		seen = read_all(&small);
		if (n < sizeof(struct sx_recording_header)) {
			assert_int_equal(seen.result, n == 0 ? -ENODATA : -EBADMSG);
			continue;
		}
		assert_int_equal(seen.result, 0);
		assert_int_equal(seen.frames, whole_before(n));
		assert_int_equal(seen.damages, 0);
		assert_false(seen.state.ended);
		assert_int_equal(seen.state.cut_bytes, n - last_whole(n));
		if (seen.state.cut_bytes)
			assert_int_equal(seen.state.cut_at, last_whole(n));
	}
}

static void test_cut_everywhere(void **state)
{
	cut_everywhere(false);
	if (sx_record_codec_built())
		cut_everywhere(true);
}

/* Which record holds this byte: a frame's place, or -1. */
static int frame_at(size_t byte)
{
	for (int i = 0; i < FRAMES; i++)
		if (byte >= record_at[i] && byte < record_at[i + 1])
			return i;
	return -1;
}

/*
 * One bit wrong: that record is lost and told, each other frame is read, and none is
 * given out that is not whole.
 */
static void test_flipped_bits(void **state)
{
	make(&pictures, FRAMES, false);
	for (size_t n = 8; n < memory.count; n++) {
		int lost = frame_at(n);
		struct seen seen;

		if (n >= 8 && n < 10) /* the major version: refused */
			continue;
		memory.bytes[n] ^= (uint8_t)(1u << n % 8);
		save(memory.bytes, memory.count);
		memory.bytes[n] ^= (uint8_t)(1u << n % 8);
		seen = read_all(&pictures);
		assert_int_equal(seen.result, 0);
		assert_true(seen.frames >= FRAMES - (lost >= 0));
		if (seen.frames == FRAMES - 1)
			assert_true(seen.damages == 1 && lost >= 0);
		/* Only the zeros behind a content may change unnoticed. */
		if (lost >= 0 && seen.frames == FRAMES)
			assert_true(n >= record_at[lost + 1] - 8);
	}
}

static void test_a_hole(void **state)
{
	struct seen seen;

	/* The third frame, and half of the fourth, are gone: what follows is read. */
	make(&pictures, FRAMES, false);
	memset(memory.bytes + record_at[2], 0, (record_at[3] - record_at[2]) / 2);
	memmove(memory.bytes + record_at[3] + 64, memory.bytes + record_at[4], memory.count - record_at[4]);
	save(memory.bytes, memory.count - (record_at[4] - record_at[3]) + 64);
	seen = read_all(&pictures);
	assert_int_equal(seen.frames, FRAMES - 2);
	assert_int_equal(seen.numbers[1], 2);
	assert_int_equal(seen.numbers[2], 5);
	assert_int_equal(seen.state.damaged_places, 1);
}

static void seal_record(struct sx_record_head *h)
{
	h->content_crc = sx_crc32c(0, h + 1, h->bytes);
	h->head_crc = sx_crc32c(0, h, offsetof(struct sx_record_head, head_crc));
}

/*
 * All checksums are good, and the one record, of a frame's header alone, claims content far behind the end of
 * the file, and of what was read of it. Nothing there is looked at.
 */
static void claim(unsigned encoding, uint32_t plain_bytes)
{
	struct sx_record_head *h =
		(struct sx_record_head *)(memory.bytes + sizeof(struct sx_recording_header));
	struct stixel_frame_header *frame = (struct stixel_frame_header *)(h + 1);
	struct seen seen;

	make(&small, 1, false);
	memmove(h, memory.bytes + record_at[0], record_at[1] - record_at[0]);
	frame->frame_bytes = plain_bytes;
	h->bytes = sizeof(*frame);
	h->plain_bytes = plain_bytes;
	h->encoding = (uint16_t)encoding;
	seal_record(h);
	save(memory.bytes, sizeof(struct sx_recording_header) + sizeof(*h) + sizeof(*frame));
	seen = read_all(&small);
	assert_int_equal(seen.result, encoding == SX_RECORD_ZSTD && !sx_record_codec_built() ? -ENOTSUP : 0);
	assert_int_equal(seen.frames, 0);
}

static void test_more_claimed_than_there_is(void **state)
{
	claim(SX_RECORD_PLAIN, STIXEL_FRAME_BYTES_MAX);
	claim(SX_RECORD_PLAIN, 1u << 20);
	claim(SX_RECORD_PLAIN, 0);
	claim(SX_RECORD_ZSTD, STIXEL_FRAME_BYTES_MAX);
}

/* ---- other versions ---- */

static void seal_header(struct sx_recording_header *h, size_t bytes)
{
	h->checksum = 0;
	h->checksum = sx_crc32c(0, h, bytes);
}

static void test_other_versions(void **state)
{
	struct sx_recording_header *h = (struct sx_recording_header *)memory.bytes;
	struct sx_recording *r;
	char why[256];

	make(&small, FRAMES, false);
	h->major = 2;
	seal_header(h, sizeof(*h));
	save(memory.bytes, memory.count);
	assert_int_equal(sx_recording_open(&r, path, why, sizeof(why)), -EPROTONOSUPPORT);
	assert_non_null(strstr(why, "version 2.0"));

	h->major = 1;
	h->magic ^= 1;
	save(memory.bytes, memory.count);
	assert_int_equal(sx_recording_open(&r, path, why, sizeof(why)), -EBADMSG);
	assert_non_null(strstr(why, path));
}

/* A newer minor: the header is longer, and there is a kind of record that nobody knows. */
static void test_newer_minor(void **state)
{
	static uint8_t newer[sizeof(memory.bytes)];
	struct sx_recording_header *h = (struct sx_recording_header *)newer;
	struct sx_record_head unknown = {
		.magic = SX_RECORD_MAGIC, .kind = 99, .bytes = 16, .plain_bytes = 16};
	size_t n = sizeof(*h) + 32, rest;
	struct seen seen;

	make(&small, FRAMES, false);
	memcpy(newer, memory.bytes, sizeof(*h));
	memset(newer + sizeof(*h), 0xab, 32);
	h->minor = 9;
	h->header_bytes = (uint32_t)n;
	seal_header(h, n);
	unknown.content_crc = sx_crc32c(0, "0123456789abcdef", 16);
	unknown.head_crc = sx_crc32c(0, &unknown, offsetof(struct sx_record_head, head_crc));
	memcpy(newer + n, &unknown, sizeof(unknown));
	memcpy(newer + n + sizeof(unknown), "0123456789abcdef", 16);
	n += sizeof(unknown) + 16;
	rest = memory.count - sizeof(*h);
	memcpy(newer + n, memory.bytes + sizeof(*h), rest);
	save(newer, n + rest);
	seen = read_all(&small);
	assert_int_equal(seen.result, 0);
	assert_int_equal(seen.frames, FRAMES);
	assert_int_equal(seen.damages, 0);
	assert_true(seen.state.ended);
}

static void test_no_such_file(void **state)
{
	struct sx_recording *r;
	char why[256];

	assert_int_equal(sx_recording_open(&r, "/nonexistent/file", why, sizeof(why)), -ENOENT);
	assert_non_null(strstr(why, "/nonexistent/file"));
	assert_int_equal(sx_recording_open(&r, "/dev", why, sizeof(why)), -EISDIR);
	sx_recording_close(NULL);
}

/* ---- the queue before the file ---- */

/* Bytes in hand: n before, least or a few more afterwards. */
static size_t read_at_least(int fd, uint8_t got[5000], size_t n, size_t least)
{
	while (n < least) {
		ssize_t more = read(fd, got + n, 5000 - n);

		assert_true(more > 0);
		n += (size_t)more;
	}
	return n;
}

static void test_queue_keeps_order(void **state)
{
	struct sx_file_queue *q;
	uint8_t got[5000];
	size_t n = 0;
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(fcntl(pipes[1], F_SETPIPE_SZ, 4096), 4096);
	assert_int_equal(sx_file_queue_create(&q, pipes[1], 1000, NULL), 0);
	for (int i = 0; i < 500; i++) {
		uint8_t ten[10];

		memset(ten, i, sizeof(ten));
		/*
		 * The pipe takes 3097 bytes at least (it waits for room for a whole write) and the queue
		 * 1000: make room before they are full, or nobody does, and enough for the rest.
		 */
		if (i == 400)
			n = read_at_least(pipes[0], got, 0, 2500);
		assert_int_equal(sx_file_queue_put(q, ten, sizeof(ten)), 0);
	}
	read_at_least(pipes[0], got, n, sizeof(got));
	assert_int_equal(sx_file_queue_flush(q), 0);
	assert_int_equal(sx_file_queue_written(q), sizeof(got));
	for (size_t i = 0; i < sizeof(got); i++)
		assert_int_equal(got[i], (uint8_t)(i / 10));
	sx_file_queue_destroy(q);
	close(pipes[0]);
	close(pipes[1]);
}

static void test_queue_tells_a_full_disk(void **state)
{
	int fd = open("/dev/full", O_WRONLY);
	struct sx_file_queue *q;
	char text[100] = "";
	int r = 0;

	assert_true(fd >= 0);
	assert_int_equal(sx_file_queue_create(&q, fd, 1000, NULL), 0);
	for (int i = 0; i < 1000 && r == 0; i++)
		r = sx_file_queue_put(q, text, sizeof(text));
	assert_int_equal(r, -ENOSPC);
	assert_int_equal(sx_file_queue_flush(q), -ENOSPC);
	sx_file_queue_destroy(q);
	close(fd);
}

/* Asked to stop, a reader that has fallen asleep is not waited for. */
static void test_queue_gives_up(void **state)
{
	volatile sig_atomic_t stop = 0;
	struct sx_file_queue *q;
	static char much[200000];
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(sx_file_queue_create(&q, pipes[1], 1000, &stop), 0);
	stop = 1;
	assert_int_equal(sx_file_queue_put(q, much, sizeof(much)), -ETIMEDOUT);
	sx_file_queue_destroy(q);
	close(pipes[0]);
	close(pipes[1]);
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
		cmocka_unit_test(test_no_frames),
		cmocka_unit_test(test_two_in_one),
		cmocka_unit_test(test_seek),
		cmocka_unit_test(test_cut_everywhere),
		cmocka_unit_test(test_flipped_bits),
		cmocka_unit_test(test_a_hole),
		cmocka_unit_test(test_more_claimed_than_there_is),
		cmocka_unit_test(test_other_versions),
		cmocka_unit_test(test_newer_minor),
		cmocka_unit_test(test_no_such_file),
		cmocka_unit_test(test_queue_keeps_order),
		cmocka_unit_test(test_queue_tells_a_full_disk),
		cmocka_unit_test(test_queue_gives_up),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	snprintf(path, sizeof(path), "/dev/shm/sx-recording-%d", (int)getpid());
	return cmocka_run_group_tests(tests, NULL, remove_file);
}
