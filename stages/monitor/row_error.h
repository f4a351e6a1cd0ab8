/*
 * The row error of a pair: by how many rows its images are out of line, from the votes of a frame.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STEREO_ROW_ERROR_H
#define SX_STAGES_STEREO_ROW_ERROR_H

#include "stages/monitor/monitor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Thirds of the grid's columns: cameras that are rolled against each other show different errors there. */
enum sx_row_part { SX_ROWS_LEFT, SX_ROWS_MIDDLE, SX_ROWS_RIGHT, SX_ROWS_ALL, SX_ROWS_PARTS };

#define SX_ROWS_VOTES_LEAST 12 /* fewer say nothing */
#define SX_ROWS_UNKNOWN INT16_MIN

/*
 * median: of the votes, 1/16 row; what the left image has is so much lower in the right one. Of two in the
 * middle the lower. spread: median of the votes' distances from it, likewise. Both SX_ROWS_UNKNOWN with too
 * few votes.
 */
struct sx_row_error {
	uint32_t votes;
	int16_t median, spread;
};

void sx_row_error(const struct sx_monitor *m, struct sx_row_error ret[SX_ROWS_PARTS]);

#ifdef __cplusplus
}
#endif

#endif
