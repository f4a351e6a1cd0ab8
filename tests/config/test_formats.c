/*
 * Tests calibration files of other programs, and contradictions in them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "config/calibration/calibration.h"
#include "stages/rectify/rig.h"
#include "tests/config/fixture.h"

static struct sx_calibration_wish wish;
static struct sx_calibration c;
static struct sx_why why;

static int setup(void **state)
{
	wish = (struct sx_calibration_wish){0};
	return fixture_setup(state);
}

static int read_text(const char *text)
{
	memset(&c, 0xff, sizeof(c));
	why.text[0] = 0;
	return sx_calibration_read(&c, fixture_text("calib", text), &wish, &why);
}

static int read_pair(const char *left, const char *right)
{
	char both[1100];

	snprintf(both, sizeof(both), "%s,%s", fixture_text("left", left), fixture_text("right", right));
	memset(&c, 0xff, sizeof(c));
	why.text[0] = 0;
	return sx_calibration_read(&c, both, &wish, &why);
}

static void accepted(int r, const char *format, double fx, double baseline_m)
{
	if (r != 0)
		fail_msg("%d: %s", r, why.text);
	assert_string_equal(c.format, format);
	if (fabs(c.fx - fx) > 1e-4 * fx)
		fail_msg("fx %.10g instead of %g", c.fx, fx);
	if (fabs(c.baseline_m - baseline_m) > 1e-6)
		fail_msg("baseline %.10g instead of %g", c.baseline_m, baseline_m);
}

static void refused(int r, const char *sentence)
{
	if (r != -EINVAL)
		fail_msg("accepted (%d), should say: %s", r, sentence);
	if (!strstr(why.text, sentence))
		fail_msg("says '%s' instead of '%s'", why.text, sentence);
}

/* ---- positions of the two cameras ---- */

#define HEAD "%YAML:1.0\n---\n"
#define P1 "P1: [700, 0, 640, 0, 0, 700, 360, 0, 0, 0, 1, 0]\n"
#define P2 "P2: [700, 0, 640, -84, 0, 700, 360, 0, 0, 0, 1, 0]\n"

static void projections(void **state)
{
	static const char *const wrong[][2] = {
		{"700, 13.2, 640, -84, 0, 700, 360, 0, 0, 0, 1, 0",
		 "P2[0][1] is 13.2, must be 0: not the proj"},
		{"700, 0, 640, -84, -3.4, 700, 360, 0, 0, 0, 1, 0", "P2[1][0] is -3.4"},
		{"700, 0, 640, -84, 0, 700, 360, 0, -0.02, 0, 1, 0", "P2[2][0] is -0.02"},
		{"700, 0, 640, -84, 0, 700, 360, 0, 0, -0.033, 1, 0", "P2[2][1] is -0.033"},
		{"700, 0, 640, -84, 0, 700, 360, 0, 0, 0, 0, 0", "P2[2][2] is 0, must be 1"},
		{"700, 0, 640, -84, 0, 700, 360, 0, 0, 0, 1, 0.4", "P2[2][3] is 0.4"},
		{"700, 0, 640, -84, 0, 700, 360, 0, 0, 0, 1, -0.01",
		 "P2[2][3] is -0.01, must be 0, as in the left"},
		{"700, 0, 640, -84, 0, 700, 360, 20, 0, 0, 1, 0", "P2[1][3] is 20"},
	};
	char text[512];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(text, sizeof(text), "%s%sP2: [%s]\n", HEAD, P1, wrong[i][0]);
		refused(read_text(text), wrong[i][1]);
	}
	/* the same projection, multiplied by any factor */
	accepted(read_text(HEAD "P1: [1400, 0, 1280, 0, 0, 1400, 720, 0, 0, 0, 2, 0]\n"
				"P2: [-700, 0, -640, 84, 0, -700, -360, 0, 0, 0, -1, 0]\n"),
		 "OpenCV YAML", 700, 0.12);
	/* rounding errors, and KITTI's cameras, of which one is slightly ahead */
	accepted(read_text(HEAD P1 "P2: [700, 1e-12, 640, -84, 0, 700, 360, 0, 0, 1e-15, 1, 0]\n"),
		 "OpenCV YAML", 700, 0.12);
	accepted(read_text("P2: 7.215377e+02 0 6.095593e+02 4.485728e+01 0 7.215377e+02 1.72854e+02 "
			   "2.163791e-01 0 0 1 2.745884e-03\nP3: 7.215377e+02 0 6.095593e+02 -3.395242e+02 0 "
			   "7.215377e+02 1.72854e+02 2.199936e+00 0 0 1 2.729905e-03\n"),
		 "KITTI calibration", 721.5377, 0.532725);
}

#define Q(f, inverse) "Q: [1, 0, 0, -640, 0, 1, 0, -360, 0, 0, 0, " f ", 0, 0, " inverse ", 0]\n"
#define R "R: [1, 0, 0, 0, 1, 0, 0, 0, 1]\n"

static void agreement(void **state)
{
	accepted(read_text(HEAD P1 P2 Q("700", "8.3333") R "T: [-0.12, 0, 0]\n"), "OpenCV YAML", 700, 0.12);
	refused(read_text(HEAD P1 P2 R "T: [-0.06, 0, 0]\n"),
		"the baseline is 0.12 m by P2 and 0.06 m by T: which one is meant?");
	refused(read_text(HEAD P1 P2 R "T: [-12, 0, 0]\n"), "0.12 m by P2 and 12 m by T (cm against m?)");
	refused(read_text(HEAD P1 P2 R "T: [-120, 0, 0]\n"), "(mm against m?)");
	refused(read_text(HEAD P1 P2 R "T: [0.12, 0, 0]\n"), "T[0] is 0.12, as of exchanged cameras");
	accepted(read_text(HEAD P1 P2 R "T: [-0.1205, 0.001, 0]\n"), "OpenCV YAML", 700, 0.12);
	refused(read_text(HEAD P1 P2 Q("700", "16.6667")), "0.12 m by P2 and 0.0599999 m by Q");
	refused(read_text(HEAD P1 P2 Q("350", "8.3333")),
		"P1 (fx 700, fy 700, cx 640, cy 360) and Q (fx 350, ");
	refused(read_text(HEAD P1 P2 Q("700", "-8.3333")),
		"left and right are swapped, or the sign of Q[3][2]");
	refused(read_text(HEAD Q("700", "-8.3333")), "left and right are swapped, or the sign of Q[3][2]");
	refused(read_text(HEAD Q("700", "8.3333") R "T: [-0.2, 0, 0]\n"), "by Q and 0.2 m by T");
	refused(read_text(HEAD "Q: [1, 0, 0, -640, 0, 1, 0.1, -360, 0, 0, 0, 700, 0, 0, 8, 0]\n"),
		"Q[1][2] is 0.1, must be 0");
	/* ROS multiplies Q by fy Tx; here fx = 700, fy = 350 */
	accepted(read_text(HEAD "Q: [-42, 0, 0, 26880, 0, -84, 0, 15120, 0, 0, 0, -29400, 0, 0, -350, 0]\n"),
		 "OpenCV YAML", 700, 0.12);
	assert_true(fabs(c.fy - 350) < 1e-9 && fabs(c.cx - 640) < 1e-9 && fabs(c.cy - 180) < 1e-9);
	refused(read_text(HEAD P1 P2 R "T: [-0.12, 0, 0]\nR1: [0.9998, 0, 0.02, 0, 1, 0, -0.02, 0, 0.9998]\n"
				       "R2: [1, 0, 0, 0, 1, 0, 0, 0, 1]\n"),
		"R1 and R2 do not rectify cameras that stand as R says");
}

