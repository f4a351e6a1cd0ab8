/*
 * Tests source "files": how it delivers pairs, and how it handles lost or bad files.
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
#include <unistd.h>

#include <png.h>
#include <cmocka.h>

#include "base/clock.h"
#include "capture/file_list.h"
#include "tests/capture/image_files.h"

#define W 40
#define H 32

static struct sx_why why;

static void ramp(const char *folder, const char *name, int start)
{
	write_ramp(in_folder(folder, name), W, H, start);
}

static void empty(const char *folder, const char *name)
{
	write_bytes(in_folder(folder, name), "", 0);
}

static struct sx_source *open_good(const struct sx_source_params *p, int slots)
{
	struct sx_source *s = NULL;

	if (sx_source_open(&s, p, slots, &why) < 0)
		fail_msg("%s", why.text);
	return s;
}

static void expect_not_open(const struct sx_source_params *p, int error, const char *sentence)
{
	struct sx_source *s = NULL;

	why.text[0] = 0;
	assert_int_equal(sx_source_open(&s, p, 2, &why), error);
	assert_null(s);
	if (!strstr(why.text, sentence))
		fail_msg("'%s' does not say '%s'", why.text, sentence);
}

static bool is_ready(const struct sx_source *s, int ms)
{
	struct pollfd p = {.fd = sx_source_fd(s), .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

/* Returns the value at (0, 0), which identifies the file. */
static int first_of(const struct sx_image *img)
{
	return *(const uint8_t *)img->data;
}

static void make_three(const char *f)
{
	for (int i = 0; i < 3; i++) {
		char name[64];

		snprintf(name, sizeof(name), "left%d.png", i);
		ramp(f, name, i);
		snprintf(name, sizeof(name), "right%d.png", i);
		ramp(f, name, 100 + i);
	}
}

static void test_pairs_come_in_order_and_end(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state};
	struct sx_source_counters c;
	struct sx_source *s;
	struct sx_pair pair;

	make_three(*state);
	s = open_good(&p, 2);
	assert_int_equal(sx_source_info(s)->width, W);
	assert_int_equal(sx_source_info(s)->height, H);
	assert_int_equal(sx_source_info(s)->pixel, SX_PIXEL_U8);
	assert_int_equal(sx_source_info(s)->cameras, 2);
	assert_false(sx_source_info(s)->paced);
	assert_null(sx_source_info(s)->camera);
	for (int i = 0; i < 3; i++) {
		int64_t before = sx_now_ns();

		assert_true(is_ready(s, 0));
		assert_int_equal(sx_source_next(s, &pair, &why), 1);
		assert_int_equal(first_of(&pair.left), i);
		assert_int_equal(first_of(&pair.right), 100 + i);
		assert_int_equal(pair.number, i + 1);
		assert_int_equal(pair.stamp, STIXEL_STAMP_SOFTWARE);
		assert_int_equal(pair.clock, STIXEL_CLOCK_MONOTONIC);
		assert_true(pair.left_ns >= before && pair.left_ns <= sx_now_ns());
		sx_source_release(s, &pair);
	}
	assert_int_equal(sx_source_next(s, &pair, &why), -ENODATA);
	assert_true(is_ready(s, 0)); /* a client that polls learns of the end */
	assert_int_equal(sx_source_next(s, &pair, &why), -ENODATA);
	sx_source_counters(s, &c);
	assert_int_equal(c.captured[0], 3);
	assert_int_equal(c.captured[1], 3);
	assert_int_equal(c.corrupt, 0);
	sx_source_close(s);
	sx_source_close(NULL);
}

