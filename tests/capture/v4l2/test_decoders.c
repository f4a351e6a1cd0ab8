/*
 * Tests JPEG decoding: which pictures are good enough to be measured, and the decoder threads.
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
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/decoders.h"
#include "capture/image/jpeg.h"
#include "tests/capture/v4l2/jpeg_case.h"
#include "tests/check.h"

#define W 45
#define H 37

static struct sx_why why;
static struct jpeg_case jpeg;

/* Decodes the JPEG into a new image of this size. */
static int decode(struct check_image *to, int width, int height, struct sx_image_notes *notes)
{
	/* exactly as large as the data, so that ASan detects a decoder that reads past the end */
	uint8_t *data = malloc(jpeg.bytes ? jpeg.bytes : 1);
	int r;

	assert_non_null(data);
	memcpy(data, jpeg.data, jpeg.bytes);
	check_image_init(to, SX_PIXEL_U8, width, height, 19);
	why.text[0] = 0;
	*notes = (struct sx_image_notes){0};
	r = sx_jpeg_decode(data, jpeg.bytes, &to->image, notes, &why);
	assert_true(check_guards(to, "jpeg"));
	assert_true(r == 0 || why.text[0]);
	free(data);
	return r;
}

/* Decodes the picture. If words is NULL, it must succeed and show the pattern. */
static void check_decode(int pattern, const char *words)
{
	struct sx_image_notes notes;
	struct check_image to;
	int r = decode(&to, W, H, &notes);

	if (words ? r != -EBADMSG || !strstr(why.text, words) : r != 0)
		fail_msg("%d, '%s', expected '%s'", r, why.text, words ? words : "");
	if (!words)
		assert_true(jpeg_case_shows(&to.image, pattern));
	check_image_finish(&to);
}

static void test_good_enough(void **state)
{
	jpeg_case_make(&jpeg, 1, W, H);
	check_decode(1, NULL);
	jpeg_case_append(&jpeg, 300, 0); /* buffers are larger than pictures */
	check_decode(1, NULL);
	jpeg_case_append(&jpeg, 300, 0xff);
	check_decode(1, NULL);
	jpeg_case_make(&jpeg, 2, W, H);
	jpeg_case_pad(&jpeg, 1, 0);
	check_decode(2, NULL);
	jpeg_case_make(&jpeg, 3, W, H);
	jpeg_case_pad(&jpeg, 517, 0);
	check_decode(3, NULL);
	jpeg_case_append(&jpeg, 11, 0x55);
	check_decode(3, NULL);
	jpeg_case_make(&jpeg, 4, W, H);
	jpeg_case_strip_tables(&jpeg);
	check_decode(4, NULL);
}

static void test_damaged(void **state)
{
	jpeg_case_make(&jpeg, 1, W, H);
	jpeg.bytes /= 2;
	check_decode(1, "broken JPEG (");
	jpeg_case_make(&jpeg, 1, W, H);
	jpeg.bytes -= 2; /* cut at the end: only the end marker is missing */
	check_decode(1, "broken JPEG (");
	jpeg_case_make(&jpeg, 1, W, H);
	jpeg.bytes = jpeg.bytes * 2 / 3; /* cut in the middle, but with an end marker */
	jpeg_case_append(&jpeg, 1, 0xff);
	jpeg_case_append(&jpeg, 1, 0xd9);
	check_decode(1, "broken JPEG (");
	jpeg_case_make(&jpeg, 1, W + 1, H);
	check_decode(1, "JPEG of 46x37 instead of 45x37");
	jpeg_case_make(&jpeg, 1, W, 2 * H);
	check_decode(1, "JPEG of 45x74 instead of 45x37");
	jpeg.bytes = 0;
	check_decode(1, "broken JPEG (");
	jpeg_case_append(&jpeg, 1, 0xff);
	check_decode(1, "broken JPEG (");
	jpeg.bytes = 0;
	jpeg_case_append(&jpeg, 700, 0xd8);
	check_decode(1, "broken JPEG (");
}