/* P and Q of a calibration that failed, with a focal length below 0. */
static void negative_focal_lengths(void **state)
{
	refused(read_text(HEAD "P1: [-171, 0, 640, 0, 0, -171, 360, 0, 0, 0, 1, 0]\n"
			       "P2: [-171, 0, 640, -84, 0, -171, 360, 0, 0, 0, 1, 0]\n" Q("-171", "8.3333")),
		"focal lengths -171 and -171 px, must be above 0");
	refused(read_text(HEAD Q("-171", "8.3333")), "focal lengths -171 and -171 px, must be above 0");
}

static void names_twice(void **state)
{
	refused(read_text("fx: 700\nfy: 700\ncx: 640\ncy: 360\nbaseline_m: 0.1\n# right\nfx: 350\n"),
		"'fx' occurs twice, in line 1 and in line 7");
	refused(read_text("P2: 1 2\n\nP2: 3\n"), "'P2' occurs twice, in line 1 and in line 3");
	refused(read_text(HEAD P1 P2 P1), "'P1' occurs twice, in line 3 and in line 5");
	refused(read_text(HEAD "P1: {rows: 3, cols: 4, rows: 3, data: [1]}\n" P2),
		"'rows' occurs twice, in line 3");
	refused(read_text("{\"Q\": [1], \"Q\": [2]}\n"), "'Q' occurs twice, in line 1 and in line 1");
	refused(read_text(HEAD "K1: [1, 0, 1, 0, 1, 1, 0, 0, 1]\nM1: [2, 0, 1, 0, 2, 1, 0, 0, 1]\n"),
		"'K1' in line 3 and 'M1' in line 4 are names of one thing and differ");
	accepted(read_text(HEAD P1 P2 "K1: [1, 0, 1, 0, 1, 1, 0, 0, 1]\nM1: [1, 0, 1, 0, 1, 1, 0, 0, 1]\n"),
		 "OpenCV YAML", 700, 0.12);
	refused(read_text(HEAD P1 P2 "image_width: 1280\nwidth: 640\n"), "the images' width is 1280 and 640");
	refused(read_text("P2: 700 0 640 0 0 700 360 0 0 0 1 0\nP3: 700 0 640 -84 0 700 360 0 0 0 1 "
			  "0\nfx: 5\n"),
		"both P2 and P3, the colour cameras and lines of fx");
	refused(read_text("[narrow_stereo]\nfx = 700\n"),
		"an ini file with sections (line 2 is in [narrow_stereo])");
}

/* A file that is cut within a number would have another number. */
static void cut_within_a_number(void **state)
{
	static const char *const texts[] = {
		"fx: 700\nfy: 700\ncx: 640\ncy: 360\nbaseline_m: 0.532725\n",
		"P2: 700 0 640 0 0 700 360 0 0 0 1 0\nP3: 700 0 640 -84 0 700 360 0 0 0 1 0.0012\n",
		HEAD P1 P2 "image_width: 1280\nimage_height: 7200\n",
		"cam0=[700 0 640; 0 700 360; 0 0 1]\ncam1=[700 0 640; 0 700 360; 0 0 1]\nbaseline=111.53\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const size_t size = strlen(texts[i]);
		char cut[512];

		assert_int_equal(read_text(texts[i]), 0);
		for (size_t n = 1; n < 4; n++) {
			snprintf(cut, sizeof(cut), "%.*s", (int)(size - n), texts[i]);
			refused(read_text(cut), "was it cut short?");
		}
	}
	/*
	 * The last value is complete if a bracket, a quote or a blank ends it. A value that the loader does not read
	 * may be cut.
	 */
	accepted(read_text(HEAD P1 "P2: [700, 0, 640, -84, 0, 700, 360, 0, 0, 0, 1, 0]"), "OpenCV YAML", 700,
		 0.12);
	accepted(read_text(HEAD P1 P2 "image_width: 1280 "), "OpenCV YAML", 700, 0.12);
	accepted(read_text(HEAD P1 P2 "camera_model: \"pinhole\""), "OpenCV YAML", 700, 0.12);
	accepted(read_text(HEAD P1 P2 "rms: 0.31"), "OpenCV YAML", 700, 0.12);
	accepted(read_text(HEAD "# \303\204\303\226\303\234\n" P1 P2 "image_width: 1280\nby: Mr X"),
		 "OpenCV YAML", 700, 0.12);
	accepted(read_text(HEAD P1 "P2: [700, 0, 640, -84, 0, 700, 360, 0, 0, 0, 1, 0]  # by m"),
		 "OpenCV YAML", 700, 0.12);
	accepted(read_text("fx: 700\nfy: 700\ncx: 640\ncy: 360\nbaseline_m: 0.12\nby: Mr X"),
		 "calibration text", 700, 0.12);
	refused(read_text(HEAD "# \303\204\303\226\303\234\n" P1 P2 "image_width: 128"), "was it cut short?");
	refused(read_text(HEAD P1 P2 "camera_model: "), "was it cut short?");
}

#define CAMERAS                                                                                           \
	"K1: [500, 0, 320, 0, 501, 240, 0, 0, 1]\nK2: [502, 0, 321, 0, 503, 241, 0, 0, 1]\n"              \
	"D1: [-0.11, 0.02, 0.001, 0.002]\nD2: [-0.12, 0.03, 0.001, 0.002]\nimage_width: 640\n"            \
	"R: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nT: !!opencv-matrix\n   rows: 3\n   cols: 1\n   dt: d\n   data: " \
	"[ -0.12, 0.0012,\n       0.0013 ]\nimage_height: 480\n"
#define CHAIN_CAM(name, cx)                                                                   \
	name ":\n  camera_model: pinhole\n  intrinsics: [500, 501, " cx ", 240]\n"            \
	     "  distortion_coeffs: [-0.11, 0.02, 0.001, 0.002]\n  distortion_model: radtan\n" \
	     "  resolution: [640, 480]\n  rostopic: /" name "/image_raw\n"
