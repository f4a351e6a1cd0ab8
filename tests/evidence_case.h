/*
 * Random cells, and an image behind them that is bright and blank in places: what tests of the engines'
 * evidence share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_EVIDENCE_CASE_H
#define SX_TESTS_EVIDENCE_CASE_H

#include "stages/params/params.h"
#include "stages/road/road.h"
#include "tests/check.h"

/* want, want_c: by definition. */
struct evidence_case {
	struct sx_params p;
	struct sx_road road;
	struct sx_image left, columns, confidence, want, want_c;
	char what[96];
};

#define EVIDENCE_CASES 160

/* Case i of EVIDENCE_CASES: cells of every size, images narrow, wide and tall, every parameter. */
void evidence_case_init(struct evidence_case *t, int i, struct check_rng *r);
void evidence_case_finish(struct evidence_case *t);

#endif
