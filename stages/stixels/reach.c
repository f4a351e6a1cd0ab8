/*
 * Reach of a frame, see reach.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/reach.h"

#include <stdlib.h>

#include "stages/stixels/cells.h"
#include "stages/stixels/unmeasured.h"

/* Rows of cells, and their ground at the axis. */
struct rows {
	int first, last; /* rows whose ground can be far in one of the columns; none if first > last */
	int32_t axis_q4[SX_UNMEASURED_ROWS];
};

/* Finds the ground of n rows. shift_q4: the greatest shift of a column, without its sign. */
static void find_rows(const struct sx_road *road, int n, int height, int cell_height, int32_t shift_q4,
		      struct rows *r)
{
	r->first = n;
	r->last = -1;
	for (int v = 0; v < n; v++) {
		const int32_t g =
			sx_road_row_ground_q4(road, height - 1 - (v * cell_height + cell_height / 2));

		r->axis_q4[v] = g;
		if (g + shift_q4 <= 0 || g - shift_q4 >= SX_REACH_BINS * SX_REACH_BIN_Q4)
			continue;
		r->first = v < r->first ? v : r->first;
		r->last = v;
	}
}

void sx_reach_count(const struct sx_image *columns, int u0, int u1, const struct sx_road *road, int height,
		    const struct sx_stixel_params *p, uint32_t *count)
{
	/* the shift is linear, so the outermost columns have the greatest one */
	const int32_t left = abs(sx_road_shift_q4(road->cross, road->axis, u0, p->width));
	const int32_t right = abs(sx_road_shift_q4(road->cross, road->axis, u1 - 1, p->width));
	struct rows r;

	find_rows(road, columns->width, height, sx_cell_height(p), left > right ? left : right, &r);
	for (int u = u0; u < u1; u++) {
		const int32_t shift = sx_road_shift_q4(road->cross, road->axis, u, p->width);
		const uint16_t *d = sx_image_row(columns, u);

		for (int v = r.first; v <= r.last; v++) {
			const int bin = sx_reach_bin(r.axis_q4[v] + shift, d[v]);

			if (bin >= 0)
				count[bin]++;
		}
	}
}

int32_t sx_reach_of(const uint32_t *count, int columns, const struct sx_stixel_params *p)
{
	int i = 0;

	while (i < SX_REACH_BINS && !sx_reach_is_seen(count[i], columns, sx_cell_height(p)))
		i++;
	return sx_reach_q7(i);
}
