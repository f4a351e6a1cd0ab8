/*
 * Tests what a writer of pairs declares: its hello, its camera and its rig.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/capture/shared/shared_case.h"
#include "tests/emulated.h"

static void nobody(void **state)
{
	(void)state;
	expect_not_open(-ENOENT, "no process writes pairs to ");
	assert_non_null(strstr(why.text, listener.path));
}

static void add_camera(struct stixel_pairs_hello *h)
{
	h->format.fx = h->format.fy = 40;
	h->format.cx = W / 2.0;
	h->format.cy = H / 2.0;
	h->format.baseline_m = 0.1;
}

static void add_rig(struct stixel_pairs_hello *h)
{
	add_camera(h);
	h->format.flags |= STIXEL_PAIRS_RAW;
	for (int i = 0; i < 2; i++) {
		struct stixel_raw_camera *c = &h->format.raw[i];

		c->fx = c->fy = 40;
		c->cx = W / 2.0;
		c->cy = H / 2.0;
		c->distortion[0] = -0.05;
		c->rotation[0] = c->rotation[4] = c->rotation[8] = 1;
	}
}

enum hello_of { PLAIN, GREY16, BAYER16, CAMERA, RIG };

/* A good hello of this kind, in which one field, of `bytes` bytes, has this value. */
#define BROKEN(kind, field, number)                                     \
	.of = (kind), .at = offsetof(struct stixel_pairs_hello, field), \
	.bytes = sizeof(((struct stixel_pairs_hello *)0)->field), .value = (number)

static const struct {
	enum hello_of of;
	size_t at, bytes;
	double value;
	const char *sentence;
} broken_hellos[] = {
	{BROKEN(PLAIN, magic, 1), "another message than a hello"},
	{BROKEN(PLAIN, kind, STIXEL_PAIRS_PAIR), "another message than a hello"},
	{BROKEN(PLAIN, bytes, sizeof(struct stixel_pairs_hello) - 1), "another message than a hello"},
	{BROKEN(PLAIN, abi_major, STIXEL_ABI_MAJOR + 1), "version"},
	{BROKEN(PLAIN, buffers, 0), "0 buffers, allowed are 1 to 64"},
	{BROKEN(PLAIN, buffers, 65), "65 buffers, allowed are 1 to 64"},
	{BROKEN(PLAIN, buffers, UINT32_MAX), "4294967295 buffers"},
	{BROKEN(PLAIN, format.width, 31), "31x34"},
	{BROKEN(PLAIN, format.height, 31), "66x31"},
	{BROKEN(PLAIN, format.width, 4097), "4097x34"},
	{BROKEN(PLAIN, format.height, UINT32_MAX), "66x4294967295"},
	{BROKEN(PLAIN, format.pixel, 0), "pixel format 0 is unknown"},
	{BROKEN(PLAIN, format.pixel, 24), "pixel format 24 is unknown"},
	{BROKEN(PLAIN, format.pitch, 0), "a pitch of 0 bytes"},
	{BROKEN(PLAIN, format.pitch, W - 1), "a pitch of 65 bytes"},
	{BROKEN(PLAIN, format.pitch, UINT32_MAX), "a pitch of 4294967295 bytes"},
	{BROKEN(GREY16, format.pitch, 2 * W + 1), "a pitch of 133 bytes is odd"},
	{BROKEN(BAYER16, format.pitch, 2 * W + 1), "a pitch of 133 bytes is odd"},
	{BROKEN(PLAIN, format.clock, 99), "clock 99 or"},
	{BROKEN(PLAIN, format.stamp, UINT32_MAX), "stamp 4294967295 is unknown"},
	{BROKEN(PLAIN, format.fps, -1), "-1 pairs a second"},
	{BROKEN(PLAIN, format.fps, (double)NAN), "nan pairs a second"},
	{BROKEN(PLAIN, format.fps, (double)INFINITY), "inf pairs a second"},
	{BROKEN(CAMERA, format.fx, (double)NAN), "the camera has fx nan px"},
	{BROKEN(CAMERA, format.fx, (double)INFINITY), "the camera has fx inf px"},
	{BROKEN(CAMERA, format.fy, -40), "fy -40 px"},
	{BROKEN(CAMERA, format.baseline_m, 0), "baseline 0 m"},
	{BROKEN(CAMERA, format.baseline_m, -0.1), "baseline -0.1 m"},
	{BROKEN(CAMERA, format.baseline_m, 120), "at most 100000 px and 10 m"},
	{BROKEN(CAMERA, format.cx, (double)NAN), "the principal point"},
	{BROKEN(CAMERA, format.cy, H + 1), "the principal point"},
	{BROKEN(RIG, format.fx, (double)NAN), "the camera has fx nan px"},
	{BROKEN(RIG, format.raw[1].rotation[8], 0), "right camera"},
	{BROKEN(RIG, format.raw[0].rotation[5], (double)NAN), "left camera"},
	{BROKEN(RIG, format.raw[0].rotation[0], -1), "left camera"},
	{BROKEN(RIG, format.raw[0].lens, 3), "lens model 3 is unknown"},
	{BROKEN(RIG, format.raw[1].distortion[3], (double)NAN), "distortion"},
	{BROKEN(RIG, format.raw[1].fx, (double)NAN), "fx of the right camera"},
	{BROKEN(RIG, format.rectified_width, 64), "rectified images of 64x0"},
	{BROKEN(RIG, format.rectified_height, UINT32_MAX), "rectified images of 0x4294967295"},
};

