/*
 * Objects of the street. Each object is placed by the hash of (seed, kind of object, place number), so that
 * any frame can be built without earlier frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include "base/contract.h"
#include "capture/scene/scene_place.h"
#include "capture/scene/scene_world.h"

enum dice {
	D_STREET,
	D_HOUSE,
	D_GAP,
	D_CAR_RIGHT,
	D_CAR_LEFT,
	D_ONCOMING,
	D_LEAD,
	D_LAMP,
	D_TREE,
	D_SIGN,
	D_WALK,
	D_BOX
};

struct sx_exposure sx_street_exposure(uint64_t h, int dice, int first)
{
	const uint64_t what = (uint64_t)dice;

	return (struct sx_exposure){
		.seed = h,
		.sky = (float)sx_pick(h, what, first, 185, 232),
		.haze = (float)sx_pick(h, what, first + 1, 250, 700),
		.noise = (float)sx_pick(h, what, first + 2, 1.2, 2.6),
		.gain = {1, (float)sx_pick(h, what, first + 3, 0.92, 1.08)},
		.offset = {0, (float)sx_pick(h, what, first + 4, -5, 5)},
	};
}

void sx_street_init(struct sx_scene *s, uint64_t seed, bool open)
{
	uint64_t h = sx_mix(seed, 0x737472656574, 1);

	s->street = (struct sx_street){
		.seed = h,
		.open = open,
		.kerb_right = sx_pick(h, D_STREET, 0, 3.9, 4.4),
		.kerb_left = -sx_pick(h, D_STREET, 1, 7.4, 7.9),
		.kerb_height = 0.09,
		.pavement = sx_pick(h, D_STREET, 2, 2.6, 4.6),
		.speed = sx_pick(h, D_STREET, 3, 0.22, 0.42),
		.parked = open ? 0.25 : sx_pick(h, D_STREET, 4, 0.3, 0.75),
		.trees = open ? 0 : sx_pick(h, D_STREET, 5, 0.1, 0.7),
		.people = sx_pick(h, D_STREET, 6, 0.2, 0.6),
		.traffic = sx_pick(h, D_STREET, 7, 0.3, 0.8),
		.sun_side = (float)sx_pick(h, D_STREET, 8, -1, 1),
	};
	s->exposure = sx_street_exposure(h, D_STREET, 9);
}

/* Returns true if a side has a pavement and houses. */
static bool is_built(const struct sx_street *st, int side)
{
	return !st->open && (!st->verge.on || side == st->verge.town_side);
}

static void add_ground(struct sx_scene *s)
{
	const struct sx_street *st = &s->street;
	double left = st->kerb_left - s->pose.x, right = st->kerb_right - s->pose.x, far = 3000;
	double wrapped = s->pose.z - SX_TEXTURE_WRAP * (double)sx_floor(s->pose.z / SX_TEXTURE_WRAP);
	struct sx_facet *f = sx_place_facet(s, SX_MATERIAL_ROAD, 0, 96, 0);

	sx_place_flat(f, left, 0, 0.5, right - left, SX_GROUND_TO);
	f->s_texture = st->kerb_left;
	f->t_texture = wrapped + 0.5;
	for (int side = 0; side < 2; side++) {
		if (!is_built(st, side) && !st->open) {
			sx_verge_ground(s, side, side ? right : left, wrapped + 0.5);
		} else {
			f = sx_place_facet(s, st->open ? SX_MATERIAL_GRASS : SX_MATERIAL_PAVEMENT, 0,
					   st->open ? 112 : 148, 0);
			sx_place_flat(f, side ? right : left - far, st->kerb_height, 0.5, far, SX_GROUND_TO);
			f->t_texture = wrapped + 0.5;
			f->s_texture = 2;
		}
		f = sx_place_facet(s, SX_MATERIAL_KERB, 0, 168, 0);
		sx_place_along(f, st, side ? right : left, 0, 0.5, SX_GROUND_TO, st->kerb_height);
		f->s_texture = wrapped + 0.5;
	}
}

