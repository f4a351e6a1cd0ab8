/*
 * Scores which persons of a street are found, by distance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_QUALITY_PERSONS_H
#define SX_TESTS_QUALITY_PERSONS_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/quality/metrics.h"

#define PERSON_DISTANCES 4 /* up to 15 m, to 25 m, to 35 m, to 50 m */
#define PERSON_PIXELS 40   /* a person of which fewer pixels are visible does not count */

/*
 * Counts of persons. A person is covered where a pixel is in an object stixel at its distance, within 10 %.
 * detected: more than half of its visible pixels are covered. touched: a pixel is. named: more than half of its
 * visible pixels are in stixels with the label person.
 */
struct person_score {
	uint64_t asked[PERSON_DISTANCES];
	uint64_t detected[PERSON_DISTANCES];
	uint64_t touched[PERSON_DISTANCES];
	uint64_t named[PERSON_DISTANCES];
};

/* Scores a pair, in columns first..last, each width px. Returns 0 or -ENOMEM. */
int score_persons(struct person_score *s, const struct sx_scene_truth *t, int width, int first, int last,
		  const struct stixel_list *got);
/* Prints a line for each distance at which there were persons. labels: with the share of those named. */
void print_persons(const struct person_score *s, bool labels);
/* Returns false and prints a line if less than min % of the persons 25 to 35 m away are detected. */
bool judge_persons(const struct person_score *s, double min);

#endif
