/*
 * Tests the pairs of a writer: formats, places in its buffers, capture times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/v4l2/raw.h"
#include "tests/capture/shared/shared_case.h"
#include "tests/check.h"

static void formats(void **state)
{
	static const struct {
		enum stixel_pixel pixel;
		enum sx_pixel becomes;
		int bytes;
		struct sx_raw raw;
	} all[] = {
		{STIXEL_PIXEL_GREY8, SX_PIXEL_U8, 1, {0}},
		{STIXEL_PIXEL_GREY16, SX_PIXEL_Y16, 2, {0}},
		{STIXEL_PIXEL_RGB24, SX_PIXEL_RGB24, 3, {0}},
		{STIXEL_PIXEL_YUYV, SX_PIXEL_YUYV, 2, {0}},
		{STIXEL_PIXEL_UYVY, SX_PIXEL_UYVY, 2, {0}},
		{STIXEL_PIXEL_NV12, SX_PIXEL_NV12, 1, {0}},
		{STIXEL_PIXEL_RGGB8, SX_PIXEL_U8, 1, {.packing = SX_RAW_8}},
		{STIXEL_PIXEL_GRBG8, SX_PIXEL_U8, 1, {.packing = SX_RAW_8, .red_x = 1}},
		{STIXEL_PIXEL_GBRG8, SX_PIXEL_U8, 1, {.packing = SX_RAW_8, .red_y = 1}},
		{STIXEL_PIXEL_BGGR8, SX_PIXEL_U8, 1, {.packing = SX_RAW_8, .red_x = 1, .red_y = 1}},
		{STIXEL_PIXEL_RGGB16, SX_PIXEL_Y16, 2, {.packing = SX_RAW_16}},
		{STIXEL_PIXEL_GRBG16, SX_PIXEL_Y16, 2, {.packing = SX_RAW_16, .red_x = 1}},
		{STIXEL_PIXEL_GBRG16, SX_PIXEL_Y16, 2, {.packing = SX_RAW_16, .red_y = 1}},
		{STIXEL_PIXEL_BGGR16, SX_PIXEL_Y16, 2, {.packing = SX_RAW_16, .red_x = 1, .red_y = 1}},
	};
	struct check_rng rng = check_rng_seed(56);

	(void)state;
	for (int i = 0; i < COUNT(all); i++) {
		const size_t last =
			(size_t)(H - 1) * PITCH * (size_t)all[i].bytes + (size_t)(W * all[i].bytes);
		/* the second image ends with the buffer */
		const size_t bytes = 2 * RIGHT * (size_t)all[i].bytes;
		int memory = memory_of(bytes, F_SEAL_SHRINK, 0), fd;
		uint8_t *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
		struct stixel_pairs_hello hello = good_hello();
		struct stixel_pairs_pair p = good_pair(7);
		const uint64_t offset[2] = {6, bytes - last};
		struct sx_source *s;
		struct sx_pair pair;

		hello.buffers = 1;
		hello.format.pixel = (uint32_t)all[i].pixel;
		hello.format.pitch = (uint32_t)(PITCH * all[i].bytes);
		for (size_t k = 0; k < bytes; k++)
			at[k] = (uint8_t)check_random(&rng);
		s = open_good(&hello, &fd, memory, bytes);
		assert_int_equal(sx_source_info(s)->pixel, all[i].becomes);
		assert_string_equal(sx_source_info(s)->memory, all[i].raw.packing ? "converted" : "memfd");
		p.left_buffer = p.right_buffer = 0;
		p.left_offset = offset[0];
		p.right_offset = offset[1];
		give_message(fd, &p, sizeof(p), -1, 0);
		pair = take_pair(s);
		for (int side = 0; side < 2; side++) {
			const struct sx_image *is = side ? &pair.right : &pair.left;
			struct sx_raw raw = all[i].raw;
			struct check_image grey;

			assert_int_equal(is->pixel, all[i].becomes);
			assert_int_equal(is->width, W);
			assert_int_equal(is->height, H);
			check_image_init(&grey, all[i].becomes, W, H, 0);
			raw.data = at + offset[side];
			raw.pitch = hello.format.pitch;
			if (raw.packing)
				sx_raw_grey(&raw, &grey.image);
			for (int y = 0; y < H; y++)
				assert_memory_equal(sx_image_row(is, y),
						    raw.packing ? sx_image_row(&grey.image, y)
								: raw.data + (size_t)y * raw.pitch,
						    W * all[i].bytes);
			check_image_finish(&grey);
		}
		if (!all[i].raw.packing)
			expect_no_answer(fd); /* the engine reads in place */
		sx_source_release(s, &pair);
		expect_answer(fd, STIXEL_PAIRS_RETURNED, 7, STIXEL_PAIR_TAKEN);
		expect_no_answer(fd);
		munmap(at, bytes);
		close(memory);
		finish_source(s, fd);
	}
}

