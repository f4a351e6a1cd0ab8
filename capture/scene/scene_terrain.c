/*
 * Streets that are not flat. First the flat street is built. Then its ground is cut into pieces that climb or
 * fall, and each object is put on the new ground. Cars tilt with the road under them. Houses stay level and
 * get higher walls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include <stixel.h>

#include "base/contract.h"
#include "capture/scene/scene_place.h"
#include "capture/scene/scene_world.h"

#define DICE 500
#define APPROACH 16.0 /* distance that the camera drives before it is put back, m */
#define END 5000.0    /* m; beyond the end of the ground */
#define BEND_PIECES 4 /* pieces of the curve between flat and steep */
#define LEANS_TO 8.0  /* m; longer objects stay level */

static double dice(const struct sx_street *st, uint64_t number, double lo, double hi)
{
	return sx_pick(st->seed, DICE, (int64_t)number, lo, hi);
}

static void add_knot(struct sx_terrain *t, double dz, double grade)
{
	sx_must_index(t->count, sizeof(t->z) / sizeof(t->z[0]));
	t->z[t->count] = t->z[t->count - 1] + dz;
	t->y[t->count] = t->y[t->count - 1] + grade * dz;
	t->count++;
}

/*
 * Sets the profile from z on: a curve of length `bend` up to `grade`, which continues for `length`, then
 * level.
 */
static void set_profile(struct sx_terrain *t, double z, double grade, double bend, double length)
{
	t->z[0] = z;
	t->y[0] = 0;
	t->count = 1;
	for (int i = 0; i < BEND_PIECES; i++)
		add_knot(t, bend / BEND_PIECES, grade * (i + 0.5) / BEND_PIECES);
	add_knot(t, length, grade);
	add_knot(t, END, 0);
}

static void choose(struct sx_scene *s, uint32_t frame)
{
	const struct sx_street *st = &s->street;
	struct sx_terrain *t = &s->terrain;
	double way = st->speed * (double)frame + dice(st, 0, 0, APPROACH), grade;
	double ahead = APPROACH - (way - APPROACH * (double)sx_floor(way / APPROACH));

	t->from_x = -END;
	switch (st->relief) {
	case SX_RELIEF_FLAT:
		t->count = 0;
		return;
	case SX_RELIEF_CLIMB:
		set_profile(t, 9 + ahead, dice(st, 1, 0.05, 0.10), dice(st, 2, 8, 20), dice(st, 3, 60, 110));
		return;
	case SX_RELIEF_FALL:
		/*
		 * the camera cannot see a road that falls more than 1.65 m over a length equal to the
		 * distance of its edge
		 */
		grade = dice(st, 1, 0.03, 0.06);
		set_profile(t, 9 + ahead, -grade, dice(st, 2, 8, 20), dice(st, 3, 60, 110));
		return;
	case SX_RELIEF_RAMP:
		set_profile(t, 8 + ahead, dice(st, 1, 0.07, 0.14), 4, dice(st, 2, 14, 26));
		t->from_x = (dice(st, 4, 0, 1) < 0.5 ? -1.75 : st->kerb_right) - s->pose.x;
		return;
	}
}

static double height_at(const struct sx_terrain *t, double x, double z)
{
	int i = 0;

	if (x < t->from_x || z <= t->z[0])
		return 0;
	sx_must(t->count, >, 1);
	while (i < t->count - 2 && z > t->z[i + 1])
		i++;
	return t->y[i] + (t->y[i + 1] - t->y[i]) * ((z - t->z[i]) / (t->z[i + 1] - t->z[i]));
}

/* Copies a facet. NULL: no room. The array has three times the room that a street needs. */
static struct sx_facet *copy(struct sx_scene *s, const struct sx_facet *f)
{
	sx_must(s->count, <=, SX_FACETS_MAX);
	if (s->count == SX_FACETS_MAX)
		return NULL;
	s->facets[s->count] = *f;
	return &s->facets[s->count++];
}

/*
 * Bends ground facet i, whose u (kerbs) or v leads along the street. Its parts after the first knot become
 * new facets.
 */
