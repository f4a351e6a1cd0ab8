/*
 * The contexts of an engine that compute the frames of one configuration. A pipeline has one such set; for a
 * change of parameters another is made beside it, and the frame thread goes over to it between two frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_DAEMON_EXCHANGE_CONTEXTS_H
#define SX_DAEMON_EXCHANGE_CONTEXTS_H

#include <stddef.h>

#include "daemon/camera/road_unit.h"
#include "daemon/exchange/handover.h"
#include "stages/context.h"
#include "stixel.h"

/* So long frames and status say that the camera was changed live; include/stixel.h says 10 s. */
#define SX_CAMERA_CHANGED_NS (10 * SX_NS_PER_S)

/* Thread: frame. Changes of the camera so far, and when the first frame after the last was; 0: none. */
struct sx_camera_mark {
	unsigned changes;
	int64_t changed_ns;
};

/* What a set is made for. */
struct sx_contexts_plan {
	struct sx_context_config config;
	int count;
	bool rectified; /* pairs are raw; config.rectify may also be for a correction of their rows alone */
	bool offered;	/* another process gets the pairs, too (external.pairs) */
	unsigned calibration; /* counts the changes of the camera; a road is none any more for another one */
	unsigned camera;      /* counts the changes that frames are marked for: of any key of [camera] */
};

struct sx_contexts {
	const struct sx_backend *backend;
	struct sx_context *context[SX_CONTEXTS_MAX]; /* used in turn */
	int count;
	size_t bytes; /* of host memory that they hold; 0: the engine's memory is its own */
	struct sx_contexts_plan plan;
	struct sx_rectify_map map[2]; /* by which pairs that are offered are rectified; zeroed: not at all */
	struct sx_road_unit unit;     /* the frame thread's: what maps say of the baseline */
	uint64_t first;		      /* their first frame: the frame thread's, until the old ones are back */
};

/* As many as planned. *ret only on success; the errors of context_create(), with why. */
int sx_contexts_create(struct sx_contexts **ret, const struct sx_backend *backend, struct sx_device *device,
		       const struct sx_contexts_plan *plan, char *why, size_t why_bytes);
/* What all of their frames say: camera, vehicle, columns, of flags STIXEL_FRAME_RECTIFIED and no other. */
void sx_contexts_fill(const struct sx_contexts *s, struct stixel_frame_header *h);
/* Accepts NULL. */
void sx_contexts_destroy(struct sx_contexts *s);

#endif
