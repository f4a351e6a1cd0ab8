/*
 * A synthetic street with known truth. A frame is a function of (name, seed, size, frame number) alone and
 * has the same bytes on every machine: integers, and floating point with + - * / only. Raw cameras see it
 * through lenses, whose tables also take sines and square roots, and are rounded.
 *
 * The world is made of plane pieces ("facets"). The inverse depth of a plane is an affine function of the
 * image coordinates, so disparity, visibility and texture coordinates of both views are exact at every
 * sub-pixel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_H
#define SX_CAPTURE_SCENE_SCENE_H

#include <stddef.h>
#include <stdint.h>

#include "base/camera.h"
#include "base/image.h"
#include "base/rig.h"

#define SX_SCENE_WIDTH 1242
#define SX_SCENE_HEIGHT 375

struct stixel; /* include/stixel.h */
struct sx_scene;

/*
 * name: "street" (NULL: street); "open": the same road without buildings, trees and parked cars. Not flat are
 * "climb" and "fall", a road that begins to climb or fall some way ahead, and "ramp": a part of a flat
 * street, with the camera's lane or only the right pavement, leads up. The camera drives up to that place and
 * is then put back. "verge": a road that leans, with kerbs, a fence and houses on one side, grass, guard rail
 * and bank on the other, white sky, flare and puddles; kerbs, pavements and banks are ground, rails and bars
 * of fences objects. "cargo": the open road, empty but for small things of known size and distance.
 *
 * lenses: "ideal" (NULL: ideal), pictures are a rectified pair. Others are raw, to be rectified by
 * sx_scene_rig(), and then those of ideal lenses but for what interpolation takes. "plain": barrel
 * distortion, as cheap cameras have; "wide": up to 105 degrees, the rational model; "fisheye": up to 124
 * degrees. Both cameras are turned, between each other by 1.7 degrees, and have focal lengths and principal
 * points of their own.
 *
 * raw_width, raw_height: of raw pictures, within the same limits; 0: as the rectified ones.
 */
struct sx_scene_params {
	const char *name;
	unsigned seed;
	int width, height; /* of the rectified pictures, px, 32..4096 x 32..2160 */
	const char *lenses;
	int raw_width, raw_height;
};

/* *ret only on success; -EINVAL for an unknown name, lenses or size, -ENOMEM; with a sentence in why. */
int sx_scene_create(struct sx_scene **ret, const struct sx_scene_params *p, char *why, size_t why_bytes);
void sx_scene_destroy(struct sx_scene *s);
const char *sx_scene_name(const struct sx_scene *s);

/* The nominal camera of every scene and seed at this size, rectified: what a configuration should say. */
void sx_scene_camera(int width, int height, struct sx_camera *ret);

/*
 * The raw cameras of these lenses and sizes, and how they become the nominal one: all of the rectified images
 * is seen. "ideal": rectified already (sx_rig_is_rectified()), and of the rectified size. name and seed do
 * not matter. -EINVAL for other lenses than above, with a sentence in why; *ret is only written on success.
 */
int sx_scene_rig(const struct sx_scene_params *p, struct sx_rig *ret, char *why, size_t why_bytes);

/*
 * Draws frame number frame of both cameras into two U8 images of the scene's size. Allocates nothing.
 * A scene is used by one thread at a time.
 */
void sx_scene_render(struct sx_scene *s, uint32_t frame, struct sx_image *left, struct sx_image *right);

#endif
