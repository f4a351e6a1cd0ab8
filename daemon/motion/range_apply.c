/*
 * Applies the offset of the range, see range_apply.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/motion/range_apply.h"

#include <math.h>

#include "stages/motion/meaning.h"

double sx_range_follow(double applied_px, const struct sx_motion_range *range)
{
	const double step = range->px - applied_px;

	if (!sx_range_is_known(range) || range->sigma_px > SX_RANGE_SURE_PX ||
	    !(fabs(range->px) <= SX_RANGE_MOST_PX))
		return applied_px;
	return applied_px + fmax(-SX_RANGE_STEP_PX, fmin(SX_RANGE_STEP_PX, step));
}

void sx_range_apply(const struct stixel *stixels, uint32_t count, double px, struct stixel *to)
{
	const int32_t q7 = (int32_t)lrint(128.0 * px);

	for (uint32_t i = 0; i < count; i++) {
		const int32_t d = (int32_t)stixels[i].disparity_q7 + q7;

		to[i] = stixels[i];
		if (stixels[i].disparity_q7 != STIXEL_DISPARITY_UNKNOWN && stixels[i].kind != STIXEL_SKY)
			to[i].disparity_q7 = (uint16_t)(d < 0 ? 0
							: d < (int32_t)STIXEL_DISPARITY_UNKNOWN
								? d
								: (int32_t)STIXEL_DISPARITY_UNKNOWN - 1);
	}
}

void sx_range_apply_road(const struct sx_camera *camera, double px, struct sx_road *road)
{
	if (road->origin != SX_ROAD_MEASURED && road->origin != SX_ROAD_PREVIOUS)
		return;
	road->offset += px;
	sx_road_describe(camera, road);
}
