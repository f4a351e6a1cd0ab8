/*
 * What stands beside the streets of the scenes with motion: pavements, houses, gardens, parked cars.
 *
 * Everything is placed by stations of the route's middle and by a distance aside, so that straight streets and bends
 * are built alike. Streets that cross a straight one interrupt it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>

#include <stixel.h>

#include "base/contract.h"
#include "capture/scene/scene_model.h"
#include "capture/scene/scene_moving.h"
#include "capture/scene/scene_place.h"

#define STATION 3.0    /* distance of stations of a bend, m */
#define BEHIND 12.0    /* distance behind the camera at which a street begins, m */
#define AHEAD 170.0    /* distance ahead at which it ends, m */
#define FRONT 12.0     /* length of a house's front, m */
#define SIDE_TO 180.0  /* end of the streets that cross, m from the middle */
#define MARKING_AT 3.4 /* line at the edge of the lane, m from the middle */
#define PAINT_UP 0.002 /* paint lies above the road, m */

enum dice { D_FRONT = 1400, D_PARKED, D_LAMP, D_TREE, D_SIGN, D_ZEBRA, D_SIDE };

static uint64_t seed_of(const struct sx_scene *s, enum dice what, int64_t i)
{
	return sx_mix(s->motion->episode.seed, (uint64_t)what, (uint64_t)i);
}

static struct sx_place place_at(const struct sx_scene *s, double way, double aside)
{
	return sx_path_at(&s->motion->episode.route, way, aside);
}

static void point_at(const struct sx_scene *s, double way, double aside, double ret[2])
{
	const struct sx_place p = place_at(s, way, aside);

	ret[0] = p.x;
	ret[1] = p.z;
}

/* Way of the camera along the route. It is close to the camera's own way. */
static double camera_way(const struct sx_scene *s)
{
	return s->motion->moved[0].way;
}

/* Returns true if no street that crosses is nearer to this part of the route than `apart`, m. */
static bool is_off_crossings(const struct sx_scene *s, double from, double to, double apart)
{
	const struct sx_episode *e = &s->motion->episode;

	for (int i = 0; i < e->side_streets; i++) /* straight streets begin at z = -40 */
		if (to - 40 > e->side_street[i] - SX_STREET_HALF - apart &&
		    from - 40 < e->side_street[i] + SX_STREET_HALF + apart)
			return false;
	return true;
}

static bool is_off_walks(const struct sx_scene *s, double from, double to)
{
	const struct sx_episode *e = &s->motion->episode;

	for (int i = 0; i < e->walks; i++)
		if (to - 40 > e->walk[i] - 1.2 && from - 40 < e->walk[i] + 3.6)
			return false;
	return true;
}

static double distance(const double a[2], const double b[2])
{
	const double dx = b[0] - a[0], dz = b[1] - a[1];

	return sqrt(dx * dx + dz * dz);
}

