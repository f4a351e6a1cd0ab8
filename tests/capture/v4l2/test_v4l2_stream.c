/*
 * Tests source "v4l2" while it runs: pixels, times, which images become pairs, and what happens to the
 * others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "tests/capture/v4l2/v4l2_case.h"

#define W CASE_W
#define H CASE_H

static void expect_pair(struct sx_source *s, int pattern, struct sx_pair *pair)
{
	assert_int_equal(case_next(s, pair, 0), 1);
	assert_true(fake_shows(&pair->left, 0, pattern, 0, 0));
	assert_true(fake_shows(&pair->right, 1, pattern, 0, 0));
}

/* --- pixels --- */

static void check_pixels(const struct sx_source_params *p, uint32_t fourcc, bool mplane, uint32_t wider)
{
	const struct fake_mode modes[] = {
		{fourcc, W, H, 30}, {fourcc, 2 * W, H, 30}, {fourcc, W, 2 * H, 30}, {0}};
	const bool two = p->layout == SX_LAYOUT_TWO;
	struct fake_camera *cameras[3];
	struct sx_pair pair;
	struct sx_source *s;

	case_cameras(cameras, modes);
	cameras[2] = cameras[0] + 2;
	for (int i = 0; i < 2; i++) {
		cameras[i]->mplane = mplane;
		cameras[i]->data_offset = mplane ? 64 : 0;
		cameras[i]->wider_by = wider;
	}
	cameras[2]->wider_by = wider + 4; /* the exporter's buffers are large enough */
	s = case_open(p, CASE_SLOTS);
	for (int k = 0; k < 2 * CASE_SLOTS; k++) {
		const struct fake_frame f = {.pattern = k, .ns = CASE_TIME(k)};

		assert_true(fake_fill(cameras[0], &f));
		if (two)
			assert_true(fake_fill(cameras[1], &f));
		assert_int_equal(case_next(s, &pair, 0), k > 0);
		if (k == 0)
			continue;
		assert_true(case_in_blocks(s, &pair.left) && case_in_blocks(s, &pair.right));
		assert_true(fake_shows(&pair.left, 0, k, 0, 0));
		assert_true(fake_shows(&pair.right, two, k, p->layout == SX_LAYOUT_SIDE_BY_SIDE ? W : 0,
				       p->layout == SX_LAYOUT_TOP_BOTTOM ? H : 0));
		assert_int_equal(pair.left.width, W);
		assert_int_equal(pair.right.height, H);
		assert_int_equal(pair.right.pixel, sx_source_info(s)->pixel);
		assert_int_equal(pair.number, k);
		assert_int_equal(pair.left_ns, CASE_TIME(k) / 1000 * 1000);
		assert_int_equal(pair.right_ns, pair.left_ns);
		sx_source_release(s, &pair);
	}
	case_balanced(s, 0, 0);
	case_close(s);
}

static void test_pixels(void **state)
{
	static const enum sx_source_memory memories[] = {SX_MEMORY_USERPTR, SX_MEMORY_DMABUF, SX_MEMORY_MMAP};
	static const uint32_t formats[] = {V4L2_PIX_FMT_GREY, V4L2_PIX_FMT_YUYV,  V4L2_PIX_FMT_UYVY,
					   V4L2_PIX_FMT_NV12, V4L2_PIX_FMT_RGB24, V4L2_PIX_FMT_Y10};
	struct sx_source_params p = case_params();

	p.dmabuf_from = CASE_EXPORTER;
	for (int layout = SX_LAYOUT_TWO; layout <= SX_LAYOUT_TOP_BOTTOM; layout++)
		for (size_t m = 0; m < sizeof(memories) / sizeof(memories[0]); m++)
			for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++)
				for (int how = 0; how < 4; how++) {
					p.layout = (enum sx_layout)layout;
					p.memory = memories[m];
					check_pixels(&p, formats[f], how % 2, how / 2 ? 24 : 0);
				}
}

/* --- times --- */

