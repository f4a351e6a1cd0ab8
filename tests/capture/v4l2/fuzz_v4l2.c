/*
 * Fuzz target: cameras whose drivers do anything that the kernel permits. The input contains the cameras, the
 * settings, and then steps: pictures with any timestamp, flag, size and number, failing calls, cameras that
 * go and come, passing time, and pairs that are taken and released.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "capture/v4l2/v4l2_priv.h"
#include "tests/capture/v4l2/fuzz_decoders.h"
#include "tests/fuzz/fails_call.h"
#include "tests/kit/fake_v4l2.h"

const unsigned fails_kinds = 1u << FAILS_MEMORY | 1u << FAILS_SYSTEM | 1u << FAILS_PEER | 1u << FAILS_CALLER;

enum { WIDTH = 48, HEIGHT = 34, SLOTS = 3, LENT_MOST = SX_V4L2_PAIRS_MAX, STEPS_MOST = 120, LIVES = 3 };

static struct play {
	struct fake_camera *cameras[2];
	struct sx_source_params params;
	struct sx_source *source;
	struct sx_pair lent[LENT_MOST];
	int lent_count, slots;
	bool honest; /* false: the driver named a buffer that it did not have, or failed */
	bool lost;
} play;

static __thread bool ours; /* true: the input sets the clock of this thread */
static int64_t now_ns;

int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	if (!ours)
		return __real_clock_gettime(id, t);
	*t = (struct timespec){now_ns / SX_NS_PER_S, now_ns % SX_NS_PER_S};
	return 0;
}

FAILS_CALL(int, timerfd_settime, (int fd, int flags, const struct itimerspec *t, struct itimerspec *was),
	   (fd, flags, t, was))

static void add_controls(struct fuzz_input *in, struct fake_camera *c)
{
	static const struct {
		const char *name;
		uint32_t id, type;
	} known[] = {
		{"Exposure Auto", V4L2_CID_EXPOSURE_AUTO, V4L2_CTRL_TYPE_MENU},
		{"Exposure Time, Absolute", V4L2_CID_EXPOSURE_ABSOLUTE, V4L2_CTRL_TYPE_INTEGER},
		{"Exposure", V4L2_CID_EXPOSURE, V4L2_CTRL_TYPE_INTEGER},
		{"Gain", V4L2_CID_GAIN, V4L2_CTRL_TYPE_INTEGER},
		{"Gain, Automatic", V4L2_CID_AUTOGAIN, V4L2_CTRL_TYPE_BOOLEAN},
		{"Focus, Absolute", V4L2_CID_FOCUS_ABSOLUTE, V4L2_CTRL_TYPE_INTEGER64},
	};
	const unsigned which = (unsigned)fuzz_number(in, 1);

	for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct fake_control k = {.name = known[i].name, .id = known[i].id, .type = known[i].type};

		if (!(which >> i & 1))
			continue;
		k.maximum = 10;
		if (which >> 7) {
			k.flags = (uint32_t)fuzz_number(in, 2);
			k.minimum = (int32_t)fuzz_number(in, 4);
			k.maximum = (int32_t)fuzz_number(in, 4);
			k.value = (int32_t)fuzz_number(in, 4);
			k.most_taken = (int8_t)fuzz_number(in, 1);
		}
		fake_add_control(c, &k);
	}
}

static struct fake_camera *add_camera(struct fuzz_input *in, const char *path)
{
	const unsigned bits = (unsigned)fuzz_number(in, 2), odd = (unsigned)fuzz_number(in, 1);
	struct fake_mode modes[3] = {{0}};
	struct fake_camera *c;

