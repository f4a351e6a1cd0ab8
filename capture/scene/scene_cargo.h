/*
 * Small objects on a flat road (scene "cargo"), of known size and at known distances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_CARGO_H
#define SX_CAPTURE_SCENE_SCENE_CARGO_H

#include <stdint.h>

struct sx_scene;

#define SX_CARGO_SIZES 8
#define SX_CARGO_DISTANCES 6
#define SX_CARGO_MAX 12 /* objects of a frame: two at each distance, if there is room */

struct sx_cargo_size {
	const char *name;
	double width, height; /* m; depth of boxes and stones equals their height, posts are flat */
};

extern const struct sx_cargo_size sx_cargo_sizes[SX_CARGO_SIZES];
extern const double sx_cargo_distances[SX_CARGO_DISTANCES]; /* m; objects are within 2 % of these distances */

struct sx_cargo {
	uint8_t size, distance; /* indices of the tables above */
	uint16_t object;
};

/* Adds the objects of a frame. They do not depend on earlier frames. */
void sx_cargo_add(struct sx_scene *s, uint32_t frame);

#endif
