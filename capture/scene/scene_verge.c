/*
 * Roadside objects (grass banks, guard rails, fences), and a road that tilts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/scene_verge.h"

#include <stixel.h>

#include "base/contract.h"
#include "capture/scene/scene_place.h"
#include "capture/scene/scene_world.h"

#define DICE 600
#define SECTION 16.0 /* length of a section of rail or fence, m; a section is complete or absent */
#define SECTIONS 8
#define RAIL_POSTS 4.0	 /* distance between two posts, m */
#define BANK_FROM 2.6	 /* least distance from the kerb to a bank, m: the bank is behind the rail */
#define MIRRORED_TO 70.0 /* largest distance of objects that are reflected, m */

static double dice(const struct sx_scene *s, int64_t number, double lo, double hi)
{
	return sx_pick(s->street.seed, DICE, number, lo, hi);
}

/*
 * Chooses the spots of flare. They lie on a line through the image's middle, and differ between the two
 * lenses.
 */
static void choose_flare(struct sx_scene *s)
{
	sx_must(s->params.width, >, 0);
	double w = s->params.width, h = s->params.height, px = s->camera.fx / 721.5;
	double x = dice(s, 20, -0.4, 0.4), y = dice(s, 21, -0.3, -0.45);

	for (int i = 0; i < SX_FLARE_SPOTS; i++) {
		double along = dice(s, 30 + i, -1, 1);

		for (int side = 0; side < 2; side++) {
			double aside = side ? dice(s, 40 + i, -60, 60) * px : 0;

			s->street.verge.flare[i].x[side] = (float)((0.5 + along * x) * w + aside);
			s->street.verge.flare[i].y[side] =
				(float)((0.5 + along * y) * h + (side ? dice(s, 50 + i, -6, 6) * px : 0));
		}
		s->street.verge.flare[i].radius = (float)(dice(s, 60 + i, 7, 26) * px);
		s->street.verge.flare[i].light = (float)dice(s, 70 + i, 20, 60);
	}
}

void sx_verge_init(struct sx_scene *s)
{
	s->street.verge = (struct sx_verge){
		.on = true,
		.town_side = dice(s, 0, 0, 1) < 0.5,
		.cross = dice(s, 1, -0.0524, 0.0524),
		.grass = dice(s, 2, BANK_FROM, 4.5),
		.bank_grade = dice(s, 3, 0.2, 0.5),
		.bank_rise = dice(s, 4, 0.5, 2.5),
		.rail_top = dice(s, 5, 0.3, 0.7),
		.fence_top = dice(s, 6, 0.9, 1.2),
		.glare_at = (float)dice(s, 7, -0.4, 0.4),
		.glare_width = (float)dice(s, 8, 0.35, 0.8),
		.glare = (float)dice(s, 9, 110, 190),
		.wet = (float)dice(s, 10, 0.25, 0.6),
	};
	s->street.kerb_height = dice(s, 11, 0.08, 0.15);
	s->street.parked *= 0.4; /* more parked cars would hide fence and pavement */
	choose_flare(s);
}

void sx_verge_ground(struct sx_scene *s, int side, double x, double texture_z)
{
	const struct sx_verge *v = &s->street.verge;
	const double out = side ? 1 : -1, high = s->street.kerb_height;
	const double widths[] = {v->grass, v->bank_rise / v->bank_grade, 3000};
	double at = x, y = high, way = 0;

	sx_must_index(side, 2);
	for (int i = 0; i < 3; i++) {
		struct sx_facet *f = sx_place_facet(s, SX_MATERIAL_GRASS, STIXEL_GROUND, 104, 0);
		double length, rise = i == 1 ? v->bank_rise : 0;

		sx_place_flat(f, at, y, 0.5, 0, SX_GROUND_TO);
		sx_set_vector(f->u, out * widths[i], rise, 0);
		length = sx_normalise(f->u);
		f->s1 = length;
		f->s_texture = way + 2;
		f->t_texture = texture_z;
		f->light = i == 1 ? 0.92f : 1;
		at += out * widths[i];
		y += rise;
		way += length;
	}
}

/* Adds a beam, with posts behind it. */
static void add_rail(struct sx_scene *s, double x, double z, uint64_t h)
{
	const double top = s->street.verge.rail_top, high = top > 0.4 ? 0.3 : 0.2;
	const double ground = s->street.kerb_height;
	struct sx_facet *f = sx_place_facet(s, SX_MATERIAL_RAIL, STIXEL_OBJECT, 150, h);

	sx_place_along(f, &s->street, x, top - high, z, SECTION, high);
	for (int i = 0; i < (int)(SECTION / RAIL_POSTS); i++) {
		f = sx_place_facet(s, SX_MATERIAL_POLE, STIXEL_OBJECT, 110, h);
		sx_place_across(f, x - 0.06 + (x > 0 ? 0.08 : -0.08), ground - 0.1,
				z + RAIL_POSTS * (i + 0.5), 0.12, top - ground + 0.08);
	}
	sx_place_shadow(s, x - 0.1, x + 0.1, z, z + SECTION);
	s->next_object++;
}

