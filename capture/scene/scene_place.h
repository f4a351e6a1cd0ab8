/*
 * Places camera and facets into the synthetic world: x, z relative to the camera, y up from the road, m.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_PLACE_H
#define SX_CAPTURE_SCENE_SCENE_PLACE_H

#include "capture/scene/scene_world.h"

#define SX_SEEN_FROM 1.5 /* m; nearer objects are hidden by the bonnet */
#define SX_SEEN_TO 170.0 /* m; farther objects are left out */
#define SX_GROUND_TO 4000.0
#define SX_TEXTURE_WRAP 1024.0 /* a multiple of all texture periods of the ground, m */

/* Tilts the camera, by less than 1.1 degrees. */
void sx_place_pitch(struct sx_pose *p, double pitch_deg);

/* Normalises the vector and returns its former length. */
double sx_normalise(double v[3]);
void sx_set_vector(double v[3], double x, double y, double z);

/* Adds a facet without a place, for the object s->next_object (kind 1) or for the ground (kind 0). */
struct sx_facet *sx_place_facet(struct sx_scene *s, enum sx_material material, int kind, float grey,
				uint64_t seed);
/* Places a facet upright, across the street: it faces the camera. */
void sx_place_across(struct sx_facet *f, double x, double y, double z, double width, double height);
/* Places a facet upright, along the street: it faces the middle of the street, or turns away from it. */
void sx_place_along(struct sx_facet *f, const struct sx_street *st, double x, double y, double z,
		    double length, double height);
void sx_place_flat(struct sx_facet *f, double x, double y, double z, double width, double length);
/*
 * sx_place_soft() adds a shadow. sx_place_dark() adds one of the sun between x0 and x1, z0 and z1.
 * sx_place_shadow() adds the shadow of an object in that area. Shadows above the limit SX_SHADOWS_MAX are
 * left out.
 */
void sx_place_soft(struct sx_scene *s, const struct sx_shadow *shadow);
void sx_place_dark(struct sx_scene *s, double x0, double x1, double z0, double z1);
void sx_place_shadow(struct sx_scene *s, double x0, double x1, double z0, double z1);
/* Raises each point by base + by_x * its x + by_z * (its z - z). Upright facets stay upright. */
void sx_place_sheared(struct sx_facet *f, double base, double by_x, double by_z, double z);

#endif