/* Adds a level quadrangle between two lines: from (way0, near), (way1, near) outwards to `wide` more. */
static void add_slab(struct sx_scene *s, double way0, double way1, double near, double wide)
{
	const double far = near + (near < 0 ? -wide : wide);
	double a[2][2], b[2][2], u[2], width, length[2], v[2], inset[2];
	struct sx_facet *f = sx_place_facet(s, SX_MATERIAL_PAVEMENT, STIXEL_GROUND, 148, 0);
	bool grows;

	point_at(s, way0, near, a[0]);
	point_at(s, way1, near, a[1]);
	point_at(s, way0, far, b[0]);
	point_at(s, way1, far, b[1]);
	length[0] = distance(a[0], a[1]);
	length[1] = distance(b[0], b[1]);
	grows = length[1] > length[0]; /* a trapezoid becomes narrower along v: begin with its longer side */
	for (int k = 0; k < 2; k++)
		u[k] = grows ? (b[1][k] - b[0][k]) / length[1] : (a[1][k] - a[0][k]) / length[0];
	/* distance of the two lines */
	v[0] = near < 0 ? -u[1] : u[1];
	v[1] = near < 0 ? u[0] : -u[0];
	width = (b[0][0] - a[0][0]) * v[0] + (b[0][1] - a[0][1]) * v[1];
	for (int k = 0; k < 2; k++)
		inset[k] = ((b[k][0] - a[k][0]) * u[0] + (b[k][1] - a[k][1]) * u[1]) * (k ? -1 : 1) *
			   (grows ? -1 : 1);
	sx_place_flat(f, grows ? b[0][0] : a[0][0], s->street.kerb_height, grows ? b[0][1] : a[0][1],
		      grows ? length[1] : length[0], width);
	sx_set_vector(f->u, u[0], 0, u[1]);
	sx_set_vector(f->v, grows ? -v[0] : v[0], 0, grows ? -v[1] : v[1]);
	f->inset[0] = inset[0] > 0 ? (float)inset[0] : 0;
	f->inset[1] = inset[1] > 0 ? (float)inset[1] : 0;
	f->shape = inset[0] > 1e-6 || inset[1] > 1e-6 ? SX_SHAPE_TRAPEZOID : SX_SHAPE_RECTANGLE;
	f->s_texture = way0;
}

static void add_kerb(struct sx_scene *s, const double from[2], const double to[2], double texture)
{
	struct sx_facet *f =
		sx_garden_between(s, SX_MATERIAL_KERB, 168, 0, from, to, 0, s->street.kerb_height);

	f->kind = STIXEL_GROUND;
	f->object = 0;
	f->s_texture = texture;
}

/* Adds a line of paint from way0 to way1. */
static void add_line(struct sx_scene *s, double way0, double way1, double aside, double width)
{
	double a[2], b[2], length;
	struct sx_facet *f = sx_place_facet(s, SX_MATERIAL_MARKING, STIXEL_GROUND, 205, 3);

	point_at(s, way0, aside, a);
	point_at(s, way1, aside, b);
	length = distance(a, b);
	sx_place_flat(f, a[0], PAINT_UP, a[1], width, length);
	sx_set_vector(f->v, (b[0] - a[0]) / length, 0, (b[1] - a[1]) / length);
	sx_set_vector(f->u, f->v[2], 0, -f->v[0]);
	f->t_texture = way0;
}

static void add_facade(struct sx_scene *s, const double from[2], const double to[2], uint64_t h)
{
	const double height = 3.1 * (double)(2 + (h >> 8) % 4) + 0.6;
	struct sx_facet *f = sx_garden_between(
		s, SX_MATERIAL_FACADE, 85 + 95 * (float)sx_unit(sx_mix(h, 2, 2)), h, from, to, 0, height);

	f->detail[0] = 2.9f + 0.1f * (float)((h >> 16) % 5);
	f->detail[1] = 1.9f + 0.25f * (float)((h >> 20) % 6);
	f->detail[2] = f->detail[1] * (0.45f + 0.05f * (float)((h >> 24) % 4));
	f->detail[3] = (h >> 28) % 3 == 0 ? 1 : 0;
	s->next_object++;
}

/*
 * Adds the wall at the side of a house, at one end of its front. It is a little within the house, since the front
 * of another house may begin at the same corner. other: the other end of the front.
 */
static void add_side_wall(struct sx_scene *s, const double end[2], const double other[2], const double out[2],
			  uint64_t h)
{
	const double share = 0.05 / distance(end, other);
	const double corner[2] = {end[0] + share * (other[0] - end[0]), end[1] + share * (other[1] - end[1])};
	const double back[2] = {corner[0] + 11 * out[0], corner[1] + 11 * out[1]};
	struct sx_facet *f = sx_garden_between(s, SX_MATERIAL_WALL, 85 + 90 * (float)sx_unit(sx_mix(h, 2, 2)),
					       h, corner, back, 0, 3.1 * (double)(2 + (h >> 8) % 4) + 0.6);

	f->detail[3] = 1;
}

