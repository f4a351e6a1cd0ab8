/*
 * Tests controls of source "v4l2": exposure, gain, and controls by name.
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

#include <cmocka.h>

#include "tests/capture/v4l2/v4l2_case.h"

#define SLOTS 2
#define BRIGHTNESS V4L2_CID_BRIGHTNESS
#define WHITE_BALANCE V4L2_CID_AUTO_WHITE_BALANCE
#define EXPOSURE V4L2_CID_EXPOSURE_ABSOLUTE
#define EXPOSURE_AUTO V4L2_CID_EXPOSURE_AUTO

/* Adds two cameras with the controls of USB cameras. */
static void add_cameras(struct fake_camera *cameras[2])
{
	static const struct fake_control controls[] = {
		{.name = "Brightness", .id = BRIGHTNESS, .minimum = -64, .maximum = 64, .value = 0},
		{.name = "Gain", .id = V4L2_CID_GAIN, .minimum = 0, .maximum = 100, .value = 50},
		{.name = "White Balance, Automatic",
		 .id = WHITE_BALANCE,
		 .type = V4L2_CTRL_TYPE_BOOLEAN,
		 .maximum = 1,
		 .value = 1},
		{.name = "Auto Exposure",
		 .id = EXPOSURE_AUTO,
		 .type = V4L2_CTRL_TYPE_MENU,
		 .maximum = 3,
		 .value = 3},
		{.name = "Exposure Time, Absolute",
		 .id = EXPOSURE,
		 .minimum = 3,
		 .maximum = 2047,
		 .value = 250},
		{.name = "Wide", .id = 0x00980f00, .type = V4L2_CTRL_TYPE_INTEGER64, .maximum = 1LL << 40},
		{.name = "Serial Number", .id = 0x00980f01, .type = V4L2_CTRL_TYPE_STRING, .maximum = 32},
		{.name = "Temperature",
		 .id = 0x00980f02,
		 .flags = V4L2_CTRL_FLAG_READ_ONLY,
		 .maximum = 100,
		 .value = 40},
	};

	case_grey(cameras);
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < sizeof(controls) / sizeof(controls[0]); k++)
			fake_add_control(cameras[i], &controls[k]);
}

static void assert_value(struct fake_camera *cameras[2], uint32_t id, int64_t value)
{
	for (int i = 0; i < 2; i++)
		assert_int_equal(fake_control(cameras[i], id)->value, value);
}

/* Opens with these settings. `note` is the expected message about them. */
static struct sx_source *open_with(const struct sx_source_params *p, const char *note)
{
	struct sx_source *s = case_open(p, SLOTS);

	assert_string_equal(sx_source_info(s)->note, note);
	return s;
}

static void test_nothing_asked(void **state)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s;

	add_cameras(cameras);
	s = open_with(&p, "");
	assert_int_equal(fake_calls(VIDIOC_S_EXT_CTRLS), 0);
	case_close(s);
}

static void test_exposure(void **state)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s;

	add_cameras(cameras);
	p.exposure_ms = 8;
	s = open_with(&p, "exposure 8 ms");
	assert_value(cameras, EXPOSURE_AUTO, V4L2_EXPOSURE_MANUAL);
	assert_value(cameras, EXPOSURE, 80);
	case_close(s);
	add_cameras(cameras);
	p.gain = 0;
	s = open_with(&p, "exposure 8 ms, gain 0");
	assert_value(cameras, V4L2_CID_GAIN, 0);
	case_close(s);
	add_cameras(cameras);
	p.exposure_ms = 0;
	p.gain = 12;
	s = open_with(&p, "gain 12");
	assert_value(cameras, EXPOSURE_AUTO, V4L2_EXPOSURE_AUTO);
	assert_value(cameras, EXPOSURE, 250);
	case_close(s);
}

/* The cameras support only aperture priority, as USB cameras without an iris. */
static void test_automatic_exposure(void **state)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s;

	add_cameras(cameras);
	for (int i = 0; i < 2; i++)
		fake_control(cameras[i], EXPOSURE_AUTO)->minimum = V4L2_EXPOSURE_MANUAL;
	assert_value(cameras, EXPOSURE_AUTO, V4L2_EXPOSURE_APERTURE_PRIORITY);
	fake_control(cameras[1], EXPOSURE_AUTO)->value = V4L2_EXPOSURE_MANUAL;
	p.exposure_ms = 0;
	s = open_with(&p, "");
	assert_value(cameras, EXPOSURE_AUTO, V4L2_EXPOSURE_APERTURE_PRIORITY);
	case_close(s);
}