static void add_hills(struct sx_scene *s)
{
	/* far background: a ragged row of trees and roofs at 500 m that moves with the camera */
	for (int i = -50; i < 50; i++) {
		uint64_t h = sx_mix(s->street.seed, 991, (uint64_t)(i + 64));
		struct sx_facet *f = sx_place_facet(s, SX_MATERIAL_HILLS, 1, 118 + 24 * (float)sx_unit(h), h);

		sx_place_across(f, 10.0 * i, 0, 500 + (double)(i & 1), 10.5,
				6 + 14 * sx_unit(sx_mix(h, 1, 1)));
		f->s_texture = 10.0 * i;
		s->next_object++;
	}
}

/* Returns the z at which house number k begins. side: 0 left, 1 right. */
static double house_start(const struct sx_street *st, int side, int64_t k)
{
	return 15.0 * (double)k + sx_pick(st->seed, D_HOUSE, 2 * k + side, -4, 4);
}

static void add_house(struct sx_scene *s, int side, int64_t k)
{
	const struct sx_street *st = &s->street;
	uint64_t h = sx_mix(st->seed, D_GAP, (uint64_t)(2 * k + side));
	double z0 = house_start(st, side, k) - s->pose.z, z1 = house_start(st, side, k + 1) - s->pose.z;
	double line = side ? st->kerb_right + st->pavement : st->kerb_left - st->pavement;
	double back = s->weather.glass > 0 ? 0 : 0.6 * (double)(h % 3), x,
	       height; /* windows mirror in one plane */
	bool gap = (h >> 4) % 100 < 14;
	struct sx_facet *f;
	float grey = 85 + 95 * (float)sx_unit(sx_mix(h, 2, 2));

	if (gap)
		back = 5;
	x = line + (side ? back : -back) - s->pose.x;
	height = gap ? 2.2 : 3.1 * (double)(2 + (h >> 8) % 4) + 0.6;
	f = sx_place_facet(s, gap ? SX_MATERIAL_WALL : SX_MATERIAL_FACADE, 1, grey, h);
	sx_place_along(f, st, x, 0, z0, z1 - z0, height);
	if (gap) {
		f->detail[2] = (h >> 28) % 2 ? 1 : 0;
	} else {
		f->detail[0] = 2.9f + 0.1f * (float)((h >> 16) % 5);
		f->detail[1] = 1.9f + 0.25f * (float)((h >> 20) % 6);
		f->detail[2] = f->detail[1] * (0.45f + 0.05f * (float)((h >> 24) % 4));
		f->detail[3] = (h >> 28) % 3 == 0 ? 1 : 0;
		if (st->verge.on)
			sx_verge_window(s, side, x, z0, z1, h);
	}
	if (!gap) { /* visible side wall if the neighbouring house is further back or lower */
		f = sx_place_facet(s, SX_MATERIAL_WALL, 1, grey * 0.9f, h);
		sx_place_across(f, side ? x : x - 14, 0, z0, 14, height);
		f->light = 0.8f;
		f->detail[3] = 1;
	}
	s->next_object++;
}

static void add_houses(struct sx_scene *s)
{
	for (int side = 0; side < 2; side++) {
		int64_t first = sx_floor(s->pose.z / 15) - 2;

		if (!is_built(&s->street, side))
			continue;
		for (int64_t k = first; k < first + 16; k++)
			add_house(s, side, k);
	}
}

struct car {
	double x, z, width, length, waist, roof, boot, bonnet;
	float grey;
	bool oncoming;
	uint64_t seed;
};

