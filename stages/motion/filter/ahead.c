/*
 * Ahead, see ahead.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/motion/filter/ahead.h"

void sx_motion_place(const struct sx_camera *c, double column, double disparity,
		     struct sx_motion_place_m *ret)
{
	const double z = c->fx * c->baseline_m / disparity, ray = (column - c->cx) / c->fx;
	const double share = SX_MOTION_SHARE_D * disparity, across = SX_MOTION_PLACE_PX / c->fx * z;
	const double dd = SX_MOTION_SIGMA_D * SX_MOTION_SIGMA_D + share * share, slope = z / disparity;
	const double along = slope * slope * dd;

	*ret = (struct sx_motion_place_m){ray * z, z, ray * ray * along + across * across, ray * along,
					  along};
}

void sx_motion_ahead(const struct sx_motion_place_m *place, const struct sx_motion_estimate *velocity,
		     double seconds, struct sx_motion_place_m *ret)
{
	const double t = seconds, square = t * t, bent = 0.5 * SX_MOTION_AHEAD_ACCEL * square;

	*ret = (struct sx_motion_place_m){
		place->x + velocity->vx * t,
		place->z + velocity->vz * t,
		(place->sxx + velocity->sxx * square) + bent * bent,
		place->sxz + velocity->sxz * square,
		(place->szz + velocity->szz * square) + bent * bent,
	};
}
