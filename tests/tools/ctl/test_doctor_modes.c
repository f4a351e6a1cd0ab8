/*
 * Tests which mode two cameras have in common.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/ctl/doctor/doctor_modes.h"

#define MODE(f, w, h, r)                     \
	{                                    \
		(f), (w), (h), (w), (h), (r) \
	}
#define OFFER(m)                                \
	{                                       \
		(m), sizeof(m) / sizeof((m)[0]) \
	}

static const struct sx_v4l2_mode webcam_modes[] = {
	MODE("YUYV", 640, 480, 30),  MODE("YUYV", 1280, 720, 10), MODE("YUYV", 320, 240, 60),
	MODE("MJPG", 1280, 720, 30), MODE("MJPG", 640, 480, 60),
};
static const struct sx_v4l2_mode other_modes[] = {
	MODE("GREY", 640, 480, 30),
	MODE("YUYV", 640, 480, 15),
	MODE("MJPG", 1280, 720, 29.97),
};
static const struct sx_v4l2_mode infrared_modes[] = {
	MODE("YUYV", 640, 480, 30),
	{"Y8I", 1280, 720, 1280, 720, 30, true},
	{"Y12I", 1280, 800, 1280, 800, 15, true},
};
static const struct sx_v4l2_mode range_modes[] = {{"GREY", 32, 32, 1920, 1080, 0}};
static const struct doctor_offer webcam = OFFER(webcam_modes), other = OFFER(other_modes),
				 range = OFFER(range_modes), infrared = OFFER(infrared_modes),
				 none = {NULL, 0};

static void one_camera(void **state)
{
	struct sx_v4l2_mode m;

	assert_true(doctor_mode(&webcam, NULL, &(struct doctor_wish){NULL, 1280, 720, 30}, &m));
	assert_string_equal(m.format, "MJPG");
	assert_true(doctor_mode(&webcam, NULL, &(struct doctor_wish){NULL, 1280, 720, 0}, &m));
	assert_string_equal(m.format, "YUYV");
	assert_false(doctor_mode(&webcam, NULL, &(struct doctor_wish){"YUYV", 1280, 720, 30}, &m));
	assert_false(doctor_mode(&webcam, NULL, &(struct doctor_wish){NULL, 1920, 1080, 0}, &m));
	assert_false(doctor_mode(&none, NULL, &(struct doctor_wish){NULL, 0, 0, 0}, &m));
	/* no size is requested: the result is the largest size of the cheapest format that is fast enough */
	assert_true(doctor_mode(&webcam, NULL, &(struct doctor_wish){NULL, 0, 0, 25}, &m));
	assert_string_equal(m.format, "YUYV");
	assert_int_equal(m.width, 640);
	assert_true(doctor_mode(&webcam, NULL, &(struct doctor_wish){NULL, 0, 0, 0}, &m));
	assert_int_equal(m.width, 1280);
}

static void two_cameras(void **state)
{
	struct sx_v4l2_mode m;

	/* 29.97 counts as 30 */
	assert_true(doctor_mode(&webcam, &other, &(struct doctor_wish){NULL, 1280, 720, 30}, &m));
	assert_string_equal(m.format, "MJPG");
	assert_true(m.fps < 30);
	/* each camera has 640x480 at 30, but in different formats */
	assert_true(doctor_mode(&other, NULL, &(struct doctor_wish){NULL, 640, 480, 30}, &m));
	assert_false(doctor_mode(&webcam, &other, &(struct doctor_wish){NULL, 640, 480, 30}, &m));
	assert_true(doctor_mode(&webcam, &other, &(struct doctor_wish){NULL, 640, 480, 15}, &m));
	assert_true(m.fps == 15);
	assert_false(doctor_mode(&webcam, &range, &(struct doctor_wish){NULL, 640, 480, 0}, &m));
	assert_true(doctor_mode(&other, &range, &(struct doctor_wish){NULL, 640, 480, 30}, &m));
	assert_int_equal(m.width_max, 640);
	/* the reverse: the range includes 30, and an unknown rate is accepted */
	assert_true(doctor_mode(&range, &other, &(struct doctor_wish){NULL, 640, 480, 30}, &m));
	assert_true(m.fps == 30);
}

