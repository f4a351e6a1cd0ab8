/*
 * Pictures of a street as raw cameras see it, rectified, in place of ideal pictures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_QUALITY_RAW_STREET_H
#define SX_TESTS_QUALITY_RAW_STREET_H

#include "base/why.h"
#include "capture/scene/scene.h"
#include "stages/rectify/rectify.h"

struct raw_street {
	struct sx_scene_params params; /* parameters of the raw pictures; lenses NULL: not in use */
	struct sx_rectify_map map[2];
	struct sx_image raw[2];
};

/*
 * Prepares pictures. Of p it uses the lenses and sizes. Returns 0, or a negative errno with a sentence in
 * `why`. finish accepts a zeroed struct.
 */
int raw_street_init(struct raw_street *r, const struct sx_scene_params *p, struct sx_why *why);
void raw_street_finish(struct raw_street *r);

/*
 * Draws a frame of the scene p, which has ideal lenses, into two U8 images of its size. Returns 0, or a
 * negative errno with a sentence in `why`.
 */
int raw_street_draw(struct raw_street *r, const struct sx_scene_params *p, uint32_t frame,
		    const struct sx_image *left, const struct sx_image *right, struct sx_why *why);

#endif
