/*
 * Tests calibration files as OpenCV, ROS, KITTI and users write them, and invalid ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "config/calibration/calibration.h"
#include "tests/config/fixture.h"

/* Format that cv::FileStorage writes. */
#define OPENCV_HEAD "%YAML:1.0\n---\n"
#define OPENCV_P1                                                                                          \
	"P1: !!opencv-matrix\n   rows: 3\n   cols: 4\n   dt: d\n   data: [ 7.0e+02, 0., 6.4e+02, 0., 0., " \
	"7.0e+02, 3.6e+02,\n       0., 0., 0., 1., 0. ]\n"
#define OPENCV_P2(cx, tx, ty)                                                                             \
	"P2: !!opencv-matrix\n   rows: 3\n   cols: 4\n   dt: d\n   data: [ 7.0e+02, 0., " cx ", " tx ", " \
	"0., 7.0e+02, 3.6e+02,\n       " ty ", 0., 0., 1., 0. ]\n"
#define OPENCV_Q(last2, last)                                                                             \
	"Q: !!opencv-matrix\n   rows: 4\n   cols: 4\n   dt: d\n   data: [ 1., 0., 0., -6.4e+02, 0., 1., " \
	"0., "                                                                                            \
	"-3.6e+02, 0., 0., 0., 7.0e+02,\n       0., 0., " last2 ", " last " ]\n"
#define ROS(width, offset)                                                                                   \
	"image_width: " width "\nimage_height: 720\ncamera_name: narrow_stereo\ncamera_matrix:\n  rows: 3\n" \
	"  cols: 3\n  data: [710, 0, 630, 0, 711, 350, 0, 0, 1]\ndistortion_model: plumb_bob\n"              \
	"projection_matrix:\n  rows: 3\n  cols: 4\n  data: [700, 0, 640, " offset                            \
	", 0, 700, 360, 0, 0, 0, 1, 0]\n"
#define PLAIN "fx: 700\nfy: 700\ncx: 640\ncy: 360\n"

static const struct sx_calibration_wish wish;
static struct sx_calibration c;
static struct sx_why why;

static int read_text(const char *text)
{
	memset(&c, 0xff, sizeof(c));
	why.text[0] = 0;
	return sx_calibration_read(&c, fixture_text("calib", text), &wish, &why);
}

static void expect(const char *text, const char *format, double baseline_m, int width, int height)
{
	if (read_text(text) != 0)
		fail_msg("refused: %s", why.text);
	assert_string_equal(c.format, format);
	assert_true(c.fx == 700 && c.fy == 700 && c.cx == 640 && c.cy == 360);
	if (fabs(c.baseline_m - baseline_m) > 1e-12)
		fail_msg("baseline %.17g instead of %.17g", c.baseline_m, baseline_m);
	assert_int_equal(c.width, width);
	assert_int_equal(c.height, height);
}

static void expect_refused(const char *text, const char *sentence)
{
	struct sx_calibration untouched;

	memset(&untouched, 0xff, sizeof(untouched));
	if (read_text(text) != -EINVAL)
		fail_msg("accepted, should say: %s", sentence);
	if (!strstr(why.text, "/calib: ") || !strstr(why.text, sentence))
		fail_msg("says '%s' instead of '%s'", why.text, sentence);
	assert_memory_equal(&c, &untouched, sizeof(c));
}

static void opencv(void **state)
{
	expect(OPENCV_HEAD OPENCV_P1 OPENCV_P2("6.4e+02", "-8.4e+01", "0."), "OpenCV YAML", 0.12, 0, 0);
	expect(OPENCV_HEAD OPENCV_P1 OPENCV_P2("6.4e+02", "-8.4e+01",
					       "0.") "image_width: 1280\nimage_height: 720\n",
	       "OpenCV YAML", 0.12, 1280, 720);
	expect(OPENCV_HEAD OPENCV_Q("8.0", "0."), "OpenCV YAML", 0.125, 0, 0);
	expect(OPENCV_HEAD OPENCV_P1 OPENCV_P2("6.4e+02", "-8.4e+01", "0.") OPENCV_Q("8.3333333", "0."),
	       "OpenCV YAML", 0.12, 0, 0); /* the matrices take precedence */
	expect("%YAML 1.1\n---\n" OPENCV_Q("8.0", "0."), "OpenCV YAML", 0.125, 0, 0);
}

