/*
 * stixel-bench: runs one case, from its pairs to its durations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "capture/image/image_io.h"
#include "capture/scene/scene.h"
#include "stages/context.h"
#include "stixel.h"
#include "tools/bench/bench.h"

#define PAIRS_MAX (int)(sizeof(((struct bench_run *)NULL)->pairs) / sizeof(struct sx_pair))

static int load_settings(struct bench_run *b)
{
	struct sx_settings_args *args = malloc(sizeof(*args));
	int code = 0;

	if (!args)
		return bench_fail(EX_SOFTWARE, "out of memory", NULL);
	*args = b->options->args;
	for (int i = 0; !code && b->subject->set[i]; i++)
		if (!sx_settings_args_add(args, b->subject->set[i]))
			code = bench_fail(EX_USAGE, "too many -s", NULL);
	if (!code)
		code = sx_settings_args_load(&b->settings, args, SX_PROGRAM);
	b->settings.engine.sms = b->subject->sms;
	free(args);
	if (!code && b->settings.params.stereo.matcher == SX_MATCH_EXTERNAL)
		code = bench_fail(EX_CONFIG, "stereo.matcher = external: no process provides maps here",
				  NULL);
	return code;
}

static int make_slots(struct bench_run *b, int count, const struct sx_image *like)
{
	struct sx_why why = {""};

	if (sx_slots_init(&b->slots, count, SX_LAYOUT_TWO, like->width, like->height, like->pixel, &why) < 0)
		return bench_fail(EX_SOFTWARE, why.text, NULL);
	return 0;
}

static void keep_pair(struct bench_run *b, const struct sx_image *left, const struct sx_image *right)
{
	struct sx_slot *slot = &b->slots.slot[b->pair_count];

	sx_image_copy(&slot->left, left);
	sx_image_copy(&slot->right, right);
	b->pairs[b->pair_count] = (struct sx_pair){.left = slot->left,
						   .right = slot->right,
						   .number = (uint64_t)b->pair_count + 1,
						   .slot = slot};
	b->pair_count++;
}

static int read_pair(struct bench_run *b)
{
	const char *names[2] = {b->options->images[0], b->options->images[1]};
	struct sx_image img[2] = {{0}};
	struct sx_why why = {""};
	int code = 0;

	for (int i = 0; !code && i < 2; i++)
		if (sx_image_read(names[i], &img[i], &why) < 0)
			code = bench_fail(EX_DATAERR, why.text, NULL);
	if (!code &&
	    (img[0].width != img[1].width || img[0].height != img[1].height || img[0].pixel != img[1].pixel))
		code = bench_fail(EX_DATAERR, "left and right differ in size or format", names[1]);
	if (!code && sx_settings_check_size(&b->settings, img[0].width, img[0].height, &why) < 0)
		code = bench_fail(EX_DATAERR, why.text, names[0]);
	b->config = sx_settings_context(&b->settings, &(struct sx_source_info){.width = img[0].width,
									       .height = img[0].height,
									       .pixel = img[0].pixel});
	if (!code)
		code = make_slots(b, 1, &img[0]);
	if (!code)
		keep_pair(b, &img[0], &img[1]);
	sx_image_finish(&img[0]);
	sx_image_finish(&img[1]);
	return code;
}

static int make_pairs(struct bench_run *b)
{
	struct sx_source_params params = b->settings.source;
	struct sx_source *source = NULL;
	struct sx_pair pair;
	const int used = b->options->warm_up + b->options->frames;
	const int count =
		used < PAIRS_MAX ? used : PAIRS_MAX; /* drawing a pair takes longer than computing it */
	struct sx_why why = {""};
	int code = 0;

	params.kind = SX_SOURCE_SYNTHETIC;
	params.layout = SX_LAYOUT_TWO;
	params.fps = 0;
	if (b->subject->width) {
		params.width = b->subject->width;
		params.height = b->subject->height;
	}
	if (sx_source_open(&source, &params, 1, &why) < 0)
		return bench_fail(EX_USAGE, why.text, NULL);
	/* a calibration file does not describe the street's cameras */
	b->settings.rectify = false;
	b->config = sx_settings_context(&b->settings, sx_source_info(source));
	while (!code && b->pair_count < count) {
		if (sx_source_next(source, &pair, &why) != 1) {
			code = bench_fail(EX_SOFTWARE, "the synthetic source ended", why.text);
			break;
		}
		if (b->pair_count == 0)
			code = make_slots(b, count, &pair.left);
		if (!code)
			keep_pair(b, &pair.left, &pair.right);
		sx_source_release(source, &pair);
	}
	sx_source_close(source);
	return code;
}

