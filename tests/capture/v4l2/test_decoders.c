/*
 * JPEG: what is good enough to be measured; and the threads that decode.
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

#include "capture/image/jpeg.h"
#include "capture/v4l2/decoders.h"
#include "tests/capture/v4l2/jpeg_case.h"
#include "tests/check.h"

#define W 45
#define H 37

static char why[256];
static struct jpeg_case jpeg;

static struct sx_jpeg *open_jpeg(void)
{
	struct sx_jpeg *j = NULL;

	if (sx_jpeg_open(&j, why, sizeof(why)) < 0)
		fail_msg("%s", why);
	return j;
}

/* words NULL: it must be decoded, and show the pattern. */
static void check_decode(struct sx_jpeg *j, int pattern, const char *words)
{
	/* as large as the data: who reads on is seen by ASan */
	uint8_t *data = malloc(jpeg.bytes ? jpeg.bytes : 1);
	struct check_image to;
	int r;

	assert_non_null(data);
	memcpy(data, jpeg.data, jpeg.bytes);
	check_image_init(&to, SX_PIXEL_U8, W, H, 19);
	why[0] = 0;
	r = sx_jpeg_decode(j, data, jpeg.bytes, &to.image, why, sizeof(why));
	if (words ? r != -EBADMSG || !strstr(why, words) : r != 0)
		fail_msg("%d, '%s', expected '%s'", r, why, words ? words : "");
	if (!words)
		assert_true(jpeg_case_shows(&to.image, pattern));
	assert_true(check_guards(&to, "jpeg"));
	check_image_finish(&to);
	free(data);
}

static void test_good_enough(void **state)
{
	struct sx_jpeg *j = open_jpeg();

	jpeg_case_make(&jpeg, 1, W, H);
	check_decode(j, 1, NULL);
	jpeg_case_append(&jpeg, 300, 0); /* buffers are larger than pictures */
	check_decode(j, 1, NULL);
	jpeg_case_append(&jpeg, 300, 0xff);
	check_decode(j, 1, NULL);
	jpeg_case_make(&jpeg, 2, W, H);
	jpeg_case_pad(&jpeg, 1, 0);
	check_decode(j, 2, NULL);
	jpeg_case_make(&jpeg, 3, W, H);
	jpeg_case_pad(&jpeg, 517, 0);
	check_decode(j, 3, NULL);
	jpeg_case_append(&jpeg, 11, 0x55);
	check_decode(j, 3, NULL);
	jpeg_case_make(&jpeg, 4, W, H);
	jpeg_case_strip_tables(&jpeg);
	check_decode(j, 4, NULL);
	sx_jpeg_close(j);
	j = open_jpeg(); /* not by tables of the one before */
	check_decode(j, 4, NULL);
	sx_jpeg_close(j);
	sx_jpeg_close(NULL);
}

static void test_damaged(void **state)
{
	struct sx_jpeg *j = open_jpeg();

	jpeg_case_make(&jpeg, 1, W, H);
	jpeg.bytes /= 2;
	check_decode(j, 1, "broken JPEG (");
	jpeg_case_make(&jpeg, 1, W, H);
	jpeg.bytes -= 2; /* cut short by as little as the end marker */
	check_decode(j, 1, "broken JPEG (");
	jpeg_case_make(&jpeg, 1, W, H);
	jpeg.bytes = jpeg.bytes * 2 / 3; /* cut short, but with an end */
	jpeg_case_append(&jpeg, 1, 0xff);
	jpeg_case_append(&jpeg, 1, 0xd9);
	check_decode(j, 1, "broken JPEG (");
	/* padding in the middle is damage: what lies between was lost */
	setenv("TJ_RESTART", "1", 1);
	jpeg_case_make(&jpeg, 1, W, H);
	unsetenv("TJ_RESTART");
	check_decode(j, 1, NULL);
	jpeg_case_pad_restart(&jpeg, 9);
	check_decode(j, 1, "extraneous bytes before marker 0xd");
	jpeg_case_make(&jpeg, 1, W + 1, H);
	check_decode(j, 1, "JPEG of 46x37 instead of 45x37");
	jpeg_case_make(&jpeg, 1, W, 2 * H);
	check_decode(j, 1, "JPEG of 45x74 instead of 45x37");
	jpeg.bytes = 0;
	check_decode(j, 1, "broken JPEG (");
	jpeg_case_append(&jpeg, 1, 0xff);
	check_decode(j, 1, "broken JPEG (");
	jpeg.bytes = 0;
	jpeg_case_append(&jpeg, 700, 0xd8);
	check_decode(j, 1, "broken JPEG (");
	sx_jpeg_close(j);
}

