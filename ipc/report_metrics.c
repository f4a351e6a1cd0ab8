/*
 * /metrics: the snapshot as OpenMetrics 1.0 text, family by family as in ipc/metrics.def. The samples of a
 * family are its metrics, or come from a function in this file. A family without a known value is left out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/contract.h"
#include "ipc/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "include/stixel.h"
#include "ipc/feed_state.h"
#include "ipc/openmetrics.h"

static void add_family(struct sx_text *t, enum sx_family family)
{
	const struct sx_family_row *row = &sx_families[family];

	sx_must_index(family, SX_FAMILY_END);
	sx_openmetrics_family(t, row->name, sx_family_type_name(row->type), row->unit, row->help);
}

/* Adds {name="value"} with all labels, separated by commas. */
static void add_labels(struct sx_text *t, const char *const (*labels)[2], int count)
{
	sx_must(count, >, 0);
	for (int i = 0; i < count; i++) {
		sx_text_add(t, "%s", i ? "," : "{");
		sx_openmetrics_label(t, labels[i][0], labels[i][1]);
	}
	sx_text_add(t, "}");
}

/* Returns true if the source of an object's metrics exists; otherwise they are left out. */
static bool is_told(const struct sx_report *r, const char *object)
{
	if (strcmp(object, "engine.input") == 0)
		return r->engine.input;
	if (strncmp(object, "motion.", 7) == 0)
		return r->motion.measured;
	if (strncmp(object, "semantics.", 10) == 0)
		return *r->semantics.source;
	if (strncmp(object, "external.", 9) == 0)
		return *r->external.source;
	if (strncmp(object, "power.", 6) == 0) /* either all energy counters are known, or none is */
		return *r->power.source && r->metric[SX_METRIC_ENERGY_FRAMES].count >= 0;
	return strcmp(object, "power") != 0 || *r->power.source;
}

static bool is_known(const struct sx_report *r, int metric)
{
	sx_must_index(metric, SX_METRIC_END);
	return sx_metrics[metric].kind == SX_METRIC_KIND_REAL ? isfinite(r->metric[metric].real)
							      : r->metric[metric].count >= 0;
}

static void add_number(struct sx_text *t, const struct sx_report *r, int metric)
{
	const bool real = sx_metrics[metric].kind == SX_METRIC_KIND_REAL;
	const int digits = sx_families[sx_metrics[metric].family].digits;
	const union sx_metric_value v = r->metric[metric];

	sx_must_be(is_known(r, metric));
	if (digits)
		sx_text_add(t, " %.*g\n", digits, real ? v.real : (double)v.count);
	else
		sx_text_add(t, " %" PRId64 "\n", v.count);
}

/* Adds every known metric of the family. */
static void add_metrics(struct sx_text *t, const struct sx_report *r, enum sx_family family)
{
	const struct sx_family_row *row = &sx_families[family];
	bool begun = false;

	for (int i = 0; i < SX_METRIC_END; i++) {
		if (sx_metrics[i].family != family || !is_told(r, sx_metrics[i].object) || !is_known(r, i))
			continue;
		if (!begun)
			add_family(t, family);
		begun = true;
		sx_text_add(t, "%s%s", row->name, row->type == SX_FAMILY_TYPE_COUNTER ? "_total" : "");
		if (sx_metrics[i].label) {
			sx_must_be(row->labels);
			add_labels(t, (const char *const[][2]){{row->labels, sx_metrics[i].label}}, 1);
		}
		add_number(t, r, i);
	}
}

static void add_seconds(struct sx_text *t, int64_t ns)
{
	sx_must(ns, >=, 0);
	sx_text_add(t, "%" PRId64 ".%09" PRId64 "\n", ns / 1000000000, ns % 1000000000);
}

/*
 * Adds the samples of one summary; key NULL: without a label. Quantiles are over the last 10 s; count and sum
 * since start.
 */
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
			sx_openmetrics_label(t, key, l->name);
			sx_text_add(t, ",");
		}
		sx_text_add(t, "quantile=\"%s\"} ", quantiles[i].name);
		add_seconds(t, quantiles[i].ns);
	}
	for (int sum = 0; sum < 2; sum++) {
		sx_text_add(t, "%s_%s", family, sum ? "sum" : "count");
		if (key) {
			sx_text_add(t, "{");
			sx_openmetrics_label(t, key, l->name);
			sx_text_add(t, "}");
		}
		sx_text_add(t, " ");
		if (sum)
			add_seconds(t, l->sum_ns);
		else
			sx_text_add(t, "%" PRIu64 "\n", l->start.n);
	}
}