/* ns is the driver's timestamp. `read` is the source's interpretation, if it believes the timestamp. */
static void check_stamps_read(uint32_t flags, int64_t ns, bool believed, enum stixel_stamp stamp,
			      int64_t read)
{
	const struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_pair pair;
	struct sx_source *s;
	int64_t before;

	case_grey(cameras);
	cameras[0]->stamps = cameras[1]->stamps = flags;
	s = case_begin(cameras, &p);
	before = sx_now_ns();
	case_fill(cameras, 1, ns);
	expect_pair(s, 1, &pair);
	assert_int_equal(pair.stamp, stamp);
	assert_int_equal(pair.clock, believed ? STIXEL_CLOCK_MONOTONIC : STIXEL_CLOCK_UNKNOWN);
	if (believed)
		assert_int_equal(pair.left_ns, read);
	else
		assert_true(pair.left_ns >= before && pair.right_ns <= sx_now_ns());
	sx_source_release(s, &pair);
	case_close(s);
}

static void check_stamps(uint32_t flags, int64_t ns, bool believed, enum stixel_stamp stamp)
{
	check_stamps_read(flags, ns, believed, stamp, ns / 1000 * 1000);
}

/*
 * Timestamps that no clock can show are clamped to 0 .. 2^32 s. Callers can thus add to a time without overflow
 * of 64 bits.
 */
static void test_stamps_beyond_all_time(void **state)
{
	const uint32_t flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | V4L2_BUF_FLAG_TSTAMP_SRC_SOE;
	const int64_t most = (INT64_C(1) << 32) * SX_NS_PER_S;

	check_stamps_read(flags, INT64_MAX, true, STIXEL_STAMP_EXPOSURE_START, most);
	check_stamps_read(flags, most + 1000, true, STIXEL_STAMP_EXPOSURE_START, most);
	check_stamps_read(flags, most - 1000, true, STIXEL_STAMP_EXPOSURE_START, most - 1000);
	check_stamps_read(flags, -SX_NS_PER_S, true, STIXEL_STAMP_EXPOSURE_START, 0);
	check_stamps_read(flags, INT64_MIN, true, STIXEL_STAMP_EXPOSURE_START, 0);
	check_stamps(V4L2_BUF_FLAG_TIMESTAMP_UNKNOWN, INT64_MAX, false, STIXEL_STAMP_SOFTWARE);
}

static void test_stamps(void **state)
{
	const int64_t now = sx_now_ns(), later = now + 1000 * SX_NS_PER_S;

	check_stamps(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | V4L2_BUF_FLAG_TSTAMP_SRC_SOE, CASE_TIME(1), true,
		     STIXEL_STAMP_EXPOSURE_START);
	check_stamps(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | V4L2_BUF_FLAG_TSTAMP_SRC_EOF, later, true,
		     STIXEL_STAMP_FRAME_END);
	/* a recent time without a clock flag can be of the monotonic clock only */
	check_stamps(V4L2_BUF_FLAG_TIMESTAMP_UNKNOWN, now, true, STIXEL_STAMP_FRAME_END);
	check_stamps(V4L2_BUF_FLAG_TIMESTAMP_UNKNOWN, later, false, STIXEL_STAMP_SOFTWARE);
	check_stamps(V4L2_BUF_FLAG_TIMESTAMP_UNKNOWN, now - 6 * SX_NS_PER_S, false, STIXEL_STAMP_SOFTWARE);
	check_stamps(V4L2_BUF_FLAG_TIMESTAMP_UNKNOWN, 0, false, STIXEL_STAMP_SOFTWARE);
	check_stamps(V4L2_BUF_FLAG_TIMESTAMP_COPY | V4L2_BUF_FLAG_TSTAMP_SRC_SOE, now, false,
		     STIXEL_STAMP_SOFTWARE);
}

/*
 * The driver does not name its clock, but clearly uses the monotonic one. A time may be a second old, but not
 * a second ahead.
 */
static void test_stamps_of_no_clock(void **state)
{
	for (int sign = -1; sign <= 1; sign += 2) {
		struct fake_camera *cameras[2];
		struct sx_source_params p = case_params();
		int64_t ns = (sx_now_ns() + sign * SX_NS_PER_S) / 1000 * 1000;
		struct sx_pair pair;
		struct sx_source *s;

		case_grey(cameras);
		cameras[0]->stamps = cameras[1]->stamps = V4L2_BUF_FLAG_TIMESTAMP_UNKNOWN;
		s = case_begin(cameras, &p);
		case_fill(cameras, 1, ns);
		expect_pair(s, 1, &pair);
		assert_int_equal(pair.clock, sign < 0 ? STIXEL_CLOCK_MONOTONIC : STIXEL_CLOCK_UNKNOWN);
		assert_true((pair.left_ns == ns) == (sign < 0));
		sx_source_release(s, &pair);
		case_close(s);
	}
}

