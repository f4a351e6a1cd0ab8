/*
 * Scores how well the free space of the road (stixel_free_space() with ground_labels) knows where the road ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_QUALITY_ROAD_END_H
#define SX_TESTS_QUALITY_ROAD_END_H

#include <stdbool.h>
#include <stdint.h>

#include "stages/engine.h"
#include "tests/quality/metrics.h"

#define ROAD_END_LEAST_PX 8.0 /* ends of the road with less disparity are too far to be scored */

/* End of the road in a column. */
enum road_end {
	ROAD_END_GROUND, /* ground of another class */
	ROAD_END_OTHER,	 /* an object, or none up to ROAD_END_LEAST_PX */
	ROAD_ENDS
};

/*
 * Counts of columns whose lowest pixel is road, by the true end. far: the free space goes on more than 30 %
 * beyond the end; near: it ends more than 30 % before it. [0]: ground of all classes, [1]: road alone.
 */
struct road_end_score {
	uint64_t columns[ROAD_ENDS];
	uint64_t far[ROAD_ENDS][2], near[ROAD_ENDS][2];
};

/* Scores a pair, in columns first..last. Returns 0 or -ENOMEM. */
int score_road_end(struct road_end_score *s, const struct sx_scene_truth *t, const struct sx_params *params,
		   const struct sx_result *result, int first, int last);
void print_road_end(const struct road_end_score *s);
/* Returns false and prints a line if more than max[0] % are too far at ground, or max[1] % too near at others. */
bool judge_road_end(const struct road_end_score *s, const double max[2]);

#endif
