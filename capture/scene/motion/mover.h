/*
 * Things that move: what they are, their path, and when they are where on it.
 *
 * World: x to the right, z ahead, m, as seen by the camera at time 0 of an episode. Courses are clockwise seen
 * from above, rad: 0 along z, pi/2 along x.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_MOTION_MOVER_H
#define SX_CAPTURE_SCENE_MOTION_MOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/scene/motion/path.h"
#include "capture/scene/motion/plan.h"

enum sx_mover_class {
	SX_MOVER_CAR,
	SX_MOVER_VAN,
	SX_MOVER_PERSON,
	SX_MOVER_CYCLIST,
	SX_MOVER_ROBOT,
	SX_MOVER_CLASSES
};

/*
 * A thing that moves, or stands and may move. aside: to the right of its path, m. backwards: it goes against
 * the path's direction, and its plan has speeds <= 0. The size is in m: length along its course, and how much
 * of the length is before its place.
 */
struct sx_mover {
	enum sx_mover_class kind;
	uint64_t seed;
	struct sx_path path;
	struct sx_plan plan;
	double aside;
	bool backwards;
	double length, width, height, before;
};

/*
 * State of a mover at a time. x, z: place; vx, vz: velocity over ground, m/s; turning: change of the course,
 * rad/s. way: along its path, m, and the rate of its speed, m/s2, both > 0 in its own direction.
 */
struct sx_moved {
	double x, z, course;
	double vx, vz, turning;
	double way, speed, gain;
};

/* Sets size and seed of a mover of this class. Sizes differ by the seed. */
void sx_mover_init(struct sx_mover *m, enum sx_mover_class kind, uint64_t seed);
struct sx_moved sx_mover_at(const struct sx_mover *m, double time);

#endif
