/*
 * Small things on a flat road (scene "cargo"): of known size, at known distances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_CARGO_H
#define SX_CAPTURE_SCENE_SCENE_CARGO_H

#include <stdint.h>

struct sx_scene;

#define SX_CARGO_SIZES 8
#define SX_CARGO_DISTANCES 6
#define SX_CARGO_MAX 12 /* of a frame: two at each distance, where there is room */

struct sx_cargo_size {
	const char *name;
	double width, height; /* m; boxes and stones are as deep as high, posts are flat */
};

extern const struct sx_cargo_size sx_cargo_sizes[SX_CARGO_SIZES];
extern const double sx_cargo_distances[SX_CARGO_DISTANCES]; /* m; things are within 2 % of these */

struct sx_cargo {
	uint8_t size, distance; /* index */
	uint16_t object;
};

/* Things of a frame, which know nothing of the frame before. */
void sx_cargo_add(struct sx_scene *s, uint32_t frame);

#endif
