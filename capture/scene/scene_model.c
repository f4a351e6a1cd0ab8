/*
 * Models of vehicles, persons and robots for scenes with motion.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/scene_model.h"

#include <math.h>

#include <stixel.h>

#include "base/contract.h"
#include "capture/scene/scene_place.h"

#define SHADOWS_TO 70.0 /* largest distance of a shadow, m */
#define STRIDE 1.45	/* way of a person in two steps, m */
#define PEDALS 2.8	/* way of a cyclist in a turn of the pedals, m */

struct sx_spot sx_spot_at(double x, double z, double course)
{
	return (struct sx_spot){x, z, sx_turn_of(course)};
}

void sx_spot_place(const struct sx_spot *p, double right, double ahead, double ret[2])
{
	ret[0] = p->x + right * p->turn.cosine + ahead * p->turn.sine;
	ret[1] = p->z - right * p->turn.sine + ahead * p->turn.cosine;
}

float sx_model_light(const struct sx_scene *s, double x, double z)
{
	const double sun = (double)s->street.sun_side;

	return 0.86f + (float)(0.2 * (x * sun + z * (sun * sun - 0.5)));
}

/* Sets a facet's origin, at (right, y, ahead) of a spot. */
static void put_origin(struct sx_facet *f, const struct sx_spot *p, const double corner[3])
{
	double at[2];

	sx_spot_place(p, corner[0], corner[2], at);
	sx_set_vector(f->origin, at[0], corner[1], at[1]);
}

/* Adds an upright facet that goes from the corner of a spot in a direction on the ground: cosine to x, sine to z. */
static struct sx_facet *put_upright(struct sx_scene *s, const struct sx_spot *p, enum sx_material material,
				    float grey, uint64_t seed, const double corner[3], double width,
				    double height, struct sx_turn direction)
{
	struct sx_facet *f = sx_place_facet(s, material, STIXEL_OBJECT, grey, seed);

	sx_place_across(f, 0, 0, 0, width, height);
	put_origin(f, p, corner);
	sx_set_vector(f->u, direction.cosine, 0, direction.sine);
	return f;
}

struct sx_facet *sx_model_across(struct sx_scene *s, const struct sx_spot *p, enum sx_material material,
				 float grey, uint64_t seed, const double corner[3], double width,
				 double height)
{
	const double out = corner[2] < 0 ? -1 : 1;
	struct sx_facet *f = put_upright(s, p, material, grey, seed, corner, width, height,
					 (struct sx_turn){p->turn.cosine, -p->turn.sine});

	f->light = sx_model_light(s, out * p->turn.sine, out * p->turn.cosine);
	return f;
}

struct sx_facet *sx_model_along(struct sx_scene *s, const struct sx_spot *p, enum sx_material material,
				float grey, uint64_t seed, const double corner[3], double length,
				double height)
{
	const double out = corner[0] < 0 ? -1 : 1;
	struct sx_facet *f = put_upright(s, p, material, grey, seed, corner, length, height,
					 (struct sx_turn){p->turn.sine, p->turn.cosine});

	f->light = sx_model_light(s, out * p->turn.cosine, -out * p->turn.sine);
	return f;
}

struct sx_facet *sx_model_level(struct sx_scene *s, const struct sx_spot *p, enum sx_material material,
				int kind, float grey, uint64_t seed, const double corner[3], double width,
				double length)
{
	struct sx_facet *f = sx_place_facet(s, material, kind, grey, seed);

	sx_place_flat(f, 0, 0, 0, width, length);
	put_origin(f, p, corner);
	sx_set_vector(f->u, p->turn.cosine, 0, -p->turn.sine);
	sx_set_vector(f->v, p->turn.sine, 0, p->turn.cosine);
	return f;
}

