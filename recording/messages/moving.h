/*
 * What moves in a frame, for a 3-D viewer: boxes of objects with their identity, and arrows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_MESSAGES_MOVING_H
#define SX_RECORDING_MESSAGES_MOVING_H

#include <foxglove/SceneUpdate.pb-c.h>

#include "include/stixel.h"

/* Parts of an entity, and the memory that they take. Zero it to initialize it. */
struct sx_moving {
	size_t arrow_room, arrow_count;
	struct sx_moving_arrow *arrow_parts;
	Foxglove__ArrowPrimitive **arrows;
	size_t box_room, box_count;
	struct sx_moving_box *box_parts;
	Foxglove__CubePrimitive **cubes;
	Foxglove__TextPrimitive **texts;
};

/*
 * Sets the arrows, cubes and texts of an entity in the axes of the camera, and its id: "moving". An object that does
 * not stand has a box with its identity, one that moves also has its speed, and an arrow to its place in half a second.
 * If the publisher does not follow objects, each stixel that moves has an arrow. If the frame says nothing of motion,
 * or is blind, the entity has no parts: it replaces the entity of the frame before, which a viewer keeps otherwise.
 * -ENOMEM. *moving must live until the message is packed.
 */
int sx_moving_fill(struct sx_moving *moving, const struct stixel_frame *frame, Foxglove__SceneEntity *entity);
void sx_moving_finish(struct sx_moving *moving);

#endif
