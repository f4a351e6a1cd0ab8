/*
 * How far the ground is free in a stixel column.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_DRAW_FREE_SPACE_H
#define SX_TOOLS_DRAW_FREE_SPACE_H

#include <stdbool.h>
#include <stdint.h>

struct stixel_frame;

/*
 * Distance along the optical axis up to the lowest object of the column, m, *object is then true; or,
 * where there is none, up to where the column's ground ends, INFINITY at the horizon. 0: nothing is
 * known. Needs a camera model.
 */
double sx_free_space_m(const struct stixel_frame *f, uint32_t column, bool *object);

#endif
