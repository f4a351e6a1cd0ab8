/*
 * Measures how many pairs a second a source gives, alone or to an engine. The build for boards and cards without
 * libraries has it, too (-Dengines_only=true).
 *
 * usage: source_rate alone|engine PAIRS SECTION.KEY=VALUE...
 * The settings are those of stixeld, such as source.kind=files source.path=FOLDER source.loop=yes source.fps=0.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include "base/clock.h"
#include "capture/source.h"
#include "config/config.h"
#include "engines/select.h"
#include "tools/common/settings_args.h"

#define PROGRAM "source_rate"
#define CONTEXTS_MAX 4
#define WARM_UP 50 /* pairs before the measurement */

struct frame {
	struct sx_context *context;
	struct sx_pair pair;
	bool busy;
};

struct rate {
	struct sx_settings settings;
	struct sx_source *source;
	struct sx_engine engine;
	struct frame frames[CONTEXTS_MAX];
	int count; /* contexts; without an engine 1 */
};

static int rate_fail(int code, const char *what, const char *why)
{
	fprintf(stderr, PROGRAM ": %s: %s\n", what, why);
	return code;
}

static int open_engine(struct rate *r)
{
	const struct sx_context_config config = sx_settings_context(&r->settings, sx_source_info(r->source));
	int code = sx_settings_args_engine(&r->engine, &r->settings.engine, PROGRAM);
	struct sx_block block;
	struct sx_why why = {""};

	for (int i = 0; !code && sx_source_block(r->source, i, &block); i++)
		sx_engine_pin(&r->engine, block.memory, block.bytes);
	r->count = r->settings.engine.contexts;
	for (int i = 0; !code && i < r->count; i++)
		if (r->engine.backend->context_create(&r->frames[i].context, r->engine.device, &config,
						      &why) < 0)
			return rate_fail(EX_SOFTWARE, r->engine.backend->name, why.text);
	return code;
}

static int finish_frame(struct rate *r, struct frame *f)
{
	int e = f->busy && f->context ? r->engine.backend->wait(f->context, -1) : 0;

	if (f->busy)
		sx_source_release(r->source, &f->pair);
	f->busy = false;
	return e < 0 ? rate_fail(EX_SOFTWARE, "engine", sx_engine_failure(&r->engine, e)) : 0;
}

/* Takes the next pair, and submits it if there is an engine. */
static int begin_frame(struct rate *r, struct frame *f)
{
	struct pollfd fd = {.fd = sx_source_fd(r->source), .events = POLLIN};
	struct sx_why why = {""};
	int e = 0;

	while (e == 0) {
		poll(&fd, 1, -1);
		e = sx_source_next(r->source, &f->pair, &why);
	}
	if (e < 0)
		return rate_fail(EX_DATAERR, "source", why.text);
	f->busy = true;
	e = f->context ? r->engine.backend->submit(f->context, &f->pair, NULL, NULL, NULL) : 0;
	return e < 0 ? rate_fail(EX_SOFTWARE, "engine", sx_engine_failure(&r->engine, e)) : 0;
}

static double processor_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int measure(struct rate *r, long pairs)
{
	int64_t begun_ns = 0;
	double begun_s = 0;
	int code = 0;

	for (long i = -WARM_UP; !code && i < pairs; i++) {
		struct frame *f = &r->frames[(i + WARM_UP) % r->count];

		if (i == 0) {
			begun_ns = sx_now_ns();
			begun_s = processor_s();
		}
		code = finish_frame(r, f);
		if (!code)
			code = begin_frame(r, f);
	}
	for (int i = 0; i < r->count; i++) {
		const int last = finish_frame(r, &r->frames[i]);

		code = code ? code : last;
	}
	if (!code)
		printf("%s, %s: %.0f pairs/s, %.2f ms of a core for each\n",
		       sx_source_info(r->source)->path[0],
		       r->engine.backend ? r->engine.backend->name : "alone",
		       1e9 * (double)pairs / (double)(sx_now_ns() - begun_ns),
		       1e3 * (processor_s() - begun_s) / (double)pairs);
	return code;
}

static void rate_close(struct rate *r)
{
	for (int i = 0; i < CONTEXTS_MAX; i++)
		if (r->frames[i].context)
			r->engine.backend->context_destroy(r->frames[i].context);
	sx_engine_unpin_all(&r->engine);
	sx_source_close(r->source);
	sx_engine_close(&r->engine);
	sx_settings_finish(&r->settings);
}

int main(int argc, char **argv)
{
	const bool engine = argc > 1 && strcmp(argv[1], "engine") == 0;
	const long pairs = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	struct sx_settings_args args = {0};
	struct rate r = {.count = 1};
	struct sx_why why = {""};
	int code;

	if (pairs < 1 || (!engine && strcmp(argv[1], "alone") != 0)) {
		fprintf(stderr, "usage: " PROGRAM " alone|engine PAIRS SECTION.KEY=VALUE...\n");
		return EX_USAGE;
	}
	for (int i = 3; i < argc; i++)
		if (!sx_settings_args_add(&args, argv[i]))
			return rate_fail(EX_USAGE, argv[i], "too many settings");
	code = sx_settings_args_load(&r.settings, &args, PROGRAM);
	if (!code && sx_source_open(&r.source, &r.settings.source, CONTEXTS_MAX + 2, &why) < 0)
		code = rate_fail(EX_DATAERR, "source", why.text);
	if (!code && engine)
		code = open_engine(&r);
	if (!code)
		code = measure(&r, pairs);
	rate_close(&r);
	return code;
}
