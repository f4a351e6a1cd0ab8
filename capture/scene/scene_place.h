/*
 * Putting facets into the synthetic street: x, z relative to the camera, y up from the road, m.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_PLACE_H
#define SX_CAPTURE_SCENE_SCENE_PLACE_H

#include "capture/scene/scene_world.h"

#define SX_SEEN_FROM 1.5 /* m: things nearer than this are behind the bonnet */
#define SX_SEEN_TO 170.0 /* m */
#define SX_GROUND_TO 4000.0
#define SX_TEXTURE_WRAP 1024.0 /* all periods of the ground divide it */

/* Length of the vector, which becomes 1. */
double sx_normalise(double v[3]);
void sx_set_vector(double v[3], double x, double y, double z);

/* A facet without a place, of the thing s->next_object (kind 1) or of the ground (kind 0). */
struct sx_facet *sx_place_facet(struct sx_scene *s, enum sx_material material, int kind, float grey,
				uint64_t seed);
/* Upright, across the street: faces the camera. */
void sx_place_across(struct sx_facet *f, double x, double y, double z, double width, double height);
/* Upright, along the street: faces the middle of the street, or turns away from it. */
void sx_place_along(struct sx_facet *f, const struct sx_street *st, double x, double y, double z,
		    double length, double height);
void sx_place_flat(struct sx_facet *f, double x, double y, double z, double width, double length);
/* Shadow between x0 and x1, z0 and z1; of a thing that stands on the ground there. Too many are left out. */
void sx_place_dark(struct sx_scene *s, double x0, double x1, double z0, double z1);
void sx_place_shadow(struct sx_scene *s, double x0, double x1, double z0, double z1);
/* Lifts each point by base + by_x * its x + by_z * (its z - z): upright things stay upright. */
void sx_place_sheared(struct sx_facet *f, double base, double by_x, double by_z, double z);

#endif
