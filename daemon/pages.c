/*
 * The pages of the status socket.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/pages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "config/classes.h"
#include "config/option.h"

_Static_assert((int)SX_SPAN_COUNT <= SX_REPORT_SPANS, "the report has room for every part of the way");
_Static_assert(SX_STAGE_COUNT <= SX_REPORT_STAGES, "the report has room for every stage");
_Static_assert(SX_CLASSES_MAX <= SX_REPORT_CLASSES, "the report has room for every class");
_Static_assert(sizeof(((struct sx_report_feed *)0)->reason) >= SX_FEED_WHY_BYTES, "and for the reason");
_Static_assert(SX_METRIC_ROW_ERROR_ALL - SX_METRIC_ROW_ERROR_LEFT == (int)SX_ROW_ERROR_ALL &&
		       SX_METRIC_ROW_SPREAD_ALL - SX_METRIC_ROW_SPREAD_LEFT == (int)SX_ROW_ERROR_ALL,
	       "figures of row errors are in the order of enum sx_row_part");
_Static_assert(SX_DROP_COUNT <= SX_REPORT_DROPS, "the report has room for every reason");
_Static_assert(SX_ODD_JPEG_COUNT <= SX_REPORT_DROPS, "the report has room for every kind of odd JPEG");

static const char *stamp_name(uint64_t stamp)
{
	static const char *const names[] = {
		[STIXEL_STAMP_EXPOSURE_START] = "start of exposure",
		[STIXEL_STAMP_FRAME_END] = "end of frame",
		[STIXEL_STAMP_SOFTWARE] = "software",
	};

	return stamp < sizeof(names) / sizeof(names[0]) ? names[stamp] : NULL;
}

static uint64_t counter_load(const _Atomic uint64_t *value)
{
	return atomic_load_explicit(value, memory_order_relaxed);
}

static void read_latency(struct sx_report_latency *l, const char *name, const struct sx_duration *d,
			 int64_t now_ns)
{
	l->name = name;
	sx_windows_read(&d->windows, SX_WINDOW_START, now_ns, &l->start);
	sx_windows_read(&d->windows, SX_WINDOW_10S, now_ns, &l->last_10s);
	sx_windows_read(&d->windows, SX_WINDOW_1S, now_ns, &l->last_1s);
	l->sum_ns = atomic_load_explicit(&d->sum_ns, memory_order_relaxed);
}

static void read_latencies(struct sx_report *r, const struct sx_telemetry *t,
			   const struct sx_stereo_params *stereo, int64_t now_ns)
{
	r->span_count = SX_SPAN_COUNT;
	for (int i = 0; i < SX_SPAN_COUNT; i++)
		read_latency(&r->spans[i], sx_span_name((enum sx_span)i), &t->spans[i], now_ns);
	r->stage_count = SX_STAGE_COUNT;
	for (int i = 0; i < SX_STAGE_COUNT; i++)
		read_latency(&r->stages[i], sx_stage_name((enum sx_stage)i, stereo), &t->stages[i], now_ns);
	sx_windows_read(&t->skew, SX_WINDOW_START, now_ns, &r->source.skew);
}

static void read_newest(struct sx_report *r, const struct sx_telemetry *t)
{
	struct sx_newest n = {0};
	bool known = sx_telemetry_newest(t, &n) && n.frames > 0;

	if (!known)
		return;
	sx_report_real(r, SX_METRIC_STIXELS_PER_FRAME, (double)n.stixels);
	if (n.stixels)
		sx_report_real(r, SX_METRIC_STIXELS_PIXELS, (double)n.pixels / (double)n.stixels);
	sx_must(n.stixels, <=, n.pixels);
	r->source.stamp = stamp_name(n.stamp);
	r->road_origin = stixel_road_name((unsigned)n.road_origin);
	if (n.road_origin == STIXEL_ROAD_NONE)
		return;
	sx_report_real(r, SX_METRIC_ROAD_SLOPE, n.slope);
	sx_report_real(r, SX_METRIC_ROAD_OFFSET, n.offset);
	sx_report_real(r, SX_METRIC_ROAD_CROSS, n.cross);
	sx_report_real(r, SX_METRIC_ROAD_AXIS, n.axis);
	sx_report_real(r, SX_METRIC_ROAD_BEND, n.bend);
	sx_report_real(r, SX_METRIC_ROAD_BEND_ROW, n.bend_row);
	sx_report_real(r, SX_METRIC_ROAD_HORIZON, n.horizon_row);
	sx_report_real(r, SX_METRIC_ROAD_PITCH, n.pitch_rad * (180.0 / M_PI));
	sx_report_real(r, SX_METRIC_ROAD_ROLL, n.roll_rad * (180.0 / M_PI));
	sx_report_real(r, SX_METRIC_ROAD_HEIGHT, n.height_m);
	if (n.height_sigma_m > 0) {
		sx_report_real(r, SX_METRIC_ROAD_PITCH_SIGMA, n.pitch_sigma_rad * (180.0 / M_PI));
		sx_report_real(r, SX_METRIC_ROAD_ROLL_SIGMA, n.roll_sigma_rad * (180.0 / M_PI));
		sx_report_real(r, SX_METRIC_ROAD_HEIGHT_SIGMA, n.height_sigma_m);
	}
	sx_report_count(r, SX_METRIC_ROAD_INLIERS, (int64_t)n.road_inliers);
	sx_report_count(r, SX_METRIC_ROAD_AGE, (int64_t)n.road_age);
}

static void read_image_stats(struct sx_report *r, const struct sx_telemetry *t)
{
	struct sx_image_stats p;

	if (!sx_telemetry_newest_image_stats(t, &p))
		return;
	sx_report_real(r, SX_METRIC_IMAGE_DENSITY, p.density);
	sx_report_real(r, SX_METRIC_IMAGE_INFINITY, p.infinity);
	sx_report_real(r, SX_METRIC_IMAGE_BLIND, p.blind);
	for (int i = 0; i < SX_ROW_ERROR_PARTS; i++) {
		sx_report_real(r, (enum sx_metric)(SX_METRIC_ROW_ERROR_LEFT + i), p.row_error[i]);
		sx_report_real(r, (enum sx_metric)(SX_METRIC_ROW_SPREAD_LEFT + i), p.row_spread[i]);
	}
	for (int side = 0; side < 2; side++) {
		sx_report_real(r, (enum sx_metric)(SX_METRIC_DARK_LEFT + side), p.dark[side]);
		sx_report_real(r, (enum sx_metric)(SX_METRIC_SATURATED_LEFT + side), p.saturated[side]);
		sx_report_real(r, (enum sx_metric)(SX_METRIC_FLAT_LEFT + side), p.flat[side]);
		sx_report_real(r, (enum sx_metric)(SX_METRIC_SHARPNESS_LEFT + side), p.sharpness[side]);
	}
	sx_report_real(r, SX_METRIC_RAW_MIN, p.raw_min);
	sx_report_real(r, SX_METRIC_RAW_MAX, p.raw_max);
}

static void add_applied(struct sx_report *r, double px)
{
	const size_t n = strlen(r->motion.range);

	snprintf(r->motion.range + n, sizeof(r->motion.range) - n,
		 "; %+.2f px are added to the disparities of stixels and road", px);
}

static void read_motion(struct sx_report *r, const struct sx_telemetry *t)
{
	struct sx_motion_stats m;
	struct sx_motion_range range;
	struct sx_range_error error;
	struct sx_camera camera = {0};

	if (!r->motion.measured || !sx_telemetry_newest_motion(t, &m))
		return;
	r->motion.state = sx_motion_verdict_text((enum sx_motion_verdict)m.verdict);
	sx_report_real(r, SX_METRIC_MOTION_SPEED, m.speed_m_s);
	sx_report_real(r, SX_METRIC_MOTION_YAW_RATE, m.yaw_rate_deg_s);
	sx_report_real(r, SX_METRIC_RANGE_APPLIED, m.applied_px);
	if (isnan(m.offset_px))
		return;
	/* the error that is left */
	range = (struct sx_motion_range){m.offset_px - m.applied_px, m.sigma_px};
	camera.fx = m.focal_px;
	camera.baseline_m = m.baseline_m;
	error = sx_range_error_of(&camera, &range);
	r->motion.wrong = error.wrong;
	sx_range_describe(&camera, &range, m.applied_px, r->motion.range);
	if (m.applied_px != 0)
		add_applied(r, m.applied_px);
	sx_report_real(r, SX_METRIC_RANGE_OFFSET, range.px);
	sx_report_real(r, SX_METRIC_RANGE_OFFSET_SIGMA, m.sigma_px);
	sx_report_real(r, SX_METRIC_RANGE_AT, error.at_m);
	sx_report_real(r, SX_METRIC_RANGE_ERROR, error.percent);
	sx_report_real(r, SX_METRIC_RANGE_ERROR_SIGMA, error.sigma_percent);
}

