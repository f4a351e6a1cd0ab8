/*
 * Objects of a frame as readers get them: a table of those that are shown, and which one each stixel belongs to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_MOTION_OBJECT_TABLE_H
#define SX_DAEMON_MOTION_OBJECT_TABLE_H

#include <stdint.h>

#include "base/camera.h"
#include "stages/motion/filter/objects.h"
#include "stixel.h"

/* What the engine says about the objects of a frame. */
struct sx_object_source {
	const struct sx_motion_objects *objects;
	const uint32_t *object_of; /* identity of the object of each stixel, 0: none */
	const struct stixel *stixels;
	const struct stixel_frame_header *header; /* of the frame: number of stixels, size of the image */
	const struct sx_camera *camera;
	uint32_t base_id; /* added to the identities of the chain: they begin at 1 in each chain */
	double offset_px; /* disparity of an object minus that of its stixels in the frame */
};

struct sx_object_table {
	struct stixel_object objects[STIXEL_OBJECTS_MAX];
	uint32_t count;
	/* Memory of the caller for each stixel: 0, or 1 + the index of its object. Not written without objects. */
	uint8_t *object_of;
};

/*
 * Fills a table with the objects that are shown and that lie in the image. An object with a number that readers would
 * refuse is left out: that is never the case unless the filter is wrong, and costs one object instead of the frame.
 */
void sx_object_table_fill(struct sx_object_table *table, const struct sx_object_source *source);

#endif
