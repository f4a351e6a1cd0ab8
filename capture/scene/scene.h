/*
 * A synthetic street with known truth. A frame is a function of (name, seed, size, frame number) alone and
 * has the same bytes on every machine: integers, and floating point with + - * / only.
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
 */
struct sx_scene_params {
	const char *name;
	unsigned seed;
	int width, height; /* px, 32..4096 x 32..2160 */
};

/* *ret only on success; -EINVAL for an unknown name or size, -ENOMEM; with a sentence in why. */
int sx_scene_create(struct sx_scene **ret, const struct sx_scene_params *p, char *why, size_t why_bytes);
void sx_scene_destroy(struct sx_scene *s);
const char *sx_scene_name(const struct sx_scene *s);

/* The nominal camera of every scene and seed at this size: what a configuration should say. */
void sx_scene_camera(int width, int height, struct sx_camera *ret);

/*
 * Draws frame number frame of both cameras into two U8 images of the scene's size. Allocates nothing.
 * A scene is used by one thread at a time.
 */
void sx_scene_render(struct sx_scene *s, uint32_t frame, struct sx_image *left, struct sx_image *right);

#endif
