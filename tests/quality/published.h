/*
 * Makes the frame of a result that the daemon would publish, for functions of libstixel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_QUALITY_PUBLISHED_H
#define SX_TESTS_QUALITY_PUBLISHED_H

#include <stixel.h>

#include "stages/engine.h"

/* A frame. It points into itself and into the result. */
struct published {
	struct stixel_vehicle vehicle;
	struct stixel_frame_header header;
	struct stixel_frame frame;
};

/* Sets the frame. width, height: of the image, px. */
void set_published(struct published *p, const struct sx_params *params, const struct sx_result *got,
		   int width, int height);

#endif
