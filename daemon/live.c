/*
 * The steps of a live change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/live.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/log.h"
#include "base/memory_room.h"
#include "base/thread.h"
#include "base/wake.h"
#include "daemon/run_priv.h"

/* Memory that a message names in addition to the need, MB: the daemon's use moves while it publishes. */
#define ROOM_SPARE_MB 2

/* Ends a change. The next one may begin. */
static void live_end(struct sx_run *run)
{
	struct sx_live *l = &run->live;
	const bool of_files = l->from == SX_LIVE_FILES;

	sx_must_be(!l->made);
	sx_settings_finish(&l->settings);
	l->order = NULL;
	l->step = SX_LIVE_IDLE;
	if (of_files && !run->stopping) {
		sx_service_ready(&run->service, NULL);
		sx_run_tell_manager(run);
	}
	sx_wake(run->main_fd);
}

static void live_refuse(struct sx_run *run, int r, const struct sx_errors *errors)
{
	sx_contexts_destroy(run->live.made);
	run->live.made = NULL;
	sx_live_tell_refused(run, r, errors);
	live_end(run);
}

static void live_refuse_why(struct sx_run *run, int r, const char *why)
{
	struct sx_errors errors = {0};

	sx_errors_add(&errors, "%s", why);
	live_refuse(run, r, &errors);
	sx_errors_finish(&errors);
}

void sx_live_note_configured(struct sx_run *run)
{
	for (int i = 0; i < sx_option_count; i++)
		sx_option_write(&sx_options[i], run->settings, run->live.configured[i]);
}

/* Logs whether images are rectified now. before: they were rectified before the change. */
static void tell_rectified(struct sx_run *run, bool before)
{
	char text[SX_WHY_BYTES];

	if (sx_settings_tell_rectified(run->settings, &run->pipeline->info, text, sizeof(text)))
		sx_log(CONFIG, INFO, "%s", text);
	else if (before)
		sx_log(CONFIG, INFO, "images are rectified no longer");
	sx_run_tell_camera(run, true);
}

/* Notes a change of the camera, which the status reports for a while, and frames by a flag. */
static void note_camera(struct sx_run *run)
{
	struct sx_live *l = &run->live;
	int n;

	if (!l->changes_camera)
		return;
	sx_must_be(l->builds || !l->recalibrates);
	l->camera_ns = sx_now_ns();
	n = snprintf(l->camera_why, sizeof(l->camera_why), "the camera was changed (%s)",
		     l->diff.changed > l->diff.restart ? l->diff.live_keys : "camera.calibration");
	if (l->frame && n > 0 && (size_t)n < sizeof(l->camera_why))
		snprintf(l->camera_why + n, sizeof(l->camera_why) - (size_t)n,
			 ": from frame %llu on the same disparity may be another distance",
			 (unsigned long long)l->frame);
}

/* Applies the change to the current settings. */
static void live_take(struct sx_run *run)
{
	struct sx_live *l = &run->live;
	const bool rectified = sx_settings_rig(run->settings, &run->pipeline->info) != NULL;
	struct sx_log_levels levels;
	char *text = sx_live_done_text(run);
	struct sx_why why;

	sx_must(l->diff.changed, >=, l->diff.restart);
	*l->origins = l->settings_origins;
	sx_settings_take_live(run->settings, &l->settings);
	if (run->settings->log_levels && sx_log_levels_parse(&levels, run->settings->log_levels, &why) == 0)
		sx_log_levels_set(&levels);
	l->changes++;
	note_camera(run);
	if (!l->order)
		sx_live_note_configured(run);
	if (l->recalibrates)
		tell_rectified(run, rectified);
	/* before the answer, so that a client that has the answer sees the change in the pages */
	sx_live_tell_pages(run);
	sx_live_tell_done(run, text);
	free(text);
	if (sx_live_corrects_rows(run, run->settings))
		return;
	run->rows = (struct sx_row_control){0};
	run->rows_told &= run->settings->rectification.row_correction == SX_ROW_CORRECTION_AUTO;
}

static void live_finish(struct sx_run *run)
{
	if (run->live.from != SX_LIVE_ROWS)
		live_take(run);
	live_end(run);
}

static void live_swap(struct sx_run *run)
{
	struct sx_live *l = &run->live;

	if (!l->made) {
		live_finish(run);
		return;
	}
	sx_must(l->made->count, ==, run->pipeline->newest->count);
	/* The pipeline owns the contexts from here on, whatever happens next. */
	run->pipeline->newest = l->made;
	sx_exchange_give_contexts(&run->pipeline->exchange, l->made);
	sx_wake(run->pipeline->handover.frame_fd);
	l->made = NULL;
	l->step = SX_LIVE_SWAP;
}