static void test_stamps_that_differ(void **state)
{
	struct fake_camera *cameras[2];
	struct sx_source *s;

	s = case_begin_grey(cameras);
	cameras[1]->stamps = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | V4L2_BUF_FLAG_TSTAMP_SRC_EOF;
	case_fill(cameras, 1, CASE_TIME(1));
	case_expect(s, -ENODEV,
		    CASE_LEFT " takes the time at the start of exposure, " CASE_RIGHT
			      " at the end of the frame: they cannot be paired");
	case_balanced(s, 0, 0);
	case_close(s);
}

/* --- images that become pairs --- */

static void fill_one(struct fake_camera *c, int pattern, int64_t ns)
{
	const struct fake_frame f = {.pattern = pattern, .ns = ns};

	assert_true(fake_fill(c, &f));
}

static void test_unpaired(void **state)
{
	struct fake_camera *cameras[2];
	struct sx_source *s;
	struct sx_pair pair;

	s = case_begin_grey(cameras);
	fill_one(cameras[0], 1, CASE_TIME(1));
	case_expect(s, 0, ""); /* the image waits */
	case_balanced(s, 1, 0);
	fill_one(cameras[1], 1, CASE_TIME(1) + 10 * CASE_MS);
	expect_pair(s, 1, &pair);
	assert_int_equal(pair.right_ns - pair.left_ns, 10 * CASE_MS);
	sx_source_release(s, &pair);
	fill_one(cameras[0], 2, CASE_TIME(2)); /* the right camera loses this one */
	case_fill(cameras, 3, CASE_TIME(3));
	expect_pair(s, 3, &pair);
	sx_source_release(s, &pair);
	case_dropped(s, SX_DROP_UNPAIRED, 1, 0);
	/* the left camera is silent for long: the right camera gets its buffers back */
	for (int k = 4; k < 9; k++) {
		fill_one(cameras[1], k, CASE_TIME(k));
		case_expect(s, 0, "");
	}
	case_dropped(s, SX_DROP_UNPAIRED, 1, 2);
	case_balanced(s, 0, 3);
	case_fill(cameras, 9, CASE_TIME(9));
	expect_pair(s, 9, &pair);
	sx_source_release(s, &pair);
	case_dropped(s, SX_DROP_UNPAIRED, 1, 5);
	case_dropped(s, SX_DROP_OVERLOAD, 0, 0);
	case_balanced(s, 0, 0);
	case_close(s);
}

/*
 * A driver may overwrite its own memory while the source uses it (v4l2loopback). A picture is lost, but not
 * the camera.
 */
static void test_driver_that_goes_round(void **state)
{
	const struct fake_frame over = {.pattern = 2, .ns = CASE_TIME(2), .other_index = 2};
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_pair pair;
	struct sx_source *s;

	case_grey(cameras);
	p.memory = SX_MEMORY_MMAP;
	s = case_begin(cameras, &p);
	fill_one(cameras[0], 1, CASE_TIME(1));
	case_expect(s, 0, "");
	assert_true(fake_fill(cameras[0], &over));
	case_expect(s, 0, "");
	case_dropped(s, SX_DROP_UNPAIRED, 1, 0);
	case_balanced(s, 1, 0);
	fill_one(cameras[1], 2, CASE_TIME(2));
	expect_pair(s, 2, &pair); /* the new picture took the place of the waiting one */
	sx_source_release(s, &pair);
	case_fill(cameras, 4, CASE_TIME(4));
	expect_pair(s, 4, &pair);
	sx_source_release(s, &pair);
	case_balanced(s, 0, 0);
	case_close(s);
}

