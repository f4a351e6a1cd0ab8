/*
 * Motion of a scene in a frame: where the camera and all things are, and how fast they move. A frame depends only
 * on (kind, seed, time). Time is the frame's number divided by the frame rate, so that other rates see the same
 * world at other times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_MOTION_MOTION_H
#define SX_CAPTURE_SCENE_MOTION_MOTION_H

#include "capture/scene/motion/episode.h"
#include "capture/scene/motion/turn.h"

/*
 * Pose of the left camera: its place, m, heave above its height; course, and pitch and roll, rad: downwards and
 * clockwise.
 */
struct sx_world_pose {
	double x, z, heave;
	double course, pitch, roll;
	struct sx_turn course_turn, roll_turn;
};

/* moved: state of each mover of the episode. time: since the begin of the episode, s. */
struct sx_world_motion {
	enum sx_episode_kind kind;
	uint64_t seed;
	double time;
	struct sx_world_pose pose;
	struct sx_moved moved[SX_MOVERS_MAX];
	struct sx_episode episode;
};

void sx_world_init(struct sx_world_motion *m, enum sx_episode_kind kind, uint64_t seed);
/* Moves everything to a time, s, >= 0. */
void sx_world_set(struct sx_world_motion *m, double time);
/* Returns the identity of a mover of the present episode: > 0, and never used again by another one. */
uint32_t sx_world_identity(const struct sx_world_motion *m, int mover);

#endif
