/*
 * Things in a room. All are built of cuboids, except for round legs and persons, which face the camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/scene_thing.h"

#include <stddef.h>

#include <stixel.h>

#include "base/contract.h"
#include "capture/scene/scene_place.h"
#include "capture/scene/scene_world.h"

#define FRAME 0.04 /* width of the frame of a pane, m */

/* Directions of a thing in the room: its right side and its back. */
struct axes {
	double right[2], back[2];
};

static struct axes axes_of(double turn)
{
	const double scale = 1 / (1 + turn * turn), c = (1 - turn * turn) * scale, s = 2 * turn * scale;

	return (struct axes){{c, -s}, {s, c}};
}

/* Returns the place at (right, back) of a thing's middle. */
static void place_of(const struct sx_thing_place *p, double right, double back, double ret[2])
{
	const struct axes a = axes_of(p->turn);

	ret[0] = p->x + right * a.right[0] + back * a.back[0];
	ret[1] = p->z + right * a.right[1] + back * a.back[1];
}

/* Returns the brightness of an upright face. n: its normal. */
static float light_on(const struct sx_scene *s, const double n[2])
{
	const double facing = n[0] * s->room.light[0] + n[1] * s->room.light[1];

	return 0.78f - 0.2f * (float)facing;
}

static struct sx_facet *add_face(struct sx_scene *s, const struct sx_cuboid *c)
{
	struct sx_facet *f =
		sx_place_facet(s, (enum sx_material)c->material, STIXEL_OBJECT, c->grey, c->seed);

	for (int i = 0; i < 4; i++)
		f->detail[i] = c->detail[i];
	f->part = c->part;
	return f;
}

/* Adds an upright face from the corner (right, back), in halves of the size, along one of the axes. */
static void add_side(struct sx_scene *s, const struct sx_cuboid *c, const struct axes *a, const int corner[2],
		     bool along_back)
{
	const double r = 0.5 * c->width * corner[0], b = 0.5 * c->depth * corner[1];
	const double *u = along_back ? a->back : a->right, *other = along_back ? a->right : a->back;
	const double sign = along_back ? corner[0] : corner[1], n[2] = {sign * other[0], sign * other[1]};
	struct sx_facet *f = add_face(s, c);

	sx_place_across(f, c->x + r * a->right[0] + b * a->back[0], c->y,
			c->z + r * a->right[1] + b * a->back[1], along_back ? c->depth : c->width, c->height);
	sx_set_vector(f->u, u[0], 0, u[1]);
	f->light = light_on(s, n);
}

static void add_lid(struct sx_scene *s, const struct sx_cuboid *c, const struct axes *a, double y,
		    float light)
{
	const double r = 0.5 * c->width, b = 0.5 * c->depth;
	struct sx_facet *f = add_face(s, c);

	sx_place_flat(f, c->x - r * a->right[0] - b * a->back[0], y, c->z - r * a->right[1] - b * a->back[1],
		      c->width, c->depth);
	sx_set_vector(f->u, a->right[0], 0, a->right[1]);
	sx_set_vector(f->v, a->back[0], 0, a->back[1]);
	f->light = light;
}

void sx_thing_cuboid(struct sx_scene *s, const struct sx_cuboid *c)
{
	static const int near_left[2] = {-1, -1}, near_right[2] = {1, -1}, far_left[2] = {-1, 1};
	const struct axes a = axes_of(c->turn);

	add_side(s, c, &a, near_left, false);
	add_side(s, c, &a, far_left, false);
	add_side(s, c, &a, near_left, true);
	add_side(s, c, &a, near_right, true);
	if (c->y + c->height < s->camera.height_m)
		add_lid(s, c, &a, c->y + c->height, 1.06f);
	if (c->y > s->camera.height_m)
		add_lid(s, c, &a, c->y, 0.55f);
}

/* Adds a cuboid of a thing: its middle (right, back) from the thing's, and its height above the floor. */
static void add_part(struct sx_scene *s, const struct sx_thing_place *p, const struct sx_cuboid *like,
		     double right, double back, double up)
{
	struct sx_cuboid c = *like;
	double at[2];

	place_of(p, right, back, at);
	c.x = at[0];
	c.z = at[1];
	c.y = p->y + up;
	c.turn = p->turn;
	c.part = SX_PART_THING;
	c.seed = sx_mix(p->seed, 40, (uint64_t)s->count);
	sx_thing_cuboid(s, &c);
}

