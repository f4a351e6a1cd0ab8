/*
 * What is true of a frame of the synthetic street (capture/scene/scene.h): pixel by pixel, and as
 * stixels. For tests alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_SCENE_TRUTH_H
#define SX_TESTS_SCENE_TRUTH_H

#include <stdint.h>

#include <stixel.h>

#include "capture/scene/scene.h"

/*
 * Truth of the left picture, width*height each, row after row without padding.
 * disparity: px, at the pixel's centre; sky 0. kind: enum stixel_kind (ground, object, sky).
 * object: number of the thing seen, 0 for sky and ground; the same number is the same thing within a frame.
 * visible: 1 if the same point is seen in the right picture too, else 0 (hidden, or outside of it).
 * label: class, by Cityscapes' 19 numbers. ground: px, what is seen without all that stands on it; 0 where
 * nothing is. Ground disparity of row y of a flat street, and of others up to where it ends:
 * road_slope*y + road_cross*x + road_offset (the pavements lie a kerb higher).
 * through: 1 if it is seen between the bars of a fence, and so neither free nor an obstacle.
 * camera: of this frame; its pitch swings about the nominal one.
 */
struct sx_scene_truth {
	int width, height;
	float *disparity;
	uint8_t *kind, *visible, *label, *through;
	uint16_t *object;
	float *ground;
	double road_slope, road_cross, road_offset;
	struct sx_camera camera;
};

/*
 * Memory for truth of this scene's size: -ENOMEM; -EINVAL for a scene of raw cameras: what is true of their
 * rectified pictures is that of the same scene with ideal lenses. finish accepts a zeroed one.
 */
int sx_scene_truth_init(struct sx_scene_truth *t, const struct sx_scene *s);
void sx_scene_truth_finish(struct sx_scene_truth *t);

/* Truth of the frame that sx_scene_render() draws under the same number. Same thread rule. */
void sx_scene_truth(struct sx_scene *s, uint32_t frame, struct sx_scene_truth *t);

/* m that what is seen at a pixel is above the plane of the road, and how far it is away; 0 m away: sky. */
struct sx_scene_point {
	double height, distance;
};
struct sx_scene_point sx_scene_point(const struct sx_scene_truth *t, int x, int y);

/*
 * True stixels of columns [u*width, +width), u < t->width/width: each row has the kind (and object) of
 * most of its pixels, equal rows are joined. They cover each column from bottom to top. disparity_q7:
 * mean of an object's rows, ground at row_bottom (slope: of the flat road), sky 0; objects nearer to
 * infinity than 1 px of disparity count as sky. ret: room for columns * t->height; offsets: columns + 1.
 * Returns the number of columns.
 */
int sx_scene_stixels(const struct sx_scene_truth *t, int width, struct stixel *ret, uint32_t *offsets);

#endif
