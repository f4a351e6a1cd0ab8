/*
 * Tests source "files": pairs that threads read before they are due. Their order, their bytes, bad files between
 * good ones, files that change meanwhile, and the end of the threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "capture/image/image_io.h"
#include "capture/read_ahead.h"
#include "capture/source.h"
#include "tests/capture/image_files.h"
#include "tests/check.h"

#define W 200
#define H 120
#define PAIRS 30

static struct sx_why why;

static const char *name_of(const char *folder, int side, int i)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%03d.pgm", side ? "right" : "left", i);
	return in_folder(folder, name);
}

/* Writes an image of numbers as text, which takes many times as long to read as one of bytes. */
static void write_text_of(const char *path, int width, int height, int start)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fprintf(f, "P2\n%d %d\n255\n", width, height);
	for (int y = 0; y < height; y++)
		for (int x = 0; x < width; x++)
			fprintf(f, "%d\n", (x + 3 * y + start) & 255);
	assert_int_equal(fclose(f), 0);
}

static void write_text(const char *path, int start)
{
	write_text_of(path, W, H, start);
}

/* Writes pairs of which some take longer to read than others, so that threads end out of order. */
static void make_pairs(const char *folder, int count)
{
	for (int i = 0; i < count; i++)
		for (int side = 0; side < 2; side++)
			if ((i + side) % 3 == 0)
				write_text(name_of(folder, side, i), i + 100 * side);
			else
				write_ramp(name_of(folder, side, i), W, H, i + 100 * side);
}

static struct sx_source *begin(const struct sx_source_params *p, int slots)
{
	struct sx_source *s = NULL;

	if (sx_source_open(&s, p, slots, &why) < 0)
		fail_msg("%s", why.text);
	return s;
}

/* Checks every pixel of the pair whose first pixels are i and 100 + i. */
static void expect_pair(const struct sx_pair *pair, int i)
{
	for (int side = 0; side < 2; side++) {
		const struct sx_image *img = side ? &pair->right : &pair->left;

		for (int y = 0; y < H; y++) {
			const uint8_t *row = sx_image_row(img, y);

			for (int x = 0; x < W; x++)
				if (row[x] != ((x + 3 * y + i + 100 * side) & 255))
					fail_msg("pair %d, side %d, (%d, %d): %d", i, side, x, y, row[x]);
		}
	}
}

/* Waits until the source may have a pair, and takes it. */
static int next(struct sx_source *s, struct sx_pair *pair)
{
	struct pollfd p = {.fd = sx_source_fd(s), .events = POLLIN};

	assert_int_equal(poll(&p, 1, 10000), 1);
	return sx_source_next(s, pair, &why);
}

static void expect_next(struct sx_source *s, int i)
{
	struct sx_pair pair;

	if (next(s, &pair) != 1)
		fail_msg("pair %d: %s", i, why.text);
	expect_pair(&pair, i);
	sx_source_release(s, &pair);
}

/* The caller holds up to 3 pairs, which keep their bytes while later pairs are read, and gives them back mixed. */
static void test_order_and_bytes(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state, .loop = true};
	struct check_rng rng = {7};
	struct sx_pair held[3];
	int pair_of[3], count = 0;
	struct sx_source *s;

	make_pairs(*state, PAIRS);
	s = begin(&p, 3);
	for (int i = 0; i < 10 * PAIRS; i++) {
		if (count == 3) {
			const int k = (int)check_below(&rng, 3);

			expect_pair(&held[k], pair_of[k]);
			sx_source_release(s, &held[k]);
			held[k] = held[2];
			pair_of[k] = pair_of[2];
			count--;
		}
		assert_int_equal(next(s, &held[count]), 1);
		assert_int_equal(held[count].number, i + 1);
		pair_of[count] = i % PAIRS;
		expect_pair(&held[count], pair_of[count]);
		count++;
	}
	assert_int_equal(count, 3);
	assert_int_equal(sx_source_next(s, &held[0], &why), 0);
	sx_source_close(s);
}

