/*
 * Tests configuration files: order, overrides, and all errors of all files at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/config/fixture.h"

#define SOURCE "[source]\nkind = synthetic\n"
#define CAMERA "[camera]\nfx = 500\nfy = 500\nbaseline_m = 0.3\n"

static const char *const *words(const char *a, const char *b)
{
	static const char *list[3];

	list[0] = a;
	list[1] = a ? b : NULL;
	return list;
}

static void a_source_must_be_named(void **state)
{
	struct sx_settings *s;
	struct sx_settings fresh;
	struct sx_errors e = {0};

	fixture_load(NULL, NULL, "[source] kind: not given, allowed v4l2, files, synthetic, shared\n");
	s = fixture_load(NULL, words("source.kind=synthetic", NULL), "");
	assert_int_equal(s->source.kind, SX_SOURCE_SYNTHETIC);
	assert_int_equal(s->params.stereo.p2, 0);
	assert_null(s->source.path);
	assert_int_equal(sx_settings_load(&fresh, NULL, NULL, 0, false, &e),
			 0); /* stixel-process has its own images */
	sx_settings_finish(&fresh);
	sx_settings_finish(&fresh);
}

/* A template is for users without a configuration. It checks each value alone, not the whole. */
static void a_template_is_not_whole(void **state)
{
	static const char *const cameras[] = {"source.kind=v4l2", "stereo.p1=200", "stereo.p2=100"};
	static const char *const wrong[] = {"stereo.p1=900", "stereo.p3=1"};
	struct sx_settings fresh;
	struct sx_errors e = {0};

	assert_int_equal(sx_settings_template(&fresh, NULL, NULL, 0, &e), 0);
	assert_false(fresh.source_given);
	sx_settings_finish(&fresh);
	assert_int_equal(sx_settings_template(&fresh, NULL, cameras, 3, &e), 0);
	assert_true(fresh.source_given);
	assert_int_equal(fresh.source.kind, SX_SOURCE_V4L2);
	assert_int_equal(fresh.params.stereo.p1, 200);
	sx_settings_finish(&fresh);
	assert_int_equal(e.count, 0);
	assert_int_equal(sx_settings_template(&fresh, NULL, wrong, 2, &e), -EINVAL);
	assert_int_equal(e.count, 2);
	assert_string_equal(e.text[0], "-s stereo.p1=900: [stereo] p1: found '900', allowed 0..255");
	sx_errors_finish(&e);
}

static void later_files_win(void **state)
{
	struct sx_settings *s;

	fixture_text("cam.conf", SOURCE "[stereo]\np1 = 1\np2 = 100\n[stixels]\nwidth = 7\n");
	fixture_text("cam.conf.d/b.conf", "[stereo]\np1 = 3\nuniqueness = 90\n");
	fixture_text("cam.conf.d/a.conf", "[stereo]\np1 = 2\nuniqueness = 80\n");
	/* read before a.conf, because names are sorted by their bytes */
	fixture_text("cam.conf.d/Z.conf", "[stereo]\nuniqueness = 70\n[stixels]\nwidth = 9\n");
	fixture_text("cam.conf.d/c.conf~", "[nonsense]\n");
	fixture_text("cam.conf.d/.hidden.conf", "[nonsense]\n");
	fixture_text("cam.conf.d/.conf", "[nonsense]\n");
	s = fixture_load(fixture_path("cam.conf"), NULL, "");
	assert_int_equal(s->params.stereo.p1, 3);
	assert_int_equal(s->params.stereo.p2, 100);
	assert_int_equal(s->params.stereo.uniqueness, 90);
	assert_int_equal(s->params.stixels.width, 9);
	s = fixture_load(fixture_path("cam.conf"), words("stereo.p1=4", "stereo.p1 = 5"),
			 ""); /* a later override may repeat a key */
	assert_int_equal(s->params.stereo.p1, 5);
	assert_int_equal(s->params.stixels.width, 9);
}

