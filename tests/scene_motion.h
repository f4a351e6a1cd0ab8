/*
 * Ground truth of motion of a frame of the synthetic scenes that have it (capture/scene/scene.h). For tests only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_SCENE_MOTION_H
#define SX_TESTS_SCENE_MOTION_H

#include "capture/scene/motion/motion.h"
#include "tests/scene_truth.h"

/*
 * A thing that moves, or that stands and may move. identity: > 0; the same thing has it in all frames, and no other
 * thing ever has it. x, z: its middle on the ground; vx, vz: its velocity over ground, m/s. Axes: to the right and
 * ahead of the left camera of this frame, turned level. turning: to the right, rad/s: a point of the thing at
 * (px, pz) has the velocity (vx + turning * (pz - z), vz - turning * (px - x)). Size: m. pixels: how many pixels of
 * the left picture show it.
 */
struct sx_scene_thing {
	uint32_t identity;
	enum sx_mover_class kind;
	double x, z, vx, vz, turning;
	double length, width, height;
	int pixels;
};

/*
 * thing: for each pixel of the left picture the index of its thing + 1, 0 for the standing world and the sky.
 * pose: 3x4, rows of [R|t], from the axes of the left camera (x right, y down, z ahead) to axes that stand on the
 * ground for the whole episode. episode: number of the episode: poses and things of different episodes have nothing
 * in common.
 */
struct sx_scene_motion {
	uint16_t *thing;
	int count;
	struct sx_scene_thing things[SX_MOVERS_MAX];
	double pose[12];
	int64_t episode;
};

/* Allocates the truth of a scene's size. Errors as of sx_scene_truth_init(), and -EINVAL without truth of motion. */
int sx_scene_motion_init(struct sx_scene_motion *m, const struct sx_scene *s);
void sx_scene_motion_finish(struct sx_scene_motion *m);
/* Computes the truth of the frame for which sx_scene_truth() was called last, or which was built and drawn. */
void sx_scene_motion(const struct sx_scene *s, struct sx_scene_motion *m);
/* Computes the pose of a camera in another one: the inverse of `from`, times `pose`. */
void sx_scene_pose_in(const double from[12], const double pose[12], double ret[12]);

#endif
