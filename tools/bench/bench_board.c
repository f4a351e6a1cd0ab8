/*
 * stixel-bench --board: predicts the time of a frame on a board by counted work (predict/predict.h), without
 * a measurement on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sysexits.h>

#include "config/config.h"
#include "ipc/text.h"
#include "predict/predict.h"
#include "stages/params_check.h"
#include "tools/bench/bench.h"

#define STANDARD_WIDTH 1242
#define STANDARD_HEIGHT 375

const char *const bench_board_words[] = {
	"list",	   "xavier",	    "xavier-nx", "orin-nano", "orin-nano-super",
	"orin-nx", "orin-nx-super", "agx-orin",	 "thor",      NULL};
static const char *const bound_names[] = {"issue", "floor", "bytes"};

struct board_run {
	const struct sx_predict_board *board;
	struct sx_params params; /* resolved parameters */
	int width, height;
	struct sx_why volume; /* why this engine.volume was chosen */
	struct sx_prediction p;
};

static const char *off_text(char *to, size_t bytes, const int off[2], bool own)
{
	snprintf(to, bytes, "%+d to %+d %%%s", off[0], off[1], own ? " *" : "");
	return to;
}

static void board_stage(const struct board_run *r, int i)
{
	const struct sx_predict_stage *s = &r->p.stage[i];
	const char *name = sx_stage_name((enum sx_stage)i, &r->params.stereo);
	char off[48];

	if (!s->work)
		printf("predicted  %-9s %9s\n", name, "unknown");
	else
		printf("predicted  %-9s %9.3f %9.3f %9.3f %9.3f  %-6s %s\n", name, s->ms, s->issue_ms,
		       s->floor_ms, s->bytes_ms, bound_names[s->bound],
		       off_text(off, sizeof(off), s->work->off, s->work->own));
}

static void board_chain(const struct board_run *r)
{
	const struct sx_prediction *p = &r->p;
	char off[48];

	printf("predicted  %-9s %9.3f\n", "host", p->host_ms);
	if (isnan(p->chain_ms)) {
		printf("predicted  %-9s %9s\n\nnot predicted: %s\n", "chain", "unknown", p->missing);
		return;
	}
	printf("predicted  %-9s %9.3f %39s %s\n", "chain", p->chain_ms, "",
	       off_text(off, sizeof(off), p->chain->off, p->chain->own));
	printf("\npredicted, not measured: %.1f frames a second, one at a time. ms is the longer of bytes "
	       "and sqrt(issue^2 + floor^2);\nsmooth and reduce run beside road. Last column: how far the "
	       "same formula is off on slices of an H200 with 24, 16 and 8\nmultiprocessors, each size "
	       "predicted without itself%s\n",
	       1000 / p->chain_ms, p->chain->own ? " (*: timed in one size, so fitted to it)" : "");
	if (r->board->device.capability < 75)
		printf("Instructions are those of sm_75, as CUDA 13, with which they were counted, does not "
		       "compile sm_%d\n",
		       r->board->device.capability);
}

static void board_text(const struct board_run *r)
{
	const struct sx_predict_board *b = r->board;
	const struct sx_predict_device *d = &b->device;

	printf("predicted, not measured: engine cuda (%s, %s: sm_%d, %d SMs at %.3f GHz, %.1f GB/s), %dx%d, "
	       "%d disparities\n%s\n\n",
	       b->title, b->mode, d->capability, d->sms, d->clock_hz / 1e9, d->bytes_per_s / 1e9, r->width,
	       r->height, r->params.stereo.disparities, r->volume.text);
	printf("%-10s %-9s %9s %9s %9s %9s  %-6s %s\n", "", "", "ms", "issue", "floor", "bytes", "by",
	       "off by");
	for (int i = 0; i < SX_STAGE_COUNT; i++)
		if (r->p.stage[i].runs)
			board_stage(r, i);
	board_chain(r);
}

