/*
 * stixel-bench: computes medians and prints results.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/text.h"
#include "tools/bench/bench.h"

#define WHOLES 4

static struct bench_series *series_at(struct bench_result *r, int i)
{
	struct bench_series *const wholes[WHOLES] = {&r->chain, &r->engine, &r->part, &r->timed};

	return i < WHOLES ? wholes[i] : &r->stage[i - WHOLES];
}

int bench_result_init(struct bench_result *r, int frames)
{
	*r = (struct bench_result){.frames = frames};
	for (int i = 0; i < WHOLES + SX_STAGE_COUNT; i++) {
		series_at(r, i)->ms = calloc((size_t)frames, sizeof(double));
		if (!series_at(r, i)->ms)
			return -ENOMEM;
	}
	return 0;
}

void bench_result_finish(struct bench_result *r)
{
	for (int i = 0; i < WHOLES + SX_STAGE_COUNT; i++)
		free(series_at(r, i)->ms);
	*r = (struct bench_result){0};
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double rank(const double *sorted, int count, int percent)
{
	int n = (count * percent + 99) / 100;

	return sorted[n > 0 ? n - 1 : 0];
}

void bench_summarize(struct bench_result *r)
{
	for (int i = 0; i < WHOLES + SX_STAGE_COUNT; i++) {
		struct bench_series *s = series_at(r, i);

		qsort(s->ms, (size_t)r->frames, sizeof(double), ascending);
		s->median = rank(s->ms, r->frames, 50);
		s->p99 = rank(s->ms, r->frames, 99);
		s->max = s->ms[r->frames - 1];
	}
}

static const char *method_name(const struct sx_params *p)
{
	static const char *const names[] = {"dp", "slanted", "rdp", "slanted-exact"};

	return names[p->stixels.method];
}

static const char *cost_name(const struct sx_params *p)
{
	static const char *const names[] = {"csct", "census", "census48", "census63", "zncc"};

	return names[p->stereo.cost];
}

static void print_series(FILE *to, const char *name, const struct bench_series *s)
{
	fprintf(to, "%-12s %9.3f %9.3f %9.3f\n", name, s->median, s->p99, s->max);
}

/*
 * True if the stage took at least a microsecond. A stage below that is off by configuration, or fused into
 * another stage.
 */
static bool has_run(const struct bench_series *s)
{
	return s->max >= 0.001;
}

static double per_pixel(const struct bench_run *b, size_t bytes)
{
	return (double)bytes / ((double)b->config.width * b->config.height);
}

static double per_frame(const struct bench_result *r, uint64_t count)
{
	return r->transfers.frames ? (double)count / (double)r->transfers.frames : 0;
}

/*
 * Prints bytes moved and memory of one way to keep path costs. A way that the settings do not allow has the
 * values of `stored`.
 */
static void print_volume(const struct bench_run *b, const char *name, const struct bench_volume *v, FILE *to)
{
	if (v->traffic_bytes)
		fprintf(to, "path costs %s: %.0f bytes moved a pixel, %.1f MB a context\n", name,
			per_pixel(b, v->traffic_bytes), (double)v->memory_bytes / 1e6);
}

static void print_memory(const struct bench_run *b, const struct bench_result *r, FILE *to)
{
	const struct sx_transfers *t = &r->transfers;

	fprintf(to, "memory of the engine: %.1f MB for %d in flight\n", (double)r->memory_bytes / 1e6,
		b->settings.engine.contexts);
	if (strcmp(t->path, "host") != 0)
		fprintf(to,
			"pairs: %s, %.2f copies and %.0f bytes a frame, %llu images staged; results: %.2f "
			"copies\n",
			t->path, per_frame(r, t->copies_in), per_frame(r, t->copied_bytes),
			(unsigned long long)t->staged, per_frame(r, t->copies_out));
	print_volume(b, "stored", &r->stored, to);
	if (r->counted.traffic_bytes != r->stored.traffic_bytes)
		print_volume(b, "counted", &r->counted, to);
	if (r->checkpoint.traffic_bytes != r->stored.traffic_bytes)
		print_volume(b, "checkpoint", &r->checkpoint, to);
}

void bench_print_text(const struct bench_run *b, const struct bench_result *r, FILE *to)
{
	const struct sx_params *p = &b->settings.params;

	fprintf(to, "engine %s (%s), %dx%d, %d disparities, %s, %s, %d paths, %s, %d frames\n\n",
		b->engine.backend->name, b->device, b->config.width, b->config.height, p->stereo.disparities,
		cost_name(p), p->stereo.aggregation == SX_AGGREGATION_FASTDT ? "fastdt" : "sgm",
		p->stereo.paths, method_name(p), r->frames);
	if (*b->volume)
		fprintf(to, "%s\n\n", b->volume);
	fprintf(to, "%-12s %9s %9s %9s\n", "ms", "median", "p99", "max");
	for (int i = 0; i < SX_STAGE_COUNT; i++)
		if (has_run(&r->stage[i]))
			print_series(to, sx_stage_name((enum sx_stage)i, &p->stereo), &r->stage[i]);
	print_series(to, "engine", &r->engine);
	print_series(to, "chain", &r->chain);
	fprintf(to, "\n%.1f frames a second, one frame at a time%s", 1000.0 / r->chain.median,
		strcmp(b->engine.backend->name, "cuda") != 0 ? ""
		: b->options->asleep			     ? ", waited for asleep"
							     : ", waited for awake");
	fprintf(to, "; %.1f with %d in flight\n", 1000.0 / r->pipelined_ms, b->settings.engine.contexts);
	if (r->timed_apart)
		fprintf(to, "measuring the stages, as the daemon does: chain %.3f ms, %+.1f us\n",
			r->timed.median, (r->timed.median - r->chain.median) * 1000);
	print_memory(b, r, to);
}