/* Returns the direction to the right of a viewer who looks from the camera to x, z. */
static void right_of_view(const struct sx_scene *s, double x, double z, double ret[2])
{
	const double dx = x - s->pose.x, dz = z - s->pose.z, length = sqrt(dx * dx + dz * dz);

	ret[0] = length > 1e-6 ? dz / length : 1;
	ret[1] = length > 1e-6 ? -dx / length : 0;
}

struct sx_facet *sx_model_facing(struct sx_scene *s, enum sx_material material, float grey, uint64_t seed,
				 double x, double y, double z, double width, double height)
{
	struct sx_facet *f = sx_place_facet(s, material, STIXEL_OBJECT, grey, seed);
	double right[2];

	right_of_view(s, x, z, right);
	sx_place_across(f, x - 0.5 * width * right[0], y, z - 0.5 * width * right[1], width, height);
	sx_set_vector(f->u, right[0], 0, right[1]);
	return f;
}

void sx_model_shadow(struct sx_scene *s, const struct sx_spot *p, double half_width, double half_length,
		     double height)
{
	const double sun = (double)s->street.sun_side, reach = 0.35 * (height > 2 ? 2 : height);
	const double dx = p->x - s->pose.x, dz = p->z - s->pose.z, rim = height < 1 ? 0.06 : 0.15;
	const struct sx_shadow shadow = {
		.x0 = (float)(-half_width - rim),
		.x1 = (float)(half_width + rim),
		.z0 = (float)(-half_length - rim),
		.z1 = (float)(half_length + rim),
		.sharp = (float)(0.6 / rim),
		.dark = 0.5f,
		/* away from the sun */
		.x = (float)(p->x - reach * sun),
		.z = (float)(p->z - reach * (sun * sun - 0.5)),
		.cosine = (float)p->turn.cosine,
		.sine = (float)p->turn.sine,
	};

	if (dx * dx + dz * dz < SHADOWS_TO * SHADOWS_TO)
		sx_place_soft(s, &shadow);
}

/* A box whose hidden faces are left out. at: its middle from the spot, and its underside, m. */
struct block {
	enum sx_material end, side, top;
	float grey;
	uint64_t seed;
	double right, y, ahead, width, height, length;
};

/* Returns true if a face may be seen. n: its normal to the right and ahead of the spot; out: distance of it. */
static bool is_seen(const struct sx_scene *s, const struct sx_spot *p, double right, double ahead, double out)
{
	const double x = s->pose.x - p->x, z = s->pose.z - p->z;
	const double to_right = x * p->turn.cosine - z * p->turn.sine,
		     to_ahead = x * p->turn.sine + z * p->turn.cosine;

	/* the right camera sees more, and sx_view_draw() finds what is hidden */
	return to_right * right + to_ahead * ahead > out - 1;
}

/* Adds the faces that may be seen. Returns the first one; the last one is the newest of the scene. */
static void add_block(struct sx_scene *s, const struct sx_spot *p, const struct block *b)
{
	const double r = 0.5 * b->width, l = 0.5 * b->length;
	const double corners[3][3] = {{b->right - r, b->y, b->ahead - l},
				      {b->right - r, b->y, b->ahead + l},
				      {b->right + r, b->y, b->ahead - l}};

	if (is_seen(s, p, 0, -1, l - b->ahead))
		sx_model_across(s, p, b->end, b->grey, b->seed, corners[0], b->width, b->height);
	if (is_seen(s, p, 0, 1, l + b->ahead))
		sx_model_across(s, p, b->end, b->grey, b->seed, corners[1], b->width, b->height);
	if (is_seen(s, p, -1, 0, r - b->right))
		sx_model_along(s, p, b->side, b->grey, b->seed, corners[0], b->length, b->height);
	if (is_seen(s, p, 1, 0, r + b->right))
		sx_model_along(s, p, b->side, b->grey, b->seed, corners[2], b->length, b->height);
	if (b->y + b->height < s->camera.height_m + 0.3) {
		const double lid[3] = {b->right - r, b->y + b->height, b->ahead - l};

		sx_model_level(s, p, b->top, STIXEL_OBJECT, b->grey, b->seed, lid, b->width, b->length)
			->light = 1.05f;
	}
}

