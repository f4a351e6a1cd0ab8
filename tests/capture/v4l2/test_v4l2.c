/*
 * Tests the setup of source "v4l2": its choices, its refusals and their messages, and what a failed attempt
 * leaves behind.
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
#include <sys/resource.h>

#include <cmocka.h>

#include "capture/v4l2/v4l2_probe.h"
#include "tests/capture/v4l2/v4l2_case.h"
#include "tests/check.h"

#define GREY V4L2_PIX_FMT_GREY
#define YUYV V4L2_PIX_FMT_YUYV
#define RGB3 V4L2_PIX_FMT_RGB24
#define NV12 V4L2_PIX_FMT_NV12
#define W CASE_W
#define H CASE_H
#define DEFAULT_SLOTS 3

/*
 * Checks the format chosen at this rate for cameras with these modes. `note` is the expected message about
 * it.
 */
static void check_format(const struct fake_mode *left, const struct fake_mode *right, double fps,
			 const char *format, double gives, const char *note)
{
	struct sx_source_params p = case_params();
	const struct sx_source_info *info;
	struct sx_source *s;

	fake_add(CASE_LEFT, left);
	fake_add(CASE_RIGHT, right);
	p.fps = fps;
	s = case_open(&p, DEFAULT_SLOTS);
	info = sx_source_info(s);
	assert_string_equal(info->format, format);
	assert_true(info->fps == gives);
	if (*note ? !strstr(info->note, note) : *info->note)
		fail_msg("note '%s', expected '%s'", info->note, note);
	case_close(s);
}

static void test_cheapest_format(void **state)
{
	static const struct fake_mode all[] = {{V4L2_PIX_FMT_Y12, W, H, 30},
					       {YUYV, W, H, 30},
					       {YUYV, W, H, 15},
					       {GREY, W, H, 15},
					       {GREY, W, H, 25},
					       {RGB3, W, H, 60},
					       {V4L2_PIX_FMT_SBGGR16, W, H, 90},
					       {NV12, 2 * W, H, 60},
					       {0}};
	static const struct fake_mode grey_last[] = {{YUYV, W, H, 30}, {GREY, W, H, 30}, {0}};

	check_format(all, all, 25, "GREY", 25, "");
	check_format(all, all, 15, "GREY", 15, "");
	check_format(all, all, 25.2, "GREY", 25, ""); /* close enough to 25 */
	check_format(all, all, 30, "YUYV", 30, "");
	check_format(all, all, 50, "RGB3", 60, "");
	check_format(all, all, 90, "RGB3", 60, "gives 60 fps instead of 90");
	check_format(all, all, 0, "GREY", 30, "");
	check_format(all, grey_last, 30, "YUYV", 30, "");
}

/* The cameras do not list all of their modes. */
static void test_silent_cameras(void **state)
{
	static const struct fake_mode modes[] = {{YUYV, W, H, 30}, {GREY, W, H, 30}, {0}};
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s;

	for (int how = 0; how < 4; how++) {
		case_cameras(cameras, modes);
		for (int i = 0; i < 2; i++) {
			cameras[i]->no_sizes = how == 0;
			cameras[i]->no_rates = how == 1;
			cameras[i]->no_rate_at_all = how == 2;
			cameras[i]->ranges = how == 3;
		}
		s = case_open(&p, DEFAULT_SLOTS);
		assert_string_equal(sx_source_info(s)->format, "GREY");
		assert_true(sx_source_info(s)->fps == (how == 2 ? 0 : 30));
		case_close(s);
	}
	/* a rate that no camera has counts as no answer */
	for (int how = 0; how < 4; how++) {
		static const struct v4l2_fract odd[] = {{1, UINT32_MAX}, {UINT32_MAX, 1}, {0, 30}, {30, 0}};

		case_cameras(cameras, modes);
		cameras[0]->odd = cameras[1]->odd = odd[how];
		s = case_open(&p, DEFAULT_SLOTS);
		assert_true(sx_source_info(s)->fps == 0);
		case_close(s);
	}
	case_cameras(cameras, modes);
	cameras[0]->no_sizes = true;
	p.width = W + 2;
	case_refused(&p, -EINVAL, "no 50x34 in any format");
	fake_reset();
	case_cameras(cameras, modes);
	cameras[0]->ranges = cameras[1]->ranges = true;
	p.width = W - 1;
	case_refused(&p, -EINVAL, "no 47x34 in any format");
	p.width = W - 2;
	s = case_open(&p, DEFAULT_SLOTS);
	assert_int_equal(sx_source_info(s)->width, W - 2);
	case_close(s);
}

