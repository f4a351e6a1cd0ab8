/*
 * Disparity maps in shared memory (include/stixel_disparity.h): sizes and rules, one copy for who writes and
 * who reads them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_FEED_DISPARITY_H
#define SX_IPC_FEED_DISPARITY_H

#include <stdbool.h>
#include <stdint.h>

#include "include/stixel_disparity.h"

#define SX_DISPARITY_PREFIX "stixel-disparity."
#define SX_DISPARITY_SLOTS 8 /* of a ring whose writer does not say */

/* Everything of *h that follows from these; the rest is 0. False: a number out of range. */
bool sx_disparity_layout(struct stixel_disparity_header *h, uint32_t width, uint32_t height, bool confidence);

/*
 * True when *h, of which bytes lie in its slot, is as sx_disparity_layout() and the rules of a newer minor
 * have it.
 */
bool sx_disparity_agree(const struct stixel_disparity_header *h, uint64_t bytes);

#endif
