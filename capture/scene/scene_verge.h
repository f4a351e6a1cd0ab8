/*
 * What real roads have beside them and the plain streets lack (scene "verge"): the road leans, one side has a
 * kerb, a pavement, a fence and houses, the other grass, a guard rail and a bank. White sky, flare, puddles:
 * scene_light.h.
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

/* What a seed decides once, m. Heights are above the road. */
struct sx_verge {
	bool on;
	int town_side; /* of the pavement: 0 left, 1 right; the other one has grass */
	double cross;  /* the ground rises by this much per m to the right: up to tan(3 deg) */
	double grass, bank_grade, bank_rise; /* width beside the kerb; the bank behind it, which ends level */
	double rail_top, fence_top;
	float glare_at, glare_width,
		glare; /* white part of the sky: azimuth, rad; tone added in its middle */
	float wet;     /* share of what lies above that a wet road shows */
	struct {
		float x[2], y[2], radius, light; /* px, in either picture; tone */
	} flare[SX_FLARE_SPOTS];
};

void sx_verge_init(struct sx_scene *s);
/* Ground of one side, which begins at x. */
void sx_verge_ground(struct sx_scene *s, int side, double x, double texture_z);
/* Rails and fences. */
void sx_verge_add(struct sx_scene *s);
/* When all is built: what a wet road mirrors, as facets behind the scene's own; then all leans. */
void sx_verge_finish(struct sx_scene *s);

#endif
