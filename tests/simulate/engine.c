/*
 * The simulated engine: frames take the time that the seed gives them, and say of which pair they are. It
 * looks whether a pair's images stay what they are for as long as it reads them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cpu/engine.h"
#include "stages/monitor/row_error.h"
#include "stages/stixels/reduce.h"
#include "stixel.h"
#include "tests/simulate/sim.h"
#include "tests/simulate/world.h"

#define COLUMNS_MAX 256

struct sx_device {
	int contexts, busy; /* of them: those that have a pair */
};

struct sx_context {
	struct sx_device *device;
	struct sim_task *task;
	int fd, columns, width, height;
	bool job, submitted, done, fails;
	int64_t done_ns;
	const struct sx_pair *pair;
	struct camera_tag tag[2];
	sx_images_read_fn *images_read;
	void *user;
	struct sx_result result;
	struct stixel stixels[COLUMNS_MAX];
	uint32_t offsets[COLUMNS_MAX + 1];
};

static int engine_open(struct sx_device **ret, const struct sx_engine_params *p, char *why, size_t why_bytes)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

static void engine_close(struct sx_device *d)
{
	SIM_MUST(!d || d->contexts == 0, "the engine is closed with %d contexts", d ? d->contexts : 0);
	free(d);
}

static const char *engine_describe(const struct sx_device *d)
{
	return "simulated";
}

static void read_tag(const struct sx_image *image, struct camera_tag *tag)
{
	memcpy(tag, image->data, sizeof(*tag));
}

/* For as long as the images are read they are those of the submit. */
static void look_again(const struct sx_context *x)
{
	const struct sx_image *images[2] = {&x->pair->left, &x->pair->right};

	for (int side = 0; side < 2; side++) {
		struct camera_tag now;

		read_tag(images[side], &now);
		SIM_MUST(!memcmp(&now, &x->tag[side], sizeof(now)),
			 "image %llu of side %d was written over while it was read",
			 (unsigned long long)x->tag[side].shot, side);
		world_engine_reads(images[side]->data, false);
	}
}

static void compute(struct sx_context *x)
{
	const struct world_engine *e = &world->engine;
	int64_t ns = e->frame_ns + (int64_t)sim_below((uint64_t)e->jitter_ns + 1), early = 0;

	if (sim_once_in(e->slow))
		ns *= 20;
	if (ns > SIM_S / 10 && sim->now + ns > world->at.long_frame)
		world->at.long_frame = sim->now + ns;
	if (e->reads_early) {
		early = ns / 5;
		sim_sleep(early);
		look_again(x);
		x->images_read(x->user);
	}
	x->done_ns = x->result.started_ns + ns;
	if (x->done_ns > sim->now)
		sim_sleep(x->done_ns - sim->now);
	while (world->engine.hangs)
		sim_sleep(10 * SIM_MS);
	if (!e->reads_early)
		look_again(x);
	x->fails = sim_once_in(e->fails);
	if (x->fails)
		world->failure_is_due = true;
	x->result.finished_ns = sim->now;
	x->done = true;
	if (e->told_late)
		sim_sleep(sim_between(0, 50000));
}

static void *engine_thread(void *context)
{
	const uint64_t one = 1;
	struct sx_context *x = context;

	for (;;) {
		while (!x->job)
			sim_block(SIM_NEVER);
		compute(x);
		if (write(x->fd, &one, sizeof(one)) < 0)
			sim_fail("simulation: an eventfd is full");
		x->job = false;
	}
	return NULL;
}

static int engine_context_create(struct sx_context **ret, struct sx_device *d,
				 const struct sx_context_config *c, char *why, size_t why_bytes)
{
	struct sx_context *x;

	sim_sleep(sim_between(SIM_MS, 30 * SIM_MS)); /* memory is taken */
	x = calloc(1, sizeof(*x));
	if (!x)
		return -ENOMEM;
	x->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (x->fd < 0) {
		free(x);
		return -EMFILE;
	}
	x->device = d;
	x->columns = sx_reduce_columns(c->width, c->params.stixels.width);
	x->width = c->width;
	x->height = c->height;
	if (x->columns > COLUMNS_MAX)
		sim_fail("simulation: %d columns", x->columns);
	d->contexts++;
	x->task = sim_task_create(sim->current->process, "engine", engine_thread, x);
	*ret = x;
	return 0;
}

static void engine_context_destroy(struct sx_context *x)
{
	if (!x)
		return;
	/* one that computes reads the images of its pair, and calls images_read */
	while (x->job)
		sim_sleep(SIM_MS);
	sim_task_kill(x->task);
	close(x->fd);
	x->device->contexts--;
	x->device->busy -= x->submitted;
	free(x);
}

