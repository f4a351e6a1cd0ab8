/*
 * Tests source "v4l2" with JPEG cameras. Pairs go through the decoders in order, the newest first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "tests/capture/v4l2/jpeg_case.h"
#include "tests/capture/v4l2/v4l2_case.h"

#define W CASE_W
#define H CASE_H
#define SECONDS 10 /* most time for a decoder */

static struct jpeg_case jpeg;

static void fill_jpeg(struct fake_camera *c, int pattern)
{
	const struct fake_frame f = {.ns = CASE_TIME(pattern), .data = jpeg.data, .bytes = jpeg.bytes};

	assert_true(fake_fill(c, &f));
}

/* Fills good pictures of both cameras. The right one shows pattern + shift. */
static void fill_pair(struct fake_camera *cameras[2], int pattern)
{
	for (int i = 0; i < 2; i++) {
		jpeg_case_make(&jpeg, pattern + 3 * i, W, H);
		fill_jpeg(cameras[i], pattern);
	}
}

static void fill_broken(struct fake_camera *c, int pattern)
{
	jpeg_case_make(&jpeg, pattern, W, H);
	jpeg.bytes /= 2;
	fill_jpeg(c, pattern);
}

static struct sx_source *begin(struct fake_camera *cameras[2], const struct sx_source_params *p)
{
	const struct fake_mode modes[] = {{V4L2_PIX_FMT_MJPEG, W, H, 30}, {0}};
	struct sx_source *s;

	case_cameras(cameras, modes);
	s = case_open(p, CASE_SLOTS);
	fill_pair(cameras, 0);
	case_expect(s, 0, "");
	case_dropped(s, SX_DROP_FIRST, 1, 1);
	return s;
}

static void expect_pair(struct sx_source *s, int pattern, struct sx_pair *pair)
{
	int r = case_next(s, pair, SECONDS);

	if (r != 1)
		fail_msg("%d, '%s'", r, case_why.text);
	assert_true(jpeg_case_shows(&pair->left, pattern));
	assert_true(jpeg_case_shows(&pair->right, pattern + 3));
	assert_int_equal(pair->left_ns, CASE_TIME(pattern) / 1000 * 1000);
}

static void test_pairs(void **state)
{
	static const enum sx_source_memory memories[] = {SX_MEMORY_AUTO, SX_MEMORY_DMABUF, SX_MEMORY_MMAP};

	for (int how = 0; how < 6; how++) {
		struct sx_source_params p = case_params();
		struct fake_camera *cameras[2];
		struct sx_pair pair[CASE_SLOTS];
		struct sx_source *s;

		p.memory = memories[how % 3];
		p.dmabuf_from = CASE_EXPORTER;
		p.decoders = how / 3 ? 1 : 0;
		s = begin(cameras, &p);
		assert_string_equal(sx_source_info(s)->format, "MJPG");
		assert_int_equal(sx_source_info(s)->pixel, SX_PIXEL_U8);
		for (int k = 1; k < 20; k++) {
			fill_pair(cameras, k);
			expect_pair(s, k, &pair[0]);
			sx_source_release(s, &pair[0]);
		}
		for (int k = 0; k < CASE_SLOTS; k++) {
			fill_pair(cameras, 20 + k);
			expect_pair(s, 20 + k, &pair[k]);
		}
		fill_pair(cameras, 23); /* no room for it */
		assert_int_equal(case_next(s, &pair[0], 0.02), 0);
		case_dropped(s, SX_DROP_OVERLOAD, 1, 1);
		for (int k = 0; k < CASE_SLOTS; k++) {
			assert_true(jpeg_case_shows(&pair[k].left, 20 + k));
			sx_source_release(s, &pair[k]);
		}
		case_balanced(s, 0, 0);
		case_close(s);
	}
}

/* The source returns the newest of the pairs decoded between two calls. The others are dropped as overload. */
static void test_overload(void **state)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s = begin(cameras, &p);
	struct sx_source_counters c;
	struct sx_pair pair;
	int given = 0;

	for (int k = 1; k <= 30; k++) {
		int r;

		fill_pair(cameras, k);
		r = case_next(s, &pair, 0);
		if (k % 3 == 0)
			usleep(3000); /* the decoders are done by now */
		if (r == 1) {
			sx_source_release(s, &pair);
			given++;
		}
	}
	while (case_inside(s)->decoding_count > 0)
		if (case_next(s, &pair, SECONDS) == 1) {
			sx_source_release(s, &pair);
			given++;
		}
	sx_source_counters(s, &c);
	assert_int_equal(given + c.dropped[0][SX_DROP_OVERLOAD], 30);
	assert_true(given > 0);
	case_balanced(s, 0, 0);
	case_close(s);
}