/* The decoder continues to work after a picture that ends early at any place. */
static void test_cut(void **state)
{
	size_t bytes;

	jpeg_case_make(&jpeg, 1, W, H);
	bytes = jpeg.bytes;
	for (size_t cut = 0; cut < bytes; cut++) {
		jpeg_case_make(&jpeg, 1, W, H);
		jpeg.bytes = cut;
		check_decode(1, "broken JPEG (");
		jpeg_case_make(&jpeg, 5, W, H);
		check_decode(5, NULL);
	}
}

/* Any bytes give a result and a sentence. */
static void test_noise(void **state)
{
	struct check_rng rng = check_rng_seed(7);
	struct sx_image_notes notes;
	struct check_image to;
	int broken = 0;

	check_image_init(&to, SX_PIXEL_U8, W, H, 3);
	for (int i = 0; i < 2000; i++) {
		int r;

		jpeg_case_make(&jpeg, i, W, H);
		for (int n = 1 + check_below(&rng, 8); n > 0; n--)
			jpeg.data[check_below(&rng, (int)jpeg.bytes)] = (uint8_t)check_random(&rng);
		jpeg.bytes -= (size_t)check_below(&rng, 3) * (size_t)check_below(&rng, 100);
		why.text[0] = 0;
		r = sx_jpeg_decode(jpeg.data, jpeg.bytes, &to.image, &notes, &why);
		assert_true(r == 0 || (r == -EBADMSG && why.text[0]));
		assert_true(check_guards(&to, "jpeg of noise"));
		broken += r < 0;
	}
	assert_true(broken > 1000);
	check_image_finish(&to);
}

/* --- unusual, but intact --- */

#define BIG_W 160
#define BIG_H 96
#define FIRST_PATTERN 11

/* Makes the good picture of each kind, as libjpeg decodes it. */
static void make_good(enum jpeg_case_kind kind, struct check_image *good)
{
	jpeg_case_make_kind(&jpeg, kind, true, FIRST_PATTERN + (int)kind, BIG_W, BIG_H);
	check_image_init(good, SX_PIXEL_U8, BIG_W, BIG_H, 5);
	assert_int_equal(jpeg_case_complaints(jpeg.data, jpeg.bytes, &good->image), 0);
}

static bool is_same(const struct sx_image *a, const struct sx_image *b)
{
	for (int y = 0; y < a->height; y++)
		if (memcmp(sx_image_row(a, y), sx_image_row(b, y), (size_t)a->width) != 0)
			return false;
	return true;
}

static void check_whole(const char *what, const struct check_image *good, unsigned odd)
{
	struct sx_image_notes notes;
	struct check_image to;
	int r = decode(&to, BIG_W, BIG_H, &notes);

	if (r < 0 || notes.odd_jpeg != odd)
		fail_msg("%s: %d, '%s', odd %x instead of %x", what, r, why.text, notes.odd_jpeg, odd);
	if (!is_same(&to.image, &good->image))
		fail_msg("%s: other pixels than libjpeg's", what);
	check_image_finish(&to);
}

static void check_refused(const char *words)
{
	struct sx_image_notes notes;
	struct check_image to;
	int r = decode(&to, BIG_W, BIG_H, &notes);

	if (r != -EBADMSG || !strstr(why.text, words))
		fail_msg("%d, '%s', expected '%s'", r, why.text, words);
	check_image_finish(&to);
}

static void test_kinds(void **state)
{
	for (int kind = 0; kind < JPEG_CASE_CMYK; kind++) {
		struct check_image good;

		make_good(kind, &good);
		check_whole("good", &good, 0);
		check_image_finish(&good);
	}
	jpeg_case_make_kind(&jpeg, JPEG_CASE_CMYK, true, 1, BIG_W, BIG_H);
	check_refused("a CMYK JPEG, which is made for printing, cannot be read: save it as grey or RGB");
}

/* Rows of pictures with several scans are made after the last scan. Padding there must not drop them. */
static void test_padding_before_end(void **state)
{
	static const struct {
		size_t bytes;
		uint8_t value;
	} pads[] = {{64, 0}, {517, 0}, {40, 0x55}, {3000, 0x20}};

	for (int kind = 0; kind < JPEG_CASE_CMYK; kind++)
		for (size_t i = 0; i < sizeof(pads) / sizeof(pads[0]); i++) {
			struct check_image good;

			make_good(kind, &good);
			jpeg_case_pad(&jpeg, pads[i].bytes, pads[i].value);
			check_whole("padding", &good, 1 << SX_ODD_PADDING);
			check_image_finish(&good);
		}
}