static void forms_of_a_line(void **state)
{
	struct sx_settings *s = fixture_load(
		fixture_text("a.conf", "\xef\xbb\xbf# first\r\n"
				       "; second\r\n"
				       "   [source]   ; where\r\n"
				       "\tkind=synthetic\r\n"
				       "  scene   =   a b=c;d#e   ; said\r\n"
				       "\n"
				       "[stereo]\n"
				       "p1 = 9\n"
				       "[source]\n"
				       "   left = /dev/v4l/by-path/pci-0000:00:14.0-usb-0:1:1.0\n"
				       "[stereo]#x\n"
				       "p2=99"),
		NULL, "");

	assert_string_equal(s->source.scene, "a b=c;d#e");
	assert_string_equal(s->source.left, "/dev/v4l/by-path/pci-0000:00:14.0-usb-0:1:1.0");
	assert_int_equal(s->params.stereo.p1, 9);
	assert_int_equal(s->params.stereo.p2, 99);
	s = fixture_load(fixture_text("b.conf", SOURCE "scene =\n"), NULL, "");
	assert_null(s->source.scene); /* an empty value means none */
}

/*
 * Keys of [model] also have earlier names. Both names set one value. The last one wins, except within one
 * file.
 */
static void names_of_before(void **state)
{
	struct sx_settings *s = fixture_load(
		fixture_text("a.conf", SOURCE "[stixels]\np_order = 0.3\n[filters]\nspeckle_range = 2\n"),
		words("stereo.out_of_view=max", "model.sky_grey=9"), "");

	assert_true(s->params.stixels.p_order == 0.3);
	assert_int_equal(s->params.filters.speckle_range, 2);
	assert_int_equal(s->params.stereo.out_of_view, SX_OUT_OF_VIEW_MAX);
	assert_int_equal(s->params.stixels.sky_grey, 9);
	fixture_text("a.conf.d/b.conf", "[model]\np_order = 0.4\n");
	fixture_text("a.conf.d/c.conf", "[stixels]\np_order = 0.5\n");
	s = fixture_load(fixture_path("a.conf"), NULL, "");
	assert_true(s->params.stixels.p_order == 0.5);
	s = fixture_load(fixture_path("a.conf"), words("model.p_order=0.6", NULL), "");
	assert_true(s->params.stixels.p_order == 0.6);
	fixture_load(fixture_text("d.conf",
				  SOURCE "[stixels]\np_order = 0.3\n[model]\np_order = 0.4\nwidth = 3\n"
					 "[stixels]\np_ordr = 3\n[road]\np_order = 2\n"),
		     NULL,
		     "DIR/d.conf:6: [model] p_order: found '0.4', but it is already set at DIR/d.conf:4\n"
		     "DIR/d.conf:7: [model] width: unknown key, it belongs to [stixels]\n"
		     "DIR/d.conf:9: [stixels] p_ordr: unknown key, did you mean p_order in [model]?\n"
		     "DIR/d.conf:11: [road] p_order: unknown key, it belongs to [model]\n");
}

