/*
 * Evidence of cells, see evidence.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stixels/evidence.h"

#include <stdbool.h>

/* Are all pixels of a cell `bright` at least, and within `range` levels? */
static bool is_bright(const struct sx_image *left, int u, int v, const struct sx_stixel_params *p, int bright,
		      int range)
{
	const int rows = sx_cell_height(p), y0 = left->height - (v + 1) * rows;
	int least = 255, most = 0;

	for (int y = y0; y < y0 + rows; y++) {
		const uint8_t *grey = (const uint8_t *)sx_image_row(left, y) + u * p->width;

		for (int x = 0; x < p->width; x++) {
			least = grey[x] < least ? grey[x] : least;
			most = grey[x] > most ? grey[x] : most;
		}
	}
	return least >= bright && most - least <= range;
}

static uint16_t beside(const struct sx_image *columns, int u, int v, int step, int reach)
{
	for (int i = u + step, n = 0; n < reach && i >= 0 && i < columns->height; i += step, n++) {
		const uint16_t d = ((const uint16_t *)sx_image_row(columns, i))[v];

		if (d != SX_DISPARITY_INVALID)
			return d;
	}
	return SX_DISPARITY_INVALID;
}

/* SX_DISPARITY_INVALID is the largest value. */
static uint16_t filled(const struct sx_image *columns, int u, int v, int reach)
{
	const uint16_t left = beside(columns, u, v, -1, reach), right = beside(columns, u, v, 1, reach);

	return left == SX_DISPARITY_INVALID || left < right ? left : right;
}

void sx_evidence(const struct sx_image *left, const struct sx_image *columns,
		 const struct sx_image *confidence, const struct sx_stixel_params *p, struct sx_image *cells,
		 struct sx_image *cells_confidence)
{
	const int reach = sx_fill_reach(p);

	for (int u = 0; u < columns->height; u++) {
		const uint16_t *d = sx_image_row(columns, u);
		const uint8_t *c = sx_image_row(confidence, u);
		uint16_t *to = sx_image_row(cells, u);
		uint8_t *to_confidence = sx_image_row(cells_confidence, u);
		int full = 0; /* cells that are not blank, on each other */

		for (int v = columns->width - 1; v >= 0; v--) {
			const bool blank = full < 2 && is_bright(left, u, v, p, p->sky_grey, SX_BLANK_RANGE);

			full = blank ? 0 : full < 2 ? full + 1 : 2;
			to[v] = d[v];
			to_confidence[v] = c[v];
			if (blank) {
				to[v] = 0;
				to_confidence[v] = SX_SKY_CONFIDENCE;
			} else if (2 * v < columns->width && is_bright(left, u, v, p, p->saturated, 255)) {
				to[v] = SX_DISPARITY_INVALID;
				to_confidence[v] = 0;
			} else if (d[v] == SX_DISPARITY_INVALID) {
				to[v] = filled(columns, u, v, reach);
				to_confidence[v] = to[v] == SX_DISPARITY_INVALID ? c[v] : SX_FILL_CONFIDENCE;
			}
		}
	}
}
