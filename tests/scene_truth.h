/*
 * Ground truth of a frame of the synthetic street (capture/scene/scene.h), per pixel and as stixels. For
 * tests only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_SCENE_TRUTH_H
#define SX_TESTS_SCENE_TRUTH_H

#include <stdint.h>

#include <stixel.h>

#include "capture/scene/scene.h"

/*
 * Ground truth of the left picture. Each array has width*height values, row after row without padding.
 * `disparity`: px, at the pixel's centre; sky 0. `kind`: enum stixel_kind (ground, object, sky).
 * `object`: number of the visible object, 0 for sky and ground. Within a frame the same number means the same
 * object.
 * `visible`: 1 if the right picture shows the same point too, else 0 (hidden or outside of the picture).
 * `label`: class, by Cityscapes' 19 numbers.
 * `ground`: disparity of the ground without the objects that stand on it, px; 0 where there is no ground. On
 * a flat street the ground disparity of row y is road_slope*y + road_cross*x + road_offset. On other streets
 * this holds up to the end of the flat part. Pavements lie a kerb higher.
 * `through`: 1 if the pixel is seen between the bars of a fence. Such a pixel is neither free nor an
 * obstacle.
 * `camera`: camera of this frame. Its pitch swings about the nominal one.
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
 * Allocates the truth for the size of this scene. Errors: -ENOMEM. -EINVAL for a scene of raw cameras: use
 * the same scene with ideal lenses, whose truth is that of the rectified pictures. finish accepts a zeroed
 * struct.
 */
int sx_scene_truth_init(struct sx_scene_truth *t, const struct sx_scene *s);
void sx_scene_truth_finish(struct sx_scene_truth *t);

/*
 * Computes the truth of the frame that sx_scene_render() draws under the same number. The same thread rule
 * applies.
 */
void sx_scene_truth(struct sx_scene *s, uint32_t frame, struct sx_scene_truth *t);

/*
 * Height of the point at a pixel above the plane of the road, and its distance, both in m. A distance of 0 m
 * means sky.
 */
struct sx_scene_point {
	double height, distance;
};
struct sx_scene_point sx_scene_point(const struct sx_scene_truth *t, int x, int y);

/*
 * Computes the true stixels of columns [u*width, +width), u < t->width/width. Each row gets the kind (and
 * object) of most of its pixels, and equal rows are joined. The stixels cover each column from bottom to top.
 * disparity_q7: mean of an object's rows, ground at row_bottom (slope: of the flat road), sky 0. Objects with
 * a disparity below 1 px count as sky. `ret`: room for columns * t->height stixels. `offsets`: columns + 1
 * values. Returns the number of columns.
 */
int sx_scene_stixels(const struct sx_scene_truth *t, int width, struct stixel *ret, uint32_t *offsets);

#endif
