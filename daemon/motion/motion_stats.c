/*
 * Motion of a frame as the status shows it, see motion_stats.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/motion/motion_stats.h"

#include <math.h>

void sx_motion_stats_of(struct sx_motion_stats *ret, const struct sx_motion_ego *ego, int64_t span_ns,
			uint64_t frame, const struct sx_camera *camera)
{
	const double *way = ego->way_m, seconds = (double)span_ns / 1e9;
	double turn[3];

	*ret = (struct sx_motion_stats){.frame = frame,
					.verdict = ego->verdict,
					.speed_m_s = (double)NAN,
					.yaw_rate_deg_s = (double)NAN,
					.offset_px = (double)NAN,
					.sigma_px = (double)NAN,
					.focal_px = camera->fx,
					.baseline_m = camera->baseline_m};
	if (ego->verdict == SX_MOTION_STEP_FOUND) {
		sx_motion_turn_deg(&ego->step, turn);
		ret->speed_m_s = sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]) / seconds;
		ret->yaw_rate_deg_s = turn[1] / seconds;
	}
	if (sx_range_is_known(&ego->range)) {
		ret->offset_px = ego->range.px;
		ret->sigma_px = ego->range.sigma_px;
	}
}
