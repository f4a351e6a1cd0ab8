/*
 * Finds the stixels that are obstacles in space, by libstixel's rules.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_MESSAGES_OBSTACLES_H
#define SX_RECORDING_MESSAGES_OBSTACLES_H

#include <stdint.h>

struct stixel_frame;

/*
 * Returns for each stixel of the frame whether stixel_points() has an obstacle for it: 1 or 0. An object
 * stixel without obstacle was measured at an impossible place, lies below the road, or is infinitely far. The
 * caller frees the result. NULL: out of memory.
 */
uint8_t *sx_obstacles(const struct stixel_frame *f);

#endif
