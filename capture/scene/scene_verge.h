/*
 * Roadside of real roads that the plain streets lack (scene "verge"). The road tilts. One side has a kerb, a
 * pavement, a fence and houses; the other has grass, a guard rail and a bank. See scene_light.h for white
 * sky, flare and puddles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_VERGE_H
#define SX_CAPTURE_SCENE_SCENE_VERGE_H

#include <stdbool.h>
#include <stdint.h>

struct sx_scene;
struct sx_street;

#define SX_FLARE_SPOTS 5

/* Values that depend on the seed alone, m. Heights are above the road. */
struct sx_verge {
	bool on;
	int town_side; /* side with the pavement: 0 left, 1 right; the other side has grass */
	double cross;  /* rise of the ground per m to the right: up to tan(3 deg) */
	/* width of grass beside the kerb; slope and height of the bank after it, which ends level */
	double grass, bank_grade, bank_rise;
	double rail_top, fence_top;
	float glare_at, glare_width,
		glare; /* white part of the sky: azimuth and width, rad; tone added in its middle */
	float wet;     /* share of the reflected tone on a wet road */
	struct {
		/* spot: position in each of the two images and radius, px; tone */
		float x[2], y[2], radius, light;
	} flare[SX_FLARE_SPOTS];
};

void sx_verge_init(struct sx_scene *s);
/* Adds the ground of one side, from x on. */
void sx_verge_ground(struct sx_scene *s, int side, double x, double texture_z);
/* Adds the shop window of a house, from z0 to z1 of its front at x: a lit one in the dark, or one that mirrors. */
void sx_verge_window(struct sx_scene *s, int side, double x, double z0, double z1, uint64_t h);
/* Adds rails and fences. */
void sx_verge_add(struct sx_scene *s);
/*
 * Call it when the scene is built. Adds the reflections on a wet road, as facets after the scene's own. Then
 * tilts everything. In a scene with windows that mirror, adds their reflections instead, of what is tilted.
 */
void sx_verge_finish(struct sx_scene *s);

#endif