/* One of many files has an orientation tag. The log names the file once, also when the list starts again. */
static void test_orientation(void **state)
{
	static const uint8_t exif[] = {'I', 'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3,
				       0,   1,	 0,  0, 0, 6, 0, 0, 0, 0, 0,	0, 0};
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state, .loop = true};
	struct sx_source *s;
	struct sx_pair pair;

	make_three(*state);
	write_png_exif(in_folder(*state, "right1.png"), W, H, exif, sizeof(exif));
	s = open_good(&p, 2);
	why.text[0] = 0;
	for (int i = 0; i < 6; i++) {
		struct sx_why ignored;

		assert_int_equal(sx_source_next(s, &pair, &ignored), 1);
		assert_int_equal(first_of(&pair.right), i % 3 == 1 ? 0 : 100 + i % 3);
		sx_source_release(s, &pair);
		assert_int_equal(sx_source_warning(s, why.text, sizeof(why.text)), i == 1);
	}
	assert_non_null(strstr(why.text,
			       "/right1.png: its EXIF orientation tag (6) says that it is stored turned by "
			       "90 degrees; the tag is not applied"));
	sx_source_close(s);
}

static void test_loop_and_full_slots(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state, .loop = true};
	struct sx_pair pair[3];
	struct sx_source *s;

	make_three(*state);
	s = open_good(&p, 2);
	assert_int_equal(sx_source_next(s, &pair[0], &why), 1);
	assert_int_equal(sx_source_next(s, &pair[1], &why), 1);
	assert_false(is_ready(s, 0));
	assert_int_equal(sx_source_next(s, &pair[2], &why), 0);
	assert_int_equal(first_of(&pair[0].left), 0); /* still intact */
	sx_source_release(s, &pair[0]);
	assert_true(is_ready(s, 0));
	for (int i = 2; i < 8; i++) {
		assert_int_equal(sx_source_next(s, &pair[0], &why), 1);
		assert_int_equal(first_of(&pair[0].left), i % 3);
		assert_int_equal(pair[0].number, i + 1);
		sx_source_release(s, &pair[0]);
	}
	assert_int_equal(first_of(&pair[1].left), 1);
	sx_source_release(s, &pair[1]);
	sx_source_close(s);
}

static void test_pace(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state, .loop = true, .fps = 50};
	struct sx_pair pair;
	struct sx_source *s;
	int64_t start, took;

	make_three(*state);
	start = sx_now_ns();
	s = open_good(&p, 1);
	assert_true(sx_source_info(s)->paced);
	for (int i = 0; i < 6; i++) {
		assert_true(is_ready(s, 5000));
		assert_int_equal(sx_source_next(s, &pair, &why), 1);
		assert_int_equal(first_of(&pair.left), i % 3);
		sx_source_release(s, &pair);
	}
	took = sx_now_ns() - start;
	assert_true(took >
		    5 * 20000000 - 15000000); /* the machine may be slow, but the source is never too fast */
	sx_source_close(s);
}

/*
 * A pair that is due while all slots are in use is lost to overload. captured counts the delivered pairs and
 * the lost pairs.
 */
static void test_pairs_that_find_no_slot(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_SYNTHETIC, .width = 64, .height = 48, .fps = 1000};
	struct sx_source_counters c;
	struct sx_pair pair[2], none;
	struct sx_source *s;
	uint64_t missed = 0;

	s = open_good(&p, 2);
	for (int i = 0; i < 2; i++) {
		assert_true(is_ready(s, 5000));
		assert_int_equal(sx_source_next(s, &pair[i], &why), 1);
	}
	sx_source_counters(s, &c);
	assert_int_equal(c.captured[0], 2);
	assert_int_equal(c.dropped[0][SX_DROP_OVERLOAD],
			 0); /* a late consumer has lost no pair for lack of a slot */
	for (int i = 1; i <= 3; i++) {
		assert_true(is_ready(s, 5000));
		assert_int_equal(sx_source_next(s, &none, &why), 0);
		sx_source_counters(s, &c);
		assert_true(c.dropped[0][SX_DROP_OVERLOAD] > missed);
		missed = c.dropped[0][SX_DROP_OVERLOAD];
	}
	for (int side = 0; side < 2; side++) {
		assert_int_equal(c.dropped[side][SX_DROP_OVERLOAD], missed);
		assert_int_equal(c.captured[side], 2 + missed);
	}
	sx_source_release(s, &pair[0]);
	assert_true(is_ready(s, 5000));
	assert_int_equal(sx_source_next(s, &none, &why), 1);
	assert_int_equal(none.number, 3);
	sx_source_counters(s, &c);
	assert_int_equal(c.captured[1], 3 + missed);
	assert_int_equal(c.dropped[1][SX_DROP_OVERLOAD], missed);
	sx_source_release(s, &none);
	sx_source_release(s, &pair[1]);
	sx_source_close(s);
}

