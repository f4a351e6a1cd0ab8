/*
 * Light that no surface has of its own: a white sky that blooms over what stands before it, spots of a lens's
 * flare, and what a wet road mirrors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_LIGHT_H
#define SX_CAPTURE_SCENE_SCENE_LIGHT_H

#include "capture/scene/scene_world.h"

/* Returns the tone of the sky at (x, y) of the view, glare included. */
float sx_view_sky(const struct sx_scene *s, double x, double y);
/* Where the drawn view is white: before sx_light_lens(). */
void sx_light_prepare(struct sx_view *v, const struct sx_scene *s);
/* Tone that bloom and flare add to a pixel. */
float sx_light_lens(const struct sx_view *v, const struct sx_scene *s, int side, int x, int y);
/* 0..1: how wet the road is at x, z in the world, seen over an extent of foot m. */
float sx_light_wet(const struct sx_scene *s, double x, double z, float foot);

#endif