/* Adds the visible flank of a box: the one on the camera's side. */
static void add_flank(struct sx_scene *s, const struct car *c, enum sx_material material, double y, double z,
		      double length, double height, double narrow, float inset0, float inset1)
{
	double inner = c->x > 0 ? c->x - 0.5 * c->width + narrow : c->x + 0.5 * c->width - narrow;
	struct sx_facet *f;

	if ((c->x > 0) != (inner > 0))
		return; /* the box is straight ahead, so no flank is visible */
	f = sx_place_facet(s, material, 1, c->grey, c->seed);
	sx_place_along(f, &s->street, inner, y, z, length, height);
	f->inset[0] = inset0;
	f->inset[1] = inset1;
	f->shape = inset0 > 0 || inset1 > 0 ? SX_SHAPE_TRAPEZOID : SX_SHAPE_RECTANGLE;
}

static void add_cabin(struct sx_scene *s, const struct car *c)
{
	/* near end of the cabin: a pane that leans away from the camera */
	double near_part = c->oncoming ? c->bonnet : c->boot, far_part = c->oncoming ? c->boot : c->bonnet;
	double lean = c->oncoming ? 0.62 : 0.38, lean_far = c->oncoming ? 0.38 : 0.62,
	       rise = c->roof - c->waist;
	double slope = sqrt(lean * lean + rise * rise), width = c->width - 0.16;
	struct sx_facet *f = sx_place_facet(s, SX_MATERIAL_GLASS, 1, c->grey, c->seed);

	sx_place_across(f, c->x - 0.5 * width, c->waist, c->z + near_part, width, slope);
	sx_set_vector(f->v, 0, rise / slope, lean / slope);
	f->inset[0] = f->inset[1] = 0.14f;
	f->shape = SX_SHAPE_TRAPEZOID;
	add_flank(s, c, SX_MATERIAL_CABIN_SIDE, c->waist, c->z + near_part, c->length - near_part - far_part,
		  rise, 0.08, (float)lean, (float)lean_far);
	f = sx_place_facet(s, SX_MATERIAL_CAR_TOP, 1, c->grey, c->seed);
	sx_place_flat(f, c->x - 0.5 * width + 0.14, c->roof, c->z + near_part + lean, width - 0.28,
		      c->length - near_part - far_part - lean - lean_far);
}

/* Adds the two lamps at the near end of a car in the dark, as bright as if they shone. */
static void add_car_lamps(struct sx_scene *s, const struct car *c)
{
	for (int i = 0; i < 2; i++) {
		struct sx_facet *f = sx_place_facet(s, SX_MATERIAL_LAMP, 1, c->oncoming ? 600 : 110, c->seed);

		sx_place_across(f, c->x - 0.09 + (i ? 0.36 : -0.36) * c->width, 0.6, c->z - 0.01, 0.18, 0.16);
		f->shape = SX_SHAPE_ELLIPSE;
		f->detail[0] = f->detail[1] = 1;
		f->detail[2] = f->grey;
	}
}

static void add_car(struct sx_scene *s, const struct car *c)
{
	struct sx_facet *f;

	if (c->z < SX_SEEN_FROM - c->length || c->z > SX_SEEN_TO)
		return;
	f = sx_place_facet(s, SX_MATERIAL_CAR_BACK, 1, c->grey, c->seed);
	sx_place_across(f, c->x - 0.5 * c->width, 0, c->z, c->width, c->waist);
	f->light = 0.92f;
	f->detail[0] = c->oncoming ? 235 : 62;
	add_flank(s, c, SX_MATERIAL_CAR_SIDE, 0, c->z, c->length, c->waist, 0, 0, 0);
	f = sx_place_facet(s, SX_MATERIAL_CAR_TOP, 1, c->grey, c->seed);
	sx_place_flat(f, c->x - 0.5 * c->width, c->waist, c->z, c->width, c->length);
	add_cabin(s, c);
	if (s->weather.dark)
		add_car_lamps(s, c);
	sx_place_shadow(s, c->x - 0.5 * c->width, c->x + 0.5 * c->width, c->z, c->z + c->length);
	s->next_object++;
}

