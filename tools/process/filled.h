/*
 * Fills the holes of a disparity map by means of the stixels.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PROCESS_FILLED_H
#define SX_TOOLS_PROCESS_FILLED_H

#include <stdint.h>

#include "base/image.h"

struct stixel;

/*
 * Fills the holes of a map in place. map: U16 Q4, SX_DISPARITY_INVALID in holes. stixels: `count` stixels of
 * the same frame in any order, with columns of column_width px.
 *
 * A hole in ground takes the disparity of its stixel's line. A hole in an object takes one of the two nearest
 * valid disparities to its left and right in its row: the one nearer to the object's, or the smaller if both
 * are as near. An object that leans has no single disparity, but its neighbours belong to the object or to
 * what is beside it. A hole in sky or unknown takes the smaller of both, as KITTI's devkit does. If its row
 * has no valid disparity, such a hole stays. Returns 0, or -ENOMEM without a change. Thread: any.
 */
int sx_filled(struct sx_image *map, const struct stixel *stixels, uint32_t count, int column_width);

#endif
