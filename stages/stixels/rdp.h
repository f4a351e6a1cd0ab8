/*
 * Column segmentation by Ramer-Douglas-Peucker: each segment is cut where the column departs by more than
 * epsilon from the straight line between the segment's ends, repeatedly (GPU RDP column segmentation, see
 * docs/develop/algorithm.md, RDP). Then the pieces get the classes of the DP, so that both methods publish
 * the same record.
 *
 * All numbers are integers. Rows count up from the image bottom.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_RDP_H
#define SX_STAGES_STIXELS_RDP_H

#include "base/image.h"
#include "stages/params/params.h"
#include "stages/road/road.h"
#include "stages/stixels/segment.h"

struct sx_rdp_tables {
	int height, range, width; /* width: px of a stixel column */
	/* settings rdp_*_px; ground_q4 does not include the 5 % of the ground disparity */
	int epsilon_q4, sky_q4, ground_q4;
	uint16_t *span_q4; /* [16 range]: largest difference between the means of two objects that are one */
};

/*
 * Creates the tables. -EINVAL for h outside 1..2160 or range outside 1..SX_RANGE_MAX; -ENOMEM. destroy accepts NULL.
 */
int sx_rdp_tables_create(struct sx_rdp_tables **ret, const struct sx_params *p, int height, int range);
void sx_rdp_tables_destroy(struct sx_rdp_tables *t);
size_t sx_rdp_tables_bytes(const struct sx_rdp_tables *t); /* memory that create took, bytes */

/*
 * Fills invalid cells: an invalid run takes the value of the nearest valid cell below, a run at the bottom
 * that of the first valid cell, a column without valid cells 0. filled[i]: value in Q4 below range, with
 * SX_RDP_FILLED set if the cell was invalid.
 */
#define SX_RDP_FILLED 0x8000u
void sx_rdp_fill(const struct sx_rdp_tables *t, const uint16_t *column, uint16_t *filled);

/*
 * Computes the cuts 0 = c0 < c1 < .. < cm = h - 1 of a filled column, into cut[h] as 1 or 0. A segment f..l
 * is cut at the cell with the largest vertical distance between its ends, the lowest one on ties, if that
 * distance is > epsilon: |(d_l - d_f)(i - f) - (d_i - d_f)(l - f)| > epsilon (l - f). Filled cells are never
 * cut at. stack: h entries of scratch.
 */
void sx_rdp_cut(const struct sx_rdp_tables *t, const uint16_t *filled, uint8_t *cut, uint16_t *stack);

/*
 * Scratch of one thread, and the whole stage. columns: from sx_reduce(), beginning with column `first` of the
 * image. run allocates nothing.
 */
struct sx_rdp;
int sx_rdp_create(struct sx_rdp **ret, const struct sx_rdp_tables *t);
void sx_rdp_destroy(struct sx_rdp *r);
size_t sx_rdp_bytes(const struct sx_rdp_tables *t); /* memory that create takes, bytes */
void sx_rdp_run(struct sx_rdp *r, const struct sx_road *road, const struct sx_image *columns, int first,
		struct sx_segments *out);

#endif