static void every_error_at_once(void **state)
{
	static const char text[] = "p1 = 3\n"
				   "[sterio]\n"
				   "p1 = 3\n"
				   "[zzzzzzzzzz]\n"
				   "[stereo]\n"
				   "p1 = 900\n"
				   "p1 = 9\n"
				   "cost = cenuss\n"
				   "uniqness = 4\n"
				   "width = 5\n"
				   "blergh = 1\n"
				   "paths = four\n"
				   "nonsense\n"
				   "key: value\n"
				   "= 5\n"
				   "[stereo\n"
				   "disparities = 64\n"
				   "[stixels] width = 5\n"
				   "[camera]\n"
				   "baseline_m = 12 cm\n"
				   "height_m = 1,65\n"
				   "cx = 3 # px\n"
				   "[source]\n"
				   "size = 1280\n"
				   "kind = synthetik\n"
				   "[log]\n"
				   "levels = loud\n";
	const char *file = fixture_text("a.conf", text);

	fixture_text("a.conf.d/1.conf", "[filters]\nmedian = perhaps\n");
	fixture_load(
		file, words("stereo.p2=256", "median=no"),
		"DIR/a.conf:1: p1: a key before the first [SECTION]\n"
		"DIR/a.conf:2: unknown section [sterio], did you mean [stereo]?\n"
		"DIR/a.conf:4: unknown section [zzzzzzzzzz]\n"
		"DIR/a.conf:6: [stereo] p1: found '900', allowed 0..255\n"
		"DIR/a.conf:7: [stereo] p1: found '9', but it is already set at DIR/a.conf:6\n"
		"DIR/a.conf:8: [stereo] cost: found 'cenuss' (did you mean 'census'?), allowed csct, census, "
		"census48, census63, zncc\n"
		"DIR/a.conf:9: [stereo] uniqness: unknown key, did you mean uniqueness?\n"
		"DIR/a.conf:10: [stereo] width: unknown key, it belongs to [stixels]\n"
		"DIR/a.conf:11: [stereo] blergh: unknown key\n"
		"DIR/a.conf:12: [stereo] paths: found 'four' (not a number), allowed 2..8, a power of two\n"
		"DIR/a.conf:13: found 'nonsense', expected KEY = VALUE or [SECTION]\n"
		"DIR/a.conf:14: found 'key: value', expected KEY = VALUE or [SECTION]\n"
		"DIR/a.conf:15: found '= 5', expected KEY = VALUE or [SECTION]\n"
		"DIR/a.conf:16: found '[stereo', the ']' of a section is missing\n"
		"DIR/a.conf:18: found 'width = 5' after a section's name\n"
		"DIR/a.conf:20: [camera] baseline_m: found '12 cm' (unit 'cm' instead of 'm'), allowed 0..10 "
		"m\n"
		"DIR/a.conf:21: [camera] height_m: found '1,65' (unit ',65' instead of 'm'), allowed "
		"0.01..100 m\n"
		"DIR/a.conf:22: [camera] cx: found '3 # px' (write a comment on a separate line, or begin it with "
		"' ;'), allowed -10000..10000 px\n"
		"DIR/a.conf:24: [source] size: found '1280' (not a size), allowed auto, or WIDTHxHEIGHT from "
		"32x32 to 4096x2160 px\n"
		"DIR/a.conf:25: [source] kind: found 'synthetik' (did you mean 'synthetic'?), allowed v4l2, "
		"files, synthetic, shared\n"
		"DIR/a.conf.d/1.conf:2: [filters] median: found 'perhaps', allowed yes or no\n"
		"-s stereo.p2=256: [stereo] p2: found '256', allowed 0..255\n"
		"-s median=no: expected SECTION.KEY=VALUE, did you mean filters.median?\n"
		"DIR/a.conf:27: [log] levels: 'loud' is not a log level: error, warning, notice, info, "
		"debug, or TOPIC=LEVEL with topic base, capture, config, daemon, tools\n");
}

static void overrides_that_are_none(void **state)
{
	fixture_load(NULL, words("", "source.kind"),
		     "-s : expected SECTION.KEY=VALUE\n"
		     "-s source.kind: expected SECTION.KEY=VALUE\n"
		     "[source] kind: not given, allowed v4l2, files, synthetic, shared\n");
	fixture_load(NULL, words(".kind=1", "source.=1"),
		     "-s .kind=1: expected SECTION.KEY=VALUE\n"
		     "-s source.=1: [source] : unknown key\n"
		     "[source] kind: not given, allowed v4l2, files, synthetic, shared\n");
	fixture_load(NULL, words("foo.bar=1", "log.levels=\x1b[2J"),
		     "-s foo.bar=1: unknown section [foo]\n"
		     "-s log.levels=?[2J: [log] levels: found '?[2J' (control character), allowed text\n"
		     "[source] kind: not given, allowed v4l2, files, synthetic, shared\n");
	fixture_load(NULL, words("source.kind=synthetic", "source.controls=\302\23331mx=1"),
		     "-s source.controls=?31mx=1: [source] controls: found '?31mx=1' (control character), "
		     "allowed text\n");
	fixture_load(NULL, words("source.kind=synthetic", "source.fault=\u202ey"),
		     "-s source.fault=?y: [source] fault: found '?y' (a character that is not seen), "
		     "allowed text\n");
}

