/*
 * Tests calibration files of raw cameras: what is read from files of OpenCV, ROS and Kalibr (data/, written
 * by make_data.py), when images are rectified, and what is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>

#include "config/calibration/calibration.h"
#include "stages/rectify/rig.h"
#include "tests/config/fixture.h"

#define OPENCV "opencv.yml"
#define ROS "ros_left.yaml,ros_right.yaml"
#define KALIBR "kalibr.yaml"
#define FISHEYE "fisheye.yml"
#define TEXT_BYTES 8192

/* Output of make_data.py: cv2.stereoRectify() of OpenCV 4.6. */
static const double rotations[2][9] = {
	{0.999925806061, -0.0107284112325, -0.00576919100609, 0.0107166980836, 0.999940457993,
	 -0.00205738929328, 0.00579092001528, 0.00199540996927, 0.999981241616},
	{0.99996218251, -0.00363292346053, 0.00790160852664, 0.00361690373618, 0.999991376644,
	 0.00204074632685, -0.00790895426347, -0.00201208979354, 0.999966699414}};
#define BASELINE 0.110104163863

static const double k[2][4] = {{458.654, 457.296, 367.215, 248.375}, {457.587, 456.134, 379.999, 255.238}};
static const double plumb_bob[2][SX_LENS_COEFFICIENTS] = {{-0.2834, 0.0740, 0.0002, 0.00002, -0.008},
							  {-0.2837, 0.0745, -0.0001, -0.00003, -0.0085}};
static const double fisheye[2][SX_LENS_COEFFICIENTS] = {{-0.012, 0.006, -0.004, 0.0007},
							{-0.011, 0.005, -0.0035, 0.0006}};

static struct sx_calibration_wish wish;
static struct sx_calibration c;
static struct sx_why why;

static int setup(void **state)
{
	wish = (struct sx_calibration_wish){0};
	return fixture_setup(state);
}

/* Returns the text of a file of data/. */
static const char *data_text(const char *name)
{
	static char text[TEXT_BYTES];
	char path[512];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", SX_DATA, name);
	f = fopen(path, "r");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	assert_true(n > 0 && n < sizeof(text) - 1);
	text[n] = 0;
	fclose(f);
	return text;
}

static int read_text(const char *name, const char *text)
{
	memset(&c, 0xff, sizeof(c));
	why.text[0] = 0;
	return sx_calibration_read(&c, fixture_text(name, text), &wish, &why);
}

/*
 * Returns a file of data/ with the first occurrence of `from` replaced. If `from` is "", appends `to` at the
 * end.
 */
static char *changed(const char *name, const char *from, const char *to)
{
	static char text[2 * TEXT_BYTES];
	const char *all = data_text(name), *at = *from ? strstr(all, from) : all + strlen(all);

	if (!at)
		fail_msg("%s has no '%s'", name, from);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - all), all, to, at + strlen(from));
	return text;
}

static int read_changed(const char *name, const char *from, const char *to)
{
	return read_text("calib", changed(name, from, to));
}

static void refused(int r, const char *sentence)
{
	struct sx_calibration untouched;

	memset(&untouched, 0xff, sizeof(untouched));
	if (r != -EINVAL)
		fail_msg("accepted (%d), should say: %s", r, sentence);
	if (!strstr(why.text, sentence))
		fail_msg("says '%s' instead of '%s'", why.text, sentence);
	assert_memory_equal(&c, &untouched, sizeof(c));
}

/* Reads one or two files of data/. */
static int read_data(const char *names)
{
	const char *comma = strchr(names, ',');
	char path[1100];

	snprintf(path, sizeof(path), "%s/%.*s%s%s%s", SX_DATA, comma ? (int)(comma - names) : 99, names,
		 comma ? ", " : "", comma ? SX_DATA "/" : "", comma ? comma + 1 : "");
	memset(&c, 0xff, sizeof(c));
	why.text[0] = 0;
	return sx_calibration_read(&c, path, &wish, &why);
}

static void near(const char *what, double is, double should, double tolerance)
{
	if (!(fabs(is - should) <= tolerance))
		fail_msg("%s is %.12g instead of %.12g", what, is, should);
}

static void expect_raw(const double d[2][SX_LENS_COEFFICIENTS], int count, enum sx_lens lens)
{
	for (int i = 0; i < 2; i++) {
		const struct sx_raw_camera *raw = &c.rig.raw[i];

		assert_true(raw->fx == k[i][0] && raw->fy == k[i][1]);
		assert_true(raw->cx == k[i][2] && raw->cy == k[i][3]);
		assert_int_equal(raw->lens, lens);
		for (int j = 0; j < SX_LENS_COEFFICIENTS; j++)
			assert_true(raw->distortion[j] == (j < count ? d[i][j] : 0));
		for (int j = 0; j < 9; j++)
			near("rotation", c.rig.rotation[i][j], rotations[i][j], 1e-9);
	}
	assert_true(c.width == 752 && c.height == 480);
	assert_true(c.rig.raw_width == 752 && c.rig.raw_height == 480);
}

/* Checks the projection. OpenCV computes the visible part in single precision. */
static void expect_projection(double f, double cx, double cy)
{
	near("fx", c.fx, f, 1e-4);
	near("fy", c.fy, f, 1e-4);
	near("cx", c.cx, cx, 1e-4);
	near("cy", c.cy, cy, 1e-4);
	near("baseline", c.baseline_m, BASELINE, 1e-9);
	assert_true(c.rig.fx == c.fx && c.rig.fy == c.fy && c.rig.cx == c.cx && c.rig.cy == c.cy &&
		    c.rig.baseline_m == c.baseline_m);
}

static void accept_data(const char *names, const char *format)
{
	if (read_data(names) != 0)
		fail_msg("refused: %s", why.text);
	assert_string_equal(c.format, format);
	assert_true(c.rectify);
}

