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

/* An arrow, with all parts of its message. */
struct sx_moving_arrow {
	Foxglove__ArrowPrimitive arrow;
	Foxglove__Pose along;
	Foxglove__Quaternion turn;
	Foxglove__Vector3 foot;
	Foxglove__Color colour;
};

/* A box and its text, with all parts of their messages. */
struct sx_moving_box {
	Foxglove__CubePrimitive cube;
	Foxglove__TextPrimitive text;
	Foxglove__Pose upright, above;
	Foxglove__Quaternion none;
	Foxglove__Vector3 middle, size, top;
	Foxglove__Color colour;
	char name[48];
};

void sx_moving_finish(struct sx_moving *m)
{
	free(m->arrow_parts);
	free(m->arrows);
	free(m->box_parts);
	free(m->cubes);
	free(m->texts);
	*m = (struct sx_moving){.arrow_room = 0};
}

static int reserve(struct sx_moving *m, size_t arrows, size_t boxes)
{
	m->arrow_count = m->box_count = 0;
	if (arrows <= m->arrow_room && boxes <= m->box_room)
		return 0;
	arrows = arrows > m->arrow_room ? arrows : m->arrow_room;
	boxes = boxes > m->box_room ? boxes : m->box_room;
	sx_moving_finish(m);
	m->arrow_parts = calloc(arrows, sizeof(*m->arrow_parts));
	m->arrows = calloc(arrows, sizeof(*m->arrows));
	m->box_parts = calloc(boxes, sizeof(*m->box_parts));
	m->cubes = calloc(boxes, sizeof(*m->cubes));
	m->texts = calloc(boxes, sizeof(*m->texts));
	if ((arrows && (!m->arrow_parts || !m->arrows)) ||
	    (boxes && (!m->box_parts || !m->cubes || !m->texts))) {
		sx_moving_finish(m);
		return -ENOMEM;
	}
	m->arrow_room = arrows;
	m->box_room = boxes;
	return 0;
}

/* Adds an arrow from a foot to its place later. An arrow of the schema points along its own x. */
static void add_arrow(struct sx_moving *m, struct sx_scene_point foot, double vx, double vz)
{
	const struct sx_rgb white = {255, 255, 255};
	const double length = AHEAD_S * sqrt(vx * vx + vz * vz), turn = atan2(-vz, vx);
	struct sx_moving_arrow *a;

	sx_must(m->arrow_count, <, m->arrow_room);
	a = &m->arrow_parts[m->arrow_count];
	foxglove__arrow_primitive__init(&a->arrow);
	foxglove__quaternion__init(&a->turn);
	a->turn.y = sin(turn / 2.0);
	a->turn.w = cos(turn / 2.0);
	a->foot = sx_part_vector(foot.x, foot.y, foot.z);
	a->along = sx_part_pose(&a->foot, &a->turn);
	a->colour = sx_part_colour(white, 1.0);
	a->arrow.pose = &a->along;
	a->arrow.head_length = sx_scene_rounded(fmin(HEAD_M, length));
	a->arrow.head_diameter = 3.0 * SHAFT_M;
	a->arrow.shaft_length = sx_scene_rounded(length - a->arrow.head_length);
	a->arrow.shaft_diameter = SHAFT_M;
	a->arrow.color = &a->colour;
	m->arrows[m->arrow_count++] = &a->arrow;
}