static void test_bad_files_are_skipped(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state};
	struct sx_source_counters c;
	struct sx_source *s;
	struct sx_pair pair;

	make_three(*state);
	s = open_good(&p, 1);
	write_bytes(in_folder(*state, "right0.png"), "\x89PNG\r\n\x1a\n", 8);
	write_ramp(in_folder(*state, "left1.png"), W, H + 1, 0);
	assert_int_equal(sx_source_next(s, &pair, &why), -EBADMSG);
	assert_non_null(strstr(why.text, "right0.png: broken PNG"));
	assert_int_equal(sx_source_next(s, &pair, &why), -EBADMSG);
	assert_non_null(strstr(why.text, "left1.png: 40x33 pixels, but the first image has 40x32"));
	assert_int_equal(sx_source_next(s, &pair, &why), 1);
	assert_int_equal(first_of(&pair.left), 2);
	assert_int_equal(pair.number, 3);
	sx_source_release(s, &pair);
	assert_int_equal(sx_source_next(s, &pair, &why), -ENODATA);
	assert_string_equal(why.text, "");
	sx_source_counters(s, &c);
	assert_int_equal(c.corrupt, 2);
	assert_int_equal(c.captured[0], 1);
	sx_source_close(s);
}

/*
 * Removes all files. The source ends with a reason after one turn. In a loop it also tries for at least a
 * second.
 */
static void lose_files(const char *folder, bool loop)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = folder, .loop = loop};
	const int64_t begun_ns = sx_now_ns();
	struct sx_source *s;
	struct sx_pair pair;
	int r, tries = 0;

	make_three(folder);
	s = open_good(&p, 1);
	assert_int_equal(unlink(in_folder(folder, "left0.png")), 0);
	assert_int_equal(unlink(in_folder(folder, "left1.png")), 0);
	assert_int_equal(unlink(in_folder(folder, "left2.png")), 0);
	for (; (r = sx_source_next(s, &pair, &why)) == -EBADMSG; tries++)
		assert_non_null(strstr(why.text, "No such file"));
	assert_true(loop ? tries >= 3 && sx_now_ns() - begun_ns >= SX_NS_PER_S : tries == 3);
	for (int i = 0; i < 2; i++, r = sx_source_next(s, &pair, &why)) {
		assert_int_equal(r, -ENODATA);
		assert_non_null(strstr(why.text, "no image file can be read any more (3 pairs): "));
		assert_non_null(strstr(why.text, ".png: No such file"));
	}
	sx_source_close(s);
}

static void test_a_loop_without_files_ends(void **state)
{
	lose_files(*state, true);
	lose_files(*state, false);
}

/* Another program rewrites the only pair of a loop. After that the source continues as before. */
static void test_a_loop_waits_for_a_file_that_is_being_written(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state, .loop = true};
	struct sx_source *s;
	struct sx_pair pair;

	write_ramp(in_folder(*state, "left.png"), W, H, 0);
	write_ramp(in_folder(*state, "right.png"), W, H, 0);
	s = open_good(&p, 1);
	write_bytes(in_folder(*state, "left.png"), "", 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(sx_source_next(s, &pair, &why), -EBADMSG);
	write_ramp(in_folder(*state, "left.png"), W, H, 0);
	assert_int_equal(sx_source_next(s, &pair, &why), 1);
	sx_source_release(s, &pair);
	sx_source_close(s);
}