static void files_of_opencv(void **state)
{
	accept_data(OPENCV, "OpenCV YAML"); /* the file has R, T: the loader computes the projections */
	expect_raw(plumb_bob, 5, SX_LENS_PLUMB_BOB);
	expect_projection(439.699530741, 369.505355835, 264.357337952);
	wish.rectify = (struct sx_rectify_params){.alpha = -1, .width = 640, .height = 400};
	accept_data(OPENCV, "OpenCV YAML");
	expect_raw(plumb_bob, 5, SX_LENS_PLUMB_BOB);
	expect_projection(380.595833333, 315.322947401, 216.845369339);
	assert_true(c.rig.width == 640 && c.rig.height == 400);
	wish.rectify.alpha = 1; /* OpenCV samples nine points of each border, stages/rectify more */
	accept_data(OPENCV, "OpenCV YAML");
	near("fx", c.fx, 233.04091898, 2);
	wish.rectify = (struct sx_rectify_params){0};

	accept_data(FISHEYE, "OpenCV YAML"); /* the file has R1, R2, P1, P2 */
	expect_raw(fisheye, 4, SX_LENS_EQUIDISTANT);
	expect_projection(439.699530741, 369.505355835, 264.357337952);
	assert_true(c.rig.width == 752 && c.rig.height == 480);
}

static void two_files_of_opencv(void **state)
{
	char both[2 * TEXT_BYTES], names[1100];

	refused(read_data("intrinsics.yml,extrinsics.yml"),
		"OpenCV YAML: images are raw, but their size (image_width, image_height) is missing: add it, "
		"or give size in [source]; where they are rectified already, say rectify = no");
	wish.width = 752;
	wish.height = 480;
	accept_data("intrinsics.yml,extrinsics.yml", "OpenCV YAML");
	expect_raw(plumb_bob, 5, SX_LENS_PLUMB_BOB);
	expect_projection(439.699530741, 369.505355835, 264.357337952);
	accept_data("extrinsics.yml,intrinsics.yml", "OpenCV YAML");
	expect_raw(plumb_bob, 5, SX_LENS_PLUMB_BOB);
	/* values in both files, as programs write that repeat the intrinsics beside the extrinsics */
	snprintf(both, sizeof(both), "%s", data_text("intrinsics.yml"));
	fixture_text("first", both);
	snprintf(both + strlen(both), sizeof(both) - strlen(both), "%s",
		 strstr(data_text("extrinsics.yml"), "R: "));
	snprintf(names, sizeof(names), "%s,", fixture_path("first"));
	snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s", fixture_text("second", both));
	assert_int_equal(sx_calibration_read(&c, names, &wish, &why), 0);
	expect_raw(plumb_bob, 5, SX_LENS_PLUMB_BOB);
	memcpy(strstr(both, "4.57586999"), "4.7", 3);
	fixture_text("second", both);
	memset(&c, 0xff, sizeof(c));
	refused(sx_calibration_read(&c, names, &wish, &why),
		"both files have M2, with different numbers: which one is meant?");
	refused(read_data("intrinsics.yml,kalibr.yaml"), "two files must be one camera_info file of each");
	refused(read_data("ros_left.yaml,extrinsics.yml"), "two files must be one camera_info file of each");
	refused(read_data("intrinsics.yml"),
		"OpenCV YAML: no P1 and P2 (or Q) of rectified images, and without R and T (or R1 and R2) "
		"raw ones cannot be rectified");
	wish = (struct sx_calibration_wish){0};
	refused(read_data("extrinsics.yml"),
		"OpenCV YAML: images are raw, as the rectifying rotations say, but without K1 they cannot be "
		"rectified; where they are rectified already, say rectify = no");
	wish.rectify.choice = SX_RECTIFY_NO;
	assert_int_equal(read_data("extrinsics.yml"), 0);
	assert_false(c.rectify);
	near("fx", c.fx, 439.699530741, 1e-6);
}

static void pair_of_ros(void **state)
{
	accept_data(ROS, "ROS camera_info");
	expect_raw(plumb_bob, 5, SX_LENS_PLUMB_BOB);
	expect_projection(439.699530741, 369.505355835, 264.357337952);
	refused(read_data("ros_right.yaml,ros_left.yaml"), "left and right are swapped");
	/* one camera alone cannot be rectified together with its partner: the images count as rectified */
	assert_int_equal(read_data("ros_right.yaml"), 0);
	assert_false(c.rectify);
	wish.rectify.choice = SX_RECTIFY_YES;
	refused(read_data("ros_right.yaml"),
		"ROS camera_info: rectify = yes, but without the other camera's file (LEFT,RIGHT) raw images "
		"cannot be rectified");
}

static void chain_of_kalibr(void **state)
{
	accept_data(KALIBR, "Kalibr camchain");
	expect_raw(plumb_bob, 4, SX_LENS_PLUMB_BOB);
	expect_projection(427.546063737, 371.461574554, 256.922813416);
}