static void what_only_the_whole_can_tell(void **state)
{
	fixture_load(fixture_text("a.conf", SOURCE "[stereo]\np1 = 200\np2 = 100\n"), NULL,
		     "DIR/a.conf:4, DIR/a.conf:5: stereo.p1 = 200 and stereo.p2 = 100: p1 must be at least 1 "
		     "and at most p2\n");
	fixture_load(
		fixture_text("a.conf", SOURCE "[stixels]\np_invalid_sky = 0.3\n[stereo]\np2=250"), NULL,
		"DIR/a.conf:6: stereo.p1 = 12 and stereo.p2 = 250: with the largest matching cost 31 their "
		"sum must not exceed 255\n");
	/*
	 * In a sentence, a key without a section has the section of the key before it. A key that is not set
	 * has no place in the sentence.
	 */
	fixture_load(
		fixture_text("a.conf", SOURCE CAMERA "height_m = 5\n[road]\nmax_height_m = 3\ntop = 9\n"),
		words("road.min_height_m=0.5", NULL),
		"DIR/a.conf:7, -s road.min_height_m=0.5, DIR/a.conf:9: camera.height_m = 5 is "
		"outside of road.min_height_m .. max_height_m, 0.5..3\n");
	fixture_load(fixture_text("a.conf", SOURCE CAMERA "height_m = 5\n"),
		     words("road.max_height_m=3", NULL),
		     "DIR/a.conf:7, -s road.max_height_m=3: camera.height_m = 5 is outside of "
		     "road.min_height_m .. max_height_m, 1.51515..3\n");
}

#define DEVICES "[source]\nleft = /dev/a\nright = /dev/b\nkind = v4l2\n"

static void a_camera_is_never_made_up(void **state)
{
	fixture_load(fixture_text("a.conf", DEVICES "[camera]\nfx = 700\ncx = 3\n"), NULL,
		     "DIR/a.conf:4: [source] kind: v4l2 needs the camera: give calibration in [camera], or "
		     "fy, cy, baseline_m (fx, fy and baseline_m all 0: no camera model)\n");
	fixture_load(fixture_text("a.conf", DEVICES "[camera]\ncalibration =\n"), NULL,
		     "DIR/a.conf:4: [source] kind: v4l2 needs the camera: give calibration in [camera], or "
		     "fx, fy, cx, cy, baseline_m (fx, fy and baseline_m all 0: no camera model)\n");
	fixture_load(fixture_text("a.conf", DEVICES "[camera]\nfx = 0\nfy = 0\nbaseline_m = 0\n"), NULL, "");
	fixture_load(fixture_text("a.conf", DEVICES "[camera]\nfx = 700\nfy = 700\ncx = 1\ncy = 1\n"
						    "baseline_m = 0.1 m\n"),
		     NULL, "");
}

static void sources_need_places(void **state)
{
	static const char *const no_camera = "[camera]\nfx = 0\nfy = 0\nbaseline_m = 0\n";
	char text[400];

	snprintf(text, sizeof(text), "[source]\nkind = v4l2\n%s", no_camera);
	fixture_load(fixture_text("a.conf", text), NULL,
		     "DIR/a.conf:2: [source] kind: v4l2 needs the device in left\n"
		     "DIR/a.conf:2: [source] kind: v4l2 with two cameras needs the device in right\n");
	snprintf(text, sizeof(text), "[source]\nkind = v4l2\nleft = /dev/a\nright = /dev/a\n%s", no_camera);
	fixture_load(fixture_text("a.conf", text), NULL,
		     "DIR/a.conf:4: [source] right: found '/dev/a', which is left as well\n");
	fixture_load(fixture_text("a.conf", text), words("source.layout=top-bottom", NULL),
		     "DIR/a.conf:4: [source] right: found '/dev/a', but one camera takes both images in this "
		     "layout\n");
	fixture_load(fixture_text("a.conf", text), words("source.layout=top-bottom", "source.right="), "");
	snprintf(text, sizeof(text), "[source]\nkind = v4l2\nleft = /dev/a\nformat = Y12I\n%s", no_camera);
	fixture_load(fixture_text("a.conf", text), words("source.layout=right-first", NULL), "");
	fixture_load(
		fixture_text("a.conf", text), words("source.layout=side-by-side", NULL),
		"DIR/a.conf:4: [source] format: Y8I and Y12I, and no others, go with layout interleaved or "
		"right-first\n");
	fixture_load(fixture_text("a.conf", text), words("source.layout=interleaved", "source.format=GREY"),
		     "-s source.format=GREY: [source] format: Y8I and Y12I, and no others, go with layout "
		     "interleaved or right-first\n");
	fixture_load(NULL, words("source.kind=files", NULL),
		     "-s source.kind=files: [source] kind: files needs either path, or left and right\n");
	fixture_load(NULL, words("source.kind=files", "source.left=a*.png"),
		     "-s source.kind=files: [source] kind: files needs either path, or left and right\n");
	fixture_load(NULL, words("source.kind=files", "source.path=a"), "");
	fixture_load(
		fixture_text("a.conf", "[source]\nkind = files\npath = a\n"),
		words("source.fault=rows:2", NULL),
		"-s source.fault=rows:2: [source] fault: found 'rows:2', but faults are planted into the "
		"synthetic source only\n");
}