	for (unsigned i = 0; i < 1 + (bits & 1); i++)
		modes[i] = (struct fake_mode){sx_v4l2_formats[fuzz_choice(in, SX_V4L2_FORMATS)].fourcc,
					      bits & 2 ? 2 * WIDTH : WIDTH, HEIGHT, bits & 4 ? 0 : 30};
	c = fake_add(path, modes);
	c->mplane = bits & 8;
	c->no_device_caps = bits & 16;
	c->no_sizes = bits & 32;
	c->no_rates = bits & 64;
	c->no_rate_at_all = bits & 128;
	c->ranges = bits & 256;
	c->data_offset = c->mplane && bits & 512 ? 64 : 0;
	c->wider_by = bits & 1024 ? 16 : 0;
	c->says = bits & 2048 ? 0 : c->says;
	for (int memory = 1; memory < 5; memory++)
		c->refuses[memory] = bits >> (11 + memory) & 1;
	if (odd & 1) /* rare among cameras */
		c->refuses_queued = fuzz_choice(in, 5);
	if (odd & 2)
		c->least_buffers = fuzz_choice(in, FAKE_BUFFERS + 1);
	if (odd & 4)
		c->most_buffers = fuzz_choice(in, FAKE_BUFFERS + 1);
	if (odd & 8)
		c->field = fuzz_choice(in, 10);
	if (odd & 16)
		c->planes = fuzz_choice(in, 4);
	if (odd & 32)
		c->gives_width = (int)fuzz_number(in, 1);
	if (odd & 64)
		c->stamps = (uint32_t)fuzz_number(in, 4);
	if (odd & 128)
		c->no_capture = fuzz_choice(in, 2);
	add_controls(in, c);
	return c;
}

static void make_params(struct fuzz_input *in, struct sx_source_params *p)
{
	static const char *const controls[] = {NULL, "focus_absolute=3", "gain=2, focus_absolute=1", "none=1",
					       "gain"};
	const unsigned bits = (unsigned)fuzz_number(in, 2);

	*p = (struct sx_source_params){
		.kind = SX_SOURCE_V4L2,
		.layout =
			bits & 1 ? SX_LAYOUT_TWO : (enum sx_layout)fuzz_choice(in, SX_LAYOUT_RIGHT_FIRST + 1),
		.left = "/dev/fake-left",
		.right = "/dev/fake-right",
		.dmabuf_from = bits & 2 ? "/dev/fake-exporter" : NULL,
		.width = bits & 4 ? 0 : WIDTH,
		.height = bits & 4 ? 0 : HEIGHT,
		.fps = bits & 8 ? 0 : 30,
		.format = bits & 16 ? (enum sx_source_format)fuzz_choice(in, SX_FORMAT_SBGGR12 + 1)
				    : SX_FORMAT_AUTO,
		.memory = (enum sx_source_memory)(bits >> 5 & 3),
		.buffers = bits & 128 ? fuzz_choice(in, FAKE_BUFFERS + 1) : 0,
		.tolerance_ms = bits & 256 ? fuzz_choice(in, 33) : 0,
		.timeout_ms = 1000,
		.exposure_ms = bits & 512 ? (int)fuzz_choice(in, 20) : SX_CONTROL_KEEP,
		.gain = bits & 1024 ? (int)fuzz_choice(in, 20) : SX_CONTROL_KEEP,
		.controls = controls[(bits >> 11) % 5],
		.decoders = bits >> 15,
	};
	if (p->layout != SX_LAYOUT_TWO)
		p->right = NULL;
}

/* Sets parameters that no source can have, for an input that ends with FAILS_CALLER. */
static void ask_wrongly(struct sx_source_params *p, unsigned bits)
{
	static char long_list[600];

	memset(long_list, 'a', sizeof(long_list) - 1);
	if (bits & 1)
		p->left = NULL;
	if (bits & 2)
		p->right = p->left;
	if (bits & 4)
		p->right = NULL;
	if (bits & 8)
		p->controls = long_list;
	if (bits & 16)
		p->controls =
			"gain=1, focus_absolute=1, exposure=1, exposure_time_absolute=1, gain_automatic=0, "
			"exposure_auto=1, gain=2, gain=3, gain=4, gain=5, gain=6, gain=7, gain=8, gain=9";
	if (bits & 32)
		p->fps = 29.97;
	if (bits & 64)
		play.slots = bits & 1 ? 0 : SX_V4L2_PAIRS_MAX + 1;
	if (bits & 128 && play.cameras[1])
		play.cameras[1]->modes[0].fps = play.cameras[1]->fps = 15;
}

