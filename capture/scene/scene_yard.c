/*
 * What stands in the yard of the scenes with motion: walls, fences, boxes, barrels, and a hedge.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stixel.h>

#include "capture/scene/scene_model.h"
#include "capture/scene/scene_moving.h"
#include "capture/scene/scene_place.h"

#define PANEL 4.0	  /* length of a piece of the walls, m */
#define BEHIND -4.0	  /* z of the wall behind, m */
#define STANDING 26	  /* things that stand, at most */
#define CAMERA_CLEAR 0.35 /* least distance of a thing to all that moves, m */

enum dice { D_PANEL = 1500, D_THING };

static uint64_t seed_of(const struct sx_scene *s, enum dice what, int64_t i)
{
	return sx_mix(s->motion->episode.seed, (uint64_t)what, (uint64_t)i);
}

/* Adds a piece of the walls: bricks, plaster, equal planks, or a fence before a hedge and trees. */
static void add_panel(struct sx_scene *s, const double from[2], const double to[2], const double out[2],
		      uint64_t h)
{
	const double back[2][2] = {{from[0] + 0.8 * out[0], from[1] + 0.8 * out[1]},
				   {to[0] + 0.8 * out[0], to[1] + 0.8 * out[1]}};
	struct sx_facet *f;

	switch (h % 5) {
	case 0:
		f = sx_garden_between(s, SX_MATERIAL_WALL, 130 + 60 * (float)sx_unit(h), h, from, to, 0, 2.2);
		f->detail[2] = 1;
		break;
	case 1:
		f = sx_garden_between(s, SX_MATERIAL_FACADE, 100 + 80 * (float)sx_unit(h), h, from, to, 0,
				      6.4);
		f->detail[0] = 3;
		f->detail[1] = 2;
		f->detail[2] = 0.9f;
		f->detail[3] = 1;
		break;
	case 2:
		f = sx_garden_between(s, SX_MATERIAL_WALL, 110 + 80 * (float)sx_unit(h), h, from, to, 0, 3);
		f->detail[3] = 1;
		break;
	default:
		sx_garden_fence(s, from, to, 0, 1.3, h);
		sx_garden_hedge(s, back[0], back[1], 1.9, h);
		if (h >> 8 & 1)
			sx_garden_tree(s, 0.5 * (from[0] + to[0]) + 2.6 * out[0],
				       0.5 * (from[1] + to[1]) + 2.6 * out[1], s->motion->pose.course, h);
		return;
	}
	s->next_object++;
}

static void add_walls(struct sx_scene *s, double end)
{
	for (int side = -1; side <= 1; side += 2)
		for (int i = 0; BEHIND + PANEL * i < end; i++) {
			const double x = side * SX_YARD_HALF, z = BEHIND + PANEL * i, out[2] = {side, 0},
				     a[2] = {x, z}, b[2] = {x, z + PANEL < end ? z + PANEL : end};

			add_panel(s, a, b, out, seed_of(s, D_PANEL, 2 * i + (side > 0)));
		}
	for (int i = 0; i * PANEL < 2 * SX_YARD_HALF; i++) {
		const double x = i * PANEL - SX_YARD_HALF, out[2] = {0, 1}, a[2] = {x, end},
			     b[2] = {x + PANEL < SX_YARD_HALF ? x + PANEL : SX_YARD_HALF, end};

		add_panel(s, a, b, out, seed_of(s, D_PANEL, 1000 + i));
	}
}

/* Adds a thing that stands: a box or a stack of two, a barrel, a pallet, or a post. */
static void add_thing(struct sx_scene *s, const struct sx_spot *p, uint64_t h)
{
	const float grey = 50 + 150 * (float)sx_unit(sx_mix(h, 2, 2));
	const double size = 0.3 + 0.4 * sx_unit(sx_mix(h, 3, 3));

	switch (h % 5) {
	case 0:
	case 1:
		sx_model_cuboid(s, p, SX_MATERIAL_CARD, grey, h, 0, size, 0.8 * size, 0.9 * size);
		if (h >> 8 & 1)
			sx_model_cuboid(s, p, SX_MATERIAL_CARD, 0.8f * grey, sx_mix(h, 1, 1), 0.8 * size,
					0.8 * size, 0.7 * size, 0.8 * size);
		sx_model_shadow(s, p, 0.5 * size, 0.45 * size, 0.8 * size);
		break;
	case 2:
		sx_model_facing(s, SX_MATERIAL_POLE, grey, h, p->x, 0, p->z, 0.58, 0.88);
		sx_model_shadow(s, p, 0.25, 0.25, 0.88);
		break;
	case 3:
		sx_model_cuboid(s, p, SX_MATERIAL_TIMBER, grey, h, 0, 1.2, 0.15, 0.8);
		sx_model_shadow(s, p, 0.6, 0.4, 0.15);
		break;
	default:
		sx_model_facing(s, SX_MATERIAL_POLE, grey, h, p->x, 0, p->z, 0.1, 1.1);
		sx_model_shadow(s, p, 0.05, 0.05, 1);
	}
	s->next_object++;
}

void sx_yard_add(struct sx_scene *s)
{
	const struct sx_episode *e = &s->motion->episode;
	const double end = e->route.length;
	double taken[STANDING][2];
	int count = 0;

	add_walls(s, end);
	for (int i = 0; i < 4 * STANDING && count < STANDING; i++) {
		const uint64_t h = seed_of(s, D_THING, i);
		const double x = sx_pick(h, 1, 0, 0.9 - SX_YARD_HALF, SX_YARD_HALF - 0.9),
			     z = sx_pick(h, 2, 0, 0.8, end - 0.9), radius = h % 5 == 3 ? 0.75 : 0.5;
		const struct sx_spot p = sx_spot_at(x, z, sx_pick(h, 3, 0, -1, 1));
		bool free = sx_episode_is_free(e, x, z, radius + CAMERA_CLEAR);

		for (int k = 0; k < count && free; k++)
			free = (x - taken[k][0]) * (x - taken[k][0]) + (z - taken[k][1]) * (z - taken[k][1]) >
			       2;
		if (!free)
			continue;
		taken[count][0] = x;
		taken[count][1] = z;
		count++;
		add_thing(s, &p, h);
	}
}
