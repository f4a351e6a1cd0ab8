/*
 * /metrics: the snapshot as OpenMetrics 1.0 text. Every family is a row or a function here and a row of
 * docs/metrics.md; a family without a known value is left out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* TYPE, UNIT and HELP lines; unit must be the end of the name, or NULL. */
static void add_family(struct sx_text *t, const char *name, const char *type, const char *unit,
		       const char *help)
{
	sx_text_add(t, "# TYPE %s %s\n", name, type);
	if (unit)
		sx_text_add(t, "# UNIT %s %s\n", name, unit);
	sx_text_add(t, "# HELP %s %s\n", name, help);
}

/* name="value", escaped as the format wants it. */
static void add_label(struct sx_text *t, const char *name, const char *value)
{
	sx_text_add(t, "%s=\"", name);
	for (; value && *value; value++) {
		if (*value == '\n')
			sx_text_add(t, "\\n");
		else if (*value == '"' || *value == '\\')
			sx_text_add(t, "\\%c", *value);
		else
			sx_text_add(t, "%c", *value);
	}
	sx_text_add(t, "\"");
}

static void add_counter(struct sx_text *t, const char *name, const char *help, int64_t value)
{
	if (value < 0)
		return;
	add_family(t, name, "counter", NULL, help);
	sx_text_add(t, "%s_total %" PRId64 "\n", name, value);
}

static void add_gauge(struct sx_text *t, const char *name, const char *unit, const char *help, double value)
{
	if (!isfinite(value))
		return;
	add_family(t, name, "gauge", unit, help);
	sx_text_add(t, "%s %.9g\n", name, value);
}

static void add_count_gauge(struct sx_text *t, const char *name, const char *unit, const char *help,
			    int64_t value)
{
	add_gauge(t, name, unit, help, value < 0 ? (double)NAN : (double)value);
}

static void add_seconds(struct sx_text *t, int64_t ns)
{
	sx_text_add(t, "%" PRId64 ".%09" PRId64 "\n", ns / 1000000000, ns % 1000000000);
}

/* Samples of one summary; key NULL: without a label. Quantiles: last ten seconds; count, sum: since start. */
static void add_summary(struct sx_text *t, const char *family, const char *key,
			const struct sx_report_latency *l)
{
	const struct {
		const char *name;
		int64_t ns;
	} quantiles[] = {
		{"0.5", l->last_10s.p50_ns}, {"0.9", l->last_10s.p90_ns}, {"0.99", l->last_10s.p99_ns}};

	for (size_t i = 0; l->last_10s.n > 0 && i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
		sx_text_add(t, "%s{", family);
		if (key) {
			add_label(t, key, l->name);
			sx_text_add(t, ",");
		}
		sx_text_add(t, "quantile=\"%s\"} ", quantiles[i].name);
		add_seconds(t, quantiles[i].ns);
	}
	for (int sum = 0; sum < 2; sum++) {
		sx_text_add(t, "%s_%s", family, sum ? "sum" : "count");
		if (key) {
			sx_text_add(t, "{");
			add_label(t, key, l->name);
			sx_text_add(t, "}");
		}
		sx_text_add(t, " ");
		if (sum)
			add_seconds(t, l->sum_ns);
		else
			sx_text_add(t, "%" PRIu64 "\n", l->start.n);
	}
}

/* A family of summaries, told apart by a label; without those that never were. */
static void add_summaries(struct sx_text *t, const char *family, const char *key, const char *help,
			  const struct sx_report_latency *l, int count)
{
	bool begun = false;

	for (int i = 0; i < count; i++) {
		if (l[i].start.n == 0)
			continue;
		if (!begun)
			add_family(t, family, "summary", "seconds", help);
		begun = true;
		add_summary(t, family, key, &l[i]);
	}
}

