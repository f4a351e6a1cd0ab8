/*
 * Rooms: floor, walls, and which things stand where. Everything is placed in the coordinates of the room, and
 * then turned into those of the camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/scene_room.h"

#include <stixel.h>

#include "base/contract.h"
#include "capture/scene/scene_place.h"
#include "capture/scene/scene_thing.h"
#include "capture/scene/scene_world.h"

#define APPROACH 1.2  /* distance that the robot drives in a room, m */
#define BEHIND 1.0    /* depth of the room behind the first place of the robot, m */
#define UNDER 0.3     /* depth below the floor at which walls begin, m */
#define SEEN_FROM 0.5 /* least distance of a thing from the last place of the robot, m */
#define TAKEN_MAX 24
#define TRIES 30

enum dice { D_CAMERA = 800, D_ROOM, D_FLOOR, D_WALL, D_THING };

/* Material of a surface and its look. */
struct surface {
	enum sx_material material;
	float grey;
	float detail[4];
	uint64_t seed;
};

/* A room: its walls, m from the first place of the robot, and its floor. */
struct plan {
	uint64_t seed;
	double left, right, far, top;
	struct surface floor, other, wall, accent;
	/* edge: z where the height of the floor changes; rise: the change; ramp: length of the slope; m */
	double edge, rise, ramp;
	bool corridor;
	struct circle {
		double x, z, radius;
	} taken[TAKEN_MAX];
	int taken_count;
};

static double pick(const struct plan *r, enum dice what, int64_t i, double lo, double hi)
{
	return sx_pick(r->seed, (uint64_t)what, i, lo, hi);
}

static uint64_t seed_of(uint64_t seed)
{
	return sx_mix(seed, 0x726f6f6d, 1);
}

struct sx_camera sx_room_camera(const struct sx_scene_params *p)
{
	const double scale = 1.0 / SX_ROOM_WIDTH * p->width;

	return (struct sx_camera){
		.fx = 430 * scale,
		.fy = 430 * scale,
		.cx = (319.5 + 0.5) * scale - 0.5,
		.cy = (239.5 + 0.5) / SX_ROOM_HEIGHT * p->height - 0.5,
		.baseline_m = 0.06,
		.height_m = sx_pick(seed_of(p->seed), D_CAMERA, 0, 0.2, 0.5),
	};
}

void sx_room_init(struct sx_scene *s)
{
	const uint64_t h = seed_of(s->params.seed);
	const bool dark = sx_pick(h, D_CAMERA, 1, 0, 1) < 0.1;
	const float level = (float)sx_pick(h, D_CAMERA, 2, 0.8, 1.05) * (dark ? 0.35f : 1);

	s->room = (struct sx_room){.on = true, .dark = dark, .seed = h};
	s->exposure = (struct sx_exposure){
		.seed = h,
		.sky = 200,
		.haze = 1e6f,
		.noise = (float)sx_pick(h, D_CAMERA, 3, 1.6, 3) * (dark ? 2 : 1),
		.gain = {level, level * (float)sx_pick(h, D_CAMERA, 4, 0.92, 1.08)},
		.offset = {0, (float)sx_pick(h, D_CAMERA, 5, -3, 3)},
	};
}

static struct surface floor_of(const struct plan *r, int i)
{
	const double kind = pick(r, D_FLOOR, 10 * i, 0, 1);
	struct surface f = {.seed = sx_mix(r->seed, D_FLOOR, (uint64_t)(10 * i + 1))};

	f.grey = (float)pick(r, D_FLOOR, 10 * i + 2, 85, 165);
	f.detail[0] = (float)pick(r, D_FLOOR, 10 * i + 3, 0.6, 1.4);
	if (kind < 0.35) {
		f.material = SX_MATERIAL_PLANKS;
		f.detail[3] = f.detail[0];
		f.detail[0] = pick(r, D_FLOOR, 10 * i + 4, 0, 1) < 0.3;
		f.detail[1] = (float)pick(r, D_FLOOR, 10 * i + 5, 0.07, 0.2);
		f.detail[2] = (float)pick(r, D_FLOOR, 10 * i + 6, 0.6, 1.8);
	} else if (kind < 0.55) {
		f.material = SX_MATERIAL_CARPET;
	} else if (kind < 0.78) {
		f.material = SX_MATERIAL_LINO;
	} else {
		f.material = SX_MATERIAL_TILES;
		f.grey += 35;
		f.detail[1] = (float)pick(r, D_FLOOR, 10 * i + 5, 0.2, 0.4);
	}
	return f;
}

