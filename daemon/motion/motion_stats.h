/*
 * Motion of a frame as the status shows it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_MOTION_MOTION_STATS_H
#define SX_DAEMON_MOTION_MOTION_STATS_H

#include <stdint.h>

#include "base/camera.h"
#include "stages/motion/meaning.h"

/* Figures of a frame. NAN: unknown. */
struct sx_motion_stats {
	uint64_t frame;		     /* number */
	uint64_t verdict;	     /* enum sx_motion_verdict */
	double speed_m_s;	     /* speed of the camera */
	double yaw_rate_deg_s;	     /* turn of the camera to the right */
	double offset_px, sigma_px;  /* offset of the range and its sigma, see sx_range_is_known() */
	double applied_px;	     /* offset that the daemon adds to the disparities of frames */
	double focal_px, baseline_m; /* camera of the frame */
};

/* span_ns: time since the frame that it is measured against; 0: there is none. */
void sx_motion_stats_of(struct sx_motion_stats *ret, const struct sx_motion_ego *ego, int64_t span_ns,
			uint64_t frame, const struct sx_camera *camera);

#endif
