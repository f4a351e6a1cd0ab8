/*
 * One column of slanted stixels and what is made of it, for tests of the reference.
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

/* The column's rows lie in d; c and scores count where confident and scored say so. */
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
	struct sx_slanted_frame f; /* the road by rows, */
	struct sx_slanted_row row[ROWS];
	struct sx_slanted_place at; /* and in the column */
	int32_t ground[ROWS];
};

/* Cells of one row; objects keep their feet; classes: ground, two of objects, sky. */
struct sx_params rig_params(int rows);
/* height: of the image, ROWS cells of p at most. Fails the test if it cannot be had. */
void rig_init(struct rig *g, const struct sx_params *p, int height, const struct sx_road *road);
void rig_finish(struct rig *g);
/* Lists cover the column without gaps whatever it holds. Returns g->out.list. */
const struct sx_segment *rig_run(struct rig *g);
/* Nats. */
double rig_total(const struct rig *g);
/* A column of one of the kinds of stixel_case.h, with confidence and scores in some. */
void rig_random_column(struct rig *g, int i, struct check_rng *r);

#endif
