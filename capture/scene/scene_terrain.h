/*
 * Ground of the synthetic street that is not flat.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_TERRAIN_H
#define SX_CAPTURE_SCENE_SCENE_TERRAIN_H

#include <stdint.h>

struct sx_scene;

/* How the ground leaves the plane. */
enum sx_relief { SX_RELIEF_FLAT, SX_RELIEF_CLIMB, SX_RELIEF_FALL, SX_RELIEF_RAMP };

#define SX_KNOTS_MAX 8

/*
 * Height of the ground: y between the knots, relative to the camera as z is; 0 left of from_x. count 0: flat.
 */
struct sx_terrain {
	int count;
	double z[SX_KNOTS_MAX], y[SX_KNOTS_MAX];
	double from_x;
};

/* Bends the flat street that was built, and puts what stands in it on the ground again. */
void sx_terrain_apply(struct sx_scene *s, uint32_t frame);

#endif
