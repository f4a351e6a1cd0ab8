/*
 * Judges the health of the run, and reports it to the log, readers, the status and the service manager.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/log.h"
#include "config/config.h"
#include "daemon/run_priv.h"

int64_t sx_run_limit_ns(const struct sx_service *service)
{
	return service->watchdog_ns ? service->watchdog_ns : SX_HEALTH_LIMIT_NS;
}

/* Returns the expected pairs per second of the source; 0: unknown, or the source has no pace. */
static double expected_rate(const struct sx_core *core)
{
	const double asked = core->settings->source.fps;

	if (core->settings->source.kind != SX_SOURCE_V4L2 && core->settings->source.kind != SX_SOURCE_SHARED)
		return core->pipeline->info.paced ? asked : 0;
	return sx_health_camera_rate(asked, 1e-3 * (double)atomic_load_explicit(&core->telemetry->source_mhz,
										memory_order_relaxed));
}

static struct sx_health_input health_input(struct sx_run *run)
{
	const struct sx_telemetry *t = run->core.telemetry;
	const struct sx_settings *settings = run->core.settings;
	const struct sx_image_health *images = &run->images;
	const struct sx_live_history *history = &run->live.history;
	struct sx_health_watch *h = &run->health;
	double fps = settings->source.fps;
	struct sx_health_input in = {
		.limit_ns = sx_run_limit_ns(&run->service),
		.interval_ns = fps > 0 ? (int64_t)(1e9 / fps) : 0,
		.rate = expected_rate(&run->core),
		.last_capture_ns = atomic_load_explicit(&t->last_capture_ns, memory_order_relaxed),
		.last_publish_ns = atomic_load_explicit(&t->last_publish_ns, memory_order_relaxed),
		.in_flight_since_ns = atomic_load_explicit(&t->in_flight_since_ns, memory_order_relaxed),
		.published = sx_telemetry_count(t, SX_METRIC_FRAMES_PUBLISHED),
		.overload = sx_telemetry_count(t, SX_METRIC_DROPPED_OVERLOAD),
		.captured = sx_telemetry_count(t, SX_METRIC_FRAMES_CAPTURED),
		.corrupt = sx_telemetry_count(t, SX_METRIC_DROPPED_CORRUPT),
		.no_map = sx_telemetry_count(t, SX_METRIC_DROPPED_NO_MAP),
		.absent = atomic_load_explicit(&t->absent, memory_order_relaxed),
		.stopping = run->stop.ordered,
	};

	sx_telemetry_absent_why(t, h->absent_why);
	in.absent_why = h->absent_why;
	if (settings->params.stereo.matcher == SX_MATCH_EXTERNAL) {
		sx_telemetry_feed_why(t, SX_FEED_DISPARITY, h->map_why);
		in.map_why = h->map_why;
	}
	in.names_why = h->names_why.text;
	in.images_why = *images->image_watch.why   ? images->image_watch.why
			: *images->row_control.why ? images->row_control.why
						   : h->unit_why;
	in.now_ns = sx_now_ns();
	if (history->camera_ns && in.now_ns - history->camera_ns < SX_CAMERA_CHANGED_NS)
		in.camera_why = history->camera_why;
	return in;
}

static void log_state(const struct sx_health *h)
{
	if (h->state == STIXEL_STATE_RUNNING || h->state == STIXEL_STATE_STOPPING)
		sx_log(DAEMON, NOTICE, "%s", sx_health_name(h->state));
	else
		sx_log(DAEMON, WARNING, "%s: %s%s%s", sx_health_name(h->state), h->reason,
		       h->advice ? ": " : "", h->advice ? h->advice : "");
}

/* Logs a change of state or reason once, and reports the state to readers. Returns true if there was one. */
static bool tell_state(struct sx_health_watch *w, struct sx_pipeline *p)
{
	const struct sx_health *h = &w->now;

	if (!sx_health_has_changed(h, &w->logged, sx_now_ns()))
		return false;
	sx_must(h->state, <=, STIXEL_STATE_STOPPING);
	log_state(h);
	if (p->ring)
		sx_ring_set_state(p->ring, h->state);
	sx_pair_publisher_set_state(&p->feeds.pair_publisher, h->state);
	if (p->stream)
		sx_stream_set_state(p->stream, h->state);
	return true;
}

static enum sx_report_image image_state(const struct sx_pipeline *p, unsigned kind)
{
	const unsigned bit = 1u << kind;

	sx_must(kind, <=, STIXEL_PLANE_RIGHT);
	if (!(p->images & bit))
		return SX_IMAGE_OFF;
	return atomic_load_explicit(&p->published_images, memory_order_relaxed) & bit ? SX_IMAGE_PUBLISHED
										      : SX_IMAGE_IDLE;
}