/* Copies the counts of one side. Only sources with cameras count the images of a side. */
static void read_camera(struct sx_report_camera *c, const struct sx_telemetry *t, int side)
{
	const char *format = atomic_load_explicit(&t->format, memory_order_relaxed);

	sx_must_index(side, 2);
	if (format)
		c->format = format;
	c->count[SX_CAMERA_CAPTURED] = (int64_t)counter_load(&t->images[side]);
	c->count[SX_CAMERA_RECONNECTS] = (int64_t)counter_load(&t->reconnects);
	if (c->count[SX_CAMERA_GAPS] < 0)
		return;
	c->count[SX_CAMERA_GAPS] = (int64_t)counter_load(&t->gaps[side]);
	c->count[SX_CAMERA_ERRORS] = 0;
	for (int i = 0; i < SX_DROP_COUNT; i++) {
		c->dropped[i].what = sx_image_drop_name((enum sx_image_drop)i);
		c->dropped[i].images = (int64_t)counter_load(&t->dropped[side][i]);
		if (i == SX_DROP_ERROR_FLAG || i == SX_DROP_SHORT || i == SX_DROP_BROKEN)
			c->count[SX_CAMERA_ERRORS] += c->dropped[i].images;
	}
	for (int i = 0; i < SX_ODD_JPEG_COUNT; i++) {
		c->odd_jpeg[i].what = sx_odd_jpeg_name((enum sx_odd_jpeg)i);
		c->odd_jpeg[i].images = (int64_t)counter_load(&t->odd_jpeg[side][i]);
	}
}