/* Gives one broken pair and a good one after it. */
static void expect_bad(struct sx_source *s, int fd, const struct stixel_pairs_pair *bad, const char *sentence)
{
	struct stixel_pairs_pair good = good_pair(99);
	struct sx_source_counters c;
	struct sx_pair pair;
	uint64_t corrupt;

	sx_source_counters(s, &c);
	corrupt = c.corrupt;
	give_message(fd, bad, sizeof(*bad), -1, 0);
	sx_why_clear(&why);
	if (sx_source_next(s, &pair, &why) != -EBADMSG || !strstr(why.text, sentence))
		fail_msg("'%s' does not say '%s'", why.text, sentence);
	expect_answer(fd, STIXEL_PAIRS_RETURNED, bad->number, STIXEL_PAIR_BAD);
	sx_source_counters(s, &c);
	assert_int_equal(c.corrupt, corrupt + 1);
	good.left_ns = good.right_ns = 0; /* possible with every clock */
	give_message(fd, &good, sizeof(good), -1, 0);
	pair = take_pair(s);
	sx_source_release(s, &pair);
	expect_answer(fd, STIXEL_PAIRS_RETURNED, 99, STIXEL_PAIR_TAKEN);
}

static void places(void **state)
{
	const uint64_t last = (uint64_t)(H - 1) * PITCH + W, end = BYTES - last;
	static const uint32_t buffers[] = {BUFFERS, 63, 64, INT32_MAX, UINT32_MAX};
	const uint64_t offsets[] = {end + 1,
				    BYTES - 1,
				    BYTES,
				    BYTES + 1,
				    UINT64_MAX,
				    UINT64_MAX - last,
				    UINT64_MAX - last + 1,
				    UINT64_MAX - BYTES,
				    INT64_MAX,
				    1 + (uint64_t)INT64_MAX};
	struct stixel_pairs_pair p = good_pair(5);
	struct sx_source *s;
	struct sx_pair pair;
	int fd;

	(void)state;
	s = open_usual(&fd);
	for (int side = 0; side < 2; side++) {
		for (int i = 0; i < COUNT(buffers); i++) {
			p = good_pair(5);
			*(side ? &p.right_buffer : &p.left_buffer) = buffers[i];
			expect_bad(s, fd, &p,
				   side ? "right image of pair 5 lies outside" : "left image of pair 5");
		}
		for (int i = 0; i < COUNT(offsets); i++) {
			p = good_pair(5);
			*(side ? &p.right_offset : &p.left_offset) = offsets[i];
			expect_bad(s, fd, &p,
				   side ? "right image of pair 5 lies outside" : "left image of pair 5");
		}
	}
	/* both images in one place, at the very end, and a number that came before */
	p = good_pair(99);
	p.left_offset = p.right_offset = end;
	give_message(fd, &p, sizeof(p), -1, 0);
	pair = take_pair(s);
	sx_source_release(s, &pair);
	expect_answer(fd, STIXEL_PAIRS_RETURNED, 99, STIXEL_PAIR_TAKEN);
	finish_source(s, fd);
}

static void small_buffer_and_odd_offset(void **state)
{
	struct stixel_pairs_hello hello = good_hello();
	struct stixel_pairs_pair p = good_pair(5);
	struct sx_source *s;
	struct sx_pair pair;
	int fd;

	(void)state;
	hello.format.pixel = STIXEL_PIXEL_GREY16;
	hello.format.pitch = 2 * PITCH;
	s = open_good(&hello, &fd, -1, (uint64_t)2 * PITCH * H);
	p.right_offset = 1;
	give_message(fd, &p, sizeof(p), -1, 0);
	assert_int_equal(sx_source_next(s, &pair, &why), -EBADMSG);
	assert_non_null(strstr(why.text, "at an odd offset"));
	finish_source(s, fd);
	s = open_good(&hello, &fd, -1, (uint64_t)2 * PITCH * (H - 1)); /* no image fits */
	p = good_pair(5);
	p.right_offset = 0;
	give_message(fd, &p, sizeof(p), -1, 0);
	assert_int_equal(sx_source_next(s, &pair, &why), -EBADMSG);
	finish_source(s, fd);
}

