/*
 * Size of the vehicle that has to pass between obstacles. No stage reads it: the frame carries it to readers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_PARAMS_VEHICLE_PARAMS_H
#define SX_STAGES_PARAMS_VEHICLE_PARAMS_H

#include "include/stixel.h"

struct sx_vehicle_params {
	double height_m, step_m; /* over the road; 0: value of stixel_vehicle_usual() */
};

/* Returns the given sizes. A size of 0 becomes the usual one for a camera at camera_m over the road, m. */
static inline struct stixel_vehicle sx_vehicle_of(const struct sx_vehicle_params *p, double camera_m)
{
	struct stixel_vehicle v = stixel_vehicle_usual(camera_m);

	if (p->step_m > 0)
		v.low_m = p->step_m;
	if (p->height_m > 0)
		v.high_m = p->height_m;
	return v;
}

#endif