#define CHAIN                                                                                \
	CHAIN_CAM("cam0", "320")                                                             \
	CHAIN_CAM("cam1", "325")                                                             \
	"  T_cn_cnm1:\n  - [1, 0, 0, -0.11]\n  - [0, 1, 0, 0.0012]\n  - [0, 0, 1, 0.0013]\n" \
	"  - [0, 0, 0, 1]\n  timeshift_cam_imu: -0.01659\n"

/* Cuts files at each byte of their ends, within a line. The result is a sentence, or the values of the whole file. */
static void cut_anywhere(void **state)
{
	static const char *const texts[] = {
		HEAD CAMERAS "fisheye: 1\n",
		HEAD CAMERAS "camera_model: fisheye\nrms: 0.3125\n",
		CHAIN,
		HEAD CAMERAS "rms: 0.3125\n# the end\n",
		"{\"P1\": [700, 0, 640, 0, 0, 700, 360, 0, 0, 0, 1, 0],\n\"rms\": 0.31,\n\"P2\": [700, 0, "
		"640, -84, 0, 700, 360, 0, 0, 0, 1, 0]}",
		"P0: 700 0 640 0 0 700 360 0 0 0 1 0\nP1: 700 0 640 -371 0 700 360 0 0 0 1 0\nTr: 1 2 3 4\n",
		"cam0=[700 0 640; 0 700 360; 0 0 1]\ncam1=[700 0 640; 0 700 360; 0 0 1]\nbaseline=111.53\n"
		"isint=0\nvmax=142\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct sx_calibration whole;
		char cut[1024];

		if (read_text(texts[i]) != 0)
			fail_msg("%s", why.text);
		whole = c;
		for (size_t n = strlen(texts[i]) - 1; n > 0; n--) {
			int r;

			if (texts[i][n - 1] == '\n')
				continue;
			snprintf(cut, sizeof(cut), "%.*s", (int)n, texts[i]);
			r = read_text(cut);
			if (r < 0 ? strlen(why.text) < 10
				  : r > 0 || c.fx != whole.fx || c.cx != whole.cx ||
					    c.baseline_m != whole.baseline_m ||
					    memcmp(c.rig.raw, whole.rig.raw, sizeof(c.rig.raw)) != 0)
				fail_msg("text %zu cut at %zu: %d, fx %g, baseline %g, %s", i, n, r, c.fx,
					 c.baseline_m, why.text);
		}
	}
}

/* ---- lenses ---- */

#define ROS(lens, offset)                                                                                    \
	"image_width: 416\nimage_height: 160\ncamera_matrix: [110, 0, 208, 0, 110, 80, 0, 0, 1]\n" lens      \
	"distortion_coefficients: [0.005, 0.002, 0, 0]\nrectification_matrix: [1, 0, 0, 0, 1, 0, 0, 0, 1]\n" \
	"projection_matrix: [110, 0, 208, " offset ", 0, 110, 80, 0, 0, 0, 1, 0]\n"
#define BOTH(lens) read_pair(ROS(lens, "0"), ROS(lens, "-13.2"))

static void lenses(void **state)
{
	static const char *const names[] = {"camera_model: fisheye\n", "fisheye: 1\n", "is_fisheye: true\n",
					    "distortion_model: equidistant\n",
					    "model_type: KANNALA_BRANDT\n"};

	refused(BOTH(""), "left: distortion_model is missing: is the lens plumb_bob, rational_polynomial or "
			  "equidistant (fisheye)?");
	refused(BOTH("distortion_model: ''\n"), "distortion_model is missing");
	refused(BOTH("camera_model: pinhole\n"), "distortion_model is missing");
	accepted(BOTH("distortion_model: plumb_bob\n"), "ROS camera_info", 110, 0.12);
	assert_int_equal(c.rig.raw[1].lens, SX_LENS_PLUMB_BOB);
	accepted(read_pair(ROS("camera_model: fisheye\n", "0"),
			   ROS("distortion_model: equidistant\n", "-13.2")),
		 "ROS camera_info", 110, 0.12);
	assert_true(c.rig.raw[0].lens == SX_LENS_EQUIDISTANT && c.rig.raw[1].lens == SX_LENS_EQUIDISTANT);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char left[1024], right[1024];

		snprintf(left, sizeof(left), "%s%s", names[i], ROS("", "0"));
		snprintf(right, sizeof(right), "%s%s", names[i], ROS("", "-13.2"));
		accepted(read_pair(left, right), "ROS camera_info", 110, 0.12);
		assert_true(c.rig.raw[0].lens == SX_LENS_EQUIDISTANT && c.rig.raw[0].distortion[1] == 0.002);
	}
	refused(BOTH("distortion_model: plumb_bob\ncamera_model: fisheye\n"),
		"distortion_model is 'plumb_bob', but camera_model is 'fisheye': which lens is it?");
	refused(BOTH("distortion_model: plumb_bob\nfisheye: 1\n"), "but fisheye is '1': which lens is it?");
	refused(BOTH("distortion_model: equidistant\nfisheye: 0\n"), "but fisheye is '0': which lens is it?");
	refused(BOTH("fisheye: 0\ncamera_model: fisheye\n"), "camera_model is 'fisheye', but fisheye is '0'");
}

/* ---- ZED ---- */

#define ZED_CAMERA(section, fx)            \
	"[" section "]\nfx=" fx "\nfy=" fx \
	"\ncx=640\ncy=360\nk1=-0.17\nk2=0.025\np1=0.0001\np2=-0.0002\nk3=0\n\n"
#define ZED                              \
	ZED_CAMERA("LEFT_CAM_HD", "700") \
	ZED_CAMERA("RIGHT_CAM_HD", "701") ZED_CAMERA("LEFT_CAM_VGA", "350") ZED_CAMERA("RIGHT_CAM_VGA", "351")
#define ZED_STEREO                                                                                        \
	"[STEREO]\nBaseline=120.5\nTY=0.7\nTY_HD=0.3\nTZ=-0.9\nCV_HD=0.003\nCV_VGA=0.003\nRX_HD=-0.002\n" \
	"RX_VGA=-0.002\nRZ_HD=0.001\nRZ_VGA=0.001\n"

static void hd(void)
{
	wish = (struct sx_calibration_wish){.width = 1280, .height = 720};
}