static void opencv_refused(void **state)
{
	expect_refused(OPENCV_HEAD OPENCV_P1, "'P2' is missing");
	expect_refused(
		OPENCV_HEAD OPENCV_P1 OPENCV_P2("6.5e+02", "-8.4e+01", "0."),
		"the principal points differ by 10 px, and without K1 the images cannot be moved by it");
	expect_refused(OPENCV_HEAD OPENCV_P1 OPENCV_P2("6.4e+02", "8.4e+01", "0."),
		       "left and right are swapped");
	expect_refused(OPENCV_HEAD OPENCV_P1 OPENCV_P2("6.4e+02", "0.", "-8.4e+01"), "one above the other");
	expect_refused(OPENCV_HEAD OPENCV_P1 OPENCV_P2("6.4e+02", "-8.4e+04", "0."),
		       "centimetres (1.2 m), millimetres (0.12 m), or squares");
	expect_refused(OPENCV_HEAD OPENCV_P1 OPENCV_P2("6.4e+02", ".nan", "0."),
		       "line 9: 'P2' is not a matrix of 3 x 4");
	expect_refused(OPENCV_HEAD OPENCV_P1 OPENCV_P2("6.4e+02", "-.inf", "0."),
		       "'P2' is not a matrix of 3 x 4");
	expect_refused(OPENCV_HEAD OPENCV_P1 OPENCV_P2("6.4e+02", "1e999", "0."),
		       "'P2' is not a matrix of 3 x 4");
	expect_refused(OPENCV_HEAD OPENCV_Q("8.0", "-80."), "the principal points differ by -10 px");
	expect_refused(OPENCV_HEAD "M1: !!opencv-matrix\n   rows: 1\n   cols: 1\n   dt: d\n   data: [ 1. ]\n",
		       "line 3: 'M1' is not a matrix of 3 x 3 numbers");
	expect_refused(OPENCV_HEAD "Q: [1, 2, 3]\n", "line 3: 'Q' is not a matrix of 4 x 4 numbers");
	expect_refused(OPENCV_HEAD "Q: 5\n", "'Q' is not a matrix");
	expect_refused(OPENCV_HEAD "P1: [1, 2\n", "line 4: not YAML");
	expect_refused(OPENCV_HEAD "Q: {rows: 4, cols: 5, data: [1]}\n", "'Q' is not a matrix");
	expect_refused("%YAML:1.0", "no stereo rectification found");
	assert_int_equal(read_text(OPENCV_HEAD OPENCV_Q("0.", "0.")), 1);
	assert_non_null(strstr(why.text, "Q has no baseline"));
}

static void ros(void **state)
{
	const char *left, *right;
	char both[1100];

	/* a single file, of the right camera */
	expect(ROS("1280", "-84.0"), "ROS camera_info", 0.12, 1280, 720);
	expect("P: [700, 0, 640, -84.0, 0, 700, 360, 0, 0, 0, 1, 0]\ndistortion_model: plumb_bob\nwidth: "
	       "1280\nheight: "
	       "720\n",
	       "ROS camera_info", 0.12, 1280, 720); /* a printed ROS message */

	left = fixture_text("left.yaml", ROS("1280", "0.0"));
	right = fixture_text("right.yaml", ROS("1280", "-84.0"));
	snprintf(both, sizeof(both), "%s,%s", left, right);
	assert_int_equal(sx_calibration_read(&c, both, &wish, &why), 0);
	assert_true(fabs(c.baseline_m - 0.12) < 1e-12 && c.width == 1280);
	snprintf(both, sizeof(both), "%s, %s", right, left);
	assert_int_equal(sx_calibration_read(&c, both, &wish, &why), -EINVAL);
	assert_non_null(strstr(why.text, "swapped"));
	right = fixture_text("right.yaml", ROS("640", "-84.0"));
	snprintf(both, sizeof(both), "%s,%s", left, right);
	assert_int_equal(sx_calibration_read(&c, both, &wish, &why), -EINVAL);
	assert_non_null(strstr(why.text, "image sizes differ: left 1280x720, right 640x720"));
	snprintf(both, sizeof(both), "%s,%s", left, fixture_path("none.yaml"));
	assert_int_equal(sx_calibration_read(&c, both, &wish, &why), -ENOENT);
	assert_non_null(strstr(why.text, "none.yaml does not exist, though "));
	left = fixture_text("left.yaml", ROS("1280", "0.0"));
	snprintf(both, sizeof(both), "%s,%s", left, fixture_text("q.yml", OPENCV_HEAD OPENCV_Q("8.", "0.")));
	assert_int_equal(sx_calibration_read(&c, both, &wish, &why), -EINVAL);
	assert_non_null(strstr(why.text, "two files must be"));
}