/* The poses of both cameras on the IMU instead of T_cn_cnm1: points of the camera to the IMU, or the inverse. */
static void chain_on_the_imu(void **state)
{
	static const char t0[] = "[0, -1, 0, 0.01], [1, 0, 0, 0.02], [0, 0, 1, 0.03], [0, 0, 0, 1]";
	static const char t1[] = "[0, -1, 0, 0.01], [1, 0, 0, 0.13], [0, 0, 1, 0.03], [0, 0, 0, 1]";
	static const char to0[] = "[0, 1, 0, -0.02], [-1, 0, 0, 0.01], [0, 0, 1, -0.03], [0, 0, 0, 1]";
	static const char to1[] = "[0, 1, 0, -0.13], [-1, 0, 0, 0.01], [0, 0, 1, -0.03], [0, 0, 0, 1]";
	const char *const poses[][4] = {{"T_imu_cam", t0, "T_imu_cam", t1},
					{"T_cam_imu", to0, "T_cam_imu", to1},
					{"T_cam_imu", to0, "T_imu_cam", t1}};
	char text[2 * TEXT_BYTES];

#define CAM(name)                                                                                                  \
	name ":\n  camera_model: pinhole\n  intrinsics: [458.654, 457.296, 367.215, 248.375]\n"                    \
	     "  distortion_coeffs: [-0.28, 0.07, 0.0002, 2e-05]\n  distortion_model: radtan\n  resolution: [752, " \
	     "480]\n  %s: [%s]\n"
	for (size_t i = 0; i < sizeof(poses) / sizeof(poses[0]); i++) {
		snprintf(text, sizeof(text), CAM("cam0") CAM("cam1"), poses[i][0], poses[i][1], poses[i][2],
			 poses[i][3]);
		if (read_text("calib", text) != 0)
			fail_msg("%s", why.text);
		assert_true(c.rectify && fabs(c.baseline_m - 0.11) < 1e-12);
	}
	/* T_cn_cnm1 is measured between the cameras, and has priority */
	snprintf(
		text, sizeof(text),
		CAM("cam0") CAM(
			"cam1") "  T_cn_cnm1: [[1, 0, 0, -0.12], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]\n",
		"T_imu_cam", t0, "T_imu_cam", t1);
	assert_int_equal(read_text("calib", text), 0);
	assert_true(fabs(c.baseline_m - 0.12) < 1e-12);
	snprintf(text, sizeof(text), CAM("cam0") CAM("cam1"), "T_imu_cam", t0, "T_imu_cam", t0);
	refused(read_text("calib", text),
		"both cameras stand in one place by T_imu_cam: is one of them given twice?");
	snprintf(text, sizeof(text), CAM("cam0") CAM("cam1"), "T_imu_cam", t0, "T_cam", t0);
	refused(read_text("calib", text), "cam1: 'T_cn_cnm1' is missing");
	snprintf(text, sizeof(text), CAM("cam0") CAM("cam1"), "T_imu_cam", "[1, 0, 0, 0]", "T_imu_cam", t0);
	refused(read_text("calib", text), "'T_imu_cam' is not a matrix of 4 x 4");
	snprintf(text, sizeof(text), CAM("cam0") CAM("cam1"), "T_imu_cam", t1, "T_imu_cam", t0);
	refused(read_text("calib", text), "the cameras are exchanged");
#undef CAM
}

/* Tests other names of the same values, and other shapes of the matrices. */
static void names_and_shapes(void **state)
{
	static const char *const names[][8] = {
		{"cameraMatrixL", "cameraDistcoeffL", "cameraMatrixR", "cameraDistcoeffR", "Rl", "Rr", "Pl",
		 "Pr"},
		{"LEFT.K", "LEFT.D", "RIGHT.K", "RIGHT.D", "LEFT.R", "RIGHT.R", "LEFT.P", "RIGHT.P"},
		{"mtx_left", "dist_left", "mtx_right", "dist_right", "R_left", "R_right", "P_left",
		 "P_right"},
		{"left_camera_matrix", "left_distortion_coefficients", "right_camera_matrix",
		 "right_distortion_coefficients", "left_rectification_matrix", "right_rectification_matrix",
		 "left_projection_matrix", "right_projection_matrix"},
		{"camera_matrix_left", "distortion_coeffs_left", "camera_matrix_right",
		 "distortion_coeffs_right", "rectification_transform_left", "rectification_transform_right",
		 "projection_matrix_left", "projection_matrix_right"},
	};
	static const char *const d[][2] = {
		{"data: [ -2.8339999999999999e-01, 7.3999999999999996e-02,\n       2.0000000000000001e-04, "
		 "2.0000000000000002e-05,\n       -8.0000000000000002e-03 ]",
		 "data: [ -0.2834, .074, 2e-4, 2e-5, -0.008 ]"},
		{"rows: 5\n   cols: 1", "rows: 1\n   cols: 5"},
	};

	for (size_t i = 0; i < sizeof(d) / sizeof(d[0]); i++) {
		if (read_changed(OPENCV, d[i][0], d[i][1]))
			fail_msg("refused: %s", why.text);
		expect_raw(plumb_bob, 5, SX_LENS_PLUMB_BOB);
	}
	/* another shape of T */
	assert_int_equal(read_changed(OPENCV, "rows: 3\n   cols: 1", "rows: 1\n   cols: 3"), 0);
	expect_raw(plumb_bob, 5, SX_LENS_PLUMB_BOB);
	assert_int_equal(
		read_changed(OPENCV, "image_width: 752\nimage_height: 480", "imageSize: [ 752, 480 ]"), 0);
	expect_raw(plumb_bob, 5, SX_LENS_PLUMB_BOB);
	assert_int_equal(read_changed(OPENCV, "cameraMatrix1", "K1"), 0);
	assert_int_equal(read_changed(OPENCV, "distCoeffs1", "D1"), 0);
	assert_int_equal(read_changed(OPENCV, "cameraMatrix2", "camera_matrix_2"), 0);
	expect_raw(plumb_bob, 5, SX_LENS_PLUMB_BOB);
	assert_int_equal(read_changed(OPENCV, "distCoeffs2", "dist_r"), 0);
	assert_int_equal(read_changed(OPENCV, "distCoeffs2", "DistCoeffs-Right"), 0);
	expect_raw(plumb_bob, 5, SX_LENS_PLUMB_BOB);
	refused(read_changed(OPENCV, "cameraMatrix2", "k2"), "and without K2 raw");
	refused(read_changed(OPENCV, "cameraMatrix2", "cameraMatrix"), "and without K2 raw");
	assert_int_equal(read_changed(OPENCV, "", "distortion_model: plumb_bob\n"), 0);
	expect_raw(plumb_bob, 5, SX_LENS_PLUMB_BOB);
	assert_int_equal(read_changed(FISHEYE, "fisheye: 1", "distortion_model: equidistant"), 0);
	expect_raw(fisheye, 4, SX_LENS_EQUIDISTANT);
	/* names in files of other programs, with a turned left camera whose rotation must be found */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *const *n = names[i];
		char text[TEXT_BYTES];

		snprintf(
			text, sizeof(text),
			"%%YAML:1.0\n---\nimage_size: [640, 480]\n%s: [500, 0, 320, 0, 501, 240, 0, 0, 1]\n"
			"%s: [-0.1, 0, 0, 0]\n%s: [500, 0, 321, 0, 501, 240, 0, 0, 1]\n%s: [-0.11, 0, 0, 0]\n"
			"%s: [0.96, -0.28, 0, 0.28, 0.96, 0, 0, 0, 1]\n%s: [1, 0, 0, 0, 1, 0, 0, 0, 1]\n"
			"%s: [490, 0, 318, 0, 0, 490, 240, 0, 0, 0, 1, 0]\n"
			"%s: [490, 0, 318, -49, 0, 490, 240, 0, 0, 0, 1, 0]\n",
			n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]);
		if (read_text("calib", text) != 0)
			fail_msg("%s: %s", n[0], why.text);
		assert_true(c.rectify && c.rig.rotation[0][0] == 0.96 && fabs(c.baseline_m - 0.1) < 1e-12);
		assert_true(c.rig.raw[1].cx == 321 && c.rig.raw[1].distortion[0] == -0.11 && c.fx == 490);
	}
	/* nested lists, as PyYAML writes them */
	assert_int_equal(read_text("calib",
				   "%YAML 1.1\n---\nK1: [[458.654, 0, 367.215], [0, 457.296, 248.375], [0, "
				   "0, 1]]\nD1: [[-0.2834], [0.074], [0.0002], [2e-5], [-0.008]]\n"
				   "K2: [[457.587, 0, 379.999], [0, 456.134, 255.238], [0, 0, 1]]\n"
				   "D2: [[-0.2837, 0.0745, -1e-4, -3e-5, -0.0085]]\n"
				   "R: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\nT: [[-0.11], [0], [0]]\n"
				   "image_size: [752, 480]\n"),
			 0);
	assert_true(c.rectify && c.rig.raw[1].distortion[4] == -0.0085 && c.rig.raw[0].fx == 458.654);
	assert_int_equal(read_changed(OPENCV, "\nT:", "\nTranslation_Vector:"), 0);
	expect_raw(plumb_bob, 5, SX_LENS_PLUMB_BOB);
	assert_int_equal(read_changed(OPENCV, "\nR:", "\nrotation_matrix:"), 0);
	expect_raw(plumb_bob, 5, SX_LENS_PLUMB_BOB);
	refused(read_changed(OPENCV, "", "xi_1: 1.2\n"), "'xi_1' is of an omnidirectional camera");
	refused(read_changed(OPENCV, "", "translation: [1, 2, 3]\n"), "are names of one thing and differ");
}

