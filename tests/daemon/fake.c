/*
 * A source and an engine that the test controls, instead of capture/ and cpu/. stixeld-fake is the daemon
 * linked with them. Environment variables set their behaviour. Of several instances in a process, one has the
 * values of FAKE_..._NAME, with its own name:
 *	FAKE_INTERVAL_US	time between pairs, us (0: as fast as they are taken)
 *	FAKE_DARK_US		replaces FAKE_INTERVAL_US until the file FAKE_BRIGHT exists, us
 *	FAKE_TIMES		factor by which time passes faster (fast_clock.c)
 *	FAKE_LATE_US		delay of a pair after its capture, us
 *	FAKE_SKEW_US		time between left and right capture, us (default 1)
 *	FAKE_GATE		a file: no pair comes before it exists
 *	FAKE_PAIRS		number of pairs after which the source ends
 *	FAKE_LOSE_AT		the camera is lost once, instead of this pair
 *	FAKE_ABSENT		number of attempts to open that fail: no camera
 *	FAKE_WIDTH_AFTER	width after the loss, px
 *	FAKE_SILENT_AT		no pair comes from this pair on
 *	FAKE_STUCK		when the engine has the frame that fails, calls of the source no longer return
 *	FAKE_CORRUPT_EVERY	every n-th pair is unreadable
 *	FAKE_READ_EARLY		the engine has read the images as soon as it has the pair
 *	FAKE_COMPUTE_US		time of a frame, us. FAKE_JITTER_US is added for every second frame, so that
 *				frames finish out of order
 *	FAKE_NEARLY_US		a caller that asks from this time before FAKE_COMPUTE_US until this time after
 *				it learns at once that a frame is done, us. The descriptor reports the frame
 *				FAKE_TELL_LATE_US later
 *	FAKE_FAIL_AT		the engine fails at this frame
 *	FAKE_BREAK_AT		the engine reports more measured pixels for this frame than it has
 *	FAKE_HANG_AT		this frame never finishes
 *	FAKE_CONTEXTS_MOST	number of contexts that fit into memory at once
 *	FAKE_BUILD_US		time to create a context, us
 *	FAKE_MEASURE_EVERY	the road is measured in every n-th frame; the others use the previous road
 *
 * The label of stixels is the first byte of the pair's scores, if it has scores, or the first disparity of its
 * map, px.
 *
 * The source aborts if the daemon breaks its contract: a pair released twice or during its computation, or more
 * pairs than slots. The engine aborts as tests/kit/fake_engine.h describes, and if two contexts are created at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "capture/source.h"
#include "capture/v4l2/watch.h"
#include "cpu/engine/engine.h"
#include "tests/kit/fake_engine.h"

#define WIDTH 64
#define HEIGHT 48
#define SLOTS_MAX 8

#define INSTANCES 16

/* Returns the environment variable for the instance of the calling thread. */
static const char *fake_text(const char *name)
{
	const struct sx_log_part *part = sx_log_part();
	char own[128];

	snprintf(own, sizeof(own), "%s_%s", name, part ? part->name : "");
	return part && getenv(own) ? getenv(own) : getenv(name);
}

static long fake_setting(const char *name)
{
	const char *text = fake_text(name);

	return text ? strtol(text, NULL, 10) : 0;
}

static int arm(int fd, long first_us, long every_us)
{
	const struct itimerspec t = {
		.it_value = {first_us / 1000000, first_us % 1000000 * 1000},
		.it_interval = {every_us / 1000000, every_us % 1000000 * 1000},
	};

	return timerfd_settime(fd, 0, &t, NULL);
}

/* ---- the source ---- */

struct slot {
	_Alignas(4096) unsigned char pixels[2 * WIDTH * 4 * HEIGHT];
	atomic_bool used, computing;
};

struct sx_source {
	struct sx_source_info info;
	struct slot slots[SLOTS_MAX];
	int slot_count, fd;
	bool dark;
	uint64_t number;
	_Atomic uint64_t captured, corrupt;
};