/* The camera lists formats but no sizes, and replaces a format that it does not have by another format. */
static void test_camera_that_changes_formats(void **state)
{
	static const struct fake_mode modes[] = {{YUYV, W, H, 30}, {GREY, 2 * W, H, 30}, {0}};
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];

	case_cameras(cameras, modes);
	cameras[0]->no_sizes = true;
	p.format = SX_FORMAT_GREY;
	case_refused(&p, -EINVAL, CASE_LEFT ": no 48x34 in GREY");
	fake_reset();
}

static void test_no_format(void **state)
{
	static const struct fake_mode grey[] = {{GREY, W, H, 30}, {0}};
	static const struct fake_mode yuyv[] = {{YUYV, W, H, 30}, {0}};
	struct sx_source_params p = case_params();
	struct fake_camera *left = fake_add(CASE_LEFT, grey);

	fake_add(CASE_RIGHT, yuyv);
	case_refused(&p, -EINVAL, "no 48x34 in any format that can be used that the other camera has, too");
	p.format = SX_FORMAT_YUYV;
	case_refused(&p, -EINVAL, CASE_LEFT ": no 48x34 in YUYV (stixelctl doctor");
	p.format = SX_FORMAT_GREY;
	case_refused(&p, -EINVAL, CASE_RIGHT ": no 48x34 in GREY (stixelctl doctor");
	p.layout = SX_LAYOUT_SIDE_BY_SIDE;
	case_refused(&p, -EINVAL, CASE_LEFT ": no 96x34 in GREY");
	p.layout = SX_LAYOUT_TOP_BOTTOM;
	case_refused(&p, -EINVAL, CASE_LEFT ": no 48x68 in GREY");
	p.height = H / 2;
	case_refused(&p, -EINVAL, "48x17 is outside 32x32 to 4096x2160");
	p.height = H;
	p.layout = SX_LAYOUT_TWO;
	p.right = CASE_EXPORTER;
	fake_add(CASE_EXPORTER, grey);
	left->gives_width = 40;
	case_refused(&p, -EINVAL, CASE_LEFT ": 48x34 GREY is asked for, the camera gives 40x34 GREY");
	left->gives_width = 0;
	left->field = V4L2_FIELD_INTERLACED;
	case_refused(&p, -EINVAL, CASE_LEFT ": interlaced images (field order 4)");
	left->field = 0;
	left->mplane = true;
	left->planes = 2;
	case_refused(&p, -EINVAL, CASE_LEFT ": GREY in 2 planes; one is possible");
	fake_reset();
}

static void test_sizes(void **state)
{
	static const struct fake_mode small[] = {{GREY, W, H, 30}, {GREY, 96, 64, 30}, {0}};
	static const struct fake_mode large[] = {{GREY, 96, 64, 30}, {GREY, W, H, 30}, {0}};
	struct sx_source_params p = case_params();
	struct sx_source *s;

	p.width = p.height = 0;
	fake_add(CASE_LEFT, large);
	fake_add(CASE_RIGHT, small);
	case_refused(&p, -EINVAL, CASE_LEFT " is set to 96x64, " CASE_RIGHT " to 48x34: set source.size");
	p.layout = SX_LAYOUT_SIDE_BY_SIDE;
	p.right = NULL;
	s = case_open(&p, DEFAULT_SLOTS);
	assert_int_equal(sx_source_info(s)->width, 48);
	assert_int_equal(sx_source_info(s)->height, 64);
	assert_int_equal(sx_source_info(s)->cameras, 1);
	assert_null(sx_source_info(s)->path[1]);
	case_close(s);
	p.layout = SX_LAYOUT_TOP_BOTTOM;
	fake_add(CASE_LEFT, large)->mplane = true;
	s = case_open(&p, DEFAULT_SLOTS);
	assert_int_equal(sx_source_info(s)->width, 96);
	assert_int_equal(sx_source_info(s)->height, 32);
	case_close(s);
}

