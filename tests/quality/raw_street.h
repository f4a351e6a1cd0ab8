/*
 * Pictures of a street as raw cameras see it, rectified: in place of ideal ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_QUALITY_RAW_STREET_H
#define SX_TESTS_QUALITY_RAW_STREET_H

#include "capture/scene/scene.h"
#include "stages/rectify/rectify.h"

struct raw_street {
	struct sx_scene_params params; /* of the raw pictures; lenses NULL: not in use */
	struct sx_rectify_map map[2];
	struct sx_image raw[2];
};

/* Of p lenses and sizes count. Negative errno with a sentence in why. finish accepts a zeroed one. */
int raw_street_init(struct raw_street *r, const struct sx_scene_params *p, char *why, size_t why_bytes);
void raw_street_finish(struct raw_street *r);

/* A frame of the scene p, which has ideal lenses, into two U8 images of its size. Errors likewise. */
int raw_street_draw(struct raw_street *r, const struct sx_scene_params *p, uint32_t frame,
		    const struct sx_image *left, const struct sx_image *right, char *why, size_t why_bytes);

#endif