/* Each instance of a process has one. */
struct fake {
	_Atomic(const struct sx_log_part *)
		part;		   /* NULL: the entry is free, or the process has one instance */
	long opens, losses, asked; /* thread: main, then capture */
	struct sx_source *source;  /* the open source; set before its blocks are pinned */
	struct sx_device *device;  /* the open device; set before the blocks of the source are pinned */
	atomic_bool failing;	   /* true while the engine computes the frame that fails */
};

/* Returns the entry of the instance that the calling thread belongs to. */
static struct fake *fake(void)
{
	static struct fake alone, list[INSTANCES];
	const struct sx_log_part *part = sx_log_part();

	for (int i = 0; part && i < INSTANCES; i++) {
		const struct sx_log_part *expected = NULL;

		if (atomic_load(&list[i].part) == part ||
		    atomic_compare_exchange_strong(&list[i].part, &expected, part) || expected == part)
			return &list[i];
	}
	FAKE_MUST(!part);
	return &alone;
}

int sx_source_open(struct sx_source **ret, const struct sx_source_params *p, int slots, struct sx_why *why)
{
	struct sx_source *s;
	long interval = fake_setting("FAKE_INTERVAL_US");

	if (fake()->opens++ <
	    fake_setting("FAKE_ABSENT") + (fake()->losses && fake_setting("FAKE_ABSENT") == 0))
		return sx_why_fail(-ENODEV, why, "fake: no camera");
	FAKE_MUST(slots >= 1 && slots <= SLOTS_MAX);
	s = aligned_alloc(_Alignof(struct sx_source), sizeof(*s));
	FAKE_MUST(s);
	memset(s, 0, sizeof(*s));
	s->slot_count = slots;
	s->info = (struct sx_source_info){
		.width = fake()->losses && fake_setting("FAKE_WIDTH_AFTER")
				 ? (int)fake_setting("FAKE_WIDTH_AFTER")
				 : WIDTH,
		.height = HEIGHT,
		.pixel = SX_PIXEL_U8,
		.memory = "fake",
		.cameras = 2,
		.path = {"fake left", "fake \"right\"\n"},
		.paced = interval > 0,
	};
	s->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	s->dark = fake_setting("FAKE_DARK_US") > 0;
	FAKE_MUST(s->fd >= 0 && arm(s->fd, interval ? interval : 1,
				    s->dark ? fake_setting("FAKE_DARK_US") : interval) == 0);
	*ret = fake()->source = s;
	return 0;
}

void sx_source_close(struct sx_source *s)
{
	if (!s)
		return;
	for (int i = 0; i < s->slot_count; i++)
		FAKE_MUST(!atomic_load(&s->slots[i].used) &&
			  (!fake()->device || !fake_pinned(fake()->device, &s->slots[i], 1)));
	close(s->fd);
	free(s);
}

const struct sx_source_info *sx_source_info(const struct sx_source *s)
{
	return &s->info;
}

bool sx_source_block(const struct sx_source *s, int index, struct sx_block *ret)
{
	if (index >= s->slot_count)
		return false;
	/* the contract leaves out const on purpose: an engine maps the block, but writes nothing to it */
	*ret = (struct sx_block){(void *)(uintptr_t)s->slots[index].pixels, sizeof(s->slots[index].pixels)};
	return true;
}

void sx_source_counters(const struct sx_source *s, struct sx_source_counters *ret)
{
	const uint64_t n = atomic_load(&s->captured), every = (uint64_t)fake_setting("FAKE_LOSE_EVERY");
	const uint64_t lost = every ? n / every : 0;

	*ret = (struct sx_source_counters){
		.captured = {n, n},
		.corrupt = atomic_load(&s->corrupt),
		.unpaired = 2 * lost,
		.gaps = {lost, lost},
	};
	for (int side = 0; side < 2; side++)
		for (int k = 0; k < SX_DROP_COUNT; k++) {
			ret->dropped[side][k] = (uint64_t)(k + 1) * lost;
			ret->captured[side] += ret->dropped[side][k];
		}
}

const char *sx_image_drop_name(enum sx_image_drop drop)
{
	static const char *const names[] = {"drop0", "drop1", "drop2", "drop3", "drop4", "drop5"};

	FAKE_MUST((int)drop < SX_DROP_COUNT);
	return names[drop];
}

