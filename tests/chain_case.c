/*
 * Motion of a sequence by an engine, see chain_case.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/chain_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/scene/scene.h"
#include "stages/context.h"
#include "stages/motion/ego.h"
#include "stages/motion/filter/objects.h"
#include "tests/check.h"
#include "tests/engine_case.h"

#define START 20 /* frame of the scene that a sequence begins with */
#define CONTEXTS 4

static void must(int r, const char *what, const char *why)
{
	if (r >= 0)
		return;
	fprintf(stderr, "%s: %s\n", what, why);
	abort();
}

struct chain_case chain_case_draw(unsigned seed)
{
	static const char *const scenes[] = {"traffic", "crossing", "bend", "yard"};
	static const int rates[] = {10, 30, 7, 50};
	struct check_rng r = check_rng_seed(seed);
	struct chain_case t = {.scene = scenes[seed % 4],
			       .seed = 1 + seed,
			       .width = 240 + 8 * check_below(&r, 10),
			       .height = 96 + check_below(&r, 40),
			       .fps = rates[seed / 4 % 4],
			       .params = engine_case_params()};

	switch (check_below(&r, 4)) {
	case 0:
		t.repeated = 3 + check_below(&r, 4);
		break;
	case 1:
		t.missing = 3 + check_below(&r, 4);
		break;
	case 2:
		t.back = 3 + check_below(&r, 4);
		break;
	}
	t.params.stixels.width = 4 + check_below(&r, 3);
	if (seed % 2)
		t.params.stixels.method = SX_STIXEL_SLANTED;
	sx_scene_camera(&(struct sx_scene_params){.name = t.scene, .width = t.width, .height = t.height},
			&t.params.camera);
	t.params.road.min_height_m = t.params.road.max_height_m =
		0; /* the engine takes the camera's height */
	t.params.motion.mode = seed % 3 ? SX_MOTION_MODE_FILTER : SX_MOTION_MODE_PAIR;
	return t;
}

static void copy_image(const struct sx_image *from, struct sx_image *to)
{
	must(sx_image_init(to, from->pixel, from->width, from->height), "image", "no memory");
	sx_image_copy(to, from);
}

/* Returns NULL of NULL. */
static void *copy_bytes(const void *from, size_t bytes)
{
	void *to;

	if (!from)
		return NULL;
	to = malloc(bytes + 1);
	must(to ? 0 : -1, "copy", "no memory");
	memcpy(to, from, bytes);
	return to;
}

static void record(const struct sx_backend *backend, struct sx_context *x, struct chain_record *ret)
{
	const int n = ret->frames++;
	const struct sx_result *result;
	struct sx_image features, flows;

	must(backend->wait(x, -1), "wait", "the engine failed");
	result = backend->result(x);
	must(backend->peek(x, SX_TAP_FEATURES, &features), "features", "not there");
	must(backend->peek(x, SX_TAP_FLOWS, &flows), "flows", "not there");
	copy_image(&features, &ret->frame[n].features);
	copy_image(&flows, &ret->frame[n].flows);
	ret->frame[n].ego = copy_bytes(result->ego, sizeof(*result->ego));
	ret->frame[n].stixels = result->count;
	ret->frame[n].velocities =
		copy_bytes(result->velocities, result->count * sizeof(*result->velocities));
	ret->frame[n].objects = copy_bytes(result->objects, sizeof(*result->objects));
	ret->frame[n].object_of = copy_bytes(result->object_of, result->count * sizeof(*result->object_of));
	ret->frame[n].span_ns = result->motion_span_ns;
}

/* The contexts of a run, and the pairs that they compute. */
struct run {
	const struct sx_backend *backend;
	struct sx_device *device;
	struct sx_context_config config;
	int count;
	struct sx_context *context[CONTEXTS];
	struct sx_image image[CONTEXTS][2];
	struct sx_pair pair[CONTEXTS];
	int submitted, collected;
};

static void make_contexts(struct run *run)
{
	struct sx_why why = {""};

	for (int i = 0; i < run->count; i++)
		must(run->backend->context_create(&run->context[i], run->device, &run->config, &why),
		     "context", why.text);
}

static void collect(struct run *run, int most_left, struct chain_record *ret)
{
	for (; run->submitted - run->collected > most_left; run->collected++)
		record(run->backend, run->context[run->collected % run->count], ret);
}

static void drop_contexts(struct run *run, struct chain_record *ret)
{
	collect(run, 0, ret);
	run->submitted = run->collected = 0;
	for (int i = 0; i < run->count; i++)
		run->backend->context_destroy(run->context[i]);
}

static void submit(struct run *run, const struct chain_case *t, struct sx_scene *scene, int n,
		   struct chain_record *ret)
{
	const int i = run->submitted % run->count;
	const int64_t period = 1000000000 / t->fps;

