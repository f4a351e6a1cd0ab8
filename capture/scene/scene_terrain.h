/*
 * Uneven ground of the synthetic street.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_TERRAIN_H
#define SX_CAPTURE_SCENE_SCENE_TERRAIN_H

#include <stdint.h>

struct sx_scene;

/* Shape of the ground. */
enum sx_relief { SX_RELIEF_FLAT, SX_RELIEF_CLIMB, SX_RELIEF_FALL, SX_RELIEF_RAMP };

#define SX_KNOTS_MAX 8

/*
 * Height of the ground: y between the knots, relative to the camera like z. 0 to the left of from_x. count 0:
 * flat.
 */
struct sx_terrain {
	int count;
	double z[SX_KNOTS_MAX], y[SX_KNOTS_MAX];
	double from_x;
};

/* Bends the ground of a flat street, and puts its objects on the new ground. */
void sx_terrain_apply(struct sx_scene *s, uint32_t frame);

#endif
