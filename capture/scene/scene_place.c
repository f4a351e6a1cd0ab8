/*
 * Places camera and facets into the synthetic world.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/scene_place.h"

#include <math.h>

#include "base/contract.h"

void sx_place_pitch(struct sx_pose *p, double pitch_deg)
{
	double a = pitch_deg * (3.14159265358979323846 / 180);

	sx_must_be(a > -0.02 && a < 0.02);
	p->pitch_deg = pitch_deg;
	/* power series for |a| < 0.02; the next term is below 1e-15 */
	p->sin_pitch = a * (1 - a * a / 6 * (1 - a * a / 20));
	p->cos_pitch = 1 - a * a / 2 * (1 - a * a / 12 * (1 - a * a / 30));
}

struct sx_facet *sx_place_facet(struct sx_scene *s, enum sx_material material, int kind, float grey,
				uint64_t seed)
{
	/* a frame needs about a third of the array; if it is full, the last facet is overwritten */
	struct sx_facet *f = &s->facets[s->count < SX_FACETS_MAX - 1 ? s->count++ : s->count];

	sx_must(s->count, <, SX_FACETS_MAX);
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

static void put(struct sx_facet *f, double x, double y, double z, double s1, double t1)
{
	sx_set_vector(f->origin, x, y, z);
	f->s1 = s1;
	f->t1 = t1;
}

void sx_place_across(struct sx_facet *f, double x, double y, double z, double width, double height)
{
	put(f, x, y, z, width, height);
	sx_set_vector(f->u, 1, 0, 0);
	sx_set_vector(f->v, 0, 1, 0);
}

void sx_place_along(struct sx_facet *f, const struct sx_street *st, double x, double y, double z,
		    double length, double height)
{
	put(f, x, y, z, length, height);
	sx_set_vector(f->u, 0, 0, 1);
	sx_set_vector(f->v, 0, 1, 0);
	f->light = 0.86f + 0.24f * (x > 0 ? -st->sun_side : st->sun_side);
}

void sx_place_flat(struct sx_facet *f, double x, double y, double z, double width, double length)
{
	put(f, x, y, z, width, length);
	sx_set_vector(f->u, 1, 0, 0);
	sx_set_vector(f->v, 0, 0, 1);
}

void sx_place_soft(struct sx_scene *s, const struct sx_shadow *shadow)
{
	sx_must(s->shadow_count, <=, SX_SHADOWS_MAX);
	if (s->shadow_count < SX_SHADOWS_MAX)
		s->shadows[s->shadow_count++] = *shadow;
}

void sx_place_dark(struct sx_scene *s, double x0, double x1, double z0, double z1)
{
	const struct sx_shadow sun = {(float)x0, (float)x1, (float)z0, (float)z1, 4, 0.52f};

	sx_place_soft(s, &sun);
}

void sx_place_shadow(struct sx_scene *s, double x0, double x1, double z0, double z1)
{
	const double reach = 0.9 * (double)s->street.sun_side;

	sx_place_dark(s, x0 + (reach < 0 ? reach : 0) - 0.1, x1 + (reach > 0 ? reach : 0) + 0.1, z0 - 0.15,
		      z1 + 0.15);
}

void sx_place_sheared(struct sx_facet *f, double base, double by_x, double by_z, double z)
{
	double length;

	f->origin[1] += base + by_z * (f->origin[2] - z) + by_x * f->origin[0];
	f->u[1] += by_x * f->u[0] + by_z * f->u[2];
	length = sx_normalise(f->u);
	f->s1 *= length;
	f->inset[0] *= (float)length;
	f->inset[1] *= (float)length;
	f->v[1] += by_x * f->v[0] + by_z * f->v[2];
	f->t1 *= sx_normalise(f->v);
}

double sx_normalise(double v[3])
{
	double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);

	for (int k = 0; k < 3; k++)
		v[k] /= length;
	return length;
}