static void times(void **state)
{
	const int64_t now = sx_now_ns(), s1 = SX_NS_PER_S;
	const struct {
		int64_t left, right;
		const char *sentence; /* NULL: good */
	} all[] = {
		{now + 60 * s1, now, "lie in the future"},
		{now, now + 60 * s1, "lie in the future"},
		{now - 120 * s1, now, "more than 60 s old"},
		{now, now - 120 * s1, "more than 60 s old"},
		{INT64_MIN, now, "more than 60 s old"},
		{now, INT64_MIN, "more than 60 s old"},
		{INT64_MAX, now, "lie in the future"},
		{now, INT64_MAX, "lie in the future"},
		{INT64_MIN, INT64_MAX, "pair 5"},
		{INT64_MIN, INT64_MIN, "pair 5"},
		{0, now, "more than 60 s old"},
		{now, now - 11 * s1, "more than 10 s apart"},
		{now - 11 * s1, now, "more than 10 s apart"},
		{now - 9 * s1, now, NULL},
		{now - 30 * s1, now - 31 * s1, NULL},
		{now + s1 / 2, now, NULL},
	};
	struct sx_source *s;
	struct sx_pair pair;
	int fd;

	(void)state;
	s = open_usual(&fd);
	for (int i = 0; i < COUNT(all); i++) {
		struct stixel_pairs_pair p = good_pair(5);

		p.left_ns = all[i].left;
		p.right_ns = all[i].right;
		if (all[i].sentence) {
			expect_bad(s, fd, &p, all[i].sentence);
			continue;
		}
		give_message(fd, &p, sizeof(p), -1, 0);
		pair = take_pair(s);
		assert_int_equal(pair.left_ns, all[i].left);
		assert_int_equal(pair.right_ns, all[i].right);
		assert_int_equal(pair.clock, STIXEL_CLOCK_MONOTONIC);
		assert_int_equal(pair.stamp, STIXEL_STAMP_EXPOSURE_START);
		sx_source_release(s, &pair);
		expect_answer(fd, STIXEL_PAIRS_RETURNED, 5, STIXEL_PAIR_TAKEN);
	}
	finish_source(s, fd);
}

static void other_clocks(void **state)
{
	struct stixel_pairs_hello hello = good_hello();
	struct stixel_pairs_pair p = good_pair(5);
	struct sx_source *s;
	struct sx_pair pair;
	int fd;

	(void)state;
	hello.format.clock = STIXEL_CLOCK_REALTIME;
	s = open_good(&hello, &fd, -1, BYTES);
	p.left_ns = p.right_ns = sx_clock_ns(CLOCK_REALTIME);
	give_message(fd, &p, sizeof(p), -1, 0);
	pair = take_pair(s);
	assert_in_range(sx_now_ns() - pair.left_ns + SX_NS_PER_S, 0, 20 * SX_NS_PER_S);
	sx_source_release(s, &pair);
	expect_answer(fd, STIXEL_PAIRS_RETURNED, 5, STIXEL_PAIR_TAKEN);
	p.left_ns = INT64_MIN;
	expect_bad(s, fd, &p, "old");
	p.left_ns = INT64_MAX;
	expect_bad(s, fd, &p, "future");
	p.left_ns = p.right_ns = 0; /* unknown: the daemon's own time */
	give_message(fd, &p, sizeof(p), -1, 0);
	pair = take_pair(s);
	assert_in_range(sx_now_ns() - pair.left_ns, 0, 20 * SX_NS_PER_S);
	assert_int_equal(pair.clock, STIXEL_CLOCK_MONOTONIC);
	assert_int_equal(pair.stamp, STIXEL_STAMP_SOFTWARE);
	sx_source_release(s, &pair);
	finish_source(s, fd);

	hello.format.clock = STIXEL_CLOCK_UNKNOWN;
	s = open_good(&hello, &fd, -1, BYTES);
	p.left_ns = p.right_ns = 5; /* times of a clock that began now */
	give_message(fd, &p, sizeof(p), -1, 0);
	pair = take_pair(s);
	assert_int_equal(pair.left_ns, 5);
	assert_int_equal(pair.clock, STIXEL_CLOCK_UNKNOWN);
	sx_source_release(s, &pair);
	expect_answer(fd, STIXEL_PAIRS_RETURNED, 5, STIXEL_PAIR_TAKEN);
	finish_source(s, fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHARED_TEST(formats), SHARED_TEST(places),	 SHARED_TEST(small_buffer_and_odd_offset),
		SHARED_TEST(times),   SHARED_TEST(other_clocks),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("shared source: images", tests, NULL, NULL);
}