static void add_off(struct sx_text *t, const int off[2], bool own)
{
	sx_json_open(t, "slices_off_percent", '[');
	sx_json_real(t, NULL, off[0]); /* a real number, because a JSON count cannot be negative */
	sx_json_real(t, NULL, off[1]);
	sx_json_close(t, ']');
	sx_json_bool(t, "slices_of_one_size", own);
}

/* Rounds to whole microseconds; a prediction is no more exact. */
static double whole_us(double ms)
{
	return round(ms * 1000) / 1000;
}

static void add_stage(struct sx_text *t, const struct board_run *r, int i)
{
	const struct sx_predict_stage *s = &r->p.stage[i];

	sx_json_open(t, sx_stage_name((enum sx_stage)i, &r->params.stereo), '{');
	sx_json_real(t, "ms", whole_us(s->ms));
	if (s->work) {
		sx_json_real(t, "issue_ms", whole_us(s->issue_ms));
		sx_json_real(t, "floor_ms", whole_us(s->floor_ms));
		sx_json_real(t, "bytes_ms", whole_us(s->bytes_ms));
		sx_json_text(t, "bound", bound_names[s->bound]);
		sx_json_bool(t, "counted", s->work->counted);
		add_off(t, s->work->off, s->work->own);
	}
	sx_json_close(t, '}');
}

static void add_board(struct sx_text *t, const struct sx_predict_board *b)
{
	sx_json_text(t, "board", b->name);
	sx_json_open(t, "device", '{');
	sx_json_text(t, "name", b->title);
	sx_json_text(t, "mode", b->mode);
	sx_json_count(t, "capability", b->device.capability);
	sx_json_count(t, "sms", b->device.sms);
	sx_json_real(t, "clock_ghz", b->device.clock_hz / 1e9);
	sx_json_real(t, "memory_gb_per_s", b->device.bytes_per_s / 1e9);
	sx_json_close(t, '}');
}

static void list_text(void)
{
	printf("%-16s %-22s %-11s %6s %4s %6s %7s %8s\n", "board", "", "mode", "code", "SM", "GHz", "GB/s",
	       "cache KB");
	for (int i = 0; i < sx_predict_board_count; i++) {
		const struct sx_predict_board *b = &sx_predict_boards[i];

		printf("%-16s %-22s %-11s  sm_%-3d %3d %6.3f %7.1f %8d\n", b->name, b->title, b->mode,
		       b->device.capability, b->device.sms, b->device.clock_hz / 1e9,
		       b->device.bytes_per_s / 1e9, b->cache_kb);
	}
}

static int list_json(void)
{
	char data[4096];
	struct sx_text t;

	sx_text_init(&t, data, sizeof(data));
	sx_json_open(&t, NULL, '[');
	for (int i = 0; i < sx_predict_board_count; i++) {
		sx_json_open(&t, NULL, '{');
		add_board(&t, &sx_predict_boards[i]);
		sx_json_close(&t, '}');
	}
	sx_json_close(&t, ']');
	if (t.cut)
		return bench_fail(EX_SOFTWARE, "cannot print the result", strerror(EOVERFLOW));
	puts(data);
	return 0;
}

static int board_list(bool json)
{
	if (json)
		return list_json();
	list_text();
	return 0;
}

/* Adds the predicted times and sizes of r. */
static void add_figures(struct sx_text *t, const struct board_run *r)
{
	const struct sx_prediction *p = &r->p;
	char size[32];

	snprintf(size, sizeof(size), "%dx%d", r->width, r->height);
	sx_json_text(t, "size", size);
	sx_json_count(t, "disparities", r->params.stereo.disparities);
	sx_json_text(t, "volume", sx_volume_names[p->volume]);
	sx_json_text(t, "volume_reason", r->volume.text);
	sx_json_open(t, "stages", '{');
	for (int i = 0; i < SX_STAGE_COUNT; i++)
		if (p->stage[i].runs)
			add_stage(t, r, i);
	sx_json_close(t, '}');
	sx_json_real(t, "host_ms", whole_us(p->host_ms));
	sx_json_real(t, "chain_ms", whole_us(p->chain_ms));
	sx_json_text(t, "not_predicted", *p->missing ? p->missing : NULL);
	if (p->chain)
		add_off(t, p->chain->off, p->chain->own);
}