static void test_broken(void **state)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s = begin(cameras, &p);
	struct sx_pair pair;

	fill_broken(cameras[0], 1);
	jpeg_case_make(&jpeg, 1, W, H);
	fill_jpeg(cameras[1], 1);
	assert_int_equal(case_next(s, &pair, SECONDS), -EBADMSG);
	assert_non_null(strstr(case_why.text, CASE_LEFT ": broken JPEG ("));
	case_dropped(s, SX_DROP_BROKEN, 1, 0);
	case_dropped(s, SX_DROP_UNPAIRED, 0, 1);
	fill_broken(cameras[0], 2);
	fill_broken(cameras[1], 2);
	assert_int_equal(case_next(s, &pair, SECONDS), -EBADMSG);
	case_dropped(s, SX_DROP_BROKEN, 2, 1);
	jpeg_case_make(&jpeg, 3, W - 8, H);
	fill_jpeg(cameras[0], 3);
	fill_jpeg(cameras[1], 3);
	assert_int_equal(case_next(s, &pair, SECONDS), -EBADMSG);
	assert_non_null(strstr(case_why.text, ": JPEG of 40x34 instead of 48x34"));
	case_dropped(s, SX_DROP_BROKEN, 3, 2);
	fill_pair(cameras, 4);
	expect_pair(s, 4, &pair);
	sx_source_release(s, &pair);
	case_balanced(s, 0, 0);
	case_close(s);
}

static void test_padded(void **state)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s = begin(cameras, &p);
	struct sx_pair pair;

	for (int i = 0; i < 2; i++) {
		jpeg_case_make(&jpeg, 1 + 3 * i, W, H);
		if (i)
			jpeg_case_pad(&jpeg, 33, 0);
		else
			jpeg_case_append(&jpeg, 33, 0xff);
		fill_jpeg(cameras[i], 1);
	}
	expect_pair(s, 1, &pair);
	sx_source_release(s, &pair);
	case_close(s);
}

/*
 * Makes the n-th picture of a side with one deviation. Cameras send such pictures, and every program shows
 * them.
 */
static void make_odd(enum sx_odd_jpeg odd, int pattern)
{
	static const uint8_t zero[3] = {0};

	jpeg_case_make_kind(&jpeg,
			    odd == SX_ODD_RESTART_PADDING ? JPEG_CASE_RESTART
			    : odd == SX_ODD_PADDING	  ? JPEG_CASE_PROGRESSIVE
							  : JPEG_CASE_BASELINE,
			    false, pattern, W, H);
	switch (odd) {
	case SX_ODD_PADDING:
		jpeg_case_pad(&jpeg, 64, 0);
		break;
	case SX_ODD_RESTART_PADDING:
		/*
		 * The padding at the end makes libjpeg check. Without it, the decoder may read other bytes
		 * ahead unnoticed.
		 */
		for (int n = 0; n < 2; n++)
			jpeg_case_insert(&jpeg, jpeg_case_find(&jpeg, 0xd0, 0xd7, n), zero, 1 + (size_t)n);
		jpeg_case_pad(&jpeg, 30, 0);
		break;
	case SX_ODD_HEADER_BYTES:
		jpeg_case_insert(&jpeg, jpeg_case_find(&jpeg, 0xdb, 0xdb, 0), zero, 1);
		break;
	default: /* SX_ODD_SCAN_HEADER */
		jpeg.data[jpeg_case_find(&jpeg, 0xda, 0xda, 0) + 12] = 0;
	}
}

/*
 * Each pair is returned with its own pictures. Slots are reused, so a picture that was not decoded would show
 * an old picture.
 */
