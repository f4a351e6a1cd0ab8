/*
 * Tests the configuration of rectification: keys of [camera] beside a calibration file of raw cameras.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>

#include "base/why.h"
#include "tests/config/fixture.h"

static struct sx_why why;

static struct sx_settings *configure(const char *source, const char *camera, const char *sentences)
{
	char text[2048];

	snprintf(text, sizeof(text), "[source]\nkind = synthetic\n%s[camera]\n%s", source, camera);
	return fixture_load(fixture_text("a.conf", text), NULL, sentences);
}

static void in_a_configuration(void **state)
{
	struct sx_settings *s =
		configure("", "calibration = " SX_DATA "/opencv.yml\nrectify_size = 640x400\n", "");
	FILE *f;

	assert_true(s->rectify && s->rectification.choice == SX_RECTIFY_AUTO);
	assert_true(s->rig.raw_width == 752 && s->rig.width == 640 && s->rig.height == 400);
	assert_true(s->params.camera.fx == s->rig.fx && s->params.camera.cy == s->rig.cy);
	assert_true(s->params.camera.baseline_m == s->rig.baseline_m && s->calibration_baseline);
	assert_true(s->calibration_width == 752 && s->calibration_height == 480);
	/* the source's images have the raw size */
	assert_int_equal(sx_settings_check_size(s, 752, 480, &why), 0);
	assert_int_equal(sx_settings_check_size(s, 640, 400, &why), -EINVAL);
	assert_non_null(strstr(why.text, "images are 640x400, but calibration "));
	assert_true(sx_settings_tell_rectified(s, &(struct sx_source_info){0}, why.text, sizeof(why.text)));
	assert_string_equal(
		why.text,
		"images of 752x480 are rectified to 640x400 (fx 360.674 px, baseline 0.1101 m), as they "
		"are raw by " SX_DATA "/opencv.yml");
	/* computation uses the rectified size */
	s->rig.width = 16;
	assert_int_equal(sx_settings_check_size(s, 752, 480, &why), -EINVAL);
	s->rig.width = 640;
	/* printing and loading gives the same settings */
	f = fopen(fixture_path("printed.conf"), "w");
	assert_non_null(f);
	sx_config_print(s, NULL, false, f);
	fclose(f);
	{
		const struct sx_rig rig = s->rig;

		s = fixture_load(fixture_path("printed.conf"), NULL, "");
		assert_true(s->rectify);
		assert_memory_equal(&s->rig, &rig, sizeof(rig));
	}

	s = configure("",
		      "calibration = " SX_DATA "/ros_left.yaml, " SX_DATA "/ros_right.yaml\nrectify = no\n",
		      "");
	assert_false(s->rectify);
	assert_false(sx_settings_tell_rectified(s, &(struct sx_source_info){0}, why.text, sizeof(why.text)));
	assert_true(fabs(s->params.camera.fx - 439.699530741) < 1e-6);
	s = configure("size = 752x480\n",
		      "calibration = " SX_DATA "/intrinsics.yml, " SX_DATA "/extrinsics.yml\nrectify = yes\n",
		      "");
	assert_true(s->rectify && s->rig.raw_width == 752 && s->calibration_width == 752);
	assert_true(sx_settings_tell_rectified(s, &(struct sx_source_info){0}, why.text, sizeof(why.text)));
	assert_non_null(strstr(why.text, "are rectified to 752x480 "));

	s = configure("lenses = wide\nsize = 960x360\n", "rectify_size = 640x240\n", "");
	assert_true(s->source.width == 960 && s->source.rectified_width == 640);
	assert_int_equal(s->source.rectified_height, 240);
}

/* The file's name stays, but its cameras change. */
static void a_rig_that_changes(void **state)
{
	const struct sx_settings *s = configure("", "calibration = " SX_DATA "/opencv.yml\n", "");
	const struct sx_source_info info = {.width = 752, .height = 480};
	struct sx_settings other = *s, now;
	struct sx_settings_diff diff;

	sx_settings_diff(s, &other, &diff);
	assert_int_equal(diff.changed, 0);
	other.rig.raw[1].distortion[2] += 1e-6;
	sx_settings_diff(s, &other, &diff);
	assert_int_equal(diff.changed, 1);
	assert_string_equal(diff.live_keys, "camera.calibration");
	assert_false(sx_settings_same_camera(s, &other, &info));
	other.rig = s->rig;
	assert_true(sx_settings_same_camera(s, &other, &info));
	other.rectify = false;
	sx_settings_diff(s, &other, &diff);
	assert_true(diff.changed == 1 && diff.restart == 0);
	assert_false(sx_settings_same_camera(s, &other, &info));
	/* the rig cannot change without rectification */
	now = other;
	other.rig.fx += 1;
	assert_true(sx_settings_same_camera(&now, &other, &info));
}