static void ros_left_alone_has_no_baseline(void **state)
{
	assert_int_equal(read_text(ROS("1280", "0.0")), 1);
	assert_true(c.baseline_m == 0 && c.fx == 700 && c.width == 1280);
	assert_non_null(strstr(why.text, "no baseline in projection_matrix"));
	assert_non_null(strstr(why.text, "name the right camera's file, or both as LEFT,RIGHT"));
	expect_refused(ROS("wide", "-84.0"), "'image_width' is not a number");
	expect_refused(ROS("-5", "-84.0"), "image size -5x720");
	expect_refused(ROS("12.5", "-84.0"), "image size 12.5x720");
}

static void kitti(void **state)
{
	/* colour cameras: both have an offset from camera 0 */
	expect("calib_time: 09-Jan-2012 13:57:47\nR_rect_00: 1 2 3\nS_rect_02: 1.242000e+03 3.750000e+02\n"
	       "P_rect_02: 700 0 640 42 0 700 360 0.2 0 0 1 0.003\nP_rect_03: 700 0 640 -322 0 700 360 2 0 0 "
	       "1 0.003\n",
	       "KITTI calibration", 0.52, 1242, 375);
	expect("P0: 700 0 640 0 0 700 360 0 0 0 1 0\nP1: 700 0 640 -371 0 700 360 0 0 0 1 0\n",
	       "KITTI calibration", 0.53, 0, 0);
	expect("P0: 9 0 9 0 0 9 9 0 0 0 1 0\nP1: 9 0 9 -9 0 9 9 0 0 0 1 0\n"
	       "P2: 700 0 640 42 0 700 360 0 0 0 1 0\nP3: 700 0 640 -322 0 700 360 0 0 0 1 0\nTr: 1 2 3\n",
	       "KITTI calibration", 0.52, 0, 0);
	expect_refused("P2: 700 0 640 42 0 700 360 0 0 0 1 0\nP3: 700 0 640 -322 0 700 360 0 0 0 1\n",
		       "line 2: 'P3: 700 0 640");
	expect_refused("P2: 700 0 640 42 0 700 360 0 0 0 1 0\nP3: 700 0 640 -322 0 700 360 0 0 0 1 nan\n",
		       "line 2: 'P3");
	expect_refused("P2: 700 0 640 42 0 700 360 0 0 0 1 0\nP3: 701 0 640 -322 0 700 360 0 0 0 1 0\n",
		       "P2 (fx 700, fy 700, cx 640, cy 360) and P3 (fx 701,");
	expect_refused("P2: 0 0 0 0 0 0 0 0 0 0 0 0\nP3: 0 0 0 0 0 0 0 0 0 0 0 0\n",
		       "focal lengths 0 and 0 px");
	assert_int_equal(
		read_text("P2: 700 0 640 0 0 700 360 0 0 0 1 0\nP3: 700 0 640 0 0 700 360 0 0 0 1 0\n"), 1);
	assert_non_null(strstr(why.text, "P2 and P3 have no baseline between them"));
}