/* Makes a call fail before the first camera is open, or sets wrong parameters. */
static void begin_badly(void)
{
	unsigned which;
	int error;

	play.slots = SLOTS;
	if (fails_is(FAILS_CALLER, &which, NULL))
		ask_wrongly(&play.params, which);
	if (fails_is(FAILS_PEER, &which, &error))
		fake_fail(FAKE_ALL_REQUESTS, 1 + (int)which, error);
	play.honest = !fails_is(FAILS_PEER, &which, NULL) && !fails_is(FAILS_MEMORY, &which, NULL) &&
		      !fails_is(FAILS_SYSTEM, &which, NULL);
}

/* ---- invariants ---- */

static int on_way(const struct sx_v4l2 *v, int side)
{
	return v->pairing.side[side].count + v->decoding_count;
}

/* Checks that each captured image is delivered, dropped for a reason, or on its way. */
static void check_counters(void)
{
	const struct sx_v4l2 *v = play.source->own;
	struct sx_source_counters c;

	sx_source_counters(play.source, &c);
	for (int side = 0; side < v->count; side++) {
		uint64_t gone = play.source->number + (play.lost ? 0 : (uint64_t)on_way(v, side));

		for (int i = 0; i < SX_DROP_COUNT; i++)
			gone += c.dropped[side][i];
		if (c.captured[side] != gone)
			fuzz_fail("side %d: %llu captured, and %llu given, dropped and on their way", side,
				  (unsigned long long)c.captured[side], (unsigned long long)gone);
	}
	if (c.unpaired != c.dropped[0][SX_DROP_UNPAIRED] + c.dropped[1][SX_DROP_UNPAIRED])
		fuzz_fail("%llu unpaired", (unsigned long long)c.unpaired);
}

static bool overlap(const struct sx_image *a, const struct sx_image *b)
{
	const uint8_t *one = a->data, *other = b->data;
	const uint8_t *one_end = (const uint8_t *)sx_image_row(a, a->height - 1) + 1;
	const uint8_t *other_end = (const uint8_t *)sx_image_row(b, b->height - 1) + 1;

	return one < other_end && other < one_end;
}

static bool in_blocks(const struct sx_image *img)
{
	const uint8_t *first = img->data, *last = sx_image_row(img, img->height - 1);
	struct sx_block b;

	last += (size_t)img->width * sx_pixel_bytes(img->pixel);
	for (int i = 0; sx_source_block(play.source, i, &b); i++)
		if (first >= (uint8_t *)b.memory && last <= (uint8_t *)b.memory + b.bytes)
			return true;
	return false;
}

/* Checks that a pair is complete and shares no memory with another pair. */
static void check_pair(const struct sx_pair *pair)
{
	const struct sx_image *const images[] = {&pair->left, &pair->right};

	for (int side = 0; side < 2; side++) {
		const struct sx_image *img = images[side];

		if (img->width != play.source->info.width || img->height != play.source->info.height)
			fuzz_fail("a pair of %dx%d", img->width, img->height);
		if (!in_blocks(img))
			fuzz_fail("an image lies in no block of the source");
		for (int y = 0; y < img->height; y++)
			fuzz_touch(sx_image_row(img, y), (size_t)img->width * sx_pixel_bytes(img->pixel));
		for (int i = 0; play.honest && i < play.lent_count; i++)
			if (overlap(img, side ? &play.lent[i].right : &play.lent[i].left))
				fuzz_fail("pairs %llu and %llu have one buffer",
					  (unsigned long long)play.lent[i].number,
					  (unsigned long long)pair->number);
	}
}