static void test_what_is_refused_at_open(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state};

	write_ramp(in_folder(*state, "left.png"), W, H, 0);
	write_ramp(in_folder(*state, "right.png"), W + 1, H, 0);
	expect_not_open(&p, -EINVAL, "left.png is 40x32 grey8, but ");
	expect_not_open(&p, -EINVAL, "right.png is 41x32 grey8");
	write_ramp(in_folder(*state, "right.png"), W, H, 0);
	p.width = 640;
	p.height = 480;
	expect_not_open(&p, -EINVAL, "size 640x480 is asked for, but ");
	p.width = p.height = 0;
	p.fps = -1;
	expect_not_open(&p, -EINVAL, "pairs a second");
	p.fps = 0;
	write_ramp(in_folder(*state, "left.png"), 31, H, 0);
	expect_not_open(&p, -EINVAL, "left.png: 31x32 is outside 32x32 to 4096x2160");
	empty(*state, "left.png");
	expect_not_open(&p, -EBADMSG, "left.png: 0 bytes");
	p.kind = SX_SOURCE_V4L2;
	expect_not_open(&p, -EINVAL, "no device is named for the left camera");
}

static void test_both_in_one_picture(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .layout = SX_LAYOUT_SIDE_BY_SIDE};
	struct sx_source *s;
	struct sx_pair pair;

	write_ramp(in_folder(*state, "a1.png"), 2 * W, 2 * H, 0);
	p.path = *state;
	s = open_good(&p, 1);
	assert_int_equal(sx_source_info(s)->width, W);
	assert_int_equal(sx_source_info(s)->height, 2 * H);
	assert_int_equal(sx_source_info(s)->cameras, 1);
	assert_int_equal(sx_source_next(s, &pair, &why), 1);
	assert_int_equal(first_of(&pair.left), 0);
	assert_int_equal(first_of(&pair.right), W);
	assert_int_equal(*(uint8_t *)sx_image_row(&pair.right, 2), W + 6);
	sx_source_close(s);
	p.layout = SX_LAYOUT_TOP_BOTTOM;
	p.path = in_folder(*state, "a*.png");
	s = open_good(&p, 1);
	assert_int_equal(sx_source_info(s)->width, 2 * W);
	assert_int_equal(sx_source_info(s)->height, H);
	assert_int_equal(sx_source_next(s, &pair, &why), 1);
	assert_int_equal(first_of(&pair.right), 3 * H);
	sx_source_close(s);
	write_ramp(in_folder(*state, "a1.png"), 2 * W, 2 * H + 1, 0);
	expect_not_open(&p, -EINVAL, "a1.png: 80x65 pixels cannot be halved");
}

static void test_sixteen_bits_stay(void **state)
{
	static uint16_t pixels[W * H];
	struct sx_source_params p = {.kind = SX_SOURCE_FILES, .path = *state};
	struct sx_source *s;
	struct sx_pair pair;

	pixels[0] = 4711;
	write_png(in_folder(*state, "left.png"), W, H, 16, PNG_COLOR_TYPE_GRAY, 0, pixels, NULL);
	write_png(in_folder(*state, "right.png"), W, H, 16, PNG_COLOR_TYPE_GRAY, 0, pixels, NULL);
	s = open_good(&p, 1);
	assert_int_equal(sx_source_info(s)->pixel, SX_PIXEL_Y16);
	assert_int_equal(sx_source_next(s, &pair, &why), 1);
	assert_int_equal(*(uint16_t *)pair.right.data, 4711);
	sx_source_close(s);
	write_ramp(in_folder(*state, "right.png"), W, H, 0);
	expect_not_open(&p, -EINVAL, "left.png is 40x32 y16, but ");
}

/* Returns the block of the source that contains the whole image. */
static int block_of(const struct sx_source *s, const struct sx_image *img)
{
	const char *first = img->data,
		   *end = first + (size_t)(img->height - 1) * img->pitch + (size_t)img->width;
	struct sx_block b;

	for (int i = 0; sx_source_block(s, i, &b); i++)
		if (first >= (char *)b.memory && end <= (char *)b.memory + b.bytes)
			return i;
	return -1;
}

