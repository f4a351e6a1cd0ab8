/*
 * Trees, hedges and fences of the scenes with motion. Leaves sway in the wind, by a few centimetres and slower than
 * 0.6 m/s. They are part of the standing world.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include <stixel.h>

#include "capture/scene/scene_model.h"
#include "capture/scene/scene_moving.h"
#include "capture/scene/scene_place.h"

#define WIND 1200

/* Returns how far leaves are from their mean place, m. */
static double sway(const struct sx_scene *s, uint64_t seed, int64_t i)
{
	const double wind = sx_pick(s->motion->seed, WIND, 0, 0.01, 0.09);
	const double time = s->motion->time;

	return wind *
	       (sx_sine_wave(sx_pick(seed, WIND, i, 0.3, 0.6) * time + sx_pick(seed, WIND + 1, i, 0, 1)) +
		0.4 * sx_sine_wave(sx_pick(seed, WIND + 2, i, 0.9, 1.5) * time +
				   sx_pick(seed, WIND + 3, i, 0, 1)));
}

struct sx_facet *sx_garden_between(struct sx_scene *s, enum sx_material material, float grey, uint64_t seed,
				   const double from[2], const double to[2], double y, double height)
{
	const double dx = to[0] - from[0], dz = to[1] - from[1], length = sqrt(dx * dx + dz * dz);
	struct sx_facet *f = sx_place_facet(s, material, STIXEL_OBJECT, grey, seed);

	sx_place_across(f, from[0], y, from[1], length, height);
	sx_set_vector(f->u, dx / length, 0, dz / length);
	/* towards the viewer if it goes to the right, as seen from there */
	f->light = sx_model_light(s, dz / length, -dx / length);
	return f;
}

void sx_garden_tree(struct sx_scene *s, double x, double z, double course, uint64_t seed)
{
	const double radius = 1.3 + 0.2 * (double)(seed % 5), height = 2.3 + 0.15 * (double)((seed >> 4) % 4);
	const struct sx_spot spot = sx_spot_at(x, z, course);

	sx_model_facing(s, SX_MATERIAL_BARK, 74, seed, x, 0, z, 0.3, height + 0.8);
	for (int i = 0; i < 3; i++) { /* layers of leaves */
		const double r = radius * (i == 1 ? 1 : 0.8), aside = sway(s, seed, i);
		const double corner[3] = {aside - r + 0.3 * (i - 1), height + 0.4 * sway(s, seed, 10 + i),
					  0.7 * i - 0.7 + sway(s, seed, 20 + i)};
		struct sx_facet *f = sx_model_across(s, &spot, SX_MATERIAL_LEAVES, 70 + 9 * (float)i,
						     sx_mix(seed, 5, (uint64_t)i), corner, 2 * r, 2.1 * r);

		f->shape = SX_SHAPE_CROWN;
		f->light = 1;
		/* twigs move against each other: the rim and the holes change, in texels of 5 cm */
		f->detail[0] = (float)(seed >> (8 * i) & 255) + (float)(8 * sway(s, seed, 30 + i));
		f->detail[1] = (float)(seed >> (8 * i + 4) & 255) + (float)(8 * sway(s, seed, 40 + i));
	}
	sx_model_shadow(s, &spot, 0.8 * radius, 0.8 * radius, 2);
	s->next_object++;
}

void sx_garden_hedge(struct sx_scene *s, const double from[2], const double to[2], double height,
		     uint64_t seed)
{
	/* two layers of leaves that sway against each other */
	for (int i = 0; i < 2; i++) {
		struct sx_facet *f = sx_garden_between(s, SX_MATERIAL_LEAVES, 66 + 12 * (float)i,
						       sx_mix(seed, 6, (uint64_t)i), from, to, 0, height);
		const double by = 0.5 * sway(s, seed, i), out = 0.12 * i;

		f->origin[0] += by * f->u[0] - out * f->u[2];
		f->origin[1] += 0.3 * sway(s, seed, 10 + i) - 0.05;
		f->origin[2] += by * f->u[2] + out * f->u[0];
		f->light = 1;
		if (i) { /* twigs that stand out, with gaps between them */
			f->shape = SX_SHAPE_CROWN;
			f->detail[0] = (float)(seed & 255);
			f->detail[1] = (float)(seed >> 8 & 255);
		}
	}
	s->next_object++;
}

void sx_garden_fence(struct sx_scene *s, const double from[2], const double to[2], double y, double height,
		     uint64_t seed)
{
	struct sx_facet *f =
		sx_garden_between(s, SX_MATERIAL_POLE, 40 + 120 * (float)sx_unit(sx_mix(seed, 1, 1)), seed,
				  from, to, y, height);

	f->shape = SX_SHAPE_BARS;
	s->next_object++;
}