/* Reads opencv.yml with these coefficients as D1. */
static int read_d1(const char *numbers, int count)
{
	char d[400];

	snprintf(d, sizeof(d), "distCoeffs1: {rows: 1, cols: %d, data: [%s]}\nother1:", count, numbers);
	return read_changed(OPENCV, "distCoeffs1:", d);
}

static void coefficients(void **state)
{
	assert_int_equal(read_d1("-0.28, 0.07, 2e-4, 2e-5", 4), 0);
	assert_int_equal(c.rig.raw[0].lens, SX_LENS_PLUMB_BOB);
	assert_true(c.rig.raw[0].distortion[3] == 2e-5 && c.rig.raw[0].distortion[4] == 0);
	assert_int_equal(read_d1("0.1, 0.02, 2e-4, 2e-5, 0.01, 0.4, 0.05, 0.001", 8), 0);
	assert_int_equal(c.rig.raw[0].lens, SX_LENS_RATIONAL);
	assert_true(c.rig.raw[0].distortion[7] == 0.001);
	assert_int_equal(c.rig.raw[1].lens, SX_LENS_PLUMB_BOB);
	/* OpenCV's Python interface writes 14 coefficients for a rational model, too */
	assert_int_equal(read_d1("0.1, 0.02, 2e-4, 2e-5, 0.01, 0.4, 0.05, 0.001, 0, 0, 0, 0, 0, 0", 14), 0);
	assert_int_equal(c.rig.raw[0].lens, SX_LENS_RATIONAL);
	assert_int_equal(read_changed(OPENCV, "distCoeffs1:", "distCoeffs1: []\nother:"), 0);
	assert_true(c.rig.raw[0].lens == SX_LENS_PLUMB_BOB && c.rig.raw[0].distortion[0] == 0);

	refused(read_d1("0.1, 0, 0, 0, 0, 0, 0, 0, 0.01, 0, 0, 0", 12),
		"/calib: OpenCV YAML: distCoeffs1 has 12 coefficients, a thin prism or a tilted sensor, "
		"which is not supported, must be 4 or 5 (plumb_bob) or 8 (rational_polynomial)");
	refused(read_d1("0.1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.1", 14),
		"distCoeffs1 has 14 coefficients");
	refused(read_d1("0.1, 0, 0", 3), "distCoeffs1 has 3 coefficients, must be 4 or 5 (plumb_bob) or 8");
	refused(read_d1("0.1, 0, 0, 0, 0, 0", 6), "distCoeffs1 has 6 coefficients");
	refused(read_d1("0.1, 0, 0, .nan, 0", 5), "'distCoeffs1' is not one row or column");
	refused(read_d1("0.1, 0, 0, 1e999, 0", 5), "'distCoeffs1' is not one row or column");
	refused(read_d1("0.1, 0, 0, 0", 5),
		"line 11: 'distCoeffs1' is not one row or column of up to 16 numbers");
	refused(read_d1("3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0", 17),
		"'distCoeffs1' is not one row");
	refused(read_d1("-3, 0, 0, 0", 4), "OpenCV YAML: the plumb_bob lens of the left camera turns back");
}

