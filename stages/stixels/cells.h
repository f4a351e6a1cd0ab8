/*
 * Cells: the elements of a stixel column.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_STAGES_STIXELS_CELLS_H
#define SX_STAGES_STIXELS_CELLS_H

#include <stdbool.h>

#include "stages/params/params.h"

static inline bool sx_is_slanted(const struct sx_stixel_params *p)
{
	return p->method == SX_STIXEL_SLANTED || p->method == SX_STIXEL_SLANTED_EXACT;
}

/*
 * Image rows of one cell; and number of cells in a column of `height` image rows. All cells are whole, so
 * rows may remain at the top.
 */
static inline int sx_cell_height(const struct sx_stixel_params *p)
{
	return !sx_is_slanted(p) ? 1 : p->cell_height > 0 ? p->cell_height : p->width;
}
static inline int sx_cell_rows(const struct sx_stixel_params *p, int height)
{
	return height / sx_cell_height(p);
}

#endif
