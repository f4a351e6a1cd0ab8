/*
 * Makes and starts the pipeline of a run. Reports its engine and its camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/contract.h"
#include "base/log.h"
#include "base/memory_room.h"
#include "config/camera.h"
#include "config/config.h"
#include "daemon/run_priv.h"

/* Image size of a pipeline while the camera is absent, px, if the configuration has none. */
#define ABSENT_WIDTH 640
#define ABSENT_HEIGHT 480
#define PING_SHARE 4 /* making contexts may take this part of the watchdog's period without notice */

int sx_run_refuse(int code, const char *why)
{
	sx_log(DAEMON, ERROR, "%s", why);
	return code;
}

static int build_failed(int r, const char *why)
{
	if (r == -ENODEV)
		return sx_run_refuse(SX_EXIT_GPU, why);
	return sx_run_refuse(r == -EINVAL || r == -ENOTSUP ? SX_EXIT_CONFIG : SX_EXIT_FAILED, why);
}

/* Returns the engine's sentence on engine.volume; empty: the engine has no choice. */
static const char *volume_of(const struct sx_contexts *newest)
{
	sx_must(newest->count, >, 0);
	return newest->backend->volume ? newest->backend->volume(newest->context[0]) : "";
}

void sx_run_tell_engine(struct sx_core *core)
{
	const char *volume = volume_of(core->pipeline->newest);
	struct sx_report *report = sx_pages_edit(core->pages);
	const bool changed = strcmp(report->engine.volume, volume) != 0;

	snprintf(report->engine.volume, sizeof(report->engine.volume), "%s", volume);
	sx_report_count(report, SX_METRIC_ENGINE_MEMORY,
			(int64_t)core->engine.backend->memory(core->engine.device));
	sx_pages_done(core->pages);
	if (*volume && changed)
		sx_log(DAEMON, INFO, "%s", volume);
}

void sx_run_tell_camera(struct sx_core *core, bool known)
{
	char text[SX_CAMERA_TEXT_BYTES], question[SX_CAMERA_QUESTIONS][SX_CAMERA_TEXT_BYTES];
	const struct sx_source_info *info = &core->pipeline->info;
	const int count = known ? sx_camera_questions(core->settings, info, question)
				: sx_camera_questions_before(core->settings, question);
	struct sx_report *report = sx_pages_edit(core->pages);
	size_t used = 0;

	sx_camera_tell(core->settings, info, text, sizeof(text));
	snprintf(report->camera, sizeof(report->camera), "%s", text);
	report->camera_questions[0] = 0;
	for (int i = 0; i < count && used < sizeof(report->camera_questions); i++)
		used += (size_t)snprintf(report->camera_questions + used,
					 sizeof(report->camera_questions) - used, "%s\n", question[i]);
	sx_pages_done(core->pages);
	sx_log(CONFIG, INFO, "%s", text);
	for (int i = 0; i < count; i++)
		sx_log(CONFIG, WARNING, "%s", question[i]);
}

static void tell_pipeline(struct sx_core *core)
{
	const struct sx_pipeline *p = core->pipeline;
	struct sx_report *report = sx_pages_edit(core->pages);

	sx_pages_set_source(core->pages, &core->settings->source, &p->info);
	report->epoch = p->epoch;
	snprintf(report->ring_path, sizeof(report->ring_path), "%s", p->ring ? sx_ring_path(p->ring) : "");
	sx_report_count(report, SX_METRIC_RING_BYTES, p->ring ? (int64_t)sx_ring_bytes(p->ring) : -1);
	sx_report_count(report, SX_METRIC_RING_SLOTS, p->ring ? core->settings->output.slots : -1);
	sx_pages_done(core->pages);
	sx_run_tell_engine(core);
}

/*
 * Warns if the disparity range is more than half of the image's width. The search goes to the left by the
 * number of disparities, so near the left border it ends early.
 */
static void warn_of_search(const struct sx_settings *s, int width)
{
	const int half = width / 64 * 32;

	if (s->params.stereo.matcher == SX_MATCH_EXTERNAL || 2 * s->params.stereo.disparities <= width)
		return;
	sx_log(CONFIG, WARNING,
	       "stereo.disparities = %d, and images are %d px wide: the search leaves the image in more than "
	       "half of the columns; %d would do",
	       s->params.stereo.disparities, width, half > 32 ? half : 32);
}

/* Warns if the engine would need more memory than is free: the kernel may then kill the daemon. */
static void warn_of_memory(const struct sx_core *core, const struct sx_source_info *info)
{
	const struct sx_context_config c = sx_settings_context(core->settings, info);
	char what[192];
	struct sx_why why;

	if (core->engine.backend->context_memory &&
	    core->settings->params.stereo.matcher == SX_MATCH_INTERNAL &&
	    sx_frame_cost_is_too_large(&c, core->settings->engine.contexts,
				       sx_memory_room("", what, sizeof(what)), what, &why))
		sx_log(CONFIG, WARNING, "%s", why.text);
}

/*
 * Creates the pipeline. Main sends no pings meanwhile, and contexts for the largest images take longer than the
 * watchdog waits, so the service manager has to wait for the predicted time, too.
 */