/* 0xff in data is followed by a 0. */
static void test_padding_before_restart(void **state)
{
	static const uint8_t zeros[9] = {0}, ones[6] = {0xff, 0, 0xff, 0, 0xff, 0};

	for (int n = 0; n < 14; n++) {
		struct check_image good;
		const bool one_value = n % 2;

		make_good(JPEG_CASE_RESTART, &good);
		for (int k = n; k <= n + (n % 3) * 7; k++)
			jpeg_case_insert(&jpeg, jpeg_case_find(&jpeg, 0xd0, 0xd7, k),
					 one_value ? ones : zeros,
					 one_value ? 2 * (1 + (size_t)n % 3) : 1 + (size_t)n % 9);
		jpeg_case_pad(&jpeg, 200, 0); /* libjpeg itself notices other values only sometimes */
		check_whole("restart", &good, 1 << SX_ODD_PADDING | 1 << SX_ODD_RESTART_PADDING);
		check_image_finish(&good);
	}
}

static void test_odd_headers(void **state)
{
	static const uint8_t markers[] = {0xdb, 0xc4, 0xc0, 0xda};
	static const uint8_t junk[] = {0, 0x11, 0xff, 0, 0x80};
	static const uint8_t adobe[] = {0xff, 0xee, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 7};
	struct check_image good;

	for (size_t i = 0; i < sizeof(markers); i++)
		for (size_t n = 1; n <= sizeof(junk); n += sizeof(junk) - 1) {
			make_good(JPEG_CASE_BASELINE, &good);
			jpeg_case_insert(&jpeg, jpeg_case_find(&jpeg, markers[i], markers[i], 0), junk, n);
			check_whole("junk", &good, 1 << SX_ODD_HEADER_BYTES);
			check_image_finish(&good);
		}
	make_good(JPEG_CASE_BASELINE, &good);
	jpeg.data[jpeg_case_find(&jpeg, 0xda, 0xda, 0) + 12] = 0; /* spectral selection 0 to 0 */
	check_whole("scan header", &good, 1 << SX_ODD_SCAN_HEADER);
	jpeg.data[jpeg_case_find(&jpeg, 0xe0, 0xe0, 0) + 9] = 9; /* JFIF 9.1 */
	check_whole("revision", &good, 1 << SX_ODD_SCAN_HEADER | 1 << SX_ODD_OTHER);
	check_image_finish(&good);
	make_good(JPEG_CASE_BASELINE, &good);
	jpeg_case_insert(&jpeg, jpeg_case_find(&jpeg, 0xdb, 0xdb, 0), adobe, sizeof(adobe));
	check_whole("Adobe", &good, 0);
	jpeg.data[jpeg_case_find(&jpeg, 0xe0, 0xe0, 0) + 4] =
		'X'; /* the transform counts if there is no JFIF segment */
	check_whole("Adobe's transform", &good, 1 << SX_ODD_OTHER);
	check_image_finish(&good);
}

/* --- data are missing --- */

/*
 * One bit is wrong. A picture that libjpeg complains about must not pass. The exception is a bit between
 * segments of a header, where the picture must be the good one.
 */
