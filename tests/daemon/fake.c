/*
 * A source and an engine that do what the test wants, in place of capture/ and cpu/: stixeld-fake is the
 * daemon with these linked in. Told by the environment:
 *
 *	FAKE_INTERVAL_US	between pairs (0: as fast as they are taken)
 *	FAKE_DARK_US		instead of it, before the file FAKE_BRIGHT is there
 *	FAKE_TIMES		time goes by so many times as fast (fast_clock.c)
 *	FAKE_LATE_US		pairs come so long after they were captured
 *	FAKE_SKEW_US		between left and right capture (1 without)
 *	FAKE_GATE		a file: no pair comes before it is there
 *	FAKE_PAIRS		the source ends after so many
 *	FAKE_LOSE_AT		the camera is lost once, instead of this pair
 *	FAKE_ABSENT		so many attempts to open fail: no camera
 *	FAKE_WIDTH_AFTER	width after the loss
 *	FAKE_SILENT_AT		no pair comes from this one on
 *	FAKE_STUCK		from when the engine has the frame that fails, the source does not come back
 *	FAKE_CORRUPT_EVERY	every so many pairs one is unreadable
 *	FAKE_READ_EARLY		the engine has read the images as soon as it has the pair
 *	FAKE_COMPUTE_US		of a frame; FAKE_JITTER_US more for every second one, so that they finish out
 *				of order
 *	FAKE_NEARLY_US		who asks from so long before FAKE_COMPUTE_US until so long after it learns
 *				that a frame is done; the descriptor tells it FAKE_TELL_LATE_US later
 *	FAKE_FAIL_AT		the engine fails at this frame
 *	FAKE_BREAK_AT		the engine says of this frame that more was measured than there is
 *	FAKE_HANG_AT		this frame never finishes
 *	FAKE_CONTEXTS_MOST	there is memory for so many contexts at once
 *	FAKE_BUILD_US		a context takes so long to make
 *	FAKE_MEASURE_EVERY	the road is measured in every so many frames, else the previous one stands in
 *
 * Stixels are labelled with the first byte of the pair's scores, if it has some, or with the first disparity,
 * px, of its map.
 *
 * Both keep an eye on the daemon and abort when it breaks their contract: a pair released twice or while it
 * is computed on, a busy context, more pairs than slots.
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
#include "capture/source.h"
#include "capture/v4l2/watch.h"
#include "cpu/engine.h"
#include "stages/engine.h"
#include "stixel.h"

#define WIDTH 64
#define HEIGHT 48
#define SLOTS_MAX 8
#define COLUMNS_MAX 256

#define MUST(x)                                                             \
	do {                                                                \
		if (!(x)) {                                                 \
			fprintf(stderr, "fake: contract broken: %s\n", #x); \
			abort();                                            \
		}                                                           \
	} while (0)

static long told(const char *name)
{
	const char *text = getenv(name);

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
	unsigned char pixels[2 * WIDTH * 4 * HEIGHT];
	atomic_bool used, computing, pinned;
};

struct sx_source {
	struct sx_source_info info;
	struct slot slots[SLOTS_MAX];
	int slot_count, fd;
	bool dark;
	uint64_t number;
	_Atomic uint64_t captured, corrupt;
};

static long opens, losses, asked;	/* thread: main, then capture */
static struct sx_source *pinned_source; /* the one that is open; set before its blocks are pinned */

int sx_source_open(struct sx_source **ret, const struct sx_source_params *p, int slots, char *why,
		   size_t why_bytes)
{
	struct sx_source *s;
	long interval = told("FAKE_INTERVAL_US");

	if (opens++ < told("FAKE_ABSENT") + (losses && told("FAKE_ABSENT") == 0)) {
		snprintf(why, why_bytes, "fake: no camera");
		return -ENODEV;
	}
	MUST(slots >= 1 && slots <= SLOTS_MAX);
	s = calloc(1, sizeof(*s));
	MUST(s);
	s->slot_count = slots;
	s->info = (struct sx_source_info){
		.width = losses && told("FAKE_WIDTH_AFTER") ? (int)told("FAKE_WIDTH_AFTER") : WIDTH,
		.height = HEIGHT,
		.pixel = SX_PIXEL_U8,
		.memory = "fake",
		.cameras = 2,
		.path = {"fake left", "fake \"right\"\n"},
		.paced = interval > 0,
	};
	s->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	s->dark = told("FAKE_DARK_US") > 0;
	MUST(s->fd >= 0 &&
	     arm(s->fd, interval ? interval : 1, s->dark ? told("FAKE_DARK_US") : interval) == 0);
	*ret = pinned_source = s;
	return 0;
}

