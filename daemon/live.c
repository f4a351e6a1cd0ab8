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
#include "base/thread.h"
#include "base/wake.h"
#include "daemon/run_priv.h"

void sx_live_note_configured(struct sx_live *l, const struct sx_settings *settings)
{
	for (int i = 0; i < sx_option_count; i++)
		sx_option_write(&sx_options[i], settings, l->configured[i]);
}

/* ---- decide ---- */

/* Returns true if a change waits, and sets where it comes from. */
static bool find_waiting(struct sx_live *l, const struct sx_row_control *row_control)
{
	struct sx_change *c = &l->change;

	sx_must_be(!c->request);
	if (l->reload) {
		l->reload = false;
		c->from = SX_FROM_FILES;
		return true;
	}
	c->request = sx_requests_take(&l->requests);
	c->from = c->request ? SX_FROM_REQUEST : SX_FROM_ROW_CORRECTION;
	return c->request || row_control->wants;
}

/*
 * Adds the row correction to the rectification. Pairs that are rectified already are then rectified once
 * more.
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

static struct sx_contexts_plan plan_contexts(const struct sx_change *c, const struct sx_pipeline *p)
{
	struct sx_contexts_plan plan = sx_pipeline_plan(p, &c->settings);

	plan.calibration += c->recalibrates;
	plan.camera += c->changes_camera;
	correct_rows(&plan.config, &c->correction);
	return plan;
}

/*
 * Decides about the change: reads it, and refuses it if it cannot be applied. Returns 1, or a negative errno
 * with sentences in errors.
 */
static int live_decide(struct sx_change *c, const struct sx_running *now, const struct sx_options *options,
		       struct sx_contexts_plan *plan, struct sx_errors *errors)
{
	int r = sx_change_read(c, now, options, errors);

	if (r < 0)
		return r;
	sx_change_classify(c, now);
	r = sx_change_check(c, now, errors);
	if (r == 0 && c->builds) {
		*plan = plan_contexts(c, now->pipeline);
		r = sx_change_predict(c, &plan->config, now, errors);
	}
	return r < 0 ? r : 1;
}

/* ---- build, camera controls, swap: begin with live_begin_..., end when live_end_... returns 1 ---- */

static void *build_contexts(void *builder)
{
	struct sx_live_builder *b = builder;

	sx_must_be(!b->new_contexts);
	pthread_setname_np(pthread_self(), "contexts");
	b->result = sx_contexts_create(&b->new_contexts, b->engine->backend, b->engine->device, &b->plan,
				       b->before, &b->why);
	atomic_store_explicit(&b->built, true, memory_order_release);
	sx_wake(b->main_fd);
	return NULL;
}

static int live_begin_build(struct sx_live *l, const struct sx_core *core, struct sx_errors *errors)
{
	struct sx_live_builder *b = &l->builder;
	int r;

	if (!l->change.builds)
		return 1;
	b->engine = &core->engine;
	b->before = core->pipeline->newest;
	b->main_fd = l->requests.main_fd;
	b->result = 0;
	sx_why_clear(&b->why);
	atomic_store(&b->built, false);
	r = sx_thread_start(&b->thread, build_contexts, b);
	if (r < 0) {
		sx_errors_add(errors, "no thread for making contexts");
		return r;
	}
	l->step = SX_LIVE_BUILD;
	return 0;
}

static int live_end_build(struct sx_live_builder *b, bool lock_memory, struct sx_errors *errors)
{
	if (!atomic_load_explicit(&b->built, memory_order_acquire))
		return 0;
	pthread_join(b->thread, NULL);
	sx_must_be(b->result < 0 || b->new_contexts);
	if (b->result < 0) {
		sx_errors_add(errors, "%s", b->why.text);
		return b->result;
	}
	/* do not log a failure here: it was logged at the start */
	if (lock_memory)
		(void)mlockall(MCL_CURRENT);
	return 1;
}

static int live_begin_controls(struct sx_live *l, struct sx_pipeline *p)
{
	sx_must_be(l->builder.new_contexts || !l->change.builds);
	if (!l->change.changes_controls)
		return 1;
	sx_camera_controls_set(&l->controls, &l->change.settings.source);
	sx_control_channel_give_controls(&p->channel, &l->controls);
	sx_wake(p->mailbox.capture_fd);
	l->step = SX_LIVE_CONTROLS;
	return 0;
}

static int live_end_controls(const struct sx_camera_controls *t, struct sx_pipeline *p,
			     struct sx_errors *errors)
{
	/* A source that has ended needs no controls. */
	const bool ended = atomic_load_explicit(&p->source_ended, memory_order_acquire);

	if (!sx_control_channel_take_returned_controls(&p->channel, ended))
		return 0;
	sx_must(t->result, <=, 0);
	if (t->result < 0)
		sx_errors_add(errors, "%s", sx_why_is_empty(&t->why) ? strerror(-t->result) : t->why.text);
	return t->result < 0 ? t->result : 1;
}

