/*
 * One change of the configuration: reads it, finds what it needs, and decides whether it is allowed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/change.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/memory_room.h"
#include "ipc/http/status.h"
#include "stages/stixels/reduce.h"

#define CHANGES_MAX 256
/* Memory that a message names in addition to the need, MB: the daemon's use moves while it publishes. */
#define ROOM_SPARE_MB 2

/* Reads the lines of a request, "SECTION.KEY=VALUE" each. */
static int read_request(struct sx_change *c, const struct sx_running *now, struct sx_errors *errors)
{
	const char *changes[CHANGES_MAX];
	char *body = strdup(sx_status_request_body(c->request)), *rest = NULL;
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
		r = sx_settings_set(&c->settings, &c->origins, now->settings, changes, count, errors);
	if (r == 0)
		sx_settings_diff(now->settings, &c->settings, &c->diff);
	free(body);
	return r;
}

/*
 * Reads the configuration files. Keys that need a restart keep their current values and are listed if they
 * differ.
 */
static int read_files(struct sx_change *c, const struct sx_running *now, const struct sx_options *options,
		      struct sx_errors *errors)
{
	struct sx_settings files = {0};
	struct sx_origins *origins = malloc(sizeof(*origins));
	int r = origins ? sx_settings_load_origins(&files, origins, options->file, options->overrides,
						   options->override_count, true, errors)
			: -ENOMEM;

	if (r == 0)
		r = sx_settings_copy(&c->settings, now->settings);
	if (r == 0) {
		sx_settings_diff(now->settings, &files, &c->diff);
		sx_origins_take_live(&c->origins, origins, now->settings, &files);
		sx_settings_take_live(&c->settings, &files);
	}
	sx_settings_finish(&files);
	free(origins);
	return r;
}

int sx_change_read(struct sx_change *c, const struct sx_running *now, const struct sx_options *options,
		   struct sx_errors *errors)
{
	int r;

	sx_must_be((c->from == SX_FROM_REQUEST) == (c->request != NULL));
	c->origins = *now->origins;
	c->diff = (struct sx_settings_diff){0};
	if (c->from == SX_FROM_ROW_CORRECTION)
		r = sx_settings_copy(&c->settings, now->settings);
	else if (c->request)
		r = read_request(c, now, errors);
	else
		r = read_files(c, now, options, errors);
	if (r == -ENOMEM)
		sx_errors_add(errors, "out of memory");
	return r;
}

bool sx_change_same_file(const struct sx_change *c, const struct sx_settings *now)
{
	const char *was = now->calibration, *is = c->settings.calibration;

	return was && is && strcmp(was, is) == 0;
}

bool sx_corrects_rows(const struct sx_settings *s, const struct sx_source_info *info)
{
	const struct sx_camera c = sx_settings_camera(s, info);

	return s->rectification.row_correction == SX_ROW_CORRECTION_AUTO &&
	       s->params.stereo.matcher == SX_MATCH_INTERNAL && c.fx > 0 && c.fy > 0 && c.baseline_m > 0;
}

/*
 * Returns the row correction with the change. It is 0 if the new settings do not correct rows, or have
 * another calibration.
 */
static struct sx_row_correction find_correction(const struct sx_change *c, const struct sx_running *now)
{
	if (c->from == SX_FROM_ROW_CORRECTION)
		return now->row_control->wanted;
	return !c->recalibrates && sx_corrects_rows(&c->settings, &now->pipeline->info)
		       ? now->row_control->applied
		       : (struct sx_row_correction){0};
}

void sx_change_classify(struct sx_change *c, const struct sx_running *now)
{
	sx_must_be(c->from != SX_FROM_ROW_CORRECTION || now->row_control->wants);
	c->recalibrates = c->changes_camera =
		!sx_settings_same_camera(now->settings, &c->settings, &now->pipeline->info);
	c->builds = c->recalibrates;
	c->changes_controls = false;
	for (int i = 0; i < sx_option_count; i++) {
		const enum sx_option_change change = sx_options[i].change;

		if (change == SX_CHANGE_RESTART ||
		    sx_option_equal(&sx_options[i], now->settings, &c->settings))
			continue;
		c->changes_controls |= change == SX_CHANGE_CONTROLS;
		c->builds |= change == SX_CHANGE_CONTEXTS || change == SX_CHANGE_CAMERA;
		c->changes_camera |= change >= SX_CHANGE_CAMERA;
	}
	c->correction = find_correction(c, now);
	c->builds |= c->from == SX_FROM_ROW_CORRECTION ||
		     !sx_row_correction_equal(&c->correction, &now->row_control->applied);
}