static void test_exposure_refused(void **state)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];

	add_cameras(cameras);
	p.exposure_ms = 0.04;
	case_refused(&p, -EINVAL, CASE_LEFT ": Exposure Time, Absolute = 0: the camera takes 3 to 2047");
	p.exposure_ms = 300;
	case_refused(&p, -EINVAL, "Exposure Time, Absolute = 3000: the camera takes 3 to 2047");
	fake_control(cameras[1], EXPOSURE)->flags = V4L2_CTRL_FLAG_DISABLED;
	p.exposure_ms = 8;
	case_refused(&p, -EINVAL, CASE_RIGHT ": the camera has no exposure that can be set as a time");
	fake_control(cameras[0], EXPOSURE_AUTO)->flags = V4L2_CTRL_FLAG_DISABLED;
	p.exposure_ms = 0;
	case_refused(&p, -EINVAL, CASE_LEFT ": the camera has no automatic exposure");
	p.exposure_ms = SX_CONTROL_KEEP;
	p.gain = 101;
	case_refused(&p, -EINVAL, CASE_LEFT ": Gain = 101: the camera takes 0 to 100");
	p.gain = 5;
	/* sensors without an ISP have only an analogue gain */
	fake_control(cameras[0], V4L2_CID_GAIN)->id = V4L2_CID_ANALOGUE_GAIN;
	fake_control(cameras[1], V4L2_CID_GAIN)->id = V4L2_CID_HUE;
	case_refused(&p, -EINVAL, CASE_RIGHT ": the camera has no gain that can be set");
	assert_int_equal(fake_control(cameras[0], V4L2_CID_ANALOGUE_GAIN)->value, 5);
	fake_reset();
}

static void test_cameras_that_clamp(void **state)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s;

	add_cameras(cameras);
	p.exposure_ms = 20;
	fake_control(cameras[0], EXPOSURE)->most_taken = 166;
	case_refused(&p, -EINVAL,
		     CASE_LEFT " takes exposure 16.6 ms, " CASE_RIGHT " exposure 20 ms: both must be equal");
	fake_control(cameras[1], EXPOSURE)->most_taken = 166;
	s = open_with(&p, "exposure 16.6 ms");
	case_close(s);
	add_cameras(cameras);
	p.exposure_ms = SX_CONTROL_KEEP;
	p.gain = 90;
	fake_control(cameras[1], V4L2_CID_GAIN)->most_taken = 64;
	case_refused(&p, -EINVAL, CASE_LEFT " takes gain 90, " CASE_RIGHT " gain 64: both must be equal");
	p.exposure_ms = 20;
	case_refused(&p, -EINVAL,
		     CASE_LEFT " takes exposure 20 ms, gain 90, " CASE_RIGHT " exposure 20 ms, gain 64");
	fake_reset();
}

/* --- by name --- */

static void test_list(void **state)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s;

	add_cameras(cameras);
	p.controls = " white_balance_automatic=0,brightness = -5 ,, wide=0x8000000000, gain=7";
	s = open_with(&p, "");
	assert_value(cameras, WHITE_BALANCE, 0);
	assert_value(cameras, BRIGHTNESS, -5);
	assert_value(cameras, 0x00980f00, 0x8000000000);
	assert_value(cameras, V4L2_CID_GAIN, 7);
	case_close(s);
	add_cameras(cameras);
	p.gain = 3;
	p.controls = "gain=7,gain=8"; /* applied in their order, after the other settings */
	s = open_with(&p, "gain 3");
	assert_value(cameras, V4L2_CID_GAIN, 8);
	case_close(s);
}

static void test_list_refused(void **state)
{
	static const struct {
		const char *controls, *words;
	} cases[] = {
		{"contrast=1", CASE_LEFT ": controls: the camera has no 'contrast' (v4l2-ctl --list-ctrls)"},
		{"gain", CASE_LEFT ": controls: 'gain' is not name=number"},
		{"gain=", "controls: 'gain=' is not name=number"},
		{"gain=x", "controls: 'gain=x' is not name=number"},
		{"gain = 5 6", "controls: 'gain = 5 6' is not name=number"},
		{"=5", "controls: '=5' is not name=number"},
		{" = 5", "controls: '= 5' is not name=number"},
		{"gain=99999999999999999999", "controls: 'gain=99999999999999999999' is not name=number"},
		{"gain=5,gain=101", CASE_LEFT ": Gain = 101: the camera takes 0 to 100"},
		{"Gain=5", "the camera has no 'Gain'"},
		{"brightness=-65", "Brightness = -65: the camera takes -64 to 64"},
		{"serial_number=5", "the camera has no 'serial_number'"},
		{"temperature=5", "Temperature = 5: Permission denied"},
	};
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];

	add_cameras(cameras);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		p.controls = cases[i].controls;
		case_refused(&p, -EINVAL, cases[i].words);
	}
	fake_control(cameras[1], BRIGHTNESS)->flags = V4L2_CTRL_FLAG_DISABLED;
	p.controls = "brightness=1";
	case_refused(&p, -EINVAL, CASE_RIGHT ": controls: the camera has no 'brightness'");
	/* a busy driver is not a wrong setting */
	p.controls = "gain=5";
	fake_fail(VIDIOC_S_EXT_CTRLS, 2, EBUSY);
	case_refused(&p, -ENODEV, CASE_RIGHT ": Gain = 5: Device or resource busy");
	fake_fail(VIDIOC_S_EXT_CTRLS, 1, ERANGE);
	case_refused(&p, -EINVAL, CASE_LEFT ": Gain = 5: Numerical result out of range");
	fake_reset();
}