static void report_row_correction(struct sx_report *report, const struct sx_row_correction *c, bool corrects)
{
	sx_report_real(report, SX_METRIC_ROW_CORRECTION_SHIFT, corrects ? c->shift_px : (double)NAN);
	sx_report_real(report, SX_METRIC_ROW_CORRECTION_ROTATION, corrects ? c->rotation_deg : (double)NAN);
}

static void tell_limits(struct sx_report *report, const struct sx_image_watch *w)
{
	struct sx_image_limits l;

	sx_image_limits(&l, w);
	sx_report_real(report, SX_METRIC_LIMIT_DENSITY, l.density);
	sx_report_real(report, SX_METRIC_LIMIT_INFINITY, l.infinity);
	sx_report_real(report, SX_METRIC_LIMIT_ROW_ERROR, l.row_error);
	sx_report_real(report, SX_METRIC_LIMIT_DARK, l.dark);
	sx_report_real(report, SX_METRIC_LIMIT_SATURATED, l.saturated);
	sx_report_real(report, SX_METRIC_LIMIT_FLAT, l.flat);
}

static void tell_pages(struct sx_core *core, const struct sx_health *h, const struct sx_image_health *images,
		       const struct sx_live_history *history)
{
	const struct sx_pipeline *p = core->pipeline;
	struct sx_stream_counters stream;
	struct sx_report *report = sx_pages_edit(core->pages);

	report->state = sx_health_name(h->state);
	memcpy(report->reason, h->reason, sizeof(report->reason));
	sx_report_count(report, SX_METRIC_LOG_LINES, (int64_t)sx_log_lines());
	sx_report_count(report, SX_METRIC_LOG_LOST, (int64_t)sx_log_lost());
	tell_limits(report, &images->image_watch);
	report->images.left = image_state(p, STIXEL_PLANE_LEFT);
	report->images.right = image_state(p, STIXEL_PLANE_RIGHT);
	report->images.disparity = image_state(p, STIXEL_PLANE_DISPARITY);
	core->pages->serving = h->serving;
	report_row_correction(report, &images->row_control.applied,
			      sx_corrects_rows(core->settings, &p->info));
	sx_report_count(report, SX_METRIC_ROW_CORRECTIONS, (int64_t)history->corrections);
	if (p->stream) {
		sx_stream_counters(p->stream, &stream);
		sx_report_count(report, SX_METRIC_STREAM_CLIENTS, stream.clients);
		sx_report_count(report, SX_METRIC_STREAM_ACCEPTED, (int64_t)stream.accepted);
		sx_report_count(report, SX_METRIC_STREAM_REFUSED, (int64_t)stream.refused);
		sx_report_count(report, SX_METRIC_STREAM_GARBAGE, (int64_t)stream.garbage);
		sx_report_count(report, SX_METRIC_STREAM_SENT, (int64_t)stream.sent);
		sx_report_count(report, SX_METRIC_STREAM_DROPPED, (int64_t)stream.dropped);
	}
	sx_pages_done(core->pages);
}

void sx_run_watch_unit(const struct sx_core *core, char why[SX_WHY_BYTES])
{
	const unsigned millionths =
		atomic_load_explicit(&core->telemetry->baseline_millionths, memory_order_relaxed);
	const bool logged = why[0];
	struct sx_camera camera;

	if (!millionths) {
		why[0] = 0;
		return;
	}
	camera = sx_settings_camera(core->settings, &core->pipeline->info);
	sx_road_unit_tell(1e-6 * millionths, &camera, why, SX_WHY_BYTES);
	if (!logged)
		sx_log(DAEMON, WARNING, "%s", why);
}

void sx_run_judge(struct sx_run *run, bool tick)
{
	struct sx_health_input in = health_input(run);
	struct sx_health *h = &run->health.now;

	if (tick)
		sx_health_update(h, &in);
	else
		sx_health_judge(h, &in);
	if (tell_state(&run->health, run->core.pipeline))
		sx_run_tell_manager(&run->service, h, run->core.telemetry);
	tell_pages(&run->core, h, &run->images, &run->live.history);
}

bool sx_run_may_ping(struct sx_run *run)
{
	const struct sx_health_input in = health_input(run);

	return sx_health_may_ping(&run->health.now, &in);
}

void sx_run_tell_manager(struct sx_service *service, const struct sx_health *h, struct sx_telemetry *t)
{
	const char *state = sx_health_name(h->state);
	uint64_t published = sx_telemetry_count(t, SX_METRIC_FRAMES_PUBLISHED);

	if (*h->reason && strcmp(h->reason, state) != 0)
		sx_service_status(service, "%s: %s", state, h->reason);
	else if (h->state == STIXEL_STATE_RUNNING && published > 1)
		sx_service_status(service, "%s, %.1f fps, %llu frames, %llu dropped", state,
				  sx_rate_get(&t->rate, 10, sx_now_ns()), (unsigned long long)published,
				  (unsigned long long)sx_telemetry_count(t, SX_METRIC_DROPPED_OVERLOAD));
	else
		sx_service_status(service, "%s", state);
}