static void check_overload(enum sx_source_memory memory)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_pair pair[CASE_SLOTS];
	struct sx_source *s;

	case_grey(cameras);
	p.memory = memory;
	p.buffers = 8;
	s = case_begin(cameras, &p);
	for (int k = 1; k <= 4; k++)
		case_fill(cameras, k, CASE_TIME(k));
	expect_pair(s, 4, &pair[0]);
	case_dropped(s, SX_DROP_OVERLOAD, 3, 3);
	for (int k = 5; k <= 6; k++) {
		case_fill(cameras, k, CASE_TIME(k));
		expect_pair(s, k, &pair[k - 4]);
	}
	case_fill(cameras, 7, CASE_TIME(7)); /* the consumer of pairs is slow */
	case_expect(s, 0, "");
	case_dropped(s, SX_DROP_OVERLOAD, 4, 4);
	for (int k = 0; k < CASE_SLOTS; k++) {
		assert_true(fake_shows(&pair[k].left, 0, k + 4, 0, 0));
		assert_true(fake_shows(&pair[k].right, 1, k + 4, 0, 0));
	}
	sx_source_release(s, &pair[1]);
	case_fill(cameras, 8, CASE_TIME(8));
	expect_pair(s, 8, &pair[1]);
	assert_int_equal(pair[1].number, 4);
	for (int k = 0; k < CASE_SLOTS; k++)
		sx_source_release(s, &pair[k]);
	case_balanced(s, 0, 0);
	case_close(s);
}

static void test_overload(void **state)
{
	check_overload(SX_MEMORY_USERPTR);
	check_overload(SX_MEMORY_MMAP);
}

static void test_overload_of_one_camera(void **state)
{
	const struct fake_mode modes[] = {{V4L2_PIX_FMT_GREY, 2 * W, H, 30}, {0}};
	struct sx_source_params p = case_params();
	struct fake_camera *c = fake_add(CASE_LEFT, modes);
	struct sx_source_counters counters;
	struct sx_pair pair;
	struct sx_source *s;

	p.layout = SX_LAYOUT_SIDE_BY_SIDE;
	p.right = NULL;
	s = case_open(&p, CASE_SLOTS);
	for (int k = 0; k < 4; k++)
		fill_one(c, k, CASE_TIME(k));
	assert_int_equal(case_next(s, &pair, 0), 1);
	assert_true(fake_shows(&pair.right, 0, 3, W, 0));
	sx_source_release(s, &pair);
	case_dropped(s, SX_DROP_FIRST, 1, 0);
	case_dropped(s, SX_DROP_OVERLOAD, 2, 0);
	sx_source_counters(s, &counters);
	assert_int_equal(counters.captured[0], 4);
	assert_int_equal(counters.captured[1], 0);
	assert_int_equal(counters.unpaired, 0);
	case_balanced(s, 0, 0);
	case_close(s);
}

static void check_gaps(const struct sx_source *s, int left, int right)
{
	struct sx_source_counters c;

	sx_source_counters(s, &c);
	assert_int_equal(c.gaps[0], left);
	assert_int_equal(c.gaps[1], right);
}

static void lose(struct sx_source *s, struct fake_camera *cameras[2], int pattern, uint32_t left,
		 uint32_t right)
{
	const struct fake_frame f[2] = {{.pattern = pattern, .ns = CASE_TIME(pattern), .lost = left},
					{.pattern = pattern, .ns = CASE_TIME(pattern), .lost = right}};
	struct sx_pair pair;

	for (int i = 0; i < 2; i++)
		assert_true(fake_fill(cameras[i], &f[i]));
	expect_pair(s, pattern, &pair);
	sx_source_release(s, &pair);
}

static void test_gaps(void **state)
{
	const struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s;

	case_grey(cameras);
	s = case_open(&p, CASE_SLOTS);
	cameras[0]->sequence = 7; /* the first number of a driver is arbitrary */
	cameras[1]->sequence = UINT32_MAX - 2;
	case_fill(cameras, 0, CASE_TIME(0));
	case_expect(s, 0, "");
	check_gaps(s, 0, 0);
	lose(s, cameras, 1, 3, 0);
	check_gaps(s, 3, 0);
	lose(s, cameras, 2, 0, 0);
	lose(s, cameras, 3, 0, 2); /* across the overflow of the numbers */
	check_gaps(s, 3, 2);
	lose(s, cameras, 4, 0, 0);
	cameras[0]->sequence = 0; /* a driver that starts again */
	lose(s, cameras, 5, 0, 0);
	cameras[0]->sequence--; /* a driver that does not count */
	lose(s, cameras, 6, 0, 0);
	check_gaps(s, 3, 2);
	case_balanced(s, 0, 0);
	case_close(s);
}

/* --- waking --- */

static bool woken(const struct sx_source *s)
{
	struct pollfd p = {.fd = sx_source_fd(s), .events = POLLIN};

	return poll(&p, 1, 0) == 1;
}