/* Places an upright facet that faces the camera, with its middle at x, z. */
static void place_facing(struct sx_scene *s, struct sx_facet *f, double x, double y, double z, double width,
			 double height)
{
	const struct sx_room_pose *p = &s->room.pose;

	sx_place_across(f, x - 0.5 * width * p->cosine, y, z + 0.5 * width * p->sine, width, height);
	sx_set_vector(f->u, p->cosine, 0, -p->sine);
	f->part = SX_PART_THING;
}

/* Adds a leg: round, or square like the wood of the furniture. */
static void add_leg(struct sx_scene *s, const struct sx_thing_place *p, const struct sx_cuboid *wood,
		    double right, double back)
{
	struct sx_facet *f;
	double at[2];

	if (wood->material != SX_MATERIAL_POLE) {
		add_part(s, p, wood, right, back, 0);
		return;
	}
	place_of(p, right, back, at);
	f = sx_place_facet(s, SX_MATERIAL_POLE, STIXEL_OBJECT, wood->grey, p->seed);
	place_facing(s, f, at[0], p->y, at[1], wood->width, wood->height);
}

static void add_four_legs(struct sx_scene *s, const struct sx_thing_place *p, const struct sx_cuboid *leg,
			  double right, double back)
{
	add_leg(s, p, leg, -right, -back);
	add_leg(s, p, leg, right, -back);
	add_leg(s, p, leg, -right, back);
	add_leg(s, p, leg, right, back);
}

/* Adds a shadow: half its extents, the width of its rim, m, and its strength. */
static void add_shadow(struct sx_scene *s, const struct sx_thing_place *p, double right, double back,
		       double rim, float dark)
{
	const double x = p->x + 0.3 * rim * s->room.light[0], z = p->z + 0.3 * rim * s->room.light[1];
	const bool aside = p->turn > 0.5 || p->turn < -0.5;
	const double a = aside ? back : right, b = aside ? right : back;
	const struct sx_shadow shadow = {(float)(x - a), (float)(x + a),   (float)(z - b),
					 (float)(z + b), (float)(1 / rim), dark};

	sx_place_soft(s, &shadow);
}

static float grey_of(const struct sx_thing_place *p, uint64_t what, double lo, double hi)
{
	return (float)sx_pick(p->seed, what, 0, lo, hi);
}

/* Returns the wood or the metal of a piece of furniture, with legs of 2 to 5 cm. */
static struct sx_cuboid leg_of(const struct sx_thing_place *p, double height)
{
	const bool round = p->seed % 3 == 0;
	const double wide = sx_pick(p->seed, 10, 0, 0.02, round ? 0.035 : 0.05);

	return (struct sx_cuboid){
		.width = wide,
		.depth = wide,
		.height = height,
		.material = round ? SX_MATERIAL_POLE : SX_MATERIAL_TIMBER,
		.grey = round ? grey_of(p, 11, 40, 190) : grey_of(p, 12, 60, 170),
	};
}

static struct sx_cuboid board_of(const struct sx_cuboid *leg, double width, double height, double depth)
{
	struct sx_cuboid c = *leg;

	c.width = width;
	c.height = height;
	c.depth = depth;
	c.material = SX_MATERIAL_TIMBER;
	return c;
}

static void add_chair(struct sx_scene *s, const struct sx_thing_place *p)
{
	const struct sx_cuboid leg = leg_of(p, 0.44), seat = board_of(&leg, 0.43, 0.03, 0.42),
			       post = board_of(&leg, leg.width, 0.42, leg.width);
	const struct sx_cuboid back = board_of(&leg, 0.38, p->seed >> 8 & 1 ? 0.32 : 0.12, 0.02);

	add_four_legs(s, p, &leg, 0.19, 0.18);
	add_part(s, p, &seat, 0, 0, 0.44);
	add_part(s, p, &post, -0.19, 0.19, 0.47);
	add_part(s, p, &post, 0.19, 0.19, 0.47);
	add_part(s, p, &back, 0, 0.19, 0.87 - back.height);
	add_shadow(s, p, 0.26, 0.26, 0.3, 0.35f);
}