static void zed(void **state)
{
	/* result of cv2.Rodrigues((-0.002, 0.003, 0.001)) */
	static const double r[9] = {0.999995000011667, -0.00100299766333, 0.00299899300700,
				    0.000996997671330, 0.999997500005833, 0.00200149533800,
				    -0.00300099300,    -0.00199849533,	  0.999993500};
	struct sx_rig rig;
	char text[2048];

	refused(read_text(ZED ZED_STEREO),
		"ZED calibration: it is for images of 1280x720 (HD), 672x376 (VGA): give size in [source]");
	hd();
	assert_int_equal(read_text(ZED ZED_STEREO), 0);
	assert_string_equal(c.format, "ZED calibration");
	assert_true(c.rectify && c.width == 1280 && c.rig.raw[0].fx == 700 && c.rig.raw[1].fx == 701);
	assert_true(c.rig.raw[1].distortion[0] == -0.17 && c.rig.raw[1].distortion[3] == -0.0002);
	assert_true(fabs(c.baseline_m - sqrt(0.1205 * 0.1205 + 0.0003 * 0.0003 + 0.0009 * 0.0009)) < 1e-12);
	/*
	 * The rig equals one aligned from this rotation and the opposite translation. Values of the mode take
	 * precedence over common values.
	 */
	rig = c.rig;
	assert_int_equal(sx_rig_align(&rig, r, (const double[3]){-0.1205, -0.0003, 0.0009}, 0, &why), 0);
	for (int i = 0; i < 9; i++)
		assert_true(fabs(rig.rotation[1][i] - c.rig.rotation[1][i]) < 1e-7);
	wish.width = 640;
	wish.height = 480;
	refused(read_text(ZED ZED_STEREO),
		"images are 640x480, but it is for images of 1280x720 (HD), 672x376 (VGA)");
	hd();
	/* one set of eight coefficients for all sizes */
	assert_int_equal(read_text(ZED ZED_STEREO
				   "[LEFT_DISTO]\nk1=0.7\nk2=1.1\np1=1e-4\np2=2e-4\nk3=0.1\nk4=1.1\n"
				   "k5=1.2\nk6=0.3\n[RIGHT_DISTO]\nk1=0.7\nk2=1.1\np1=1e-4\np2=2e-4\n"
				   "k3=0.1\nk4=1.1\nk5=1.2\nk6=0.3\n"),
			 0);
	assert_true(c.rig.raw[0].lens == SX_LENS_RATIONAL && c.rig.raw[0].distortion[7] == 0.3);
	refused(read_text(ZED ZED_STEREO "[LEFT_DISTO]\nk1=0.7\n"), "'k2' of [LEFT_DISTO] is missing");
	refused(read_text(ZED ZED_STEREO
			  "[LEFT_DISTO]\nk1=0.1\nk2=0.1\nk3=0.1\nk4=0.1\nk5=0\nk6=0\np1=0\np2=0\n"),
		"as of a fisheye lens");
	/* only k1 to k4 */
	assert_int_equal(read_text(ZED ZED_STEREO "[LEFT_DISTO]\nk1=0.02\nk2=0.01\nk3=-0.01\nk4=0.002\n"
						  "[RIGHT_DISTO]\nk1=0.02\nk2=0.01\nk3=-0.01\nk4=0.003\n"),
			 0);
	assert_true(c.rig.raw[1].lens == SX_LENS_EQUIDISTANT && c.rig.raw[1].distortion[3] == 0.003);
	refused(read_text(ZED ZED_STEREO "[LEFT_DISTO]\nk1=0.02\nk2=0.01\nk4=0.002\n"),
		"'k3' of [LEFT_DISTO] is missing");
	refused(read_text(ZED "[STEREO]\nBaseline=120\n"), "RX_HD, CV_HD and RZ_HD of [STEREO] are missing");
	refused(read_text(ZED "[STEREO]\nCV_HD=0\n"), "'Baseline' of [STEREO] is missing");
	refused(read_text(ZED "[STEREO]\nCV_HD=0\nBaseline=0.12\n"),
		"Baseline is 0.12 mm, must be 10 or more");
	refused(read_text(ZED ZED_STEREO "[STEREO]\nBaseline=60\n"),
		"'Baseline' of [STEREO] occurs twice, in line ");
	refused(read_text(ZED "[STEREO]\nBaseline=120\nCV_HD=0.003\nRX_"), "was the file cut short?");
	refused(read_text(ZED "[STEREO]\nBaseline=120\nCV_HD=0.003\nRX_HD=0.002\nRZ_HD=0.00"),
		"was it cut short?");
	assert_int_equal(read_text(ZED "[STEREO]\nBaseline=120\nCV_HD=0\nRX_HD=0\nRZ_HD=0\nRZ_VGA=0.00"), 0);
	refused(read_text(ZED_CAMERA("LEFT_CAM_HD", "700") ZED_STEREO), "'fx' of [RIGHT_CAM_HD] is missing");
	/* the file has one size only: images have this size */
	wish = (struct sx_calibration_wish){0};
	snprintf(text, sizeof(text), "%s",
		 ZED_CAMERA("left_cam_hd", "700") ZED_CAMERA("right_cam_hd", "701") ZED_STEREO);
	assert_int_equal(read_text(text), 0);
	assert_int_equal(c.width, 1280);
}

/*
 * Stereolabs' calibration program writes this for two ZED X One 4K with fisheye lenses: blanks, "4k", no p1.
 */
static void zed_of_the_program(void **state)
{
	wish = (struct sx_calibration_wish){.width = 3840, .height = 2160};
	assert_int_equal(read_text("[LEFT_CAM_4k]\nfx = 1490.1\nfy = 1490.4\ncx = 1925.7\ncy = 1071.2\n\n"
				   "[RIGHT_CAM_4k]\nfx = 1491.2\nfy = 1491.3\ncx = 1915.2\ncy = 1088.6\n\n"
				   "[LEFT_DISTO]\nk1 = 0.0402\nk2 = -0.0141\nk3 = 0.0057\nk4 = -0.0012\n\n"
				   "[RIGHT_DISTO]\nk1 = 0.0398\nk2 = -0.0133\nk3 = 0.0049\nk4 = -0.001\n\n"
				   "[STEREO]\nBaseline = 119.87\nTY = 0.21\nTZ = -0.34\nCV_4k = 0.0041\n"
				   "RX_4k = -0.0012\nRZ_4k = 0.0007\n\n"),
			 0);
	assert_true(c.rig.raw[0].lens == SX_LENS_EQUIDISTANT && c.rig.raw[0].cx == 1925.7);
	assert_true(c.rectify && c.width == 3840 && fabs(c.baseline_m - 0.11987) < 1e-5);
}

/* ---- Middlebury ---- */

#define MIDDLEBURY(cx1, more)                                                    \
	"cam0=[1758.23 0 953.34; 0 1758.23 552.29; 0 0 1]\ncam1=[1758.23 0 " cx1 \
	"; 0 1758.23 552.29; 0 0 1]\n" more