/* Reads the reason before the counts, because the writer sets the reason after the counts. */
static const char *read_feed(const struct sx_telemetry *t, enum sx_feed_kind kind,
			     char reason[SX_FEED_WHY_BYTES])
{
	sx_must_index(kind, SX_FEED_KINDS);
	sx_telemetry_feed_why(t, kind, reason);
	return sx_feed_state_name(
		(enum sx_feed_state)atomic_load_explicit(&t->feed[kind].state, memory_order_relaxed));
}

static void read_feeds(struct sx_report *r, const struct sx_telemetry *t)
{
	if (*r->semantics.source)
		r->semantics.state = read_feed(t, SX_FEED_SCORES, r->semantics.reason);
	if (*r->external.source)
		r->external.state = read_feed(t, SX_FEED_DISPARITY, r->external.reason);
}

/*
 * Reads the counts from the last row to the first. The row of a total comes before the rows of its parts, and
 * a total must be read after its parts.
 */
static void read_counts(struct sx_report *r, const struct sx_telemetry *t)
{
	for (int i = SX_METRIC_END - 1; i >= 0; i--)
		if (sx_metrics[i].kind == SX_METRIC_KIND_COUNTED)
			r->metric[i].count = (int64_t)sx_telemetry_count(t, (enum sx_metric)i);
	sx_must(r->metric[SX_METRIC_SCORES_LATE].count, <=, r->metric[SX_METRIC_SCORES_RECEIVED].count);
	sx_must(r->metric[SX_METRIC_MAPS_LATE].count, <=, r->metric[SX_METRIC_MAPS_RECEIVED].count);
	sx_report_count(r, SX_METRIC_SCORES_IN_TIME,
			r->metric[SX_METRIC_SCORES_RECEIVED].count - r->metric[SX_METRIC_SCORES_LATE].count);
	sx_report_count(r, SX_METRIC_MAPS_IN_TIME,
			r->metric[SX_METRIC_MAPS_RECEIVED].count - r->metric[SX_METRIC_MAPS_LATE].count);
}

static void read_transfers(struct sx_report *r, const struct sx_telemetry *t)
{
	const double frames = (double)counter_load(&t->copy_frames);

	if (frames == 0)
		return;
	sx_report_real(r, SX_METRIC_INPUT_COPIES_PER_FRAME,
		       (double)r->metric[SX_METRIC_INPUT_COPIES_IN].count / frames);
	sx_report_real(r, SX_METRIC_INPUT_BYTES_PER_FRAME, (double)counter_load(&t->copied_bytes) / frames);
	sx_report_real(r, SX_METRIC_INPUT_RESULTS_PER_FRAME,
		       (double)r->metric[SX_METRIC_INPUT_COPIES_OUT].count / frames);
}