static void test_devices(void **state)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s;

	case_refused(&p, -ENODEV, CASE_LEFT ": No such file or directory");
	case_grey(cameras);
	fake_unplug(cameras[1]);
	case_refused(&p, -ENODEV, CASE_RIGHT ": ");
	fake_plug(cameras[1]);
	cameras[0]->no_capture = true;
	case_refused(&p, -ENODEV, CASE_LEFT " (Fake 0) is not a video capture device, or not at the moment");
	cameras[0]->no_capture = false;
	fake_fail(FAKE_OPEN, 1, EACCES);
	case_refused(&p, -ENODEV, CASE_LEFT ": Permission denied (is the user in group video?)");
	fake_fail(VIDIOC_QUERYCAP, 2, ENOTTY);
	case_refused(&p, -EINVAL, CASE_RIGHT ": not a V4L2 device");
	p.left = NULL;
	case_refused(&p, -EINVAL, "no device is named for the left camera");
	p.left = CASE_LEFT;
	p.right = NULL;
	case_refused(&p, -EINVAL, "no device is named for the right camera");
	p.right = CASE_RIGHT;
	cameras[0]->no_device_caps = true; /* drivers before Linux 3.4 lack them */
	s = case_open(&p, DEFAULT_SLOTS);
	assert_string_equal(sx_source_info(s)->path[0], CASE_LEFT);
	assert_string_equal(sx_source_info(s)->path[1], CASE_RIGHT);
	case_close(s);
	case_grey(cameras);
	assert_int_equal(sx_source_open(&s, &p, 0, &case_why), -EINVAL);
	assert_non_null(strstr(case_why.text, "0 pairs in use, allowed are 1 to 16"));
	assert_int_equal(sx_source_open(&s, &p, 17, &case_why), -EINVAL);
	s = case_open(&p, 16);
	case_close(s);
}

/* The notes contain everything worth a line, up to their size. */
static void test_notes(void **state)
{
	static const char tail[] = "; " CASE_LEFT " gives 30 fps instead of 60; gain 3";
	static const struct fake_mode grey[] = {{GREY, W, H, 30}, {0}};
	const struct fake_control gain = {.name = "Gain", .id = V4L2_CID_GAIN, .maximum = 9};
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	char path[300] = "/dev/";
	struct sx_source *s;

	p.fps = 60;
	p.gain = 3;
	for (int how = 0; how < 2; how++) {
		memset(path + 5, 'x', how ? sizeof(path) - 6 : 4);
		p.right = path;
		cameras[0] = fake_add(CASE_LEFT, grey);
		cameras[1] = fake_add(path, grey);
		fake_add_control(cameras[0], &gain);
		fake_add_control(cameras[1], &gain);
		cameras[1]->says = V4L2_BUF_CAP_SUPPORTS_MMAP;
		p.dmabuf_from = path;
		p.memory = SX_MEMORY_AUTO;
		cameras[1]->exporter = true;
		s = case_open(&p, DEFAULT_SLOTS);
		assert_non_null(strstr(sx_source_info(s)->note, "memory is mmap: /dev/xxxx"));
		assert_non_null(strstr(sx_source_info(s)->note, tail));
		case_close(s);
	}
}

static void test_rates(void **state)
{
	static const struct fake_mode fast[] = {{GREY, W, H, 30}, {0}};
	static const struct fake_mode slow[] = {{GREY, W, H, 25}, {0}};
	struct sx_source_params p = case_params();
	struct fake_camera *right;
	struct sx_source *s;

	fake_add(CASE_LEFT, fast);
	right = fake_add(CASE_RIGHT, slow);
	case_refused(&p, -EINVAL, CASE_LEFT " gives 30 fps, " CASE_RIGHT " gives 25: they cannot be paired");
	right->no_rate_at_all = true; /* the camera may have an external trigger */
	s = case_open(&p, DEFAULT_SLOTS);
	case_close(s);
}

/* --- buffers --- */

struct memory_case {
	uint32_t says;
	bool no_user, no_dma; /* REQBUFS fails */
	uint32_t not_queued;  /* QBUF fails */
	const char *from;     /* device that exports DMA buffers */
	enum sx_source_memory wanted;
	const char *got; /* expected kind of memory; NULL: refused */
	const char *words;
};