static void add_table(struct sx_scene *s, const struct sx_thing_place *p)
{
	const double half = sx_pick(p->seed, 13, 0, 0.35, 0.7);
	struct sx_cuboid leg = leg_of(p, 0.71), top;

	leg.width = leg.depth = sx_pick(p->seed, 14, 0, 0.035, 0.05);
	top = board_of(&leg, 2 * half + 0.1, 0.03, 0.8);
	add_four_legs(s, p, &leg, half, 0.33);
	add_part(s, p, &top, 0, 0, 0.71);
	add_shadow(s, p, half, 0.4, 0.5, 0.4f);
}

static void add_stool(struct sx_scene *s, const struct sx_thing_place *p)
{
	const struct sx_cuboid leg = leg_of(p, 0.44), seat = board_of(&leg, 0.34, 0.03, 0.34);

	add_four_legs(s, p, &leg, 0.14, 0.14);
	add_part(s, p, &seat, 0, 0, 0.44);
	add_shadow(s, p, 0.2, 0.2, 0.25, 0.3f);
}

static void add_box(struct sx_scene *s, const struct sx_thing_place *p)
{
	struct sx_cuboid c = {.material = SX_MATERIAL_CARD, .grey = grey_of(p, 15, 90, 170)};

	if (p->kind == SX_THING_BOX) {
		c.width = sx_pick(p->seed, 16, 0, 0.25, 0.55);
		c.depth = sx_pick(p->seed, 17, 0, 0.2, 0.4);
		c.height = sx_pick(p->seed, 18, 0, 0.2, 0.5);
	} else {
		c.width = c.depth = c.height = p->kind == SX_THING_BOX_5 ? 0.05 : 0.1;
	}
	add_part(s, p, &c, 0, 0, 0);
	add_shadow(s, p, 0.5 * c.width + 0.01, 0.5 * c.depth + 0.01, 0.3 * c.height + 0.02, 0.4f);
}

static void add_sofa(struct sx_scene *s, const struct sx_thing_place *p)
{
	struct sx_cuboid c = {.material = SX_MATERIAL_FABRIC, .grey = grey_of(p, 19, 50, 150)}, leg;

	leg = (struct sx_cuboid){
		.width = 0.05, .height = 0.1, .depth = 0.05, .material = SX_MATERIAL_TIMBER, .grey = 60};
	add_four_legs(s, p, &leg, 0.7, 0.3);
	c.width = 1.6;
	c.height = 0.32;
	c.depth = 0.8;
	add_part(s, p, &c, 0, 0, 0.1);
	c.height = 0.4;
	c.depth = 0.2;
	add_part(s, p, &c, 0, 0.3, 0.42);
	c.width = 0.16;
	c.height = 0.22;
	c.depth = 0.8;
	add_part(s, p, &c, -0.72, 0, 0.42);
	add_part(s, p, &c, 0.72, 0, 0.42);
	add_shadow(s, p, 0.8, 0.4, 0.12, 0.6f);
}

static void add_cupboard(struct sx_scene *s, const struct sx_thing_place *p)
{
	const bool painted = p->seed >> 12 & 1;
	struct sx_cuboid c = {
		.width = sx_pick(p->seed, 20, 0, 0.5, 1.2),
		.height = sx_pick(p->seed, 21, 0, 0.7, 1.9),
		.depth = 0.42,
		.material = SX_MATERIAL_PANEL,
		.grey = painted ? grey_of(p, 22, 120, 205) : grey_of(p, 23, 80, 150),
		.detail = {2, (float)(1 + (p->seed >> 16) % 4), painted ? 0 : 4},
	};

	add_part(s, p, &c, 0, 0, 0);
	add_shadow(s, p, 0.5 * c.width, 0.5 * c.depth, 0.1, 0.5f);
}

/* A part of a person: middle, underside, size at the top and at the bottom, m; how far it stands back. */
struct limb {
	double aside, low, top, width_top, width_low, back;
	float grey;
};

/* Adds a limb, which faces the camera. */
static struct sx_facet *add_limb(struct sx_scene *s, const struct sx_thing_place *p, const struct limb *l)
{
	struct sx_facet *f = sx_place_facet(s, SX_MATERIAL_FABRIC, STIXEL_OBJECT, l->grey, p->seed);
	const struct sx_room_pose *c = &s->room.pose;
	const double inset = 0.5 * (l->width_top - l->width_low);

	place_facing(s, f, p->x + l->aside * c->cosine + l->back * c->sine, p->y + l->top,
		     p->z - l->aside * c->sine + l->back * c->cosine, l->width_top, l->top - l->low);
	sx_set_vector(f->v, 0, -1, 0); /* trapezoids become narrower along v */
	f->shape = inset > 0 ? SX_SHAPE_TRAPEZOID : SX_SHAPE_RECTANGLE;
	f->inset[0] = f->inset[1] = (float)inset;
	f->detail[0] = 0.4f;
	return f;
}

