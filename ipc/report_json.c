/*
 * /status: the snapshot as JSON. Monitors rely on the keys: keys may be added, and are never renamed or
 * removed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/contract.h"
#include "ipc/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SCHEMA 1
#define OVERRIDES_BYTES 16384

/* Adds the metrics of one object, which is already open. */
static void add_metrics(struct sx_text *t, const struct sx_report *r, const char *object)
{
	for (int i = 0; i < SX_METRIC_END; i++) {
		const struct sx_metric_row *row = &sx_metrics[i];

		if (!row->key || strcmp(row->object, object) != 0)
			continue;
		if (row->kind == SX_METRIC_KIND_REAL)
			sx_json_real(t, row->key, r->metric[i].real);
		else
			sx_json_count(t, row->key, r->metric[i].count);
	}
}

/* Adds an object that has only metrics, such as "frames.dropped", which appears under the key "dropped". */
static void add_object(struct sx_text *t, const struct sx_report *r, const char *object)
{
	const char *dot = strrchr(object, '.');

	sx_json_open(t, dot ? dot + 1 : object, '{');
	add_metrics(t, r, object);
	sx_json_close(t, '}');
}

static void add_quantile(struct sx_text *t, const char *key, const struct sx_summary *s, int64_t ns)
{
	if (s->n == 0)
		sx_json_text(t, key, NULL);
	else
		sx_json_us(t, key, ns);
}

/* Adds a summary. All durations of the document are microseconds with three decimals, so exact to 1 ns. */
static void add_summary(struct sx_text *t, const char *key, const struct sx_summary *s)
{
	sx_json_open(t, key, '{');
	add_quantile(t, "p50", s, s->p50_ns);
	add_quantile(t, "p90", s, s->p90_ns);
	add_quantile(t, "p99", s, s->p99_ns);
	add_quantile(t, "max", s, s->max_ns);
	sx_json_whole(t, "n", s->n);
	sx_json_close(t, '}');
}

static const struct sx_summary *summary_of(const struct sx_report_latency *l, enum sx_window window)
{
	sx_must(window, <=, SX_WINDOW_START);
	return window == SX_WINDOW_START ? &l->start : window == SX_WINDOW_10S ? &l->last_10s : &l->last_1s;
}

static void add_latencies(struct sx_text *t, const struct sx_report *r)
{
	static const struct {
		const char *key;
		enum sx_window window;
	} tables[] = {{"latency_us", SX_WINDOW_START},
		      {"latency_10s_us", SX_WINDOW_10S},
		      {"latency_1s_us", SX_WINDOW_1S}};

	sx_must(r->span_count, <=, SX_REPORT_SPANS);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		sx_json_open(t, tables[i].key, '{');
		for (int k = 0; k < r->span_count; k++)
			add_summary(t, r->spans[k].name, summary_of(&r->spans[k], tables[i].window));
		for (int k = 0; k < r->stage_count; k++)
			add_summary(t, r->stages[k].name, summary_of(&r->stages[k], tables[i].window));
		sx_json_close(t, '}');
	}
}

/* Adds an object of counts, as "dropped": {"short": 3}. Adds nothing if the source does not count them. */
static void add_images(struct sx_text *t, const char *key, const struct sx_report_images *images, int count)
{
	sx_must(count, <=, SX_REPORT_DROPS);
	if (count < 1)
		return;
	sx_json_open(t, key, '{');
	for (int i = 0; i < count; i++)
		sx_json_count(t, images[i].what, images[i].images);
	sx_json_close(t, '}');
}

static void add_camera(struct sx_text *t, const struct sx_report_camera *c)
{
	sx_must(c->width, >=, 0);
	sx_json_open(t, NULL, '{');
	sx_json_text(t, "side", c->side);
	sx_json_text(t, "path", *c->path ? c->path : NULL);
	sx_json_text(t, "format", c->format);
	sx_json_count(t, "width", c->width);
	sx_json_count(t, "height", c->height);
	for (int i = 0; i < SX_CAMERA_END; i++)
		sx_json_count(t, sx_camera_metrics[i].key, c->count[i]);
	add_images(t, "dropped", c->dropped, c->drops);
	add_images(t, "odd_jpeg", c->odd_jpeg, c->odds);
	sx_json_close(t, '}');
}

static void add_source(struct sx_text *t, const struct sx_report *r)
{
	const struct sx_summary *skew = &r->source.skew;

	sx_must(r->source.cameras, <=, 2);
	sx_json_open(t, "source", '{');
	sx_json_text(t, "kind", r->source.kind);
	sx_json_text(t, "memory", r->source.memory);
	sx_json_text(t, "writer", *r->source.writer ? r->source.writer : NULL);
	sx_json_text(t, "stamp", r->source.stamp);
	sx_json_open(t, "cameras", '[');
	for (int i = 0; i < r->source.cameras; i++)
		add_camera(t, &r->source.camera[i]);
	sx_json_close(t, ']');
	sx_json_open(t, "pair_skew_us", '{');
	add_quantile(t, "p50", skew, skew->p50_ns);
	add_quantile(t, "p99", skew, skew->p99_ns);
	add_quantile(t, "max", skew, skew->max_ns);
	sx_json_close(t, '}');
	sx_json_close(t, '}');
}