bool sx_source_warning(struct sx_source *s, char *text, size_t bytes)
{
	return false;
}

int sx_watch_open(const struct sx_source_params *p)
{
	(void)p;
	return -1;
}

bool sx_watch_rearm(int fd, const struct sx_source_params *p)
{
	(void)fd, (void)p;
	return false;
}

int sx_source_fd(const struct sx_source *s)
{
	return s->fd;
}

static struct slot *free_slot(struct sx_source *s)
{
	for (int i = 0; i < s->slot_count; i++)
		if (!atomic_exchange(&s->slots[i].used, true))
			return &s->slots[i];
	return NULL;
}

int sx_source_next(struct sx_source *s, struct sx_pair *pair, struct sx_why *why)
{
	long corrupt = fake_setting("FAKE_CORRUPT_EVERY");
	const char *gate = fake_text("FAKE_GATE");
	uint64_t times;
	struct slot *slot;

	if (gate && access(gate, F_OK) < 0) {
		usleep(1000);
		return 0;
	}
	while (fake_setting("FAKE_STUCK") && atomic_load(&fake()->failing))
		pause();
	if (s->info.paced && read(s->fd, &times, sizeof(times)) < 0)
		return 0;
	if (s->dark && access(fake_text("FAKE_BRIGHT"), F_OK) == 0) {
		s->dark = false;
		FAKE_MUST(arm(s->fd, fake_setting("FAKE_INTERVAL_US"), fake_setting("FAKE_INTERVAL_US")) ==
			  0);
	}
	if (fake_setting("FAKE_PAIRS") && fake()->asked >= fake_setting("FAKE_PAIRS"))
		return -ENODATA;
	if (fake_setting("FAKE_SILENT_AT") && fake()->asked + 1 >= fake_setting("FAKE_SILENT_AT"))
		return 0;
	if (fake_setting("FAKE_LOSE_AT") && fake()->asked + 1 == fake_setting("FAKE_LOSE_AT") &&
	    !fake()->losses) {
		fake()->losses++;
		return sx_why_fail(-ENODEV, why, "fake: unplugged");
	}
	fake()->asked++;
	if (corrupt && fake()->asked % corrupt == 0) {
		atomic_fetch_add(&s->corrupt, 1);
		return sx_why_fail(-EBADMSG, why, "fake: pair %ld is garbage", fake()->asked);
	}
	slot = free_slot(s);
	FAKE_MUST(slot); /* the daemon must have asked for enough slots */
	*pair = (struct sx_pair){
		.left = {slot->pixels, s->info.width, HEIGHT, (size_t)s->info.width, SX_PIXEL_U8},
		.right = {slot->pixels, s->info.width, HEIGHT, (size_t)s->info.width, SX_PIXEL_U8},
		.number = ++s->number,
		.left_ns = sx_now_ns() - fake_setting("FAKE_LATE_US") * 1000,
		.stamp = STIXEL_STAMP_FRAME_END,
		.slot = slot,
	};
	pair->right_ns =
		pair->left_ns + (fake_setting("FAKE_SKEW_US") ? fake_setting("FAKE_SKEW_US") : 1) * 1000;
	atomic_fetch_add(&s->captured, 1);
	return 1;
}

void sx_source_release(struct sx_source *s, const struct sx_pair *pair)
{
	struct slot *slot = pair->slot;

	FAKE_MUST(slot >= s->slots && slot < s->slots + s->slot_count);
	FAKE_MUST(!atomic_load(&slot->computing));
	FAKE_MUST(atomic_exchange(&slot->used, false));
}

/* No other process writes this source's pairs. */
void sx_source_refuse(struct sx_source *s, const char *sentence)
{
	(void)s;
	(void)sentence;
}

/* Accepts any gain except 666, and logs the other controls. */
int sx_source_change_controls(struct sx_source *s, const struct sx_source_params *p, struct sx_why *why)
{
	FAKE_MUST(s == fake()->source);
	if (p->gain == 666)
		return sx_why_fail(-EINVAL, why, "fake: gain = 666: the camera takes 0 to 100");
	fprintf(stderr, "fake: exposure %g, gain %g, controls '%s' after pair %llu\n", p->exposure_ms,
		p->gain, p->controls ? p->controls : "", (unsigned long long)s->number);
	return 0;
}