/* Adds a family of summaries, distinguished by a label. Leaves out summaries without a sample. */
static void add_summaries(struct sx_text *t, enum sx_family family, const char *key,
			  const struct sx_report_latency *l, int count)
{
	bool begun = false;

	sx_must(count, <=, SX_REPORT_STAGES);
	for (int i = 0; i < count; i++) {
		if (l[i].start.n == 0)
			continue;
		if (!begun)
			add_family(t, family);
		begun = true;
		add_summary(t, sx_families[family].name, key, &l[i]);
	}
}

static void add_info(struct sx_text *t, enum sx_family family, const char *const (*labels)[2], int count)
{
	sx_must(sx_families[family].type, ==, SX_FAMILY_TYPE_INFO);
	add_family(t, family);
	sx_text_add(t, "%s_info", sx_families[family].name);
	add_labels(t, labels, count);
	sx_text_add(t, " 1\n");
}

/* Adds one sample for each word. The sample of the current state is 1, the others are 0. */
static void add_states(struct sx_text *t, enum sx_family family, const char *const *words, int count,
		       const char *state)
{
	const char *name = sx_families[family].name;

	sx_must(sx_families[family].type, ==, SX_FAMILY_TYPE_STATESET);
	add_family(t, family);
	for (int i = 0; i < count; i++) {
		sx_text_add(t, "%s", name);
		add_labels(t, (const char *const[][2]){{name, words[i]}}, 1);
		sx_text_add(t, " %d\n", state && strcmp(words[i], state) == 0);
	}
}

/* ---- families with a function ---- */

static void add_identity(struct sx_text *t, const struct sx_report *r, enum sx_family family)
{
	const char *const labels[][2] = {{"instance", r->instance},	 {"version", r->version},
					 {"backend", r->engine.backend}, {"device", r->engine.device},
					 {"input", r->engine.input},	 {"source", r->source.kind}};

	add_info(t, family, labels, sizeof(labels) / sizeof(labels[0]));
}

static void add_state(struct sx_text *t, const struct sx_report *r, enum sx_family family)
{
	const char *words[STIXEL_STATE_STOPPING + 1];

	for (unsigned i = 0; i <= STIXEL_STATE_STOPPING; i++)
		words[i] = stixel_state_name(i);
	add_states(t, family, words, STIXEL_STATE_STOPPING + 1, r->state);
}

/* Adds a sample for each camera with a known count. */
static void add_cameras(struct sx_text *t, const struct sx_report *r, enum sx_family family)
{
	bool begun = false;
	int which = 0;

	while (sx_camera_metrics[which].family != family)
		which++;
	sx_must_index(which, SX_CAMERA_END);
	for (int i = 0; i < r->source.cameras; i++) {
		const struct sx_report_camera *c = &r->source.camera[i];

		if (c->count[which] < 0)
			continue;
		if (!begun)
			add_family(t, family);
		begun = true;
		sx_text_add(t, "%s_total", sx_families[family].name);
		add_labels(t, (const char *const[][2]){{"side", c->side}}, 1);
		sx_text_add(t, " %" PRId64 "\n", c->count[which]);
	}
}

static void add_images(struct sx_text *t, enum sx_family family, const char *side, const char *label,
		       const struct sx_report_images *images, int count)
{
	sx_must(count, <=, SX_REPORT_DROPS);
	for (int i = 0; i < count; i++) {
		const char *const labels[][2] = {{"side", side}, {label, images[i].what}};

		sx_text_add(t, "%s_total", sx_families[family].name);
		add_labels(t, labels, 2);
		sx_text_add(t, " %" PRId64 "\n", images[i].images);
	}
}

static void add_camera_images(struct sx_text *t, const struct sx_report *r, enum sx_family family)
{
	const bool odd = family == SX_FAMILY_CAMERA_ODD_JPEG;

	sx_must(r->source.cameras, <=, 2);
	if (r->source.cameras < 1 || (odd ? r->source.camera[0].odds : r->source.camera[0].drops) == 0)
		return;
	add_family(t, family);
	for (int i = 0; i < r->source.cameras; i++) {
		const struct sx_report_camera *c = &r->source.camera[i];

		if (odd)
			add_images(t, family, c->side, "kind", c->odd_jpeg, c->odds);
		else
			add_images(t, family, c->side, "reason", c->dropped, c->drops);
	}
}

/*
 * Adds the latency. The family is present from the start, if need be without a sample, because most users
 * look for it.
 */
