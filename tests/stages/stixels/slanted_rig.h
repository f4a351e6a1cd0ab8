/*
 * One column of slanted stixels and its results, for tests of the reference.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_STAGES_STIXELS_SLANTED_RIG_H
#define SX_TESTS_STAGES_STIXELS_SLANTED_RIG_H

#include <stixel.h>

#include "stages/stixels/slanted.h"
#include "tests/stixel_case.h"

enum { G = STIXEL_GROUND, O = STIXEL_OBJECT, S = STIXEL_SKY };
enum { ROWS = 64, CLASSES = 4 };

/*
 * Parameters, input and results of one column. `d` holds its rows. The members `c` and `scores` have an
 * effect only if `confident` and `scored` are set.
 */
struct rig {
	struct sx_params p;
	struct sx_road road;
	struct sx_slanted_tables *t;
	struct sx_slanted *s;
	struct sx_segments out;
	int rows;
	uint16_t d[ROWS];
	uint8_t c[ROWS], scores[ROWS * CLASSES];
	bool confident, scored;
	struct sx_slanted_frame f; /* the road in each row, */
	struct sx_slanted_row row[ROWS];
	struct sx_slanted_place at; /* and in the column */
	int32_t ground[ROWS];
};

/*
 * Returns parameters with cells one row high. Objects keep their feet. Classes: ground, two of objects, sky.
 */
struct sx_params rig_params(int rows);
/* Initialises the rig. `height`: height of the image, at most ROWS cells of p. Fails the test on error. */
void rig_init(struct rig *g, const struct sx_params *p, int height, const struct sx_road *road);
void rig_finish(struct rig *g);
/*
 * Computes the column. Checks that the list covers the column without gaps, whatever the column holds.
 * Returns g->out.list.
 */
const struct sx_segment *rig_run(struct rig *g);
/* Returns the total energy, nats. */
double rig_total(const struct rig *g);
/* Fills a column of one of the kinds of stixel_case.h. Some columns have confidence and scores. */
void rig_random_column(struct rig *g, int i, struct check_rng *r);

#endif
