/*
 * A facet of the synthetic street: a piece of a plane, its shape and its material.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_FACET_H
#define SX_CAPTURE_SCENE_SCENE_FACET_H

#include <stdint.h>

#include "capture/scene/scene_noise.h"

enum sx_shape {
	SX_SHAPE_RECTANGLE,
	/* the sides lean inwards towards the top by inset[0] (left) and inset[1] (right), m */
	SX_SHAPE_TRAPEZOID,
	SX_SHAPE_ELLIPSE,
	SX_SHAPE_CROWN, /* ellipse with a ragged edge and holes */
	SX_SHAPE_PERSON,
	SX_SHAPE_BARS /* a fence; objects behind it are visible between the bars */
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
	SX_MATERIAL_HILLS
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
	uint8_t kind, shape, material;
};

/*
 * Returns the tone of a point of a facet, 0..255, before light, haze and camera. fs, ft: extent of the pixel
 * in s and t, m.
 */
float sx_material_tone(const struct sx_facet *f, const struct sx_texture *texture, double s, double t,
		       float fs, float ft);

#endif