/* Rounds to whole microseconds, the precision of the clock. */
static double whole_us(double ms)
{
	return round(ms * 1000.0) / 1000.0;
}

static void add_series(struct sx_text *t, const char *key, const struct bench_series *s)
{
	sx_json_open(t, key, '{');
	sx_json_real(t, "median", whole_us(s->median));
	sx_json_real(t, "p99", whole_us(s->p99));
	sx_json_real(t, "max", whole_us(s->max));
	sx_json_close(t, '}');
}

/* Returns NAN, which JSON shows as null, for an unknown value. */
static double known(double value)
{
	return value > 0 ? value : (double)NAN;
}

static void add_more(struct sx_text *t, const struct bench_run *b, const struct bench_result *r)
{
	add_series(t, "engine_ms", &r->engine);
	sx_json_whole(t, "sms", (uint64_t)b->subject->sms);
	sx_json_whole(t, "contexts", (uint64_t)b->settings.engine.contexts);
	sx_json_text(t, "waiting", b->options->asleep ? "asleep" : "awake");
	sx_json_real(t, "timed_ms", r->timed_apart ? whole_us(r->timed.median) : (double)NAN);
	sx_json_real(t, "pipelined_ms", whole_us(r->pipelined_ms));
	sx_json_whole(t, "memory_bytes", r->memory_bytes);
	sx_json_text(t, "volume", *b->volume ? b->volume : NULL);
	sx_json_open(t, "input", '{');
	sx_json_text(t, "path", r->transfers.path);
	sx_json_real(t, "copies_per_frame", per_frame(r, r->transfers.copies_in));
	sx_json_real(t, "bytes_per_frame", per_frame(r, r->transfers.copied_bytes));
	sx_json_real(t, "results_per_frame", per_frame(r, r->transfers.copies_out));
	sx_json_whole(t, "staged", r->transfers.staged);
	sx_json_close(t, '}');
	sx_json_open(t, "traffic_bytes_per_pixel", '{');
	sx_json_real(t, "stored", known(per_pixel(b, r->stored.traffic_bytes)));
	sx_json_real(t, "counted", known(per_pixel(b, r->counted.traffic_bytes)));
	sx_json_real(t, "checkpoint", known(per_pixel(b, r->checkpoint.traffic_bytes)));
	sx_json_close(t, '}');
	if (b->subject->name) {
		sx_json_text(t, "case", b->subject->name);
		add_series(t, "case_ms", &r->part);
	}
}

void bench_add_result(struct sx_text *t, const struct bench_run *b, const struct bench_result *r)
{
	char size[32];

	snprintf(size, sizeof(size), "%dx%d", b->config.width, b->config.height);
	sx_json_text(t, "engine", b->engine.backend->name);
	sx_json_text(t, "device", b->device);
	sx_json_text(t, "size", size);
	sx_json_whole(t, "disparities", (uint64_t)b->settings.params.stereo.disparities);
	sx_json_text(t, "method", method_name(&b->settings.params));
	sx_json_whole(t, "frames", (uint64_t)r->frames);
	add_series(t, "chain_ms", &r->chain);
	sx_json_open(t, "stages", '{');
	for (int i = 0; i < SX_STAGE_COUNT; i++)
		if (has_run(&r->stage[i]))
			add_series(t, sx_stage_name((enum sx_stage)i, &b->settings.params.stereo),
				   &r->stage[i]);
	sx_json_close(t, '}');
	add_more(t, b, r);
}

int bench_print_json(const struct bench_run *b, const struct bench_result *r, FILE *to)
{
	char data[8192];
	struct sx_text t;

	sx_text_init(&t, data, sizeof(data));
	sx_json_open(&t, NULL, '{');
	bench_add_result(&t, b, r);
	sx_json_close(&t, '}');
	if (t.cut)
		return -EOVERFLOW;
	fprintf(to, "%s\n", data);
	return 0;
}

void bench_print_row_head(FILE *to)
{
	fprintf(to, "%-40s %4s %8s %8s %8s %9s\n", "ms", "SM", "median", "p99", "max", "in flight");
}

void bench_print_row(const struct bench_run *b, const struct bench_result *r, FILE *to)
{
	const struct bench_case *c = b->subject;
	char sms[16] = "all", chain[16] = "-";

	if (c->sms)
		snprintf(sms, sizeof(sms), "%d", c->sms);
	if (c->part == BENCH_CHAIN)
		snprintf(chain, sizeof(chain), "%.3f", r->pipelined_ms);
	fprintf(to, "%-40s %4s %8.3f %8.3f %8.3f %9s\n", c->name, sms, r->part.median, r->part.p99,
		r->part.max, chain);
}