/*
 * Adds what is behind the pavement, between two points: a house, a garden with fence, hedge or trees, or a wall of
 * equal planks. out: away from the street.
 */
static void add_front(struct sx_scene *s, const double from[2], const double to[2], const double out[2],
		      uint64_t h)
{
	const int kind = (int)(h % 10);
	const double middle[2] = {0.5 * (from[0] + to[0]), 0.5 * (from[1] + to[1])};
	double back[2][2];

	if (kind < 5) {
		add_facade(s, from, to, h);
		add_side_wall(s, from, to, out, h);
		add_side_wall(s, to, from, out, h);
		return;
	}
	for (int k = 0; k < 2; k++) {
		back[0][k] = from[k] + 2.2 * out[k];
		back[1][k] = to[k] + 2.2 * out[k];
	}
	if (kind < 8) {
		sx_garden_fence(s, from, to, 0.09, 1.0 + 0.1 * (double)((h >> 8) % 4), h);
		if ((h >> 12) % 2)
			sx_garden_hedge(s, back[0], back[1], 1.5 + 0.1 * (double)((h >> 16) % 8), h);
	} else {
		struct sx_facet *f = sx_garden_between(s, SX_MATERIAL_WALL, 120 + 60 * (float)sx_unit(h), h,
						       from, to, 0, 1.9);

		f->detail[2] = 1;
		s->next_object++;
	}
	for (int i = 0; i < 2; i++)
		if ((h >> (20 + i)) % 2)
			sx_garden_tree(s, middle[0] + (4 + 2 * i) * out[0] + (i ? 2.5 : -2.5) * out[1],
				       middle[1] + (4 + 2 * i) * out[1] - (i ? 2.5 : -2.5) * out[0],
				       s->motion->pose.course, sx_mix(h, 7, (uint64_t)i));
	for (int k = 0; k < 2; k++) {
		back[0][k] = from[k] + 14 * out[k];
		back[1][k] = to[k] + 14 * out[k];
	}
	add_facade(s, back[0], back[1], sx_mix(h, 8, 1));
}

/* Adds a front beside the route. */
static void add_route_front(struct sx_scene *s, double way0, double way1, double aside, uint64_t h)
{
	const struct sx_turn t = sx_turn_of(place_at(s, 0.5 * (way0 + way1), 0).course);
	const double sign = aside < 0 ? -1 : 1, out[2] = {sign * t.cosine, -sign * t.sine};
	double from[2], to[2];

	point_at(s, way0, aside, from);
	point_at(s, way1, aside, to);
	add_front(s, from, to, out, h);
}

/* Adds lamps, trees, signs between the kerb and the people. */
static void add_furniture(struct sx_scene *s, int side, double from, double to)
{
	const double sign = side ? 1 : -1;

	for (int64_t k = sx_floor(from / 12); 12.0 * (double)k < to; k++) {
		const uint64_t h = seed_of(s, D_TREE, 2 * k + side);
		const double way = 12.0 * (double)k;
		const struct sx_place p = place_at(s, way, sign * (SX_STREET_HALF + 0.55));
		const struct sx_spot spot = sx_spot_at(p.x, p.z, p.course);

		if (way < from || !is_off_crossings(s, way, way, 4) || !is_off_walks(s, way - 0.5, way + 0.5))
			continue;
		if ((k + side) % 3 == 0) {
			sx_model_facing(s, SX_MATERIAL_POLE, 92, h, p.x, 0, p.z, 0.14, 6.8);
			sx_model_across(s, &spot, SX_MATERIAL_POLE, 92, h,
					(const double[3]){side ? -1.7 : 0, 6.7, 0.01}, 1.7, 0.12);
			sx_model_shadow(s, &spot, 0.1, 0.1, 2);
			s->next_object++;
		} else if (h % 3) {
			sx_garden_tree(s, p.x, p.z, p.course, h);
		} else if ((h >> 8) % 2) {
			struct sx_facet *f;

			sx_model_facing(s, SX_MATERIAL_POLE, 120, h, p.x, 0, p.z, 0.08, 2.3);
			f = sx_model_across(s, &spot, SX_MATERIAL_SIGN, 215, h,
					    (const double[3]){-0.32, 2.2, -0.06}, 0.64, 0.64);
			f->shape = h % 2 ? SX_SHAPE_ELLIPSE : SX_SHAPE_RECTANGLE;
			f->light = 1;
			s->next_object++;
		}
	}
}

