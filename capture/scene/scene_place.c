/*
 * Putting facets into the synthetic street.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/scene_place.h"

#include <math.h>

struct sx_facet *sx_place_facet(struct sx_scene *s, enum sx_material material, int kind, float grey,
				uint64_t seed)
{
	/*
	 * a frame needs about a third of the room; the last facet is overwritten rather than the memory after
	 * it
	 */
	struct sx_facet *f = &s->facets[s->count < SX_FACETS_MAX - 1 ? s->count++ : s->count];

	*f = (struct sx_facet){
		.material = (uint8_t)material,
		.kind = (uint8_t)kind,
		.grey = grey,
		.light = 1,
		.seed = seed,
		.object = kind == 1 ? s->next_object : 0,
	};
	return f;
}

void sx_set_vector(double v[3], double x, double y, double z)
{
	v[0] = x;
	v[1] = y;
	v[2] = z;
}

/* Upright, across the street: faces the camera. */
void sx_place_across(struct sx_facet *f, double x, double y, double z, double width, double height)
{
	sx_set_vector(f->origin, x, y, z);
	sx_set_vector(f->u, 1, 0, 0);
	sx_set_vector(f->v, 0, 1, 0);
	f->s1 = width;
	f->t1 = height;
}

/* Upright, along the street: faces the middle of the street, or turns away from it. */
void sx_place_along(struct sx_facet *f, const struct sx_street *st, double x, double y, double z,
		    double length, double height)
{
	sx_set_vector(f->origin, x, y, z);
	sx_set_vector(f->u, 0, 0, 1);
	sx_set_vector(f->v, 0, 1, 0);
	f->s1 = length;
	f->t1 = height;
	f->light = 0.86f + 0.24f * (x > 0 ? -st->sun_side : st->sun_side);
}

void sx_place_flat(struct sx_facet *f, double x, double y, double z, double width, double length)
{
	sx_set_vector(f->origin, x, y, z);
	sx_set_vector(f->u, 1, 0, 0);
	sx_set_vector(f->v, 0, 0, 1);
	f->s1 = width;
	f->t1 = length;
}

void sx_place_shadow(struct sx_scene *s, double x0, double x1, double z0, double z1)
{
	double reach = 0.9 * (double)s->street.sun_side;

	if (s->shadow_count == SX_SHADOWS_MAX)
		return;
	s->shadows[s->shadow_count++] = (struct sx_shadow){
		(float)(x0 + (reach < 0 ? reach : 0) - 0.1),
		(float)(x1 + (reach > 0 ? reach : 0) + 0.1),
		(float)(z0 - 0.15),
		(float)(z1 + 0.15),
	};
}

double sx_normalise(double v[3])
{
	double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);

	for (int k = 0; k < 3; k++)
		v[k] /= length;
	return length;
}