/* Checks that, with no pair lent, each buffer is with the driver unless its image is on its way. */
static void check_given_back(void)
{
	const struct sx_v4l2 *v = play.source->own;

	if (play.lost || !play.honest)
		return;
	for (int side = 0; side < v->count; side++) {
		const struct fake_camera *c = play.cameras[side];
		int kept = 0;

		for (uint32_t i = 0; i < c->count; i++)
			kept += c->buffers[i].state == FAKE_OURS;
		if (kept > on_way(v, side))
			fuzz_fail("side %d: %d buffers are kept, %d images are on their way", side, kept,
				  on_way(v, side));
	}
}

/* ---- steps ---- */

static void fill(struct fuzz_input *in, int side, unsigned how)
{
	struct fake_camera *c = play.cameras[side];
	struct fake_frame f = {.pattern = (int)how, .ns = now_ns};
	bool has_one = false;

	if (!c || !c->streaming || c->gone)
		return;
	for (uint32_t i = 0; i < c->count; i++)
		has_one |= c->buffers[i].state == FAKE_OURS;
	if (how & 1)
		f.ns += (int16_t)fuzz_number(in, 2) * INT64_C(100000);
	if (how & 2) {
		const unsigned more = (unsigned)fuzz_number(in, 1);

		f.lost = more & 1 ? (uint32_t)fuzz_number(in, 4) : 0;
		f.error = more & 2;
		f.missing = more & 4 ? (uint32_t)fuzz_number(in, 4) : 0;
		f.huge = more & 8;
		f.padded_count = more & 16;
		f.other_index = more & 32 ? 1 : more & 64 && has_one ? 2 : 0;
		f.ns = more & 128 ? (int64_t)(fuzz_number(in, 8) >> 1) : f.ns;
	}
	if (c->format.fmt.pix.pixelformat == V4L2_PIX_FMT_MJPEG) {
		f.bytes = (size_t)fuzz_number(in, 2) % (WIDTH * HEIGHT);
		f.bytes = f.bytes < in->left ? f.bytes : in->left;
		f.data = in->at;
		in->at += f.bytes;
		in->left -= f.bytes;
	}
	play.honest &= !f.other_index;
	fake_fill(c, &f);
}

static void release(int which)
{
	sx_source_release(play.source, &play.lent[which]);
	play.lent[which] = play.lent[--play.lent_count];
}

static void next(void)
{
	struct sx_why why = {""};
	struct sx_pair pair = {.number = 0};
	int r;

	if (play.lost)
		return;
	r = sx_source_next(play.source, &pair, &why);
	if (r == 1) {
		check_pair(&pair);
		if (play.lent_count == LENT_MOST)
			fuzz_fail("more pairs than there are");
		play.lent[play.lent_count++] = pair;
	} else if (r < 0) {
		play.lost = r == -ENODEV;
		if ((r != -ENODEV && r != -EBADMSG) || !why.text[0])
			fuzz_fail("%d of a camera: '%s'", r, why.text);
	}
	check_counters();
}

static void fail_some_call(struct fuzz_input *in)
{
	static const unsigned long requests[] = {VIDIOC_DQBUF,	     VIDIOC_QBUF,	 VIDIOC_DQEVENT,
						 VIDIOC_S_EXT_CTRLS, VIDIOC_G_EXT_CTRLS, VIDIOC_STREAMON,
						 VIDIOC_REQBUFS,     VIDIOC_QUERYBUF,	 FAKE_MMAP,
						 FAKE_OPEN,	     FAKE_ALL_REQUESTS};
	static const int errors[] = {EIO,    ENODEV, EAGAIN, EINVAL, EBUSY,
				     ENOMEM, EPIPE,  ENOTTY, EACCES, ERANGE};

	play.honest = false;
	fake_fail(requests[fuzz_choice(in, sizeof(requests) / sizeof(requests[0]))],
		  1 + (int)fuzz_choice(in, 40), errors[fuzz_choice(in, sizeof(errors) / sizeof(errors[0]))]);
}