static struct surface carpet_of(const struct plan *r)
{
	return (struct surface){
		.material = SX_MATERIAL_CARPET,
		.grey = (float)pick(r, D_FLOOR, 30, 60, 170),
		.detail = {(float)pick(r, D_FLOOR, 31, 0.7, 1.4)},
		.seed = sx_mix(r->seed, D_FLOOR, 32),
	};
}

static struct surface wall_of(const struct plan *r, int i, bool white)
{
	const double kind = white ? 0 : pick(r, D_WALL, 10 * i, 0, 1);
	struct surface w = {.seed = sx_mix(r->seed, D_WALL, (uint64_t)(10 * i + 1))};

	w.grey = (float)pick(r, D_WALL, 10 * i + 2, 120, 185);
	w.detail[0] = (float)pick(r, D_WALL, 10 * i + 3, 0.4, 1.2);
	w.detail[2] = (float)pick(r, D_WALL, 10 * i + 4, -0.03, 0.03);
	w.detail[3] = (float)pick(r, D_WALL, 10 * i + 5, 0, 0.05);
	if (kind < 0.5) {
		w.material = SX_MATERIAL_PAINT;
		w.grey += 45;
	} else if (kind < 0.75) {
		w.material = SX_MATERIAL_WALLPAPER;
		w.detail[0] = (float)pick(r, D_WALL, 10 * i + 6, 0, 3);
		w.detail[1] = w.detail[0] < 2 ? (float)pick(r, D_WALL, 10 * i + 7, 0.06, 0.2) : 0.53f;
	} else if (kind < 0.9) {
		w.material = SX_MATERIAL_PLASTER;
	} else {
		w.material = SX_MATERIAL_BRICK;
		w.grey -= 20;
	}
	return w;
}

static enum sx_room_floor choose_floor(struct plan *r)
{
	const double kind = pick(r, D_FLOOR, 40, 0, 1);

	r->edge = APPROACH + pick(r, D_FLOOR, 41, 0.55, 1.5);
	r->other = pick(r, D_FLOOR, 42, 0, 1) < 0.5 ? r->floor : floor_of(r, 1);
	if (kind < 0.22)
		return SX_ROOM_EVEN;
	if (kind < 0.37) {
		r->other = carpet_of(r);
		return SX_ROOM_CARPET;
	}
	if (kind < 0.6) {
		r->rise = SX_ROOM_KERB_M;
		return SX_ROOM_KERB;
	}
	if (kind < 0.8) {
		r->ramp = pick(r, D_FLOOR, 43, 0.8, 2);
		r->rise = r->ramp * pick(r, D_FLOOR, 44, 0.05, 0.175); /* 2.9 to 9.9 degrees */
		return SX_ROOM_RAMP;
	}
	r->rise = -pick(r, D_FLOOR, 45, 0.08, 0.2);
	return SX_ROOM_STEP_DOWN;
}

static void choose_room(struct sx_scene *s, struct plan *r, uint64_t seed)
{
	*r = (struct plan){.seed = seed};
	r->corridor = pick(r, D_ROOM, 0, 0, 1) < 0.15;
	r->left = r->corridor ? pick(r, D_ROOM, 1, 0.75, 1.1) : pick(r, D_ROOM, 2, 1.4, 3.2);
	r->right = r->corridor ? pick(r, D_ROOM, 3, 0.75, 1.1) : pick(r, D_ROOM, 4, 1.4, 3.2);
	r->far = APPROACH + (r->corridor ? pick(r, D_ROOM, 5, 4, 9) : pick(r, D_ROOM, 6, 3, 6));
	r->top = pick(r, D_ROOM, 7, 2.35, 2.8);
	s->room.light[0] = pick(r, D_ROOM, 8, -0.8, 0.8);
	s->room.light[1] = pick(r, D_ROOM, 9, -0.6, 0.6);
	r->floor = floor_of(r, 0);
	r->wall = wall_of(r, 0, r->corridor);
	r->accent = pick(r, D_WALL, 5, 0, 1) < 0.3 ? wall_of(r, 1, false) : r->wall;
	s->room.floor = choose_floor(r);
}

