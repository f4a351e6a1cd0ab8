/*
 * Class scores in shared memory (include/stixel.h): sizes and rules, one copy for who
 * writes and who reads them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_IPC_FEED_SCORES_H
#define SX_IPC_FEED_SCORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/stixel.h"

#define SX_SCORES_PREFIX "stixel-scores."
#define SX_SCORES_SLOTS 8 /* of a ring whose writer does not say */

/*
 * Everything of *h that follows from these four; the rest is 0. False: a number out of range, or more than
 * STIXEL_FRAME_BYTES_MAX together.
 */
bool sx_scores_layout(struct stixel_scores_header *h, uint32_t classes, uint32_t image_width,
		      uint32_t image_height, uint32_t scale);

/*
 * True when *h, of which bytes lie in its slot, is as sx_scores_layout() and the rules
 * of a newer minor have it.
 */
bool sx_scores_agree(const struct stixel_scores_header *h, uint64_t bytes);

#endif
