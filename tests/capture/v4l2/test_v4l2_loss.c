/*
 * Tests source "v4l2" when cameras fail. Each kind of loss gives one sentence, counts every image and leaves
 * nothing behind. Slow cameras and slow consumers do not count as lost.
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
#include "tests/capture/v4l2/v4l2_case.h"
#include "tests/check.h"

#define W CASE_W
#define H CASE_H
#define TIMEOUT_MS 300 /* long enough for a busy machine not to look like silence */

static void fill_one(struct fake_camera *c, int pattern, int64_t ns)
{
	const struct fake_frame f = {.pattern = pattern, .ns = ns};

	assert_true(fake_fill(c, &f));
}

static void take(struct sx_source *s, struct fake_camera *cameras[2], int pattern, struct sx_pair *pair)
{
	case_fill(cameras, pattern, CASE_TIME(pattern));
	assert_int_equal(case_next(s, pair, 0), 1);
	assert_true(fake_shows(&pair->left, 0, pattern, 0, 0));
	assert_true(fake_shows(&pair->right, 1, pattern, 0, 0));
}

static void expect_lost(struct sx_source *s, const char *words)
{
	case_expect(s, -ENODEV, words);
	case_balanced(s, 0, 0); /* counts the waiting images, too */
	case_close(s);
}

/* --- silence --- */

/* The test uses real time. The source's descriptor reports silence, when nothing else does. */
static void test_silence(void **state)
{
	const int64_t began = sx_now_ns();
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_pair pair;
	struct sx_source *s;

	case_grey(cameras);
	p.timeout_ms = 400;
	s = case_open(&p, CASE_SLOTS);
	assert_int_equal(case_next(s, &pair, 30), -ENODEV);
	assert_non_null(strstr(case_why.text, "/dev/fake-"));
	assert_non_null(strstr(case_why.text, ": no image for "));
	assert_true(sx_now_ns() - began >= 400 * CASE_MS);
	case_close(s);
}

static void test_silence_of_one(void **state)
{
	struct fake_camera *cameras[2];
	struct sx_source *s = case_begin_grey(cameras);

	case_wait(s, CASE_TIMEOUT_S - 5);
	case_expect(s, 0, "");
	fill_one(cameras[0], 1, CASE_TIME(1));
	case_expect(s, 0, "");
	case_wait(s, 6);
	expect_lost(s, CASE_RIGHT ": no image for 2");
}

/* One camera delivers a single picture and no more. */
static void test_silence_after_the_first(void **state)
{
	const struct fake_mode modes[] = {{V4L2_PIX_FMT_GREY, 2 * W, H, 30}, {0}};
	struct sx_source_params p = case_params();
	struct fake_camera *c = fake_add(CASE_LEFT, modes);
	struct sx_source *s;

	p.layout = SX_LAYOUT_SIDE_BY_SIDE;
	s = case_open(&p, CASE_SLOTS);
	case_wait(s, 5);
	fill_one(c, 0, CASE_TIME(0));
	case_expect(s, 0, "");
	case_wait(s, CASE_TIMEOUT_S - 4); /* long after the start, but not after the picture */
	case_expect(s, 0, "");
	case_wait(s, 5);
	expect_lost(s, CASE_LEFT ": no image for 2");
}

static void test_never_of_one_time(void **state)
{
	const struct fake_frame damaged = {.ns = CASE_TIME(0), .error = true};
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s;
	struct sx_pair pair;

	p.tolerance_ms = 2;
	case_grey(cameras);
	s = case_begin(cameras, &p);
	assert_true(fake_fill(cameras[0], &damaged));
	case_expect(s, -EBADMSG, "damaged");
	take(s, cameras, 0, &pair); /* a new pair ends every earlier fault */
	sx_source_release(s, &pair);
	for (int k = 1; k <= 2; k++) {
		fill_one(cameras[0], k, CASE_TIME(k));
		fill_one(cameras[1], k, CASE_TIME(k) + 5 * CASE_MS);
		if (k == 1)
			case_expect(s, 0, "");
		if (k == 1)
			case_wait(s, CASE_TIMEOUT_S + 1);
	}
	expect_lost(s, " s: images of " CASE_LEFT " and " CASE_RIGHT " are more than 2.0 ms apart");
}

/* Good images of one camera do not hide damage of the other camera. */
static void test_all_damaged(void **state)
{
	const struct fake_frame damaged = {.ns = CASE_TIME(1), .missing = 7};
	struct fake_camera *cameras[2];
	struct sx_source *s = case_begin_grey(cameras);

	case_wait(s, CASE_TIMEOUT_S - 5);
	assert_true(fake_fill(cameras[0], &damaged));
	case_expect(s, -EBADMSG, CASE_LEFT ": short image (1625 bytes)");
	fill_one(cameras[1], 1, CASE_TIME(1));
	case_expect(s, 0, "");
	case_wait(s, 6);
	fill_one(cameras[1], 2, CASE_TIME(2));
	expect_lost(s, " s: " CASE_LEFT ": short image (1625 bytes)");
}