/* Adds parked cars, and vans that hide the people who cross behind them. */
static void add_parked(struct sx_scene *s, int side, double from, double to)
{
	const double aside = side ? SX_STREET_PARKED : -SX_STREET_PARKED;

	for (int64_t k = sx_floor(from / 6.3); 6.3 * (double)k < to; k++) {
		const uint64_t h = seed_of(s, D_PARKED, 2 * k + side);
		double way = 6.3 * (double)k + 0.6 * sx_unit(sx_mix(h, 3, 1));
		const bool van = (h >> 20) % 6 == 0;
		const struct sx_place p = place_at(s, way, aside);
		struct sx_spot spot;

		if (way < from || sx_unit(h) > 0.55 || !is_off_crossings(s, way - 3, way + 3, 7) ||
		    !is_off_walks(s, way - 3, way + (side ? 9 : 3)))
			continue;
		spot = sx_spot_at(p.x, p.z, p.course + (side ? 0 : SX_PI));
		sx_model_vehicle(s, &spot, van, h);
	}
	for (int i = 0; side && i < s->motion->episode.walks; i++) {
		const uint64_t h = seed_of(s, D_ZEBRA, i);
		const double way = s->motion->episode.walk[i] + 40 - 4.4;

		/* facets of a fixed place, whatever the grid of the others */
		if (h % 3 && way > from && way < to && is_off_crossings(s, way - 3, way + 3, 1)) {
			const struct sx_place p = place_at(s, way, aside);
			const struct sx_spot spot = sx_spot_at(p.x, p.z, p.course);

			sx_model_vehicle(s, &spot, true, h);
		}
	}
}

static void add_zebras(struct sx_scene *s, double from, double to)
{
	const struct sx_episode *e = &s->motion->episode;

	for (int i = 0; i < e->walks; i++) {
		const double way = e->walk[i] + 40;

		if (seed_of(s, D_ZEBRA, i) % 2 || way < from || way > to)
			continue;
		for (int k = -6; k < 6; k++)
			add_line(s, way - 0.6, way + 2.8, k + 0.25, 0.5);
	}
}

/* Adds a part of the route's sides without streets that cross. */
static void add_sides(struct sx_scene *s, double from, double to, double step, bool bend)
{
	for (double way = from; way < to - 1e-6; way += step) {
		const double end = way + step < to ? way + step : to;

		for (int side = -1; side <= 1; side += 2) {
			const double kerb = side * SX_STREET_HALF;
			double a[2], b[2];

			add_slab(s, way, end, kerb, bend ? 4.5 : SIDE_TO);
			point_at(s, way, kerb, a);
			point_at(s, end, kerb, b);
			add_kerb(s, a, b, way);
			add_line(s, way, end, side * MARKING_AT - 0.06, 0.12);
		}
	}
}

static void add_dashes(struct sx_scene *s, double from, double to)
{
	for (int64_t k = sx_floor(from / 9); 9.0 * (double)k < to; k++) {
		const double way = 9.0 * (double)k;

		if (is_off_crossings(s, way, way + 3, 0))
			add_line(s, way, way + 3, -0.06, 0.12);
	}
}

