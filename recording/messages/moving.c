/*
 * What moves in a frame, see moving.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/messages/moving.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/contract.h"
#include "recording/messages/parts.h"
#include "recording/messages/scene.h"

#define AHEAD_S 0.5  /* an arrow leads to the place after this time */
#define DEPTH_M 0.2  /* of a box: the camera sees its front alone */
#define SHAFT_M 0.1  /* diameter of an arrow */
#define HEAD_M 0.4   /* length of its head, at most */
#define TEXT_PX 16.0 /* height of a text on the screen */

/* A box or an arrow, with all parts of its messages. */
struct sx_moving_thing {
	Foxglove__ArrowPrimitive arrow;
	Foxglove__CubePrimitive cube;
	Foxglove__TextPrimitive text;
	Foxglove__Pose along, upright, above;
	Foxglove__Quaternion turn, none;
	Foxglove__Vector3 foot, middle, size, top;
	Foxglove__Color colour, arrow_colour;
	char name[48];
};

void sx_moving_finish(struct sx_moving *m)
{
	free(m->things);
	free(m->arrows);
	free(m->cubes);
	free(m->texts);
	*m = (struct sx_moving){.room = 0};
}

static int reserve(struct sx_moving *m, size_t n)
{
	m->count = m->arrow_count = m->box_count = 0;
	if (n <= m->room)
		return 0;
	sx_moving_finish(m);
	m->things = calloc(n, sizeof(*m->things));
	m->arrows = calloc(n, sizeof(*m->arrows));
	m->cubes = calloc(n, sizeof(*m->cubes));
	m->texts = calloc(n, sizeof(*m->texts));
	if (!m->things || !m->arrows || !m->cubes || !m->texts) {
		sx_moving_finish(m);
		return -ENOMEM;
	}
	m->room = n;
	return 0;
}

/* Adds an arrow from a foot to its place later. An arrow of the schema points along its own x. */
static void add_arrow(struct sx_moving *m, struct sx_moving_thing *t, struct sx_scene_point foot, double vx,
		      double vz)
{
	const struct sx_rgb white = {255, 255, 255};
	const double length = AHEAD_S * sqrt(vx * vx + vz * vz), turn = atan2(-vz, vx);

	sx_must(m->arrow_count, <, m->room);
	foxglove__arrow_primitive__init(&t->arrow);
	foxglove__quaternion__init(&t->turn);
	t->turn.y = sin(turn / 2.0);
	t->turn.w = cos(turn / 2.0);
	t->foot = sx_part_vector(foot.x, foot.y, foot.z);
	t->along = sx_part_pose(&t->foot, &t->turn);
	t->arrow_colour = sx_part_colour(white, 1.0);
	t->arrow.pose = &t->along;
	t->arrow.head_length = sx_scene_rounded(fmin(HEAD_M, length));
	t->arrow.head_diameter = 3.0 * SHAFT_M;
	t->arrow.shaft_length = sx_scene_rounded(length - t->arrow.head_length);
	t->arrow.shaft_diameter = SHAFT_M;
	t->arrow.color = &t->arrow_colour;
	m->arrows[m->arrow_count++] = &t->arrow;
}

static void add_box(struct sx_moving *m, struct sx_moving_thing *t, const struct stixel_object *o)
{
	const double x = (double)o->x, y = (double)o->y, z = (double)o->z, height = (double)o->height;
	const double speed = sqrt((double)o->vx * (double)o->vx + (double)o->vz * (double)o->vz);

	sx_must(m->box_count, <, m->room);
	foxglove__cube_primitive__init(&t->cube);
	foxglove__text_primitive__init(&t->text);
	foxglove__quaternion__init(&t->none);
	t->none.w = 1.0;
	t->middle = sx_part_vector(x, y - 0.5 * height, z + 0.5 * DEPTH_M);
	t->size = sx_part_vector((double)o->width, height, DEPTH_M);
	t->top = sx_part_vector(x, y - height, z);
	t->upright = sx_part_pose(&t->middle, &t->none);
	t->above = sx_part_pose(&t->top, &t->none);
	t->colour = sx_part_colour(sx_palette_label(NULL, o->id), 0.5);
	t->cube.pose = &t->upright;
	t->cube.size = &t->size;
	t->cube.color = &t->colour;
	if (o->state == STIXEL_MOTION_MOVES)
		snprintf(t->name, sizeof(t->name), "%u \xc2\xb7 %.1f m/s", o->id, speed);
	else
		snprintf(t->name, sizeof(t->name), "%u ?", o->id);
	t->text.pose = &t->above;
	t->text.billboard = 1;
	t->text.font_size = TEXT_PX;
	t->text.scale_invariant = 1;
	t->text.color = &t->colour;
	t->text.text = t->name;
	m->cubes[m->box_count] = &t->cube;
	m->texts[m->box_count++] = &t->text;
}

static void add_objects(struct sx_moving *m, const struct stixel_frame *frame)
{
	for (int i = 0; i < stixel_object_count(frame); i++) {
		const struct stixel_object *o = stixel_object_at(frame, i);
		struct sx_moving_thing *t = &m->things[m->count];

		if (o->state == STIXEL_MOTION_STANDS || (double)o->z > SX_SCENE_FAR_M)
			continue;
		m->count++;
		add_box(m, t, o);
		if (o->state == STIXEL_MOTION_MOVES)
			add_arrow(m, t, (struct sx_scene_point){(double)o->x, (double)o->y, (double)o->z},
				  (double)o->vx, (double)o->vz);
	}
}

static void add_stixels(struct sx_moving *m, const struct stixel_frame *frame)
{
	const struct stixel_frame_header *h = frame->header;

	for (uint32_t i = 0; i < h->stixel_count; i++) {
		const struct stixel *s = &frame->stixels[i];
		const double z = stixel_depth_m(h, s);
		const double middle = ((double)s->column + 0.5) * h->column_width - 0.5;
		struct stixel_velocity v;

		if (!stixel_velocity(frame, i, &v) || v.state != STIXEL_MOTION_MOVES || !(z > 0.0) ||
		    z > SX_SCENE_FAR_M)
			continue;
		add_arrow(m, &m->things[m->count++],
			  sx_scene_place(h, middle, s->row_bottom, stixel_disparity_px(s)), v.vx, v.vz);
	}
}

int sx_moving_fill(struct sx_moving *m, const struct stixel_frame *frame, Foxglove__SceneEntity *entity)
{
	static char id[] = "moving";
	const bool blind = (frame->header->flags & STIXEL_FRAME_BLIND) != 0;
	const int objects = stixel_object_count(frame);
	size_t most = 0;

	if (!blind && objects >= 0)
		most = (size_t)objects;
	else if (!blind && stixel_motion_of(frame))
		most = frame->header->stixel_count;
	if (reserve(m, most) < 0)
		return -ENOMEM;
	if (most && objects >= 0)
		add_objects(m, frame);
	else if (most)
		add_stixels(m, frame);
	entity->id = id;
	entity->n_arrows = m->arrow_count, entity->arrows = m->arrows;
	entity->n_cubes = m->box_count, entity->cubes = m->cubes;
	entity->n_texts = m->box_count, entity->texts = m->texts;
	return 0;
}
