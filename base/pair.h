/*
 * A stereo pair on its way from a source to an engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_BASE_PAIR_H
#define SX_BASE_PAIR_H

#include "base/image.h"
#include "base/scores.h"

enum sx_stamp_clock { SX_CLOCK_MONOTONIC, SX_CLOCK_REALTIME, SX_CLOCK_UNKNOWN };
enum sx_stamp_source { SX_STAMP_START_OF_EXPOSURE, SX_STAMP_END_OF_FRAME, SX_STAMP_SOFTWARE };

/*
 * left, right: rectified, same size and format, owned by the source until the pair is released.
 * number: counts pairs of this source from 1, also those that are dropped later.
 * scores: of the left image, or NULL: the frame is done without. Only method slanted reads them.
 * left_ns, right_ns: capture times, converted to CLOCK_MONOTONIC where the clock is known.
 */
struct sx_pair {
	struct sx_image left, right;
	uint64_t number;
	int64_t left_ns, right_ns;
	enum sx_stamp_clock clock;
	enum sx_stamp_source stamp;
	const struct sx_scores *scores;
	void *slot; /* the source's own handle: untouched by others */
};

#endif