static void drop_contexts(struct bench_run *b)
{
	while (b->context_count > 0)
		b->engine.backend->context_destroy(b->contexts[--b->context_count]);
	if (b->chain)
		b->engine.backend->chain_destroy(b->chain);
	b->chain = b->config.chain = NULL;
}

static int contexts_failed(const struct bench_run *b, int r, const struct sx_why *why)
{
	return bench_fail(r == -ENOMEM || r == -EIO ? EX_SOFTWARE
			  : r == -ENODEV	    ? EX_UNAVAILABLE
						    : EX_CONFIG,
			  b->engine.backend->name, why->text[0] ? why->text : strerror(-r));
}

int bench_run_contexts(struct bench_run *b, int count, bool time_stages, bool asleep)
{
	struct sx_why why = {""};
	int r;

	drop_contexts(b);
	b->config.time_stages = time_stages;
	b->config.busy_wait = !asleep;
	r = sx_chain_create(&b->chain, b->engine.backend, b->engine.device, &b->config, &why);
	if (r < 0)
		return contexts_failed(b, r, &why);
	b->config.chain = b->chain;
	while (b->context_count < count) {
		r = b->engine.backend->context_create(&b->contexts[b->context_count], b->engine.device,
						      &b->config, &why);
		if (r < 0)
			return contexts_failed(b, r, &why);
		b->context_count++;
	}
	return 0;
}

static int open_engine(struct bench_run *b)
{
	struct sx_block block;
	int code;

	if (b->subject->sms && (b->settings.engine.backend == SX_BACKEND_CPU ||
				b->settings.engine.backend == SX_BACKEND_REFERENCE))
		return BENCH_SKIPPED;
	code = sx_settings_args_engine(&b->engine, &b->settings.engine, SX_PROGRAM);
	if (code)
		return code;
	if (b->subject->sms && strcmp(b->engine.backend->name, "cuda") != 0)
		return BENCH_SKIPPED;
	snprintf(b->device, sizeof(b->device), "%s", b->engine.backend->describe(b->engine.device));
	for (int i = 0; sx_slots_block(&b->slots, i, &block); i++)
		if (sx_engine_pin(&b->engine, block.memory, block.bytes) < 0)
			return bench_fail(EX_SOFTWARE, "memory for pairs cannot be pinned", NULL);
	code = bench_run_contexts(b, b->settings.engine.contexts, false, b->options->asleep);
	if (!code && b->engine.backend->volume)
		snprintf(b->volume, sizeof(b->volume), "%s", b->engine.backend->volume(b->contexts[0]));
	return code;
}

int bench_run_open(struct bench_run *b, const struct bench_options *o, const struct bench_case *c)
{
	int code;

	*b = (struct bench_run){.options = o, .subject = c, .slots.fd = -1};
	code = load_settings(b);
	if (!code)
		code = o->images[0] ? read_pair(b) : make_pairs(b);
	return code ? code : open_engine(b);
}

static void close_engine(struct bench_run *b)
{
	drop_contexts(b);
	sx_engine_close(&b->engine);
}

void bench_run_close(struct bench_run *b)
{
	close_engine(b);
	sx_slots_finish(&b->slots);
	sx_settings_finish(&b->settings);
	free(b->record);
	b->record = NULL;
}

/* The buffer grows during the warm-up, so that no allocation is measured. */
int bench_run_copy(struct bench_run *b, const struct sx_result *r)
{
	size_t offsets = (r->columns + 1) * sizeof(uint32_t), stixels = r->count * sizeof(struct stixel);

	if (offsets + stixels > b->record_bytes) {
		void *larger = realloc(b->record, 2 * (offsets + stixels));

		if (!larger)
			return -ENOMEM;
		b->record = larger;
		b->record_bytes = 2 * (offsets + stixels);
	}
	memcpy(b->record, r->offsets, offsets);
	memcpy((char *)b->record + offsets, r->stixels, stixels);
	return 0;
}

/* Returns the duration of one frame for the part that the case asks for, ms. */
static double part_ms(const struct bench_run *b, const struct bench_result *r, int frame)
{
	enum sx_stage first = SX_STAGE_CENSUS, last = SX_STAGE_LEFT_RIGHT;
	double sum = 0;

	if (b->subject->part == BENCH_CHAIN)
		return r->chain.ms[frame];
	if (b->subject->part == BENCH_SEGMENT)
		first = last = SX_STAGE_SEGMENT;
	for (int i = (int)first; i <= (int)last; i++)
		sum += r->stage[i].ms[frame];
	return sum;
}

int bench_run_submit(struct bench_run *b, int context)
{
	const int turn = b->pair_count > 1 ? 2 * (b->pair_count - 1) : 1;
	const int at = (int)(b->submitted % turn), index = at < b->pair_count ? at : turn - at;
	struct sx_pair *pair = &b->in_flight[context];

	*pair = b->pairs[index];
	pair->left_ns = pair->right_ns = b->submitted++ * BENCH_PERIOD_NS;
	return b->engine.backend->submit(b->contexts[context], pair, NULL, NULL, NULL);
}