static void models(void **state)
{
	refused(read_changed(OPENCV, "", "distortion_model: thin_prism\n"),
		"OpenCV YAML: distortion_model 'thin_prism' is not supported: plumb_bob (radtan), "
		"rational_polynomial, equidistant (fisheye)");
	refused(read_changed(OPENCV, "", "fisheye: 1\n"),
		"distCoeffs1 has 5 coefficients, a fisheye lens (equidistant) has 4");
	refused(read_changed(OPENCV, "", "fisheye: maybe\n"), "'fisheye' is 'maybe', must be 0 or 1");
	assert_int_equal(read_changed(OPENCV, "", "fisheye: 0\n"), 0);
	refused(read_changed(KALIBR, "radtan", "fov"), "distortion_model 'fov' is not supported");
	refused(read_changed(KALIBR, "camera_model: pinhole", "camera_model: omni"),
		"cam0: camera_model is 'omni', only pinhole is supported");
	/* each camera may have its own lens model */
	assert_int_equal(read_changed(KALIBR, "radtan", "equidistant"), 0);
	assert_int_equal(c.rig.raw[0].lens, SX_LENS_EQUIDISTANT);
	assert_int_equal(c.rig.raw[1].lens, SX_LENS_PLUMB_BOB);
	assert_int_equal(read_changed(KALIBR,
				      "distortion_coeffs: [-0.28339999999999999, 0.073999999999999996, "
				      "0.00020000000000000001, 2.0000000000000002e-05]\n  distortion_model: "
				      "radtan",
				      "distortion_coeffs: []\n  distortion_model: none"),
			 0);
	assert_true(c.rig.raw[0].distortion[0] == 0);
}

static void opencv_refused(void **state)
{
	refused(read_changed(OPENCV, "cameraMatrix2", "camera2"),
		"no P1 and P2 (or Q) of rectified images, and without K2 raw");
	refused(read_changed(OPENCV, "distCoeffs2", "lens2"), "and without D2 raw ones cannot be rectified");
	refused(read_changed(OPENCV, "\nR:", "\nRR:"),
		"and without R and T (or R1 and R2) raw ones cannot be rectified");
	refused(read_changed(OPENCV, "\nT:", "\nTT:"),
		"and without R and T (or R1 and R2) raw ones cannot be rectified");
	refused(read_changed(OPENCV, "\nR: !!opencv-matrix\n   rows: 3\n   cols: 3\n",
			     "\nR: !!opencv-matrix\n   rows: 1\n   cols: 9\n"),
		"'R' is not a matrix of 3 x 3 numbers");
	refused(read_changed(OPENCV, "\nR:", "\nR: {rows: 3, cols: 1, data: [0.1, 0, 0]}\nRR:"),
		"line 31: 'R' is not a matrix of 3 x 3 numbers");
	refused(read_changed(OPENCV, "\nR:", "\nR: [0, 0, 0, 0, 0, 0, 0, 0, 0]\nRR:"),
		"OpenCV YAML: the rotation");
	refused(read_changed(OPENCV, "\nR:", "\nR: [1, 0, 0, 0, 1, 0, 0, 0, -1]\nRR:"),
		"OpenCV YAML: the rotation");
	refused(read_changed(OPENCV, "\nR:", "\nR: [2, 0, 0, 0, 2, 0, 0, 0, 2]\nRR:"),
		"OpenCV YAML: the rotation");
	refused(read_changed(OPENCV, "\nT:", "\nT: [-0.1, 0]\nTT:"), "'T' has 2 numbers instead of 3");
	refused(read_changed(OPENCV, "\nT:", "\nT: [[-0.1, 0], [1]]\nTT:"),
		"'T' is not one row or column of up to 3");
	refused(read_changed(OPENCV, "\nT:", "\nT: [0, 0, 0]\nTT:"), "the translation is 0");
	refused(read_changed(OPENCV, "\nT:", "\nT: [0.11, 0, 0]\nTT:"), "the cameras are exchanged");
	refused(read_changed(OPENCV, "\nT:", "\nT: [0, -0.11, 0]\nTT:"), "above each other");
	refused(read_changed(OPENCV, "\nT:", "\nT: [-110.1, 0.4, -0.87]\nTT:"),
		"OpenCV YAML: baseline 110.104 m, must be at most 10 m: was it calibrated in centimetres "
		"(1.101 m), millimetres (0.1101 m), or squares of the board? baseline_m in [camera]");
	refused(read_changed(OPENCV, "\nT:", "\nT: [-.inf, 0, 0]\nTT:"), "'T' is not one row");
	refused(read_changed(OPENCV, "4.5865400000000000e+02", "0."),
		"cameraMatrix1 (0 0 367.215; 0 457.296 248.375; 0 0 1) is no camera matrix (fx 0 cx; 0 fy "
		"cy; 0 0 1)");
	refused(read_changed(OPENCV, "4.5865400000000000e+02", "-458."), "is no camera matrix");
	refused(read_changed(OPENCV, "4.5865400000000000e+02", ".nan"), "'cameraMatrix1' is not a matrix");
	refused(read_changed(OPENCV, "4.5865400000000000e+02, 0.", "458., 3.5"),
		"cameraMatrix1 has a skew of 3.5, which is not supported");
	refused(read_changed(OPENCV, "image_width: 752\nimage_height: 480",
			     "image_width: 320\nimage_height: 240"),
		"the principal point of cameraMatrix1, 367.215, 248.375, is outside of images of 320x240: "
		"another size?");
	refused(read_changed(OPENCV, "image_width: 752\n", "image_width: 75.5\n"), "image size 75.5x480");
	refused(read_changed(OPENCV, "image_width: 752\n", "image_width: -752\n"), "image size -752x480");
	refused(read_changed(OPENCV, "image_width: 752\nimage_height: 480", "imageSize: [1, 2, 3]"),
		"'imageSize' is not");
	refused(read_changed(OPENCV, "", "P1: [400, 0, 320, 0, 0, 400, 240, 0, 0, 0, 1, 0]\n"),
		"P1 and P2 are both needed, 'P2' is missing");
	refused(read_changed(FISHEYE, "R1: !!opencv-matrix\n   rows: 3", "R1: !!opencv-matrix\n   rows: 2"),
		"'R1' is not a matrix of 3 x 3 numbers");
}