/*
 * One camera has no buffer left, because its images wait for a partner. The source still sees that the other
 * camera is damaged.
 */
static void test_all_damaged_and_none_left(void **state)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s;

	case_grey(cameras);
	p.buffers = 2;
	s = case_begin(cameras, &p);
	fill_one(cameras[0], 1, CASE_TIME(1));
	fill_one(cameras[0], 2, CASE_TIME(2));
	for (int k = 1; k <= 3; k++) {
		const struct fake_frame damaged = {.ns = CASE_TIME(k), .error = true};

		assert_true(fake_fill(cameras[1], &damaged));
		if (k == 3)
			break;
		case_expect(s, -EBADMSG, CASE_RIGHT ": damaged image");
		case_wait(s, CASE_TIMEOUT_S / 2 + 1);
	}
	expect_lost(s, CASE_RIGHT ": damaged image");
}

/* --- not lost --- */

/* Holds pairs for longer than cameras may be silent. The consumer is slow, not the camera. */
static void check_slow_taker(enum sx_source_memory memory, int buffers, int held)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_pair pairs[CASE_SLOTS];
	struct sx_source *s;
	int k = 1;

	case_grey(cameras);
	p.memory = memory;
	p.buffers = buffers;
	s = case_begin(cameras, &p);
	for (int i = 0; i < held; i++)
		take(s, cameras, k++, &pairs[i]);
	for (int i = 0; i < 4; i++, k++) {
		const struct fake_frame f = {.pattern = k, .ns = CASE_TIME(k)};

		case_wait(s, CASE_TIMEOUT_S + 1);
		fake_fill(cameras[0], &f);
		fake_fill(cameras[1], &f);
		case_expect(s, 0, "");
	}
	for (int i = 0; i < held; i++)
		sx_source_release(s, &pairs[i]);
	case_expect(s, 0, ""); /* all buffers are with the drivers again */
	take(s, cameras, k, &pairs[0]);
	sx_source_release(s, &pairs[0]);
	case_balanced(s, 0, 0);
	case_close(s);
}

static void test_slow_taker(void **state)
{
	check_slow_taker(SX_MEMORY_USERPTR, 0, CASE_SLOTS);
	check_slow_taker(SX_MEMORY_USERPTR, 2, 2); /* no buffer is left to fill */
	check_slow_taker(SX_MEMORY_MMAP, 0, CASE_SLOTS);
}

/* --- events of devices --- */

static void test_source_change(void **state)
{
	struct fake_camera *cameras[2];
	struct sx_source *s = case_begin_grey(cameras);

	fill_one(cameras[0], 1, CASE_TIME(1));
	fake_change_source(cameras[1]);
	expect_lost(s, CASE_RIGHT ": its image format has changed");
}

static void test_poll_error(void **state)
{
	struct fake_camera *cameras[2];
	struct sx_source *s = case_begin_grey(cameras);

	fake_break(cameras[0]);
	expect_lost(s, CASE_LEFT ": streaming has failed");
}

static void test_unplugged(void **state)
{
	struct fake_camera *cameras[2];
	struct sx_source *s = case_begin_grey(cameras);
	struct sx_pair pair;

	take(s, cameras, 1, &pair);
	fill_one(cameras[1], 2, CASE_TIME(2));
	case_expect(s, 0, "");
	fake_unplug(cameras[0]);
	case_expect(s, -ENODEV, CASE_LEFT ": VIDIOC_DQBUF: No such device");
	case_balanced(s, 0, 0);
	assert_true(fake_shows(&pair.left, 0, 1, 0, 0)); /* the engine may still read */
	sx_source_release(s, &pair);
	case_close(s);
}

/* A release that the driver refuses is reported by the next call, and no further buffer goes back. */
static void test_lost_at_release(void **state)
{
	struct fake_camera *cameras[2];
	struct sx_source *s = case_begin_grey(cameras);
	struct sx_pair pair;

	take(s, cameras, 1, &pair);
	fake_fail(VIDIOC_QBUF, 1, ENODEV);
	sx_source_release(s, &pair);
	assert_true(fake_has_failed());
	assert_int_equal(cameras[1]->queued, cameras[0]->queued);
	case_expect(s, -ENODEV, CASE_LEFT ": VIDIOC_QBUF: No such device");
	expect_lost(s, CASE_LEFT ": VIDIOC_QBUF: No such device");
}

static void test_foreign_buffers(void **state)
{
	for (int how = 1; how <= 2; how++) {
		const struct fake_frame f = {.ns = CASE_TIME(2), .other_index = how};
		struct fake_camera *cameras[2];
		struct sx_source *s = case_begin_grey(cameras);
		struct sx_pair pair;

		take(s, cameras, 1, &pair);
		assert_true(fake_fill(cameras[0], &f));
		case_expect(s, -ENODEV, CASE_LEFT ": the driver gave back buffer ");
		sx_source_release(s, &pair);
		case_balanced(s, 0, 0);
		case_close(s);
	}
}

