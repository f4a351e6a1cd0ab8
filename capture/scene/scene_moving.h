/*
 * Scenes with truth of motion: streets with traffic, crossings, bends, and a yard (motion/episode.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_MOVING_H
#define SX_CAPTURE_SCENE_SCENE_MOVING_H

#include "capture/scene/scene_world.h"

#define SX_MOVING_FPS 30.0 /* frames per second if the parameters of a scene have none */

/* Returns the nominal camera of a yard. Its height depends on the seed. */
struct sx_camera sx_yard_camera(const struct sx_scene_params *p);
/* Sets the values of a scene with motion. Returns -ENOMEM, or 0. */
int sx_moving_init(struct sx_scene *s, enum sx_episode_kind kind);
/* Fills facets, shadows and pose of a frame. */
void sx_moving_build(struct sx_scene *s, uint32_t frame);

/* scene_town.c and scene_yard.c: add what stands, in the coordinates of the episode. */
void sx_town_add(struct sx_scene *s);
void sx_yard_add(struct sx_scene *s);
/* scene_garden.c: adds a tree or a hedge, whose leaves sway, and a fence. seed: selects its looks. */
void sx_garden_tree(struct sx_scene *s, double x, double z, double course, uint64_t seed);
void sx_garden_hedge(struct sx_scene *s, const double from[2], const double to[2], double height,
		     uint64_t seed);
void sx_garden_fence(struct sx_scene *s, const double from[2], const double to[2], double y, double height,
		     uint64_t seed);
/* Adds an upright facet between two places (x, z) on the ground. */
struct sx_facet *sx_garden_between(struct sx_scene *s, enum sx_material material, float grey, uint64_t seed,
				   const double from[2], const double to[2], double y, double height);

#endif
