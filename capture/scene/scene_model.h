/*
 * Models of vehicles, persons and robots for scenes with motion, and helpers to place facets there. All is placed
 * in the coordinates of the episode (motion/mover.h), and then turned into those of the camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_MODEL_H
#define SX_CAPTURE_SCENE_SCENE_MODEL_H

#include "capture/scene/scene_world.h"

/* A place on the ground and a direction, for things that are built there. */
struct sx_spot {
	double x, z;
	struct sx_turn turn;
};

/* Axes of a spot: places are `right` of it and `ahead` of it, m. */
struct sx_spot sx_spot_at(double x, double z, double course);
void sx_spot_place(const struct sx_spot *p, double right, double ahead, double ret[2]);

/* Adds an upright facet from (right, ahead) of a spot, to the right (else: ahead), at the height y. */
struct sx_facet *sx_model_across(struct sx_scene *s, const struct sx_spot *p, enum sx_material material,
				 float grey, uint64_t seed, const double corner[3], double width,
				 double height);
struct sx_facet *sx_model_along(struct sx_scene *s, const struct sx_spot *p, enum sx_material material,
				float grey, uint64_t seed, const double corner[3], double length,
				double height);
/* Adds a level facet, width to the right, length ahead; kind as in sx_place_facet(). */
struct sx_facet *sx_model_level(struct sx_scene *s, const struct sx_spot *p, enum sx_material material,
				int kind, float grey, uint64_t seed, const double corner[3], double width,
				double length);
/* Adds an upright facet that faces the camera, with the middle of its foot at x, z. */
struct sx_facet *sx_model_facing(struct sx_scene *s, enum sx_material material, float grey, uint64_t seed,
				 double x, double y, double z, double width, double height);
/* Adds the shadow of something with half this width and length, and with this height, m. */
void sx_model_shadow(struct sx_scene *s, const struct sx_spot *p, double half_width, double half_length,
		     double height);
/* Adds a cuboid that stands on the ground, of the material of vans or of a room. */
void sx_model_cuboid(struct sx_scene *s, const struct sx_spot *p, enum sx_material material, float grey,
		     uint64_t seed, double y, double width, double height, double length);

/* Adds a vehicle that stands: a car or a van. */
void sx_model_vehicle(struct sx_scene *s, const struct sx_spot *p, bool van, uint64_t seed);
/* Adds mover number `number` of the episode. */
void sx_model_mover(struct sx_scene *s, int number);
/* Returns the brightness of a surface with this normal (to the right of z, and along z). */
float sx_model_light(const struct sx_scene *s, double x, double z);

#endif