static void plain(void **state)
{
	expect(PLAIN "cx_right: 640.05\nbaseline_m: 0.54\nwidth: 1226\nheight: 370\nfps: 10\n",
	       "calibration text", 0.54, 1226, 370);
	expect("# mine\r\n fx = 700\r\nfy = 7e2\r\ncx=640\r\ncy : 360\r\nbaseline_m = 0.54\r\nnote: a, b\r\n",
	       "calibration text", 0.54, 0, 0);
	expect_refused("fx: 700\nfy: 700\ncy: 360\nbaseline_m: 1\n", "'cx' is missing");
	expect_refused(PLAIN "baseline_m: -0.5\n", "baseline_m is -0.5, must be positive");
	expect_refused(PLAIN "baseline_m: 0\n", "baseline_m is 0, must be positive");
	expect_refused(PLAIN "baseline_m: nan\n", "line 5: 'baseline_m: nan");
	expect_refused(PLAIN "baseline_m: 540\n", "in millimetres (0.54 m)?");
	expect_refused(PLAIN "cx_right: 650\nbaseline_m: 0.5\n", "cx 640 and cx_right 650 differ");
	expect_refused("fx: 0\nfy: 700\ncx: 640\ncy: 360\nbaseline_m: 1\n", "focal lengths 0 and 700 px");
	expect_refused("fx: -700\nfy: 700\ncx: 640\ncy: 360\nbaseline_m: 1\n",
		       "focal lengths -700 and 700 px");
	expect_refused("fx: 700\nfy: 700\ncx: 64000\ncy: 360\nbaseline_m: 1\n", "principal point 64000, 360");
	expect_refused("fx: 700 px\n", "line 1: 'fx: 700 px");
	expect_refused("", "no calibration found");
	expect_refused("hello\nworld: 3\n", "no calibration found");
	assert_int_equal(read_text(PLAIN), 1);
	assert_non_null(strstr(why.text, "'baseline_m' is missing"));
	assert_int_equal(sx_calibration_read(&c, fixture_write("calib", "fx: 7\0\n", 8), &wish, &why),
			 -EINVAL);
	assert_non_null(strstr(why.text, "not a text file"));
	assert_int_equal(sx_calibration_read(&c, fixture_path("none"), &wish, &why), -ENOENT);
	assert_int_equal(sx_calibration_read(&c, fixture_path(""), &wish, &why), -EISDIR);
}

static void print_to(const char *name, const struct sx_settings *s)
{
	FILE *f = fopen(fixture_path(name), "w");

	assert_non_null(f);
	sx_config_print(s, NULL, false, f);
	fclose(f);
}

static void in_a_configuration(void **state)
{
	const char *words[2] = {NULL, NULL};
	struct sx_settings *s;
	char override[700];

	fixture_text("sub/right.yaml", ROS("1280", "-84.0"));
	fixture_text("sub/left.yaml", ROS("1280", "0.0"));
	s = fixture_load(fixture_text("a.conf",
				      "[source]\nkind = synthetic\n[camera]\ncalibration = sub/right.yaml\n"),
			 NULL, "");
	assert_true(s->params.camera.fx == 700 && fabs(s->params.camera.baseline_m - 0.12) < 1e-12);
	assert_int_equal(s->calibration_width, 1280);
	assert_string_equal(s->calibration, fixture_path("sub/right.yaml"));
	assert_int_equal(sx_settings_check_size(s, 1280, 720, &why), 0);
	assert_int_equal(sx_settings_check_size(s, 1280, 700, &why), -EINVAL);
	assert_non_null(strstr(why.text, "images are 1280x700, but calibration "));
	assert_int_equal(sx_settings_check_size(s, 4, 4, &why), -EINVAL);
	/* the printed configuration has the numbers as comments: loading it gives the same settings */
	snprintf(override, sizeof(override), "camera.calibration=%s", fixture_path("sub/right.yaml"));
	words[0] = override;
	print_to("printed.conf", s);
	s = fixture_load(fixture_path("printed.conf"), words, "");
	assert_true(s->params.camera.fx == 700);

	s = fixture_load(fixture_text("a.conf", "[source]\nkind = synthetic\n[camera]\ncalibration = "
						"sub/left.yaml, sub/right.yaml\n"),
			 NULL, "");
	assert_true(fabs(s->params.camera.baseline_m - 0.12) < 1e-12);
	s = fixture_load(fixture_text("a.conf", "[source]\nkind = synthetic\n[camera]\ncalibration = "
						"sub/left.yaml\nbaseline_m = 0.2\n"),
			 NULL, "");
	assert_true(s->params.camera.baseline_m == 0.2);
}