static void test_flipped_bits(void **state)
{
	struct check_rng rng = check_rng_seed(23);
	struct check_image good, lenient;

	check_image_init(&lenient, SX_PIXEL_U8, BIG_W, BIG_H, 5);
	for (int kind = 0; kind < JPEG_CASE_CMYK; kind++) {
		int complained = 0;

		make_good(kind, &good);
		for (int i = 0; i < 200; i++) {
			const int at = check_below(&rng, (int)jpeg.bytes), bit = 1 << check_below(&rng, 8);
			struct sx_image_notes notes;
			struct check_image to;
			int r, complaints;

			jpeg.data[at] ^= (uint8_t)bit;
			complaints = jpeg_case_complaints(jpeg.data, jpeg.bytes, &lenient.image);
			r = decode(&to, BIG_W, BIG_H, &notes);
			jpeg.data[at] ^= (uint8_t)bit;
			complained += complaints != 0;
			if (complaints && r == 0 &&
			    !(notes.odd_jpeg == 1 << SX_ODD_HEADER_BYTES && is_same(&to.image, &good.image)))
				fail_msg("kind %d, byte %d, bit %x: damage passes (%d complaints, odd %x)",
					 kind, at, (unsigned)bit, complaints, notes.odd_jpeg);
			if (r == 0 && !is_same(&to.image, &lenient.image))
				fail_msg("kind %d, byte %d, bit %x: other pixels", kind, at, (unsigned)bit);
			check_image_finish(&to);
		}
		if (complained < 5)
			fail_msg("kind %d: libjpeg complained %d times of 200", kind, complained);
		check_image_finish(&good);
	}
	check_image_finish(&lenient);
}

/* Inserts data of another picture before a restart marker, where libjpeg only counts bytes. */
static void test_data_left_over(void **state)
{
	static const uint8_t data[] = {0x3b, 0x57, 0xe9, 0x5f};

	for (size_t bytes = 1; bytes <= sizeof(data); bytes++) {
		jpeg_case_make_kind(&jpeg, JPEG_CASE_RESTART, true, 3, BIG_W, BIG_H);
		jpeg_case_insert(&jpeg, jpeg_case_find(&jpeg, 0xd0, 0xd7, 8), data, bytes);
		jpeg_case_pad(&jpeg, 100, 0);
		check_refused("extraneous bytes before marker");
	}
	for (int kind = 0; kind < JPEG_CASE_CMYK; kind++) {
		jpeg_case_make_kind(&jpeg, kind, true, 3, BIG_W, BIG_H);
		for (int n = 0; n < 15; n++) /* more than the decoder reads ahead */
			jpeg_case_insert(&jpeg, jpeg.bytes - 2, data, sizeof(data));
		check_refused("extraneous bytes before marker 0xd9");
	}
}

static void test_lost_parts(void **state)
{
	size_t at, next;

	jpeg_case_make_kind(&jpeg, JPEG_CASE_RESTART, true, 3, BIG_W, BIG_H);
	at = jpeg_case_find(&jpeg, 0xd0, 0xd7, 3);
	next = jpeg_case_find(&jpeg, 0xd0, 0xd7, 4);
	memmove(jpeg.data + at, jpeg.data + next, jpeg.bytes - next);
	jpeg.bytes -= next - at;
	check_refused("found marker 0xd4 instead of RST3");
	/* missing scans: the only one of the luminance, and the last one of a progressive picture */
	jpeg_case_make_kind(&jpeg, JPEG_CASE_SEPARATE, true, 3, BIG_W, BIG_H);
	at = jpeg_case_find(&jpeg, 0xda, 0xda, 0);
	next = jpeg_case_find(&jpeg, 0xda, 0xda, 1);
	memmove(jpeg.data + at, jpeg.data + next, jpeg.bytes - next);
	jpeg.bytes -= next - at;
	check_refused("broken JPEG (");
	jpeg_case_make_kind(&jpeg, JPEG_CASE_PROGRESSIVE, true, 3, BIG_W, BIG_H);
	jpeg.bytes = jpeg_case_find(&jpeg, 0xda, 0xda, 9);
	jpeg_case_append(&jpeg, 1, 0xff);
	jpeg_case_append(&jpeg, 1, 0xd9);
	check_refused("a scan is missing");
	/* the picture's own tables, which the decoder takes for bytes between segments */
	jpeg_case_make_kind(&jpeg, JPEG_CASE_SEPARATE, true, 3, BIG_W, BIG_H);
	jpeg.data[jpeg_case_find(&jpeg, 0xc4, 0xc4, 0)] = 0;
	check_refused("bytes were skipped where its tables should be");
}

