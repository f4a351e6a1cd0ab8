/*
 * Pairs and disparity maps for tests of the image diagnostics (stages/diagnostics/diagnostics.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_DIAGNOSTICS_CASE_H
#define SX_TESTS_DIAGNOSTICS_CASE_H

#include "stages/diagnostics/diagnostics.h"
#include "tests/check.h"

struct diagnostics_case {
	struct check_image grey[2], checked, finished, columns;
	struct sx_image pair[2];
	struct sx_diagnostics_input in; /* points into this struct */
};

/*
 * Allocates the images of a case. Stixel columns are 5 px wide, with cells 1 px high. Aborts without memory.
 */
void diagnostics_case_init(struct diagnostics_case *c, int width, int height, int padding);
/* Frees the case. Returns false if something was written outside the pixels. */
bool diagnostics_case_finish(struct diagnostics_case *c);
/*
 * Fills the case. The right image consists of parts of the left one, moved by a few columns and up to 10
 * rows. The maps hold these disparities, with holes and with some disparities that point anywhere. Stixel
 * columns have all cells, one cell or no cell.
 */
void diagnostics_case_fill(struct diagnostics_case *c, enum check_fill how, struct check_rng *r);

#endif