/* Adds the sides of a bend. Each station has the same things in every frame. */
static void add_bend(struct sx_scene *s)
{
	const double now = camera_way(s);
	const double from = STATION * (double)sx_floor((now - BEHIND) / STATION),
		     to = from + BEHIND + AHEAD - 20;

	add_sides(s, from, to, STATION, true);
	/* two pieces for each front: long ones would cut into the pavement of a bend */
	for (int64_t k = sx_floor(from / FRONT) * 2; 0.5 * FRONT * (double)k < to; k++)
		for (int side = 0; side < 2; side++)
			add_route_front(s, 0.5 * FRONT * (double)k, 0.5 * FRONT * (double)(k + 1),
					side ? SX_STREET_HOUSES : -SX_STREET_HOUSES,
					seed_of(s, D_FRONT, 2 * sx_floor(0.5 * (double)k) + side));
}

/* Adds the fronts of a block that lie along a street that crosses at z, towards `sign` from there. */
static void add_side_fronts(struct sx_scene *s, double z, int sign, int side, int64_t number)
{
	const double at = z + sign * SX_STREET_HOUSES, out[2] = {0, sign},
		     x0 = side * (SX_STREET_HOUSES + 0.0);

	for (int i = 0; i < 4; i++) {
		const double a[2] = {x0 + side * 12.0 * i, at}, b[2] = {x0 + side * 12.0 * (i + 1), at};

		add_front(s, a, b, out,
			  seed_of(s, D_SIDE, 16 * number + 4 * (side > 0) + 8 * (sign > 0) + i));
	}
}

/* Adds the block between two streets that cross: z of their middles. */
static void add_block(struct sx_scene *s, double z0, double z1, int64_t number)
{
	const double from = z0 + SX_STREET_HALF, to = z1 - SX_STREET_HALF, now = s->pose.z;
	const double first = z0 + SX_STREET_HOUSES, last = z1 - SX_STREET_HOUSES;
	const int fronts = (int)((last - first) / FRONT + 0.5);

	if (to < now - BEHIND || from > now + AHEAD || last - first < 1)
		return;
	add_sides(s, from + 40, to + 40, to - from, false);
	for (int side = -1; side <= 1; side += 2) {
		const double kerb = side * SX_STREET_HALF, far = side * (SX_STREET_HALF + SIDE_TO);

		add_kerb(s, (const double[2]){kerb, from}, (const double[2]){far, from}, 0);
		add_kerb(s, (const double[2]){kerb, to}, (const double[2]){far, to}, 0);
		for (int i = 0; i < fronts; i++) {
			const double length = (last - first) / fronts, z = first + i * length;

			if (z + length > now - 2 && z < now + AHEAD)
				add_route_front(s, z + 40, z + length + 40, side * SX_STREET_HOUSES,
						seed_of(s, D_FRONT, 64 * number + 2 * i + (side > 0)));
		}
		if (first > now - 2)
			add_side_fronts(s, z0, 1, side, number);
		if (last < now + AHEAD && last > now - 30)
			add_side_fronts(s, z1, -1, side, number + 1);
	}
}

static void add_straight(struct sx_scene *s)
{
	const struct sx_episode *e = &s->motion->episode;
	double z = -60;

	for (int i = 0; i <= e->side_streets; i++) {
		const double next = i < e->side_streets ? e->side_street[i] : z + 200;

		add_block(s, z, next, i);
		z = next;
	}
}

void sx_town_add(struct sx_scene *s)
{
	const double now = camera_way(s), from = now - BEHIND, to = now + AHEAD;

	if (s->motion->kind == SX_EPISODE_BEND)
		add_bend(s);
	else
		add_straight(s);
	add_dashes(s, from, to);
	add_zebras(s, from, to);
	for (int side = 0; side < 2; side++) {
		add_parked(s, side, from + 4, to);
		add_furniture(s, side, from + 4, to);
	}
}
