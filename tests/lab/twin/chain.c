/*
 * Runs frames of the engine on a slice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/lab/twin/chain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "capture/scene/scene.h"
#include "config/config.h"
#include "gpu/host/engine.h"

#define FRAMES_MIN 5
#define FRAMES_MAX 40
#define WAIT_MS 5000

static int draw(struct twin_pairs *p, int width, int height, struct sx_why *why)
{
	const struct sx_scene_params params = {.width = width, .height = height};
	struct sx_scene *scene;
	int r = sx_scene_create(&scene, &params, why);

	if (r < 0)
		return r;
	for (int i = 0; i < TWIN_PAIRS; i++) {
		struct sx_slot *s = &p->slots.slot[i];

		sx_scene_render(scene, (uint32_t)i, &s->left, &s->right);
		p->pair[i] = (struct sx_pair){
			.left = s->left, .right = s->right, .number = (uint64_t)i + 1, .slot = s};
	}
	sx_scene_destroy(scene);
	return 0;
}

int twin_pairs_init(struct twin_pairs *p, int width, int height, struct sx_why *why)
{
	struct sx_settings settings;
	int r;

	memset(p, 0, sizeof(*p));
	p->slots.fd = -1;
	r = sx_settings_init(&settings);
	if (r < 0)
		return sx_why_fail(r, why, "out of memory");
	p->params = settings.params;
	sx_settings_finish(&settings);
	p->params.stereo.disparities = TWIN_DISPARITIES;
	sx_scene_camera(&(struct sx_scene_params){.width = width, .height = height}, &p->params.camera);
	r = sx_slots_init(&p->slots, TWIN_PAIRS, SX_LAYOUT_TWO, width, height, SX_PIXEL_U8, why);
	return r < 0 ? r : draw(p, width, height, why);
}

void twin_pairs_finish(struct twin_pairs *p)
{
	sx_slots_finish(&p->slots);
}

static int make_contexts(struct twin_chain *c, struct sx_why *why)
{
	const struct twin_pairs *p = c->pairs;
	struct sx_context_config config = {.width = p->pair[0].left.width,
					   .height = p->pair[0].left.height,
					   .pixel = SX_PIXEL_U8,
					   .params = p->params,
					   .time_stages = true,
					   .busy_wait = true};
	struct twin_times warm;
	struct sx_block block;
	int r;

	for (int i = 0; sx_slots_block(&p->slots, i, &block); i++)
		sx_backend_cuda.pin(c->device, block.memory, block.bytes);
	r = sx_backend_cuda.context_create(&c->timed, c->device, &config, why);
	if (r < 0)
		return r;
	c->memory = sx_backend_cuda.memory(c->device);
	c->traffic = sx_backend_cuda.traffic(c->timed);
	c->cells = (double)config.width * config.height * config.params.stereo.disparities;
	config.time_stages = false;
	r = sx_backend_cuda.context_create(&c->plain, c->device, &config, why);
	if (r < 0)
		return r;
	if (twin_chain_stages(c, 0, &warm) && twin_chain_whole(c, 0, &warm))
		return 0;
	return sx_why_fail(-EIO, why, "the engine fails: %s", sx_backend_cuda.failure(c->device));
}

int twin_chain_open(struct twin_chain *c, const struct twin_pairs *pairs, int sms,
		    enum sx_volume_choice volume, struct sx_why *why)
{
	const struct sx_engine_params p = {.backend = SX_BACKEND_CUDA,
					   .contexts = 2,
					   .volume = volume,
					   .input = SX_INPUT_COPY,
					   .sms = sms};
	int r;

	memset(c, 0, sizeof(*c));
	c->pairs = pairs;
	r = sx_backend_cuda.open(&c->device, &p, why);
	if (r == 0 && pairs)
		r = make_contexts(c, why);
	if (r < 0)
		twin_chain_close(c);
	return r;
}

void twin_chain_close(struct twin_chain *c)
{
	if (c->timed)
		sx_backend_cuda.context_destroy(c->timed);
	if (c->plain)
		sx_backend_cuda.context_destroy(c->plain);
	if (c->device)
		sx_backend_cuda.close(c->device);
	memset(c, 0, sizeof(*c));
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), compare);
	return v[n / 2];
}

/* Computes one frame. On failure prints a line on stderr and returns NULL. */
static const struct sx_result *frame(struct twin_chain *c, struct sx_context *x, int number, double *chain)
{
	const int64_t began_ns = sx_now_ns();
	int r = sx_backend_cuda.submit(x, &c->pairs->pair[number % TWIN_PAIRS], NULL, NULL, NULL);

	if (r == 0)
		r = sx_backend_cuda.wait(x, WAIT_MS);
	*chain = (double)(sx_now_ns() - began_ns) / 1e6;
	if (r > 0)
		return sx_backend_cuda.result(x);
	fprintf(stderr, "a frame fails: %s %s\n", r ? strerror(-r) : "it takes longer than 5 s",
		sx_backend_cuda.failure(c->device));
	return NULL;
}

static bool goes_on(int frames, int64_t began_ns, double seconds)
{
	if (frames < FRAMES_MIN)
		return true;
	return frames < FRAMES_MAX && (double)(sx_now_ns() - began_ns) < seconds * 1e9;
}

bool twin_chain_stages(struct twin_chain *c, double seconds, struct twin_times *ret)
{
	const int64_t began_ns = sx_now_ns();
	double sgm[FRAMES_MAX], winner[FRAMES_MAX], rest[FRAMES_MAX], chain;
	int n = 0;

	for (; goes_on(n, began_ns, seconds); n++) {
		const struct sx_result *r = frame(c, c->timed, n, &chain);

		if (!r)
			return false;
		sgm[n] = (double)r->stage_ns[SX_STAGE_AGGREGATE] / 1e6;
		winner[n] = (double)r->stage_ns[SX_STAGE_WINNER] / 1e6;
		rest[n] = 0;
		for (int s = 0; s < SX_STAGE_COUNT; s++)
			if (s != SX_STAGE_AGGREGATE && s != SX_STAGE_WINNER)
				rest[n] += (double)r->stage_ns[s] / 1e6;
	}
	ret->frames = n;
	ret->sgm = median(sgm, n);
	ret->winner = median(winner, n);
	ret->rest = median(rest, n);
	return true;
}

bool twin_chain_whole(struct twin_chain *c, double seconds, struct twin_times *ret)
{
	const int64_t began_ns = sx_now_ns();
	double chain[FRAMES_MAX];
	int n = 0;

	for (; goes_on(n, began_ns, seconds); n++)
		if (!frame(c, c->plain, n, &chain[n]))
			return false;
	ret->chain = median(chain, n);
	return true;
}