/* Each bad file gives the sentence of its reader, at the turn of its pair. */
static void test_errors_between_good_pairs(void **state)
{
	static const struct {
		int pair, side;
		const char *content, *sentence;
	} bad[] = {
		{4, 0, NULL, "left004.pgm: No such file"},
		{5, 1, "", "right005.pgm: 0 bytes"},
		{9, 1, "P5\n200 120\n255\nshort", "right009.pgm: broken PGM (cut short"},
		{10, 0, "P5\n2 2\n255\n1234", "left010.pgm: 2x2 pixels, but the first image has 200x120"},
		{29, 0, "no image", "left029.pgm: neither PNG nor"},
	};
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state};
	struct sx_source_counters c;
	struct sx_source *s;
	struct sx_pair pair;
	size_t k = 0;

	make_pairs(*state, PAIRS);
	s = begin(&p, 2);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *path = name_of(*state, bad[i].side, bad[i].pair);

		if (bad[i].content)
			write_bytes(path, bad[i].content, strlen(bad[i].content));
		else
			assert_int_equal(unlink(path), 0);
	}
	for (int i = 0; i < PAIRS; i++) {
		if (bad[k].pair != i) {
			expect_next(s, i);
			continue;
		}
		assert_int_equal(next(s, &pair), -EBADMSG);
		if (!strstr(why.text, bad[k].sentence))
			fail_msg("'%s' does not say '%s'", why.text, bad[k].sentence);
		k++;
	}
	assert_int_equal(next(s, &pair), -ENODATA);
	assert_string_equal(why.text, "");
	sx_source_counters(s, &c);
	assert_int_equal(c.corrupt, sizeof(bad) / sizeof(bad[0]));
	assert_int_equal(c.captured[0], PAIRS - c.corrupt);
	sx_source_close(s);
}

/* Files are removed while they are played. Only pairs that were read before are given, and they are few. */
static void test_files_removed_while_they_are_played(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state};
	struct sx_source *s;
	struct sx_pair pair;
	int given = 0, r;

	make_pairs(*state, PAIRS);
	s = begin(&p, 2);
	expect_next(s, 0);
	for (int i = 0; i < PAIRS; i++)
		assert_int_equal(unlink(name_of(*state, 1, i)), 0);
	for (int i = 1; i < PAIRS; i++) { /* threads may have read any of the first ones in time */
		r = next(s, &pair);
		if (r == 1) {
			expect_pair(&pair, i);
			sx_source_release(s, &pair);
			given++;
		} else {
			assert_int_equal(r, -EBADMSG);
			assert_non_null(strstr(why.text, "No such file"));
		}
	}
	assert_in_range(given, 0, SX_READ_AHEAD_MAX);
	assert_int_equal(next(s, &pair), -ENODATA);
	sx_source_close(s);
}

/* A file that was incomplete when a thread read it is complete when its pair is due. */
static void test_a_file_that_is_written_late(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state};
	struct sx_source_counters c;
	struct sx_source *s;

	make_pairs(*state, 4);
	s = begin(&p, 2);
	write_bytes(name_of(*state, 0, 1), "P5\n200", 6);
	expect_next(s, 0);
	usleep(50000); /* pair 1 has been read */
	write_ramp(name_of(*state, 0, 1), W, H, 1);
	for (int i = 1; i < 4; i++)
		expect_next(s, i);
	sx_source_counters(s, &c);
	assert_int_equal(c.corrupt, 0);
	sx_source_close(s);
}

/* With less than a pair per second, no file is read before its pair is due. */
static void test_rare_pairs_are_read_when_they_are_due(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state, .fps = 0.9};
	struct sx_source *s;

	make_pairs(*state, 2);
	s = begin(&p, 2);
	expect_next(s, 0);
	usleep(50000);
	for (int side = 0; side < 2; side++)
		write_ramp(name_of(*state, side, 1), W, H, 77 + 100 * side);
	expect_next(s, 77);
	sx_source_close(s);
}