	collect(run, run->count - 1, ret);
	sx_scene_render(scene, (uint32_t)(START + n - (n == t->repeated && n)), &run->image[i][0],
			&run->image[i][1]);
	run->pair[i] = (struct sx_pair){.left = run->image[i][0],
					.right = run->image[i][1],
					.number = (uint64_t)n + 1,
					.left_ns = period * (t->back && n >= t->back ? n - 20 : n)};
	must(run->backend->submit(run->context[i], &run->pair[i], NULL, NULL, NULL), "submit", "refused");
	run->submitted++;
}

void chain_case_run(const struct chain_case *t, const struct sx_backend *backend, struct sx_device *device,
		    int contexts, bool again, struct chain_record *ret)
{
	struct run run = {
		.backend = backend,
		.device = device,
		.count = contexts,
		.config = {
			.width = t->width, .height = t->height, .pixel = SX_PIXEL_U8, .params = t->params}};
	struct sx_scene *scene;
	struct sx_why why = {""};

	*ret = (struct chain_record){.frames = 0};
	must(sx_scene_create(&scene,
			     &(struct sx_scene_params){.name = t->scene,
						       .seed = t->seed,
						       .width = t->width,
						       .height = t->height,
						       .fps = t->fps},
			     &why),
	     t->scene, why.text);
	must(sx_chain_create(&run.config.chain, backend, device, &run.config, &why), "chain", why.text);
	for (int i = 0; i < contexts; i++)
		for (int side = 0; side < 2; side++)
			must(sx_image_init(&run.image[i][side], SX_PIXEL_U8, t->width, t->height), "image",
			     "no memory");
	make_contexts(&run);
	for (int n = 0; n < CHAIN_FRAMES; n++) {
		if (again && n == CHAIN_FRAMES / 2) {
			drop_contexts(&run, ret);
			make_contexts(&run);
		}
		if (!t->missing || n != t->missing)
			submit(&run, t, scene, n, ret);
	}
	drop_contexts(&run, ret);
	backend->chain_destroy(run.config.chain);
	for (int i = 0; i < contexts; i++)
		for (int side = 0; side < 2; side++)
			sx_image_finish(&run.image[i][side]);
	sx_scene_destroy(scene);
}

void chain_record_finish(struct chain_record *r)
{
	for (int i = 0; i < r->frames; i++) {
		sx_image_finish(&r->frame[i].features);
		sx_image_finish(&r->frame[i].flows);
		free(r->frame[i].ego);
		free(r->frame[i].velocities);
		free(r->frame[i].objects);
		free(r->frame[i].object_of);
	}
}

/* Compares fields, because the records have gaps. */
static bool same_objects(const struct sx_motion_objects *a, const struct sx_motion_objects *b)
{
	bool same = a && b ? a->count == b->count && a->last_id == b->last_id : a == b;

	for (uint32_t i = 0; same && a && i < a->count; i++) {
		const struct sx_motion_object *x = &a->objects[i], *y = &b->objects[i];

		same = x->id == y->id && x->state == y->state && x->shown == y->shown &&
		       memcmp(&x->estimate, &y->estimate, sizeof(x->estimate)) == 0 &&
		       memcmp(&x->biased, &y->biased, sizeof(x->biased)) == 0 && x->x == y->x &&
		       x->y == y->y && x->z == y->z && x->pxx == y->pxx && x->pxz == y->pxz &&
		       x->pzz == y->pzz && x->width == y->width && x->height == y->height &&
		       x->left == y->left && x->right == y->right && x->top == y->top &&
		       x->bottom == y->bottom && x->age == y->age && x->unseen == y->unseen &&
		       x->frames == y->frames && x->core == y->core && x->stixels == y->stixels;
	}
	return same;
}

bool chain_record_same(const char *what, const struct chain_record *want, const struct chain_record *got)
{
	char text[128];
	bool same = want->frames == got->frames;

	for (int i = 0; same && i < want->frames; i++) {
		snprintf(text, sizeof(text), "%s, frame %d", what, i);
		same = check_same(text, 0, &want->frame[i].features, &got->frame[i].features, 0) &&
		       check_same(text, 0, &want->frame[i].flows, &got->frame[i].flows, 0);
		if (same && (want->frame[i].span_ns != got->frame[i].span_ns ||
			     memcmp(want->frame[i].ego, got->frame[i].ego, sizeof(*want->frame[i].ego)) ||
			     want->frame[i].stixels != got->frame[i].stixels ||
			     memcmp(want->frame[i].velocities, got->frame[i].velocities,
				    want->frame[i].stixels * sizeof(*want->frame[i].velocities)) ||
			     (want->frame[i].object_of && got->frame[i].object_of &&
			      memcmp(want->frame[i].object_of, got->frame[i].object_of,
				     want->frame[i].stixels * sizeof(*want->frame[i].object_of))) ||
			     !same_objects(want->frame[i].objects, got->frame[i].objects))) {
			fprintf(stderr, "%s: step, velocities or objects differ\n", text);
			same = false;
		}
	}
	return same;
}
