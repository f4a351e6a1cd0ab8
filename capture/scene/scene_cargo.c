/*
 * Lost cargo, kerb stones and posts on the road. Both cameras see each object, and none hides another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/scene_cargo.h"

#include <stixel.h>

#include "capture/scene/scene_place.h"
#include "capture/scene/scene_world.h"

#define DICE 700
#define TRIES 40
#define APART 0.012 /* least distance between two objects in either image, rad: 9 px of KITTI's camera */

const struct sx_cargo_size sx_cargo_sizes[SX_CARGO_SIZES] = {
	{"box 10 cm", 0.10, 0.10},    {"box 15 cm", 0.15, 0.15},     {"box 20 cm", 0.20, 0.20},
	{"box 30 cm", 0.30, 0.30},    {"stone 100x15 cm", 1, 0.15},  {"post 10x30 cm", 0.10, 0.30},
	{"pole 5x120 cm", 0.05, 1.2}, {"pole 10x120 cm", 0.10, 1.2},
};

const double sx_cargo_distances[SX_CARGO_DISTANCES] = {10, 15, 20, 25, 30, 40};

struct place {
	double x, z, half;
};

static bool is_apart(const struct sx_scene *s, const struct place *a, const struct place *b)
{
	double room = a->half / a->z + b->half / b->z + APART;

	for (int side = 0; side < 2; side++) {
		double eye = side ? s->camera.baseline_m : 0,
		       angle = (a->x - eye) / a->z - (b->x - eye) / b->z;

		if (angle < room && angle > -room)
			return false;
	}
	return true;
}

/* Adds a shadow as long as the object is high. Shadows of sx_place_shadow() have another length. */
static void add_shadow(struct sx_scene *s, const struct place *p, double height, double deep)
{
	const double reach = height * (double)s->street.sun_side;

	sx_place_dark(s, p->x - p->half + (reach < 0 ? reach : 0), p->x + p->half + (reach > 0 ? reach : 0),
		      p->z - 0.02, p->z + deep + 0.06);
}

static void add_thing(struct sx_scene *s, const struct place *p, double height, uint64_t h)
{
	const double width = 2 * p->half, deep = height > width ? 0 : height;
	float grey = 30 + 180 * (float)sx_unit(sx_mix(h, 2, 2));
	struct sx_facet *f = sx_place_facet(s, SX_MATERIAL_WALL, STIXEL_OBJECT, grey, h);
	double flank = p->x > 0 ? p->x - p->half : p->x + p->half;

	sx_place_across(f, p->x - p->half, 0, p->z, width, height);
	add_shadow(s, p, height, deep);
	if (deep > 0) {
		f = sx_place_facet(s, SX_MATERIAL_WALL, STIXEL_OBJECT, grey, h);
		sx_place_flat(f, p->x - p->half, height, p->z, width, deep);
		f->light = 1.1f;
	}
	if (deep > 0 && (flank > 0) == (p->x > 0)) {
		f = sx_place_facet(s, SX_MATERIAL_WALL, STIXEL_OBJECT, grey, h);
		sx_place_along(f, &s->street, flank, 0, p->z, deep, height);
	}
	s->next_object++;
}

void sx_cargo_add(struct sx_scene *s, uint32_t frame)
{
	const struct sx_street *st = &s->street;
	const uint64_t seed = sx_mix(st->seed, DICE, frame);
	struct place taken[SX_CARGO_MAX];

	s->cargo_count = 0;
	/* begin with the farthest objects, which have the least room */
	for (int i = SX_CARGO_MAX - 1; i >= 0; i--) {
		const int distance = i / 2, size = (int)(sx_mix(seed, 1, (uint64_t)i) % SX_CARGO_SIZES);
		struct place p = {.z = sx_cargo_distances[distance] * sx_pick(seed, 2, i, 0.98, 1.02),
				  .half = 0.5 * sx_cargo_sizes[size].width};
		bool fits = false;

		for (int k = 0; k < TRIES && !fits; k++) {
			p.x = sx_pick(seed, 3, TRIES * i + k, st->kerb_left + 0.7, st->kerb_right - 0.7) -
			      s->pose.x;
			fits = true;
			for (int j = 0; j < s->cargo_count; j++)
				fits &= is_apart(s, &p, &taken[j]);
		}
		if (!fits)
			continue;
		taken[s->cargo_count] = p;
		s->cargo[s->cargo_count++] =
			(struct sx_cargo){(uint8_t)size, (uint8_t)distance, s->next_object};
		add_thing(s, &p, sx_cargo_sizes[size].height, sx_mix(seed, 4, (uint64_t)i));
	}
}