/* --- while pairs come --- */

static void next_pair(struct fake_camera *cameras[2], struct sx_source *s, int picture)
{
	struct sx_pair pair;

	case_fill(cameras, picture, CASE_TIME(picture));
	assert_int_equal(case_next(s, &pair, 10), 1);
	sx_source_release(s, &pair);
}

static void test_change_controls(void **state)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s;
	struct sx_why why = {""};

	add_cameras(cameras);
	s = case_begin(cameras, &p);
	next_pair(cameras, s, 1);
	p.exposure_ms = 8;
	p.gain = 7;
	p.controls = "brightness=-5, wide=0x8000000000";
	assert_int_equal(sx_source_change_controls(s, &p, &why), 0);
	assert_value(cameras, EXPOSURE_AUTO, V4L2_EXPOSURE_MANUAL);
	assert_value(cameras, EXPOSURE, 80);
	assert_value(cameras, V4L2_CID_GAIN, 7);
	assert_value(cameras, BRIGHTNESS, -5);
	assert_value(cameras, 0x00980f00, 0x8000000000);
	next_pair(cameras, s, 2);
	/* the controls stay unchanged */
	p.exposure_ms = p.gain = SX_CONTROL_KEEP;
	p.controls = NULL;
	assert_int_equal(sx_source_change_controls(s, &p, &why), 0);
	assert_value(cameras, EXPOSURE, 80);
	assert_value(cameras, V4L2_CID_GAIN, 7);
	next_pair(cameras, s, 3);
	case_close(s);
}

/* Checks that p is refused with these words and all controls of both cameras are as before. */
static void check_restored(struct fake_camera *cameras[2], struct sx_source *s,
			   const struct sx_source_params *p, int error, const char *words)
{
	struct fake_control before[2][FAKE_CONTROLS];
	struct sx_why why = {""};
	int r;

	for (int i = 0; i < 2; i++)
		memcpy(before[i], cameras[i]->controls, sizeof(before[i]));
	r = sx_source_change_controls(s, p, &why);
	if (r != error || !strstr(why.text, words))
		fail_msg("%d '%s' instead of %d '%s'", r, why.text, error, words);
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < cameras[i]->control_count; k++)
			if (cameras[i]->controls[k].value != before[i][k].value)
				fail_msg("%s: %s is %d", cameras[i]->path, before[i][k].name,
					 (int)cameras[i]->controls[k].value);
}

static void test_change_controls_refused(void **state)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s;
	char long_list[600];

	add_cameras(cameras);
	s = case_begin(cameras, &p);
	p.exposure_ms = 8;
	p.gain = 101;
	check_restored(cameras, s, &p, -EINVAL, CASE_LEFT ": Gain = 101: the camera takes 0 to 100");
	p.gain = 20;
	p.controls = "wide=5, brightness=3, hue=1";
	check_restored(cameras, s, &p, -EINVAL, "the camera has no 'hue'");
	p.controls = "white_balance_automatic=0, brightness=3";
	fake_control(cameras[1], BRIGHTNESS)->flags = V4L2_CTRL_FLAG_DISABLED;
	check_restored(cameras, s, &p, -EINVAL, CASE_RIGHT ": controls: the camera has no 'brightness'");
	p.controls = NULL;
	fake_control(cameras[1], V4L2_CID_GAIN)->most_taken = 19;
	fake_control(cameras[1], V4L2_CID_GAIN)->value = 19;
	check_restored(cameras, s, &p, -EINVAL, "both must be equal");
	p.gain = 10;
	fake_fail(VIDIOC_S_EXT_CTRLS, 6,
		  EBUSY); /* mode, time and gain of the left camera, then of the right camera */
	check_restored(cameras, s, &p, -EBUSY, CASE_RIGHT ": Gain = 10: Device or resource busy");
	memset(long_list, ' ', sizeof(long_list) - 1);
	long_list[sizeof(long_list) - 1] = 0;
	p.controls = long_list;
	check_restored(cameras, s, &p, -EINVAL, "controls: longer than 511 bytes");
	next_pair(cameras, s, 1);
	case_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_asked),
		cmocka_unit_test(test_exposure),
		cmocka_unit_test(test_automatic_exposure),
		cmocka_unit_test(test_exposure_refused),
		cmocka_unit_test(test_cameras_that_clamp),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_list_refused),
		cmocka_unit_test(test_change_controls),
		cmocka_unit_test(test_change_controls_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
