/*
 * A synthetic street with known truth. A frame is a function of (name, seed, size, frame number) alone and has
 * the same bytes on every machine: integers, and floating point with + - * / only.
 *
 * The world is made of plane pieces ("facets"). The inverse depth of a plane is an affine function of the image
 * coordinates, so disparity, visibility and texture coordinates of both views are exact at every sub-pixel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_H
#define SX_CAPTURE_SCENE_H

#include <stddef.h>
#include <stdint.h>

#include "base/image.h"

#define SX_SCENE_WIDTH 1242
#define SX_SCENE_HEIGHT 375

struct stixel; /* include/stixel.h */
struct sx_scene;

/*
 * name: "street" (NULL: street); "open": the same road without buildings, trees and parked cars. Streets that are not
 * flat: "climb" and "fall": a road that begins to climb or fall some way ahead; "ramp": a part of a flat street, with the
 * camera's lane or only the right pavement, leads up. The camera drives up to that place and is then put back.
 */
struct sx_scene_params {
	const char *name;
	unsigned seed;
	int width, height; /* px, 32..4096 x 32..2160 */
};

/* Rectified camera: px, m, pitch downwards. Right camera baseline_m to the right of the left one. */
struct sx_scene_camera {
	double fx, fy, cx, cy;
	double baseline_m, height_m, pitch_deg;
};

/*
 * Truth of the left picture, width*height each, row after row without padding.
 * disparity: px, at the pixel's centre; sky 0. kind: enum stixel_kind (ground, object, sky).
 * object: number of the thing seen, 0 for sky and ground; the same number is the same thing within a frame.
 * visible: 1 if the same point is seen in the right picture too, else 0 (hidden, or outside of it).
 * label: class, by Cityscapes' 19 numbers. ground: px, what is seen without all that stands on it; 0 where nothing is.
 * Ground disparity of row y of a flat street, and of others up to where it ends: road_slope*y + road_offset (the
 * pavements lie a kerb higher).
 * camera: of this frame; its pitch swings about the nominal one.
 */
struct sx_scene_truth {
	int width, height;
	float *disparity;
	uint8_t *kind, *visible, *label;
	uint16_t *object;
	float *ground;
	double road_slope, road_offset;
	struct sx_scene_camera camera;
};

/* *ret only on success; -EINVAL for an unknown name or size, -ENOMEM; with a sentence in why. */
int sx_scene_create(struct sx_scene **ret, const struct sx_scene_params *p, char *why, size_t why_bytes);
void sx_scene_destroy(struct sx_scene *s);
const char *sx_scene_name(const struct sx_scene *s);

/* The nominal camera of every scene and seed at this size: what a configuration should say. */
void sx_scene_camera(int width, int height, struct sx_scene_camera *ret);

/*
 * Draws frame number frame of both cameras into two U8 images of the scene's size. Allocates nothing.
 * A scene is used by one thread at a time.
 */
void sx_scene_render(struct sx_scene *s, uint32_t frame, struct sx_image *left, struct sx_image *right);

/* Memory for truth of this scene's size: -ENOMEM. finish accepts a zeroed one. */
int sx_scene_truth_init(struct sx_scene_truth *t, const struct sx_scene *s);
void sx_scene_truth_finish(struct sx_scene_truth *t);

/* Truth of the frame that sx_scene_render() draws under the same number. Same thread rule. */
void sx_scene_truth(struct sx_scene *s, uint32_t frame, struct sx_scene_truth *t);

/*
 * True stixels of columns [u*width, +width), u < t->width/width: each row has the kind (and object) of most of its
 * pixels, equal rows are joined. They cover each column from bottom to top. disparity_q7: mean of an object's
 * rows, ground at row_bottom (slope: of the flat road), sky 0; objects nearer to infinity than 1 px of disparity count as sky.
 * ret: room for columns * t->height; offsets: columns + 1. Returns the number of columns.
 */
int sx_scene_stixels(const struct sx_scene_truth *t, int width, struct stixel *ret, uint32_t *offsets);

#endif