static void cameras_have_settings(void **state)
{
	static const char *const begin = "[camera]\nfx = 0\nfy = 0\nbaseline_m = 0\n" DEVICES;
	const struct sx_source_params *s;
	char text[700];

	s = &fixture_load(fixture_text("a.conf", begin), NULL, "")->source;
	assert_int_equal(s->format, SX_FORMAT_AUTO);
	assert_int_equal(s->memory, SX_MEMORY_AUTO);
	assert_int_equal(s->buffers, 0);
	assert_int_equal(s->decoders, 0);
	assert_true(s->tolerance_ms == 0 && s->timeout_ms == 2000);
	assert_true(s->exposure_ms == SX_CONTROL_KEEP && s->gain == SX_CONTROL_KEEP);
	assert_null(s->dmabuf_from);
	assert_null(s->controls);
	snprintf(text, sizeof(text),
		 "%sformat = MJPG\nmemory = dmabuf\ndmabuf_from = /dev/c\nbuffers = 8\ndecoders = 3\n"
		 "tolerance_ms = 2.5 ms\ntimeout_ms = 500\nexposure_ms = 0\ngain = 12\n"
		 "controls = power_line_frequency=1, sharpness = 0\n",
		 begin);
	s = &fixture_load(fixture_text("a.conf", text), NULL, "")->source;
	assert_int_equal(s->format, SX_FORMAT_MJPG);
	assert_int_equal(s->memory, SX_MEMORY_DMABUF);
	assert_string_equal(s->dmabuf_from, "/dev/c");
	assert_int_equal(s->buffers, 8);
	assert_int_equal(s->decoders, 3);
	assert_true(s->tolerance_ms == 2.5 && s->timeout_ms == 500);
	assert_true(s->exposure_ms == 0 && s->gain == 12);
	assert_string_equal(s->controls, "power_line_frequency=1, sharpness = 0");
	/* a value between "keep" and "automatic" is refused */
	snprintf(text, sizeof(text), "%sexposure_ms = -0.5\ngain = -0.1\n", begin);
	fixture_load(fixture_text("a.conf", text), NULL,
		     "DIR/a.conf:9: [source] exposure_ms: found -0.5, allowed -1 (unchanged), 0 or more\n"
		     "DIR/a.conf:10: [source] gain: found -0.1, allowed -1 (unchanged), 0 or more\n");
	snprintf(text, sizeof(text),
		 "%sformat = MJPEG\nmemory = cuda\nbuffers = 33\ntimeout_ms = 99\nexposure_ms = -2\n"
		 "decoders = 9\ntolerance_ms = -1\n",
		 begin);
	fixture_load(fixture_text("a.conf", text), NULL,
		     "DIR/a.conf:9: [source] format: found 'MJPEG' (did you mean 'MJPG'?), allowed auto, "
		     "GREY, Y10, Y12, Y16, YUYV, UYVY, NV12, RGB3, MJPG, Y8I, Y12I, SRGGB8, SGRBG8, SGBRG8, "
		     "SBGGR8, SRGGB10, SGRBG10, SGBRG10, SBGGR10, SRGGB10P, SGRBG10P, SGBRG10P, SBGGR10P, "
		     "SRGGB12, SGRBG12, SGBRG12, SBGGR12\n"
		     "DIR/a.conf:10: [source] memory: found 'cuda', allowed auto, userptr, dmabuf, mmap\n"
		     "DIR/a.conf:11: [source] buffers: found '33', allowed 0..32\n"
		     "DIR/a.conf:12: [source] timeout_ms: found '99', allowed 100..60000 ms\n"
		     "DIR/a.conf:13: [source] exposure_ms: found '-2', allowed -1..10000 ms\n"
		     "DIR/a.conf:14: [source] decoders: found '9', allowed 0..8\n"
		     "DIR/a.conf:15: [source] tolerance_ms: found '-1', allowed 0..1000 ms\n");
}

