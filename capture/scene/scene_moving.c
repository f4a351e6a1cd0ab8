/*
 * Scenes with truth of motion: builds a frame in the coordinates of the episode, and turns it into those of the
 * camera.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "capture/scene/scene_moving.h"

#include <errno.h>
#include <stdlib.h>

#include <stixel.h>

#include "base/contract.h"
#include "capture/scene/scene_model.h"
#include "capture/scene/scene_place.h"

#define HILLS 180      /* around the camera, each of 2 degrees */
#define HILLS_AT 500.0 /* m */

enum dice { D_LIGHT = 1300, D_YARD };

static uint64_t seed_of(const struct sx_scene_params *p)
{
	return sx_mix(p->seed, 0x6d6f74696f6e, 1);
}

struct sx_camera sx_yard_camera(const struct sx_scene_params *p)
{
	struct sx_camera c = sx_room_camera(p); /* the same lenses, farther apart */

	c.baseline_m = 0.075;
	c.height_m = sx_pick(seed_of(p), D_YARD, 0, 0.28, 0.5);
	return c;
}

int sx_moving_init(struct sx_scene *s, enum sx_episode_kind kind)
{
	const uint64_t h = seed_of(&s->params);

	s->motion = calloc(1, sizeof(*s->motion));
	if (!s->motion)
		return -ENOMEM;
	s->street = (struct sx_street){
		.seed = h,
		.kerb_right = SX_STREET_HALF,
		.kerb_left = -SX_STREET_HALF,
		.kerb_height = 0.09,
		.sun_side = (float)sx_pick(h, D_LIGHT, 0, -1, 1),
	};
	s->exposure = sx_street_exposure(h, D_LIGHT, 1);
	sx_world_init(s->motion, kind, h);
	return 0;
}

static void set_pose(struct sx_scene *s)
{
	const struct sx_world_pose *p = &s->motion->pose;

	s->pose.x = p->x;
	s->pose.z = p->z;
	s->pose.heave = p->heave;
	s->pose.sin_roll = p->roll_turn.sine;
	s->pose.cos_roll = p->roll_turn.cosine;
	sx_place_pitch(&s->pose, s->camera.pitch_deg + p->pitch / SX_DEGREE);
}

/* Adds a plane below everything, all around the camera. */
static void add_ground(struct sx_scene *s)
{
	const bool yard = s->motion->kind == SX_EPISODE_YARD;
	struct sx_facet *f = sx_place_facet(s, SX_MATERIAL_ASPHALT, STIXEL_GROUND, yard ? 120 : 96, 0);
	const double x = s->pose.x - SX_GROUND_TO, z = s->pose.z - SX_GROUND_TO;

	sx_place_flat(f, x, 0, z, 2 * SX_GROUND_TO, 2 * SX_GROUND_TO);
	f->s_texture = x;
	f->t_texture = z;
	f->detail[0] = yard ? 8 : 0;
}

/* Adds a ragged row of trees and roofs around the camera, so far away that it moves with the camera. */
static void add_hills(struct sx_scene *s)
{
	for (int i = 0; i < HILLS; i++) {
		const double course = 2 * SX_PI / HILLS * i;
		const uint64_t h = sx_mix(s->street.seed, 991, (uint64_t)i);
		const struct sx_spot p = sx_spot_at(s->pose.x, s->pose.z, course);
		const double ahead = p.turn.cosine * s->motion->pose.course_turn.cosine +
				     p.turn.sine * s->motion->pose.course_turn.sine;
		const double corner[3] = {-9.2, 0, HILLS_AT + (double)(i & 1)};
		struct sx_facet *f;

		if (ahead < 0.2)
			continue;
		f = sx_model_across(s, &p, SX_MATERIAL_HILLS, 118 + 24 * (float)sx_unit(h), h, corner, 18.4,
				    6 + 14 * sx_unit(sx_mix(h, 1, 1)));
		f->s_texture = 17.0 * i;
		f->light = 1;
		s->next_object++;
	}
}

static void turn(const struct sx_turn *t, double v[3])
{
	const double x = v[0], z = v[2];

	v[0] = t->cosine * x - t->sine * z;
	v[2] = t->sine * x + t->cosine * z;
}

static void turn_shadow(const struct sx_scene *s, struct sx_shadow *h)
{
	const struct sx_turn *t = &s->motion->pose.course_turn;
	const double reach = (double)(h->x1 > h->z1 ? h->x1 : h->z1) * 1.42 + 0.5;
	double at[3] = {(double)h->x - s->pose.x, 0, (double)h->z - s->pose.z};
	const double c = (double)h->cosine, sine = (double)h->sine;

	turn(t, at);
	h->x = (float)at[0];
	h->z = (float)at[2];
	h->cosine = (float)(c * t->cosine + sine * t->sine);
	h->sine = (float)(sine * t->cosine - c * t->sine);
	h->nearest = (float)(at[2] - reach);
	h->farthest = (float)(at[2] + reach);
}

static void turn_to_camera(struct sx_scene *s)
{
	const struct sx_turn *t = &s->motion->pose.course_turn;

	for (int i = 0; i < s->count; i++) {
		struct sx_facet *f = &s->facets[i];

		f->origin[0] -= s->pose.x;
		f->origin[2] -= s->pose.z;
		turn(t, f->origin);
		turn(t, f->u);
		turn(t, f->v);
	}
	for (int i = 0; i < s->shadow_count; i++)
		turn_shadow(s, &s->shadows[i]);
}

void sx_moving_build(struct sx_scene *s, uint32_t frame)
{
	const double fps = s->params.fps > 0 ? s->params.fps : SX_MOVING_FPS;

	sx_world_set(s->motion, (double)frame / fps);
	set_pose(s);
	add_ground(s);
	add_hills(s);
	for (int i = 1; i < s->motion->episode.count; i++)
		sx_model_mover(s, i);
	if (s->motion->kind == SX_EPISODE_YARD)
		sx_yard_add(s);
	else
		sx_town_add(s);
	turn_to_camera(s);
}