static void ros_refused(void **state)
{
	char both[1100], *left;

	snprintf(both, sizeof(both), "%s,%s", fixture_path("left"), fixture_path("right"));
#define JOIN(l_from, l_to, r_from, r_to)                                                              \
	(left = changed("ros_left.yaml", l_from, l_to), fixture_text("left", left),                   \
	 fixture_text("right", changed("ros_right.yaml", r_from, r_to)), memset(&c, 0xff, sizeof(c)), \
	 sx_calibration_read(&c, both, &wish, &why))
	assert_int_equal(JOIN("", "", "", ""), 0);
	expect_raw(plumb_bob, 5, SX_LENS_PLUMB_BOB);
	refused(JOIN("", "", "image_width: 752", "image_width: 640"),
		"image sizes differ: left 752x480, right 640x480");
	refused(JOIN("", "", "rectification_matrix", "nothing"),
		"ROS camera_info: images are raw, as left distortion_coefficients says, but without "
		"rectification_matrix of both cameras they cannot be rectified; where they are rectified "
		"already, say rectify = no");
	refused(JOIN("plumb_bob", "double_sphere", "", ""),
		"left: distortion_model 'double_sphere' is not supported");
	refused(JOIN("", "", "plumb_bob", "equidistant"),
		"right: distortion_coefficients has 5 coefficients, a fisheye lens (equidistant) has 4");
	refused(JOIN("", "", "camera_matrix:\n  rows: 3", "camera_matrix:\n  rows: 4"),
		"right: line 5: 'camera_matrix' is not a matrix of 3 x 3 numbers");
	refused(JOIN("projection_matrix", "none", "", ""), "no projection_matrix of the left camera");
	refused(JOIN("projection_matrix", "none", "projection_matrix", "none"),
		"ROS camera_info: no projection_matrix of both cameras of rectified images, and without "
		"rectification_matrix of both cameras raw ones cannot be rectified");
	/* the rational model of ROS has 8 coefficients */
	assert_int_equal(JOIN("plumb_bob", "rational_polynomial", "", ""), 0);
	assert_int_equal(c.rig.raw[0].lens, SX_LENS_RATIONAL);
	/* errors in the raw model do not matter to rectified images */
	wish.rectify.choice = SX_RECTIFY_NO;
	assert_int_equal(JOIN("plumb_bob", "double_sphere", "rectification_matrix", "nothing"), 0);
	assert_false(c.rectify);
	near("fx", c.fx, 439.699530741, 1e-6);
	/* the rotations say that images are raw even without D; a file without both says nothing */
	wish.rectify.choice = SX_RECTIFY_AUTO;
	refused(JOIN("distortion_coefficients", "none", "distortion_coefficients", "none"),
		"images are raw, as the rectifying rotations say, but without left distortion_coefficients they");
#undef JOIN
}

static void kalibr_refused(void **state)
{
	refused(read_changed(KALIBR, "cam1:", "cam2:"), "one camera only: 'cam1' is missing");
	refused(read_changed(KALIBR, "resolution: [752, 480]", "resolution: [640, 480]"),
		"image sizes differ: cam0 640x480, cam1 752x480");
	refused(read_changed(KALIBR, "resolution: [752, 480]", "resolution: [752]"),
		"cam0: 'resolution' has 1 numbers instead of 2");
	refused(read_changed(KALIBR, "intrinsics: [458.654, ", "intrinsics: ["),
		"cam0: 'intrinsics' has 3 numbers instead of 4");
	refused(read_changed(KALIBR, "intrinsics", "intrinsic"), "cam0: 'intrinsics' is missing");
	refused(read_changed(KALIBR, "camera_model", "model"), "cam0: 'camera_model' is missing");
	refused(read_changed(KALIBR, "distortion_model", "model"), "cam0: 'distortion_model' is missing");
	refused(read_changed(KALIBR, "distortion_coeffs", "coeffs"), "cam0: 'distortion_coeffs' is missing");
	refused(read_changed(KALIBR, "T_cn_cnm1", "T"), "cam1: 'T_cn_cnm1' is missing");
	refused(read_changed(KALIBR, "- [0, 0, 0, 1]", "- [0, 0, 0]"),
		"'T_cn_cnm1' is not a matrix of 4 x 4");
	refused(read_changed(KALIBR, "- [0, 0, 0, 1]", "- [0, 0, 1, 1]"),
		"cam1: the last row of T_cn_cnm1 is 0 0 1 1, must be 0 0 0 1");
	refused(read_changed(KALIBR, "-0.1101]", "0.1101]"), "the cameras are exchanged");
	refused(read_changed(KALIBR, "-0.1101]", ".nan]"), "'T_cn_cnm1' is not a matrix of 4 x 4");
	refused(read_changed(KALIBR, "458.654", "0"), "cam0: intrinsics (0 0 367.215; ");
	refused(read_changed(KALIBR, "458.654", "inf"), "'intrinsics' is not one row or column");
	wish.rectify.choice = SX_RECTIFY_NO;
	refused(read_data(KALIBR),
		"Kalibr camchain: rectify = no, but the file says nothing of rectified images: add P1 and "
		"P2, as OpenCV's, or have raw ones rectified by rectify = auto");
}