void sx_model_cuboid(struct sx_scene *s, const struct sx_spot *p, enum sx_material material, float grey,
		     uint64_t seed, double y, double width, double height, double length)
{
	const struct block b = {material, material, material, grey, seed, 0, y, 0, width, height, length};
	const int first = s->count;

	add_block(s, p, &b);
	for (int i = first; i < s->count; i++) {
		s->facets[i].detail[0] = material == SX_MATERIAL_BOX ? 0.05f : 0.6f;
		s->facets[i].detail[1] = grey > 120 ? 60 : 200;
	}
}

/* Adds a pane that leans. from: distance ahead of its foot; lean: of its top, to the same side. */
static void add_pane(struct sx_scene *s, const struct sx_spot *p, const struct block *body, double ahead,
		     double lean, double rise)
{
	const double width = body->width - 0.16, slope = sqrt(lean * lean + rise * rise);
	const double corner[3] = {-0.5 * width, body->y + body->height, ahead};
	struct sx_facet *f =
		sx_model_across(s, p, SX_MATERIAL_GLASS, body->grey, body->seed, corner, width, slope);

	sx_set_vector(f->v, lean / slope * p->turn.sine, rise / slope, lean / slope * p->turn.cosine);
}

/* Adds the cabin of a car between `rear` and `front` ahead of its middle. */
static void add_cabin(struct sx_scene *s, const struct sx_spot *p, const struct block *body, double rear,
		      double front, double rise)
{
	const double rear_lean = 0.38, front_lean = 0.62, out = 0.5 * body->width - 0.08,
		     y = body->y + body->height;
	const double width = body->width - 0.16;

	add_pane(s, p, body, rear, rear_lean, rise);
	add_pane(s, p, body, front, -front_lean, rise);
	for (int side = -1; side <= 1; side += 2) {
		const double corner[3] = {side * out, y, rear};
		struct sx_facet *f;

		if (!is_seen(s, p, side, 0, out))
			continue;
		f = sx_model_along(s, p, SX_MATERIAL_CABIN_SIDE, body->grey, body->seed, corner, front - rear,
				   rise);
		f->inset[0] = (float)rear_lean;
		f->inset[1] = (float)front_lean;
		f->shape = SX_SHAPE_TRAPEZOID;
	}
	sx_model_level(s, p, SX_MATERIAL_CAR_TOP, STIXEL_OBJECT, body->grey, body->seed,
		       (const double[3]){-0.5 * width, y + rise, rear + rear_lean}, width,
		       front - rear - rear_lean - front_lean);
}

static void add_car(struct sx_scene *s, const struct sx_spot *p, double length, double width, double height,
		    uint64_t seed)
{
	const double waist = 0.86 + 0.03 * (double)((seed >> 8) % 4);
	const double boot = (seed >> 16) % 2 ? 0.12 : 0.6, bonnet = 1.05;
	const struct block body = {SX_MATERIAL_CAR_BACK,
				   SX_MATERIAL_CAR_SIDE,
				   SX_MATERIAL_CAR_TOP,
				   38 + 180 * (float)sx_unit(sx_mix(seed, 3, 3)),
				   seed,
				   0,
				   0,
				   0,
				   width,
				   waist,
				   length};
	const int first = s->count;

	add_block(s, p, &body);
	for (int i = first; i < s->count; i++) /* head lights, or tail lights */
		if (s->facets[i].material == SX_MATERIAL_CAR_BACK) {
			const double x = s->facets[i].origin[0] - p->x, z = s->facets[i].origin[2] - p->z;

			s->facets[i].detail[0] = x * p->turn.sine + z * p->turn.cosine > 0 ? 235 : 62;
		}
	add_cabin(s, p, &body, boot - 0.5 * length, 0.5 * length - bonnet, height - waist);
	sx_model_shadow(s, p, 0.5 * width, 0.5 * length, height);
}

