/*
 * Inside of the synthetic street: facets, drawing, materials.
 *
 * World: x right, y up from the road, z along the street, in m. Facets are kept relative to the left camera's
 * foot point: x, z relative, y absolute.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_WORLD_H
#define SX_CAPTURE_SCENE_SCENE_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/scene/scene.h"
#include "capture/scene/scene_noise.h"
#include "capture/scene/scene_terrain.h"

#define SX_FACETS_MAX 2048

enum sx_shape {
	SX_SHAPE_RECTANGLE,
	SX_SHAPE_TRAPEZOID, /* sides lean inwards to the top by inset[0] (left) and inset[1] (right), m */
	SX_SHAPE_ELLIPSE,
	SX_SHAPE_CROWN, /* ragged ellipse with holes */
	SX_SHAPE_PERSON
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
	SX_MATERIAL_HILLS
};

/*
 * A piece of a plane: origin + s*u + t*v, 0 <= s <= s1, 0 <= t <= t1, u and v of length 1.
 * s_texture, t_texture: added to s and t before the material is asked, so that texture sticks to the world.
 */
struct sx_facet {
	double origin[3], u[3], v[3];
	double s1, t1;
	double s_texture, t_texture;
	float inset[2];
	float grey;  /* base tone, 0..255 */
	float light; /* factor of its orientation to the sun */
	float detail[4];
	uint64_t seed;
	uint16_t object;
	uint8_t kind, shape, material;
};

/* Soft dark patch on the ground: x0..x1, z0..z1 relative to the camera. */
struct sx_shadow {
	float x0, x1, z0, z1;
};

#define SX_SHADOWS_MAX 256

/* Affine functions of image coordinates {x, y, 1}: disparity d, and s*d, t*d. */
struct sx_projection {
	double d[3], s[3], t[3];
};

/* Where the camera is in a frame. */
struct sx_pose {
	double x, z, sin_pitch, cos_pitch, pitch_deg;
};

/* One camera's picture before shading. id: facet index + 1, 0 sky. */
struct sx_view {
	int width, height;
	float *depth; /* disparity; 0 where sky */
	uint16_t *id;
	struct sx_projection *projection; /* of each facet */
};

/* What a seed decides once. */
struct sx_street {
	uint64_t seed;
	bool open;
	enum sx_relief relief;
	double kerb_right, kerb_left;	       /* x of the kerbs */
	double pavement;		       /* width */
	double speed;			       /* m per frame */
	double parked, trees, people, traffic; /* shares of places taken */
	float sun_side;			       /* -1..1: light from the left or from the right */
	float sky, haze;
	float noise, gain[2], offset[2];
};

struct sx_scene {
	struct sx_scene_params params;
	struct sx_camera camera;
	struct sx_street street;
	struct sx_texture texture;
	struct sx_pose pose;
	struct sx_terrain terrain;
	struct sx_facet *facets;
	int count;
	struct sx_shadow shadows[SX_SHADOWS_MAX];
	int shadow_count;
	uint16_t next_object;
	struct sx_view view[2];
};

/* scene_street.c: fills facets, shadows and pose for a frame. */
void sx_street_init(struct sx_street *st, uint64_t seed, bool open);
void sx_street_build(struct sx_scene *s, uint32_t frame);

/* scene_draw.c: which facet is seen where; of all, or of the ground's alone. */
void sx_view_draw(struct sx_view *v, const struct sx_scene *s, int side);
void sx_view_draw_ground(struct sx_view *v, const struct sx_scene *s, int side);
/* Disparity of facet i at any point of the view; 0 if it is not there. */
double sx_view_probe(const struct sx_view *v, const struct sx_scene *s, int i, double x, double y);

/* scene_shade.c: grey picture of a drawn view, with the camera's own gain and noise. */
void sx_view_shade(const struct sx_view *v, const struct sx_scene *s, int side, uint32_t frame,
		   struct sx_image *ret);

/* scene_material.c: tone of a point of a facet, 0..255 before light, haze and camera.
 * fs, ft: extent of the pixel in s and t, m. */
float sx_material_tone(const struct sx_facet *f, const struct sx_texture *texture, double s, double t,
		       float fs, float ft);

static inline double sx_affine(const double p[3], double x, double y)
{
	return p[0] * x + p[1] * y + p[2];
}

#endif
