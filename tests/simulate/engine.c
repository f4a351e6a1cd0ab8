/*
 * The simulated engine. The seed determines the time of each frame, and each frame names its pair. The engine
 * checks that a pair's images do not change while it reads them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "cpu/engine/engine.h"
#include "stages/diagnostics/row_error.h"
#include "tests/kit/fake_engine.h"
#include "tests/simulate/sim.h"
#include "tests/simulate/world.h"

struct simulated {
	struct sim_task *task;
	bool job, done, fails;
	int64_t done_ns;
	struct camera_tag tag[2];
};

static void read_tag(const struct sx_image *image, struct camera_tag *tag)
{
	memcpy(tag, image->data, sizeof(*tag));
}

/* Checks that the images have not changed since they were submitted. */
static void look_again(const struct sx_context *x)
{
	const struct simulated *own = x->own;
	const struct sx_image *images[2] = {&x->pair->left, &x->pair->right};

	for (int side = 0; side < 2; side++) {
		struct camera_tag now;

		read_tag(images[side], &now);
		SIM_MUST(!memcmp(&now, &own->tag[side], sizeof(now)),
			 "image %llu of side %d was written over while it was read",
			 (unsigned long long)own->tag[side].shot, side);
		world_engine_reads(images[side]->data, false);
	}
}

static void compute(struct sx_context *x)
{
	const struct world_engine *e = &world->engine;
	struct simulated *own = x->own;
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
	own->done_ns = x->result.started_ns + ns;
	if (own->done_ns > sim->now)
		sim_sleep(own->done_ns - sim->now);
	while (world->engine.hangs)
		sim_sleep(10 * SIM_MS);
	if (!e->reads_early)
		look_again(x);
	own->fails = sim_once_in(e->fails);
	if (own->fails)
		world->failure_is_due = true;
	x->result.finished_ns = sim->now;
	own->done = true;
	if (e->reported_late)
		sim_sleep(sim_between(0, 50000));
}

static void *engine_thread(void *context)
{
	const uint64_t one = 1;
	struct sx_context *x = context;
	struct simulated *own = x->own;

	for (;;) {
		while (!own->job)
			sim_block(SIM_NEVER);
		compute(x);
		if (write(x->fd, &one, sizeof(one)) < 0)
			sim_fail("simulation: an eventfd is full");
		own->job = false;
	}
	return NULL;
}

static int engine_create(struct sx_context *x, const struct sx_context_config *c, struct sx_why *why)
{
	struct simulated *own;

	sim_sleep(sim_between(SIM_MS, 30 * SIM_MS)); /* time of the memory allocation */
	x->own = own = calloc(1, sizeof(*own));
	if (!own)
		return -ENOMEM;
	x->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (x->fd < 0) {
		free(own);
		return -EMFILE;
	}
	own->task = sim_task_create(sim->current->process, "engine", engine_thread, x);
	return 0;
}

static void engine_destroy(struct sx_context *x)
{
	struct simulated *own = x->own;

	/* a computing task reads the images of its pair, and calls images_read */
	while (own->job)
		sim_sleep(SIM_MS);
	sim_task_kill(own->task);
	close(x->fd);
	free(own);
}

static int engine_begin(struct sx_context *x, const struct sx_road *previous)
{
	const struct sx_pair *pair = x->pair;
	struct simulated *own = x->own;

	sim_seam("submit", (int64_t)pair->number);
	SIM_MUST(!own->job, "a pair is submitted to a context that is busy");
	SIM_MUST(pair->left.width == x->width && pair->right.height == x->height,
		 "a pair of %dx%d, and not of %dx%d", pair->left.width, pair->right.height, x->width,
		 x->height);
	read_tag(&pair->left, &own->tag[0]);
	read_tag(&pair->right, &own->tag[1]);
	for (int side = 0; side < 2; side++) {
		const struct camera_tag *t = &own->tag[side];

		SIM_MUST(t->magic == CAMERA_TAG && t->side == (uint64_t)side && t->sum == camera_tag_sum(t),
			 "the %s image of pair %llu is none of that camera", side ? "right" : "left",
			 (unsigned long long)pair->number);
		world_engine_reads(side ? pair->right.data : pair->left.data, true);
	}
	own->job = true;
	if (x->device->busy == 1)
		world->at.busy = sim->now;
	own->done = own->fails = false;
	x->result.started_ns = sim->now;
	x->result.road = (struct sx_road){.slope = 0.25,
					  .horizon_row = 20,
					  .height_m = 1.5,
					  .inliers = 100,
					  .origin = SX_ROAD_MEASURED};
	for (int u = 0; u < x->columns; u++) {
		const uint64_t support = own->tag[0].shot + (uint64_t)u;

		fake_column(x, support % 3 != 0, (uint16_t)support, STIXEL_LABEL_NONE);
	}
	own->done_ns = SIM_NEVER;
	sim_task_wake(own->task);
	return 0;
}

void __real_sx_row_error(const struct sx_diagnostics *m, struct sx_row_error ret[SX_ROW_ERROR_PARTS]);
void __wrap_sx_row_error(const struct sx_diagnostics *m, struct sx_row_error ret[SX_ROW_ERROR_PARTS]);

/* Computes the row error once: the engine's votes are the same in all frames, and so is the result. */
void __wrap_sx_row_error(const struct sx_diagnostics *m, struct sx_row_error ret[SX_ROW_ERROR_PARTS])
{
	static struct sx_row_error same[SX_ROW_ERROR_PARTS];
	static bool counted;

	if (!counted)
		__real_sx_row_error(m, same);
	counted = true;
	memcpy(ret, same, sizeof(same));
}

static int engine_look(struct sx_context *x, int timeout_ms)
{
	struct simulated *own = x->own;
	uint64_t count;

	sim_seam("wait", timeout_ms);
	/* a late wake-up of the previous frame has no meaning */
	(void)!read(x->fd, &count, sizeof(count));
	if (!own->done)
		return 0;
	while (own->job)
		sim_sleep(1000);
	own->done = false;
	return own->fails ? -EIO : 1;
}

static bool engine_nearly_done(const struct sx_context *x, int64_t *from_ns, int64_t *until_ns)
{
	const struct simulated *own = x->own;

	if (!world->engine.spin_ns || own->done_ns == SIM_NEVER)
		return false;
	*from_ns = own->done_ns - world->engine.spin_ns;
	*until_ns = own->done_ns + world->engine.spin_ns;
	return true;
}

static const char *engine_words(void)
{
	return "simulated";
}

const struct fake_play fake_play = {
	.words = engine_words,
	.memory_bytes = 4096,
	.never_waits = true,
	.create = engine_create,
	.destroy = engine_destroy,
	.begin = engine_begin,
	.look = engine_look,
};

const struct sx_backend sx_backend_cpu = {.name = "cpu", FAKE_ENGINE, .nearly_done = engine_nearly_done};
