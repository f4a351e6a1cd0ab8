/*
 * Log and status lines about the camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "config/camera.h"
#include "config/config.h"
#include "daemon/run_priv.h"

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
