/*
 * Which stixels stand in space, by libstixel's rules.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_RECORDING_MESSAGES_OBSTACLES_H
#define SX_RECORDING_MESSAGES_OBSTACLES_H

#include <stdint.h>

struct stixel_frame;

/*
 * For each stixel of the frame whether stixel_points() has an obstacle of it: 1 or 0. Object stixels
 * without one were measured where nothing can be, lie below the road, or are infinitely far. Its user
 * frees it; NULL: out of memory.
 */
uint8_t *sx_obstacles(const struct stixel_frame *f);

#endif