static void change_controls(struct fuzz_input *in)
{
	struct sx_source_params p = play.params;
	struct sx_why why = {""};
	const unsigned bits = (unsigned)fuzz_number(in, 1);

	if (play.lost)
		return;
	p.exposure_ms = bits & 1 ? SX_CONTROL_KEEP : (int)(bits >> 4);
	p.gain = bits & 2 ? SX_CONTROL_KEEP : (int)(bits >> 4);
	p.controls = bits & 4 ? "focus_absolute=4" : NULL;
	if (sx_source_change_controls(play.source, &p, &why) < 0 && !why.text[0])
		fuzz_fail("controls are refused without a sentence");
}

static void step(struct fuzz_input *in)
{
	const unsigned what = (unsigned)fuzz_number(in, 1), more = what >> 4;

	switch (what % 16) {
	case 0:
	case 1:
		fill(in, (int)(what & 1), more);
		break;
	case 2:
	case 3:
	case 4:
		fill(in, 0, more);
		fill(in, 1, more);
		next();
		break;
	case 5:
		fuzz_decode(INT_MAX);
		next();
		break;
	case 6:
		next();
		break;
	case 7:
		fuzz_decode((int)more + 1);
		next();
		break;
	case 8:
	case 9:
		if (play.lent_count)
			release((int)more % play.lent_count);
		break;
	case 10:
		now_ns += more * INT64_C(33000000);
		break;
	case 11:
		fail_some_call(in);
		break;
	case 12:
		change_controls(in);
		break;
	case 13:
		if (play.cameras[more & 1] && more > 9)
			fake_unplug(play.cameras[more & 1]);
		else if (play.cameras[more & 1] && more > 7)
			fake_break(play.cameras[more & 1]);
		break;
	case 14:
		if (play.cameras[more & 1] && more > 12)
			fake_change_source(play.cameras[more & 1]);
		break;
	default:
		now_ns += SX_NS_PER_S / 30;
	}
}

/* Runs from open to close, or until a camera is lost. Returns false if the source did not open. */
static bool live(struct fuzz_input *in)
{
	struct sx_why why = {""};
	int r, lowest = dup(STDERR_FILENO), after;

	close(lowest);
	play.lost = false;
	r = sx_source_open(&play.source, &play.params, play.slots, &why);
	if (r < 0 && !why.text[0])
		fuzz_fail("%d of open, and no sentence", r);
	if (r == 0 && sx_source_fd(play.source) < 0)
		fuzz_fail("a source without a descriptor");
	for (int i = 0; r == 0 && i < STEPS_MOST && in->left && !play.lost; i++)
		step(in);
	while (r == 0 && play.lent_count)
		release(0);
	if (r == 0) {
		fuzz_decode(INT_MAX);
		next();
		while (play.lent_count)
			release(0);
		if (!play.lost) { /* takes buffers back, and may deliver one more pair */
			next();
			if (!play.lent_count)
				check_given_back();
		}
		while (play.lent_count)
			release(0);
		sx_source_close(play.source);
	}
	after = dup(STDERR_FILENO);
	close(after);
	if (after != lowest)
		fuzz_fail("a descriptor is left");
	return r == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const struct fake_mode grey[] = {{V4L2_PIX_FMT_GREY, WIDTH, HEIGHT, 30}, {0}};
	struct fuzz_input in = fails_input(data, bytes);

	memset(&play, 0, sizeof(play));
	now_ns = 1000 * SX_NS_PER_S;
	ours = true;
	make_params(&in, &play.params);
	play.cameras[0] = add_camera(&in, "/dev/fake-left");
	play.cameras[1] = add_camera(&in, "/dev/fake-right");
	fake_add("/dev/fake-exporter", grey)->exporter = true;
	if (play.params.layout != SX_LAYOUT_TWO)
		play.cameras[1] = NULL;
	begin_badly();
	fails_begin();
	for (int i = 0; i < LIVES && live(&in) && in.left; i++)
		for (int side = 0; side < 2; side++)
			if (play.cameras[side])
				fake_plug(play.cameras[side]);
	fails_end();
	ours = false;
	fake_reset();
	return 0;
}
