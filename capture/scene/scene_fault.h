/*
 * Simulated faults of a stereo rig in drawn pairs, to test checks of cameras.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_CAPTURE_SCENE_SCENE_FAULT_H
#define SX_CAPTURE_SCENE_SCENE_FAULT_H

#include <stddef.h>

#include "base/image.h"
#include "base/why.h"

struct sx_scene;

enum sx_fault_kind {
	SX_FAULT_NONE,
	SX_FAULT_SWAPPED,
	SX_FAULT_ROWS,		/* amount: px by which the right image is shifted down, -64..64 */
	SX_FAULT_ROTATED,	/* degrees by which the right image is rotated clockwise, -10..10 */
	SX_FAULT_DARK_RIGHT,	/* share of the light that reaches the right camera, 0..1 */
	SX_FAULT_BLURRED,	/* sigma of the blur of both images, px, 0.5..8 */
	SX_FAULT_BLURRED_RIGHT, /* sigma of the blur of the right image, px, 0.5..8 */
	SX_FAULT_SAME,		/* the left image is used for both sides */
	SX_FAULT_LATE_RIGHT	/* frames by which the right image is late, 1..8 */
};

struct sx_fault {
	enum sx_fault_kind kind;
	double amount; /* 0 if the kind has no amount */
};

/*
 * Parses "none" (also NULL and ""), "swapped", "rows:N", "rotated:DEG", "dark-right:SHARE", "blurred:PX",
 * "blurred-right:PX", "same" or "late-right:N". Returns -EINVAL with a message in why. *ret is set on success
 * only.
 */
int sx_fault_parse(struct sx_fault *ret, const char *text, struct sx_why *why);

/*
 * Draws a frame like sx_scene_render(), with the fault. left, right, scratch: U8 images of the scene's size.
 * The content of scratch is undefined afterwards; for SX_FAULT_NONE it may be zeroed. Allocates nothing.
 */
void sx_fault_render(const struct sx_fault *f, struct sx_scene *s, uint32_t frame, struct sx_image *left,
		     struct sx_image *right, struct sx_image *scratch);
/*
 * Applies the fault to a faultless pair, with scratch as in sx_fault_render(). SX_FAULT_LATE_RIGHT needs a
 * scene and has no effect here.
 */
void sx_fault_plant(const struct sx_fault *f, struct sx_image *left, struct sx_image *right,
		    struct sx_image *scratch);

#endif
