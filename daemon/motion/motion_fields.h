/*
 * Motion of a frame as readers get it: fields of the header, and a record for each stixel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_MOTION_MOTION_FIELDS_H
#define SX_DAEMON_MOTION_MOTION_FIELDS_H

#include <stdint.h>

#include "stages/motion/ego.h"
#include "stages/motion/group.h"
#include "stixel.h"

/*
 * Fills the fields motion_*, ego_* and range_* of a header, but not motion_offset. ego NULL: motion is not measured, and
 * the fields are 0. applied_px: offset that the daemon added to the disparities of the frame. The engine measured
 * ego->range without it, so the header states the offset that is still missing: ego->range minus applied_px.
 */
void sx_motion_fill_header(struct stixel_frame_header *h, const struct sx_motion_ego *ego, int64_t span_ns,
			   double applied_px);

/* Returns the least byte whose stixel_sigma_m_s() is at least sigma, m/s; 0: none is. */
uint8_t sx_motion_sigma_code(double sigma);

/* Writes a record for each of `count` velocities. */
void sx_motion_records(const struct sx_motion_velocity *velocities, uint32_t count,
		       struct stixel_motion *records);

#endif