/* Sets the pose of the robot in a room. */
static void set_pose(struct sx_scene *s, const struct plan *r, double way, uint32_t frame)
{
	const double n = (double)frame, phase = pick(r, D_CAMERA, 6, 0, 1);
	/* tangent of half the course */
	const double course = pick(r, D_CAMERA, 7, -0.1, 0.1), turn = course + 0.02 * sx_wave(n / 97 + phase);
	const double scale = 1 / (1 + turn * turn);

	s->room.pose = (struct sx_room_pose){
		.x = 2 * course * way,
		.z = way,
		.cosine = (1 - turn * turn) * scale,
		.sine = 2 * turn * scale,
	};
	s->pose.x = 0;
	s->pose.z = 0;
	sx_place_pitch(&s->pose,
		       s->camera.pitch_deg + 0.15 * sx_wave(n / 23 + phase) + 0.06 * sx_wave(n / 9));
}

/* Adds a facet of a surface. Its texture is fixed to the room. */
static struct sx_facet *add_surface(struct sx_scene *s, const struct surface *of, int kind, enum sx_part part)
{
	struct sx_facet *f = sx_place_facet(s, of->material, kind, of->grey, of->seed);

	for (int i = 0; i < 4; i++)
		f->detail[i] = of->detail[i];
	f->part = (uint8_t)part;
	return f;
}

/* Adds level ground from x0 to x1 and from z0 to z1. */
static void add_level(struct sx_scene *s, const struct surface *of, enum sx_part part, double x0, double x1,
		      double y, double z0, double z1)
{
	struct sx_facet *f = add_surface(s, of, STIXEL_GROUND, part);

	sx_place_flat(f, x0, y, z0, x1 - x0, z1 - z0);
	f->s_texture = x0;
	f->t_texture = z0;
}

static void add_slope(struct sx_scene *s, const struct plan *r)
{
	struct sx_facet *f = add_surface(s, &r->other, STIXEL_GROUND, SX_PART_RAMP);

	sx_place_flat(f, -r->left, 0, r->edge, r->left + r->right, 0);
	sx_set_vector(f->v, 0, r->rise, r->ramp);
	f->t1 = sx_normalise(f->v);
	f->s_texture = -r->left;
	f->t_texture = r->edge;
	f->light = 1.03f;
}

static void add_kerb_front(struct sx_scene *s, const struct plan *r)
{
	struct sx_facet *f = add_surface(s, &r->other, STIXEL_OBJECT, SX_PART_KERB);

	sx_place_across(f, -r->left, 0, r->edge, r->left + r->right, r->rise);
	f->s_texture = -r->left;
	f->light = 0.78f + 0.2f * (float)s->room.light[1];
	s->next_object++;
}

static void add_floor(struct sx_scene *s, const struct plan *r)
{
	const double end = r->far + 0.1, l = -r->left - 0.1, right = r->right + 0.1;
	const bool flat = s->room.floor == SX_ROOM_EVEN || s->room.floor == SX_ROOM_CARPET;
	double x;

	add_level(s, &r->floor, SX_PART_FLOOR, l, right, 0, -BEHIND, flat ? end : r->edge);
	switch (s->room.floor) {
	case SX_ROOM_EVEN:
		return;
	case SX_ROOM_CARPET:
		x = pick(r, D_FLOOR, 46, 0, 1) < 0.4 ? right : pick(r, D_FLOOR, 47, 0.2, 1.1);
		add_level(s, &r->other, SX_PART_FLOOR, x - pick(r, D_FLOOR, 48, 1.2, 2.4), x, 0.007,
			  r->edge - 0.4, r->edge + pick(r, D_FLOOR, 49, 0.8, 2));
		return;
	case SX_ROOM_KERB:
		add_kerb_front(s, r);
		add_level(s, &r->other, SX_PART_OTHER, l, right, r->rise, r->edge, end);
		return;
	case SX_ROOM_RAMP:
		add_slope(s, r);
		add_level(s, &r->other, SX_PART_OTHER, l, right, r->rise, r->edge + r->ramp, end);
		return;
	case SX_ROOM_STEP_DOWN:
		add_level(s, &r->other, SX_PART_LOWER, l, right, r->rise, r->edge, end);
		return;
	}
}

