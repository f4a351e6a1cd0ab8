/*
 * Parts that the primitives of a scene have in common, see parts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "recording/messages/parts.h"

#include "recording/messages/scene.h"

Foxglove__Vector3 sx_part_vector(double x, double y, double z)
{
	Foxglove__Vector3 v = FOXGLOVE__VECTOR3__INIT;

	v.x = sx_scene_rounded(x), v.y = sx_scene_rounded(y), v.z = sx_scene_rounded(z);
	return v;
}

Foxglove__Pose sx_part_pose(Foxglove__Vector3 *position, Foxglove__Quaternion *orientation)
{
	Foxglove__Pose p = FOXGLOVE__POSE__INIT;

	p.position = position, p.orientation = orientation;
	return p;
}

Foxglove__Color sx_part_colour(struct sx_rgb rgb, double alpha)
{
	Foxglove__Color c = FOXGLOVE__COLOR__INIT;

	c.r = rgb.r / 255.0, c.g = rgb.g / 255.0, c.b = rgb.b / 255.0, c.a = alpha;
	return c;
}