#ifdef SX_INIH_RUNTIME_LIMITS /* otherwise the library has its own limit */
static void lines_have_a_limit(void **state)
{
	char text[4096];
	size_t n = 0;

	n += (size_t)snprintf(text, sizeof(text), SOURCE "path = ");
	memset(text + n, 'x', 500);
	snprintf(text + n + 500, 8, "\n");
	assert_int_equal(strlen(fixture_load(fixture_text("a.conf", text), NULL, "")->source.path), 500);
	memset(text + n, 'x', 600); /* longer than the limit of a value */
	snprintf(text + n + 600, 8, "\n");
	fixture_load(fixture_text("a.conf", text), NULL,
		     "DIR/a.conf:3: [source] path: found "
		     "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		     "xxxxxxxxxxxxx...' (longer than 511 bytes), allowed text\n");
	memset(text + n, 'x', 3000); /* longer than the limit of a line; the following lines are still read */
	snprintf(text + n + 3000, 64, "\nfsp = 3\n");
	fixture_load(fixture_text("a.conf", text), NULL,
		     "DIR/a.conf:3: the line has 3007 bytes, at most 1022 are allowed\n"
		     "DIR/a.conf:4: [source] fsp: unknown key, did you mean fps?\n");
	memset(text, '#', 3000); /* a comment may be long */
	snprintf(text + 3000, 64, "\n" SOURCE);
	fixture_load(fixture_text("a.conf", text), NULL, "");
}
#endif

static void bytes_that_are_no_text(void **state)
{
	static const char bytes[] = SOURCE "path = a\0b\nleft = \xff\xfe\nright = \x01\n# \xff\nfps = 3x\n";

	fixture_load(
		fixture_write("a.conf", bytes, sizeof(bytes) - 1), NULL,
		"DIR/a.conf:3: control character 0x00 in column 9\n"
		"DIR/a.conf:4: the line is not UTF-8\n"
		"DIR/a.conf:5: control character 0x01 in column 9\n"
		"DIR/a.conf:6: the line is not UTF-8\n"
		"DIR/a.conf:7: [source] fps: found '3x' (unit 'x' instead of 'fps'), allowed 0..1000 fps\n");
}

static void more_errors_than_are_kept(void **state)
{
	struct sx_errors e = {0};
	struct sx_settings s;
	char text[2048] = "[source]\n", line[64];

	for (int i = 0; i < 100; i++)
		memcpy(text + 9 + 9 * i, "nonsense\n", 10);
	assert_int_equal(sx_settings_load(&s, fixture_text("a.conf", text), NULL, 0, true, &e), -EINVAL);
	assert_int_equal(e.count, SX_CONFIG_ERRORS);
	assert_int_equal(e.more, 100 + 1 - SX_CONFIG_ERRORS);
	snprintf(line, sizeof(line), "a.conf:%d: found", SX_CONFIG_ERRORS + 1);
	assert_non_null(strstr(e.text[SX_CONFIG_ERRORS - 1], line));
	sx_errors_finish(&e);
	assert_int_equal(e.count, 0);
}

static int load_code(const char *file, char *sentence, size_t bytes)
{
	struct sx_errors e = {0};
	struct sx_settings s;
	int r = sx_settings_load(&s, file, NULL, 0, false, &e);

	snprintf(sentence, bytes, "%s", e.count ? e.text[0] : "");
	sx_errors_finish(&e);
	if (!r)
		sx_settings_finish(&s);
	return r;
}

static void files_that_cannot_be_read(void **state)
{
	char said[600], big[300 * 1024], long_path[600];
	size_t n;

	assert_int_equal(load_code(fixture_path("none.conf"), said, sizeof(said)), -ENOENT);
	assert_non_null(strstr(said, "none.conf: No such file or directory"));
	assert_int_equal(mkdir(fixture_path("dir.conf"), 0700), 0);
	assert_int_equal(load_code(fixture_path("dir.conf"), said, sizeof(said)), -EISDIR);
	assert_non_null(strstr(said, "dir.conf: Is a directory"));
	assert_int_equal(mkfifo(fixture_path("fifo.conf"), 0700), 0);
	assert_int_equal(load_code(fixture_path("fifo.conf"), said, sizeof(said)),
			 -EINVAL); /* the loader must not hang */
	assert_non_null(strstr(said, "fifo.conf: not a regular file"));
	memset(big, '\n', sizeof(big));
	assert_int_equal(load_code(fixture_write("big.conf", big, sizeof(big)), said, sizeof(said)), -EFBIG);
	assert_non_null(strstr(said, "big.conf: longer than 262144 bytes"));
	assert_int_equal(load_code(fixture_write("empty.conf", "", 0), said, sizeof(said)), 0);

	/* a drop-in that cannot be read is an error */
	fixture_text("a.conf", SOURCE);
	fixture_text("a.conf.d/1.conf", "");
	assert_int_equal(symlink("/nowhere/at/all", fixture_path("a.conf.d/2.conf")), 0);
	assert_int_equal(load_code(fixture_path("a.conf"), said, sizeof(said)), -ENOENT);
	assert_non_null(strstr(said, "a.conf.d/2.conf: No such file"));
	fixture_text("b.conf", SOURCE);
	fixture_text("b.conf.d", "not a folder");
	assert_int_equal(load_code(fixture_path("b.conf"), said, sizeof(said)), -ENOTDIR);

	/* a folder of drop-ins whose name is too long is an error, too */
	n = (size_t)snprintf(long_path, sizeof(long_path), "%s", fixture_path(""));
	while (n < 506)
		n += (size_t)snprintf(long_path + n, sizeof(long_path) - n, "./");
	snprintf(long_path + n, sizeof(long_path) - n, "a.conf");
	assert_int_equal(load_code(long_path, said, sizeof(said)), -ENAMETOOLONG);
	assert_non_null(strstr(said, "...: the file's name is too long, allowed are 509 bytes"));
}

/* Loads files with random changes. Each gives error sentences, or settings. */
static void garbage(void **state)
{
	static const char seed[] = "[source]\n"
				   "kind = synthetic\n"
				   "fps = 30 fps\n"
				   "size = 640x480\n"
				   "[stereo]\n"
				   "p1 = 7 ; x\n"
				   "[camera]\n"
				   "fx = 7.5e2\n"
				   "baseline_m = 0.1 m\n"
				   "[log]\n"
				   "levels = info capture=debug\n"
				   "# the end, with room\n";
	uint64_t x = 88172645463325252u;
	char text[sizeof(seed)], said[100];
	int accepted = 0, refused = 0;

	for (int round = 0; round < 3000; round++) {
		memcpy(text, seed, sizeof(seed));
		for (int changes = round % 4; changes >= 0; changes--) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			text[x % (sizeof(seed) - 1)] =
				x >> 60 ? "\n[]=;#: .-9x\0\"\xc3"[(x >> 32) % 15] : (char)(x >> 40);
		}
		switch (load_code(fixture_write("a.conf", text, sizeof(seed) - 1 - round % 7), said,
				  sizeof(said))) {
		case 0:
			assert_string_equal(said, "");
			accepted++;
			break;
		case -EINVAL:
			assert_true(strlen(said) > 0);
			refused++;
			break;
		default:
			fail();
		}
	}
	if (accepted < 30 || refused < 1000)
		fail_msg("%d accepted, %d refused", accepted, refused);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_source_must_be_named),	 TEST(later_files_win),
		TEST(a_template_is_not_whole),	 TEST(forms_of_a_line),
		TEST(names_of_before),		 TEST(every_error_at_once),
		TEST(overrides_that_are_none),	 TEST(what_only_the_whole_can_tell),
		TEST(a_camera_is_never_made_up),
#ifdef SX_INIH_RUNTIME_LIMITS
		TEST(lines_have_a_limit),
#endif
		TEST(sources_need_places),	 TEST(cameras_have_settings),
		TEST(bytes_that_are_no_text),	 TEST(more_errors_than_are_kept),
		TEST(files_that_cannot_be_read), TEST(garbage),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