static void go_to(const char *folder)
{
	if (chdir(folder) < 0)
		fail_msg("%s: %s", folder, strerror(errno));
}

/*
 * A name from outside a file is relative to the working directory. The printed configuration names the file
 * independently of its own place.
 */
static void beside_a_configuration(void **state)
{
	const char *words[] = {"camera.calibration=right.yaml", NULL};
	char before[4096], folder[300];
	struct sx_settings *s;

	assert_non_null(getcwd(before, sizeof(before)));
	fixture_text("sub/right.yaml", ROS("1280", "-84.0"));
	fixture_text("sub/left.yaml", ROS("1280", "0.0"));
	fixture_text("a.conf", "[source]\nkind = synthetic\n");
	snprintf(folder, sizeof(folder), "%s", fixture_path("sub"));
	go_to(folder);
	s = fixture_load(fixture_path("a.conf"), words, "");
	assert_string_equal(s->calibration, fixture_path("sub/right.yaml"));
	print_to("printed.conf", s);
	go_to(before);
	s = fixture_load(fixture_path("printed.conf"), NULL, "");
	assert_string_equal(s->calibration, fixture_path("sub/right.yaml"));

	words[0] = "camera.calibration=left.yaml, right.yaml";
	go_to(folder);
	s = fixture_load(fixture_path("a.conf"), words, "");
	print_to("printed.conf", s);
	go_to(before);
	s = fixture_load(fixture_path("printed.conf"), NULL, "");
	assert_true(fabs(s->params.camera.baseline_m - 0.12) < 1e-12);

	/*
	 * a configuration file that is itself named relative to the working directory, with and without a
	 * folder
	 */
	fixture_text("sub/b.conf", "[source]\nkind = synthetic\n[camera]\ncalibration = right.yaml\n");
	go_to(folder);
	s = fixture_load("b.conf", NULL, "");
	assert_string_equal(s->calibration, fixture_path("sub/right.yaml"));
	go_to(fixture_path("."));
	s = fixture_load("sub/b.conf", NULL, "");
	assert_string_equal(s->calibration, fixture_path("sub/right.yaml"));
	go_to(before);

	/* a comma separates two names */
	fixture_text("of,two/right.yaml", ROS("1280", "-84.0"));
	words[0] = "camera.calibration=right.yaml";
	go_to(fixture_path("of,two"));
	s = fixture_load(fixture_path("a.conf"), words, "");
	go_to(before);
	assert_string_equal(s->calibration, "right.yaml");

	/* a file whose name contains the comma is found, too */
	words[0] = "camera.calibration=of,two/right.yaml";
	go_to(fixture_path("."));
	s = fixture_load(fixture_path("a.conf"), words, "");
	assert_string_equal(s->calibration, fixture_path("of,two/right.yaml"));
	words[0] = "camera.calibration=of,three/right.yaml";
	fixture_load(
		fixture_path("a.conf"), words,
		"-s camera.calibration=of,three/right.yaml: [camera] calibration: DIR/of does not exist, "
		"though DIR does: correct the path, or make or mount what is missing (a comma parts the "
		"names of two files, unless a file has the whole name)\n");
	go_to(before);

	/* a folder with a long name */
	snprintf(folder, sizeof(folder), "%0250d/right.yaml", 0);
	fixture_text(folder, ROS("1280", "-84.0"));
	snprintf(folder, sizeof(folder), "%0250d/b.conf", 0);
	fixture_text(folder, "[source]\nkind = synthetic\n[camera]\ncalibration = right.yaml\n");
	s = fixture_load(fixture_path(folder), NULL, "");
	snprintf(folder, sizeof(folder), "%0250d/right.yaml", 0);
	assert_string_equal(s->calibration, fixture_path(folder));
}

