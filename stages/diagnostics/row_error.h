/*
 * Row error of a pair: vertical offset between its images in rows, from the votes of a frame.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_DIAGNOSTICS_ROW_ERROR_H
#define SX_STAGES_DIAGNOSTICS_ROW_ERROR_H

#include "stages/diagnostics/diagnostics.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Thirds of the grid's columns. Cameras that are rolled against each other have a different error in each
 * third.
 */
enum sx_row_part {
	SX_ROW_ERROR_LEFT,
	SX_ROW_ERROR_MIDDLE,
	SX_ROW_ERROR_RIGHT,
	SX_ROW_ERROR_ALL,
	SX_ROW_ERROR_PARTS
};

#define SX_ROW_ERROR_VOTES_LEAST 12 /* least number of votes for a result */
#define SX_ROW_ERROR_UNKNOWN INT16_MIN

/*
 * median: median of the votes, 1/16 row: how much lower the content of the left image appears in the right
 * one. If the number of votes is even, the lower of the two in the middle. spread: median of the votes'
 * distances from it, by the same rule. With too few votes both are SX_ROW_ERROR_UNKNOWN.
 */
struct sx_row_error {
	uint32_t votes;
	int16_t median, spread;
};

void sx_row_error(const struct sx_diagnostics *m, struct sx_row_error ret[SX_ROW_ERROR_PARTS]);

#ifdef __cplusplus
}
#endif

#endif