/* Thread: HTTP. Takes the whole report as of now. */
static void take_report(struct sx_pages *p, struct sx_report *r)
{
	const struct sx_telemetry *t = p->telemetry;
	int64_t now = sx_now_ns(), first = atomic_load_explicit(&t->first_publish_ns, memory_order_relaxed);
	const char *memory;

	pthread_mutex_lock(&p->lock);
	*r = p->report;
	pthread_mutex_unlock(&p->lock);
	sx_must(now, >=, p->started_ns);
	sx_report_real(r, SX_METRIC_UPTIME, (double)(now - p->started_ns) / 1e9);
	sx_report_real(r, SX_METRIC_FIRST_FRAME, first ? (double)(first - p->started_ns) / 1e9 : (double)NAN);
	read_feeds(r, t);
	read_counts(r, t);
	if (r->metric[SX_METRIC_FRAMES_PUBLISHED].count > 1) {
		sx_report_real(r, SX_METRIC_FPS_1S, sx_rate_get(&t->rate, 1, now));
		sx_report_real(r, SX_METRIC_FPS_10S, sx_rate_get(&t->rate, 10, now));
	}
	read_transfers(r, t);
	memory = atomic_load_explicit(&t->memory, memory_order_relaxed);
	if (memory)
		r->source.memory = memory;
	sx_telemetry_writer_name(t, r->source.writer);
	sx_must(r->source.cameras, <=, 2);
	for (int i = 0; i < r->source.cameras; i++)
		read_camera(&r->source.camera[i], t, i);
	read_latencies(r, t, &p->stereo, now);
	read_newest(r, t);
	read_image_stats(r, t);
	read_motion(r, t);
	sx_pages_read_board(r, p->root);
	sx_pages_read_power(r, p->power, now);
}

static unsigned write_report(void *user, struct sx_text *text,
			     void (*write)(const struct sx_report *, struct sx_text *))
{
	struct sx_report *r = malloc(sizeof(*r));

	if (!r) {
		sx_text_add(text, "out of memory\n");
		return 503;
	}
	take_report(user, r);
	write(r, text);
	free(r);
	return 200;
}

static unsigned write_status(void *user, struct sx_text *text)
{
	return write_report(user, text, sx_report_json);
}

static unsigned write_metrics(void *user, struct sx_text *text)
{
	return write_report(user, text, sx_report_metrics);
}

static unsigned write_health(void *user, struct sx_text *text)
{
	struct sx_pages *p = user;
	bool serving;

	pthread_mutex_lock(&p->lock);
	serving = p->serving;
	sx_text_add(text, "%s", p->report.state);
	if (*p->report.reason && strcmp(p->report.reason, p->report.state) != 0)
		sx_text_add(text, ": %s", p->report.reason);
	pthread_mutex_unlock(&p->lock);
	sx_text_add(text, "\n");
	return serving ? 200 : 503;
}

/* Thread: HTTP. Writes one of the texts that main stores. */
static unsigned write_stored(struct sx_pages *p, char *const *json, struct sx_text *text)
{
	bool known;

	pthread_mutex_lock(&p->lock);
	known = *json;
	sx_text_add(text, "%s", known ? *json : "{}\n");
	pthread_mutex_unlock(&p->lock);
	return known ? 200 : 503;
}

static unsigned write_config(void *user, struct sx_text *text)
{
	struct sx_pages *p = user;

	return write_stored(p, &p->config, text);
}

static unsigned write_settings(void *user, struct sx_text *text)
{
	struct sx_pages *p = user;

	return write_stored(p, &p->settings, text);
}

static void take_settings(void *user, struct sx_status_request *request)
{
	struct sx_pages *p = user;

	sx_requests_put(p->requests, request);
}

static const struct sx_status_page pages[] = {
	{"/status", "application/json", write_status, NULL, true},
	{"/metrics", "application/openmetrics-text; version=1.0.0; charset=utf-8", write_metrics, NULL, true},
	{"/healthz", "text/plain; charset=utf-8", write_health, NULL, false},
	{"/config", "application/json", write_config, NULL, false},
	{"/settings", "application/json", write_settings, take_settings, false},
};

void sx_pages_init(struct sx_pages *p, const struct sx_telemetry *telemetry,
		   const struct sx_stereo_params *stereo, struct sx_requests *requests)
{
	*p = (struct sx_pages){
		.telemetry = telemetry, .stereo = *stereo, .requests = requests, .started_ns = sx_now_ns()};
	pthread_mutex_init(&p->lock, NULL);
	sx_report_init(&p->report);
	p->report.state = "starting";
}