static struct stixel_pairs_hello broken_hello(int i)
{
	const double value = broken_hellos[i].value;
	struct stixel_pairs_hello h = good_hello();
	uint8_t *at = (uint8_t *)&h + broken_hellos[i].at;

	if (broken_hellos[i].of == CAMERA)
		add_camera(&h);
	if (broken_hellos[i].of == RIG)
		add_rig(&h);
	if (broken_hellos[i].of == GREY16)
		h.format.pixel = STIXEL_PIXEL_GREY16;
	if (broken_hellos[i].of == BAYER16)
		h.format.pixel = STIXEL_PIXEL_BGGR16;
	if (broken_hellos[i].bytes == 2)
		memcpy(at, &(uint16_t){(uint16_t)value}, 2);
	else if (broken_hellos[i].bytes == 4)
		memcpy(at, &(uint32_t){(uint32_t)value}, 4);
	else
		memcpy(at, &value, sizeof(value));
	return h;
}

static void hellos(void **state)
{
	(void)state;
	for (int i = 0; i < COUNT(broken_hellos); i++) {
		const struct stixel_pairs_hello hello = broken_hello(i);
		int fd = connect_writer();

		give_message(fd, &hello, sizeof(hello), -1, 0);
		give_pair(fd, 1); /* unread when the connection ends */
		expect_not_open(-ENODEV, broken_hellos[i].sentence);
		expect_refused(fd);
		close(fd);
	}
}

static void no_hello(void **state)
{
	const struct stixel_pairs_hello hello = good_hello();
	const int64_t begun_ns = sx_now_ns();
	int fd = connect_writer();

	(void)state;
	expect_not_open(-ENODEV, "connected and said nothing");
	assert_in_range(sx_now_ns() - begun_ns, 400000000, 60000000000);
	expect_refused(fd);
	close(fd);

	fd = connect_writer();
	close(fd);
	expect_not_open(-ENODEV, "connected and ended");

	fd = connect_writer();
	give_message(fd, &hello, sizeof(hello) / 2, -1, 0);
	expect_not_open(-ENODEV, "another message than a hello");
	expect_refused(fd);
	close(fd);

	fd = connect_writer();
	give_message(fd, &hello, 0, -1, 0);
	expect_not_open(-ENODEV, "connected and ended");
	expect_refused(fd);
	close(fd);

	/* QEMU loses descriptors for which the caller has no room */
	for (int descriptors = 1; descriptors <= (IS_EMULATED ? 4 : 8); descriptors++) {
		fd = connect_writer();
		give_message(fd, &hello, sizeof(hello), listener.fd, descriptors);
		expect_not_open(-ENODEV, "another message than a hello");
		expect_refused(fd);
		close(fd);
	}
}

static void longer_hello(void **state)
{
	struct {
		struct stixel_pairs_hello hello;
		char more[64];
	} newer = {.hello = good_hello()};
	const struct sx_source_params p = shared_params();
	const struct stixel_pairs_buffer b = good_buffer(0, BYTES);
	int fd = connect_writer(), memory = memory_of(BYTES, F_SEAL_SHRINK, 0);

	(void)state;
	newer.hello.bytes = sizeof(newer);
	newer.hello.abi_minor++;
	newer.hello.buffers = 1;
	memset(newer.hello.format.name, 'n', sizeof(newer.hello.format.name)); /* no terminating 0 */
	newer.hello.format.name[3] = '\n';
	give_message(fd, &newer, sizeof(newer), -1, 0);
	give_buffer(fd, &b, memory);
	close(memory);
	finish_source(open_with(&p), fd);
}

static void cameras(void **state)
{
	struct stixel_pairs_hello hello = good_hello();
	const struct sx_source_info *info;
	struct sx_source *s;
	int fd;

	(void)state;
	s = open_usual(&fd);
	info = sx_source_info(s);
	assert_null(info->camera);
	assert_null(info->rig);
	assert_true(info->live);
	assert_string_equal(info->path[0], listener.path);
	assert_true(info->fps == 25);
	finish_source(s, fd);
	add_rig(&hello);
	hello.format.flags |= STIXEL_PAIRS_SIMULATED;
	s = open_good(&hello, &fd, -1, BYTES);
	info = sx_source_info(s);
	assert_true(info->camera->baseline_m == 0.1);
	assert_true(info->rig->raw[1].distortion[0] == -0.05);
	assert_true(info->camera_yields);
	assert_false(info->live);
	finish_source(s, fd);
	hello.format.fx = 0; /* then nothing of it counts */
	hello.format.raw[0].fx = (double)NAN;
	s = open_good(&hello, &fd, -1, BYTES);
	assert_null(sx_source_info(s)->rig);
	finish_source(s, fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHARED_TEST(nobody),	   SHARED_TEST(hellos),	 SHARED_TEST(no_hello),
		SHARED_TEST(longer_hello), SHARED_TEST(cameras),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("shared source: hello", tests, NULL, NULL);
}