static void too_slow(void **state)
{
	struct sx_v4l2_mode m;

	assert_false(doctor_mode(&webcam, NULL, &(struct doctor_wish){NULL, 1280, 720, 60}, &m));
	assert_true(doctor_fastest(&webcam, NULL, &(struct doctor_wish){NULL, 1280, 720, 60}, &m));
	assert_string_equal(m.format, "MJPG");
	assert_true(m.fps == 30);
	assert_true(doctor_fastest(&webcam, &other, &(struct doctor_wish){NULL, 640, 480, 60}, &m));
	assert_true(m.fps == 15);
	assert_false(doctor_fastest(&webcam, &other, &(struct doctor_wish){NULL, 320, 240, 60}, &m));
	assert_false(doctor_fastest(&webcam, NULL, &(struct doctor_wish){"GREY", 640, 480, 60}, &m));
}

/* Layouts with both images in one picture need formats with both images, and only they do. */
static void interleaved(void **state)
{
	struct sx_v4l2_mode m;

	assert_true(doctor_mode(&infrared, NULL, &(struct doctor_wish){NULL, 0, 0, 30, false}, &m));
	assert_string_equal(m.format, "YUYV");
	assert_true(doctor_mode(&infrared, NULL, &(struct doctor_wish){NULL, 0, 0, 15, true}, &m));
	assert_string_equal(m.format, "Y8I");
	assert_true(m.interleaved);
	assert_true(doctor_mode(&infrared, NULL, &(struct doctor_wish){"Y12I", 0, 0, 15, true}, &m));
	assert_int_equal(m.height, 800);
	assert_false(doctor_mode(&infrared, NULL, &(struct doctor_wish){NULL, 1280, 720, 30, false}, &m));
	assert_false(doctor_mode(&infrared, NULL, &(struct doctor_wish){NULL, 640, 480, 30, true}, &m));
	assert_true(doctor_fastest(&infrared, NULL, &(struct doctor_wish){NULL, 1280, 720, 60, true}, &m));
	assert_string_equal(m.format, "Y8I");
}

static void words(void **state)
{
	char text[72];

	assert_string_equal(doctor_wish_text(&(struct doctor_wish){"GREY", 640, 480, 30}, text, sizeof(text)),
			    "640x480 at 30 fps as GREY");
	assert_string_equal(doctor_wish_text(&(struct doctor_wish){NULL, 0, 0, 30}, text, sizeof(text)),
			    "30 fps");
	assert_string_equal(doctor_wish_text(&(struct doctor_wish){NULL, 0, 0, 0}, text, sizeof(text)),
			    "anything");
	assert_string_equal(doctor_offer_text(&other, text, sizeof(text)),
			    "GREY 640x480 at 30; YUYV 640x480 at 15; MJPG 1280x720 at 29.97");
	assert_string_equal(doctor_offer_text(&range, text, sizeof(text)), "GREY 32x32..1920x1080");
	assert_string_equal(doctor_formats_text(&webcam, text, sizeof(text)),
			    "YUYV, MJPG in 3 sizes up to 1280x720");
	assert_string_equal(doctor_formats_text(&range, text, sizeof(text)),
			    "GREY in 1 size up to 1920x1080");
	assert_true(strlen(doctor_formats_text(&none, text, sizeof(text))) > 0);
	doctor_offer_text(&webcam, text, sizeof(text));
	assert_true(strlen(text) < sizeof(text));
	assert_string_equal(text + strlen(text) - 5, ", ...");
	assert_true(strlen(doctor_offer_text(&none, text, sizeof(text))) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_camera),  cmocka_unit_test(two_cameras), cmocka_unit_test(too_slow),
		cmocka_unit_test(interleaved), cmocka_unit_test(words),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