/* Returns the height of the floor. */
static double height_at(const struct plan *r, double z)
{
	if (z <= r->edge)
		return 0;
	return z < r->edge + r->ramp ? r->rise * (z - r->edge) / r->ramp : r->rise;
}

/* A wall: its start, its direction u, its normal n and its length. */
struct wall {
	double x, z, u[2], n[2], length;
};

/* Adds an upright facet parallel to a wall, at the distance `before` in front of it. */
static struct sx_facet *add_on_wall(struct sx_scene *s, const struct wall *w, const struct surface *of,
				    double at, double y, double width, double height, double before)
{
	struct sx_facet *f = add_surface(s, of, STIXEL_OBJECT, SX_PART_WALL);

	sx_place_across(f, w->x + at * w->u[0] + before * w->n[0], y, w->z + at * w->u[1] + before * w->n[1],
			width, height);
	sx_set_vector(f->u, w->u[0], 0, w->u[1]);
	f->light = 0.86f - 0.16f * (float)(w->n[0] * s->room.light[0] + w->n[1] * s->room.light[1]);
	f->s_texture = at;
	f->t_texture = y;
	return f;
}

static void add_window(struct sx_scene *s, const struct plan *r, const struct wall *w, uint64_t h)
{
	const double width = sx_pick(h, 1, 0, 0.9, 1.8), height = sx_pick(h, 2, 0, 0.9, 1.3);
	const struct surface pane = {
		SX_MATERIAL_LAMP, 285, {(float)(1 + h % 3), (float)(1 + (h >> 4) % 2), 190}, h};
	struct sx_facet *f;

	if (width + 0.6 > w->length || r->corridor)
		return;
	f = add_on_wall(s, w, &pane, sx_pick(h, 3, 0, 0.3, w->length - width - 0.3), 0.85, width, height,
			0.01);
	f->light = 1;
	f->part = SX_PART_OTHER;
}

static void add_door(struct sx_scene *s, const struct wall *w, uint64_t h)
{
	const struct surface leaf = {SX_MATERIAL_PANEL,
				     (float)sx_pick(h, 5, 0, 90, 215),
				     {1, (float)(1 + h % 3), h & 8 ? 3 : 0},
				     h};
	const struct surface frame = {SX_MATERIAL_PAINT, (float)sx_pick(h, 6, 0, 90, 215), {0.5f}, h};
	const double at = sx_pick(h, 7, 0, 0.2, w->length - 1.2);

	if (w->length < 1.5)
		return;
	add_on_wall(s, w, &frame, at, 0, 0.96, 2.06, 0.012)->part = SX_PART_OTHER;
	add_on_wall(s, w, &leaf, at + 0.06, 0.005, 0.84, 2, 0.02)->part = SX_PART_OTHER;
}

static void add_picture(struct sx_scene *s, const struct wall *w, uint64_t h)
{
	const double width = sx_pick(h, 10, 0, 0.3, 0.9), height = sx_pick(h, 11, 0, 0.3, 0.7);
	const struct surface of = {SX_MATERIAL_PICTURE,
				   (float)sx_pick(h, 12, 0, 70, 170),
				   {(float)sx_pick(h, 13, 0, 25, 200)},
				   h};

	if (width + 0.4 < w->length)
		add_on_wall(s, w, &of, sx_pick(h, 14, 0, 0.2, w->length - width - 0.2), 1.2, width, height,
			    0.02);
}

static void add_wall(struct sx_scene *s, const struct plan *r, const struct wall *w, int side)
{
	const struct surface *of = side == 1 ? &r->accent : &r->wall;
	const struct surface skirting = {
		SX_MATERIAL_PAINT, (float)pick(r, D_WALL, 60, 60, 215), {0.6f}, r->seed};
	const uint64_t h = sx_mix(r->seed, D_WALL, 50 + (uint64_t)side);
	const bool flat = s->room.floor == SX_ROOM_EVEN || s->room.floor == SX_ROOM_CARPET;

	add_on_wall(s, w, of, 0, -UNDER, w->length, r->top + UNDER, 0);
	if (flat && pick(r, D_WALL, 61, 0, 1) < 0.6)
		add_on_wall(s, w, &skirting, 0, 0, w->length, 0.07, 0.012);
	if (h % 10 < 3)
		add_window(s, r, w, sx_mix(h, 1, 1));
	else if (h % 10 < 6 && flat)
		add_door(s, w, sx_mix(h, 2, 1));
	else if (h % 10 < 8)
		add_picture(s, w, sx_mix(h, 3, 1));
	s->next_object++;
}