/* Runs one frame through the first context. */
static int run_frame(struct bench_run *b, int64_t *chain_ns, const struct sx_result **ret)
{
	const struct sx_backend *e = b->engine.backend;
	struct sx_context *x = b->contexts[0];
	int64_t began_ns = sx_now_ns();
	int err = bench_run_submit(b, 0);

	if (err == 0)
		err = e->wait(x, -1);
	if (err < 0)
		return err;
	*ret = e->result(x);
	err = bench_run_copy(b, *ret);
	*chain_ns = sx_now_ns() - began_ns;
	return err;
}

/*
 * Runs frames one after the other. Frames with a negative number are the warm-up. timed: stores the time in
 * `timed`, else in `chain` and `engine`.
 */
static int run_frames(struct bench_run *b, struct bench_result *result, bool timed)
{
	const struct sx_result *r;
	int64_t chain_ns;

	for (int i = -b->options->warm_up; i < result->frames; i++) {
		int err = run_frame(b, &chain_ns, &r);

		if (err < 0)
			return err;
		if (i < 0)
			continue;
		if (timed) {
			result->timed.ms[i] = (double)chain_ns / 1e6;
		} else {
			result->chain.ms[i] = (double)chain_ns / 1e6;
			result->engine.ms[i] = (double)(r->finished_ns - r->started_ns) / 1e6;
		}
		for (int s = 0; s < SX_STAGE_COUNT; s++) {
			result->stage[s].ms[i] = (double)r->stage_ns[s] / 1e6;
			result->staged |= r->stage_ns[s] > 0;
		}
		result->part.ms[i] = part_ms(b, result, i);
	}
	return 0;
}

/* Keeps every context busy and collects frames in their order. */
static int run_pipelined(struct bench_run *b, struct bench_result *result)
{
	const struct sx_backend *e = b->engine.backend;
	int n = b->context_count, frames = result->frames > n ? result->frames : n, err = 0;
	int64_t began_ns = sx_now_ns();

	for (int i = 0; err >= 0 && i < frames + n; i++) {
		struct sx_context *x = b->contexts[i % n];

		if (i >= n) {
			err = e->wait(x, -1);
			if (err > 0)
				err = bench_run_copy(b, e->result(x));
		}
		if (err >= 0 && i < frames)
			err = bench_run_submit(b, i % n);
	}
	result->pipelined_ms = (double)(sx_now_ns() - began_ns) / 1e6 / frames;
	return err < 0 ? err : 0;
}

/*
 * Opens the cuda engine with one way to keep path costs, and asks how many bytes a frame would move and need.
 */
static void ask_volume(struct bench_run *b, enum sx_volume_choice volume, struct bench_volume *ret)
{
	struct sx_engine_params p = b->settings.engine;
	struct sx_context *x = NULL;
	struct sx_engine e;
	struct sx_why why;

	p.volume = volume;
	p.backend = SX_BACKEND_CUDA;
	if (sx_engine_open(&e, &p, &why) < 0)
		return;
	if (e.backend->context_create(&x, e.device, &b->config, &why) == 0) {
		ret->traffic_bytes = e.backend->traffic(x);
		ret->memory_bytes = e.backend->memory(e.device);
		e.backend->context_destroy(x);
	}
	sx_engine_close(&e);
}

static int failed(const struct bench_run *b, int r)
{
	return bench_fail(EX_SOFTWARE, "the engine failed", sx_engine_failure(&b->engine, r));
}

/*
 * Measures a case. An engine that measures stages only on demand measures them in a second pass, so that the
 * first pass times the chain without that overhead.
 */
int bench_run_measure(struct bench_run *b, struct bench_result *result)
{
	int r = run_frames(b, result, false), code;

	if (r == 0)
		r = run_pipelined(b, result);
	if (r < 0)
		return failed(b, r);
	result->memory_bytes = b->engine.backend->memory(b->engine.device);
	sx_engine_transfers(&b->engine, &result->transfers);
	if (!result->staged) {
		code = bench_run_contexts(b, 1, true, b->options->asleep);
		if (code)
			return code;
		result->timed_apart = true;
		r = run_frames(b, result, true);
		if (r < 0)
			return failed(b, r);
	}
	if (b->engine.backend->traffic) {
		ask_volume(b, SX_VOLUME_STORED, &result->stored);
		ask_volume(b, SX_VOLUME_RECOMPUTE, &result->counted);
		ask_volume(b, SX_VOLUME_CHECKPOINT, &result->checkpoint);
	}
	bench_summarize(result);
	return 0;
}
