/*
 * Random cells and a left image with bright and blank parts, shared by the tests of the engines' evidence.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_EVIDENCE_CASE_H
#define SX_TESTS_EVIDENCE_CASE_H

#include "stages/params/params.h"
#include "stages/road/road.h"
#include "tests/check.h"

/* One case. `want` and `want_c` hold the result computed from the definition. */
struct evidence_case {
	struct sx_params p;
	struct sx_road road;
	struct sx_image left, columns, confidence, want, want_c;
	char what[96];
};

#define EVIDENCE_CASES 160

/*
 * Initialises case i of EVIDENCE_CASES: cells of every size, narrow, wide and tall images, every parameter.
 */
void evidence_case_init(struct evidence_case *t, int i, struct check_rng *r);
void evidence_case_finish(struct evidence_case *t);

#endif