static int create_pipeline(struct sx_run *run, const struct sx_pipeline_config *config,
			   struct sx_source *source, const struct sx_source_info *info, struct sx_why *why)
{
	const struct sx_context_config c = sx_settings_context(config->settings, info);
	const int64_t ns = sx_frame_cost_making_ns(&c, config->settings->engine.contexts);
	const bool is_long = ns > run->service.watchdog_ns / PING_SHARE;
	int r;

	if (is_long)
		sx_service_extend(&run->service, ns);
	r = sx_pipeline_create(&run->core.pipeline, config, source, info, why);
	if (is_long)
		sx_service_extend(&run->service, 0);
	return r;
}

/* Warns of settings that cannot keep up. The daemon starts, but the watchdog would end it again and again. */
static void tell_cost(const struct sx_core *core, const struct sx_frame_cost *cost, int64_t limit_ns)
{
	const struct sx_frame_cost_case c = sx_pipeline_cost_case(core->pipeline, core->settings);
	struct sx_why why;

	if (sx_frame_cost_is_too_much(cost, NULL, &c, limit_ns, &why))
		sx_log(CONFIG, WARNING, "%s", why.text);
}

/* Goes on without a writer whose pairs cannot be computed with these settings: no writer may end the daemon. */
static void refuse_writer(struct sx_core *core, struct sx_source *source, const char *why)
{
	sx_log(CAPTURE, WARNING, "writer refused: %s", why);
	sx_source_refuse(source, why);
	sx_source_close(source);
	sx_telemetry_absent(core->telemetry, why);
}

int sx_run_build(struct sx_run *run, struct sx_source *source)
{
	struct sx_core *core = &run->core;
	const struct sx_settings *s = core->settings;
	const uint64_t frames = run->options->frames;
	const struct sx_pipeline_config config = {
		.settings = s,
		.start = core->start,
		.engine = &core->engine,
		.telemetry = core->telemetry,
		.instance = run->options->instance,
		.shm_dir = getenv("STIXELD_SHM_DIR"),
		.stream_path = run->folder.stream_path,
		.stream_fd = run->folder.stream_fd,
		.pairs = &run->folder.pairs,
		.frames =
			frames ? frames - sx_telemetry_count(core->telemetry, SX_METRIC_FRAMES_PUBLISHED) : 0,
		.main_fd = run->loop.main_fd,
		.log = sx_log_part(),
	};
	struct sx_source_info info = {
		.width = s->rectify	   ? s->rig.raw_width
			 : s->source.width ? s->source.width
					   : ABSENT_WIDTH,
		.height = s->rectify	     ? s->rig.raw_height
			  : s->source.height ? s->source.height
					     : ABSENT_HEIGHT,
		.cameras = s->source.layout == SX_LAYOUT_TWO ? 2 : 1,
		.path = {s->source.left, s->source.right},
		.paced = true,
		.live = s->source.kind == SX_SOURCE_V4L2,
		.awaited = s->source.kind == SX_SOURCE_SHARED,
	};
	struct sx_why why;
	int r;

	sx_must_be(!core->pipeline);
	if (s->source.kind == SX_SOURCE_SHARED)
		info.path[0] = info.path[1] = run->folder.pairs.path;
	if (source)
		info = *sx_source_info(source);
	r = source || s->rectify ? sx_settings_check_source(s, &info, &why)
				 : sx_settings_check_params(s, &info, &why);
	if (r == 0) {
		warn_of_memory(core, &info);
		r = create_pipeline(run, &config, source, &info, &why);
	}
	if (r < 0 && r != -ENODEV && source && s->source.kind == SX_SOURCE_SHARED) {
		refuse_writer(core, source, why.text);
		return sx_run_build(run, NULL);
	}
	if (r < 0) {
		sx_source_close(source);
		return build_failed(r, why.text);
	}
	r = sx_pipeline_open_output(core->pipeline, &why);
	if (r < 0)
		return sx_run_refuse(SX_EXIT_CREATE, why.text);
	tell_pipeline(core);
	if (s->realtime.lock_memory && mlockall(MCL_CURRENT) < 0)
		sx_log(DAEMON, WARNING, "realtime.lock_memory is not permitted: %s (LimitMEMLOCK?)",
		       strerror(errno));
	r = sx_pipeline_start(core->pipeline, &why);
	if (r < 0)
		return build_failed(r, why.text);
	if (sx_settings_tell_rectified(s, &info, why.text, sizeof(why.text)))
		sx_log(CONFIG, INFO, "%s", why.text);
	else if (info.rig && !sx_settings_camera_of_source(s, &info))
		sx_log(CONFIG, WARNING,
		       "images of the writer are raw, and fx .. baseline_m of [camera] take the place of its "
		       "calibration: images are not rectified");
	sx_run_tell_camera(core, source != NULL);
	tell_cost(core, &run->live.cost, sx_run_limit_ns(&run->service));
	if (!source)
		return 0; /* the format of the pairs is logged when a camera is there */
	sx_log(DAEMON, INFO, "pairs of %dx%d %s, %s, %d in flight", info.width, info.height,
	       info.format ? info.format : sx_pixel_name(info.pixel),
	       info.paced ? "paced" : "as fast as they are taken", s->engine.contexts);
	if (sx_settings_tell_dataset(s, &info, why.text, sizeof(why.text)))
		sx_log(CAPTURE, INFO, "%s", why.text);
	else if (*info.note)
		sx_log(CAPTURE, INFO, "%s", info.note);
	warn_of_search(s, (int)core->pipeline->header.image_width);
	return 0;
}