static uint8_t label_of_map(const struct sx_disparity *d)
{
	const struct sx_block *block = fake_pinned(fake()->device, d->data, 1);
	const size_t bytes = d->pitch * (size_t)d->height;

	FAKE_MUST(d->width == WIDTH && d->height == HEIGHT && d->pitch >= 2 * (size_t)d->width);
	FAKE_MUST(block && bytes <= block->bytes);
	if (d->confidence)
		FAKE_MUST(d->confidence >= (const uint8_t *)d->data + bytes &&
			  d->confidence[0] == d->data[0] >> 8 &&
			  d->confidence + d->confidence_pitch * (size_t)d->height <=
				  (const uint8_t *)block->memory + block->bytes);
	return (uint8_t)(d->data[0] >> 8);
}

/*
 * Checks that the scores lie in pinned memory. Returns the label for stixels: the first label in the scores.
 */
static uint8_t label_of(const struct sx_scores *s, const struct sx_disparity *d)
{
	const struct sx_block *block;

	if (d)
		return label_of_map(d);
	if (!s)
		return STIXEL_LABEL_NONE;
	block = fake_pinned(fake()->device, s->data, 1);
	FAKE_MUST(block && (size_t)s->classes * s->plane_bytes <= block->bytes);
	FAKE_MUST(s->width == (WIDTH + s->scale - 1) / s->scale &&
		  s->height == (HEIGHT + s->scale - 1) / s->scale);
	FAKE_MUST(s->pitch >= (size_t)s->width && s->plane_bytes >= s->pitch * (size_t)s->height);
	return s->data[0];
}

/* ---- the engine: frames "finish" when a timer fires ---- */

struct timed {
	bool fails;
	int64_t done_ns;
	struct slot *slot; /* slot with the images that the engine reads */
	unsigned char left[FAKE_COLUMNS * HEIGHT];
};

static int timed_open(struct sx_device *d, const struct sx_engine_params *p, struct sx_why *why)
{
	fake()->device = d;
	return 0;
}

static void timed_close(struct sx_device *d)
{
	fake()->device = NULL;
}

/* true while a context is created */
static atomic_bool creating;

static int timed_create(struct sx_context *x, const struct sx_context_config *c, struct sx_why *why)
{
	if (fake_setting("FAKE_CONTEXTS_MOST") && x->device->contexts >= fake_setting("FAKE_CONTEXTS_MOST"))
		return sx_why_fail(-ENOMEM, why, "fake: no memory for %dx%d", c->width, c->height);
	if (c->params.stixels.method == SX_STIXEL_SLANTED_EXACT)
		return sx_why_fail(-ENOTSUP, why, "fake: no slanted-exact");
	FAKE_MUST(!atomic_exchange(&creating, true)); /* also by another instance */
	usleep((useconds_t)fake_setting("FAKE_BUILD_US"));
	atomic_store(&creating, false);
	x->own = calloc(1, sizeof(struct timed));
	x->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	FAKE_MUST(x->own && x->fd >= 0);
	return 0;
}

static void finish(struct timed *own)
{
	if (own->slot)
		atomic_store(&own->slot->computing, false);
	own->slot = NULL;
}

static void timed_destroy(struct sx_context *x)
{
	finish(x->own);
	close(x->fd);
	free(x->own);
}