/* Wherever a picture ends too early, the decoder is none the worse for it. */
static void test_cut(void **state)
{
	struct sx_jpeg *j = open_jpeg();
	size_t bytes;

	jpeg_case_make(&jpeg, 1, W, H);
	bytes = jpeg.bytes;
	for (size_t cut = 0; cut < bytes; cut++) {
		jpeg_case_make(&jpeg, 1, W, H);
		jpeg.bytes = cut;
		check_decode(j, 1, "broken JPEG (");
		jpeg_case_make(&jpeg, 5, W, H);
		check_decode(j, 5, NULL);
	}
	sx_jpeg_close(j);
}

/* Whatever the bytes, there is an answer, and a sentence with it. */
static void test_noise(void **state)
{
	struct sx_jpeg *j = open_jpeg();
	struct check_rng rng = check_rng_seed(7);
	struct check_image to;
	int broken = 0;

	check_image_init(&to, SX_PIXEL_U8, W, H, 3);
	for (int i = 0; i < 2000; i++) {
		int r;

		jpeg_case_make(&jpeg, i, W, H);
		for (int n = 1 + check_below(&rng, 8); n > 0; n--)
			jpeg.data[check_below(&rng, (int)jpeg.bytes)] = (uint8_t)check_random(&rng);
		jpeg.bytes -= (size_t)check_below(&rng, 3) * (size_t)check_below(&rng, 100);
		why[0] = 0;
		r = sx_jpeg_decode(j, jpeg.data, jpeg.bytes, &to.image, why, sizeof(why));
		assert_true(r == 0 || (r == -EBADMSG && *why));
		assert_true(check_guards(&to, "jpeg of noise"));
		broken += r < 0;
	}
	assert_true(broken > 1000);
	check_image_finish(&to);
	sx_jpeg_close(j);
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

static void check_threads(int threads)
{
	static struct jpeg_case pictures[TASKS];
	static struct sx_decode_task tasks[TASKS];
	struct sx_decoders *d = NULL;

	if (sx_decoders_create(&d, threads, true, why, sizeof(why)) < 0)
		fail_msg("%s", why);
	for (int i = 0; i < TASKS; i++) {
		jpeg_case_make(&pictures[i], i, W, H);
		if (i % 7 == 3)
			pictures[i].bytes = 100;
		assert_int_equal(sx_image_init(&tasks[i].to, SX_PIXEL_U8, W, H), 0);
		tasks[i].data = pictures[i].data;
		tasks[i].bytes = pictures[i].bytes;
	}
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < TASKS; i++)
			sx_decoders_submit(d, &tasks[i]);
		wait_for_all(d, tasks, TASKS);
		for (int i = 0; i < TASKS; i++) {
			assert_int_equal(tasks[i].result, i % 7 == 3 ? -EBADMSG : 0);
			if (i % 7 == 3)
				assert_non_null(strstr(tasks[i].why, "broken JPEG"));
			else
				assert_true(jpeg_case_shows(&tasks[i].to, i));
		}
	}
	for (int i = 0; i < TASKS; i++)
		sx_decoders_submit(d, &tasks[i]);
	sx_decoders_destroy(d); /* while they are at work */
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

/* Nothing to do, and sleeping for it. */
static void test_idle(void **state)
{
	struct pollfd p = {.events = POLLIN};
	struct sx_decoders *d = NULL;

	assert_int_equal(sx_decoders_create(&d, 4, true, why, sizeof(why)), 0);
	p.fd = sx_decoders_fd(d);
	assert_int_equal(poll(&p, 1, 10), 0);
	sx_decoders_destroy(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_enough), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_cut),	    cmocka_unit_test(test_noise),
		cmocka_unit_test(test_threads),	    cmocka_unit_test(test_idle),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
