/*
 * A facet of the synthetic world: a piece of a plane, its shape and its material.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_FACET_H
#define SX_CAPTURE_SCENE_SCENE_FACET_H

#include <stdint.h>

#include "capture/scene/surface/scene_noise.h"

enum sx_shape {
	SX_SHAPE_RECTANGLE,
	/* the sides lean inwards towards the top by inset[0] (left) and inset[1] (right), m */
	SX_SHAPE_TRAPEZOID,
	SX_SHAPE_ELLIPSE,
	SX_SHAPE_CROWN, /* ellipse with a ragged edge and holes */
	SX_SHAPE_PERSON,
	SX_SHAPE_BARS, /* a fence; objects behind it are visible between the bars */
	/* frame of a pane of glass, inset[0] wide at the sides, inset[1] below and above, m */
	SX_SHAPE_PANE,
	SX_SHAPE_RING /* rim of an ellipse, inset[0] wide, m; objects behind it are visible in its middle */
};

enum sx_material {
	SX_MATERIAL_ROAD,
	SX_MATERIAL_PAVEMENT,
	SX_MATERIAL_GRASS,
	SX_MATERIAL_KERB,
	SX_MATERIAL_FACADE,
	SX_MATERIAL_WALL, /* side of a house, garden wall */
	SX_MATERIAL_CAR_BACK,
	SX_MATERIAL_CAR_SIDE,
	SX_MATERIAL_CAR_TOP,
	SX_MATERIAL_GLASS,
	SX_MATERIAL_CABIN_SIDE,
	SX_MATERIAL_BOX,
	SX_MATERIAL_POLE,
	SX_MATERIAL_SIGN,
	SX_MATERIAL_BARK,
	SX_MATERIAL_LEAVES,
	SX_MATERIAL_CLOTH,
	SX_MATERIAL_RAIL,
	SX_MATERIAL_HILLS,
	SX_MATERIAL_ASPHALT, /* a road without markings */
	SX_MATERIAL_MARKING, /* white paint on a road */
	SX_MATERIAL_WINDOW,  /* window of a shop: its mirror image is added to this tone */
	/* materials of rooms (scene_indoor.c) */
	SX_MATERIAL_PLANKS,
	SX_MATERIAL_CARPET,
	SX_MATERIAL_LINO,
	SX_MATERIAL_TILES,
	SX_MATERIAL_PAINT, /* walls, ceilings, furniture */
	SX_MATERIAL_WALLPAPER,
	SX_MATERIAL_PLASTER,
	SX_MATERIAL_BRICK,
	SX_MATERIAL_PANEL, /* doors of rooms and cupboards */
	SX_MATERIAL_CARD,
	SX_MATERIAL_FABRIC,
	SX_MATERIAL_TIMBER,
	SX_MATERIAL_PICTURE,
	SX_MATERIAL_LAMP /* lamps, and panes of windows */
};

/* Part of a room that a facet shows. Tests score their figures by it. */
enum sx_part {
	SX_PART_OTHER,
	SX_PART_FLOOR,
	SX_PART_RAMP,
	SX_PART_KERB,  /* the front of a step up */
	SX_PART_LOWER, /* the floor below a step down */
	SX_PART_WALL,
	SX_PART_THING
};

/*
 * A piece of a plane: origin + s*u + t*v, 0 <= s <= s1, 0 <= t <= t1, u and v of length 1. s_texture,
 * t_texture: added to s and t before the tone is computed, so that the texture is fixed to the world.
 */
struct sx_facet {
	double origin[3], u[3], v[3];
	double s1, t1;
	double s_texture, t_texture;
	float inset[2];
	float grey;  /* base tone, 0..255 */
	float light; /* brightness factor from its orientation to the sun */
	float detail[4];
	uint64_t seed;
	uint16_t object;
	uint16_t mover; /* number of the mover in the episode (motion/episode.h); 0: of the standing world */
	uint8_t kind, shape, material, part;
};

/*
 * Returns the tone of a point of a facet, 0..255, before light, haze and camera. fs, ft: extent of the pixel
 * in s and t, m.
 */
float sx_material_tone(const struct sx_facet *f, const struct sx_texture *texture, double s, double t,
		       float fs, float ft);
/*
 * Returns the tone of a point of a surface in a room. s, t: place in the texture, m. sx_material_tone()
 * describes the other parameters.
 */
float sx_indoor_tone(const struct sx_facet *f, const struct sx_texture *texture, double s, double t, float fs,
		     float ft);

#endif