static void middlebury(void **state)
{
	accepted(read_text(MIDDLEBURY("953.34",
				      "doffs=0\nbaseline=111.53\nwidth=1920\nheight=1080\nndisp=290\n")),
		 "Middlebury calibration", 1758.23, 0.11153);
	assert_true(!c.rectify && c.width == 1920 && c.height == 1080);
	/* the right image is shifted, so that disparity is 0 at infinity */
	accepted(read_text(MIDDLEBURY("1084.45", "doffs=131.11\nbaseline=111.53\nwidth=1920\nheight=1080\n")),
		 "Middlebury calibration", 1758.23, 0.11153);
	assert_true(c.rectify && c.rig.raw[1].cx == 1084.45 && c.rig.cx == 953.34);
	wish.rectify.choice = SX_RECTIFY_NO;
	refused(read_text(MIDDLEBURY("1084.45", "doffs=131.11\nbaseline=111.53\nwidth=1920\nheight=1080\n")),
		"rectify = no, but the principal points differ by 131.11 px");
	wish.rectify.choice = SX_RECTIFY_AUTO;
	refused(read_text(MIDDLEBURY("953.34", "doffs=30\nbaseline=111.53\n")),
		"doffs is 30 px, but cx of cam1 and cam0 differ by 0");
	refused(read_text(MIDDLEBURY("953.34", "doffs=0\n")), "'baseline' (mm) is missing");
	refused(read_text(MIDDLEBURY("953.34", "baseline=-1\n")), "baseline is -1 mm, must be positive");
	refused(read_text("cam0=[1758.23 0 953.34; 0 1758.23 552.29; 0 0 1]\n"), "'cam1' is missing");
	refused(read_text("cam0=[1758.23 0 953.34; 0 1758.23]\n"), "line 1: 'cam0' is not a matrix of 3 x 3");
}

/* ---- EuRoC ---- */

/* The values are those printed by the data set. Its authors give a baseline of 11 cm. */
#define EUROC(t, k)                                                                                    \
	"# General sensor definitions.\nsensor_type: camera\ncomment: VI-Sensor\n\nT_BS:\n  cols: 4\n" \
	"  rows: 4\n  data: [" t "]\nrate_hz: 20\nresolution: [752, 480]\ncamera_model: pinhole\n"     \
	"intrinsics: [" k "]\ndistortion_model: radial-tangential\n"                                   \
	"distortion_coefficients: [-0.28, 0.07, 0.0002, 1.7e-05]\n"
#define EUROC_LEFT                                                          \
	EUROC("0, -1, 0, -0.02, 1, 0, 0, -0.06, 0, 0, 1, 0.01, 0, 0, 0, 1", \
	      "458.654, 457.296, 367.215, 248.375")
#define EUROC_RIGHT                                                        \
	EUROC("0, -1, 0, -0.02, 1, 0, 0, 0.05, 0, 0, 1, 0.01, 0, 0, 0, 1", \
	      "457.587, 456.134, 379.999, 255.238")

static void euroc(void **state)
{
	assert_int_equal(read_pair(EUROC_LEFT, EUROC_RIGHT), 0);
	assert_string_equal(c.format, "EuRoC sensor.yaml");
	assert_true(c.rectify && c.width == 752 && fabs(c.baseline_m - 0.11) < 1e-12);
	assert_true(c.rig.raw[0].fx == 458.654 && c.rig.raw[1].fx == 457.587);
	refused(read_pair(EUROC_RIGHT, EUROC_LEFT), "exchanged");
	refused(read_pair(EUROC_LEFT, EUROC_LEFT), "both cameras stand in one place by T_BS");
	refused(read_text(EUROC_LEFT), "the other camera's file (LEFT,RIGHT)");
	refused(read_pair(EUROC_LEFT, EUROC("0, 1, 0, -0.02, -1, 0, 0, 0.05, 0, 0, 1, 0.01, 0, 0, 0, 1",
					    "457.587, 456.134, 379.999, 255.238")),
		"the right camera is rolled by 180 degrees against the left one (mounted upside down): "
		"turn its images");
}

#define ORB_CAM(name, cx)                                                                 \
	name ".fx: 500.5\n" name ".fy: 501\n" name ".cx: " cx "\n" name ".cy: 240\n" name \
	     ".k1: -0.01\n" name ".k2: 0.02\n"
#define ORB_SIZE "Camera.width: 640\nCamera.height: 480\n"
#define ORB_POSE "[1, 0, 0, 0.11, 0, 1, 0, 0, 0, 0, 1, 0"

static void orb_slam(void **state)
{
	/* the right camera's points in the left camera: the right camera stands at x 0.11 */
	assert_int_equal(read_text(HEAD ORB_SIZE "Camera.type: \"PinHole\"\n" ORB_CAM("Camera1", "320")
					   ORB_CAM("Camera2", "325") "Stereo.T_c1_c2: " ORB_POSE
								     ", 0, 0, 0, 1]\n"),
			 0);
	assert_string_equal(c.format, "ORB-SLAM settings");
	assert_true(c.rectify && c.width == 640 && fabs(c.baseline_m - 0.11) < 1e-12);
	assert_true(c.rig.raw[0].fx == 500.5 && c.rig.raw[1].cx == 325 && c.rig.raw[1].distortion[1] == 0.02);
	refused(read_text(HEAD ORB_SIZE ORB_CAM("Camera1", "320") ORB_CAM(
			"Camera2",
			"325") "Stereo.T_c1_c2: [1, 0, 0, -0.11, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]\n"),
		"exchanged");
	refused(read_text(HEAD ORB_SIZE ORB_CAM("Camera1", "320") ORB_CAM("Camera2", "325")),
		"'Stereo.T_c1_c2' is missing");
	refused(read_text(HEAD ORB_SIZE ORB_CAM("Camera1", "320")), "'Camera2.fx' is missing");
	/* a fisheye of an older file */
	assert_int_equal(read_text(HEAD ORB_SIZE "Camera.type: \"KannalaBrandt8\"\n" ORB_CAM("Camera", "320")
					   ORB_CAM("Camera2", "325") "Camera.k3: 0\nCamera.k4: 0.003\n"
								     "Camera2.k3: 0\nCamera2.k4: 0.004\n"
								     "Camera.bf: 55\nTlr: " ORB_POSE "]\n"),
			 0);
	assert_true(c.rig.raw[0].lens == SX_LENS_EQUIDISTANT && c.rig.raw[1].distortion[3] == 0.004);
	assert_true(fabs(c.baseline_m - 0.11) < 1e-12);
	refused(read_text(HEAD "Camera.type: \"KannalaBrandt8\"\n" ORB_CAM("Camera1", "320")),
		"'Camera1.k3' is missing");
	/* rectified cameras */
	accepted(read_text(HEAD "Camera.type: \"Rectified\"\n" ORB_CAM("Camera1", "320") "Stereo.b: 0.05\n"),
		 "ORB-SLAM settings", 500.5, 0.05);
	accepted(read_text(HEAD ORB_SIZE "Camera.fx: 500\nCamera.fy: 500\nCamera.cx: 320\nCamera.cy: 240\n"
					 "Camera.k1: 0.0\nCamera.bf: 60\n"),
		 "ORB-SLAM settings", 500, 0.12);
	refused(read_text(HEAD ORB_CAM("Camera", "320") "Camera.bf: 60\n"),
		"images are raw, as Camera.k1 .. say");
	refused(read_text(HEAD
			  "Camera.fx: 500\nCamera.fy: 500\nCamera.cx: 320\nCamera.cy: 240\nCamera.bf: 40\n"
			  "DepthMapFactor: 5000\n"),
		"of a depth camera");
	assert_int_equal(read_text(HEAD "Camera.type: \"Rectified\"\n" ORB_CAM("Camera1", "320")), 1);
	assert_non_null(strstr(why.text, "ORB-SLAM settings: 'baseline_m' is missing"));
	refused(read_text(HEAD "Camera.fx: 435.2\n"), "settings of ORB-SLAM with one camera");
}

