/*
 * Scores a disparity map and a list of stixels against the truth of a synthetic scene.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_QUALITY_METRICS_H
#define SX_TESTS_QUALITY_METRICS_H

#include <stdint.h>

#include <stixel.h>

#include "base/image.h"
#include "tests/scene_truth.h"

/* NOC: pixels that both cameras see. ALL: all pixels. Sky has no true disparity, as in KITTI. */
enum { NOC, ALL };

struct disparity_score {
	uint64_t truth[2]; /* pixels with a true disparity */
	uint64_t given[2]; /* pixels of `truth` with an estimate */
	uint64_t wrong[2]; /* pixels of `given` that are off by > 3 px and > 5 % (D1 of KITTI 2015: and) */
	double error_sum;  /* sum of |error| over the right ones of `given` among NOC, px */
};

/*
 * Stixel metrics of "GPU-accelerated real-time stixel computation" (WACV 2017), section 5:
 * - A true stixel is detected if more than half of its pixels lie in estimated object stixels (their sum).
 * - A false positive is an estimated object stixel with more than 30 pixels in true free space.
 * The paper does not define free space. Here free space is ground that reaches from the picture's bottom up
 * to the first thing standing on it:
 *   LITERAL: all of it. Counts every column beside an object in which the matching window (9 px) or the
 *     shadow of the other camera's view makes the object wider than it is.
 *   MEASURABLE: ground that both cameras see, in this stixel column and the ones beside it.
 *   CORRIDOR: MEASURABLE, and where the car is about to drive: within 1 m of the camera's path. Nearest
 *     to the data that the paper measured on (Pfeiffer, Gehrig, Schneider, CVPR 2013: false positives
 *     in the driving corridor).
 */
enum { LITERAL, MEASURABLE, CORRIDOR, SPACES };

struct stixel_score {
	uint64_t truth, detected;
	uint64_t false_positives[SPACES], pairs_with_false[SPACES];
	uint64_t pairs;
	uint64_t stixels, pixels; /* estimated stixels, and the pixels that they represent */
};

/* True object stixels with fewer pixels are not scored. */
#define QUALITY_SMALLEST_PX 30
#define QUALITY_FALSE_PX 30

struct stixel_list {
	const struct stixel *stixels;
	const uint32_t *offsets; /* columns + 1 of them */
};

/* Returns the stixel of column u in image row y, or NULL. */
const struct stixel *stixel_at(const struct stixel_list *list, int u, int y);

/* Returns a percentage, 0 if the whole is 0. */
static inline double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

void score_disparity(struct disparity_score *s, const struct sx_scene_truth *t, const struct sx_image *q4);

/*
 * Scores the stixels of a pair. width: of a stixel column, px. first..last: columns that are scored. scratch:
 * columns * t->height bytes.
 */
void score_stixels(struct stixel_score *s, const struct sx_scene_truth *t, int width, int first, int last,
		   const struct stixel_list *truth, const struct stixel_list *got, uint8_t *scratch);

#endif