static void bend(struct sx_scene *s, int i)
{
	const struct sx_terrain *t = &s->terrain;
	const struct sx_facet whole = s->facets[i];
	const bool kerb = whole.u[2] > 0;
	double from = whole.origin[2], to = from + (kerb ? whole.s1 : whole.t1), way;

	sx_must_index(i, s->count);
	if (to <= t->z[0])
		return;
	way = t->z[0] - from;
	*(kerb ? &s->facets[i].s1 : &s->facets[i].t1) = way;
	for (int k = 0; k + 1 < t->count && t->z[k] < to; k++) {
		struct sx_facet *f = copy(s, &whole);
		double dz = (t->z[k + 1] < to ? t->z[k + 1] : to) - t->z[k], *along, length;

		if (!f)
			return;
		along = kerb ? f->u : f->v;
		f->origin[1] += t->y[k];
		f->origin[2] = t->z[k];
		along[1] = (t->y[k + 1] - t->y[k]) / (t->z[k + 1] - t->z[k]);
		length = dz * sx_normalise(along);
		*(kerb ? &f->s1 : &f->t1) = length;
		*(kerb ? &f->s_texture : &f->t_texture) += way;
		way += length;
	}
}

static void bend_ground(struct sx_scene *s)
{
	const double from_x = s->terrain.from_x;
	const int count = s->count;

	for (int i = 0; i < count; i++) {
		struct sx_facet *f = &s->facets[i];
		double left = f->origin[0], right = f->u[0] > 0 ? left + f->s1 : left;

		if (f->kind != STIXEL_GROUND)
			continue;
		if (left >= from_x) {
			bend(s, i);
		} else if (right > from_x) { /* the left part stays unchanged */
			struct sx_facet *part = copy(s, f);

			if (!part)
				return;
			f->s1 = from_x - left;
			part->origin[0] = from_x;
			part->s1 = right - from_x;
			part->s_texture += f->s1;
			bend(s, s->count - 1);
		}
	}
}

/* Adds the wall under a ramp's edge. The part of it under the flat ground is hidden. */
static void add_ramp_wall(struct sx_scene *s)
{
	const struct sx_terrain *t = &s->terrain;

	sx_must(t->count, >, 0);
	for (int k = 0; k + 1 < t->count; k++) {
		struct sx_facet f = {
			.origin = {t->from_x, t->y[k], t->z[k]},
			.u = {0, t->y[k + 1] - t->y[k], t->z[k + 1] - t->z[k]},
			.v = {0, -1, 0},
			.s_texture = t->z[k] - t->z[0],
			.t1 = t->y[t->count - 1] + 0.2,
			.grey = 120,
			.light = 0.86f - 0.24f * s->street.sun_side,
			.detail = {0, 0, 0, 1},
			.seed = sx_mix(s->street.seed, DICE, 99),
			.object = s->next_object,
			.kind = STIXEL_OBJECT,
			.shape = SX_SHAPE_RECTANGLE,
			.material = SX_MATERIAL_WALL,
		};

		f.s1 = sx_normalise(f.u);
		copy(s, &f);
	}
	s->next_object++;
}

/*
 * Computes how far the object of facets [first, end) reaches along the street, and its position across the
 * street.
 */
static void extent(const struct sx_scene *s, int first, int end, double z[2], double *x)
{
	const struct sx_facet *f = &s->facets[first];

	sx_must(first, <, end);
	*x = f->origin[0] + 0.5 * (f->s1 * f->u[0] + f->t1 * f->v[0]);
	z[0] = z[1] = f->origin[2];
	for (int i = first; i < end; i++) {
		double a, b;

		f = &s->facets[i];
		a = f->origin[2];
		b = a + f->s1 * f->u[2] + f->t1 * f->v[2];
		z[0] = a < z[0] ? a : z[0];
		z[1] = b > z[1] ? b : z[1];
	}
}

static void lift(struct sx_scene *s, int first, int end)
{
	sx_must_be(first >= 0 && first < end && end <= s->count);
	double z[2], x, near, far, grade;

	extent(s, first, end, z, &x);
	near = height_at(&s->terrain, x, z[0]);
	far = height_at(&s->terrain, x, z[1]);
	if (z[1] - z[0] <= LEANS_TO) {
		grade = z[1] - z[0] > 0.1 ? (far - near) / (z[1] - z[0]) : 0;
		for (int i = first; i < end; i++)
			sx_place_sheared(&s->facets[i], near, 0, grade, z[0]);
		return;
	}
	for (int i = first; i < end; i++) {
		struct sx_facet *f = &s->facets[i];

		f->origin[1] += near < far ? near : far;
		f->t1 += near < far ? far - near : near - far;
	}
}

void sx_terrain_apply(struct sx_scene *s, uint32_t frame)
{
	const int count = s->count;

	choose(s, frame);
	for (int i = 0; i < count;) {
		int end = i + 1;

		while (end < count && s->facets[end].object == s->facets[i].object)
			end++;
		if (s->facets[i].kind == STIXEL_OBJECT)
			lift(s, i, end);
		i = end;
	}
	bend_ground(s);
	if (s->terrain.from_x > -END)
		add_ramp_wall(s);
}
