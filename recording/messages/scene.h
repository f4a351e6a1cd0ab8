/*
 * Stixels in space: what a 3-D viewer shows of a frame.
 *
 * Frame "camera": left rectified camera; x right, y down, z along the optical axis, m. Frame "road": origin
 * on the road below the camera; x forward, y left, z up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_MESSAGES_SCENE_H
#define SX_RECORDING_MESSAGES_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/stixel.h"

#define SX_SCENE_FAR_M 200.0 /* nothing is drawn beyond */

struct sx_scene_point {
	double x, y, z;
};

/* An upright object: a thin box. */
struct sx_scene_box {
	struct sx_scene_point centre, size;
	double r, g, b;
};

/*
 * A piece of the ground, or of a leaning object: four corners, bottom left, bottom
 * right, top right, top left.
 */
struct sx_scene_quad {
	struct sx_scene_point corner[4];
};

/* A point of a cloud, as it lies in a foxglove.PointCloud. */
struct sx_scene_dot {
	float x, y, z;
	uint8_t r, g, b, a;
};
_Static_assert(sizeof(struct sx_scene_dot) == 16, "layout of the message");

struct sx_scene {
	struct sx_scene_box *boxes;
	struct sx_scene_quad *quads;
	size_t box_count, quad_count, room;
	struct sx_scene_dot *dots; /* the same stixels, for viewers that show points alone */
	size_t dot_count, dot_room;
};

/* Distances are known: there is a camera model. */
bool sx_scene_has_camera(const struct stixel_frame_header *h);
/*
 * Replaces what is in the scene: obstacles (sx_obstacles()) and ground that was seen, of which a blind
 * frame has none; sky, and what has no disparity, has no place. -ENOMEM. A zeroed scene is ready.
 */
int sx_scene_fill(struct sx_scene *s, const struct stixel_frame *frame);
void sx_scene_finish(struct sx_scene *s);

/* Camera in the road's frame: height, and the rotation as a quaternion x, y, z, w. */
void sx_scene_camera_pose(const struct stixel_frame_header *h, double *height_m, double quaternion[4]);

#endif