static void test_odd(void **state)
{
	for (int odd = 0; odd < SX_ODD_OTHER; odd++) {
		struct sx_source_params p = case_params();
		struct fake_camera *cameras[2];
		struct sx_source *s = begin(cameras, &p);
		struct sx_source_counters c;
		struct sx_pair pair;

		for (int k = 1; k < 40; k++) {
			for (int i = 0; i < 2; i++) {
				make_odd(odd, k + 3 * i);
				fill_jpeg(cameras[i], k);
			}
			expect_pair(s, k, &pair);
			sx_source_release(s, &pair);
		}
		case_dropped(s, SX_DROP_BROKEN, 0, 0);
		sx_source_counters(s, &c);
		for (int i = 0; i < 2; i++)
			assert_int_equal(c.odd_jpeg[i][odd], 39);
		assert_int_equal(c.odd_jpeg[0][SX_ODD_OTHER], 0);
		assert_false(sx_source_warning(s, case_why.text, sizeof(case_why.text)));
		case_balanced(s, 0, 0);
		case_close(s);
	}
}

/*
 * The camera is mounted upside down and its tag says so. The pixels stay in place, and the log has one line.
 */
static void test_orientation(void **state)
{
	static const uint8_t exif[] = {0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0,    'M', 'M',
				       0,    42,   0, 0,  0,   8,   0,	 1,   1, 0x12, 0,   3,
				       0,    0,	   0, 1,  0,   3,   0,	 0,   0, 0,    0,   0};
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s = begin(cameras, &p);
	struct sx_pair pair;

	for (int k = 1; k < 4; k++) {
		for (int i = 0; i < 2; i++) {
			jpeg_case_make(&jpeg, k + 3 * i, W, H);
			if (i == 1)
				jpeg_case_insert(&jpeg, 2, exif, sizeof(exif));
			fill_jpeg(cameras[i], k);
		}
		expect_pair(s, k, &pair);
		sx_source_release(s, &pair);
		case_why.text[0] = 0;
		assert_int_equal(sx_source_warning(s, case_why.text, sizeof(case_why.text)), k == 1);
		if (k == 1)
			assert_string_equal(case_why.text, CASE_RIGHT
					    ": its EXIF orientation tag (3) says that it is stored "
					    "upside down; the tag is not applied, pixels are used as "
					    "they are stored");
	}
	case_close(s);
}

/* An empty buffer contains no picture. */
static void test_empty(void **state)
{
	const struct fake_frame f = {.ns = CASE_TIME(1), .data = "", .bytes = 0};
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s = begin(cameras, &p);

	assert_true(fake_fill(cameras[0], &f));
	case_expect(s, -EBADMSG, CASE_LEFT ": short image (0 bytes)");
	case_dropped(s, SX_DROP_SHORT, 1, 0);
	case_close(s);
}

static void test_all_broken(void **state)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s = begin(cameras, &p);
	struct sx_pair pair;

	for (int k = 1; k <= 2; k++) {
		fill_broken(cameras[0], k);
		fill_broken(cameras[1], k);
		if (k == 2)
			case_wait(s, CASE_TIMEOUT_S + 1);
		assert_int_equal(case_next(s, &pair, SECONDS), k == 1 ? -EBADMSG : -ENODEV);
	}
	assert_non_null(strstr(case_why.text, "no pair for 2"));
	assert_non_null(strstr(case_why.text, ": broken JPEG ("));
	case_balanced(s, 0, 0);
	case_close(s);
}

/* The camera is lost while the decoders have pictures of it. */
static void test_lost(void **state)
{
	for (int round = 0; round < 20; round++) {
		struct sx_source_params p = case_params();
		struct fake_camera *cameras[2];
		struct sx_source *s = begin(cameras, &p);
		struct sx_pair pair;

		for (int k = 1; k <= 2; k++) {
			fill_pair(cameras, k);
			/* usually it is not decoded yet */
			if (case_next(s, &pair, 0) == 1)
				sx_source_release(s, &pair);
		}
		fake_unplug(cameras[round % 2]);
		case_expect(s, -ENODEV, "No such device");
		case_balanced(s, 0, 0);
		case_close(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),	    cmocka_unit_test(test_overload),
		cmocka_unit_test(test_broken),	    cmocka_unit_test(test_padded),
		cmocka_unit_test(test_empty),	    cmocka_unit_test(test_all_broken),
		cmocka_unit_test(test_lost),	    cmocka_unit_test(test_odd),
		cmocka_unit_test(test_orientation),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