static void live_tune(struct sx_run *run)
{
	struct sx_live *l = &run->live;

	sx_must_be(l->made || !l->builds);
	if (!l->tunes) {
		live_swap(run);
		return;
	}
	sx_tune_set(&l->tune, &l->settings.source);
	sx_exchange_give_tune(&run->pipeline->exchange, &l->tune);
	sx_wake(run->pipeline->handover.capture_fd);
	l->step = SX_LIVE_TUNE;
}

static void *live_build(void *live)
{
	struct sx_live *l = live;

	sx_must_be(!l->made);
	pthread_setname_np(pthread_self(), "contexts");
	l->result = sx_contexts_create(&l->made, l->engine->backend, l->engine->device, &l->plan, &l->why);
	atomic_store_explicit(&l->built, true, memory_order_release);
	sx_wake(l->main_fd);
	return NULL;
}

/*
 * Adds the correction of rows to the rectification. Pairs that come rectified are then rectified once more.
 */
static void correct_rows(struct sx_context_config *c, const struct sx_row_correction *correction)
{
	const struct sx_camera *camera = &c->params.camera;

	if (sx_row_correction_equal(correction, &(struct sx_row_correction){0}))
		return;
	sx_must_be(c->rectify || (camera->fx > 0 && camera->fy > 0 && camera->baseline_m > 0));
	if (!c->rectify)
		c->rig = sx_rig_of_rectified(c->width, c->height, camera->fx, camera->fy, camera->cx,
					     camera->cy, camera->baseline_m);
	c->rectify = true;
	sx_rig_correct_rows(&c->rig, correction);
}

/*
 * Returns true if there is memory for the new contexts. If a cgroup is full, the kernel kills the process
 * that takes one page more. The message names an amount that suffices although the use of a publishing daemon
 * moves by about 1 MB.
 */
static bool has_room(const struct sx_run *run, struct sx_why *why)
{
	const struct sx_contexts *now = run->pipeline->newest;
	const size_t bytes =
		sx_frame_cost_memory(now->bytes, now->count, &now->plan.config, &run->live.plan.config);
	char what[192];
	const int64_t room = bytes ? sx_memory_room("", what, sizeof(what)) : INT64_MAX;

	sx_must(now->count, >, 0);
	if (room >= (int64_t)bytes)
		return true;
	sx_why_set(why,
		   "old and new contexts at once need about %zu MB more, and %s has %lld MB left: give it "
		   "more, or change this in a file and restart",
		   (bytes >> 20) + 1 + ROOM_SPARE_MB, what, (long long)(room >> 20));
	return false;
}

static void live_begin(struct sx_run *run)
{
	struct sx_live *l = &run->live;
	struct sx_why why;
	int r;

	sx_must(l->step, ==, SX_LIVE_IDLE);
	if (!l->builds) {
		live_tune(run);
		return;
	}
	l->plan = sx_pipeline_plan(run->pipeline, &l->settings);
	l->plan.calibration += l->recalibrates;
	l->plan.camera += l->changes_camera;
	correct_rows(&l->plan.config, &l->correction);
	if (!has_room(run, &why)) {
		live_refuse_why(run, -ENOMEM, why.text);
		return;
	}
	l->engine = &run->engine;
	l->main_fd = run->main_fd;
	l->result = 0;
	sx_why_clear(&l->why);
	atomic_store(&l->built, false);
	r = sx_thread_start(&l->builder, live_build, l);
	if (r < 0)
		live_refuse_why(run, r, "no thread for making contexts");
	else
		l->step = SX_LIVE_BUILD;
}

static void live_read(struct sx_run *run)
{
	struct sx_errors errors = {0};
	int r = sx_live_read(run, &errors);

	if (r < 0)
		live_refuse(run, r, &errors);
	else
		live_begin(run);
	sx_errors_finish(&errors);
}

