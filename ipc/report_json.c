/*
 * /status: the snapshot as JSON. Monitors rely on the keys; new ones may be added, none is renamed or removed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define SCHEMA 1

static void add_quantile(struct sx_text *t, const char *key, const struct sx_summary *s, int64_t ns)
{
	if (s->n == 0)
		sx_json_text(t, key, NULL);
	else
		sx_json_us(t, key, ns);
}

/* All durations of the document are microseconds, with nanoseconds behind the point. */
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

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		sx_json_open(t, tables[i].key, '{');
		for (int k = 0; k < r->span_count; k++)
			add_summary(t, r->spans[k].name, summary_of(&r->spans[k], tables[i].window));
		for (int k = 0; k < r->stage_count; k++)
			add_summary(t, r->stages[k].name, summary_of(&r->stages[k], tables[i].window));
		sx_json_close(t, '}');
	}
}

static void add_camera(struct sx_text *t, const struct sx_report_camera *c)
{
	sx_json_open(t, NULL, '{');
	sx_json_text(t, "side", c->side);
	sx_json_text(t, "path", *c->path ? c->path : NULL);
	sx_json_text(t, "format", c->format);
	sx_json_count(t, "width", c->width);
	sx_json_count(t, "height", c->height);
	sx_json_count(t, "captured", c->captured);
	sx_json_count(t, "errors", c->errors);
	sx_json_count(t, "sequence_gaps", c->sequence_gaps);
	sx_json_count(t, "reconnects", c->reconnects);
	if (c->drops > 0) {
		sx_json_open(t, "dropped", '{');
		for (int i = 0; i < c->drops; i++)
			sx_json_count(t, c->dropped[i].reason, c->dropped[i].images);
		sx_json_close(t, '}');
	}
	sx_json_close(t, '}');
}