static int board_json(const struct board_run *r)
{
	char data[8192];
	struct sx_text t;

	sx_text_init(&t, data, sizeof(data));
	sx_json_open(&t, NULL, '{');
	sx_json_bool(&t, "predicted", true);
	add_board(&t, r->board);
	add_figures(&t, r);
	sx_json_close(&t, '}');
	if (t.cut)
		return bench_fail(EX_SOFTWARE, "cannot print the result", strerror(EOVERFLOW));
	puts(data);
	return 0;
}

static void board_predict(struct board_run *r, const struct sx_predict_device *d,
			  enum sx_volume_choice volume)
{
	const struct sx_predict_case c = {&r->params, r->width, r->height};

	volume = sx_predict_volume(d, true, &c, volume, &r->volume);
	sx_predict(&r->p, d, &c, volume);
}

void bench_add_prediction(struct sx_text *t, const char *key, const struct sx_predict_device *d,
			  const char *title, const struct bench_run *b)
{
	struct board_run r = {
		.params = b->settings.params, .width = b->config.width, .height = b->config.height};

	sx_stereo_resolve(&r.params.stereo);
	board_predict(&r, d, b->settings.engine.volume);
	sx_json_open(t, key, '{');
	sx_json_text(t, "board", title);
	sx_json_real(t, "clock_ghz", d->clock_hz / 1e9);
	add_figures(t, &r);
	sx_json_close(t, '}');
}

static int predict_size(const struct bench_options *o, const struct sx_settings *s, struct board_run *r)
{
	struct sx_why why;

	if (sx_params_check(&s->params, r->width, r->height, &why) < 0)
		return bench_fail(EX_CONFIG, why.text, NULL);
	board_predict(r, &r->board->device, s->engine.volume);
	if (o->json)
		return board_json(r);
	board_text(r);
	return 0;
}

static int predict_sizes(const struct bench_options *o, const struct sx_settings *s)
{
	const int count = o->size_count ? o->size_count : 1;
	struct board_run r = {.board = sx_predict_board_find(bench_board_words[o->board]),
			      .params = s->params};
	int code = 0;

	sx_stereo_resolve(&r.params.stereo);
	for (int i = 0; !code && i < count; i++) {
		r.width = o->size_count	    ? o->size[i].width
			  : s->source.width ? s->source.width
					    : STANDARD_WIDTH;
		r.height = o->size_count      ? o->size[i].height
			   : s->source.height ? s->source.height
					      : STANDARD_HEIGHT;
		if (i || (o->json && count > 1))
			puts(!o->json ? "" : i ? "," : "[");
		code = predict_size(o, s, &r);
	}
	if (o->json && count > 1 && !code)
		puts("]");
	return code;
}

int bench_board(const struct bench_options *o)
{
	struct sx_settings s;
	int code;

	if (strcmp(bench_board_words[o->board], "list") == 0)
		return board_list(o->json);
	code = sx_settings_args_load(&s, &o->args, SX_PROGRAM);
	if (code)
		return code;
	if (s.engine.backend == SX_BACKEND_CPU || s.engine.backend == SX_BACKEND_REFERENCE)
		code = bench_fail(EX_USAGE, "--board predicts the cuda engine, others are not predicted",
				  "engine.backend is set to another");
	if (!code)
		code = predict_sizes(o, &s);
	sx_settings_finish(&s);
	if (!code && fflush(stdout) != 0)
		code = bench_fail(EX_SOFTWARE, "cannot print the result", strerror(errno));
	return code;
}
