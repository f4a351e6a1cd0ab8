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

void sx_run_tell_camera(struct sx_run *run, bool known)
{
	char text[SX_CAMERA_TEXT_BYTES], question[SX_CAMERA_QUESTIONS][SX_CAMERA_TEXT_BYTES];
	const struct sx_source_info *info = &run->pipeline->info;
	const int count = known ? sx_camera_questions(run->settings, info, question)
				: sx_camera_questions_before(run->settings, question);
	struct sx_report *report = sx_pages_edit(run->pages);
	size_t used = 0;

	sx_camera_tell(run->settings, info, text, sizeof(text));
	snprintf(report->camera, sizeof(report->camera), "%s", text);
	report->camera_questions[0] = 0;
	for (int i = 0; i < count && used < sizeof(report->camera_questions); i++)
		used += (size_t)snprintf(report->camera_questions + used,
					 sizeof(report->camera_questions) - used, "%s\n", question[i]);
	sx_pages_done(run->pages);
	sx_log(CONFIG, INFO, "%s", text);
	for (int i = 0; i < count; i++)
		sx_log(CONFIG, WARNING, "%s", question[i]);
}

void sx_run_watch_unit(struct sx_run *run)
{
	const unsigned millionths =
		atomic_load_explicit(&run->telemetry->baseline_millionths, memory_order_relaxed);
	const bool told = run->unit_why[0];

	if (!millionths) {
		run->unit_why[0] = 0;
		return;
	}
	sx_road_unit_tell(1e-6 * millionths, sx_settings_camera(run->settings, &run->pipeline->info),
			  run->unit_why, sizeof(run->unit_why));
	if (!told)
		sx_log(DAEMON, WARNING, "%s", run->unit_why);
}
