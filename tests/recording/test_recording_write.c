/*
 * Tests what a writer records without frames, and when it writes buffered data.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "recording/recording.h"
#include "recording/recording_write.h"
#include "tests/ipc/help.h"

#define CHUNK_BYTES 4096u
#define HOUR_NS (3600 * SX_NS_PER_S)

static const struct help_shape small = {.columns = 2};
static FILE *file;
static char path[64];

static int sink(void *user, const void *data, size_t bytes)
{
	return fwrite(data, 1, bytes, user) == bytes ? 0 : -1;
}

static void begin(struct sx_recording_writer *w)
{
	const struct sx_recording_params params = {
		.instance = "front", .chunk_bytes = CHUNK_BYTES, .period_ns = HOUR_NS};

	snprintf(path, sizeof(path), "/tmp/test_recording_write.%d", (int)getpid());
	file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(sx_recording_begin(w, sink, file, &params), 0);
}

static void add_frame(struct sx_recording_writer *w, uint64_t number)
{
	uint64_t bytes[512];
	struct stixel_frame frame;
	size_t n = help_frame(bytes, &small, 7, number);

	assert_int_equal(stixel_parse(&frame, bytes, n), 0);
	assert_int_equal(sx_recording_frame(w, &frame), 0);
}

/*
 * A gap before all frames has the time that the caller gives. A gap after a frame has the frame's time,
 * unless the caller gives one.
 */
static void test_the_time_of_a_gap(void **state)
{
	const struct sx_record_gap gap = {.lost = 3, .reason = SX_GAP_DAMAGED};
	const int64_t early_ns = INT64_C(1700000000000000000);
	struct sx_recording_writer w;
	struct sx_recording *r;
	struct sx_record first, frame, second;
	struct sx_why why;

	begin(&w);
	assert_int_equal(sx_recording_gap(&w, &gap, early_ns), 0);
	add_frame(&w, 1);
	assert_int_equal(sx_recording_gap(&w, &gap, 0), 0);
	assert_int_equal(sx_recording_end(&w), 0);
	sx_recording_finish(&w);
	fclose(file);

	assert_int_equal(sx_recording_open(&r, path, &why), 0);
	unlink(path);
	assert_int_equal(sx_recording_next(r, &first), 1);
	assert_int_equal(sx_recording_next(r, &frame), 1);
	assert_int_equal(sx_recording_next(r, &second), 1);
	assert_int_equal(first.kind, SX_RECORD_GAP);
	assert_int_equal(first.time_ns, early_ns);
	assert_int_equal(frame.kind, SX_RECORD_FRAME);
	assert_int_equal(second.kind, SX_RECORD_GAP);
	assert_int_equal(second.time_ns, frame.time_ns);
	sx_recording_close(r);
}

/* A full chunk is written, and the time of the next chunk begins with the next record. */
static void test_a_full_chunk_begins_the_time_anew(void **state)
{
	struct sx_recording_writer w;
	uint64_t number = 1;
	long written;

	begin(&w);
	add_frame(&w, number++);
	written = ftell(file);
	while (ftell(file) == written) {
		assert_true(number < 100);
		w.began_ns = sx_now_ns() - HOUR_NS + 60 * SX_NS_PER_S; /* the chunk would soon be late */
		add_frame(&w, number++);
	}
	assert_true(number > 3);
	assert_true(sx_now_ns() - w.began_ns < 60 * SX_NS_PER_S);
	assert_true(w.began_ns > 0);
	sx_recording_finish(&w);
	fclose(file);
	unlink(path);
}

static int reallocs_left; /* number of calls until one fails */

void *__real_realloc(void *p, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes)
{
	return --reallocs_left == 0 ? NULL : __real_realloc(p, bytes);
}

/*
 * If there is no memory for the schemas and channels, the start fails. Otherwise the writer would look for
 * them later.
 */
static void test_a_beginning_without_memory_fails(void **state)
{
	const struct sx_recording_params params = {
		.instance = "front", .chunk_bytes = CHUNK_BYTES, .period_ns = HOUR_NS};
	struct sx_recording_writer w;
	int nth = 0, r;

	file = tmpfile();
	assert_non_null(file);
	do {
		reallocs_left = ++nth;
		r = sx_recording_begin(&w, sink, file, &params);
		assert_int_equal(r, reallocs_left <= 0 ? -ENOMEM : 0);
		sx_recording_finish(&w);
	} while (r < 0);
	assert_true(nth > 3);
	reallocs_left = 0;
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_time_of_a_gap),
		cmocka_unit_test(test_a_full_chunk_begins_the_time_anew),
		cmocka_unit_test(test_a_beginning_without_memory_fails),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
