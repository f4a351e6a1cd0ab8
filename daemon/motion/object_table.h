/*
 * Objects of a frame as readers get them: a table of the objects that are shown, and the object of each stixel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_MOTION_OBJECT_TABLE_H
#define SX_DAEMON_MOTION_OBJECT_TABLE_H

#include <stdint.h>

#include "base/camera.h"
#include "stages/motion/filter/objects.h"
#include "stixel.h"

/* The input of a table: a frame, and the objects that the engine found in it. */
struct sx_object_source {
	const struct sx_motion_objects *objects;
	const uint32_t *object_of; /* for each stixel the identity of its object; 0: it has none */
	const struct stixel *stixels;
	const struct stixel_frame_header *header; /* has the number of stixels and the image's size */
	const struct sx_camera *camera;
	uint32_t base_id; /* the table adds it to identities, which begin at 1 in each chain */
	double offset_px; /* disparity of an object minus the disparity of its stixels in the frame */
};

struct sx_object_table {
	struct stixel_object objects[STIXEL_OBJECTS_MAX];
	uint32_t count;
	/* Memory of the caller for each stixel: 0, or 1 + the index of its object. Not written without objects. */
	uint8_t *object_of;
};

/*
 * Fills a table with the objects that are shown and that lie in the image. The function leaves out an object that
 * readers would refuse. Only an error of the filter makes such an object; it then costs the object, not the frame.
 */
void sx_object_table_fill(struct sx_object_table *table, const struct sx_object_source *source);

#endif