static void look_at_waiting(struct sx_run *run)
{
	struct sx_live *l = &run->live;

	if (run->stopping || atomic_load(&run->pipeline->end) != SX_END_NONE)
		return;
	if (l->reload) {
		l->reload = false;
		l->from = SX_LIVE_FILES;
		/* Type=notify-reload needs the time; older managers ignore it. */
		sx_service_send(&run->service,
				"RELOADING=1\nMONOTONIC_USEC=%lld\nSTATUS=rereading the configuration",
				(long long)(sx_now_ns() / 1000));
		live_read(run);
		return;
	}
	sx_must_be(!l->order);
	l->order = sx_orders_take(&l->orders);
	if (!l->order && !run->rows.wants)
		return;
	l->from = l->order ? SX_LIVE_ORDER : SX_LIVE_ROWS;
	live_read(run);
}

static void look_at_builder(struct sx_run *run)
{
	struct sx_live *l = &run->live;

	if (!atomic_load_explicit(&l->built, memory_order_acquire))
		return;
	pthread_join(l->builder, NULL);
	sx_must_be(l->result < 0 || l->made);
	if (l->result < 0) {
		live_refuse_why(run, l->result, l->why.text);
		return;
	}
	/* no log: a failure of locking was logged at the start */
	if (run->settings->realtime.lock_memory)
		(void)mlockall(MCL_CURRENT);
	live_tune(run);
}

static void look_at_tune(struct sx_run *run)
{
	struct sx_live *l = &run->live;
	/* A source that has ended needs no controls. */
	const bool ended = atomic_load_explicit(&run->pipeline->source_ended, memory_order_acquire);

	if (!sx_exchange_take_tuned(&run->pipeline->exchange, ended))
		return;
	sx_must(l->tune.result, <=, 0);
	if (l->tune.result < 0)
		live_refuse_why(run, l->tune.result,
				!sx_why_is_empty(&l->tune.why) ? l->tune.why.text
							       : strerror(-l->tune.result));
	else
		live_swap(run);
}

/* Restarts the control of rows, because its samples belong to another calibration. */
static void begin_rows_anew(struct sx_run *run)
{
	sx_must(run->pipeline->newest->first, >, 0);
	run->rows = (struct sx_row_control){.first = run->pipeline->newest->first};
	run->rows_told = false;
}

static void look_at_swap(struct sx_run *run)
{
	struct sx_contexts *old = sx_exchange_take_retired(&run->pipeline->exchange);

	if (!old)
		return;
	sx_must_be(old != run->pipeline->newest);
	sx_must_be(!run->live.made);
	if (run->live.from == SX_LIVE_ROWS) {
		sx_pictures_forget_rows(&run->pictures);
	} else {
		run->live.frame = run->pipeline->newest->first;
		/* other settings have another usual density */
		run->pictures = (struct sx_pictures_watch){0};
	}
	sx_live_tell_rows(run, run->pipeline->newest->first);
	if (run->live.recalibrates)
		begin_rows_anew(run);
	sx_row_control_apply(&run->rows, &run->live.correction, run->pipeline->newest->first);
	sx_contexts_destroy(old);
	malloc_trim(0); /* the arena of the builder thread would keep its largest size */
	sx_run_tell_engine(run);
	live_finish(run);
}

void sx_live_see_cost(struct sx_run *run)
{
	const struct sx_frame_cost_case now = sx_live_cost_case(run, run->settings);
	struct sx_newest newest;

	/* While contexts are exchanged, a frame may have the old or the new settings. */
	if (run->live.step == SX_LIVE_IDLE && sx_telemetry_newest(run->telemetry, &newest) &&
	    newest.number >= run->pipeline->newest->first)
		sx_frame_cost_see(&run->live.cost, &now, newest.segment_ns, newest.stages_ns);
}

void sx_live_look(struct sx_run *run)
{
	switch (run->live.step) {
	case SX_LIVE_IDLE:
		look_at_waiting(run);
		break;
	case SX_LIVE_BUILD:
		look_at_builder(run);
		break;
	case SX_LIVE_TUNE:
		look_at_tune(run);
		break;
	case SX_LIVE_SWAP:
		look_at_swap(run);
		break;
	}
}

void sx_live_abandon(struct sx_run *run, const char *why)
{
	struct sx_live *l = &run->live;

	if (l->step == SX_LIVE_IDLE)
		return;
	if (l->step == SX_LIVE_SWAP && !run->stopping) {
		/*
		 * The change was accepted and the cameras have it. The next pipeline has it, too, except for
		 * the correction of rows.
		 */
		if (l->from != SX_LIVE_ROWS)
			l->frame = run->pipeline->newest->first;
		live_finish(run);
		return;
	}
	if (l->step == SX_LIVE_BUILD)
		pthread_join(l->builder, NULL);
	live_refuse_why(run, -ESHUTDOWN, why);
}
