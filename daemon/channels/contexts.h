/*
 * The contexts of an engine that compute the frames of one configuration. A pipeline has one such set. For a
 * change of parameters main makes another set, and the frame thread switches to it between two frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_CHANNELS_CONTEXTS_H
#define SX_DAEMON_CHANNELS_CONTEXTS_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/why.h"
#include "daemon/camera/road_unit.h"
#include "daemon/channels/mailbox.h"
#include "daemon/motion/object_table.h"
#include "stages/context.h"
#include "stixel.h"

/* Time for which frames and status report a live change of the camera. include/stixel.h says 10 s. */
#define SX_CAMERA_CHANGED_NS (10 * SX_NS_PER_S)

/*
 * Thread: frame. Number of changes of the camera, and the time of the first frame after the last change; 0:
 * none.
 */
struct sx_camera_mark {
	unsigned changes;
	int64_t changed_ns;
};

/* Configuration of a set of contexts. */
struct sx_contexts_plan {
	struct sx_context_config config;
	int count;
	bool rectified; /* pairs are raw; config.rectify is also true for a row correction alone */
	bool offered;	/* pairs are also offered to another process (external.pairs) */
	/* number of changes of calibration; a road is used only with its own calibration */
	unsigned calibration;
	unsigned camera; /* number of changes of keys in [camera]; frames after a change get a flag */
};

/* Chain of motion; sets of contexts whose frames may join it share it. */
struct sx_shared_chain {
	struct sx_chain *chain;
	atomic_int users; /* sets of contexts */
	/* frame thread */
	bool is_published; /* a frame of the chain was published */
	uint32_t base_id;  /* valid then: greatest identity of an object before that frame */
};

struct sx_contexts {
	const struct sx_backend *backend;
	struct sx_context *context[SX_CONTEXTS_MAX]; /* used in turn */
	int count;
	size_t bytes; /* host memory of the contexts; 0: the engine has its own memory */
	struct sx_contexts_plan plan;
	struct sx_shared_chain *chain; /* NULL: motion.mode is off */
	/* Memory in which the frame thread writes parts of a frame. NULL: no frame has the part. */
	struct stixel_motion *records;	 /* Each stixel has one. Frames have them with a chain. */
	struct sx_object_table *objects; /* Frames have it with motion.mode = filter. */
	struct stixel *corrected;	 /* Frames have these stixels with motion.range_offset = apply. */
	struct sx_rectify_map map[2];	 /* rectification of offered pairs; zeroed: none */
	struct sx_road_unit unit;	 /* frame thread's: check of the baseline's unit */
	uint64_t first; /* number of their first frame; frame thread's until the old contexts are returned */
};

/*
 * Makes plan->count contexts. before: contexts of the same pipeline, or NULL; their chain of motion goes on if it
 * fits, and it must live meanwhile. Sets *ret only on success. Errors with why, as context_create().
 */
int sx_contexts_create(struct sx_contexts **ret, const struct sx_backend *backend, struct sx_device *device,
		       const struct sx_contexts_plan *plan, const struct sx_contexts *before,
		       struct sx_why *why);
/*
 * Fills the header fields that are equal in all of their frames: camera, vehicle, columns. Of the flags it
 * sets STIXEL_FRAME_RECTIFIED and no other.
 */
void sx_contexts_fill(const struct sx_contexts *s, struct stixel_frame_header *h);
/* Accepts NULL. */
void sx_contexts_destroy(struct sx_contexts *s);

#endif