#define IDEAL                                                                                            \
	"%YAML:1.0\n---\nimage_width: 640\nimage_height: 480\nK1: [500, 0, 320, 0, 500, 240, 0, 0, 1]\n" \
	"K2: [500, 0, 320, 0, 500, 240, 0, 0, 1]\nD1: [0, 0, 0, 0, 0]\nD2: [0, 0, 0, 0, 0]\n"
#define IDEAL_R "R1: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nR2: [1, 0, 0, 0, 1, 0, 0, 0, 1]\n"
#define IDEAL_P                                              \
	"P1: [500, 0, 320, 0, 0, 500, 240, 0, 0, 0, 1, 0]\n" \
	"P2: [500, 0, 320, -60, 0, 500, 240, 0, 0, 0, 1, 0]\n"
#define IDEAL_T "R: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nT: [-0.12, 0, 0]\n"

/* If the raw cameras of a rig equal the rectified ones, the images are already rectified. */
static void rectified_already(void **state)
{
	for (int form = 0; form < 3; form++) {
		static const char *const texts[] = {IDEAL IDEAL_R IDEAL_P, IDEAL IDEAL_P IDEAL_T,
						    IDEAL IDEAL_R IDEAL_T};

		wish.rectify = (struct sx_rectify_params){.alpha = -1};
		if (read_text("calib", texts[form]))
			fail_msg("refused: %s", why.text);
		assert_false(c.rectify);
		near("fx", c.fx, 500, 1e-9);
		near("baseline", c.baseline_m, 0.12, 1e-12);
		wish.rectify.choice = SX_RECTIFY_YES;
		assert_int_equal(read_text("calib", texts[form]), 0);
		assert_true(c.rectify && sx_rig_is_rectified(&c.rig));
		/* another rectified size requires rectification */
		wish.rectify =
			(struct sx_rectify_params){.choice = SX_RECTIFY_AUTO, .width = 320, .height = 240};
		assert_int_equal(read_text("calib", texts[form]), 0);
		assert_true(c.rectify && c.rig.width == 320 && c.rig.raw_width == 640 && c.width == 640);
	}
	wish.rectify = (struct sx_rectify_params){.choice = SX_RECTIFY_NO};
	assert_int_equal(read_text("calib", IDEAL IDEAL_R IDEAL_P), 0);
	assert_false(c.rectify);
	refused(read_text("calib", IDEAL IDEAL_R IDEAL_T),
		"OpenCV YAML: rectify = no, but the file says nothing of rectified images: add P1 and P2 (or "
		"Q), or have raw ones rectified by rectify = auto");
	/* raw cameras need the raw size, but a file with only projections does not */
	wish.rectify.choice = SX_RECTIFY_AUTO;
	assert_int_equal(read_text("calib", changed(FISHEYE, "image_width: 752\nimage_height: 480\n", "")),
			 -EINVAL);
	assert_int_equal(read_text("calib", "%YAML:1.0\n---\n" IDEAL_P), 0);
	assert_true(!c.rectify && c.width == 0);
}

#define P_OFFSET                                             \
	"P1: [490, 0, 318, 0, 0, 490, 240, 0, 0, 0, 1, 0]\n" \
	"P2: [490, 0, 308, -49, 0, 490, 240, 0, 0, 0, 1, 0]\n"
#define Q_OFFSET(q33) "Q: [1, 0, 0, -318, 0, 1, 0, -240, 0, 0, 0, 490, 0, 0, 10, " q33 "]\n"

/* P2 has another principal point than P1: both images of raw cameras are rectified to that of P1. */
static void other_principal_point(void **state)
{
	assert_int_equal(read_text("calib", IDEAL IDEAL_R P_OFFSET Q_OFFSET("-100")), 0);
	assert_true(c.rectify && c.cx == 318 && c.rig.cx == 318 && fabs(c.baseline_m - 0.1) < 1e-12);
	/* rectified images with different principal points are moved to that of P1 */
	assert_int_equal(
		read_text("calib",
			  "%YAML:1.0\n---\nimage_width: 640\nimage_height: 480\n"
			  "K1: [490, 0, 318, 0, 490, 240, 0, 0, 1]\nK2: [490, 0, 308, 0, 490, 240, 0, 0, 1]\n"
			  "D1: [0, 0, 0, 0, 0]\nD2: [0, 0, 0, 0, 0]\n" IDEAL_R P_OFFSET),
		0);
	assert_true(c.rectify && c.rig.raw[1].cx == 308 && c.rig.cx == 318);
	/* a file with Q alone has the same two principal points */
	assert_int_equal(read_text("calib", IDEAL IDEAL_R Q_OFFSET("-100")), 0);
	assert_true(c.rectify && c.rig.cx == 318);
	refused(read_text("calib", IDEAL IDEAL_R P_OFFSET Q_OFFSET("0")),
		"the principal points differ by -10 px by P1 and P2, and by 0 px by Q: which one is meant?");
	refused(read_text("calib", "%YAML:1.0\n---\n" P_OFFSET),
		"the principal points differ by -10 px, and without K1 the images cannot be moved by it");
	wish.rectify.choice = SX_RECTIFY_NO;
	refused(read_text("calib", IDEAL IDEAL_R P_OFFSET),
		"rectify = no, but the principal points differ by -10 px");
}

