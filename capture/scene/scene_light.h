/*
 * Light that does not come from a surface: a white sky that blooms over objects in front of it, spots of lens
 * flare, and reflections on a wet road.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_LIGHT_H
#define SX_CAPTURE_SCENE_SCENE_LIGHT_H

#include "capture/scene/scene_world.h"

/* Kinds of light of a street with verges. */
enum sx_light_kind { SX_LIGHT_DAY, SX_LIGHT_NIGHT, SX_LIGHT_RAIN, SX_LIGHT_GLASS };

/* Sets the weather of a street, and what depends on it: exposure, glare, how wet the road is. */
void sx_light_init(struct sx_scene *s, enum sx_light_kind kind);
/* Returns the tone of the sky at (x, y) of the view, including glare. */
float sx_view_sky(const struct sx_scene *s, double x, double y);
/* Finds the white pixels of the drawn view, and draws falling rain. Call it before sx_light_lens(). */
void sx_light_prepare(struct sx_view *v, const struct sx_scene *s, int side, uint32_t frame);
/* Returns the tone that bloom, flare and falling rain add to a pixel. */
float sx_light_lens(const struct sx_view *v, const struct sx_scene *s, int side, int x, int y);
/* Returns how wet the road is, 0..1, at x, z in the world, averaged over an extent of `foot` m. */
float sx_light_wet(const struct sx_scene *s, double x, double z, float foot);

#endif
