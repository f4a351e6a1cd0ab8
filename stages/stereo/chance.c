/*
 * Detection of areas that were matched by chance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stages/stereo/chance.h"

#include <string.h>

#include "stages/stereo/chance_sum.h"
#include "stages/stereo/cost.h"

#define LAST (SX_FLAT_SQUARE - 1)  /* tiles from the first to the last tile of a square */
#define INNER (SX_FLAT_SQUARE - 2) /* tiles in a row of a square that are not at its edge */
#define PER_TILE ((int)(sizeof(struct sx_chance_sums) / sizeof(int16_t)))

_Static_assert(SX_FLAT_SQUARE == 5, "square_row() adds five tiles, mark_square() marks three");

bool sx_chance_looks(const struct sx_stereo_params *p)
{
	return p->matcher != SX_MATCH_EXTERNAL && p->cost != SX_COST_ZNCC;
}

/*
 * Computes the sums of the squares that begin in row y of tiles. The numbers of a tile lie side by side, so a
 * row of tiles is handled as a row of numbers. The same number of the next tile is PER_TILE entries further
 * on.
 */
static void square_row(const struct sx_chance_sums *sums, int tiles_x, int y, int16_t *squares)
{
	const int16_t *from = (const int16_t *)&sums[y * tiles_x];
	const int n = PER_TILE * tiles_x;

	memcpy(squares, from, (size_t)n * sizeof(*squares));
	for (int j = 1; j < SX_FLAT_SQUARE; j++)
		for (int i = 0; i < n; i++)
			squares[i] = (int16_t)(squares[i] + from[j * n + i]);
	for (int i = 0; i < n - PER_TILE * LAST; i++) /* in place: reads are ahead of writes */
		squares[i] = (int16_t)(squares[i] + squares[i + PER_TILE] + squares[i + 2 * PER_TILE] +
				       squares[i + 3 * PER_TILE] + squares[i + 4 * PER_TILE]);
}

/*
 * Marks the three inner tiles of one row of a square, from column x on. square: sums of the square; search, flat:
 * tiles of the row.
 */
static void mark_square(const struct sx_chance_sums *square, int bits, int x,
			const struct sx_search_tile *search, uint8_t *flat)
{
	const uint8_t found = sx_chance_square(square, bits);

	if (!found)
		return;
	for (int i = x; i < x + INNER; i++)
		flat[i] = sx_chance_tile(flat[i], found,
					 search && SX_SEARCH_IS_CROWDED(search[SX_CHANCE_SEARCH_COLUMN(i)]));
}

void sx_chance_mark_row(const struct sx_chance_sums *sums, int tiles_x, int tiles_y, int bits, int row,
			const struct sx_search_tile *search, uint8_t *flat)
{
	struct sx_chance_sums squares[SX_FLAT_TILES(SX_CHANCE_WIDTH)];

	for (int y = row - INNER > 0 ? row - INNER : 0; y < row && y + LAST < tiles_y; y++) {
		square_row(sums, tiles_x, y, (int16_t *)squares);
		for (int x = 0; x < tiles_x - LAST; x++)
			mark_square(&squares[x], bits, x + 1, search, flat);
	}
}

const struct sx_search_tile *sx_chance_search(const struct sx_image *search, int row)
{
	return search->data ? sx_image_row(search, SX_CHANCE_SEARCH_ROW(row)) : NULL;
}

void sx_chance(const struct sx_image *winner, const struct sx_image descriptor[2],
	       const struct sx_image *flat, const struct sx_image *search, const struct sx_stereo_params *p,
	       struct sx_chance_sums *sums)
{
	for (int row = 0; row < flat->height; row++)
		sx_chance_sum_row(winner, descriptor, p->min_disparity, row, &sums[row * flat->width]);
	for (int row = 0; row < flat->height; row++)
		sx_chance_mark_row(sums, flat->width, flat->height, sx_cost_max(p->cost), row,
				   sx_chance_search(search, row), sx_image_row(flat, row));
}