int sx_pages_serve(struct sx_pages *p, int listen_fd, struct sx_why *why)
{
	sx_must_be(!p->server);
	return sx_status_start(&p->server, listen_fd, pages, sizeof(pages) / sizeof(pages[0]), p, why);
}

void sx_pages_finish(struct sx_pages *p)
{
	sx_status_stop(p->server);
	p->server = NULL;
	sx_pages_set_config(p, NULL, NULL);
	pthread_mutex_destroy(&p->lock);
}

struct sx_report *sx_pages_edit(struct sx_pages *p)
{
	pthread_mutex_lock(&p->lock);
	return &p->report;
}

void sx_pages_done(struct sx_pages *p)
{
	pthread_mutex_unlock(&p->lock);
}

void sx_pages_set_source(struct sx_pages *p, const struct sx_source_params *params,
			 const struct sx_source_info *info)
{
	struct sx_report *r = &p->report;

	sx_must(info->cameras, <=, 2);
	r->source.kind = sx_option_find("source", "kind")->words[params->kind];
	r->source.memory = info->memory;
	r->source.cameras = info->cameras < 2 ? 1 : 2;
	for (int i = 0; i < r->source.cameras; i++) {
		r->source.camera[i] = (struct sx_report_camera){
			.side = info->cameras < 2 ? "both"
				: i == 0	  ? "left"
						  : "right",
			.format = info->format ? info->format : sx_pixel_name(info->pixel),
			.width = info->width,
			.height = info->height,
			/*
			 * files and scenes have no sequence numbers, and count unreadable pairs instead of
			 * images
			 */
			.count = {[SX_CAMERA_ERRORS] = -1,
				  [SX_CAMERA_GAPS] = params->kind == SX_SOURCE_V4L2 ? 0 : -1},
			.drops = params->kind == SX_SOURCE_V4L2 ? SX_DROP_COUNT : 0,
			.odds = params->kind == SX_SOURCE_V4L2 ? SX_ODD_JPEG_COUNT : 0,
		};
		snprintf(r->source.camera[i].path, sizeof(r->source.camera[i].path), "%s",
			 info->path[i] ? info->path[i] : "");
	}
}

void sx_pages_set_feeds(struct sx_pages *p, const struct sx_settings *settings)
{
	struct sx_report_feed *s = &p->report.semantics;
	struct sx_report_feed *e = &p->report.external;
	const bool maps = settings->external.source && settings->params.stereo.matcher == SX_MATCH_EXTERNAL;
	struct sx_semantic_params table;
	struct sx_class_names names;
	struct sx_why why;

	snprintf(e->source, sizeof(e->source), "%s", maps ? settings->external.source : "");
	if (!settings->semantics.source ||
	    sx_classes_parse(settings->semantics.classes, &table, &names, &why) < 0)
		return;
	snprintf(s->source, sizeof(s->source), "%s", settings->semantics.source);
	sx_must(table.classes, <=, SX_REPORT_CLASSES);
	s->class_count = table.classes;
	for (int i = 0; i < table.classes; i++) {
		memcpy(s->name[i], names.name[i], sizeof(names.name[i]));
		s->kind[i] = stixel_kind_name(table.kind[i]);
	}
}

void sx_pages_set_motion(struct sx_pages *p, const struct sx_settings *settings)
{
	const enum sx_motion_mode mode = settings->params.motion.mode;

	p->report.motion.mode = sx_option_find("motion", "mode")->words[mode];
	p->report.motion.measured = mode != SX_MOTION_MODE_OFF;
	p->report.motion.checked =
		p->report.motion.measured && settings->params.motion.range != SX_RANGE_OFFSET_OFF;
}

void sx_pages_set_files(struct sx_pages *p, const struct sx_settings *settings)
{
	struct sx_report_config *c = &p->report.config;
	size_t used = 0, room = sizeof(c->files);
	int n;

	c->files[0] = '\0';
	for (const char *at = settings->files; at && *at; at += strcspn(at, "\n") + 1) {
		n = snprintf(c->files + used, room - used, "%s%s%.*s\n", *at == '/' ? "" : c->folder,
			     *at == '/' ? "" : "/", (int)strcspn(at, "\n"), at);
		if (n < 0 || (size_t)n >= room - used) {
			c->files[used] = '\0';
			return;
		}
		used += (size_t)n;
	}
}

void sx_pages_set_config(struct sx_pages *p, char *config, char *settings)
{
	free(p->config);
	free(p->settings);
	p->config = config;
	p->settings = settings;
}