/* A lens that turns back within the image of P1: the message says what to do with the file. */
static void lens_that_turns_back(void **state)
{
	refused(read_text(
			"calib",
			"%YAML:1.0\n---\nimage_width: 640\nimage_height: 480\nK1: [500, 0, 320, 0, 500, 240, 0, 0, 1]\n"
			"K2: [500, 0, 320, 0, 500, 240, 0, 0, 1]\nD1: [-0.9, 0, 0, 0, 0]\nD2: [-0.9, 0, 0, 0, 0]\n" IDEAL_R
				IDEAL_P IDEAL_T),
		"; without P1 and P2 (or Q) in the file, rectify_alpha decides what is shown");
}

/* Cameras that look in different directions, 31 degrees from the line across the baseline. */
static void principal_point_outside(void **state)
{
	refused(read_text(
			"calib",
			"%YAML:1.0\n---\nimage_width: 640\nimage_height: 480\nK1: [500, 0, 320, 0, 500, 240, 0, 0, 1]\n"
			"K2: [500, 0, 320, 0, 500, 240, 0, 0, 1]\nD1: [0, 0, 0, 0, 0]\nD2: [0, 0, 0, 0, 0]\n" IDEAL_R
			"P1: [500, 0, 700, 0, 0, 500, 240, 0, 0, 0, 1, 0]\n"
			"P2: [500, 0, 700, -60, 0, 500, 240, 0, 0, 0, 1, 0]\n"),
		"the principal point of the rectified images, 700, 240, is outside of 640x480");
}

/* Tests files that have only rectified images. */
static void no_raw_model(void **state)
{
	static const char kitti[] =
		"P0: 700 0 640 0 0 700 360 0 0 0 1 0\nP1: 700 0 640 -371 0 700 360 0 0 0 1 0\n";
	static const char plain[] = "fx: 700\nfy: 700\ncx: 640\ncy: 360\nbaseline_m: 0.5\n";

	for (int choice = SX_RECTIFY_AUTO; choice <= SX_RECTIFY_NO; choice++) {
		wish.rectify.choice = (enum sx_rectify_choice)choice;
		if (choice == SX_RECTIFY_YES) {
			refused(read_text("calib", kitti),
				"KITTI calibration: rectify = yes, but without K, D and R of both cameras "
				"raw images cannot be rectified");
			refused(read_text("calib", plain),
				"calibration text: rectify = yes, but without K, D and R");
			refused(read_text("calib", "%YAML:1.0\n---\n" IDEAL_P),
				"OpenCV YAML: rectify = yes, but without K1 raw images cannot be rectified");
			continue;
		}
		assert_int_equal(read_text("calib", kitti), 0);
		assert_true(!c.rectify && c.fx == 700);
		assert_int_equal(read_text("calib", plain), 0);
		assert_true(!c.rectify && c.baseline_m == 0.5);
		assert_int_equal(read_text("calib", "%YAML:1.0\n---\n" IDEAL_P), 0);
		assert_true(!c.rectify && c.fx == 500);
	}
}

/* Cuts the file at each byte. The result is a sentence, or a valid rig. */
static void cut(const char *name)
{
	char text[TEXT_BYTES];
	size_t size;

	snprintf(text, sizeof(text), "%s", data_text(name));
	size = strlen(text);
	for (size_t n = 0; n < size; n++) {
		struct sx_why reason;
		int r = sx_calibration_read(&c, fixture_write("calib", text, n), &wish, &why);

		if (r != 0 && r != 1 && r != -EINVAL)
			fail_msg("%s cut at %zu: %d", name, n, r);
		if (r)
			assert_true(strlen(why.text) > 10);
		if (r == 0 && c.rectify && sx_rig_check(&c.rig, &reason) < 0)
			fail_msg("%s cut at %zu: %s", name, n, reason.text);
	}
}

static void cut_short(void **state)
{
	cut(OPENCV);
	cut(FISHEYE);
	cut(KALIBR);
	cut("kalibr_imu.yaml");
	cut("orbslam2.yaml");
	cut("orbslam3.yaml");
	cut("camodocal.yaml");
	cut("ros_left.yaml");
	cut("intrinsics.yml");
	cut("extrinsics.yml");
}

/* Changes any bytes within the file. Each file gives an error sentence, or a valid rig. */
static void garbage(void **state)
{
	static const char *const seeds[] = {OPENCV, FISHEYE, KALIBR, "extrinsics.yml"};
	uint64_t x = 88172645463325252u;
	char text[TEXT_BYTES];
	struct sx_why reason;

	for (int round = 0; round < 3000; round++) {
		size_t size;
		int r;

		snprintf(text, sizeof(text), "%s", data_text(seeds[round % 4]));
		size = strlen(text);
		for (int changes = round % 3; changes >= 0; changes--) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			text[x % size] =
				x >> 60 ? "\n[]{}:-&*!%.e9 ,0\"'\xc3"[(x >> 32) % 20] : (char)(x >> 40);
		}
		r = sx_calibration_read(&c, fixture_write("calib", text, size), &wish, &why);
		if (r != 0 && r != 1 && r != -EINVAL)
			fail_msg("%d", r);
		if (r)
			assert_true(strlen(why.text) > 10);
		if (r == 0 && c.rectify && sx_rig_check(&c.rig, &reason) < 0)
			fail_msg("round %d: %s", round, reason.text);
	}
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(files_of_opencv),
		TEST(two_files_of_opencv),
		TEST(pair_of_ros),
		TEST(chain_of_kalibr),
		TEST(chain_on_the_imu),
		TEST(names_and_shapes),
		TEST(coefficients),
		TEST(models),
		TEST(opencv_refused),
		TEST(ros_refused),
		TEST(kalibr_refused),
		TEST(rectified_already),
		TEST(other_principal_point),
		TEST(lens_that_turns_back),
		TEST(principal_point_outside),
		TEST(no_raw_model),
		TEST(cut_short),
		TEST(garbage),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
