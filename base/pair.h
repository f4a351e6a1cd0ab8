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
 * left, right: rectified, or raw where the engine rectifies; same size and format, owned by the source until
 * the pair is released.
 * number: counts pairs of this source from 1, also those that are dropped later.
 * scores: of the left image, or NULL: the frame is done without. Only method slanted reads them.
 * disparity: of the left image, or NULL; only a matcher that is external reads it, and then NULL is a pair of
 * which nothing was measured.
 * left_ns, right_ns: capture times, converted to CLOCK_MONOTONIC where the clock is known.
 */
struct sx_pair {
	struct sx_image left, right;
	uint64_t number;
	int64_t left_ns, right_ns;
	enum stixel_clock clock;
	enum stixel_stamp stamp;
	const struct sx_scores *scores;
	const struct sx_disparity *disparity;
	void *slot; /* the source's own handle: untouched by others */
};

#endif
