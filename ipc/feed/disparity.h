/*
 * Layout of disparity maps in shared memory (include/stixel_disparity.h): sizes and rules. Writers and
 * readers share this code.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_FEED_DISPARITY_H
#define SX_IPC_FEED_DISPARITY_H

#include <stdbool.h>
#include <stdint.h>

#include "include/stixel_disparity.h"

#define SX_DISPARITY_PREFIX "stixel-disparity."
#define SX_DISPARITY_SLOTS 8 /* default number of slots of a writer's ring */

/*
 * Sets every field of *h that follows from the arguments, and the rest to 0. False: an argument is out of
 * range.
 */
bool sx_disparity_layout(struct stixel_disparity_header *h, uint32_t width, uint32_t height, bool confidence);

/*
 * True if *h matches sx_disparity_layout() and the rules for newer minor versions. bytes: size of the frame
 * in its slot.
 */
bool sx_disparity_agree(const struct stixel_disparity_header *h, uint64_t bytes);

#endif
