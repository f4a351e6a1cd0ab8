/*
 * Start of a live change: reads the new values, finds out what must be made for them, and checks that there
 * is room.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "daemon/run_priv.h"
#include "stages/params_check.h"
#include "stages/stixels/reduce.h"

#define CHANGES_MAX 256

/* Reads the lines of an order, "SECTION.KEY=VALUE" each. */
static int read_order(struct sx_run *run, struct sx_errors *errors)
{
	struct sx_live *l = &run->live;
	const char *changes[CHANGES_MAX];
	char *body = strdup(sx_status_order_body(l->order)), *rest = NULL;
	int count = 0, r = body ? 0 : -ENOMEM;

	for (char *line = body ? strtok_r(body, "\r\n", &rest) : NULL; line && r == 0;
	     line = strtok_r(NULL, "\r\n", &rest)) {
		if (count < CHANGES_MAX) {
			changes[count++] = line;
			continue;
		}
		sx_errors_add(errors, "set: more than %d keys at once", CHANGES_MAX);
		r = -EINVAL;
	}
	if (r == 0 && count == 0) {
		sx_errors_add(errors, "set: expected SECTION.KEY=VALUE, one a line");
		r = -EINVAL;
	}
	if (r == 0)
		r = sx_settings_set(&l->settings, &l->settings_origins, run->settings, changes, count,
				    errors);
	free(body);
	return r;
}

/*
 * Reads the configuration files. Keys that need a restart keep their current values and are listed if they
 * differ.
 */
static int read_files(struct sx_run *run, struct sx_errors *errors)
{
	struct sx_live *l = &run->live;
	struct sx_settings files = {0};
	struct sx_origins *origins = malloc(sizeof(*origins));
	int r = origins ? sx_settings_load_origins(&files, origins, run->options->file,
						   run->options->overrides, run->options->override_count,
						   true, errors)
			: -ENOMEM;

	if (r == 0)
		r = sx_settings_copy(&l->settings, run->settings);
	if (r == 0) {
		sx_settings_diff(run->settings, &files, &l->diff);
		sx_origins_take_live(&l->settings_origins, origins, run->settings, &files);
		sx_settings_take_live(&l->settings, &files);
	}
	sx_settings_finish(&files);
	free(origins);
	return r;
}

bool sx_live_same_file(const struct sx_run *run)
{
	const char *was = run->settings->calibration, *is = run->live.settings.calibration;

	return was && is && strcmp(was, is) == 0;
}

bool sx_live_corrects_rows(const struct sx_run *run, const struct sx_settings *s)
{
	const struct sx_camera *c = sx_settings_camera(s, &run->pipeline->info);

	return s->rectification.row_correction == SX_ROW_CORRECTION_AUTO &&
	       s->params.stereo.matcher == SX_MATCH_INTERNAL && c->fx > 0 && c->fy > 0 && c->baseline_m > 0;
}

/* Keeps the settings and takes the wanted correction of rows. */
static int read_rows(struct sx_run *run, struct sx_errors *errors)
{
	struct sx_live *l = &run->live;
	int r = sx_settings_copy(&l->settings, run->settings);

	sx_must_be(run->rows.wants);
	if (r < 0)
		sx_errors_add(errors, "out of memory");
	l->correction = run->rows.wanted;
	l->builds = true;
	l->tunes = l->recalibrates = l->changes_camera = false;
	return r;
}

/*
 * Sets the correction of rows after the change. It is 0 if the new settings do not correct rows, or have
 * another calibration.
 */
static void find_correction(struct sx_run *run)
{
	struct sx_live *l = &run->live;
	const struct sx_row_correction none = {0};

	sx_must(l->from, !=, SX_LIVE_ROWS);
	l->correction =
		!l->recalibrates && sx_live_corrects_rows(run, &l->settings) ? run->rows.applied : none;
	if (!sx_row_correction_equal(&l->correction, &run->rows.applied))
		l->builds = true;
}

/*
 * Sets builds, tunes, recalibrates and changes_camera from the keys that differ. Calibrations are compared by
 * their meaning. find_correction() decides about row_correction.
 */
static void find_work(struct sx_live *l, const struct sx_settings *now, const struct sx_source_info *info)
{
	l->recalibrates = l->changes_camera = !sx_settings_same_camera(now, &l->settings, info);
	l->builds = l->recalibrates;
	l->tunes = false;
	for (int i = 0; i < sx_option_count; i++) {
		const enum sx_option_change change = sx_options[i].change;

		if (change == SX_CHANGE_RESTART || sx_option_equal(&sx_options[i], now, &l->settings))
			continue;
		l->tunes |= change == SX_CHANGE_CONTROLS;
		l->builds |= change == SX_CHANGE_CONTEXTS || change == SX_CHANGE_CAMERA;
		l->changes_camera |= change >= SX_CHANGE_CAMERA;
	}
}

/*
 * Refuses an order that sets the cameras of a source that draws its images. Such a source knows its cameras,
 * whatever the settings are.
 */
