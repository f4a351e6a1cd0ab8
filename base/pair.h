/*
 * A stereo pair on its way from a source to an engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_PAIR_H
#define SX_BASE_PAIR_H

#include "base/disparity.h"
#include "base/image.h"
#include "base/scores.h"
#include "stixel.h"

/*
 * A stereo pair.
 * left, right: rectified images, or raw ones if the engine rectifies. They have the same size and format. The
 * source owns them until the pair is released.
 * number: counts the pairs of this source from 1, including pairs that are dropped later.
 * scores: class scores of the left image; NULL: the frame is computed without them. Only method slanted reads
 * them.
 * disparity: disparity map of the left image, or NULL. Only the external matcher reads it; with NULL it takes
 * all pixels of the pair as not measured.
 * left_ns, right_ns: capture times, converted to CLOCK_MONOTONIC if the clock is known.
 */
struct sx_pair {
	struct sx_image left, right;
	uint64_t number;
	int64_t left_ns, right_ns;
	enum stixel_clock clock;
	enum stixel_stamp stamp;
	const struct sx_scores *scores;
	const struct sx_disparity *disparity;
	void *slot; /* handle of the source; no other code uses it */
};

#endif
