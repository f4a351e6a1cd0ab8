/*
 * Keys that a published data set sets: its calibration, and the rate of its time stamps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "capture/dataset.h"
#include "capture/file_list.h"
#include "config/load_priv.h"

/* Sets a key as if the first of all files had set it, so that every other setting wins. */
static void set_from_dataset(struct sx_load *l, const char *section, const char *key, const char *value,
			     const struct sx_dataset *d)
{
	const int file = l->file;
	char where[SX_WHERE_BYTES];

	snprintf(where, sizeof(where), "%.200s (%s)", l->settings.source.path, d->name);
	l->file = SX_LOAD_DATASET;
	sx_load_set(l, section, key, value, where, NULL);
	l->file = file;
}

/* Returns true if the configuration itself has a camera, or an empty calibration. */
static bool gives_camera(const struct sx_load *l)
{
	static const char *const keys[] = {"calibration", "fx", "fy", "cx", "cy"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (sx_load_set_at(l, "camera", keys[i]))
			return true;
	return false;
}

static void take_calibration(struct sx_load *l, const struct sx_dataset *d, bool source_required)
{
	const char *path = l->settings.source.path;
	char value[SX_OPTION_TEXT_BYTES];
	struct sx_why why;

	if (gives_camera(l))
		return;
	if (sx_dataset_calibration(path, d, value, sizeof(value), &why) == 0)
		set_from_dataset(l, "camera", "calibration", value, d);
	else if (!d->raw)
		l->settings.calibration_said.missing = true;
	else if (source_required)
		sx_errors_add(
			l->errors,
			"%s: [source] path: %s; name one in camera.calibration, or give fx .. baseline_m "
			"of rectified images",
			sx_load_set_at(l, "source", "path"), why.text);
}

/*
 * Sets source.fps to the mean rate of the time stamps, for status, health and feeds. If the time stamps
 * cannot be read, leaves it unset: the start or --check-config then reports why, when it opens the source.
 */
static void take_rate(struct sx_load *l, const struct sx_dataset *d)
{
	struct sx_source_params *p = &l->settings.source;
	struct sx_file_list list = {0};
	struct sx_why why;
	char value[32];
	double rate;

	if (!d->times[0] || sx_load_set_at(l, "source", "fps"))
		return;
	p->recorded = true;
	if (sx_file_list_find(&list, p, &why) < 0)
		return;
	rate = sx_file_list_rate(&list);
	sx_file_list_finish(&list);
	snprintf(value, sizeof(value), "%.6g", rate);
	if (rate > 0)
		set_from_dataset(l, "source", "fps", value, d);
	p->recorded = rate > 0;
}

void sx_load_dataset(struct sx_load *l, bool source_required)
{
	const struct sx_source_params *p = &l->settings.source;
	struct sx_dataset d;

	if (!l->settings.source_given || p->kind != SX_SOURCE_FILES || p->layout != SX_LAYOUT_TWO ||
	    !p->path || p->left || p->right || !sx_dataset_find(p->path, &d) || !d.name)
		return;
	take_calibration(l, &d, source_required);
	take_rate(l, &d);
}

bool sx_settings_tell_dataset(const struct sx_settings *s, const struct sx_source_info *info, char *text,
			      size_t bytes)
{
	const bool of = s->calibration && s->calibration_said.of_dataset;
	struct sx_dataset d;

	if (s->source.kind != SX_SOURCE_FILES || !*info->note)
		return false;
	if (of && sx_dataset_find(s->source.path, &d))
		snprintf(text, bytes, "%s; calibration of %s%s%s", info->note, d.calibration[0],
			 d.calibration[1] ? " and " : "", d.calibration[1] ? d.calibration[1] : "");
	else
		snprintf(text, bytes, "%s", info->note);
	return true;
}