#define CAMODOCAL(width, cx)                                                                      \
	HEAD "model_type: PINHOLE\ncamera_name: cam\nimage_width: " width "\nimage_height: 480\n" \
	     "distortion_parameters:\n   k1: -0.28\n   k2: 0.07\n   p1: 0.001\n   p2: 0.002\n"    \
	     "projection_parameters:\n   fx: 461\n   fy: 460\n   cx: " cx "\n   cy: 257\n"
#define CAMODOCAL_FISHEYE                                                                                             \
	HEAD "model_type: KANNALA_BRANDT\nimage_width: 752\nimage_height: 480\nprojection_parameters:\n   k2: 0.01\n" \
	     "   k3: 0.02\n   k4: 0.03\n   k5: 0.04\n   mu: 461\n   mv: 460\n   u0: 365\n   v0: 257\n"
#define VINS(right)                                                                                         \
	HEAD "num_of_cam: 2\ncam0_calib: \"l.yaml\"\ncam1_calib: \"r.yaml\"\nimage_width: 752\n"            \
	     "body_T_cam0: [0, -1, 0, -0.02, 1, 0, 0, -0.06, 0, 0, 1, 0.01, 0, 0, 0, 1]\nbody_T_cam1: [0, " \
	     "-1, 0, -0.02, 1, 0, 0, " right ", 0, 0, 1, 0.01, 0, 0, 0, 1]\n"

static void vins(void **state)
{
	fixture_text("l.yaml", CAMODOCAL("752", "363"));
	fixture_text("r.yaml", CAMODOCAL("752", "365"));
	assert_int_equal(read_text(VINS("0.05")), 0);
	assert_string_equal(c.format, "VINS settings");
	assert_true(c.rectify && c.width == 752 && c.height == 480 && fabs(c.baseline_m - 0.11) < 1e-12);
	assert_true(c.rig.raw[0].cx == 363 && c.rig.raw[1].cx == 365 && c.rig.raw[1].distortion[3] == 0.002);
	refused(read_text(VINS("-0.17")), "exchanged");
	refused(read_text(VINS("-0.06")), "both cameras stand in one place by body_T_cam0");
	refused(read_text(HEAD "cam0_calib: l.yaml\n"), "settings of VINS without cam1_calib, body_T_cam0");
	refused(read_text(CAMODOCAL("752", "363")), "camera of camodocal: no projection matrices");
	refused(read_pair(CAMODOCAL("752", "363"), CAMODOCAL("752", "365")), "name the settings of VINS");
	fixture_text("r.yaml", CAMODOCAL("640", "365"));
	refused(read_text(VINS("0.05")), "image sizes differ: left 752x480, right 640x480");
	fixture_text("r.yaml", CAMODOCAL_FISHEYE);
	assert_int_equal(read_text(VINS("0.05")), 0);
	assert_true(c.rig.raw[1].lens == SX_LENS_EQUIDISTANT && c.rig.raw[1].fx == 461 &&
		    c.rig.raw[1].cx == 365);
	assert_true(c.rig.raw[1].distortion[0] == 0.01 && c.rig.raw[1].distortion[3] == 0.04);
	fixture_text("r.yaml", HEAD P1 P2);
	refused(read_text(VINS("0.05")), "r.yaml: OpenCV YAML, must be a camera of camodocal");
	fixture_text("r.yaml", HEAD "model_type: MEI\nmirror_parameters:\n   xi: 2\n");
	refused(read_text(VINS("0.05")), "r.yaml: 'mirror_parameters' is of an omnidirectional camera");
	fixture_text("r.yaml", VINS("0.05"));
	refused(read_text(VINS("0.05")), "r.yaml: VINS settings, must be a camera of camodocal");
	assert_int_equal(unlink(fixture_path("r.yaml")), 0);
	assert_int_equal(read_text(VINS("0.05")), -ENOENT);
	assert_non_null(strstr(why.text, "r.yaml"));
}

/* ---- formats that OpenCV reads and writes ---- */

#define XML_P(name, offset)                                                                              \
	"<" name                                                                                         \
	" type_id=\"opencv-matrix\">\n <rows>3</rows>\n <cols>4</cols>\n <dt>d</dt>\n <data>\n 700. 0. " \
	"640. " offset " 0. 700.\n 360. 0. 0. 0. 1. 0.</data></" name ">\n"
#define XML(inside) "<?xml version=\"1.0\"?>\n<opencv_storage>\n" inside "</opencv_storage>\n"

static void xml(void **state)
{
#ifdef SX_HAVE_XML
	accepted(read_text(XML(XML_P("P1", "0.") XML_P("P2", "-84."))), "OpenCV XML", 700, 0.12);
	accepted(read_text("\357\273\277" XML(
			 "<calibration_time>\"Mon 1 2\"</calibration_time>\n" XML_P("P1", "0.") XML_P(
				 "P2", "-84.") "<imageSize>\n 1280 720</imageSize>\n"
					       "<!-- a comment -->\n<image_width>1280</image_width>\n")),
		 "OpenCV XML", 700, 0.12);
	assert_int_equal(c.width, 1280);
	refused(read_text(XML(XML_P("P1", "0.") XML_P("P1", "-84."))),
		"'P1' occurs twice, in line 3 and in line 10");
	refused(read_text(XML(XML_P("P1", "0.") XML_P("P2", "abc"))),
		"line 10: 'P2' is not a matrix of 3 x 4");
	refused(read_text(XML(XML_P("P1", "0."))), "'P2' is missing");
	refused(read_text("<?xml version=\"1.0\"?>\n<opencv_storage><P1>"), "not XML of OpenCV");
	refused(read_text("<?xml version=\"1.0\"?>\n<!DOCTYPE a [<!ENTITY b \"c\">]>\n<opencv_storage/>"),
		"a document type (DOCTYPE)");
	refused(read_text("<a><b><c><d><e><f><g><h><i/></h></g></f></e></d></c></b></a>"),
		"nested too deeply");
	refused(read_text(XML("<FocalLengthX>700</FocalLengthX>\n")),
		"'FocalLengthX' is of a camera file of libSGM");
#else
	refused(read_text(XML(XML_P("P1", "0.") XML_P("P2", "-84."))),
		"which this build does not read (no expat)");
#endif
}