static void add_walls(struct sx_scene *s, const struct plan *r)
{
	const double length = r->far + BEHIND, width = r->left + r->right;
	const struct wall walls[3] = {
		{-r->left, -BEHIND, {0, 1}, {1, 0}, length},
		{-r->left, r->far, {1, 0}, {0, -1}, width},
		{r->right, -BEHIND, {0, 1}, {-1, 0}, length},
	};

	for (int i = 0; i < 3; i++) {
		const struct sx_shadow rim[3] = {
			{-9, (float)-r->left, -9, 99, 4, 0.35f},
			{-9, 9, (float)r->far, 99, 4, 0.35f},
			{(float)r->right, 9, -9, 99, 4, 0.35f},
		};

		add_wall(s, r, &walls[i], i);
		sx_place_soft(s, &rim[i]);
	}
}

static void add_ceiling(struct sx_scene *s, const struct plan *r)
{
	const struct surface paint = {SX_MATERIAL_PAINT, 215, {0.7f, 0, 0, 0}, r->seed},
			     light = {SX_MATERIAL_LAMP, 300, {1, 2, 200}, r->seed};
	struct sx_facet *f = add_surface(s, &paint, STIXEL_OBJECT, SX_PART_OTHER);

	sx_place_flat(f, -r->left, r->top, -BEHIND, r->left + r->right, r->far + BEHIND);
	f->light = 0.85f;
	for (double z = r->far - 1.2; z > 1 && pick(r, D_ROOM, 20, 0, 1) < 0.5; z -= 2.4) {
		f = add_surface(s, &light, STIXEL_OBJECT, SX_PART_OTHER);
		sx_place_flat(f, -0.3, r->top - 0.02, z, 0.6, 1.2);
	}
	s->next_object++;
}

/* Returns true if a thing with this radius has room at (x, z). */
static bool is_free(const struct plan *r, double x, double z, double radius)
{
	const double edges[2] = {r->edge - z, r->edge + r->ramp - z};

	/* things stand on level floor */
	if (r->rise != 0 && edges[0] < radius && edges[1] > -radius)
		return false;
	for (int i = 0; i < r->taken_count; i++) {
		const double dx = x - r->taken[i].x, dz = z - r->taken[i].z,
			     apart = radius + r->taken[i].radius;

		if (dx * dx + dz * dz < apart * apart)
			return false;
	}
	return x - radius > -r->left && x + radius < r->right && z + radius < r->far;
}

/* Reserves a circle for a thing. Returns false if there is no room for it. */
static bool take(struct plan *r, double x, double z, double radius)
{
	if (r->taken_count == TAKEN_MAX || !is_free(r, x, z, radius))
		return false;
	r->taken[r->taken_count++] = (struct circle){x, z, radius};
	return true;
}

/* Finds a place for a thing, and adds it. */
static void add_thing(struct sx_scene *s, struct plan *r, enum sx_thing kind, int number)
{
	const double radius = sx_thing_radius(kind), from = APPROACH + SEEN_FROM + radius;
	struct sx_thing_place p = {.kind = kind, .seed = sx_mix(r->seed, D_THING, (uint64_t)number)};

	for (int i = 0; i < TRIES; i++) {
		p.x = sx_pick(p.seed, 1, i, -r->left + radius, r->right - radius);
		p.z = sx_pick(p.seed, 2, i, from, r->far - radius);
		if (from > r->far - radius || !take(r, p.x, p.z, radius))
			continue;
		p.y = height_at(r, p.z);
		p.turn = sx_pick(p.seed, 3, 0, -0.6, 0.6);
		sx_thing_add(s, &p);
		return;
	}
}

