/*
 * Tests the messages and questions about the camera of the images.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "config/camera.h"
#include "tests/config/fixture.h"

static char text[SX_CAMERA_TEXT_BYTES], question[SX_CAMERA_QUESTIONS][SX_CAMERA_TEXT_BYTES];

/* Loads settings with these numbers in a calibration file. Checks the questions about images of this size. */
static int ask(const char *numbers, int width, int height)
{
	const struct sx_source_info info = {.width = width, .height = height};
	struct sx_settings *s;

	fixture_text("calib", numbers);
	s = fixture_load(
		fixture_text("a.conf", "[source]\nkind = files\npath = x\n[camera]\ncalibration = calib\n"),
		NULL, "");
	sx_camera_tell(s, &info, text, sizeof(text));
	return sx_camera_questions(s, &info, question);
}

static void asks(const char *numbers, int width, int height, const char *words)
{
	const int count = ask(numbers, width, height);

	for (int i = 0; i < count; i++)
		if (strstr(question[i], words))
			return;
	fail_msg("%d questions, none says '%s': %s", count, words, count ? question[0] : "");
}

#define NUMBERS(fx, fy, cx, cy, b) "fx: " fx "\nfy: " fy "\ncx: " cx "\ncy: " cy "\nbaseline_m: " b "\n"

static void questions(void **state)
{
	/* a street, a wide lens, and KITTI's principal point raise no question */
	assert_int_equal(ask(NUMBERS("721.5", "721.5", "609.6", "172.9", "0.54"), 1242, 375), 0);
	assert_int_equal(ask(NUMBERS("300", "300", "640", "400", "0.06"), 1280, 720), 0);
	assert_int_equal(ask(NUMBERS("721.5", "721.5", "609.6", "172.9", "1"), 1242, 375), 0);

	asks(NUMBERS("721.5", "721.5", "609.6", "172.9", "5.4"), 1242, 375,
	     "baseline 5.4 m: is it in metres?");
	asks(NUMBERS("721.5", "721.5", "609.6", "172.9", "0.0012"), 1242, 375, "in another unit");
	/*
	 * images of half, double and a third of the size; also if the principal point is in the middle half
	 */
	asks(NUMBERS("721.5", "721.5", "609.6", "172.9", "0.5"), 640, 188,
	     "about 2 times their width and height, 1280x376");
	asks(NUMBERS("721.5", "721.5", "320", "180", "0.5"), 1280, 720,
	     "about 0.5 times their width and height, 640x360");
	asks(NUMBERS("721.5", "721.5", "427", "240", "0.5"), 1280, 720, "about 0.667 times");
	asks(NUMBERS("721.5", "721.5", "100", "180", "0.5"), 640, 360, "or with another part of the sensor?");
	/* unlikely lenses, and rows that were binned without the columns */
	asks(NUMBERS("60", "60", "320", "180", "0.5"), 640, 360, "show 159 degrees across");
	asks(NUMBERS("4000", "4000", "320", "180", "0.5"), 640, 360, "show 9.15 degrees across");
	asks(NUMBERS("700", "350", "320", "180", "0.5"), 640, 360, "differ by a factor of 2");
	/* the size of the images is not known yet */
	assert_int_equal(ask(NUMBERS("721.5", "721.5", "609.6", "172.9", "0.54"), 0, 0), 0);
}

static void fits(void **state)
{
	const struct sx_camera c = {.fx = 700, .fy = 700, .cx = 640, .cy = 360};

	assert_true(sx_camera_fits(&c, 1280, 720, text, sizeof(text)));
	/* a principal point at the image's corner fits, although the configuration asks about it */
	assert_true(sx_camera_fits(&c, 640, 360, text, sizeof(text)));
	assert_false(sx_camera_fits(&c, 639, 360, text, sizeof(text)));
	assert_string_equal(
		text, "the principal point 640, 360 is outside of images of 639x360: it fits images of about "
		      "2 times their width and height, 1278x720: binning, or calibrated in another size?");
	assert_false(
		sx_camera_fits(&(struct sx_camera){.fx = 1, .cx = -1, .cy = 5}, 64, 48, text, sizeof(text)));
	/* nothing to check without a camera model */
	assert_true(sx_camera_fits(&(struct sx_camera){.cx = 640}, 64, 48, text, sizeof(text)));
}

static void refused_by_size(void **state)
{
	fixture_text("calib", NUMBERS("700", "700", "640", "360", "0.5"));
	fixture_load(
		fixture_text("a.conf",
			     "[source]\nkind = files\npath = x\nsize = 320x180\n[camera]\ncalibration = "
			     "calib\n"),
		NULL,
		"DIR/a.conf:4: [source] size: calibration DIR/calib: the principal point 640, 360 is outside "
		"of images of 320x180: it fits images of about 4 times their width and height, 1280x720: "
		"binning, or calibrated in another size?\n");
	fixture_text("calib", NUMBERS("700", "700", "1300", "360", "0.5") "width: 1280\nheight: 720\n");
	fixture_load(
		fixture_text("a.conf", "[source]\nkind = files\npath = x\n[camera]\ncalibration = calib\n"),
		NULL,
		"DIR/a.conf:5: [camera] calibration: calibration DIR/calib: the principal point 1300, 360 is "
		"outside of images of 1280x720: was it calibrated in another size, or with another part of "
		"the sensor?\n");
}

static void sentence(void **state)
{
	struct sx_settings *s;

	(void)ask(NUMBERS("700", "700", "640", "360", "0.5"), 1280, 720);
	assert_non_null(strstr(
		text, "camera: fx 700 px, baseline 0.5 m, images are taken as rectified, distances from "
		      "2.76 m (127 px) to 350 m (1 px); by calibration text /"));
	s = fixture_load(
		fixture_text("a.conf",
			     "[source]\nkind = files\npath = x\nsize = 752x480\n[camera]\ncalibration "
			     "= " SX_DATA "/fisheye.yml\n[stereo]\nmin_disparity = 4\n"),
		NULL, "");
	sx_camera_tell(s, &(struct sx_source_info){.width = 752, .height = 480}, text, sizeof(text));
	assert_non_null(strstr(
		text, "baseline 0.1101 m, lenses equidistant (fisheye), distances from 0.37 m (131 px) to "
		      "12.1 m (4 px); by OpenCV YAML "));
	s = fixture_load(
		fixture_text("a.conf",
			     "[source]\nkind = files\npath = x\n[camera]\nfx = 0\nfy = 0\nbaseline_m = "
			     "0\n"),
		NULL, "");
	sx_camera_tell(s, &(struct sx_source_info){.width = 752, .height = 480}, text, sizeof(text));
	assert_string_equal(text, "no camera model (fx, baseline_m): disparities have no distance");
	assert_int_equal(sx_camera_questions_before(s, question), 0);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {TEST(questions), TEST(fits), TEST(refused_by_size),
					   TEST(sentence)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