static void contradictions(void **state)
{
	fixture_text("right.yaml", ROS("1280", "-84.0"));
	fixture_text("left.yaml", ROS("1280", "0.0"));
	fixture_load(
		fixture_text("a.conf", "[source]\nkind = synthetic\n[camera]\ncalibration = left.yaml\n"),
		NULL,
		"DIR/a.conf:4: [camera] calibration: DIR/left.yaml: ROS camera_info: no baseline in "
		"projection_matrix ([0][3] is 0, the left camera): name the right camera's file, or both as "
		"LEFT,RIGHT; or give baseline_m in [camera]\n");
	fixture_load(fixture_text("a.conf", "[source]\nkind = synthetic\n[camera]\nfx = 3\nbaseline_m = "
					    "0.2\ncalibration = right.yaml\n"),
		     NULL,
		     "DIR/a.conf:4: [camera] fx: is also in the calibration file DIR/right.yaml "
		     "(DIR/a.conf:6); which one is meant? An empty 'calibration =' turns the file off\n");
	fixture_load(
		fixture_text(
			"a.conf",
			"[source]\nkind = synthetic\nsize = 640x480\n[camera]\ncalibration = right.yaml\n"),
		NULL,
		"DIR/a.conf:3: [source] size: images are 640x480, but calibration DIR/right.yaml was made "
		"for 1280x720\n");
	fixture_load(
		fixture_text("a.conf", "[source]\nkind = synthetic\n[camera]\ncalibration = none.yaml\n"),
		NULL,
		"DIR/a.conf:4: [camera] calibration: DIR/none.yaml does not exist, though DIR does: correct "
		"the path, or make or mount what is missing\n");
}

/* Reads files with random changes. Each gives an error sentence, or numbers in range. */
static void garbage(void **state)
{
	static const char *const seeds[] = {
		OPENCV_HEAD OPENCV_P1 OPENCV_P2("6.4e+02", "-8.4e+01", "0."),
		OPENCV_HEAD OPENCV_Q("8.0", "0."), ROS("1280", "-84.0"),
		"P2: 700 0 640 42 0 700 360 0 0 0 1 0\nP3: 700 0 640 -322 0 700 360 0 0 0 1 0\n",
		PLAIN "baseline_m: 0.54\nwidth: 1226\nheight: 370\n"};
	uint64_t x = 88172645463325252u;
	char text[1024];

	for (int round = 0; round < 4000; round++) {
		const size_t bytes = fixture_garble(text, sizeof(text), seeds[round % 5], round, &x);
		const int r = sx_calibration_read(&c, fixture_write("calib", text, bytes), &wish, &why);

		if (r != 0 && r != 1 && r != -EINVAL)
			fail_msg("%d", r);
		if (r < 0)
			assert_true(strlen(why.text) > 0);
		else
			assert_true(c.fx > 0 && c.fy > 0 && c.baseline_m >= 0 && c.baseline_m <= 10);
	}
}

static void deep_yaml_is_refused(void **state)
{
	char *text = calloc(1, 60100);

	assert_non_null(text);
	snprintf(text, 64, "%%YAML:1.0\n---\nQ: ");
	memset(text + strlen(text), '[', 60000);
	assert_int_equal(read_text(text), -EINVAL);
	assert_non_null(strstr(why.text, "nested more than 16 deep"));
	free(text);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(opencv),
		TEST(opencv_refused),
		TEST(ros),
		TEST(ros_left_alone_has_no_baseline),
		TEST(kitti),
		TEST(plain),
		TEST(in_a_configuration),
		TEST(beside_a_configuration),
		TEST(contradictions),
		TEST(garbage),
		TEST(deep_yaml_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