static int check_known_camera(const struct sx_run *run, struct sx_errors *errors)
{
	const struct sx_live *l = &run->live;

	sx_must_be(l->order);
	if (!run->pipeline->info.camera)
		return 0;
	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];
		/* raw images that it draws may be rectified or not */
		const bool obeyed =
			l->recalibrates && o->offset == offsetof(struct sx_settings, rectification.choice);

		if (!sx_option_calibrates(o) || obeyed || sx_option_equal(o, run->settings, &l->settings))
			continue;
		sx_errors_add(errors, "%s.%s: the synthetic source sets its own cameras", o->section, o->key);
		return -EINVAL;
	}
	return 0;
}

/*
 * Refuses settings whose frames do not fit the slots of the ring and the other frame memory, which were made
 * for the settings at the start.
 */
static int check_room(const struct sx_pipeline *p, const struct sx_stixel_params *s, struct sx_errors *errors)
{
	const size_t bytes = sx_pipeline_frame_bytes(p, s);

	sx_must(p->frame_bytes, >, 0);
	if (bytes && bytes <= p->frame_bytes)
		return 0;
	sx_errors_add(errors,
		      "stixels.width = %d and stixels.max_per_column = %d need a restart: a frame could have "
		      "%u columns and %zu bytes, and the ring was made for %zu",
		      s->width, s->max_per_column,
		      (unsigned)sx_reduce_columns((int)p->header.image_width, s->width), bytes,
		      p->frame_bytes);
	return -EBUSY;
}

struct sx_frame_cost_case sx_live_cost_case(const struct sx_run *run, const struct sx_settings *s)
{
	return (struct sx_frame_cost_case){
		.stixels = &s->params.stixels,
		.width = (int)run->pipeline->header.image_width,
		.height = (int)run->pipeline->header.image_height,
		.plain = run->engine.backend == &sx_backend_reference,
	};
}

/*
 * Refuses settings whose frames take longer than the watchdog waits. They would end the daemon, and end it
 * again after each restart.
 */
static int check_cost(const struct sx_run *run, struct sx_errors *errors)
{
	const struct sx_frame_cost_case now = sx_live_cost_case(run, run->settings);
	const struct sx_frame_cost_case next = sx_live_cost_case(run, &run->live.settings);
	struct sx_why why;

	sx_must(now.width, ==, next.width);
	if (!sx_frame_cost_is_too_much(&run->live.cost, &now, &next, sx_run_limit_ns(run), &why))
		return 0;
	sx_errors_add(errors, "%s", why.text);
	return -EINVAL;
}

/* Refuses settings that change the size of pairs or of matched images. */
static int check_camera(const struct sx_pipeline *p, const struct sx_settings *s, struct sx_errors *errors)
{
	const struct sx_context_config c = sx_settings_context(s, &p->info);
	struct sx_why why;

	if (sx_settings_check_size(s, p->info.width, p->info.height, &why) < 0) {
		sx_errors_add(errors, "%s", why.text);
		return -EINVAL;
	}
	if (c.width == (int)p->header.image_width && c.height == (int)p->header.image_height)
		return 0;
	sx_errors_add(
		errors,
		"camera.calibration and camera.rectify need a restart: images would have %dx%d px, and the "
		"ring was made for %ux%u",
		c.width, c.height, p->header.image_width, p->header.image_height);
	return -EBUSY;
}

int sx_live_read(struct sx_run *run, struct sx_errors *errors)
{
	const struct sx_pipeline *p = run->pipeline;
	struct sx_live *l = &run->live;
	struct sx_why why;
	int r;

	sx_must(l->step, ==, SX_LIVE_IDLE);
	l->settings_origins = *l->origins;
	l->diff = (struct sx_settings_diff){0};
	if (l->from == SX_LIVE_ROWS)
		return read_rows(run, errors);
	sx_must_be((l->from == SX_LIVE_ORDER) == (l->order != NULL));
	if (l->order) {
		r = read_order(run, errors);
		if (r == 0)
			sx_settings_diff(run->settings, &l->settings, &l->diff);
	} else {
		r = read_files(run, errors);
	}
	if (r == -ENOMEM)
		sx_errors_add(errors, "out of memory");
	if (r < 0)
		return r;
	find_work(l, run->settings, &p->info);
	find_correction(run);
	if (l->order && check_known_camera(run, errors) < 0)
		return -EINVAL;
	if (!l->builds)
		return 0;
	r = l->recalibrates ? check_camera(p, &l->settings, errors) : 0;
	if (r < 0)
		return r;
	r = sx_params_check(&l->settings.params, (int)p->header.image_width, (int)p->header.image_height,
			    &why);
	if (r < 0)
		sx_errors_add(errors, "%s", why.text);
	r = r < 0 ? r : check_room(p, &l->settings.params.stixels, errors);
	return r < 0 ? r : check_cost(run, errors);
}