/* Adds bars. Objects behind them are visible between the bars. */
static void add_fence(struct sx_scene *s, double x, double z, uint64_t h)
{
	const double ground = s->street.kerb_height;
	struct sx_facet *f = sx_place_facet(s, SX_MATERIAL_POLE, STIXEL_OBJECT,
					    40 + 30 * (float)sx_unit(sx_mix(h, 1, 1)), h);

	sx_place_along(f, &s->street, x, ground, z, SECTION, s->street.verge.fence_top);
	f->shape = SX_SHAPE_BARS;
	s->next_object++;
}

void sx_verge_add(struct sx_scene *s)
{
	const struct sx_street *st = &s->street;
	const int town = st->verge.town_side;
	double kerbs[2] = {st->kerb_left - s->pose.x, st->kerb_right - s->pose.x};
	double fence = kerbs[town] + (town ? 0.3 : -0.3), rail = kerbs[!town] + (town ? -0.6 : 0.6);

	for (int64_t k = sx_floor(s->pose.z / SECTION), end = k + SECTIONS; k < end; k++) {
		uint64_t h = sx_mix(st->seed, DICE + 1, (uint64_t)k);
		double z = SECTION * (double)k - s->pose.z;

		if (h % 4)
			add_rail(s, rail, z, h);
		if ((h >> 8) % 5 < 3)
			add_fence(s, fence, z, h);
	}
}

/* Returns the plane of all windows that mirror, m to the right of the camera. */
static double window_line(const struct sx_scene *s)
{
	const struct sx_street *st = &s->street;

	return (st->verge.town_side ? st->kerb_right + st->pavement : st->kerb_left - st->pavement) -
	       s->pose.x;
}

void sx_verge_window(struct sx_scene *s, int side, double x, double z0, double z1, uint64_t h)
{
	const bool lit = s->weather.dark && h % 3 == 0;
	struct sx_facet *f;

	if (!lit && s->weather.glass <= 0)
		return;
	f = sx_place_facet(s, lit ? SX_MATERIAL_LAMP : SX_MATERIAL_WINDOW, STIXEL_OBJECT, lit ? 170 : 45, h);
	sx_place_along(f, &s->street, (lit ? x : window_line(s)) + (side ? -0.01 : 0.01), 0.4, z0 + 0.6,
		       z1 - z0 - 1.2, 2.2);
	f->light = 1;
	if (!lit)
		return;
	f->detail[0] = (float)(2 + h % 4); /* panes */
	f->detail[1] = 1;
	f->detail[2] = 30;
}

/* Mirrors a facet in the windows' plane. A pavement is cut off there. */
static void mirror_in_window(const struct sx_scene *s, struct sx_facet *f)
{
	const double line = window_line(s);

	if (f->material == SX_MATERIAL_PAVEMENT) {
		const double to = s->street.verge.cross * (line - f->origin[0]);

		if (!s->street.verge.town_side) {
			f->origin[0] = line;
			f->origin[1] += to;
		}
		f->s1 = s->street.pavement;
	}
	f->origin[0] = 2 * line - f->origin[0];
	f->u[0] = -f->u[0];
	f->v[0] = -f->v[0];
}

/* Adds the street as the windows mirror it. */
static void add_behind_windows(struct sx_scene *s)
{
	const double line = window_line(s);

	for (int i = 0; i < s->count && s->mirrored_to < SX_FACETS_MAX; i++) {
		struct sx_facet *f = &s->facets[i];
		const double x = f->material == SX_MATERIAL_PAVEMENT ? 0 : f->origin[0];

		if (f->origin[2] > MIRRORED_TO || f->shape == SX_SHAPE_BARS ||
		    (s->street.verge.town_side ? x > line - 0.05 : x < line + 0.05))
			continue;
		f = &s->facets[s->mirrored_to++];
		*f = s->facets[i];
		mirror_in_window(s, f);
	}
}

/* Adds the reflected world: the objects on the road, upside down below it. */
static void add_mirrored(struct sx_scene *s)
{
	sx_must(s->count, <=, SX_FACETS_MAX);
	for (int i = 0; i < s->count && s->mirrored_to < SX_FACETS_MAX; i++) {
		struct sx_facet *f = &s->facets[i];

		if (f->kind != STIXEL_OBJECT || f->origin[2] > MIRRORED_TO || f->shape == SX_SHAPE_BARS)
			continue;
		f = &s->facets[s->mirrored_to++];
		*f = s->facets[i];
		f->origin[1] = -f->origin[1];
		f->u[1] = -f->u[1];
		f->v[1] = -f->v[1];
	}
}

void sx_verge_finish(struct sx_scene *s)
{
	const bool windows = s->weather.glass > 0;

	s->mirrored_to = s->count;
	if (!windows)
		add_mirrored(s);
	for (int i = 0; i < s->mirrored_to; i++)
		sx_place_sheared(&s->facets[i], 0, s->street.verge.cross, 0, 0);
	if (windows)
		add_behind_windows(s);
}