static void add_engine(struct sx_text *t, const struct sx_report *r)
{
	sx_must_be(r->engine.volume[sizeof(r->engine.volume) - 1] == 0);
	sx_json_open(t, "engine", '{');
	sx_json_text(t, "backend", r->engine.backend);
	sx_json_text(t, "device", r->engine.device);
	sx_json_text(t, "reason", r->engine.reason);
	sx_json_text(t, "volume", *r->engine.volume ? r->engine.volume : NULL);
	add_metrics(t, r, "engine");
	sx_json_open(t, "input", '{');
	sx_json_text(t, "path", r->engine.input);
	add_metrics(t, r, "engine.input");
	sx_json_close(t, '}');
	sx_json_close(t, '}');
}

static void add_frames(struct sx_text *t, const struct sx_report *r)
{
	sx_json_open(t, "frames", '{');
	add_metrics(t, r, "frames");
	add_object(t, r, "frames.dropped");
	sx_json_close(t, '}');
	add_object(t, r, "fps");
}

static const char *known(const char *text)
{
	return *text ? text : NULL;
}

static void add_motion(struct sx_text *t, const struct sx_report *r)
{
	sx_json_open(t, "motion", '{');
	sx_json_text(t, "mode", r->motion.mode);
	sx_json_text(t, "state", r->motion.state);
	add_metrics(t, r, "motion");
	add_object(t, r, "motion.frames");
	sx_json_open(t, "range", '{');
	sx_json_text(t, "text", known(r->motion.range));
	sx_json_bool(t, "checked", r->motion.checked);
	sx_json_bool(t, "wrong", r->motion.wrong);
	add_metrics(t, r, "motion.range");
	sx_json_close(t, '}');
	sx_json_close(t, '}');
}

static void add_results(struct sx_text *t, const struct sx_report *r)
{
	add_object(t, r, "stixels");
	sx_json_open(t, "road", '{');
	sx_json_text(t, "origin", r->road_origin);
	add_metrics(t, r, "road");
	sx_json_close(t, '}');
	sx_json_open(t, "pictures", '{');
	add_metrics(t, r, "pictures");
	add_object(t, r, "pictures.row_error_px");
	add_object(t, r, "pictures.row_spread_px");
	add_object(t, r, "pictures.row_correction");
	add_object(t, r, "pictures.dark");
	add_object(t, r, "pictures.saturated");
	add_object(t, r, "pictures.flat");
	add_object(t, r, "pictures.sharpness");
	add_object(t, r, "pictures.raw_range");
	add_object(t, r, "pictures.limits");
	sx_json_close(t, '}');
	add_motion(t, r);
}

static void add_power(struct sx_text *t, const struct sx_report *r)
{
	const struct sx_report_power *p = &r->power;
	const int64_t frames = r->metric[SX_METRIC_ENERGY_FRAMES].count;
	const double joules = r->metric[SX_METRIC_ENERGY_JOULES].real;

	sx_json_open(t, "power", '{');
	sx_json_text(t, "source", known(p->source));
	sx_json_text(t, "scope", known(p->scope));
	sx_json_text(t, "device", known(p->device));
	sx_json_text(t, "reason", known(p->reason));
	sx_json_bool(t, "stale", p->stale);
	add_metrics(t, r, "power");
	sx_json_open(t, "since_start", '{');
	add_metrics(t, r, "power.since_start");
	sx_json_real(t, "joules_per_frame", frames > 0 ? joules / (double)frames : (double)NAN);
	sx_json_close(t, '}');
	sx_json_close(t, '}');
}

static void add_semantics(struct sx_text *t, const struct sx_report *r)
{
	const struct sx_report_feed *s = &r->semantics;

	sx_must(s->class_count, <=, SX_REPORT_CLASSES);
	sx_json_open(t, "semantics", '{');
	sx_json_text(t, "source", known(s->source));
	if (*s->source) {
		sx_json_text(t, "state", s->state);
		sx_json_text(t, "reason", known(s->reason));
		add_object(t, r, "semantics.frames");
		add_object(t, r, "semantics.scores");
		sx_json_open(t, "classes", '[');
		for (int i = 0; i < s->class_count; i++) {
			sx_json_open(t, NULL, '{');
			sx_json_text(t, "name", s->name[i]);
			sx_json_text(t, "kind", s->kind[i]);
			sx_json_close(t, '}');
		}
		sx_json_close(t, ']');
	}
	sx_json_close(t, '}');
}