static void test_blocks(void **state)
{
	static const enum sx_layout layouts[] = {SX_LAYOUT_TWO, SX_LAYOUT_SIDE_BY_SIDE, SX_LAYOUT_TOP_BOTTOM};
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (int l = 0; l < 3; l++) {
		struct sx_source_params p = {
			.kind = SX_SOURCE_SYNTHETIC, .layout = layouts[l], .width = 100, .height = 33 + l};
		struct sx_source *s = open_good(&p, 3);
		struct sx_block b[3], none;
		struct sx_pair pair;
		unsigned seen = 0;

		assert_false(sx_source_block(s, -1, &none));
		assert_false(sx_source_block(s, 3, &none));
		for (int i = 0; i < 3; i++) {
			assert_true(sx_source_block(s, i, &b[i]));
			assert_int_equal((uintptr_t)b[i].memory % page, 0);
			assert_int_equal(b[i].bytes % page, 0);
			for (int k = 0; k < i; k++)
				assert_true((char *)b[i].memory >= (char *)b[k].memory + b[k].bytes ||
					    (char *)b[k].memory >= (char *)b[i].memory + b[i].bytes);
		}
		for (int i = 0; i < 3; i++) {
			assert_int_equal(sx_source_next(s, &pair, &why), 1);
			assert_in_range(block_of(s, &pair.left), 0, 2);
			assert_int_equal(block_of(s, &pair.left), block_of(s, &pair.right));
			seen |= 1u << block_of(s, &pair.left);
		}
		assert_int_equal(seen, 7);
		sx_source_close(s);
	}
}

static void test_synthetic_source(void **state)
{
	struct sx_source_params p = {.kind = SX_SOURCE_SYNTHETIC, .width = 64, .height = 48, .seed = 3};
	struct sx_source *s = open_good(&p, 2);
	struct sx_pair a, b;

	assert_string_equal(sx_source_info(s)->memory, "generated");
	assert_string_equal(sx_source_info(s)->path[0], "street");
	assert_true(sx_source_info(s)->camera->fx > 37 && sx_source_info(s)->camera->fx < 38);
	assert_int_equal(sx_source_next(s, &a, &why), 1);
	assert_int_equal(sx_source_next(s, &b, &why), 1);
	assert_int_equal(sx_source_next(s, &b, &why), 0);
	assert_memory_not_equal(a.left.data, b.left.data, 64);
	assert_int_equal(b.number, 2);
	sx_source_close(s); /* while pairs are still lent */
	p.layout = SX_LAYOUT_SIDE_BY_SIDE;
	s = open_good(&p, 1);
	assert_int_equal(sx_source_next(s, &a, &why), 1);
	assert_ptr_equal((char *)a.left.data + 64, a.right.data);
	sx_source_close(s);
	p.scene = "moon";
	expect_not_open(&p, -EINVAL, "unknown scene 'moon'");
	p.scene = NULL;
	p.width = 5000;
	expect_not_open(&p, -EINVAL, "size of the synthetic source: 5000x48 is outside");
	p.width = 0;
	p.height = 0;
	s = open_good(&p, 1);
	assert_int_equal(sx_source_info(s)->width, 1242);
	assert_int_equal(sx_source_info(s)->height, 375);
	sx_source_close(s);
}

#define IN_FOLDER(f) cmocka_unit_test_setup_teardown(f, folder_setup, folder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_pairs_come_in_order_and_end),
		IN_FOLDER(test_orientation),
		IN_FOLDER(test_loop_and_full_slots),
		IN_FOLDER(test_pace),
		IN_FOLDER(test_pairs_that_find_no_slot),
		IN_FOLDER(test_bad_files_are_skipped),
		IN_FOLDER(test_a_loop_without_files_ends),
		IN_FOLDER(test_a_loop_waits_for_a_file_that_is_being_written),
		IN_FOLDER(test_what_is_refused_at_open),
		IN_FOLDER(test_both_in_one_picture),
		IN_FOLDER(test_sixteen_bits_stay),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_synthetic_source),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