static int timed_begin(struct sx_context *x, const struct sx_road *previous)
{
	const struct sx_pair *pair = x->pair;
	const uint64_t n = x->device->frames;
	struct timed *own = x->own;
	long every = fake_setting("FAKE_MEASURE_EVERY"), us = fake_setting("FAKE_COMPUTE_US");

	FAKE_MUST(fake_pinned(fake()->device, pair->slot, 1));
	FAKE_MUST(!atomic_exchange(&((struct slot *)pair->slot)->computing, true));
	own->slot = pair->slot;
	own->fails = fake_setting("FAKE_FAIL_AT") && n == (uint64_t)fake_setting("FAKE_FAIL_AT");
	if (own->fails)
		atomic_store(&fake()->failing, true);
	x->result.started_ns = sx_now_ns();
	x->result.road = (struct sx_road){.slope = 0.25,
					  .offset = -5,
					  .cross = 0.0625,
					  .axis = 30,
					  .bend = 0.125,
					  .bend_row = 25,
					  .horizon_row = 20,
					  .roll_rad = 0.03125,
					  .height_m = 1.5,
					  .pitch_sigma_rad = 0.0078125,
					  .roll_sigma_rad = 0.015625,
					  .height_sigma_m = 0.25,
					  .inliers = 100};
	if (fake_setting("FAKE_BREAK_AT") && n == (uint64_t)fake_setting("FAKE_BREAK_AT"))
		x->result.diagnostics.measured = UINT32_MAX;
	if (every == 0 || n % (uint64_t)every == 1) {
		x->result.road.origin = SX_ROAD_MEASURED;
		x->result.road.pitch_rad = (double)n;
	} else if (previous) {
		x->result.road = *previous;
		x->result.road.origin = SX_ROAD_PREVIOUS;
		x->result.road.age++;
	} else {
		x->result.road.origin = SX_ROAD_FROM_CALIBRATION;
	}
	for (int u = 0; u < x->columns; u++)
		fake_column(x, true, (uint16_t)pair->number, label_of(pair->scores, pair->disparity));
	if (fake_setting("FAKE_READ_EARLY")) {
		finish(own);
		x->images_read(x->user);
	}
	us += n % 2 ? fake_setting("FAKE_JITTER_US") : 0;
	x->result.stage_ns[SX_STAGE_AGGREGATE] = (int64_t)us * 1000 + 1;
	if (fake_setting("FAKE_HANG_AT") && n == (uint64_t)fake_setting("FAKE_HANG_AT"))
		return 0;
	own->done_ns = x->result.started_ns + us * 1000;
	us += fake_setting("FAKE_TELL_LATE_US");
	return arm(x->fd, us > 0 ? us : 1, 0);
}

static bool timed_nearly_done(const struct sx_context *x, int64_t *from_ns, int64_t *until_ns)
{
	*from_ns = x->result.started_ns +
		   (fake_setting("FAKE_COMPUTE_US") - fake_setting("FAKE_NEARLY_US")) * 1000;
	*until_ns = x->result.started_ns +
		    (fake_setting("FAKE_COMPUTE_US") + fake_setting("FAKE_NEARLY_US")) * 1000;
	return fake_setting("FAKE_NEARLY_US") > 0;
}

static int timed_look(struct sx_context *x, int timeout_ms)
{
	struct timed *own = x->own;
	uint64_t times;

	if (read(x->fd, &times, sizeof(times)) < 0 &&
	    !(fake_setting("FAKE_NEARLY_US") && own->done_ns > 0 && sx_now_ns() >= own->done_ns))
		return 0;
	own->done_ns = 0;
	finish(own);
	return own->fails ? -EIO : 1;
}

static int timed_peek(const struct sx_context *x, enum sx_tap tap, struct sx_image *view)
{
	struct timed *own = x->own;
	struct sx_image left = {own->left, 0, HEIGHT, FAKE_COLUMNS, SX_PIXEL_U8};

	if (tap != SX_TAP_LEFT)
		return -ENOENT;
	left.width = WIDTH;
	*view = left;
	return 0;
}

static int timed_pin(struct sx_device *d, void *memory, size_t bytes)
{
	FAKE_MUST(bytes % 4096 == 0);
	return 0;
}

static const char *timed_words(void)
{
	return "fake engine";
}

const struct fake_play fake_play = {
	.words = timed_words,
	.memory_bytes = 4242,
	.never_waits = true,
	.open = timed_open,
	.close = timed_close,
	.create = timed_create,
	.destroy = timed_destroy,
	.begin = timed_begin,
	.look = timed_look,
	.peek = timed_peek,
	.pin = timed_pin,
};

const struct sx_backend sx_backend_cpu = {
	.name = "fake", FAKE_ENGINE, FAKE_ENGINE_PINS, .nearly_done = timed_nearly_done};