static void check_memory(const struct memory_case *m, bool mplane)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s;
	int last = 1;

	case_grey(cameras);
	cameras[0]->mplane = cameras[1]->mplane = mplane;
	cameras[last]->says = m->says;
	cameras[last]->refuses[V4L2_MEMORY_USERPTR] = m->no_user;
	cameras[last]->refuses[V4L2_MEMORY_DMABUF] = m->no_dma;
	cameras[last]->refuses_queued = m->not_queued;
	p.dmabuf_from = m->from;
	p.memory = m->wanted;
	if (!m->got) {
		case_refused(&p, -EINVAL, m->words);
		fake_reset();
		return;
	}
	s = case_open(&p, DEFAULT_SLOTS);
	assert_string_equal(sx_source_info(s)->memory, m->got);
	if (*m->words ? !strstr(sx_source_info(s)->note, m->words) : *sx_source_info(s)->note)
		fail_msg("note '%s', expected '%s'", sx_source_info(s)->note, m->words);
	case_close(s);
}

static void test_memory(void **state)
{
	enum {
		MMAP = V4L2_BUF_CAP_SUPPORTS_MMAP,
		USER = V4L2_BUF_CAP_SUPPORTS_USERPTR,
		DMA = V4L2_BUF_CAP_SUPPORTS_DMABUF,
		ALL = MMAP | USER | DMA
	};
	static const char no_user[] = CASE_RIGHT ": its driver does not take userptr buffers";
	static const char no_dma[] = CASE_RIGHT ": its driver does not take dmabuf buffers";
	static const struct memory_case cases[] = {
		{.says = ALL, .got = "userptr", .words = ""},
		{.says = 0, .got = "userptr", .words = ""},
		{.says = MMAP | DMA, .from = CASE_EXPORTER, .got = "dmabuf", .words = no_user},
		{.says = 0, .no_user = true, .from = CASE_EXPORTER, .got = "dmabuf", .words = no_user},
		{.says = MMAP, .from = CASE_EXPORTER, .got = "mmap", .words = no_user},
		{.says = 0,
		 .no_user = true,
		 .no_dma = true,
		 .from = CASE_EXPORTER,
		 .got = "mmap",
		 .words = no_user},
		{.says = ALL,
		 .not_queued = V4L2_MEMORY_USERPTR,
		 .from = CASE_EXPORTER,
		 .got = "dmabuf",
		 .words = "memory is dmabuf: " CASE_RIGHT ": VIDIOC_QBUF: Bad address"},
		{.says = MMAP | DMA,
		 .not_queued = V4L2_MEMORY_DMABUF,
		 .from = CASE_EXPORTER,
		 .got = "mmap",
		 .words = no_user},
		{.says = ALL, .wanted = SX_MEMORY_MMAP, .got = "mmap", .words = ""},
		{.says = ALL,
		 .wanted = SX_MEMORY_DMABUF,
		 .from = CASE_EXPORTER,
		 .got = "dmabuf",
		 .words = ""},
		{.says = MMAP | DMA, .wanted = SX_MEMORY_USERPTR, .words = no_user},
		{.says = 0, .no_user = true, .wanted = SX_MEMORY_USERPTR, .words = no_user},
		{.says = USER, .wanted = SX_MEMORY_MMAP, .words = "does not take mmap buffers"},
		{.says = MMAP, .wanted = SX_MEMORY_DMABUF, .from = CASE_EXPORTER, .words = no_dma},
		{.says = ALL,
		 .not_queued = V4L2_MEMORY_DMABUF,
		 .wanted = SX_MEMORY_DMABUF,
		 .from = CASE_EXPORTER,
		 .words = CASE_RIGHT ": VIDIOC_QBUF: Bad address"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int mplane = 0; mplane < 2; mplane++)
			check_memory(&cases[i], mplane);
}

/* The exporter of DMA buffers is missing, has too few buffers, or has another format. */
static void test_exporter(void **state)
{
	static const struct fake_mode grey[] = {{GREY, W, H, 30}, {0}};
	static const struct fake_mode yuyv[] = {{YUYV, W, H, 30}, {0}};
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2], *exporter;
	struct sx_source *s;

	cameras[0] = fake_add(CASE_LEFT, grey);
	cameras[1] = fake_add(CASE_RIGHT, grey);
	p.memory = SX_MEMORY_DMABUF;
	p.dmabuf_from = CASE_EXPORTER;
	case_refused(&p, -ENODEV, CASE_EXPORTER ": No such file");
	exporter = fake_add(CASE_EXPORTER, grey);
	case_refused(&p, -EINVAL, CASE_EXPORTER ": a buffer of 4096 bytes for DMA: Inappropriate ioctl");
	exporter->exporter = true;
	exporter->most_buffers = 11;
	case_refused(&p, -ENODEV, CASE_EXPORTER ": 12 buffers for others: No buffer space available");
	exporter->most_buffers = FAKE_BUFFERS;
	cameras[0]->least_buffers = 7; /* more than the source asks for */
	case_refused(&p, -ENODEV, CASE_EXPORTER ": a buffer of 4096 bytes for DMA: No buffer space");
	exporter->least_buffers = 13;
	s = case_open(&p, DEFAULT_SLOTS);
	assert_string_equal(sx_source_info(s)->memory, "dmabuf");
	assert_int_equal(cameras[0]->queued, 7);
	assert_int_equal(cameras[1]->queued, 6);
	case_close(s);
	cameras[0] = fake_add(CASE_LEFT, grey);
	cameras[1] = fake_add(CASE_RIGHT, grey);
	fake_add(CASE_EXPORTER, yuyv)->exporter = true;
	case_refused(&p, -EINVAL, CASE_EXPORTER ": 48x34 GREY is asked for, the camera gives 48x34 YUYV");
	p.memory = SX_MEMORY_AUTO;
	cameras[0]->says = V4L2_BUF_CAP_SUPPORTS_MMAP | V4L2_BUF_CAP_SUPPORTS_DMABUF;
	p.dmabuf_from = "/dev/fake-none";
	case_refused(&p, -ENODEV, "/dev/fake-none: No such file"); /* the source waits for it */
	fake_reset();
}