/* Each scan takes as long as a picture, and a file has room for millions of scans. */
static void test_scans_without_end(void **state)
{
	static uint8_t scan[1024];
	size_t at, bytes;
	struct sx_image_notes notes;
	struct check_image to;

	jpeg_case_make_kind(&jpeg, JPEG_CASE_SEPARATE, false, 3, 16, 16);
	at = jpeg_case_find(&jpeg, 0xda, 0xda, 2);
	bytes = jpeg.bytes - 2 - at;
	assert_true(bytes < sizeof(scan));
	memcpy(scan, jpeg.data + at, bytes);
	for (int n = 3; n <= 600; n++) {
		jpeg_case_insert(&jpeg, jpeg.bytes - 2, scan, bytes);
		if (n != 100 && n != 600)
			continue;
		assert_int_equal(decode(&to, 16, 16, &notes), n == 100 ? 0 : -EBADMSG);
		check_image_finish(&to);
	}
	assert_non_null(strstr(why.text, "more scans than a picture has"));
}

/* --- EXIF --- */

#define TIFF 10 /* offset of the TIFF header in an APP1 segment */

static int orientation_of(const uint8_t *segment, size_t bytes)
{
	struct sx_image_notes notes;
	struct check_image to;

	jpeg_case_make(&jpeg, 1, W, H);
	jpeg_case_insert(&jpeg, 2, segment, bytes);
	if (decode(&to, W, H, &notes) < 0)
		fail_msg("%s", why.text);
	assert_true(jpeg_case_shows(&to.image, 1)); /* the pixels stay as stored */
	check_image_finish(&to);
	return notes.orientation;
}

static void test_orientation(void **state)
{
	static const uint8_t little[] = {0xff, 0xe1, 0, 46, 'E', 'x', 'i', 'f', 0,    0, 'I', 'I',
					 42,   0,    8, 0,  0,	 0,   2,   0,	0xf,  1, 2,   0,
					 4,    0,    0, 0,  'a', 'b', 'c', 0,	0x12, 1, 3,   0,
					 1,    0,    0, 0,  6,	 0,   0,   0,	0,    0, 0,   0};
	static const uint8_t big[] = {0xff, 0xe1, 0, 34, 'E', 'x', 'i', 'f', 0, 0,    'M', 'M',
				      0,    42,	  0, 0,	 0,   8,   0,	1,   1, 0x12, 0,   3,
				      0,    0,	  0, 1,	 0,   3,   0,	0,   0, 0,    0,   0};
	uint8_t bad[sizeof(little)];
	struct check_rng rng = check_rng_seed(3);

	assert_int_equal(orientation_of(little, 48), 6);
	assert_int_equal(orientation_of(big, 36), 3);
	for (size_t i = TIFF; i < TIFF + 4; i++) {
		memcpy(bad, little, sizeof(bad));
		bad[i] ^= 1; /* no TIFF header */
		assert_int_equal(orientation_of(bad, 48), 0);
	}
	for (int i = 0; i < 300; i++) { /* offsets and counts that point anywhere */
		int value;

		memcpy(bad, little, sizeof(bad));
		for (int n = 0; n < 4; n++)
			bad[TIFF + 4 + check_below(&rng, 34)] = (uint8_t)check_random(&rng);
		value = orientation_of(bad, 48);
		assert_in_range(value, 0, 8);
	}
	memcpy(bad, little, sizeof(bad));
	bad[sizeof(bad) - 8] = 9; /* there are 8 */
	assert_int_equal(orientation_of(bad, 48), 0);
}

/* --- threads --- */

#define TASKS 40

static void wait_for_all(const struct sx_decoders *d, struct sx_decode_task *tasks, int n)
{
	struct pollfd p = {.fd = sx_decoders_fd(d), .events = POLLIN};
	uint64_t value;

	for (int done = 0; done < n;) {
		assert_int_equal(poll(&p, 1, 10000), 1);
		assert_int_equal(read(p.fd, &value, sizeof(value)), sizeof(value));
		for (done = 0; done < n && atomic_load_explicit(&tasks[done].done, memory_order_acquire);
		     done++)
			;
	}
}

static int decode_picture(const void *input, const struct sx_image *to, struct sx_file_bytes *bytes,
			  struct sx_image_notes *notes, struct sx_why *ret)
{
	const struct jpeg_case *picture = input;

	return sx_jpeg_decode(picture->data, picture->bytes, to, notes, ret);
}