static int live_begin_swap(struct sx_live *l, struct sx_pipeline *p)
{
	struct sx_contexts *new_contexts = l->builder.new_contexts;

	if (!new_contexts)
		return 1;
	sx_must(new_contexts->count, ==, p->newest->count);
	/* The pipeline owns the contexts from here on, whatever happens next. */
	p->newest = new_contexts;
	sx_control_channel_give_contexts(&p->channel, new_contexts);
	sx_wake(p->mailbox.frame_fd);
	l->builder.new_contexts = NULL;
	l->step = SX_LIVE_SWAP;
	return 0;
}

/* Notes that frames have the change from this frame on. */
static void note_swap(struct sx_live *l, struct sx_image_health *images, uint64_t frame)
{
	const struct sx_change *c = &l->change;

	sx_must(frame, >, 0);
	if (c->from == SX_FROM_ROW_CORRECTION) {
		sx_image_watch_forget_row_error(&images->image_watch);
	} else {
		l->history.frame = frame;
		/* other settings have another usual density */
		images->image_watch = (struct sx_image_watch){0};
	}
	if (!sx_row_correction_equal(&images->row_control.applied, &c->correction)) {
		l->history.corrections++;
		l->row_correction_refused = false;
		sx_live_log_row_correction(c, &images->row_control, frame);
	}
	if (c->recalibrates) {
		/* the samples belong to another calibration */
		images->row_control = (struct sx_row_control){.first = frame};
		images->row_correction_logged = false;
	}
	sx_row_control_apply(&images->row_control, &c->correction, frame);
}

static int live_end_swap(struct sx_live *l, struct sx_core *core, struct sx_image_health *images)
{
	struct sx_contexts *old = sx_control_channel_take_retired(&core->pipeline->channel);

	if (!old)
		return 0;
	sx_must_be(old != core->pipeline->newest);
	sx_must_be(!l->builder.new_contexts);
	note_swap(l, images, core->pipeline->newest->first);
	sx_contexts_destroy(old);
	malloc_trim(0); /* the arena of the builder thread would keep its largest size */
	sx_run_tell_engine(core);
	return 1;
}

/* ---- end ---- */

/* Notes a change of the camera. For a while the status reports it, and frames have a flag. */
static void note_camera(struct sx_live_history *h, const struct sx_change *c)
{
	int n;

	if (!c->changes_camera)
		return;
	sx_must_be(c->builds || !c->recalibrates);
	h->camera_ns = sx_now_ns();
	n = snprintf(h->camera_why, sizeof(h->camera_why), "the camera was changed (%s)",
		     c->diff.changed > c->diff.restart ? c->diff.live_keys : "camera.calibration");
	if (h->frame && n > 0 && (size_t)n < sizeof(h->camera_why))
		snprintf(h->camera_why + n, sizeof(h->camera_why) - (size_t)n,
			 ": from frame %llu on the same disparity may be another distance",
			 (unsigned long long)h->frame);
}

/* Logs whether images are rectified now. before: they were rectified before the change. */
static void tell_rectified(const struct sx_settings *s, const struct sx_source_info *info, bool before)
{
	char text[SX_WHY_BYTES];

	if (sx_settings_tell_rectified(s, info, text, sizeof(text)))
		sx_log(CONFIG, INFO, "%s", text);
	else if (before)
		sx_log(CONFIG, INFO, "images are rectified no longer");
}

/* Applies the change to the current settings, and answers it. */
static void live_take(struct sx_live *l, struct sx_core *core, struct sx_image_health *images,
		      const struct sx_options *options)
{
	struct sx_change *c = &l->change;
	const struct sx_source_info *info = &core->pipeline->info;
	const bool rectified = sx_settings_rig(core->settings, info) != NULL;
	struct sx_log_levels levels;
	struct sx_why why;
	char *text = sx_live_done_text(c, core->settings, l->history.frame);

	sx_must(c->diff.changed, >=, c->diff.restart);
	*l->origins = c->origins;
	sx_settings_take_live(core->settings, &c->settings);
	if (core->settings->log_levels && sx_log_levels_parse(&levels, core->settings->log_levels, &why) == 0)
		sx_log_levels_set(&levels);
	l->history.changes++;
	note_camera(&l->history, c);
	if (!c->request)
		sx_live_note_configured(l, core->settings);
	if (c->recalibrates) {
		tell_rectified(core->settings, info, rectified);
		sx_run_tell_camera(core, true);
	}
	/* before the answer, so that a client that has the answer sees the change in the pages */
	sx_live_tell_pages(l, core->settings, options, core->pages);
	sx_live_tell_done(c, l->history.frame, text);
	free(text);
	if (sx_corrects_rows(core->settings, info))
		return;
	images->row_control = (struct sx_row_control){0};
	images->row_correction_logged &=
		core->settings->rectification.row_correction == SX_ROW_CORRECTION_AUTO;
}

/* Reports a refused row correction once, and lets the control measure the rows again. */
static void refuse_row_correction(struct sx_live *l, struct sx_row_control *row_control, int r,
				  const struct sx_errors *errors)
{
	sx_must(l->change.from, ==, SX_FROM_ROW_CORRECTION);
	if (!l->row_correction_refused && r != -ESHUTDOWN) {
		l->row_correction_refused = true;
		sx_log(DAEMON, WARNING, "rows stay as they are: %s",
		       errors->count > 0 ? errors->text[0] : "out of memory");
	}
	sx_row_control_refused(row_control);
}

