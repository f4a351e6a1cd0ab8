/*
 * Things in a room: boxes, furniture, persons, panes of glass. x, z: place in the room, y: height of the
 * floor below the thing, m.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_THING_H
#define SX_CAPTURE_SCENE_SCENE_THING_H

#include <stdint.h>

struct sx_scene;

/* Kinds of things in a room. */
enum sx_thing {
	SX_THING_BOX_5, /* a box of 5 cm */
	SX_THING_BOX_10,
	SX_THING_BOX,
	SX_THING_CHAIR,
	SX_THING_TABLE,
	SX_THING_STOOL,
	SX_THING_PERSON,
	SX_THING_SOFA,
	SX_THING_CUPBOARD,
	SX_THINGS
};

/* A thing and its place. turn: tangent of half its angle to the right. */
struct sx_thing_place {
	enum sx_thing kind;
	double x, y, z, turn;
	uint64_t seed;
};

/* Returns the radius of the circle that a thing needs, m. */
double sx_thing_radius(enum sx_thing kind);
/* Adds a thing, and its shadows. */
void sx_thing_add(struct sx_scene *s, const struct sx_thing_place *p);

/* A cuboid that stands upright: its middle x, z, the height y of its underside, and its size, m. */
struct sx_cuboid {
	double x, y, z, turn;
	double width, height, depth;
	int material;
	float grey;
	float detail[4];
	uint64_t seed;
	uint8_t part; /* enum sx_part */
};

/* Adds the faces of a cuboid as parts of the object s->next_object. */
void sx_thing_cuboid(struct sx_scene *s, const struct sx_cuboid *c);
/* Adds a pane of glass between x0 and x1 with a frame around it. */
void sx_thing_pane(struct sx_scene *s, double x0, double x1, double y, double z, double height,
		   uint64_t seed);

#endif