static void add_source(struct sx_text *t, const struct sx_report *r)
{
	const struct sx_summary *skew = &r->source.skew;

	sx_json_open(t, "source", '{');
	sx_json_text(t, "kind", r->source.kind);
	sx_json_text(t, "memory", r->source.memory);
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

static double per_frame(int64_t count, int64_t frames)
{
	return frames > 0 ? (double)count / (double)frames : (double)NAN;
}

static void add_engine(struct sx_text *t, const struct sx_report *r)
{
	sx_json_open(t, "engine", '{');
	sx_json_text(t, "backend", r->engine.backend);
	sx_json_text(t, "device", r->engine.device);
	sx_json_text(t, "reason", r->engine.reason);
	sx_json_count(t, "contexts", r->engine.contexts);
	sx_json_count(t, "memory_bytes", r->engine.memory_bytes);
	sx_json_open(t, "input", '{');
	sx_json_text(t, "path", r->engine.input.path);
	sx_json_real(t, "copies_per_frame", per_frame(r->engine.input.copies_in, r->engine.input.frames));
	sx_json_real(t, "bytes_per_frame", per_frame(r->engine.input.copied_bytes, r->engine.input.frames));
	sx_json_real(t, "results_per_frame", per_frame(r->engine.input.copies_out, r->engine.input.frames));
	sx_json_count(t, "staged", r->engine.input.staged);
	sx_json_close(t, '}');
	sx_json_close(t, '}');
}

static void add_frames(struct sx_text *t, const struct sx_report *r)
{
	sx_json_open(t, "frames", '{');
	sx_json_whole(t, "captured", r->frames.captured);
	sx_json_whole(t, "published", r->frames.published);
	sx_json_open(t, "dropped", '{');
	sx_json_whole(t, "overload", r->frames.overload);
	sx_json_whole(t, "unpaired", r->frames.unpaired);
	sx_json_whole(t, "corrupt", r->frames.corrupt);
	sx_json_close(t, '}');
	sx_json_close(t, '}');
	sx_json_open(t, "fps", '{');
	sx_json_real(t, "last_1s", r->fps_1s);
	sx_json_real(t, "last_10s", r->fps_10s);
	sx_json_close(t, '}');
}

static void add_results(struct sx_text *t, const struct sx_report *r)
{
	sx_json_open(t, "stixels", '{');
	sx_json_real(t, "per_frame", r->stixels.per_frame);
	sx_json_real(t, "pixels_per_stixel", r->stixels.pixels_per_stixel);
	sx_json_close(t, '}');
	sx_json_open(t, "road", '{');
	sx_json_text(t, "origin", r->road.origin);
	sx_json_real(t, "slope", r->road.slope);
	sx_json_real(t, "offset", r->road.offset);
	sx_json_real(t, "horizon_row", r->road.horizon_row);
	sx_json_real(t, "pitch_deg", r->road.pitch_deg);
	sx_json_real(t, "height_m", r->road.height_m);
	sx_json_count(t, "inliers", r->road.inliers);
	sx_json_count(t, "age_frames", r->road.age_frames);
	sx_json_close(t, '}');
}

static const char *known(const char *text)
{
	return *text ? text : NULL;
}

static void add_power(struct sx_text *t, const struct sx_report_power *p)
{
	sx_json_open(t, "power", '{');
	sx_json_text(t, "source", known(p->source));
	sx_json_text(t, "scope", known(p->scope));
	sx_json_text(t, "device", known(p->device));
	sx_json_text(t, "reason", known(p->reason));
	sx_json_bool(t, "stale", p->stale);
	sx_json_real(t, "watts", p->watts);
	sx_json_real(t, "watts_10s", p->watts_10s);
	sx_json_real(t, "joules_per_frame", p->joules_per_frame);
	sx_json_real(t, "fps_per_watt", p->fps_per_watt);
	sx_json_count(t, "age_ms", p->age_ms);
	sx_json_count(t, "interval_ms", p->interval_ms);
	sx_json_open(t, "since_start", '{');
	sx_json_real(t, "joules", p->start_joules);
	sx_json_real(t, "seconds", p->start_seconds);
	sx_json_count(t, "frames", p->start_frames);
	sx_json_real(t, "joules_per_frame",
		     p->start_frames > 0 ? p->start_joules / (double)p->start_frames : (double)NAN);
	sx_json_close(t, '}');
	sx_json_close(t, '}');
}

static void add_semantics(struct sx_text *t, const struct sx_report_semantics *s)
{
	sx_json_open(t, "semantics", '{');
	sx_json_text(t, "source", known(s->source));
	if (*s->source) {
		sx_json_text(t, "state", s->state);
		sx_json_text(t, "reason", known(s->reason));
		sx_json_open(t, "frames", '{');
		sx_json_count(t, "matched", s->matched);
		sx_json_count(t, "older", s->older);
		sx_json_count(t, "missing", s->missing);
		sx_json_close(t, '}');
		sx_json_open(t, "scores", '{');
		sx_json_count(t, "received", s->received);
		sx_json_count(t, "late", s->late);
		sx_json_count(t, "lost", s->lost);
		sx_json_count(t, "refused", s->refused);
		sx_json_count(t, "restarts", s->restarts);
		sx_json_close(t, '}');
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

static void add_board(struct sx_text *t, const struct sx_report_board *b)
{
	sx_json_open(t, "board", '{');
	sx_json_text(t, "model", known(b->model));
	sx_json_open(t, "power_mode", '{');
	sx_json_count(t, "id", b->mode_id);
	sx_json_text(t, "name", known(b->mode));
	sx_json_close(t, '}');
	sx_json_text(t, "governor", known(b->governor));
	sx_json_count(t, "cpu_hz", b->cpu_hz);
	sx_json_count(t, "cpu_max_hz", b->cpu_max_hz);
	sx_json_count(t, "gpu_hz", b->gpu_hz);
	sx_json_count(t, "gpu_max_hz", b->gpu_max_hz);
	sx_json_count(t, "memory_hz", b->memory_hz);
	sx_json_close(t, '}');
}

static void add_outputs(struct sx_text *t, const struct sx_report *r)
{
	static const char *const image_words[] = {
		[SX_IMAGE_OFF] = "off", [SX_IMAGE_IDLE] = "idle", [SX_IMAGE_PUBLISHED] = "published"};

	sx_json_open(t, "ring", '{');
	sx_json_text(t, "path", *r->ring.path ? r->ring.path : NULL);
	sx_json_count(t, "bytes", r->ring.bytes);
	sx_json_count(t, "slots", r->ring.slots);
	sx_json_close(t, '}');
	sx_json_open(t, "images", '{');
	sx_json_text(t, "left", image_words[r->images.left]);
	sx_json_text(t, "disparity", image_words[r->images.disparity]);
	sx_json_close(t, '}');
	sx_json_open(t, "stream", '{');
	sx_json_count(t, "clients", r->stream.clients);
	sx_json_count(t, "dropped", r->stream.dropped);
	sx_json_count(t, "sent", r->stream.sent);
	sx_json_count(t, "accepted", r->stream.accepted);
	sx_json_count(t, "refused", r->stream.refused);
	sx_json_count(t, "garbage", r->stream.garbage);
	sx_json_close(t, '}');
	sx_json_open(t, "log", '{');
	sx_json_whole(t, "lost", r->log_lost);
	sx_json_close(t, '}');
}

void sx_report_json(const struct sx_report *r, struct sx_text *t)
{
	char epoch[24];

	/* As text: 64 random bits are more than most JSON parsers keep of a number. */
	snprintf(epoch, sizeof(epoch), "%016" PRIx64, r->epoch);
	sx_json_open(t, NULL, '{');
	sx_json_whole(t, "schema", SCHEMA);
	sx_json_text(t, "instance", r->instance);
	sx_json_text(t, "version", r->version);
	sx_json_count(t, "pid", r->pid);
	sx_json_text(t, "epoch", r->epoch ? epoch : NULL);
	sx_json_text(t, "state", r->state);
	sx_json_text(t, "reason", *r->reason ? r->reason : NULL);
	sx_json_real(t, "uptime_s", r->uptime_s);
	add_engine(t, r);
	add_source(t, r);
	add_frames(t, r);
	add_latencies(t, r);
	add_results(t, r);
	add_semantics(t, &r->semantics);
	add_power(t, &r->power);
	add_board(t, &r->board);
	add_outputs(t, r);
	sx_json_close(t, '}');
	sx_text_add(t, "\n");
}