static struct sx_settings *change(const struct sx_settings *s, struct sx_origins *origins,
				  const char *const *changes, const char *sentence)
{
	static struct sx_settings ret;
	struct sx_errors errors = {0};
	int count = 0, r;

	sx_settings_finish(&ret);
	while (changes[count])
		count++;
	r = sx_settings_set(&ret, origins, s, changes, count, &errors);
	if (*sentence) {
		assert_true(r == -EINVAL && errors.count == 1);
		assert_non_null(strstr(errors.text[0], sentence));
	} else {
		assert_int_equal(r, 0);
	}
	sx_errors_finish(&errors);
	return &ret;
}

#define SET(...)                  \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

static struct sx_settings running(struct sx_origins *origins, const char *file)
{
	struct sx_errors errors = {0};
	struct sx_settings s = {0};

	memset(origins, 0, sizeof(*origins));
	assert_int_equal(sx_settings_load_origins(&s, origins, file, NULL, 0, true, &errors), 0);
	return s;
}

/* A calibration file replaces fx .. baseline_m if it is named later, ... */
static void named_later(void **state)
{
	static struct sx_origins origins;
	const struct sx_option *fx = sx_option_find("camera", "fx");
	struct sx_settings s, *t;

	fixture_text("a.conf", "[source]\nkind = v4l2\nleft = /dev/video0\nright = /dev/video1\n"
			       "[camera]\nfx = 0\nfy = 0\nbaseline_m = 0\n");
	s = running(&origins, fixture_path("a.conf"));
	/* ... in a drop-in */
	fixture_text("a.conf.d/90-live.conf", "[camera]\ncalibration = " SX_DATA "/opencv.yml\n");
	t = fixture_load(fixture_path("a.conf"), NULL, "");
	assert_true(t->rectify && t->params.camera.fx == t->rig.fx && t->rig.fx > 0);
	/* the reverse order raises a question */
	fixture_text("a.conf.d/91.conf", "[camera]\nfx = 3\n");
	fixture_load(
		fixture_path("a.conf"), NULL,
		"DIR/a.conf.d/91.conf:2: [camera] fx: is also in the calibration file " SX_DATA
		"/opencv.yml (DIR/a.conf.d/90-live.conf:2); which one is meant? An empty 'calibration =' "
		"turns the file off\n");

	/* ... and in running settings */
	change(&s, &origins, SET("camera.calibration=/nowhere", "camera.height_m=1"),
	       "/nowhere does not exist, though / does");
	change(&s, &origins, SET("camera.calibration=" SX_DATA "/opencv.yml", "camera.fx=9"),
	       "fx: is also in the calibration file");
	assert_non_null(strstr(sx_origin_text(&origins, fx), "/a.conf:6"));
	t = change(&s, &origins, SET("camera.calibration=" SX_DATA "/opencv.yml", "camera.rectify=auto"), "");
	assert_true(t->rectify && t->params.camera.fx == t->rig.fx && t->calibration_width == 752);
	assert_string_equal(sx_origin_text(&origins, fx), "default");
	sx_settings_finish(&s);
	assert_int_equal(sx_settings_copy(&s, t), 0);
	change(&s, &origins, SET("camera.calibration="),
	       "v4l2 needs the camera: give calibration in [camera], or fx, fy, cx, cy, baseline_m ");
	t = change(&s, &origins,
		   SET("camera.calibration=", "camera.fx=0", "camera.fy=0", "camera.baseline_m=0"), "");
	assert_true(!t->rectify && t->params.camera.fx == 0 && t->rig.width == 0 &&
		    t->calibration_width == 0);
	assert_true(t->params.camera.cx == 609.5); /* the default, instead of the file's value */
	sx_settings_finish(&s);
	sx_settings_finish(t);
}

/* A change of settings reads the file again for keys that depend on it, and for no others. */
static void read_again(void **state)
{
	static struct sx_origins origins;
	struct sx_settings s, *t;

	fixture_text("calib", "fx: 700\nfy: 700\ncx: 640\ncy: 360\nbaseline_m: 0.5\n");
	s = running(&origins,
		    fixture_text("b.conf", "[source]\nkind = synthetic\n[camera]\ncalibration = calib\n"));
	fixture_text("calib", "fx: 800\nfy: 800\ncx: 640\ncy: 360\nbaseline_m: 0.5\n");
	t = change(&s, &origins, SET("camera.height_m=2", "stereo.p1=9"), "");
	assert_true(t->params.camera.fx == 700 && t->params.camera.height_m == 2);
	t = change(&s, &origins, SET("camera.rectify=no"), "");
	assert_true(t->params.camera.fx == 800);
	sx_settings_finish(t);
	sx_settings_finish(&s);
}

