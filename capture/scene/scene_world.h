/*
 * Internals of the synthetic scenes: facets, drawing, materials.
 *
 * World: x right, y up from the ground, z along the street, in m. Facets are stored relative to the left
 * camera's foot point: x and z relative, y absolute.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_WORLD_H
#define SX_CAPTURE_SCENE_SCENE_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/scene/motion/motion.h"
#include "capture/scene/scene.h"
#include "capture/scene/scene_cargo.h"
#include "capture/scene/scene_lens.h"
#include "capture/scene/scene_room.h"
#include "capture/scene/scene_terrain.h"
#include "capture/scene/scene_verge.h"
#include "capture/scene/surface/scene_facet.h"
#include "capture/scene/surface/scene_noise.h"
#include "capture/scene/weather/weather.h"

#define SX_FACETS_MAX 2048

/*
 * A soft dark patch on the ground. x0..x1, z0..z1: relative to the camera, m; in rooms, the place in the
 * texture of the ground. sharp: 1 / width of its rim, 1/m. dark: share of the light that is missing in its
 * middle. In scenes with motion, x0..z1 are relative to the place (x, z), and turned to the right about it.
 * Such shadows touch distances nearest..farthest only, m.
 */
struct sx_shadow {
	float x0, x1, z0, z1, sharp, dark;
	float x, z, cosine, sine, nearest, farthest;
};

#define SX_SHADOWS_MAX 256

/* Affine functions of the image coordinates {x, y, 1}: disparity d, and s*d, t*d. */
struct sx_projection {
	double d[3], s[3], t[3];
};

/* Pose of the camera in a frame. heave: above its usual height, m. sin_roll: 0 except in scenes with motion. */
struct sx_pose {
	double x, z, sin_pitch, cos_pitch, pitch_deg;
	double heave, sin_roll, cos_roll;
};

/* The image of one camera before shading. id: facet index + 1; 0: sky. */
struct sx_view {
	int width, height;
	float *depth; /* disparity; 0: sky */
	uint16_t *id;
	struct sx_projection *projection; /* projections, one for each facet */
	uint32_t *white;		  /* see scene_light.c; NULL if no sky is white */
	float *streaks;			  /* tones of falling drops; NULL if it does not rain */
};

/* Values of the street that depend on the seed alone. */
struct sx_street {
	uint64_t seed;
	bool open, cargo;
	enum sx_relief relief;
	struct sx_verge verge;
	double kerb_right, kerb_left;	       /* x of the kerbs, m */
	double pavement, kerb_height;	       /* width of the pavement, height of the kerb, m */
	double speed;			       /* speed of the camera, m per frame */
	double parked, trees, people, traffic; /* shares of the places that are occupied */
	float sun_side;			       /* direction of the sun, -1..1: from left or right */
};

/*
 * Effect of the air and of the cameras on a tone, and the tone of the sky. haze: distance at which half of
 * the tone comes from the sky, m. noise: approximate standard deviation. gain, offset: one for each camera.
 */
struct sx_exposure {
	uint64_t seed; /* seed of the noise */
	float sky, haze;
	float noise, gain[2], offset[2];
};

/*
 * A scene. camera: camera of the drawn views. With raw cameras these are wider than the rectified image
 * (scene_lens.h).
 */
struct sx_scene {
	struct sx_scene_params params;
	struct sx_camera camera;
	struct sx_street street;
	struct sx_room room;
	struct sx_world_motion *motion; /* NULL: a scene without truth of motion */
	struct sx_weather weather;
	struct sx_exposure exposure;
	struct sx_texture texture;
	struct sx_pose pose;
	struct sx_terrain terrain;
	struct sx_facet *facets;
	int count;
	struct sx_shadow shadows[SX_SHADOWS_MAX];
	int shadow_count;
	uint16_t next_object;
	struct sx_cargo cargo[SX_CARGO_MAX];
	int cargo_count;
	int mirrored_to; /* facets count .. mirrored_to - 1 are the reflections on a wet road, or in windows */
	struct sx_view view[2], mirrored[2];
	struct sx_rig rig;
	struct sx_lens_view lens[2];
};

/* scene_rig.c: adds the error of the right camera. */
void sx_scene_misplace(const struct sx_scene_error *e, struct sx_rig *rig);

/* scene.c: fills facets, shadows and pose of a frame. */
void sx_scene_build(struct sx_scene *s, uint32_t frame);

/* scene_street.c: sets the values of a street, and fills facets, shadows and pose of a frame of it. */
void sx_street_init(struct sx_scene *s, uint64_t seed, bool open);
/* Draws the light of a street and its cameras by sx_pick(h, dice, first) and the four that follow. */
struct sx_exposure sx_street_exposure(uint64_t h, int dice, int first);
void sx_street_build(struct sx_scene *s, uint32_t frame);

/*
 * scene_draw.c. Find the visible facet at each pixel: of all facets, of the ground alone, or of the
 * reflections.
 */
void sx_view_draw(struct sx_view *v, const struct sx_scene *s, int side);
void sx_view_draw_ground(struct sx_view *v, const struct sx_scene *s, int side);
void sx_view_draw_mirrored(struct sx_view *v, const struct sx_scene *s, int side);
/* Returns the disparity of facet i at any point of the view; 0: the facet does not cover it. */
double sx_view_probe(const struct sx_view *v, const struct sx_scene *s, int i, double x, double y);
/*
 * Returns true if facet i, as a full rectangle, is before the point with disparity d at any point of the
 * view.
 */
bool sx_view_is_before(const struct sx_view *v, const struct sx_scene *s, int i, double x, double y,
		       double d);

/* scene_shade.c: makes the grey image of a drawn view, with the camera's own gain and noise. */
void sx_view_shade(const struct sx_view *v, const struct sx_scene *s, int side, uint32_t frame,
		   struct sx_image *ret);
/* Makes the image through the scene's lens of that side. */
void sx_view_shade_raw(const struct sx_view *v, const struct sx_scene *s, int side, uint32_t frame,
		       struct sx_image *ret);

static inline double sx_affine(const double p[3], double x, double y)
{
	return p[0] * x + p[1] * y + p[2];
}

#endif