static void add_van(struct sx_scene *s, const struct car *c)
{
	struct sx_facet *f;

	if (c->z < SX_SEEN_FROM - c->length || c->z > SX_SEEN_TO)
		return;
	f = sx_place_facet(s, SX_MATERIAL_BOX, 1, c->grey, c->seed);
	sx_place_across(f, c->x - 0.5 * c->width, 0, c->z, c->width, c->roof);
	f->detail[0] = 0.32f;
	f->detail[1] = c->grey > 120 ? 60 : 200;
	add_flank(s, c, SX_MATERIAL_BOX, 0, c->z, c->length, c->roof, 0, 0, 0);
	sx_must(s->count, >, 0);
	s->facets[s->count - 1].detail[0] = 0.32f;
	s->facets[s->count - 1].detail[1] = c->grey > 120 ? 60 : 200;
	sx_place_shadow(s, c->x - 0.5 * c->width, c->x + 0.5 * c->width, c->z, c->z + c->length);
	s->next_object++;
}

/* Adds a vehicle whose type depends on h, with its near end at z. */
static void add_vehicle(struct sx_scene *s, uint64_t h, double x, double z, bool oncoming)
{
	struct car c = {
		.x = x,
		.z = z,
		.width = 1.68 + 0.04 * (double)(h % 5),
		.length = 3.9 + 0.2 * (double)((h >> 4) % 5),
		.waist = 0.86 + 0.03 * (double)((h >> 8) % 4),
		.roof = 1.40 + 0.04 * (double)((h >> 12) % 6),
		.boot = (h >> 16) % 2 ? 0.12 : 0.6,
		.bonnet = 1.05,
		.grey = 38 + 180 * (float)sx_unit(sx_mix(h, 3, 3)),
		.oncoming = oncoming,
		.seed = h,
	};

	if ((h >> 20) % 7 == 0) {
		c.width = 1.95;
		c.length = 5.2;
		c.roof = 2.2 + 0.1 * (double)((h >> 24) % 6);
		add_van(s, &c);
	} else {
		add_car(s, &c);
	}
}

static void add_parked(struct sx_scene *s, int side)
{
	const struct sx_street *st = &s->street;
	double x = side ? st->kerb_right - 1.08 : st->kerb_left + 1.08;
	int64_t first = sx_floor((s->pose.z - 4) / 6.2);

	for (int64_t k = first; k < first + 24; k++) {
		uint64_t h = sx_mix(st->seed, side ? D_CAR_RIGHT : D_CAR_LEFT, (uint64_t)k);

		if (sx_unit(h) < st->parked)
			add_vehicle(s, sx_mix(h, 1, 1),
				    x - s->pose.x + 0.15 * (sx_unit(sx_mix(h, 2, 1)) - 0.5),
				    6.2 * (double)k + 0.6 * sx_unit(sx_mix(h, 3, 1)) - s->pose.z, side == 0);
	}
}

static void add_traffic(struct sx_scene *s, uint32_t frame)
{
	const struct sx_street *st = &s->street;
	/* sum of the distances that the camera and the oncoming traffic have driven, m */
	double met = s->pose.z + 1.1 * st->speed * (double)frame;
	int64_t first = sx_floor((met - 6) / 26);
	double lead = 17 + 6 * sx_wave((double)frame / 420 + sx_pick(st->seed, D_LEAD, 0, 0, 1)) +
		      sx_pick(st->seed, D_LEAD, 1, -6, 10);

	for (int64_t k = first; k < first + 7; k++) {
		uint64_t h = sx_mix(st->seed, D_ONCOMING, (uint64_t)k);

		if (sx_unit(h) < st->traffic)
			add_vehicle(s, sx_mix(h, 1, 1), -3.5 - s->pose.x,
				    26.0 * (double)k + 9 * sx_unit(sx_mix(h, 2, 1)) - met, true);
	}
	if (sx_pick(st->seed, D_LEAD, 2, 0, 1) < st->traffic + 0.1)
		add_vehicle(s, sx_mix(st->seed, D_LEAD, 3), -0.1 - s->pose.x, lead, false);
}