/*
 * Refuses a request that changes keys of [camera] if the source draws its images. Such a source defines its
 * own cameras, whatever the settings say.
 */
static int check_known_camera(const struct sx_change *c, const struct sx_running *now,
			      struct sx_errors *errors)
{
	sx_must_be(c->request);
	if (!now->pipeline->info.camera || now->pipeline->info.camera_yields)
		return 0;
	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];
		/* this key decides whether the raw images that the source draws are rectified */
		const bool obeyed =
			c->recalibrates && o->offset == offsetof(struct sx_settings, rectification.choice);

		if (!sx_option_calibrates(o) || obeyed || sx_option_equal(o, now->settings, &c->settings))
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

/* Refuses settings that change the size of pairs or of matched images. */
static int check_camera(const struct sx_pipeline *p, const struct sx_settings *s, struct sx_errors *errors)
{
	const struct sx_context_config c = sx_settings_context(s, &p->info);
	struct sx_why why;

	if (sx_settings_check_source(s, &p->info, &why) < 0) {
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

int sx_change_check(const struct sx_change *c, const struct sx_running *now, struct sx_errors *errors)
{
	const struct sx_pipeline *p = now->pipeline;
	struct sx_why why;
	int r;

	if (c->request && check_known_camera(c, now, errors) < 0)
		return -EINVAL;
	if (!c->builds)
		return 0;
	r = c->recalibrates ? check_camera(p, &c->settings, errors) : 0;
	if (r < 0)
		return r;
	r = sx_settings_check_params(&c->settings, &p->info, &why);
	if (r < 0)
		sx_errors_add(errors, "%s", why.text);
	return r < 0 ? r : check_room(p, &c->settings.params.stixels, errors);
}

/*
 * Refuses settings whose frames take longer than the watchdog waits. They would end the daemon, and end it
 * again after each restart.
 */
static int check_time(const struct sx_settings *next, const struct sx_running *now, struct sx_errors *errors)
{
	const struct sx_frame_cost_case is = sx_pipeline_cost_case(now->pipeline, now->settings);
	const struct sx_frame_cost_case would = sx_pipeline_cost_case(now->pipeline, next);
	struct sx_why why;

	sx_must(is.width, ==, would.width);
	if (!sx_frame_cost_is_too_much(now->cost, &is, &would, now->limit_ns, &why))
		return 0;
	sx_errors_add(errors, "%s", why.text);
	return -EINVAL;
}

/*
 * Refuses new contexts without memory for them. If a cgroup is full, the kernel kills the process that takes
 * one page more. The message names an amount that suffices although the use of a publishing daemon moves by
 * about 1 MB.
 */
static int check_memory(const struct sx_contexts *now, const struct sx_context_config *next,
			struct sx_errors *errors)
{
	const size_t bytes = sx_frame_cost_memory(now->bytes, now->count, &now->plan.config, next);
	char what[192];
	const int64_t room = bytes ? sx_memory_room("", what, sizeof(what)) : INT64_MAX;

	sx_must(now->count, >, 0);
	if (room >= (int64_t)bytes)
		return 0;
	sx_errors_add(errors,
		      "old and new contexts at once need about %zu MB more, and %s has %lld MB left: give it "
		      "more, or change this in a file and restart",
		      (bytes >> 20) + 1 + ROOM_SPARE_MB, what, (long long)(room >> 20));
	return -ENOMEM;
}

int sx_change_predict(const struct sx_change *c, const struct sx_context_config *next,
		      const struct sx_running *now, struct sx_errors *errors)
{
	int r = check_time(&c->settings, now, errors);

	return r < 0 ? r : check_memory(now->pipeline->newest, next, errors);
}