/*
 * The source's descriptor reports pictures, and sleeps if there are none. A release is silent, and gives the
 * buffers back to their drivers at once.
 */
static void test_waking(void **state)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_pair pair;
	struct sx_source *s;

	case_grey(cameras);
	p.buffers = 2;
	s = case_begin(cameras, &p);
	assert_false(woken(s));
	fill_one(cameras[0], 1, CASE_TIME(1));
	assert_true(woken(s));
	case_expect(s, 0, "");
	assert_false(woken(s));
	fill_one(cameras[1], 1, CASE_TIME(1));
	expect_pair(s, 1, &pair);
	assert_false(woken(s));
	assert_int_equal(cameras[0]->queued, 1);
	sx_source_release(s, &pair);
	assert_false(woken(s));
	assert_int_equal(cameras[0]->queued, 2);
	assert_int_equal(cameras[1]->queued, 2);
	case_expect(s, 0, "");
	assert_false(woken(s));
	case_close(s);
}

/* --- damage --- */

static void damage(struct sx_source *s, struct fake_camera *c, struct fake_camera *other, struct fake_frame f,
		   int pattern, const char *words)
{
	f.pattern = pattern;
	f.ns = CASE_TIME(pattern);
	assert_true(fake_fill(c, &f));
	case_expect(s, -EBADMSG, words);
	fill_one(other, pattern, CASE_TIME(pattern));
	case_expect(s, 0, ""); /* its partner waits in vain */
}

static void test_damage(void **state)
{
	const struct fake_frame flagged = {.error = true}, short_one = {.missing = 1}, huge = {.huge = true};
	const struct fake_frame less = {.padded_count = true};
	const struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_pair pair;
	struct sx_source *s;

	case_grey(cameras);
	cameras[1]->mplane = true;
	cameras[1]->data_offset = 64;
	s = case_begin(cameras, &p);
	damage(s, cameras[0], cameras[1], flagged, 1, CASE_LEFT ": damaged image (1632 bytes)");
	damage(s, cameras[1], cameras[0], short_one, 2, CASE_RIGHT ": short image (1631 bytes)");
	damage(s, cameras[0], cameras[1], huge, 3, CASE_LEFT ": short image");
	damage(s, cameras[1], cameras[0], huge, 4, CASE_RIGHT ": short image");
	damage(s, cameras[1], cameras[0], less, 5, CASE_RIGHT ": short image (0 bytes)");
	case_dropped(s, SX_DROP_ERROR_FLAG, 1, 0);
	case_dropped(s, SX_DROP_SHORT, 1, 3);
	case_fill(cameras, 6, CASE_TIME(6));
	expect_pair(s, 6, &pair);
	sx_source_release(s, &pair);
	assert_true(fake_fill(cameras[0], &flagged));
	case_fill(cameras, 7, CASE_TIME(7));
	expect_pair(s, 7, &pair); /* a pair counts more than damage */
	sx_source_release(s, &pair);
	case_dropped(s, SX_DROP_UNPAIRED, 3, 2);
	case_balanced(s, 0, 0);
	case_close(s);
}

/* The first picture is damaged. It is dropped as damaged, and the next picture is delivered. */
static void test_first_is_damaged(void **state)
{
	const struct sx_source_params p = case_params();
	const struct fake_frame f = {.error = true, .ns = CASE_TIME(0)};
	struct fake_camera *cameras[2];
	struct sx_pair pair;
	struct sx_source *s;

	case_grey(cameras);
	s = case_open(&p, CASE_SLOTS);
	for (int i = 0; i < 2; i++)
		assert_true(fake_fill(cameras[i], &f));
	case_expect(s, -EBADMSG, "damaged");
	case_fill(cameras, 1, CASE_TIME(1));
	expect_pair(s, 1, &pair);
	sx_source_release(s, &pair);
	case_dropped(s, SX_DROP_FIRST, 0, 0);
	case_balanced(s, 0, 0);
	case_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pixels),
		cmocka_unit_test(test_stamps),
		cmocka_unit_test(test_stamps_beyond_all_time),
		cmocka_unit_test(test_stamps_of_no_clock),
		cmocka_unit_test(test_stamps_that_differ),
		cmocka_unit_test(test_unpaired),
		cmocka_unit_test(test_driver_that_goes_round),
		cmocka_unit_test(test_overload),
		cmocka_unit_test(test_overload_of_one_camera),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_waking),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_first_is_damaged),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