static void add_identity(struct sx_text *t, const struct sx_report *r)
{
	static const char *const states[] = {"starting", "running", "no_camera", "degraded", "stopping"};

	add_family(t, "stixeld", "info", NULL, "What runs: version, engine and source.");
	sx_text_add(t, "stixeld_info{");
	add_label(t, "instance", r->instance);
	sx_text_add(t, ",");
	add_label(t, "version", r->version);
	sx_text_add(t, ",");
	add_label(t, "backend", r->engine.backend);
	sx_text_add(t, ",");
	add_label(t, "device", r->engine.device);
	sx_text_add(t, ",");
	add_label(t, "input", r->engine.input.path);
	sx_text_add(t, ",");
	add_label(t, "source", r->source.kind);
	sx_text_add(t, "} 1\n");
	add_family(t, "stixeld_state", "stateset", NULL, "State of the instance; one of them is 1.");
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		sx_text_add(t, "stixeld_state{");
		add_label(t, "stixeld_state", states[i]);
		sx_text_add(t, "} %d\n", strcmp(states[i], r->state) == 0);
	}
	add_gauge(t, "stixeld_uptime_seconds", "seconds", "Time since the process started.", r->uptime_s);
}

static void add_frames(struct sx_text *t, const struct sx_report *r)
{
	static const char dropped[] = "stixeld_frames_dropped";

	add_counter(t, "stixeld_pairs_captured", "Pairs taken from the source.", (int64_t)r->frames.captured);
	add_counter(t, "stixeld_frames_published", "Frames published.", (int64_t)r->frames.published);
	add_family(t, dropped, "counter", NULL, "Pairs that did not become a frame, by reason.");
	sx_text_add(t, "%s_total{reason=\"overload\"} %" PRIu64 "\n", dropped, r->frames.overload);
	sx_text_add(t, "%s_total{reason=\"unpaired\"} %" PRIu64 "\n", dropped, r->frames.unpaired);
	sx_text_add(t, "%s_total{reason=\"corrupt\"} %" PRIu64 "\n", dropped, r->frames.corrupt);
	if (!isfinite(r->fps_1s))
		return;
	add_family(t, "stixeld_frames_per_second", "gauge", NULL, "Frames published per second, by window.");
	sx_text_add(t, "stixeld_frames_per_second{window=\"1s\"} %.6g\n", r->fps_1s);
	if (isfinite(r->fps_10s))
		sx_text_add(t, "stixeld_frames_per_second{window=\"10s\"} %.6g\n", r->fps_10s);
}

/* One counter with a sample for each camera that knows it; which: 0 captured, 1 errors, 2 gaps, 3 reconnects. */
static void add_cameras(struct sx_text *t, const struct sx_report *r, int which, const char *name,
			const char *help)
{
	bool begun = false;

	for (int i = 0; i < r->source.cameras; i++) {
		const struct sx_report_camera *c = &r->source.camera[i];
		const int64_t value[] = {c->captured, c->errors, c->sequence_gaps, c->reconnects};

		if (value[which] < 0)
			continue;
		if (!begun)
			add_family(t, name, "counter", NULL, help);
		begun = true;
		sx_text_add(t, "%s_total{", name);
		add_label(t, "side", c->side);
		sx_text_add(t, "} %" PRId64 "\n", value[which]);
	}
}

static void add_camera_drops(struct sx_text *t, const struct sx_report *r)
{
	static const char name[] = "stixeld_camera_dropped";

	if (r->source.cameras < 1 || r->source.camera[0].drops == 0)
		return;
	add_family(t, name, "counter", NULL, "Images that became no part of a pair, by side and reason.");
	for (int i = 0; i < r->source.cameras; i++) {
		const struct sx_report_camera *c = &r->source.camera[i];

		for (int k = 0; k < c->drops; k++) {
			sx_text_add(t, "%s_total{", name);
			add_label(t, "side", c->side);
			sx_text_add(t, ",");
			add_label(t, "reason", c->dropped[k].reason);
			sx_text_add(t, "} %" PRId64 "\n", c->dropped[k].images);
		}
	}
}

