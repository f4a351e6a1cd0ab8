/*
 * The snapshot before anything is known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ipc/report.h"

#include <math.h>

void sx_report_init(struct sx_report *r)
{
	const double unknown = (double)NAN;

	*r = (struct sx_report){
		.engine = {.contexts = -1, .memory_bytes = -1},
		.fps_1s = unknown,
		.fps_10s = unknown,
		.stixels = {unknown, unknown},
		.road = {NULL, unknown, unknown, unknown, unknown, unknown, -1, -1},
		.power = {.watts = unknown,
			  .watts_10s = unknown,
			  .joules_per_frame = unknown,
			  .fps_per_watt = unknown,
			  .age_ms = -1,
			  .interval_ms = -1,
			  .start_joules = unknown,
			  .start_seconds = unknown,
			  .start_frames = -1},
		.board = {.mode_id = -1,
			  .cpu_hz = -1,
			  .cpu_max_hz = -1,
			  .gpu_hz = -1,
			  .gpu_max_hz = -1,
			  .memory_hz = -1},
		.ring = {.bytes = -1, .slots = -1},
		.stream = {-1, -1, -1, -1, -1, -1},
	};
}
