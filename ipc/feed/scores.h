/*
 * Layout of class scores in shared memory (include/stixel.h): sizes and rules. Writers and readers share this
 * code.
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
#define SX_SCORES_SLOTS 8 /* default number of slots of a writer's ring */

/*
 * Sets every field of *h that follows from the four arguments, and the rest to 0. False: an argument is out
 * of range, or the frame is larger than STIXEL_FRAME_BYTES_MAX.
 */
bool sx_scores_layout(struct stixel_scores_header *h, uint32_t classes, uint32_t image_width,
		      uint32_t image_height, uint32_t scale);

/*
 * True if *h matches sx_scores_layout() and the rules for newer minor versions. bytes: size of the frame in
 * its slot.
 */
bool sx_scores_agree(const struct stixel_scores_header *h, uint64_t bytes);

#endif
