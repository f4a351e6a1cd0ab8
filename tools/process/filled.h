/*
 * A disparity map without holes: what the stixels say of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TOOLS_PROCESS_FILLED_H
#define SX_TOOLS_PROCESS_FILLED_H

#include <stdint.h>

#include "base/image.h"

struct stixel;

/*
 * map: U16 Q4, SX_DISPARITY_INVALID in holes; changed in place. stixels: of the same frame, count of them, in
 * any order, columns column_width px wide.
 *
 * A hole in ground takes the line of its stixel. One in an object takes, of the nearest valid disparities
 * to its left and right in its row, the one nearer to the object's, the smaller if both are as near: an
 * object that leans has not one disparity, but its neighbours' are those of the object or of what is beside
 * it. Elsewhere, in sky and where nothing is known, the smaller of both, as KITTI's devkit does. Without any
 * in its row such a hole stays. -ENOMEM: nothing has changed. Thread: any.
 */
int sx_filled(struct sx_image *map, const struct stixel *stixels, uint32_t count, int column_width);

#endif