static void add_latencies(struct sx_text *t, const struct sx_report *r)
{
	static const char whole[] = "stixeld_capture_to_publish_seconds";

	add_family(t, whole, "summary", "seconds",
		   "From the earlier capture time of a pair to its frame in the ring.");
	if (r->span_count > 0)
		add_summary(t, whole, NULL, &r->spans[0]);
	add_summaries(t, "stixeld_latency_part_seconds", "part", "Parts of that way.", r->spans + 1,
		      r->span_count - 1);
	add_summaries(t, "stixeld_stage_seconds", "stage", "Duration of a stage.", r->stages, r->stage_count);
	if (r->source.skew.n > 0)
		add_gauge(t, "stixeld_pair_skew_p99_seconds", "seconds",
			  "99 % of the pairs were captured closer together than this.",
			  (double)r->source.skew.p99_ns / 1e9);
}

static void add_copies(struct sx_text *t, const struct sx_report *r)
{
	static const char copies[] = "stixeld_engine_copies";

	if (!r->engine.input.path)
		return;
	add_family(t, copies, "counter", NULL, "Copies between host and device, by direction.");
	sx_text_add(t, "%s_total{direction=\"in\"} %" PRId64 "\n", copies, r->engine.input.copies_in);
	sx_text_add(t, "%s_total{direction=\"out\"} %" PRId64 "\n", copies, r->engine.input.copies_out);
	add_counter(t, "stixeld_engine_staged_images", "Images that the processor had to copy first.",
		    r->engine.input.staged);
}

static void add_power(struct sx_text *t, const struct sx_report_power *p)
{
	static const char info[] = "stixeld_power", joules[] = "stixeld_energy_joules";

	if (!*p->source)
		return;
	add_family(t, info, "info", NULL, "What measures power, and of what.");
	sx_text_add(t, "%s_info{", info);
	add_label(t, "source", p->source);
	sx_text_add(t, ",");
	add_label(t, "scope", p->scope);
	sx_text_add(t, ",");
	add_label(t, "device", p->device);
	sx_text_add(t, "} 1\n");
	add_gauge(t, "stixeld_power_watts", "watts", "Power, mean of the last second.", p->watts);
	if (p->age_ms >= 0)
		add_gauge(t, "stixeld_power_age_seconds", "seconds", "Time since the last reading of power.",
			  (double)p->age_ms / 1e3);
	add_gauge(t, "stixeld_joules_per_frame", NULL, "Energy for each frame published in the last 10 s.",
		  p->joules_per_frame);
	add_gauge(t, "stixeld_fps_per_watt", NULL, "Frames per second for each watt, last 10 s.",
		  p->fps_per_watt);
	if (p->start_frames < 0)
		return;
	add_family(t, joules, "counter", "joules", "Energy measured since start.");
	sx_text_add(t, "%s_total %.9g\n", joules, p->start_joules);
	add_counter(t, "stixeld_energy_frames", "Frames published while energy was measured.",
		    p->start_frames);
}

static void add_semantics(struct sx_text *t, const struct sx_report_semantics *s)
{
	static const char states[] = "stixeld_scores_state", frames[] = "stixeld_frames_by_scores";
	static const char scores[] = "stixeld_scores";
	static const char *const words[] = {"absent", "refused", "silent", "reading"};
	const struct {
		const char *word;
		int64_t count;
	} of_frames[] = {{"matched", s->matched}, {"older", s->older}, {"missing", s->missing}},
	  of_scores[] = {{"in_time", s->received - s->late},
			 {"late", s->late},
			 {"lost", s->lost},
			 {"refused", s->refused}};

	if (!*s->source)
		return;
	add_family(t, states, "stateset", NULL, "Where class scores are to come from; one of them is 1.");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		sx_text_add(t, "%s{%s=\"%s\"} %d\n", states, states, words[i],
			    s->state && strcmp(words[i], s->state) == 0);
	add_family(t, frames, "counter", NULL, "Frames by the class scores they had.");
	for (size_t i = 0; i < sizeof(of_frames) / sizeof(of_frames[0]); i++)
		sx_text_add(t, "%s_total{scores=\"%s\"} %" PRId64 "\n", frames, of_frames[i].word,
			    of_frames[i].count);
	add_family(t, scores, "counter", NULL, "Class scores that were written, by what became of them.");
	for (size_t i = 0; i < sizeof(of_scores) / sizeof(of_scores[0]); i++)
		sx_text_add(t, "%s_total{fate=\"%s\"} %" PRId64 "\n", scores, of_scores[i].word,
			    of_scores[i].count);
	add_counter(t, "stixeld_scores_restarts", "Writers of class scores after the first.", s->restarts);
}

