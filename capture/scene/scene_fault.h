/*
 * Faults of a stereo rig, planted into drawn pairs: what a checker of cameras is tried on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_FAULT_H
#define SX_CAPTURE_SCENE_SCENE_FAULT_H

#include <stddef.h>

#include "base/image.h"

struct sx_scene;

enum sx_fault_kind {
	SX_FAULT_NONE,
	SX_FAULT_SWAPPED,
	SX_FAULT_ROWS,		/* amount: px by which the right image is lower, -64..64 */
	SX_FAULT_ROTATED,	/* degrees by which the right image is turned clockwise, -10..10 */
	SX_FAULT_DARK_RIGHT,	/* share of the light that is left to the right camera, 0..1 */
	SX_FAULT_BLURRED,	/* sigma of both, px, 0.5..8 */
	SX_FAULT_BLURRED_RIGHT, /* of the right one, likewise */
	SX_FAULT_SAME,		/* the left image twice */
	SX_FAULT_LATE_RIGHT	/* frames by which the right image is later, 1..8 */
};

struct sx_fault {
	enum sx_fault_kind kind;
	double amount; /* 0 where the kind has none */
};

/*
 * "none" (also NULL and ""), "swapped", "rows:N", "rotated:DEG", "dark-right:SHARE", "blurred:PX",
 * "blurred-right:PX", "same", "late-right:N". -EINVAL with a sentence in why; *ret only on success.
 */
int sx_fault_parse(struct sx_fault *ret, const char *text, char *why, size_t why_bytes);

/*
 * Draws a frame as sx_scene_render() does, with the fault. left, right, scratch: U8 of the scene's size;
 * scratch holds nothing afterwards, and may be zeroed for SX_FAULT_NONE. Allocates nothing.
 */
void sx_fault_render(const struct sx_fault *f, struct sx_scene *s, uint32_t frame, struct sx_image *left,
		     struct sx_image *right, struct sx_image *scratch);
/* Plants the fault into a sound pair, likewise; SX_FAULT_LATE_RIGHT needs a scene and does nothing. */
void sx_fault_plant(const struct sx_fault *f, struct sx_image *left, struct sx_image *right,
		    struct sx_image *scratch);

#endif