static void add_box(struct sx_moving *m, const struct stixel_object *o)
{
	const double x = (double)o->x, y = (double)o->y, z = (double)o->z, height = (double)o->height;
	const double speed = sqrt((double)o->vx * (double)o->vx + (double)o->vz * (double)o->vz);
	struct sx_moving_box *b;

	sx_must(m->box_count, <, m->box_room);
	b = &m->box_parts[m->box_count];
	foxglove__cube_primitive__init(&b->cube);
	foxglove__text_primitive__init(&b->text);
	foxglove__quaternion__init(&b->none);
	b->none.w = 1.0;
	b->middle = sx_part_vector(x, y - 0.5 * height, z + 0.5 * DEPTH_M);
	b->size = sx_part_vector((double)o->width, height, DEPTH_M);
	b->top = sx_part_vector(x, y - height, z);
	b->upright = sx_part_pose(&b->middle, &b->none);
	b->above = sx_part_pose(&b->top, &b->none);
	b->colour = sx_part_colour(sx_palette_label(NULL, o->id), 0.5);
	b->cube.pose = &b->upright;
	b->cube.size = &b->size;
	b->cube.color = &b->colour;
	if (o->state == STIXEL_MOTION_MOVES)
		snprintf(b->name, sizeof(b->name), "%u \xc2\xb7 %.1f m/s", o->id, speed);
	else
		snprintf(b->name, sizeof(b->name), "%u ?", o->id);
	b->text.pose = &b->above;
	b->text.billboard = 1;
	b->text.font_size = TEXT_PX;
	b->text.scale_invariant = 1;
	b->text.color = &b->colour;
	b->text.text = b->name;
	m->cubes[m->box_count] = &b->cube;
	m->texts[m->box_count++] = &b->text;
}

static bool is_drawn(const struct stixel_object *o)
{
	return o->state != STIXEL_MOTION_STANDS && (double)o->z <= SX_SCENE_FAR_M;
}

static int add_objects(struct sx_moving *m, const struct stixel_frame *frame)
{
	const int count = stixel_object_count(frame);
	size_t arrows = 0, boxes = 0;

	for (int i = 0; i < count; i++) {
		const struct stixel_object *o = stixel_object_at(frame, i);

		boxes += is_drawn(o);
		arrows += is_drawn(o) && o->state == STIXEL_MOTION_MOVES;
	}
	if (reserve(m, arrows, boxes) < 0)
		return -ENOMEM;
	for (int i = 0; i < count; i++) {
		const struct stixel_object *o = stixel_object_at(frame, i);

		if (!is_drawn(o))
			continue;
		add_box(m, o);
		if (o->state == STIXEL_MOTION_MOVES)
			add_arrow(m, (struct sx_scene_point){(double)o->x, (double)o->y, (double)o->z},
				  (double)o->vx, (double)o->vz);
	}
	return 0;
}

/* Returns whether a stixel is known to move, and has a place that is drawn. *v: its velocity. */
static bool moves(const struct stixel_frame *frame, uint32_t i, struct stixel_velocity *v)
{
	const double z = stixel_depth_m(frame->header, &frame->stixels[i]);

	return stixel_velocity(frame, i, v) && v->state == STIXEL_MOTION_MOVES && z > 0.0 &&
	       z <= SX_SCENE_FAR_M;
}

static int add_stixels(struct sx_moving *m, const struct stixel_frame *frame)
{
	const struct stixel_frame_header *h = frame->header;
	struct stixel_velocity v;
	size_t arrows = 0;

	for (uint32_t i = 0; i < h->stixel_count; i++)
		arrows += moves(frame, i, &v);
	if (reserve(m, arrows, 0) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < h->stixel_count; i++) {
		const struct stixel *s = &frame->stixels[i];
		const double middle = ((double)s->column + 0.5) * h->column_width - 0.5;

		if (moves(frame, i, &v))
			add_arrow(m, sx_scene_place(h, middle, s->row_bottom, stixel_disparity_px(s)), v.vx,
				  v.vz);
	}
	return 0;
}

int sx_moving_fill(struct sx_moving *m, const struct stixel_frame *frame, Foxglove__SceneEntity *entity)
{
	static char id[] = "moving";
	int r;

	if (frame->header->flags & STIXEL_FRAME_BLIND)
		r = reserve(m, 0, 0);
	else
		r = stixel_object_count(frame) < 0 ? add_stixels(m, frame) : add_objects(m, frame);
	if (r < 0)
		return r;
	entity->id = id;
	entity->n_arrows = m->arrow_count, entity->arrows = m->arrows;
	entity->n_cubes = m->box_count, entity->cubes = m->cubes;
	entity->n_texts = m->box_count, entity->texts = m->texts;
	return 0;
}