static void check_buffers(enum sx_source_memory memory, int wanted, int least, int most, int count)
{
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s;

	case_grey(cameras);
	p.memory = memory;
	p.buffers = wanted;
	for (int i = 0; i < 2; i++) {
		cameras[i]->least_buffers = (uint32_t)least;
		cameras[i]->most_buffers = (uint32_t)most;
	}
	if (!count) {
		case_refused(&p, -ENODEV, CASE_LEFT ": 1 buffers instead of 6");
		fake_reset();
		return;
	}
	s = case_open(&p, DEFAULT_SLOTS);
	assert_int_equal(cameras[0]->count, count);
	assert_int_equal(cameras[0]->queued, count);
	assert_int_equal(cameras[1]->queued, count);
	case_close(s);
}

static void test_buffer_counts(void **state)
{
	check_buffers(SX_MEMORY_USERPTR, 0, 0, 32, DEFAULT_SLOTS + 3);
	check_buffers(SX_MEMORY_MMAP, 0, 0, 32, 4);
	check_buffers(SX_MEMORY_USERPTR, 2, 0, 32, 2);
	check_buffers(SX_MEMORY_USERPTR, 1, 0, 32, 2); /* a camera cannot stream with one buffer */
	check_buffers(SX_MEMORY_MMAP, 9, 0, 32, 9);
	check_buffers(SX_MEMORY_USERPTR, 32, 0, 32, 32);
	check_buffers(SX_MEMORY_USERPTR, 0, 8, 32, 8);
	check_buffers(SX_MEMORY_USERPTR, 0, 0, 5, 5);
	check_buffers(SX_MEMORY_USERPTR, 0, 0, 1, 0);
}

static void test_times(void **state)
{
	static const struct {
		double fps, tolerance_ms, timeout_ms;
		bool unknown;
		int64_t tolerance_ns, timeout_ns;
	} cases[] = {
		{30, 0, 2000, false, CASE_PERIOD_NS / 2, 2000 * CASE_MS},
		{30, 1.5, 2000, false, 1500000, 2000 * CASE_MS},
		{30, 100, 2000, false, CASE_PERIOD_NS / 2, 2000 * CASE_MS},
		{30, 0, 80, false, CASE_PERIOD_NS / 2, 3 * CASE_PERIOD_NS},
		{20, 0, 2000, true, 25 * CASE_MS, 2000 * CASE_MS},
		{0, 0, 2000, true, 5 * CASE_MS, 2000 * CASE_MS},
		{0, 20, 2000, true, 20 * CASE_MS, 2000 * CASE_MS},
		{0, 2, 100, true, 2 * CASE_MS, 100 * CASE_MS},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sx_source_params p = case_params();
		struct fake_camera *cameras[2];
		struct sx_source *s;

		case_grey(cameras);
		cameras[0]->no_rate_at_all = cameras[1]->no_rate_at_all = cases[i].unknown;
		p.fps = cases[i].fps;
		p.tolerance_ms = cases[i].tolerance_ms;
		p.timeout_ms = cases[i].timeout_ms;
		s = case_open(&p, DEFAULT_SLOTS);
		assert_int_equal(case_inside(s)->pairing.tolerance_ns, cases[i].tolerance_ns);
		assert_int_equal(case_inside(s)->timeout_ns, cases[i].timeout_ns);
		case_close(s);
	}
}