static void add_board(struct sx_text *t, const struct sx_report_board *b)
{
	static const char info[] = "stixeld_board", clocks[] = "stixeld_clock_hertz";
	const struct {
		const char *domain;
		int64_t hz;
	} now[] = {{"cpu", b->cpu_hz}, {"gpu", b->gpu_hz}, {"memory", b->memory_hz}};
	bool begun = false;

	if (*b->model) {
		add_family(t, info, "info", NULL, "What it runs on, and in which power mode.");
		sx_text_add(t, "%s_info{", info);
		add_label(t, "model", b->model);
		sx_text_add(t, ",");
		add_label(t, "power_mode", b->mode);
		sx_text_add(t, "} 1\n");
	}
	for (size_t i = 0; i < sizeof(now) / sizeof(now[0]); i++) {
		if (now[i].hz < 0)
			continue;
		if (!begun)
			add_family(t, clocks, "gauge", "hertz", "Clock just now, by domain.");
		begun = true;
		sx_text_add(t, "%s{domain=\"%s\"} %" PRId64 "\n", clocks, now[i].domain, now[i].hz);
	}
}

void sx_report_metrics(const struct sx_report *r, struct sx_text *t)
{
	add_identity(t, r);
	add_frames(t, r);
	add_cameras(t, r, 0, "stixeld_camera_captured", "Images captured, by side.");
	add_cameras(t, r, 1, "stixeld_camera_errors", "Images that could not be used, by side.");
	add_cameras(t, r, 2, "stixeld_camera_sequence_gaps", "Images that the driver lost, by side.");
	add_cameras(t, r, 3, "stixeld_camera_reconnects", "Times the camera was opened again, by side.");
	add_camera_drops(t, r);
	add_latencies(t, r);
	add_gauge(t, "stixeld_stixels_per_frame", NULL, "Stixels in the newest frame.", r->stixels.per_frame);
	add_gauge(t, "stixeld_pixels_per_stixel", NULL, "Image pixels per stixel in the newest frame.",
		  r->stixels.pixels_per_stixel);
	add_gauge(t, "stixeld_road_horizon_row_pixels", "pixels", "Image row of the horizon.",
		  r->road.horizon_row);
	add_gauge(t, "stixeld_road_pitch_degrees", "degrees", "Camera pitch over the road, down is positive.",
		  r->road.pitch_deg);
	add_gauge(t, "stixeld_road_height_meters", "meters", "Camera height over the road.",
		  r->road.height_m);
	add_count_gauge(t, "stixeld_road_age_frames", "frames", "Frames since the road was measured.",
			r->road.age_frames);
	add_count_gauge(t, "stixeld_engine_memory_bytes", "bytes", "Memory that the engine holds.",
			r->engine.memory_bytes);
	add_copies(t, r);
	add_count_gauge(t, "stixeld_ring_bytes", "bytes", "Size of the ring in shared memory.",
			r->ring.bytes);
	add_count_gauge(t, "stixeld_stream_clients", NULL, "Clients of the frame socket.", r->stream.clients);
	add_counter(t, "stixeld_stream_frames_sent", "Frames sent to clients.", r->stream.sent);
	add_counter(t, "stixeld_stream_frames_dropped", "Frames that slow clients missed.",
		    r->stream.dropped);
	add_counter(t, "stixeld_stream_clients_refused", "Clients turned away: too many.", r->stream.refused);
	add_semantics(t, &r->semantics);
	add_power(t, &r->power);
	add_board(t, &r->board);
	add_counter(t, "stixeld_log_lines_lost", "Log lines of real-time threads that were lost.",
		    (int64_t)r->log_lost);
	sx_text_add(t, "# EOF\n");
}