/* Makes the nth ioctl fail while pairs are taken and given back. Returns false if there are fewer calls. */
static bool fault(enum sx_source_memory memory, int nth, int error)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_pair pair, held = {0};
	struct sx_source *s;
	bool failed;
	int r = 0;

	case_grey(cameras);
	p.memory = memory;
	p.dmabuf_from = CASE_EXPORTER;
	s = case_begin(cameras, &p);
	fake_fail(FAKE_ALL_REQUESTS, nth, error);
	for (int k = 1; k < 12 && r >= 0; k++) {
		const struct fake_frame f = {.pattern = k, .ns = CASE_TIME(k), .error = k == 5};

		fake_fill(cameras[0], &f);
		if (k != 7)
			fake_fill(cameras[1], &f);
		r = case_next(s, &pair, 0);
		r = r == -EBADMSG ? 0 : r;
		if (r <= 0)
			continue;
		assert_true(fake_shows(&pair.left, 0, k, 0, 0));
		assert_true(fake_shows(&pair.right, 1, k, 0, 0));
		if (k % 2) {
			held = pair;
			continue;
		}
		sx_source_release(s, &pair);
		if (held.slot)
			sx_source_release(s, &held);
		held.slot = NULL;
	}
	failed = fake_has_failed();
	if (r < 0 && (r != -ENODEV || !strstr(case_why.text, "/dev/fake-")))
		fail_msg("ioctl %d fails with %s: %d, '%s'", nth, strerror(error), r, case_why.text);
	if (failed && r >= 0 && error != EAGAIN)
		fail_msg("nobody has noticed that ioctl %d failed with %s", nth, strerror(error));
	if (r < 0)
		case_balanced(s, 0, 0);
	if (held.slot)
		sx_source_release(s, &held);
	case_close(s); /* for large nth an ioctl of the close fails */
	return failed;
}

static void test_faults(void **state)
{
	static const enum sx_source_memory memories[] = {SX_MEMORY_USERPTR, SX_MEMORY_DMABUF, SX_MEMORY_MMAP};
	static const int errors[] = {EIO, ENODEV, EINVAL};

	for (size_t m = 0; m < sizeof(memories) / sizeof(memories[0]); m++)
		for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
			int n = 1;

			while (fault(memories[m], n, errors[e]))
				n++;
			assert_true(n > 40);
		}
}

/* Closing succeeds even if its ioctls fail. */
static void test_faults_at_close(void **state)
{
	for (int n = 1; n < 6; n++) {
		struct fake_camera *cameras[2];
		struct sx_source *s = case_begin_grey(cameras);

		fake_fail(FAKE_ALL_REQUESTS, n, EIO);
		case_close(s);
	}
}

static void test_a_hundred_times(void **state)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	int before;

	case_grey(cameras);
	before = check_descriptors();
	for (int round = 0; round < 100; round++) {
		struct sx_source *s = NULL;
		struct sx_pair pair;

		p.memory = round % 2 ? SX_MEMORY_MMAP : SX_MEMORY_USERPTR;
		if (sx_source_open(&s, &p, CASE_SLOTS, &case_why) < 0)
			fail_msg("%s", case_why.text);
		case_fill(cameras, 0, CASE_TIME(0));
		case_expect(s, 0, "");
		take(s, cameras, 1, &pair);
		fake_unplug(cameras[round % 2]);
		case_expect(s, -ENODEV, "No such device");
		sx_source_release(s, &pair);
		sx_source_close(s);
		s = NULL;
		assert_int_equal(sx_source_open(&s, &p, CASE_SLOTS, &case_why), -ENODEV);
		assert_null(s);
		fake_plug(cameras[round % 2]);
		assert_int_equal(check_descriptors(), before);
	}
	fake_reset();
}

/* Two cameras share one hub. Without advice, "No space left on device" would look like a full disk. */
static void test_no_bandwidth(void **state)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];

	case_grey(cameras);
	fake_fail(VIDIOC_STREAMON, 2, ENOSPC);
	case_refused(&p, -ENODEV,
		     CASE_RIGHT
		     ": the USB bus has no bandwidth left for this camera (VIDIOC_STREAMON: ENOSPC): "
		     "put it on another port");
	assert_null(strstr(case_why.text, "No space left"));
	assert_non_null(strstr(case_why.text, "take format = mjpg, a smaller size, or fewer fps"));
	fake_reset();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_bandwidth),
		cmocka_unit_test(test_lost_at_release),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_silence_of_one),
		cmocka_unit_test(test_silence_after_the_first),
		cmocka_unit_test(test_never_of_one_time),
		cmocka_unit_test(test_all_damaged),
		cmocka_unit_test(test_all_damaged_and_none_left),
		cmocka_unit_test(test_slow_taker),
		cmocka_unit_test(test_source_change),
		cmocka_unit_test(test_poll_error),
		cmocka_unit_test(test_unplugged),
		cmocka_unit_test(test_foreign_buffers),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_faults_at_close),
		cmocka_unit_test(test_a_hundred_times),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