/* Ends the change. r: 1: it is applied; negative: it is refused, with sentences in errors. */
static void live_end(struct sx_run *run, int r, const struct sx_errors *errors)
{
	struct sx_live *l = &run->live;

	sx_contexts_destroy(l->builder.new_contexts);
	l->builder.new_contexts = NULL;
	if (r < 0 && l->change.from == SX_FROM_ROW_CORRECTION)
		refuse_row_correction(l, &run->images.row_control, r, errors);
	else if (r < 0)
		sx_live_tell_refused(&l->change, r, errors);
	else if (l->change.from != SX_FROM_ROW_CORRECTION)
		live_take(l, &run->core, &run->images, run->options);
	sx_settings_finish(&l->change.settings);
	l->change.request = NULL;
	l->step = SX_LIVE_IDLE;
	if (l->change.from == SX_FROM_FILES && !run->stop.ordered) {
		sx_service_ready(&run->service, NULL);
		sx_run_tell_manager(&run->service, &run->health.now, run->core.telemetry);
	}
	sx_wake(run->loop.main_fd); /* the next change may begin */
}

/* ---- the sequence ---- */

/* Finds and decides a waiting change. Returns as live_advance(). */
static int live_begin(struct sx_run *run, struct sx_errors *errors)
{
	struct sx_live *l = &run->live;
	const struct sx_running now = {
		.settings = run->core.settings,
		.origins = l->origins,
		.pipeline = run->core.pipeline,
		.row_control = &run->images.row_control,
		.cost = &l->cost,
		.limit_ns = sx_run_limit_ns(&run->service),
	};

	if (run->stop.ordered || atomic_load(&run->core.pipeline->end) != SX_END_NONE ||
	    !find_waiting(l, &run->images.row_control))
		return 0;
	if (l->change.from == SX_FROM_FILES)
		sx_service_reloading(&run->service);
	return live_decide(&l->change, &now, run->options, &l->builder.plan, errors);
}

/*
 * Goes on with a change as far as possible. Returns 1: it is complete; 0: it waits for a thread, or there is
 * no change; negative: refused, with sentences in errors.
 */
static int live_advance(struct sx_run *run, struct sx_errors *errors)
{
	struct sx_live *l = &run->live;
	struct sx_core *core = &run->core;
	int r = 0;

	switch (l->step) {
	case SX_LIVE_IDLE:
		r = live_begin(run, errors);
		break;
	case SX_LIVE_BUILD:
		r = live_end_build(&l->builder, core->settings->realtime.lock_memory, errors);
		break;
	case SX_LIVE_CONTROLS:
		r = live_end_controls(&l->controls, core->pipeline, errors);
		break;
	case SX_LIVE_SWAP:
		r = live_end_swap(l, core, &run->images);
		break;
	}
	if (r > 0 && l->step < SX_LIVE_BUILD)
		r = live_begin_build(l, core, errors);
	if (r > 0 && l->step < SX_LIVE_CONTROLS)
		r = live_begin_controls(l, core->pipeline);
	if (r > 0 && l->step < SX_LIVE_SWAP)
		r = live_begin_swap(l, core->pipeline);
	return r;
}

void sx_live_look(struct sx_run *run)
{
	struct sx_errors errors = {0};
	const int r = live_advance(run, &errors);

	if (r != 0)
		live_end(run, r, &errors);
	sx_errors_finish(&errors);
}

void sx_live_abandon(struct sx_run *run, const char *why)
{
	struct sx_live *l = &run->live;
	struct sx_errors errors = {0};

	if (l->step == SX_LIVE_IDLE)
		return;
	if (l->step == SX_LIVE_BUILD)
		pthread_join(l->builder.thread, NULL);
	if (l->step == SX_LIVE_SWAP && !run->stop.ordered) {
		/*
		 * The change was accepted and the cameras have the new controls. The next pipeline also gets
		 * the change, unless it is a row correction.
		 */
		if (l->change.from != SX_FROM_ROW_CORRECTION)
			l->history.frame = run->core.pipeline->newest->first;
		live_end(run, 1, &errors);
		return;
	}
	sx_errors_add(&errors, "%s", why);
	live_end(run, -ESHUTDOWN, &errors);
	sx_errors_finish(&errors);
}

void sx_live_see_cost(struct sx_live *l, const struct sx_core *core)
{
	const struct sx_frame_cost_case now = sx_pipeline_cost_case(core->pipeline, core->settings);
	struct sx_newest newest;

	/* While contexts are exchanged, a frame may have the old or the new settings. */
	if (l->step == SX_LIVE_IDLE && sx_telemetry_newest(core->telemetry, &newest) &&
	    newest.number >= core->pipeline->newest->first)
		sx_frame_cost_see(&l->cost, &now, newest.segment_ns, newest.stages_ns);
}
