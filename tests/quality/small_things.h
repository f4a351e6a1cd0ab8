/*
 * Scores which small things are seen, by size and distance (scene "cargo").
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_QUALITY_SMALL_THINGS_H
#define SX_TESTS_QUALITY_SMALL_THINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/scene/scene_cargo.h"
#include "tests/quality/metrics.h"

/*
 * Counts of things. touched: a pixel of the thing is in an object stixel at the thing's distance, within 10
 * %. detected: more than half of its pixels are in such stixels. matched: more than half of its pixels have a
 * disparity that is nearer to the thing's than to that of the ground behind it. Stixels are made from these
 * disparities.
 */
struct small_things {
	uint64_t asked[SX_CARGO_SIZES][SX_CARGO_DISTANCES];
	uint64_t detected[SX_CARGO_SIZES][SX_CARGO_DISTANCES];
	uint64_t touched[SX_CARGO_SIZES][SX_CARGO_DISTANCES];
	uint64_t matched[SX_CARGO_SIZES][SX_CARGO_DISTANCES];
};

/* Scores a pair. scene: the scene of the truth. q4: the disparity map. */
void score_small(struct small_things *s, const struct sx_scene *scene, const struct sx_scene_truth *t,
		 int width, const struct stixel_list *got, const struct sx_image *q4);
/* Prints the percentages, or no line if there were no small things. */
void print_small(const struct small_things *s);
/*
 * Returns false and prints a line if less than min[0] % are detected up to 20 m, or less than min[1] %
 * farther.
 */
bool judge_small(const struct small_things *s, const double min[2]);

#endif