static void check_threads(int threads)
{
	static struct jpeg_case pictures[TASKS];
	static struct sx_decode_task tasks[TASKS];
	struct sx_decoders *d = NULL;

	if (sx_decoders_create(&d, threads, &why) < 0)
		fail_msg("%s", why.text);
	for (int i = 0; i < TASKS; i++) {
		jpeg_case_make(&pictures[i], i, W, H);
		if (i % 7 == 3)
			pictures[i].bytes = 100;
		assert_int_equal(sx_image_init(&tasks[i].to, SX_PIXEL_U8, W, H), 0);
		tasks[i].decode = decode_picture;
		tasks[i].input = &pictures[i];
	}
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < TASKS; i++)
			sx_decoders_submit(d, &tasks[i]);
		wait_for_all(d, tasks, TASKS);
		for (int i = 0; i < TASKS; i++) {
			assert_int_equal(tasks[i].result, i % 7 == 3 ? -EBADMSG : 0);
			if (i % 7 == 3)
				assert_non_null(strstr(tasks[i].why.text, "broken JPEG"));
			else
				assert_true(jpeg_case_shows(&tasks[i].to, i));
		}
	}
	for (int i = 0; i < TASKS; i++)
		sx_decoders_submit(d, &tasks[i]);
	sx_decoders_destroy(d); /* while its threads work */
	for (int i = 0; i < TASKS; i++) {
		assert_true(atomic_load(&tasks[i].done));
		sx_image_finish(&tasks[i].to);
	}
}

static void test_threads(void **state)
{
	check_threads(1);
	check_threads(2);
	check_threads(SX_DECODERS_MAX);
	sx_decoders_destroy(NULL);
}

static atomic_bool begun, gate; /* a late task has begun; late tasks end once gate is true */

static int decode_late(const void *input, const struct sx_image *to, struct sx_file_bytes *bytes,
		       struct sx_image_notes *notes, struct sx_why *ret)
{
	atomic_store(&begun, true);
	while (!atomic_load(&gate))
		usleep(100);
	return 7;
}

/* A task that no thread has begun can be taken out of the queue: from its middle, its end, and its begin. */
static void test_cancel(void **state)
{
	struct sx_decode_task tasks[6] = {{0}};
	struct sx_decoders *d = NULL;

	assert_int_equal(sx_decoders_create(&d, 1, &why), 0);
	for (int i = 0; i < 5; i++) {
		tasks[i].decode = decode_late;
		sx_decoders_submit(d, &tasks[i]);
	}
	while (!atomic_load(&begun))
		usleep(100);
	assert_false(sx_decoders_cancel(d, &tasks[0]));
	assert_true(sx_decoders_cancel(d, &tasks[2]));
	assert_true(sx_decoders_cancel(d, &tasks[4]));
	assert_false(sx_decoders_cancel(d, &tasks[4]));
	assert_true(sx_decoders_cancel(d, &tasks[1]));
	assert_false(sx_decoders_cancel(d, &tasks[5])); /* was never in it */
	tasks[5].decode = decode_late;
	sx_decoders_submit(d, &tasks[5]);
	atomic_store(&gate, true);
	sx_decoders_destroy(d);
	for (int i = 0; i < 6; i++) {
		const bool cancelled = i == 1 || i == 2 || i == 4;

		assert_int_equal(atomic_load(&tasks[i].done), !cancelled);
		assert_int_equal(tasks[i].result, cancelled ? 0 : 7);
	}
}

/* Threads without tasks sleep. */
static void test_idle(void **state)
{
	struct pollfd p = {.events = POLLIN};
	struct sx_decoders *d = NULL;

	assert_int_equal(sx_decoders_create(&d, 4, &why), 0);
	p.fd = sx_decoders_fd(d);
	assert_int_equal(poll(&p, 1, 10), 0);
	sx_decoders_destroy(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_enough),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_padding_before_end),
		cmocka_unit_test(test_padding_before_restart),
		cmocka_unit_test(test_odd_headers),
		cmocka_unit_test(test_flipped_bits),
		cmocka_unit_test(test_data_left_over),
		cmocka_unit_test(test_lost_parts),
		cmocka_unit_test(test_scans_without_end),
		cmocka_unit_test(test_orientation),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_idle),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
