/*
 * Parts that the primitives of a scene have in common.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_MESSAGES_PARTS_H
#define SX_RECORDING_MESSAGES_PARTS_H

#include <foxglove/SceneUpdate.pb-c.h>

#include "recording/messages/palette.h"

/* Returns a vector of lengths, rounded as sx_scene_rounded() rounds them. */
Foxglove__Vector3 sx_part_vector(double x, double y, double z);
/* Returns a pose. Position and orientation must live until the message is packed. */
Foxglove__Pose sx_part_pose(Foxglove__Vector3 *position, Foxglove__Quaternion *orientation);
/* Returns a colour. alpha: 0 transparent .. 1 opaque. */
Foxglove__Color sx_part_colour(struct sx_rgb rgb, double alpha);

#endif