/* --- faults --- */

/* Makes the nth call fail while the source opens. Returns false if there are fewer calls. */
static bool fault(enum sx_source_memory memory, int nth, int error)
{
	const struct fake_control gain = {.name = "Gain", .id = V4L2_CID_GAIN, .minimum = 0, .maximum = 9};
	struct sx_source_params p = case_params();
	const int before = check_descriptors();
	struct fake_camera *cameras[2];
	struct sx_source *s = NULL;
	bool failed;
	int r;

	case_grey(cameras);
	fake_add_control(cameras[0], &gain);
	fake_add_control(cameras[1], &gain);
	p.memory = memory;
	p.gain = 3;
	p.controls = "gain=3";
	p.dmabuf_from = CASE_EXPORTER;
	if (nth % 2)
		p.width = p.height = 0; /* the camera's current size */
	fake_fail(FAKE_ALL_REQUESTS, nth, error);
	case_why.text[0] = 0;
	r = sx_source_open(&s, &p, DEFAULT_SLOTS, &case_why);
	failed = fake_has_failed();
	if (r < 0 && r != -ENODEV &&
	    (r != -EINVAL || (error != EINVAL && error != ENOTTY && error != EFAULT)))
		fail_msg("call %d fails with %s: open gives %d: %s", nth, strerror(error), r, case_why.text);
	if (r < 0 && (!strstr(case_why.text, "/dev/fake-") || strlen(case_why.text) < 20))
		fail_msg("call %d fails with %s: no sentence, but '%s'", nth, strerror(error), case_why.text);
	if (r == 0)
		sx_source_close(s);
	fake_reset();
	assert_int_equal(check_descriptors(), before);
	return failed;
}

static void test_faults(void **state)
{
	static const int errors[] = {EIO, ENODEV, ENOMEM, EBUSY, EINVAL, ENOTTY, EFAULT};
	static const enum sx_source_memory memories[] = {SX_MEMORY_AUTO, SX_MEMORY_USERPTR, SX_MEMORY_DMABUF,
							 SX_MEMORY_MMAP};

	for (size_t m = 0; m < sizeof(memories) / sizeof(memories[0]); m++)
		for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++) {
			int n = 1;

			while (fault(memories[m], n, errors[e]))
				n++;
			assert_true(n > 30); /* an open makes more than 30 calls */
		}
}

/* Runs out of descriptors at each place that needs one. MJPG needs most. */
static void test_no_descriptors(void **state)
{
#ifdef SX_HAVE_JPEG
	static const struct fake_mode modes[] = {{V4L2_PIX_FMT_MJPEG, W, H, 30}, {0}};
#else
	static const struct fake_mode modes[] = {{GREY, W, H, 30}, {0}};
#endif
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s = NULL;
	struct rlimit before, few;
	int r = -1, refused = 0;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	case_cameras(cameras, modes);
	few = before;
	for (few.rlim_cur = 3; r < 0 && few.rlim_cur < before.rlim_cur && few.rlim_cur < 200;
	     few.rlim_cur++) {
		const int open = check_descriptors();

		case_why.text[0] = 0;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		r = sx_source_open(&s, &p, DEFAULT_SLOTS, &case_why);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		if (r == 0)
			break;
		if (r != -ENODEV || !case_why.text[0])
			fail_msg("%d descriptors: %d, '%s'", (int)few.rlim_cur, r, case_why.text);
		assert_int_equal(check_descriptors(), open);
		refused++;
	}
	assert_int_equal(r, 0);
	assert_true(refused >= 5); /* two devices, and three descriptors to wait on */
	sx_source_close(s);
	fake_reset();
}

/* The first format fails and the second is refused. This is not reported as a wrong setting. */
static void test_failing_format(void **state)
{
	static const struct fake_mode modes[] = {{GREY, W, H, 30}, {YUYV, W, H, 30}, {0}};
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];
	struct sx_source *s;

	case_cameras(cameras, modes);
	fake_fail(VIDIOC_S_FMT, 1, EIO);
	s = case_open(&p, DEFAULT_SLOTS);
	assert_string_equal(sx_source_info(s)->format, "YUYV");
	case_close(s);
	case_cameras(cameras, modes);
	cameras[0]->gives_width = 40;
	fake_fail(VIDIOC_S_FMT, 1, EIO);
	case_refused(&p, -ENODEV, CASE_LEFT ": 48x34 YUYV is asked for, the camera gives 40x34 YUYV");
	fake_reset();
}

