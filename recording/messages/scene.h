/*
 * Stixels in space: the parts of a frame that a 3-D viewer shows.
 *
 * Frame "camera": left rectified camera; x right, y down, z along the optical axis, m. Frame "road": origin
 * on the road below the camera; x forward, y left, z up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_MESSAGES_SCENE_H
#define SX_RECORDING_MESSAGES_SCENE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/stixel.h"
#include "recording/messages/palette.h"

#define SX_SCENE_FAR_M 200.0 /* greatest distance that is drawn */

struct sx_scene_point {
	double x, y, z;
};

/* An upright object: a thin box. */
struct sx_scene_box {
	struct sx_scene_point centre, size;
	struct sx_rgb colour;
};

/*
 * A piece of the ground, or of a leaning object, with four corners: bottom left, bottom right, top right, top
 * left.
 */
struct sx_scene_quad {
	struct sx_scene_point corner[4];
};

/* A point of a cloud, in the layout of foxglove.PointCloud. */
struct sx_scene_dot {
	float x, y, z;
	uint8_t r, g, b, a;
};
_Static_assert(sizeof(struct sx_scene_dot) == 16, "layout of the message");

struct sx_scene {
	struct sx_scene_box *boxes;
	struct sx_scene_quad *quads;
	size_t box_count, quad_count, room;
	struct sx_scene_dot *dots; /* the same stixels for viewers that only show points */
	size_t dot_count, dot_room;
};

/*
 * Rounds a length to 1/1024 m, about 1 mm. Stixels are far less accurate than this, and a double with few
 * digits takes half the bytes in a compressed chunk.
 */
static inline double sx_scene_rounded(double m)
{
	return rint(m * 1024.0) / 1024.0;
}

/* Returns the point of an image position with this disparity. Pixel centres have whole numbers. */
struct sx_scene_point sx_scene_place(const struct stixel_frame_header *h, double column, double row,
				     double disparity_px);
/* Returns whether there is a camera model, so that distances are known. */
bool sx_scene_has_camera(const struct stixel_frame_header *h);
/*
 * Replaces the content of the scene by obstacles (sx_obstacles()) and visible ground. A blind frame has no
 * visible ground. Sky, and stixels without disparity, have no place in space. range: colours of distances.
 * -ENOMEM. Zero a scene to initialize it.
 */
int sx_scene_fill(struct sx_scene *s, const struct stixel_frame *frame, const struct sx_palette_range *range);
void sx_scene_finish(struct sx_scene *s);

/* Computes the camera's pose in the road's frame: height, and rotation as a quaternion x, y, z, w. */
void sx_scene_camera_pose(const struct stixel_frame_header *h, double *height_m, double quaternion[4]);

#endif