/* A caller that holds all its pairs loses those that fall due. They stay the next ones, with a rate. */
static void test_a_rate_without_a_free_slot(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state, .fps = 500};
	struct sx_source_counters c;
	struct sx_source *s;
	struct sx_pair pair[3];

	make_pairs(*state, 8);
	s = begin(&p, 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(next(s, &pair[i]), 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(next(s, &pair[2]), 0);
	sx_source_counters(s, &c);
	assert_true(c.dropped[0][SX_DROP_OVERLOAD] >= 3);
	assert_int_equal(c.captured[0], 2 + c.dropped[0][SX_DROP_OVERLOAD]);
	for (int i = 0; i < 2; i++) {
		expect_pair(&pair[i], i);
		sx_source_release(s, &pair[i]);
	}
	for (int i = 2; i < 8; i++)
		expect_next(s, i);
	sx_source_close(s);
}

/* A reader that is late again and again gets the newest pair each time, whatever the threads are reading. */
static void test_a_late_reader_of_recorded_pairs(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state, .recorded = true, .loop = true};
	struct sx_source_counters c;
	struct sx_source *s;
	struct sx_pair pair;
	uint64_t last = 0;
	FILE *f;

	f = fopen(in_folder(*state, "times.txt"), "w");
	assert_non_null(f);
	for (int i = 0; i < PAIRS; i++) {
		char name[2][64];

		for (int side = 0; side < 2; side++) {
			snprintf(name[side], sizeof(name[side]), "image_%d/%06d.pgm", side, i);
			write_text(in_folder(*state, name[side]), i + 100 * side);
		}
		fprintf(f, "%.3f\n", 0.002 * i);
	}
	assert_int_equal(fclose(f), 0);
	s = begin(&p, 2);
	for (int i = 0; i < 60; i++) {
		const int r = next(s, &pair);

		assert_int_equal(r, 1);
		assert_true(pair.number > last);
		last = pair.number;
		expect_pair(&pair, (int)((last - 1) % PAIRS));
		sx_source_release(s, &pair);
		if (i % 4 == 0)
			usleep(9000); /* four more pairs fall due */
	}
	sx_source_counters(s, &c);
	assert_int_equal(c.captured[0], last);
	assert_int_equal(c.dropped[0][SX_DROP_OVERLOAD], last - 60);
	assert_true(last > 75);
	sx_source_close(s);
}

static int count_threads(void)
{
	DIR *d = opendir("/proc/self/task");
	int count = 0;

	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));)
		count += e->d_name[0] != '.';
	closedir(d);
	return count;
}

/* A source that is closed while threads read leaves no thread, also if pairs are lent. */
static void test_close_while_threads_read(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state, .loop = true};
	const int before = count_threads();
	struct sx_pair pair;

	make_pairs(*state, PAIRS);
	for (int i = 0; i < 60; i++) {
		struct sx_source *s = begin(&p, 2);

		assert_true(count_threads() > before);
		for (int k = 0; k < i % 3; k++)
			assert_int_equal(next(s, &pair), 1);
		if (i % 7 == 3)
			usleep(500);
		sx_source_close(s);
		/* the kernel still lists a thread for a moment after its end */
		for (int ms = 0; ms < 5000 && count_threads() != before; ms++)
			usleep(1000);
		assert_int_equal(count_threads(), before);
	}
}

#define SLOW_W 1000
#define SLOW_H 400
#define SLOW_PAIRS SX_READ_AHEAD_MAX

/* Files that take milliseconds to read, without a source. */
struct slow {
	struct sx_file_list list;
	struct sx_slots slots;
	struct sx_read_ahead *ahead;
};

static void slow_begin(struct slow *t, const char *folder, struct sx_read_ahead_size size)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = folder};

	for (int i = 0; i < 2; i++)
		for (int side = 0; side < 2; side++)
			write_text_of(name_of(folder, side, i), SLOW_W, SLOW_H, i);
	assert_int_equal(sx_file_list_find(&t->list, &p, &why), 0);
	assert_int_equal(
		sx_slots_init(&t->slots, 1 + size.pairs, SX_LAYOUT_TWO, SLOW_W, SLOW_H, SX_PIXEL_U8, &why),
		0);
	t->slots.spare = size.pairs;
	assert_int_equal(sx_slots_pace(&t->slots, 0, &why), 0);
	assert_int_equal(sx_read_ahead_open(&t->ahead, &t->list, &t->slots, size, &why), 0);
}

static void slow_end(struct slow *t)
{
	sx_read_ahead_close(t->ahead);
	for (int i = 0; i < t->slots.count; i++)
		assert_false(atomic_load(&t->slots.slot[i].busy));
	sx_slots_finish(&t->slots);
	sx_file_list_finish(&t->list);
}

/*
 * A dropped pair keeps its slot while a decoder writes to it. If all places hold such pairs, the next pair waits
 * for one of them.
 */