/* The source chooses JPEG only if it can decode JPEG. */
static void test_jpeg_or_not(void **state)
{
	static const struct fake_mode modes[] = {{YUYV, W, H, 30}, {V4L2_PIX_FMT_MJPEG, W, H, 60}, {0}};

#ifdef SX_HAVE_JPEG
	check_format(modes, modes, 60, "MJPG", 60, "");
#else
	struct sx_source_params p = case_params();
	struct fake_camera *cameras[2];

	check_format(modes, modes, 60, "YUYV", 30, "gives 30 fps instead of 60");
	case_cameras(cameras, modes);
	p.format = SX_FORMAT_MJPG;
	case_refused(&p, -EINVAL, "JPEG cannot be read: built without libjpeg");
	fake_reset();
#endif
}

/* --- queries of doctor --- */

static void test_probe(void **state)
{
	static const struct fake_mode modes[] = {{YUYV, W, H, 30},   {YUYV, W, H, 60},
						 {YUYV, 96, 64, 15}, {V4L2_PIX_FMT_SBGGR16, W, H, 90},
						 {GREY, W, H, 0},    {0}};
	struct sx_v4l2_mode got[8];
	char name[64];
	struct fake_camera *c = fake_add(CASE_LEFT, modes);

	assert_int_equal(sx_v4l2_probe(CASE_LEFT, got, 8, name, sizeof(name), &case_why), 4);
	assert_string_equal(name, "Fake 0");
	assert_string_equal(got[0].format, "GREY");
	assert_true(got[0].fps == 0);
	assert_string_equal(got[1].format, "YUYV");
	assert_true(got[1].fps == 60 && got[1].width == W && got[1].width_max == W);
	assert_int_equal(got[3].width, 96);
	assert_int_equal(sx_v4l2_probe(CASE_LEFT, got, 2, name, sizeof(name), &case_why), 2);
	c->ranges = true;
	assert_int_equal(sx_v4l2_probe(CASE_LEFT, got, 8, name, sizeof(name), &case_why), 2);
	assert_int_equal(got[0].width, 32);
	assert_int_equal(got[0].width_max, W);
	assert_int_equal(got[0].height_max, H);
	c->no_sizes = true;
	assert_int_equal(sx_v4l2_probe(CASE_LEFT, got, 8, name, sizeof(name), &case_why), 0);
	c->no_capture = true;
	assert_int_equal(sx_v4l2_probe(CASE_LEFT, got, 8, name, sizeof(name), &case_why), -ENODEV);
	assert_int_equal(sx_v4l2_probe("/dev/none", got, 8, name, sizeof(name), &case_why), -ENOENT);
	assert_string_equal(case_why.text, "/dev/none: No such file or directory");
	fake_reset();
}

/* A device that fails during the queries must not count as a device with fewer modes. */
static void test_probe_faults(void **state)
{
	static const struct fake_mode modes[] = {{YUYV, W, H, 30}, {GREY, W, H, 0}, {0}};
	struct sx_v4l2_mode got[8];
	const int before = check_descriptors();
	char name[64];
	bool failed = true;

	for (int n = 1; failed; n++) {
		int r;

		fake_add(CASE_LEFT, modes);
		fake_fail(FAKE_ALL_REQUESTS, n, EIO);
		case_why.text[0] = 0;
		r = sx_v4l2_probe(CASE_LEFT, got, 8, name, sizeof(name), &case_why);
		failed = fake_has_failed();
		assert_int_equal(r, failed ? -EIO : 2);
		if (failed && !strstr(case_why.text, CASE_LEFT ": "))
			fail_msg("call %d: '%s'", n, case_why.text);
		fake_reset();
		assert_int_equal(check_descriptors(), before);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cheapest_format),
		cmocka_unit_test(test_silent_cameras),
		cmocka_unit_test(test_camera_that_changes_formats),
		cmocka_unit_test(test_no_format),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_exporter),
		cmocka_unit_test(test_buffer_counts),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_no_descriptors),
		cmocka_unit_test(test_failing_format),
		cmocka_unit_test(test_jpeg_or_not),
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_probe_faults),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
