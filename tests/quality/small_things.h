/*
 * Which small things are seen, by size and distance (scene "cargo").
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
 * touched: an object stixel whose distance is the thing's within 10 % covers a pixel of it. detected: such
 * ones cover more than half of its pixels. matched: so many have a disparity, which is nearer to the thing's
 * than to that of the ground behind it: what the stixels are made from.
 */
struct small_things {
	uint64_t asked[SX_CARGO_SIZES][SX_CARGO_DISTANCES];
	uint64_t detected[SX_CARGO_SIZES][SX_CARGO_DISTANCES];
	uint64_t touched[SX_CARGO_SIZES][SX_CARGO_DISTANCES];
	uint64_t matched[SX_CARGO_SIZES][SX_CARGO_DISTANCES];
};

/* scene: whose frame the truth is. q4: the disparity map. */
void score_small(struct small_things *s, const struct sx_scene *scene, const struct sx_scene_truth *t,
		 int width, const struct stixel_list *got, const struct sx_image *q4);
/* Nothing if there were none. */
void print_small(const struct small_things *s);
/* False, with a line that says so, if less than min[0] % are detected up to 20 m or min[1] % farther. */
bool judge_small(const struct small_things *s, const double min[2]);

#endif