static void add_external(struct sx_text *t, const struct sx_report *r)
{
	const struct sx_report_feed *e = &r->external;

	sx_json_open(t, "external", '{');
	sx_json_text(t, "source", known(e->source));
	if (*e->source) {
		sx_json_text(t, "state", e->state);
		sx_json_text(t, "reason", known(e->reason));
		add_object(t, r, "external.maps");
	}
	sx_json_close(t, '}');
}

static void add_board(struct sx_text *t, const struct sx_report *r)
{
	sx_json_open(t, "board", '{');
	sx_json_text(t, "model", known(r->board.model));
	sx_json_open(t, "power_mode", '{');
	add_metrics(t, r, "board.power_mode");
	sx_json_text(t, "name", known(r->board.mode));
	sx_json_close(t, '}');
	sx_json_text(t, "governor", known(r->board.governor));
	add_metrics(t, r, "board");
	sx_json_close(t, '}');
}

static void add_camera_model(struct sx_text *t, const struct sx_report *r)
{
	char question[sizeof(r->camera_questions)];

	sx_json_open(t, "camera", '{');
	sx_json_text(t, "text", known(r->camera));
	sx_json_open(t, "questions", '[');
	for (const char *at = r->camera_questions; *at; at += strcspn(at, "\n") + 1) {
		snprintf(question, sizeof(question), "%.*s", (int)strcspn(at, "\n"), at);
		sx_json_text(t, NULL, question);
	}
	sx_json_close(t, ']');
	sx_json_close(t, '}');
}

static void add_config(struct sx_text *t, const struct sx_report *r)
{
	const struct sx_report_config *c = &r->config;
	char name[sizeof(c->files)];
	size_t bytes = 0;

	sx_must(c->override_count, >=, 0);
	sx_json_open(t, "config", '{');
	sx_json_text(t, "folder", c->folder);
	sx_json_open(t, "files", '[');
	for (const char *at = c->files; *at; at += strcspn(at, "\n") + 1) {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, "\n"), at);
		sx_json_text(t, NULL, name);
	}
	sx_json_close(t, ']');
	for (int i = 0; i < c->override_count; i++)
		bytes += strlen(c->overrides[i]);
	if (bytes > OVERRIDES_BYTES) {
		sx_json_text(t, "overrides", NULL);
	} else {
		sx_json_open(t, "overrides", '[');
		for (int i = 0; i < c->override_count; i++)
			sx_json_text(t, NULL, c->overrides[i]);
		sx_json_close(t, ']');
	}
	sx_json_close(t, '}');
}

static void add_outputs(struct sx_text *t, const struct sx_report *r)
{
	static const char *const image_words[] = {
		[SX_IMAGE_OFF] = "off", [SX_IMAGE_IDLE] = "idle", [SX_IMAGE_PUBLISHED] = "published"};

	sx_must(r->images.disparity, <=, SX_IMAGE_PUBLISHED);
	sx_json_open(t, "ring", '{');
	sx_json_text(t, "path", known(r->ring_path));
	add_metrics(t, r, "ring");
	sx_json_close(t, '}');
	sx_json_open(t, "images", '{');
	sx_json_text(t, "left", image_words[r->images.left]);
	sx_json_text(t, "right", image_words[r->images.right]);
	sx_json_text(t, "disparity", image_words[r->images.disparity]);
	sx_json_close(t, '}');
	add_object(t, r, "stream");
	add_object(t, r, "log");
}

void sx_report_json(const struct sx_report *r, struct sx_text *t)
{
	char epoch[24];

	sx_must(t->used, ==, 0);
	/* As text: most JSON parsers keep fewer than 64 bits of a number, and the epoch is 64 random bits. */
	snprintf(epoch, sizeof(epoch), "%016" PRIx64, r->epoch);
	sx_json_open(t, NULL, '{');
	sx_json_whole(t, "schema", SCHEMA);
	sx_json_text(t, "instance", r->instance);
	sx_json_text(t, "version", r->version);
	sx_json_count(t, "pid", r->pid);
	sx_json_text(t, "epoch", r->epoch ? epoch : NULL);
	sx_json_text(t, "state", r->state);
	sx_json_text(t, "reason", *r->reason ? r->reason : NULL);
	add_metrics(t, r, "");
	add_engine(t, r);
	add_source(t, r);
	add_frames(t, r);
	add_latencies(t, r);
	add_camera_model(t, r);
	add_results(t, r);
	add_semantics(t, r);
	add_external(t, r);
	add_power(t, r);
	add_board(t, r);
	add_outputs(t, r);
	add_config(t, r);
	sx_json_close(t, '}');
	sx_text_add(t, "\n");
}
