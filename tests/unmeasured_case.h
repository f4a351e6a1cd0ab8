/*
 * A column of stixels with flat areas, for tests of stages/stixels/unmeasured_part.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_UNMEASURED_CASE_H
#define SX_TESTS_UNMEASURED_CASE_H

#include <string.h>

#include "stages/stixels/unmeasured_part.h"
#include "tests/check.h"

/* Fills cells of columns, one column per row, with alternating measured and unmeasured stretches. */
static inline void unmeasured_case_cells(const struct sx_image *cells, struct check_rng *r)
{
	for (int u = 0; u < cells->height; u++) {
		uint16_t *d = sx_image_row(cells, u);
		bool measured = check_below(r, 2);

		for (int v = 0, left = 0; v < cells->width; v++, left--) {
			if (left == 0) {
				measured = !measured;
				left = 1 + check_below(r, check_below(r, 3) ? 8 : cells->width);
			}
			d[v] = measured ? (uint16_t)check_below(r, 64 * 16) : SX_DISPARITY_INVALID;
		}
	}
}

/* Fills random rectangles of tiles that are flat, matched by chance, or of some range. */
static inline void unmeasured_case_tiles(const struct sx_image *flat, struct check_rng *r)
{
	check_fill(flat, CHECK_FLAT, r);
	for (int y = 0; y < flat->height; y++)
		memset(sx_image_row(flat, y), 0, (size_t)flat->width);
	for (int i = check_below(r, 5); i > 0; i--) {
		const int x0 = check_below(r, flat->width), y0 = check_below(r, flat->height);
		static const uint8_t bits[] = {SX_TILE_FLAT,   SX_TILE_FLAT | SX_TILE_DARK,
					       SX_TILE_CHANCE, SX_TILE_CHANCE | SX_TILE_FLAT | SX_TILE_DARK,
					       SX_TILE_RANGES, SX_TILE_RANGE_2 | SX_TILE_RANGE_4};
		const uint8_t tile = bits[check_below(r, 6)];
		const int x1 = x0 + check_below(r, flat->width), y1 = y0 + check_below(r, flat->height);

		for (int y = y0; y <= y1 && y < flat->height; y++)
			for (int x = x0; x <= x1 && x < flat->width; x++)
				((uint8_t *)sx_image_row(flat, y))[x] = tile;
	}
}

/* Returns a road that ends somewhere in an image of this height, or none. */
static inline struct sx_road unmeasured_case_road(int height, struct check_rng *r)
{
	const double slope = check_below(r, 4) == 0 ? 0.0 : 0.01 * (1 + check_below(r, 40));

	return (struct sx_road){
		.slope = slope,
		.offset = -slope * check_below(r, height),
		.cross = slope * 0.05 * (check_below(r, 9) - 4),
		.axis = 80,
		.bend = slope * 0.1 * check_below(r, 8),
		.bend_row = check_below(r, height),
	};
}

/*
 * Fills the list with segments of all kinds from the bottom to the top; one list in four is ground alone.
 * Returns the number of segments.
 */
static inline int unmeasured_case_list(struct sx_segment *list, int rows, struct check_rng *r)
{
	const bool ground = check_below(r, 4) == 0;
	int n = 0;

	for (int v = 0; v < rows; n++) {
		const int top = ground ? rows - 1 : v + check_below(r, 1 + check_below(r, rows)),
			  last = top < rows ? top : rows - 1;
		const uint8_t kind = (uint8_t)(ground ? STIXEL_GROUND : check_below(r, 4));

		list[n] = (struct sx_segment){
			.v_bottom = (uint16_t)v,
			.v_top = (uint16_t)last,
			.disparity_q7 = kind == STIXEL_UNKNOWN ? (uint16_t)STIXEL_DISPARITY_UNKNOWN
							       : (uint16_t)check_below(r, 64 * 128),
			.slope_q14 = (int16_t)(kind == STIXEL_GROUND ? -check_below(r, 8000) : 0),
			.kind = kind,
			.label = STIXEL_LABEL_NONE,
		};
		v = last + 1;
	}
	return n;
}

#endif