static int engine_submit(struct sx_context *x, const struct sx_pair *pair, const struct sx_road *previous,
			 sx_images_read_fn *images_read, void *user)
{
	sim_seam("submit", (int64_t)pair->number);
	SIM_MUST(!x->submitted && !x->job, "a pair is submitted to a context that is busy");
	SIM_MUST(pair->left.width == x->width && pair->right.height == x->height,
		 "a pair of %dx%d, and not of %dx%d", pair->left.width, pair->right.height, x->width,
		 x->height);
	read_tag(&pair->left, &x->tag[0]);
	read_tag(&pair->right, &x->tag[1]);
	for (int side = 0; side < 2; side++) {
		const struct camera_tag *t = &x->tag[side];

		SIM_MUST(t->magic == CAMERA_TAG && t->side == (uint64_t)side && t->sum == camera_tag_sum(t),
			 "the %s image of pair %llu is none of that camera", side ? "right" : "left",
			 (unsigned long long)pair->number);
		world_engine_reads(side ? pair->right.data : pair->left.data, true);
	}
	x->pair = pair;
	x->images_read = images_read;
	x->user = user;
	x->submitted = x->job = true;
	if (x->device->busy++ == 0)
		world->at.busy = sim->now;
	x->done = x->fails = false;
	x->result = (struct sx_result){
		.stixels = x->stixels,
		.offsets = x->offsets,
		.columns = (uint32_t)x->columns,
		.started_ns = sim->now,
		.road = {.slope = 0.25,
			 .horizon_row = 20,
			 .height_m = 1.5,
			 .inliers = 100,
			 .origin = SX_ROAD_MEASURED},
	};
	for (int u = 0; u < x->columns; u++) {
		const uint32_t n = x->result.count;

		x->offsets[u] = n;
		if ((x->tag[0].shot + (uint64_t)u) % 3 == 0)
			continue;
		x->stixels[n] = (struct stixel){.column = (uint16_t)u,
						.row_bottom = (uint16_t)(x->height - 1),
						.support = (uint16_t)(x->tag[0].shot + (uint64_t)u),
						.kind = STIXEL_OBJECT,
						.label = STIXEL_LABEL_NONE};
		x->result.count++;
	}
	x->offsets[x->columns] = x->result.count;
	x->done_ns = SIM_NEVER;
	sim_task_wake(x->task);
	return 0;
}

void __real_sx_row_error(const struct sx_monitor *m, struct sx_row_error ret[SX_ROWS_PARTS]);
void __wrap_sx_row_error(const struct sx_monitor *m, struct sx_row_error ret[SX_ROWS_PARTS]);

/* The engine's votes are the same in all frames, and so is what they say: it is counted once. */
void __wrap_sx_row_error(const struct sx_monitor *m, struct sx_row_error ret[SX_ROWS_PARTS])
{
	static struct sx_row_error same[SX_ROWS_PARTS];
	static bool counted;

	if (!counted)
		__real_sx_row_error(m, same);
	counted = true;
	memcpy(ret, same, sizeof(same));
}

static int engine_event_fd(const struct sx_context *x)
{
	return x->fd;
}

static int engine_wait(struct sx_context *x, int timeout_ms)
{
	uint64_t count;

	sim_seam("wait", timeout_ms);
	SIM_MUST(x->submitted && timeout_ms == 0, "a context is waited for that has no pair");
	/* told late of the frame before, it means nothing */
	(void)!read(x->fd, &count, sizeof(count));
	if (!x->done)
		return 0;
	while (x->job)
		sim_sleep(1000);
	x->submitted = x->done = false;
	x->device->busy--;
	return x->fails ? -EIO : 1;
}

static bool engine_nearly_done(const struct sx_context *x, int64_t *from_ns, int64_t *until_ns)
{
	if (!world->engine.spin_ns || x->done_ns == SIM_NEVER)
		return false;
	*from_ns = x->done_ns - world->engine.spin_ns;
	*until_ns = x->done_ns + world->engine.spin_ns;
	return true;
}

static const struct sx_result *engine_result(const struct sx_context *x)
{
	return &x->result;
}

static int engine_peek(const struct sx_context *x, enum sx_tap tap, struct sx_image *view)
{
	return -ENOENT;
}

static size_t engine_memory(const struct sx_device *d)
{
	return 4096;
}

const struct sx_backend sx_backend_cpu = {
	.name = "cpu",
	.open = engine_open,
	.close = engine_close,
	.describe = engine_describe,
	.context_create = engine_context_create,
	.context_destroy = engine_context_destroy,
	.submit = engine_submit,
	.event_fd = engine_event_fd,
	.wait = engine_wait,
	.nearly_done = engine_nearly_done,
	.result = engine_result,
	.peek = engine_peek,
	.memory = engine_memory,
};