/* Adds the bright head of a lamp, 1.7 m wide from x on, and the pool of its light on the ground. */
static void add_lamp_light(struct sx_scene *s, double x, double z)
{
	const struct sx_shadow pool = {(float)x - 1.5f, (float)x + 3, (float)z - 3,
				       (float)z + 3,	0.16f,	      -2.5f};
	struct sx_facet *f = sx_place_facet(s, SX_MATERIAL_LAMP, 1, 600, 0);

	sx_place_across(f, x + 0.4, 6.6, z - 0.01, 0.9, 0.16);
	f->detail[0] = f->detail[1] = 1;
	f->detail[2] = f->grey;
	sx_place_soft(s, &pool);
}

static void add_lamp(struct sx_scene *s, double x, double z, uint64_t h)
{
	struct sx_facet *f = sx_place_facet(s, SX_MATERIAL_POLE, 1, 92, h);
	double reach = x > 0 ? -1.7 : 0.07;

	sx_place_across(f, x - 0.07, 0, z, 0.14, 6.8);
	f = sx_place_facet(s, SX_MATERIAL_POLE, 1, 92, h);
	sx_place_across(f, x + reach, 6.7, z, 1.7, 0.12);
	if (s->weather.dark)
		add_lamp_light(s, x + reach, z);
	sx_place_shadow(s, x - 0.1, x + 0.1, z - 0.1, z + 0.1);
	s->next_object++;
}

static void add_sign(struct sx_scene *s, double x, double z, uint64_t h)
{
	struct sx_facet *f = sx_place_facet(s, SX_MATERIAL_POLE, 1, 120, h);

	sx_place_across(f, x - 0.04, 0, z, 0.08, 2.3);
	f = sx_place_facet(s, SX_MATERIAL_SIGN, 1, 215, h);
	sx_place_across(f, x - 0.32, 2.2, z - 0.04, 0.64, 0.64);
	f->shape = h % 3 ? SX_SHAPE_ELLIPSE : SX_SHAPE_RECTANGLE;
	s->next_object++;
}

static void add_tree(struct sx_scene *s, double x, double z, uint64_t h)
{
	double radius = 1.3 + 0.2 * (double)(h % 5), height = 2.3 + 0.15 * (double)((h >> 4) % 4);
	struct sx_facet *f = sx_place_facet(s, SX_MATERIAL_BARK, 1, 74, h);

	sx_place_across(f, x - 0.15, 0, z, 0.3, height + 0.8);
	for (int i = 0; i < 3; i++) { /* three layers of leaves */
		double r = radius * (i == 1 ? 1 : 0.8);

		f = sx_place_facet(s, SX_MATERIAL_LEAVES, 1, 70 + 9 * (float)i, sx_mix(h, 5, (uint64_t)i));
		sx_place_across(f, x - r + 0.3 * (i - 1), height, z - 0.7 + 0.7 * i, 2 * r, 2.1 * r);
		f->shape = SX_SHAPE_CROWN;
		f->detail[0] = (float)(h >> (8 * i) & 255);
		f->detail[1] = (float)(h >> (8 * i + 4) & 255);
	}
	sx_place_shadow(s, x - 0.8 * radius, x + 0.8 * radius, z - 0.8 * radius, z + 0.8 * radius);
	s->next_object++;
}

static void add_person(struct sx_scene *s, double x, double z, double phase, uint64_t h)
{
	double height = 1.6 + 0.06 * (double)(h % 5);
	struct sx_facet *f =
		sx_place_facet(s, SX_MATERIAL_CLOTH, 1, 40 + 150 * (float)sx_unit(sx_mix(h, 1, 4)), h);

	sx_place_across(f, x - 0.27, 0, z, 0.54, height);
	f->shape = SX_SHAPE_PERSON;
	f->detail[0] = (float)sx_wave(phase);
	f->detail[1] = 35 + 90 * (float)sx_unit(sx_mix(h, 2, 4));
	f->detail[2] = 120 + 50 * (float)sx_unit(sx_mix(h, 3, 4));
	sx_place_shadow(s, x - 0.2, x + 0.2, z - 0.15, z + 0.15);
	s->next_object++;
}