static void contradictions(void **state)
{
	configure("lenses = plain\n", "rectify = yes\n", "");
	configure(
		"", "rectify = yes\n",
		"DIR/a.conf:4: [camera] rectify: found 'yes', but there is no calibration file to say how\n");
	configure("", "rectify = maybe\n",
		  "DIR/a.conf:4: [camera] rectify: found 'maybe', allowed auto, yes, no\n");
	configure("", "rectify_alpha = -0.5\n",
		  "DIR/a.conf:4: [camera] rectify_alpha: found -0.5, allowed -1 (scale of the raw images), "
		  "0..1\n");
	configure("", "rectify_alpha = 1.5\n",
		  "DIR/a.conf:4: [camera] rectify_alpha: found '1.5', allowed -1..1\n");
	configure("", "rectify_size = 640\n",
		  "DIR/a.conf:4: [camera] rectify_size: found '640' (not a size), allowed auto, or "
		  "WIDTHxHEIGHT from 32x32 to 4096x2160 px\n");
	fixture_text("p.yml", "%YAML:1.0\n---\nP1: [700, 0, 320, 0, 0, 700, 240, 0, 0, 0, 1, 0]\n"
			      "P2: [700, 0, 320, -84, 0, 700, 240, 0, 0, 0, 1, 0]\n");
	configure("", "calibration = p.yml\nrectify_size = 640x480\n",
		  "DIR/a.conf:5: [camera] rectify_size: found '640x480', but images are not rectified here: "
		  "the calibration file does not say that they are raw, or rectify = no\n");
	/* no second sentence about a camera that the file does not have */
	fixture_text("p.yml", "%YAML:1.0\n---\nP1: [700]\n");
	configure(
		"size = 320x240\n", "calibration = p.yml\n",
		"DIR/a.conf:5: [camera] calibration: DIR/p.yml: line 3: 'P1' is not a matrix of 3 x 4 numbers\n");
	configure("", "rectify_size = 640x480\n",
		  "DIR/a.conf:4: [camera] rectify_size: found '640x480', but images are not rectified here: "
		  "there is no calibration file, or rectify = no\n");
	configure("lenses = wide\n", "rectify = no\nrectify_size = 640x480\n",
		  "DIR/a.conf:6: [camera] rectify_size: found '640x480', but images are not rectified here: "
		  "there is no calibration file, or rectify = no\n");
	/* a single error gives a single sentence */
	configure(
		"", "calibration = none.yaml\nrectify_size = 640x480\n",
		"DIR/a.conf:4: [camera] calibration: DIR/none.yaml does not exist, though DIR does: correct "
		"the path, or make or mount what is missing\n");
	configure("size = 640x480\n", "calibration = " SX_DATA "/opencv.yml\n",
		  "DIR/a.conf:3: [source] size: images are 640x480, but calibration " SX_DATA
		  "/opencv.yml was made for 752x480\n");
	configure("", "calibration = " SX_DATA "/opencv.yml\nfx = 450\n",
		  "DIR/a.conf:5: [camera] fx: is also in the calibration file " SX_DATA
		  "/opencv.yml (DIR/a.conf:4); which one is meant? An empty 'calibration =' turns the file "
		  "off\n");
}

#define RAW                                                                                              \
	"%YAML:1.0\n---\nimage_width: 640\nimage_height: 480\nK1: [500, 0, 320, 0, 500, 240, 0, 0, 1]\n" \
	"K2: [500, 0, 320, 0, 500, 240, 0, 0, 1]\nD1: [0, 0, 0, 0, 0]\nD2: [0, 0, 0, 0, 0]\n"            \
	"R1: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nR2: [1, 0, 0, 0, 1, 0, 0, 0, 1]\n"

/*
 * Neither projection has an offset. The baseline may be configured beside the file, and the rig gets it, too.
 */
static void baseline_beside_the_file(void **state)
{
	const char *text = RAW "P1: [510, 0, 320, 0, 0, 510, 240, 0, 0, 0, 1, 0]\n"
			       "P2: [510, 0, 320, 0, 0, 510, 240, 0, 0, 0, 1, 0]\n";
	struct sx_settings *s;

	fixture_text("calib", text);
	s = configure("", "calibration = calib\nbaseline_m = 0.25\n", "");
	assert_true(s->rectify && s->rig.baseline_m == 0.25 && s->params.camera.baseline_m == 0.25);
	assert_false(s->calibration_baseline);
	configure("", "calibration = calib\n",
		  "DIR/a.conf:4: [camera] calibration: DIR/calib: OpenCV YAML: P1 and P2 have no baseline "
		  "between them ([0][3] are equal); or give baseline_m in [camera]\n");
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(in_a_configuration), TEST(a_rig_that_changes), TEST(named_later),
		TEST(read_again),	  TEST(contradictions),	    TEST(baseline_beside_the_file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