void sx_source_close(struct sx_source *s)
{
	if (!s)
		return;
	for (int i = 0; i < s->slot_count; i++)
		MUST(!atomic_load(&s->slots[i].used) && !atomic_load(&s->slots[i].pinned));
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
	/* the contract leaves out const on purpose: an engine writes nothing, but maps it */
	*ret = (struct sx_block){(void *)(uintptr_t)s->slots[index].pixels, sizeof(s->slots[index].pixels)};
	return true;
}

void sx_source_counters(const struct sx_source *s, struct sx_source_counters *ret)
{
	const uint64_t n = atomic_load(&s->captured), every = (uint64_t)told("FAKE_LOSE_EVERY");
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

	MUST((int)drop < SX_DROP_COUNT);
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

/* the engine has the frame that fails */
static atomic_bool failing;

int sx_source_next(struct sx_source *s, struct sx_pair *pair, char *why, size_t why_bytes)
{
	long corrupt = told("FAKE_CORRUPT_EVERY");
	const char *gate = getenv("FAKE_GATE");
	uint64_t times;
	struct slot *slot;

	if (gate && access(gate, F_OK) < 0) {
		usleep(1000);
		return 0;
	}
	while (told("FAKE_STUCK") && atomic_load(&failing))
		pause();
	if (s->info.paced && read(s->fd, &times, sizeof(times)) < 0)
		return 0;
	if (s->dark && access(getenv("FAKE_BRIGHT"), F_OK) == 0) {
		s->dark = false;
		MUST(arm(s->fd, told("FAKE_INTERVAL_US"), told("FAKE_INTERVAL_US")) == 0);
	}
	if (told("FAKE_PAIRS") && asked >= told("FAKE_PAIRS"))
		return -ENODATA;
	if (told("FAKE_SILENT_AT") && asked + 1 >= told("FAKE_SILENT_AT"))
		return 0;
	if (told("FAKE_LOSE_AT") && asked + 1 == told("FAKE_LOSE_AT") && !losses) {
		losses++;
		snprintf(why, why_bytes, "fake: unplugged");
		return -ENODEV;
	}
	asked++;
	if (corrupt && asked % corrupt == 0) {
		atomic_fetch_add(&s->corrupt, 1);
		snprintf(why, why_bytes, "fake: pair %ld is garbage", asked);
		return -EBADMSG;
	}
	slot = free_slot(s);
	MUST(slot); /* the daemon asked for as many slots as it needs */
	*pair = (struct sx_pair){
		.left = {slot->pixels, s->info.width, HEIGHT, (size_t)s->info.width, SX_PIXEL_U8},
		.right = {slot->pixels, s->info.width, HEIGHT, (size_t)s->info.width, SX_PIXEL_U8},
		.number = ++s->number,
		.left_ns = sx_now_ns() - told("FAKE_LATE_US") * 1000,
		.stamp = STIXEL_STAMP_FRAME_END,
		.slot = slot,
	};
	pair->right_ns = pair->left_ns + (told("FAKE_SKEW_US") ? told("FAKE_SKEW_US") : 1) * 1000;
	atomic_fetch_add(&s->captured, 1);
	return 1;
}

void sx_source_release(struct sx_source *s, const struct sx_pair *pair)
{
	struct slot *slot = pair->slot;

	MUST(slot >= s->slots && slot < s->slots + s->slot_count);
	MUST(!atomic_load(&slot->computing));
	MUST(atomic_exchange(&slot->used, false));
}

/* What a camera would take: any gain but 666, and it logs the rest. */
int sx_source_tune(struct sx_source *s, const struct sx_source_params *p, char *why, size_t why_bytes)
{
	MUST(s == pinned_source);
	if (p->gain == 666) {
		snprintf(why, why_bytes, "fake: gain = 666: the camera takes 0 to 100");
		return -EINVAL;
	}
	fprintf(stderr, "fake: exposure %g, gain %g, controls '%s' after pair %llu\n", p->exposure_ms,
		p->gain, p->controls ? p->controls : "", (unsigned long long)s->number);
	return 0;
}

/*
 * Pinned memory that is not the source's: scores, maps. Main or capture while no frame is in flight, then the
 * frame thread.
 */
static struct sx_block blocks[SLOTS_MAX];

static struct sx_block *block_of(const void *memory)
{
	for (int i = 0; i < SLOTS_MAX; i++)
		if (blocks[i].memory == memory)
			return &blocks[i];
	return NULL;
}

static uint8_t label_of_map(const struct sx_disparity *d)
{
	const struct sx_block *block = block_of(d->data);
	const size_t bytes = d->pitch * (size_t)d->height;

	MUST(d->width == WIDTH && d->height == HEIGHT && d->pitch >= 2 * (size_t)d->width);
	MUST(block && bytes <= block->bytes);
	if (d->confidence)
		MUST(d->confidence >= (const uint8_t *)d->data + bytes &&
		     d->confidence[0] == d->data[0] >> 8 &&
		     d->confidence + d->confidence_pitch * (size_t)d->height <=
			     (const uint8_t *)block->memory + block->bytes);
	return (uint8_t)(d->data[0] >> 8);
}

/* Scores lie in pinned memory and within it. The label that stixels get of them: the first one. */
static uint8_t label_of(const struct sx_scores *s, const struct sx_disparity *d)
{
	const struct sx_block *block;

	if (d)
		return label_of_map(d);
	if (!s)
		return STIXEL_LABEL_NONE;
	block = block_of(s->data);
	MUST(block && (size_t)s->classes * s->plane_bytes <= block->bytes);
	MUST(s->width == (WIDTH + s->scale - 1) / s->scale &&
	     s->height == (HEIGHT + s->scale - 1) / s->scale);
	MUST(s->pitch >= (size_t)s->width && s->plane_bytes >= s->pitch * (size_t)s->height);
	return s->data[0];
}

/* ---- the engine: frames "finish" when a timer fires ---- */

struct sx_device {
	uint64_t frames;
	int contexts; /* made and destroyed by one thread at a time */
};

struct sx_context {
	struct sx_device *device;
	int fd, columns, height;
	bool busy, fails, external;
	int64_t done_ns;
	struct slot *slot;
	struct sx_result result;
	struct stixel stixels[COLUMNS_MAX];
	uint32_t offsets[COLUMNS_MAX + 1];
	unsigned char left[COLUMNS_MAX * HEIGHT];
};

static int fake_open(struct sx_device **ret, const struct sx_engine_params *p, char *why, size_t why_bytes)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

static void fake_close(struct sx_device *d)
{
	MUST(!d || d->contexts == 0);
	free(d);
}

static const char *fake_describe(const struct sx_device *d)
{
	return "fake engine";
}

static int fake_context_create(struct sx_context **ret, struct sx_device *d,
			       const struct sx_context_config *c, char *why, size_t why_bytes)
{
	struct sx_context *x;

	if (told("FAKE_CONTEXTS_MOST") && d->contexts >= told("FAKE_CONTEXTS_MOST")) {
		snprintf(why, why_bytes, "fake: no memory for %dx%d", c->width, c->height);
		return -ENOMEM;
	}
	if (c->params.stixels.method == SX_STIXEL_SLANTED_EXACT) {
		snprintf(why, why_bytes, "fake: no slanted-exact");
		return -ENOTSUP;
	}
	usleep((useconds_t)told("FAKE_BUILD_US"));
	x = calloc(1, sizeof(*x));
	MUST(x);
	d->contexts++;
	x->device = d;
	x->columns = c->width / c->params.stixels.width;
	x->height = c->height;
	x->external = c->params.stereo.matcher == SX_MATCH_EXTERNAL;
	MUST(x->columns <= COLUMNS_MAX);
	x->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	MUST(x->fd >= 0);
	*ret = x;
	return 0;
}

static void finish(struct sx_context *x)
{
	if (x->slot)
		atomic_store(&x->slot->computing, false);
	x->slot = NULL;
	x->busy = false;
}

static void fake_context_destroy(struct sx_context *x)
{
	if (!x)
		return;
	finish(x);
	close(x->fd);
	x->device->contexts--;
	free(x);
}

static int fake_submit(struct sx_context *x, const struct sx_pair *pair, const struct sx_road *previous,
		       sx_images_read_fn *images_read, void *user)
{
	uint64_t n = ++x->device->frames;
	long every = told("FAKE_MEASURE_EVERY"), us = told("FAKE_COMPUTE_US");

	MUST(!x->busy);
	MUST(x->external == (pair->disparity != NULL));
	MUST(atomic_load(&((struct slot *)pair->slot)->pinned));
	MUST(!atomic_exchange(&((struct slot *)pair->slot)->computing, true));
	x->busy = true;
	x->slot = pair->slot;
	x->fails = told("FAKE_FAIL_AT") && n == (uint64_t)told("FAKE_FAIL_AT");
	if (x->fails)
		atomic_store(&failing, true);
	x->result = (struct sx_result){
		.stixels = x->stixels,
		.offsets = x->offsets,
		.columns = (uint32_t)x->columns,
		.count = (uint32_t)x->columns,
		.started_ns = sx_now_ns(),
		.road = {.slope = 0.25,
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
			 .inliers = 100},
	};
	if (told("FAKE_BREAK_AT") && n == (uint64_t)told("FAKE_BREAK_AT"))
		x->result.monitor.measured = UINT32_MAX;
	if (previous)
		MUST(previous->origin == SX_ROAD_MEASURED);
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
	for (int u = 0; u < x->columns; u++) {
		x->stixels[u] = (struct stixel){.column = (uint16_t)u,
						.row_bottom = (uint16_t)(x->height - 1),
						.support = (uint16_t)pair->number,
						.kind = STIXEL_OBJECT,
						.label = label_of(pair->scores, pair->disparity)};
		x->offsets[u + 1] = (uint32_t)u + 1;
	}
	if (told("FAKE_READ_EARLY")) {
		atomic_store(&x->slot->computing, false);
		x->slot = NULL;
		images_read(user);
	}
	us += n % 2 ? told("FAKE_JITTER_US") : 0;
	x->result.stage_ns[SX_STAGE_SGM] = (int64_t)us * 1000 + 1;
	if (told("FAKE_HANG_AT") && n == (uint64_t)told("FAKE_HANG_AT"))
		return 0;
	x->done_ns = x->result.started_ns + us * 1000;
	us += told("FAKE_TELL_LATE_US");
	return arm(x->fd, us > 0 ? us : 1, 0);
}

static bool fake_nearly_done(const struct sx_context *x, int64_t *from_ns, int64_t *until_ns)
{
	*from_ns = x->result.started_ns + (told("FAKE_COMPUTE_US") - told("FAKE_NEARLY_US")) * 1000;
	*until_ns = x->result.started_ns + (told("FAKE_COMPUTE_US") + told("FAKE_NEARLY_US")) * 1000;
	return told("FAKE_NEARLY_US") > 0;
}

static int fake_event_fd(const struct sx_context *x)
{
	return x->fd;
}

static int fake_wait(struct sx_context *x, int timeout_ms)
{
	uint64_t times;

	MUST(timeout_ms == 0 && x->busy);
	if (read(x->fd, &times, sizeof(times)) < 0 &&
	    !(told("FAKE_NEARLY_US") && x->done_ns > 0 && sx_now_ns() >= x->done_ns))
		return 0;
	x->done_ns = 0;
	finish(x);
	return x->fails ? -EIO : 1;
}

static const struct sx_result *fake_result(const struct sx_context *x)
{
	return &x->result;
}

static int fake_peek(const struct sx_context *x, enum sx_tap tap, struct sx_image *view)
{
	struct sx_image left = {(void *)(uintptr_t)x->left, 0, HEIGHT, COLUMNS_MAX, SX_PIXEL_U8};

	if (tap != SX_TAP_LEFT)
		return -ENOENT;
	left.width = WIDTH;
	*view = left;
	return 0;
}

static size_t fake_memory(const struct sx_device *d)
{
	return 4242;
}

/* NULL: it is not the source's. */
static struct slot *slot_of(void *pixels)
{
	for (int i = 0; pinned_source && i < pinned_source->slot_count; i++)
		if (pinned_source->slots[i].pixels == pixels)
			return &pinned_source->slots[i];
	return NULL;
}

static int fake_pin(struct sx_device *d, void *memory, size_t bytes)
{
	struct slot *slot = slot_of(memory);
	int i = 0;

	if (slot) {
		MUST(!atomic_exchange(&slot->pinned, true));
		return 0;
	}
	MUST((uintptr_t)memory % 4096 == 0 && bytes % 4096 == 0);
	MUST(!block_of(memory));
	while (i < SLOTS_MAX && blocks[i].memory)
		i++;
	MUST(i < SLOTS_MAX);
	blocks[i] = (struct sx_block){memory, bytes};
	return 0;
}

static void fake_unpin(struct sx_device *d, void *memory)
{
	struct slot *slot = slot_of(memory);

	if (slot) {
		MUST(!atomic_load(&slot->computing));
		MUST(atomic_exchange(&slot->pinned, false));
		return;
	}
	MUST(block_of(memory));
	*block_of(memory) = (struct sx_block){0};
}

const struct sx_backend sx_backend_cpu = {
	.name = "fake",
	.open = fake_open,
	.close = fake_close,
	.describe = fake_describe,
	.context_create = fake_context_create,
	.context_destroy = fake_context_destroy,
	.submit = fake_submit,
	.event_fd = fake_event_fd,
	.wait = fake_wait,
	.nearly_done = fake_nearly_done,
	.result = fake_result,
	.peek = fake_peek,
	.memory = fake_memory,
	.pin = fake_pin,
	.unpin = fake_unpin,
};