static void add_van(struct sx_scene *s, const struct sx_spot *p, double length, double width, double height,
		    uint64_t seed)
{
	const float grey = 38 + 180 * (float)sx_unit(sx_mix(seed, 3, 3));
	const int first = s->count;

	sx_model_cuboid(s, p, SX_MATERIAL_BOX, grey, seed, 0, width, height, length);
	for (int i = first; i < s->count; i++)
		s->facets[i].detail[0] = 0.32f;
	sx_model_shadow(s, p, 0.5 * width, 0.5 * length, height);
}

void sx_model_vehicle(struct sx_scene *s, const struct sx_spot *p, bool van, uint64_t seed)
{
	struct sx_mover m;

	sx_mover_init(&m, van ? SX_MOVER_VAN : SX_MOVER_CAR, seed);
	if (van)
		add_van(s, p, m.length, m.width, m.height, seed);
	else
		add_car(s, p, m.length, m.width, m.height, seed);
	s->next_object++;
}

/*
 * Adds a limb between two points (right, y, ahead of the spot) that faces the camera. before: distance by which it
 * is nearer to the camera, m.
 */
static void add_limb(struct sx_scene *s, const struct sx_spot *p, float grey, const double foot[3],
		     const double top[3], double width, double before)
{
	double a[2], b[2], right[2], way[3], length;
	struct sx_facet *f =
		sx_place_facet(s, SX_MATERIAL_FABRIC, STIXEL_OBJECT, grey, sx_mix((uint64_t)grey, 1, 7));

	sx_spot_place(p, foot[0], foot[2], a);
	sx_spot_place(p, top[0], top[2], b);
	right_of_view(s, p->x, p->z, right);
	sx_set_vector(way, b[0] - a[0], top[1] - foot[1], b[1] - a[1]);
	length = sx_normalise(way);
	sx_place_across(f, a[0] - 0.5 * width * right[0] + before * right[1], foot[1],
			a[1] - 0.5 * width * right[1] - before * right[0], width, length);
	sx_set_vector(f->u, right[0], 0, right[1]);
	sx_set_vector(f->v, way[0], way[1], way[2]);
	f->detail[0] = 0.4f;
}

/* Adds a trunk that is wider at its shoulders, and a head. */
static void add_trunk(struct sx_scene *s, const struct sx_spot *p, float grey, const double hip[3],
		      const double shoulder[3], double width)
{
	add_limb(s, p, grey, shoulder, hip, width, 0);
	s->facets[s->count - 1].shape = SX_SHAPE_TRAPEZOID;
	s->facets[s->count - 1].inset[0] = s->facets[s->count - 1].inset[1] = (float)(0.12 * width);
}

static void add_head(struct sx_scene *s, const struct sx_spot *p, float grey, uint64_t seed, double ahead,
		     double y)
{
	double at[2];
	struct sx_facet *f;

	sx_spot_place(p, 0, ahead, at);
	f = sx_model_facing(s, SX_MATERIAL_FABRIC, grey, seed, at[0], y, at[1], 0.17, 0.24);
	f->shape = SX_SHAPE_ELLIPSE;
	f->detail[0] = 0.4f;
}

/* Returns how much of something's side a viewer sees, 0..1: 0 from before and behind. */
static double side_seen(const struct sx_scene *s, const struct sx_spot *p)
{
	double right[2], dot;

	right_of_view(s, p->x, p->z, right);
	dot = right[0] * p->turn.sine + right[1] * p->turn.cosine;
	return dot < 0 ? -dot : dot;
}