static void dialects(void **state)
{
	/* matrices in JSON */
	accepted(read_text("{\n    \"P1\": {\n\t\"type_id\": \"opencv-matrix\", \"rows\": 3, \"cols\": 4, "
			   "\"dt\": "
			   "\"d\",\n\t\"data\": [ 700.0, 0, 640, 0, 0, 700, 360, 0, 0, 0, 1, 0 ]\n    "
			   "},\n    \"P2\": "
			   "[700, 0, 640, -84, 0, 700, 360, 0, 0, 0, 1, 0]\n}"),
		 "OpenCV JSON", 700, 0.12);
	/*
	 * as OpenCV reads them: a byte order mark of Windows' editors, no blank after a colon, comments above
	 * the first line
	 */
	accepted(read_text("\357\273\277" HEAD P1 P2), "OpenCV YAML", 700, 0.12);
	accepted(read_text("\357\273\277fx: 700\nfy: 700\ncx: 640\ncy: 360\nbaseline_m: 0.12\n"),
		 "calibration text", 700, 0.12);
	accepted(read_text("# mine\n\n" HEAD
			   "P1: !!opencv-matrix\n   rows:3\n   cols: 4\n   dt:d\n   data:[ 700, 0, 640, "
			   "0,\n 0, 700, 360, 0, 0, 0, 1, 0 ]\n" P2),
		 "OpenCV YAML", 700, 0.12);
	/* line numbers in errors stay right */
	refused(read_text("# mine\n" HEAD "P1:[1]\n" P2), "line 4: 'P1' is not a matrix");
	accepted(read_text(P1 P2), "OpenCV YAML", 700, 0.12);
	memset(&c, 0xff, sizeof(c));
	refused(sx_calibration_read(&c, fixture_write("calib", "\377\376f\0x\0", 6), &wish, &why),
		"in UTF-16, must be in UTF-8");
	/* lines such as fx keep their meaning, whatever else the file contains */
	accepted(read_text(
			 "note:\n - mine\nlist: [1]\nfx: 700\nfy: 700\ncx: 640\ncy: 360\nbaseline_m: 0.12\n"),
		 "calibration text", 700, 0.12);
	/* unsupported formats are named, with advice */
	refused(read_text("{\"extrinsic\": {\"baseline\": 0.2}, \"intrinsic\": {\"fx\": 2262.5}}\n"),
		"a camera file of Cityscapes");
	refused(read_text("{\"batteryCalibration\": 1, \"cameraData\": [[0, {\"cameraType\": 0}]]}\n"),
		"a calibration of DepthAI (OAK): write K1, D1");
	refused(read_text("{\"left\": {\"fx\": 640.1, \"fy\": 640.1, \"ppx\": 640.2, \"ppy\": 360.1}}\n"),
		"a camera of RealSense: where images are rectified");
	refused(read_text("{\"baseline\": \"-50.1\", \"intrinsic_left.x.x\": \"0.8\"}\n"),
		"a calibration table of RealSense");
	refused(read_text("{\"parameters\": {\"controls-laserpower\": \"150\"}}\n"), "a preset of RealSense");
	refused(read_text("{\"fx\": 700, \"fy\": 700, \"cx\": 640, \"cy\": 360, \"baseline\": 0.12}\n"),
		"write them as lines of text, 'fx: 700'");
	refused(read_text("# oST version 5.0 parameters\n\n\n[image]\n\nwidth\n640\n\nheight\n480\n\n"
			  "[narrow_stereo]\n\ncamera matrix\n700 0 320\n0 700 240\n0 0 1\n\ndistortion\n"
			  "0 0 0 0 0\n\nrectification\n1 0 0\n0 1 0\n0 0 1\n\nprojection\n700 0 320 0\n"
			  "0 700 240 0\n0 0 1 0\n"),
		"ost.txt of ROS: take the ost.yaml");
	refused(read_text(
			"Calibration results\n====================\nCamera-system parameters:\ncam0 (/cam0):\n    "
			"projection: [ 832.8  834.2  502.9  395.7] +- [ 0.1 0.1 0.4 0.4]\n"),
		"a report of Kalibr: name the camchain");
	refused(read_text("fx: 700,5\nfy: 700,5\ncx: 640\ncy: 360\nbaseline_m: 0.12\n"),
		"line 1: 'fx: 700,5' has too few or too many numbers: decimals stand behind a point");
	refused(read_text("fx = 700\nfy = 700\ncx = 640\ncy = 360\nbaseline = 120\n"),
		"line 5: 'baseline' is not known: write baseline_m, in metres (0.12 if 120 is in millimetres"
		", 1.2 if in centimetres)");
	wish.baseline_m = 0.12; /* the baseline is configured beside the file */
	assert_int_equal(read_text("fx = 700\nfy = 700\ncx = 640\ncy = 360\nbaseline = 120\n"), 1);
}

/* Binary files are recognised by their first bytes, long ones by the end of their names. */
static void binaries(void **state)
{
	static const struct {
		const char *name, *begin, *sentence;
	} all[] = {
		{"c.npz", "PK\003\004\0\0", "an archive of NumPy (.npz): read it in Python"},
		{"c", "PK\003\004\0\0", "an archive of NumPy (.npz)"},
		{"c.npy", "\223NUMPY", "an array of NumPy (.npy)"},
		{"c.mat", "MATLAB 5.0 MAT-file", "a file of MATLAB: write K1"},
		{"c.mat", "\211HDF\r\n", "a file of MATLAB, or HDF5"},
		{"c.pkl", "\200\004\225", "a pickle of Python: read it in Python"},
		{"c", "\177ELF", "not a text file (NUL byte)"},
	};
	static char bytes[70000];

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, all[i].begin, strlen(all[i].begin));
		refused(sx_calibration_read(&c, fixture_write(all[i].name, bytes, 64), &wish, &why),
			all[i].sentence);
		if (!strchr(all[i].name, '.'))
			continue;
		assert_int_equal(sx_calibration_read(&c, fixture_write(all[i].name, bytes, sizeof(bytes)),
						     &wish, &why),
				 -EFBIG);
		assert_non_null(strstr(why.text, all[i].name));
		assert_null(strstr(why.text, "longer than"));
	}
}