/* Adds a piece of furniture that stands with its back to a wall: 0 left, 1 far, 2 right. */
static void add_at_wall(struct sx_scene *s, struct plan *r, enum sx_thing kind, int wall, int number)
{
	const double depth = kind == SX_THING_SOFA ? 0.4 : 0.22, radius = sx_thing_radius(kind);
	struct sx_thing_place p = {.kind = kind, .seed = sx_mix(r->seed, D_THING, (uint64_t)number)};

	for (int i = 0; i < TRIES; i++) {
		p.x = wall == 0	  ? -r->left + depth
		      : wall == 2 ? r->right - depth
				  : sx_pick(p.seed, 1, i, -r->left + radius, r->right - radius);
		p.z = wall == 1 ? r->far - depth : sx_pick(p.seed, 2, i, APPROACH, r->far - radius);
		/* the circle reaches into the wall: move it to the middle of the room */
		if (!take(r,
			  wall == 0   ? -r->left + radius
			  : wall == 2 ? r->right - radius
				      : p.x,
			  wall == 1 ? r->far - radius - 0.01 : p.z, radius - 0.005))
			continue;
		p.y = height_at(r, p.z);
		p.turn = wall == 1 ? 0 : wall == 0 ? -1 : 1;
		sx_thing_add(s, &p);
		return;
	}
}

static void add_pane(struct sx_scene *s, struct plan *r)
{
	const double width = pick(r, D_THING, 900, 0.8, 1.6), x = pick(r, D_THING, 901, -1, 0.2),
		     z = APPROACH + pick(r, D_THING, 902, 0.8, 2);

	if (take(r, x + 0.5 * width, z, 0.1) && x > -r->left && x + width < r->right)
		sx_thing_pane(s, x, x + width, height_at(r, z), z, 2.05, sx_mix(r->seed, D_THING, 903));
}

static void add_things(struct sx_scene *s, struct plan *r)
{
	static const enum sx_thing loose[] = {
		SX_THING_CHAIR, SX_THING_BOX_5,	 SX_THING_BOX_10, SX_THING_BOX,	   SX_THING_TABLE,
		SX_THING_CHAIR, SX_THING_PERSON, SX_THING_STOOL,  SX_THING_BOX_10, SX_THING_BOX_5,
	};
	const int kinds = sizeof(loose) / sizeof(loose[0]);
	const int count = r->corridor ? 2 : 4 + (int)pick(r, D_THING, 910, 0, 5);

	r->taken[r->taken_count++] = (struct circle){0, 0.5 * APPROACH, 0.5 * APPROACH + 0.35};
	for (int wall = 0; wall < 3 && !r->corridor; wall++) {
		const double kind = pick(r, D_THING, 920 + wall, 0, 1);

		if (kind < 0.45)
			add_at_wall(s, r, kind < 0.3 ? SX_THING_CUPBOARD : SX_THING_SOFA, wall, 100 + wall);
	}
	for (int i = 0; i < count; i++)
		add_thing(s, r, loose[(int)pick(r, D_THING, 930 + i, 0, kinds)], i);
	if (pick(r, D_THING, 940, 0, 1) < 0.12)
		add_pane(s, r);
}

/* Rotates a vector from the room's axes to the camera's axes. */
static void turn(const struct sx_room_pose *p, double v[3])
{
	const double x = v[0], z = v[2];

	v[0] = p->cosine * x - p->sine * z;
	v[2] = p->sine * x + p->cosine * z;
}

static void turn_to_camera(struct sx_scene *s)
{
	const struct sx_room_pose *p = &s->room.pose;

	for (int i = 0; i < s->count; i++) {
		struct sx_facet *f = &s->facets[i];

		f->origin[0] -= p->x;
		f->origin[2] -= p->z;
		turn(p, f->origin);
		turn(p, f->u);
		turn(p, f->v);
	}
}

void sx_room_build(struct sx_scene *s, uint32_t frame)
{
	const double speed = sx_pick(s->room.seed, D_CAMERA, 8, 0.008, 0.016); /* m per frame */
	const double driven = speed * (double)frame + sx_pick(s->room.seed, D_CAMERA, 9, 0, APPROACH);
	const int64_t number = sx_floor(driven / APPROACH);
	struct plan r;

	s->room.pane_count = 0;
	choose_room(s, &r, sx_mix(s->room.seed, D_ROOM, (uint64_t)number));
	set_pose(s, &r, driven - APPROACH * (double)number, frame);
	add_floor(s, &r);
	add_walls(s, &r);
	add_ceiling(s, &r);
	add_things(s, &r);
	turn_to_camera(s);
}