static void add_person(struct sx_scene *s, const struct sx_spot *p, const struct sx_mover *m,
		       const struct sx_moved *at)
{
	const double h = m->height, side = side_seen(s, p), speed = at->speed < 0 ? -at->speed : at->speed;
	const double much = speed > 1.2 ? 1 : speed / 1.2, phase = at->way / STRIDE;
	const float shirt = (float)sx_pick(m->seed, 26, 0, 45, 195),
		    trousers = (float)sx_pick(m->seed, 28, 0, 30, 120),
		    skin = (float)sx_pick(m->seed, 29, 0, 110, 175);

	for (int leg = 0; leg < 2; leg++) {
		const double swing = much * sx_sine_wave(phase + 0.5 * leg), out = leg ? 0.09 : -0.09;
		const double lift = much * 0.08 * sx_sine_wave(phase + 0.25 + 0.5 * leg);
		const double foot[3] = {out, 0.05 + (lift > 0 ? lift : 0), 0.30 * swing},
			     hip[3] = {out, 0.5 * h, 0}, hand[3] = {2.6 * out, 0.44 * h, -0.22 * swing},
			     shoulder[3] = {2.2 * out, 0.8 * h, 0};
		double sole[2];

		add_limb(s, p, trousers, foot, hip, 0.16, 0.02 * leg);
		sx_spot_place(p, out, foot[2] + 0.04, sole);
		sx_model_facing(s, SX_MATERIAL_FABRIC, 0.5f * trousers, m->seed, sole[0], foot[1] - 0.05,
				sole[1], 0.1 + 0.16 * side, 0.08);
		add_limb(s, p, 0.93f * shirt, hand, shoulder, 0.09, 0.05);
	}
	add_trunk(s, p, shirt, (const double[3]){0, 0.46 * h, 0}, (const double[3]){0, 0.83 * h, 0},
		  0.44 - 0.14 * side);
	add_limb(s, p, skin, (const double[3]){0, 0.81 * h, 0}, (const double[3]){0, 0.9 * h, 0}, 0.1, -0.01);
	add_head(s, p, skin, m->seed, 0.02, h - 0.24);
	sx_model_shadow(s, p, 0.2, 0.15, h);
}

static void add_wheel(struct sx_scene *s, const struct sx_spot *p, uint64_t seed, double ahead, double radius)
{
	const double corner[3] = {0, 0, ahead - radius};
	const double side = side_seen(s, p); /* the tread is seen from before and behind */
	struct sx_facet *f = sx_model_along(s, p, SX_MATERIAL_POLE, 34, seed, corner, 2 * radius, 2 * radius);
	double at[2];

	f->shape = SX_SHAPE_RING;
	f->inset[0] = 0.05f;
	sx_spot_place(p, 0, ahead, at);
	sx_model_facing(s, SX_MATERIAL_POLE, 40, seed, at[0], 0, at[1], 0.004 + 0.05 * (1 - side * side),
			2 * radius);
}