/* Loads the files of data/, from which the fuzzer starts. */
static void files(void **state)
{
	static const struct {
		const char *names, *format;
		double baseline_m;
	} all[] = {
		{SX_DATA "/zed.conf", "ZED calibration", 0.12},
		{SX_DATA "/middlebury.txt", "Middlebury calibration", 0.11153},
		{SX_DATA "/euroc_left.yaml," SX_DATA "/euroc_right.yaml", "EuRoC sensor.yaml", 0.11},
#ifdef SX_HAVE_XML
		{SX_DATA "/opencv.xml", "OpenCV XML", 0.12},
#endif
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (sx_calibration_read(&c, all[i].names, &wish, &why) != 0)
			fail_msg("%s", why.text);
		assert_string_equal(c.format, all[i].format);
		assert_true(fabs(c.baseline_m - all[i].baseline_m) < 1e-5);
	}
}

/* Reads files with random changes. Each gives an error sentence, or numbers in range. */
static void garbage(void **state)
{
	static const char *const seeds[] = {
		ZED ZED_STEREO,
		MIDDLEBURY("1084.45", "doffs=131.11\nbaseline=111.53\nwidth=1920\nheight=1080\n"),
		XML(XML_P("P1", "0.") XML_P("P2", "-84.") "<a><_>1</_></a>"),
		"{\"P1\": [700, 0, 640, 0, 0, 700, 360, 0, 0, 0, 1, 0],\n\"P2\":[700, 0, 640, -84, 0, "
		"700, 360, 0, 0, 0, 1, 0]}",
		"# c\n" HEAD P1 P2 Q("700", "8.3333") R "T: [-0.12, 0, 0]\n"};
	uint64_t x = 88172645463325252u;
	char text[4096];

	hd();
	for (int round = 0; round < 4000; round++) {
		const size_t bytes = fixture_garble(text, sizeof(text), seeds[round % 5], round, &x);
		const int r = sx_calibration_read(&c, fixture_write("calib", text, bytes), &wish, &why);

		if (r != 0 && r != 1 && r != -EINVAL)
			fail_msg("%d", r);
		assert_true(r == 0 || strlen(why.text) > 10);
		assert_true(r < 0 || (c.fx > 0 && c.fy > 0 && c.baseline_m >= 0 && c.baseline_m <= 10));
	}
}

/* ---- calibration file next to the images ---- */

#define KITTI                                                                             \
	"P0: 718 0 607 0 0 718 185 0 0 0 1 0\nP1: 718 0 607 -385.8 0 718 185 0 0 0 1 0\n" \
	"P2: 718 0 607 45.4 0 718 185 -0.11 0 0 1 0.0038\nP3: 718 0 607 -337 0 718 185 2.4 0 0 1 0.0049\n"

static void grey_and_colour(void **state)
{
	struct sx_settings *s;

	accepted(read_text(KITTI), "KITTI calibration", 718, 382.4 / 718);
	assert_string_equal(c.pair, "P2 and P3, the colour cameras");
	wish.images = SX_PAIR_GREY;
	accepted(read_text(KITTI), "KITTI calibration", 718, 385.8 / 718);
	assert_true(!c.other_pair && strstr(c.pair, "P0 and P1, the grey"));
	accepted(read_text(strstr(KITTI, "P2")), "KITTI calibration", 718, 382.4 / 718);
	assert_true(c.other_pair);
	/* the source lists its files, by pattern or by the content of the folder */
	fixture_text("calib", KITTI);
	s = fixture_load(fixture_text("a.conf",
				      "[source]\nkind = files\npath = seq/image_{0|1}/*.png\n[camera]\n"
				      "calibration = calib\n"),
			 NULL, "");
	assert_true(fabs(s->params.camera.baseline_m - 385.8 / 718) < 1e-9);
	s = fixture_load(fixture_text("a.conf",
				      "[source]\nkind = files\nleft = image_2/*.png\nright = image_3/*.png\n"
				      "[camera]\ncalibration = calib\n"),
			 NULL, "");
	assert_true(fabs(s->params.camera.baseline_m - 382.4 / 718) < 1e-9);
}

static void baseline_of_the_configuration(void **state)
{
	struct sx_settings *s;

	fixture_text("calib", HEAD P1 P2);
	s = fixture_load(
		fixture_text("a.conf",
			     "[source]\nkind = synthetic\n[camera]\ncalibration = calib\nbaseline_m = "
			     "0.06\n"),
		NULL, "");
	assert_true(s->params.camera.baseline_m == 0.06 && !s->calibration_baseline);
	assert_true(fabs(s->calibration_said.baseline_m - 0.12) < 1e-12);
	/* a baseline in millimetres is refused, unless another baseline overrides it */
	wish.baseline_m = 0.11;
	wish.baseline_overrides = true;
	assert_int_equal(read_text(HEAD P1 "P2: [700, 0, 640, -84000, 0, 700, 360, 0, 0, 0, 1, 0]\n"), 0);
	assert_true(c.baseline_m == 0.11 && c.file_baseline_m == 120);
	/* raw cameras positioned by T, in squares of the calibration board */
	assert_int_equal(
		read_text(HEAD
			  "image_width: 640\nimage_height: 480\nK1: [500, 0, 320, 0, 500, 240, 0, 0, 1]\n"
			  "K2: [500, 0, 320, 0, 500, 240, 0, 0, 1]\nD1: [-0.1, 0, 0, 0, 0]\nD2: [-0.1, 0, "
			  "0, 0, 0]\nR: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nT: [-4.4, 0, 0]\n"),
		0);
	assert_true(c.rectify && fabs(c.rig.baseline_m - 0.11) < 1e-12 && fabs(c.baseline_m - 0.11) < 1e-12);
	assert_true(fabs(c.file_baseline_m - 4.4) < 1e-12);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(projections),
		TEST(agreement),
		TEST(negative_focal_lengths),
		TEST(names_twice),
		TEST(cut_within_a_number),
		TEST(cut_anywhere),
		TEST(lenses),
		TEST(zed),
		TEST(zed_of_the_program),
		TEST(middlebury),
		TEST(euroc),
		TEST(orb_slam),
		TEST(vins),
		TEST(xml),
		TEST(dialects),
		TEST(files),
		TEST(binaries),
		TEST(garbage),
		TEST(grey_and_colour),
		TEST(baseline_of_the_configuration),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