static void add_latency(struct sx_text *t, const struct sx_report *r, enum sx_family family)
{
	sx_must(r->span_count, <=, SX_REPORT_SPANS);
	add_family(t, family);
	if (r->span_count > 0)
		add_summary(t, sx_families[family].name, NULL, &r->spans[0]);
}

static void add_parts(struct sx_text *t, const struct sx_report *r, enum sx_family family)
{
	add_summaries(t, family, "part", r->spans + 1, r->span_count - 1);
}

static void add_stages(struct sx_text *t, const struct sx_report *r, enum sx_family family)
{
	add_summaries(t, family, "stage", r->stages, r->stage_count);
}

/* Adds the only sample of a family, in seconds, computed from a value that is no metric. */
static void add_seconds_gauge(struct sx_text *t, enum sx_family family, double seconds)
{
	sx_must(sx_families[family].type, ==, SX_FAMILY_TYPE_GAUGE);
	add_family(t, family);
	sx_text_add(t, "%s %.*g\n", sx_families[family].name, sx_families[family].digits, seconds);
}

static void add_skew(struct sx_text *t, const struct sx_report *r, enum sx_family family)
{
	if (r->source.skew.n > 0)
		add_seconds_gauge(t, family, (double)r->source.skew.p99_ns / 1e9);
}

static void add_feed_state(struct sx_text *t, enum sx_family family, const char *state)
{
	const char *words[SX_FEED_STATES];

	for (int i = 0; i < SX_FEED_STATES; i++)
		words[i] = sx_feed_state_name((enum sx_feed_state)i);
	add_states(t, family, words, SX_FEED_STATES, state);
}

static void add_scores_state(struct sx_text *t, const struct sx_report *r, enum sx_family family)
{
	if (*r->semantics.source)
		add_feed_state(t, family, r->semantics.state);
}

static void add_maps_state(struct sx_text *t, const struct sx_report *r, enum sx_family family)
{
	if (*r->external.source)
		add_feed_state(t, family, r->external.state);
}

static void add_power(struct sx_text *t, const struct sx_report *r, enum sx_family family)
{
	const struct sx_report_power *p = &r->power;
	const char *const labels[][2] = {{"source", p->source}, {"scope", p->scope}, {"device", p->device}};

	if (*p->source)
		add_info(t, family, labels, 3);
}

/* Adds the age of the last sample in seconds, as the format requires. The status has it in milliseconds. */
static void add_power_age(struct sx_text *t, const struct sx_report *r, enum sx_family family)
{
	const int64_t age_ms = r->metric[SX_METRIC_POWER_AGE].count;

	if (*r->power.source && age_ms >= 0)
		add_seconds_gauge(t, family, (double)age_ms / 1e3);
}

static void add_board(struct sx_text *t, const struct sx_report *r, enum sx_family family)
{
	const char *const labels[][2] = {{"model", r->board.model}, {"power_mode", r->board.mode}};

	if (*r->board.model)
		add_info(t, family, labels, 2);
}

static void (*const writers[SX_FAMILY_END])(struct sx_text *t, const struct sx_report *r,
					    enum sx_family family) = {
	[SX_FAMILY_INFO] = add_identity,
	[SX_FAMILY_STATE] = add_state,
	[SX_FAMILY_CAMERA_CAPTURED] = add_cameras,
	[SX_FAMILY_CAMERA_ERRORS] = add_cameras,
	[SX_FAMILY_CAMERA_GAPS] = add_cameras,
	[SX_FAMILY_CAMERA_RECONNECTS] = add_cameras,
	[SX_FAMILY_CAMERA_DROPPED] = add_camera_images,
	[SX_FAMILY_CAMERA_ODD_JPEG] = add_camera_images,
	[SX_FAMILY_LATENCY] = add_latency,
	[SX_FAMILY_LATENCY_PARTS] = add_parts,
	[SX_FAMILY_STAGES] = add_stages,
	[SX_FAMILY_SKEW] = add_skew,
	[SX_FAMILY_SCORES_STATE] = add_scores_state,
	[SX_FAMILY_MAPS_STATE] = add_maps_state,
	[SX_FAMILY_POWER] = add_power,
	[SX_FAMILY_POWER_AGE] = add_power_age,
	[SX_FAMILY_BOARD] = add_board,
};

void sx_report_metrics(const struct sx_report *r, struct sx_text *t)
{
	sx_must(t->used, ==, 0);
	for (int i = 0; i < SX_FAMILY_END; i++)
		(writers[i] ? writers[i] : add_metrics)(t, r, (enum sx_family)i);
	sx_text_add(t, "# EOF\n");
}