static void test_dropped_while_they_are_read(void **state)
{
	struct slow t = {0};
	uint64_t turn = 0;
	int kept = 0;

	slow_begin(&t, *state, (struct sx_read_ahead_size){.decoders = 2, .pairs = 2});
	for (int i = 0; i < 200 && kept < 5; i++, turn++) {
		const struct sx_decode_task *tasks;
		struct sx_slot *slot;

		for (; sx_read_ahead_held(t.ahead) > 0; sx_read_ahead_drop(t.ahead, turn))
			usleep(100);
		assert_true(sx_read_ahead_begin(t.ahead, turn, 0));
		assert_true(sx_read_ahead_begin(t.ahead, turn, 0)); /* has begun already */
		assert_int_equal(sx_read_ahead_held(t.ahead), 1);
		usleep((useconds_t)(500 * (i % 8)));
		assert_true(sx_read_ahead_begin(t.ahead, ++turn, 0));
		assert_false(sx_read_ahead_begin(t.ahead, turn + 1, 0));
		sx_read_ahead_drop(t.ahead, ++turn);
		kept += sx_read_ahead_held(t.ahead) > 0;
		tasks = sx_read_ahead_take(t.ahead, turn, 1, &slot);
		for (int side = 0; side < 2; side++) {
			assert_int_equal(tasks[side].result, 0);
			for (int y = 0; y < SLOW_H; y += 13) {
				const uint8_t *row = sx_image_row(&slot->whole[side], y);

				for (int x = 0; x < SLOW_W; x++)
					assert_int_equal(row[x], (x + 3 * y + 1) & 255);
			}
		}
		sx_slots_unreserve(&t.slots, slot);
	}
	assert_int_equal(kept, 5);
	slow_end(&t);
}

static int64_t processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * SX_NS_PER_S + t.tv_nsec;
}

/* Closing reads no image that no thread has begun. */
static void test_close_begins_nothing(void **state)
{
	struct slow t = {0};
	struct sx_slot *slot;
	int64_t begun_ns, pair_ns;

	slow_begin(&t, *state, (struct sx_read_ahead_size){.decoders = 1, .pairs = SLOW_PAIRS});
	begun_ns = processor_ns();
	sx_read_ahead_take(t.ahead, 0, 0, &slot);
	sx_slots_unreserve(&t.slots, slot);
	pair_ns = processor_ns() - begun_ns;
	for (uint64_t i = 1; i <= SLOW_PAIRS; i++)
		assert_true(sx_read_ahead_begin(t.ahead, i, i % 2));
	begun_ns = processor_ns();
	slow_end(&t);
	assert_true(processor_ns() - begun_ns < SLOW_PAIRS / 2 * pair_ns);
}

/* The pairs ahead are few, and two of the largest ones. */
static void test_memory_is_bounded(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state, .loop = true};
	struct sx_block block;
	struct sx_source *s;
	int blocks = 0;

	for (size_t count = 1; count < 100; count++)
		for (int files = 1; files <= 2; files++) {
			char *name = NULL;
			const struct sx_file_list list = {.right = files == 2 ? &name : NULL, .count = count};
			const struct sx_read_ahead_size size = sx_read_ahead_choose(&list, 2 * W * H);

			assert_in_range(size.decoders, 1, SX_DECODERS_MAX);
			assert_true((size_t)size.decoders <= count * (size_t)files);
			assert_in_range(files * (size.pairs - 2), size.decoders, size.decoders + 1);
			assert_in_range(size.pairs, 3, SX_READ_AHEAD_MAX);
			assert_int_equal(sx_read_ahead_choose(&list, (size_t)300 << 20).pairs, 2);
		}
	make_pairs(*state, 6);
	s = begin(&p, 3);
	while (sx_source_block(s, blocks, &block))
		blocks++;
	assert_in_range(blocks, 3 + 3, 3 + 6 + 2);
	sx_source_close(s);
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_setup, folder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_order_and_bytes),
		IN_FOLDER(test_errors_between_good_pairs),
		IN_FOLDER(test_files_removed_while_they_are_played),
		IN_FOLDER(test_a_file_that_is_written_late),
		IN_FOLDER(test_rare_pairs_are_read_when_they_are_due),
		IN_FOLDER(test_a_rate_without_a_free_slot),
		IN_FOLDER(test_a_late_reader_of_recorded_pairs),
		IN_FOLDER(test_close_while_threads_read),
		IN_FOLDER(test_dropped_while_they_are_read),
		IN_FOLDER(test_close_begins_nothing),
		IN_FOLDER(test_memory_is_bounded),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