static void add_person(struct sx_scene *s, const struct sx_thing_place *p)
{
	const double h = sx_pick(p->seed, 24, 0, 1.55, 1.9), stride = sx_pick(p->seed, 25, 0, 0, 0.12);
	const float shirt = grey_of(p, 26, 50, 190), trousers = grey_of(p, 28, 30, 120),
		    skin = grey_of(p, 29, 110, 170);
	const struct sx_cuboid shoe = {.width = 0.1,
				       .height = 0.07,
				       .depth = 0.27,
				       .material = SX_MATERIAL_FABRIC,
				       .grey = grey_of(p, 27, 20, 90)};
	const struct limb limbs[] = {
		{-0.09 - 0.5 * stride, 0.05, 0.5 * h, 0.18, 0.11, -stride, trousers},
		{0.09 + 0.5 * stride, 0.05, 0.5 * h, 0.18, 0.11, stride, trousers},
		{0, 0.47 * h, 0.82 * h, 0.42, 0.33, 0, shirt},
		{-0.24, 0.43 * h, 0.81 * h, 0.11, 0.07, -0.03, shirt},
		{0.24, 0.43 * h, 0.81 * h, 0.11, 0.07, -0.03, shirt},
		{0, 0.8 * h, 0.88 * h, 0.11, 0.11, 0.01, skin},
	};
	const struct limb head = {0, 0.86 * h, h, 0.17, 0.17, -0.03, skin};
	struct sx_thing_place facing = *p;

	for (size_t i = 0; i < sizeof(limbs) / sizeof(limbs[0]); i++)
		add_limb(s, p, &limbs[i]);
	add_limb(s, p, &head)->shape = SX_SHAPE_ELLIPSE;
	facing.turn = s->room.pose.sine / (1 + s->room.pose.cosine);
	for (int i = 0; i < 2; i++)
		add_part(s, &facing, &shoe, limbs[i].aside, limbs[i].back - 0.05, 0);
	add_shadow(s, p, 0.25, 0.2, 0.25, 0.4f);
}

double sx_thing_radius(enum sx_thing kind)
{
	static const double radius[SX_THINGS] = {
		[SX_THING_BOX_5] = 0.05, [SX_THING_BOX_10] = 0.09, [SX_THING_BOX] = 0.34,
		[SX_THING_CHAIR] = 0.34, [SX_THING_TABLE] = 0.85,  [SX_THING_STOOL] = 0.26,
		[SX_THING_PERSON] = 0.3, [SX_THING_SOFA] = 0.9,	   [SX_THING_CUPBOARD] = 0.62,
	};

	sx_must_index(kind, SX_THINGS);
	return radius[kind];
}

void sx_thing_add(struct sx_scene *s, const struct sx_thing_place *p)
{
	switch (p->kind) {
	case SX_THING_BOX_5:
	case SX_THING_BOX_10:
	case SX_THING_BOX:
		add_box(s, p);
		break;
	case SX_THING_CHAIR:
		add_chair(s, p);
		break;
	case SX_THING_TABLE:
		add_table(s, p);
		break;
	case SX_THING_STOOL:
		add_stool(s, p);
		break;
	case SX_THING_PERSON:
		add_person(s, p);
		break;
	case SX_THING_SOFA:
		add_sofa(s, p);
		break;
	case SX_THING_CUPBOARD:
		add_cupboard(s, p);
		break;
	case SX_THINGS:
		break;
	}
	s->next_object++;
}

void sx_thing_pane(struct sx_scene *s, double x0, double x1, double y, double z, double height, uint64_t seed)
{
	struct sx_facet *f;

	if (s->room.pane_count == SX_ROOM_PANES_MAX)
		return;
	f = sx_place_facet(s, SX_MATERIAL_PAINT, STIXEL_OBJECT, (float)sx_pick(seed, 30, 0, 50, 180), seed);
	sx_place_across(f, x0, y, z, x1 - x0, height);
	f->shape = SX_SHAPE_PANE;
	f->inset[0] = f->inset[1] = (float)FRAME;
	f->part = SX_PART_THING;
	s->room.panes[s->room.pane_count++] = s->count - 1;
	s->next_object++;
}