static void add_cyclist(struct sx_scene *s, const struct sx_spot *p, const struct sx_mover *m,
			const struct sx_moved *at)
{
	const float shirt = (float)sx_pick(m->seed, 26, 0, 45, 195),
		    trousers = (float)sx_pick(m->seed, 28, 0, 30, 120),
		    skin = (float)sx_pick(m->seed, 29, 0, 110, 175),
		    paint = (float)sx_pick(m->seed, 30, 0, 40, 200);
	const double seat[3] = {0, 0.95, -0.22}, axle[3] = {0, 0.3, -0.02}, head_tube[3] = {0, 0.88, 0.38},
		     shoulder[3] = {0, 1.42, 0.12}, bar[3] = {-0.28, 1.0, 0.46};

	add_wheel(s, p, m->seed, -0.52, 0.34);
	add_wheel(s, p, m->seed, 0.52, 0.34);
	add_limb(s, p, paint, axle, seat, 0.045, 0);
	add_limb(s, p, paint, axle, head_tube, 0.045, 0);
	add_limb(s, p, paint, seat, head_tube, 0.045, 0);
	add_limb(s, p, paint, (const double[3]){0, 0.34, -0.52}, axle, 0.04, 0);
	add_limb(s, p, paint, (const double[3]){0, 0.34, 0.52}, head_tube, 0.05, 0);
	sx_model_across(s, p, SX_MATERIAL_POLE, 60, m->seed, bar, 0.56, 0.05);
	for (int leg = 0; leg < 2; leg++) {
		const double turn = at->way / PEDALS + 0.5 * leg, out = leg ? 0.1 : -0.1;
		const double pedal[3] = {out, axle[1] + 0.17 * sx_sine_wave(turn + 0.25) + 0.05,
					 axle[2] + 0.17 * sx_sine_wave(turn)};
		const double knee[3] = {out, 0.5 * (pedal[1] + seat[1]) + 0.08,
					0.5 * (pedal[2] + seat[2]) + 0.22};
		const double hip[3] = {out, seat[1], seat[2]}, hand[3] = {2.4 * out, bar[1], bar[2]},
			     arm[3] = {1.9 * out, shoulder[1] - 0.04, shoulder[2]};

		add_limb(s, p, trousers, pedal, knee, 0.12, 0.03);
		add_limb(s, p, trousers, knee, hip, 0.15, 0.03);
		add_limb(s, p, 0.93f * shirt, hand, arm, 0.09, 0.04);
	}
	add_trunk(s, p, shirt, seat, shoulder, 0.42 - 0.1 * side_seen(s, p));
	add_head(s, p, skin, m->seed, 0.22, 1.46);
	sx_model_shadow(s, p, 0.2, 0.8, 1.6);
}

static void add_robot(struct sx_scene *s, const struct sx_spot *p, const struct sx_mover *m)
{
	const float grey = (float)sx_pick(m->seed, 31, 0, 60, 210);
	double at[2];

	sx_model_cuboid(s, p, SX_MATERIAL_BOX, grey, m->seed, 0.07, m->width - 0.1, 0.24, m->length);
	sx_model_cuboid(s, p, SX_MATERIAL_BOX, 250 - grey, m->seed >> 8, 0.31, 0.2, 0.1, 0.2);
	for (int i = 0; i < 4; i++) {
		const double wheel[3] = {(i & 1 ? 0.5 : -0.5) * (m->width - 0.06), 0,
					 (i & 2 ? 0.2 : -0.2) - 0.09};
		struct sx_facet *f = sx_model_along(s, p, SX_MATERIAL_POLE, 36, m->seed, wheel, 0.18, 0.18);

		f->shape = SX_SHAPE_ELLIPSE;
		sx_spot_place(p, wheel[0], wheel[2] + 0.09, at);
		sx_model_facing(s, SX_MATERIAL_POLE, 36, m->seed, at[0], 0, at[1], 0.06, 0.18);
	}
	sx_spot_place(p, 0, -0.1, at);
	sx_model_facing(s, SX_MATERIAL_POLE, 70, m->seed, at[0], 0.4, at[1], 0.03, m->height - 0.35);
	sx_model_shadow(s, p, 0.5 * m->width, 0.5 * m->length, 0.4);
}

void sx_model_mover(struct sx_scene *s, int number)
{
	const struct sx_mover *m = &s->motion->episode.mover[number];
	const struct sx_moved *at = &s->motion->moved[number];
	const struct sx_spot p = sx_spot_at(at->x, at->z, at->course);
	const int first = s->count;

	sx_must(number, >, 0);
	switch (m->kind) {
	case SX_MOVER_CAR:
		add_car(s, &p, m->length, m->width, m->height, m->seed);
		break;
	case SX_MOVER_VAN:
		add_van(s, &p, m->length, m->width, m->height, m->seed);
		break;
	case SX_MOVER_PERSON:
		add_person(s, &p, m, at);
		break;
	case SX_MOVER_CYCLIST:
		add_cyclist(s, &p, m, at);
		break;
	case SX_MOVER_ROBOT:
	case SX_MOVER_CLASSES:
		add_robot(s, &p, m);
		break;
	}
	for (int i = first; i < s->count; i++)
		s->facets[i].mover = (uint16_t)number;
	s->next_object++;
}