static void add_box(struct sx_scene *s, double x, double z, uint64_t h)
{
	struct car c = {.x = x,
			.z = z,
			.width = 0.7,
			.length = 0.8,
			.roof = 1.1,
			.grey = 60 + (float)(h & 63),
			.seed = h};

	add_van(s, &c);
}

/* Adds the objects on the pavements, one kind after the other. */
static void add_furniture(struct sx_scene *s, int side)
{
	const struct sx_street *st = &s->street;
	double x = (side ? st->kerb_right + 0.5 : st->kerb_left - 0.5) - s->pose.x, out = side ? 1 : -1;
	double from = s->pose.z + SX_SEEN_FROM;

	for (int64_t k = sx_floor(from / 12); 12.0 * (double)k < from + SX_SEEN_TO - 20; k++) {
		uint64_t h = sx_mix(st->seed, D_TREE + 100 * (uint64_t)side, (uint64_t)k);
		double z = 12.0 * (double)k - s->pose.z, wide = st->pavement;

		if ((k + side) % 2 == 0)
			add_lamp(s, x, z + 0.7, h);
		else if (sx_unit(h) < st->trees)
			add_tree(s, x + out * 0.3, z, h);
		if ((h >> 8) % 6 == 0)
			add_sign(s, x - out * 0.1, z + 4, h);
		if ((h >> 16) % 5 == 0)
			add_box(s, x + out * (wide - 1.2), z + 7, h);
	}
}

static void add_people(struct sx_scene *s, int side, uint32_t frame)
{
	const struct sx_street *st = &s->street;
	double step = side ? 0.045 : -0.04; /* walking speed, m per frame */
	double way = s->pose.z - step * (double)frame;

	for (int64_t k = sx_floor(way / 7); 7.0 * (double)k < way + 80; k++) {
		uint64_t h = sx_mix(st->seed, D_WALK + 100 * (uint64_t)side, (uint64_t)k);
		double across = 0.9 + (st->pavement - 1.5) * sx_unit(sx_mix(h, 4, 2));
		double z = 7.0 * (double)k + 5 * sx_unit(sx_mix(h, 5, 2)) - way;

		if (sx_unit(h) < st->people && z > SX_SEEN_FROM)
			add_person(s, (side ? st->kerb_right + across : st->kerb_left - across) - s->pose.x,
				   z, (double)frame / 26 + sx_unit(h), h);
	}
}

static void set_pose(struct sx_scene *s, uint32_t frame)
{
	const struct sx_street *st = &s->street;
	struct sx_pose *p = &s->pose;
	double n = (double)frame, phase = sx_pick(st->seed, D_STREET, 20, 0, 1);

	p->z = sx_pick(st->seed, D_STREET, 21, 0, 900) + st->speed * n;
	p->x = 0.15 * sx_wave(n / 310 + phase);
	sx_place_pitch(p, s->camera.pitch_deg + 0.12 * sx_wave(n / 47 + phase) + 0.05 * sx_wave(n / 17));
}

void sx_street_build(struct sx_scene *s, uint32_t frame)
{
	set_pose(s, frame);
	add_ground(s);
	add_hills(s);
	if (s->street.cargo) {
		sx_cargo_add(s, frame);
		return;
	}
	add_traffic(s, frame);
	for (int side = 0; side < 2; side++) {
		if (is_built(&s->street, side) || (s->street.open && side))
			add_parked(s, side);
		if (!is_built(&s->street, side))
			continue;
		add_people(s, side, frame);
		add_furniture(s, side);
	}
	add_houses(s);
	if (s->street.verge.on) {
		sx_verge_add(s);
		sx_verge_finish(s);
	}
	if (s->street.relief != SX_RELIEF_FLAT)
		sx_terrain_apply(s, frame);
}
