/*
 * Descriptors that match in some areas and not in others, for tests of stages/stereo/chance.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_CHANCE_CASE_H
#define SX_TESTS_CHANCE_CASE_H

#include "stages/stereo/flat.h"
#include "stages/stereo/sgm.h"
#include "tests/check.h"

/* Writes one word of a descriptor image. */
static inline void chance_case_set(const struct sx_image *descriptor, int x, int y, uint64_t bits)
{
	void *row = sx_image_row(descriptor, y);

	if (descriptor->pixel == SX_PIXEL_U32)
		((uint32_t *)row)[x] = (uint32_t)bits;
	else
		((uint64_t *)row)[x] = bits;
}

/* Returns a random word in which each bit is set with a probability of `share` / 8. */
static inline uint64_t chance_case_word(struct check_rng *r, int bits, int share)
{
	uint64_t word = 0;

	for (int i = 0; i < bits; i++)
		word = word << 1 | (check_below(r, 8) < share);
	return word;
}

/*
 * Fills the tiles that sx_flat() would compute. Some areas are dim, and some of their tiles are flat. One
 * image in four has no dim tile.
 */
static inline void chance_case_tiles(const struct sx_image *flat, struct check_rng *r)
{
	const int dim = check_below(r, 4) ? 1 + check_below(r, 3) : 0;

	for (int y = 0; y < flat->height; y++)
		for (int x = 0; x < flat->width; x++)
			((uint8_t *)sx_image_row(flat, y))[x] =
				(uint8_t)((x / 9 + y / 7) % 3 < dim && check_below(r, 8) ? SX_TILE_DIM : 0) |
				(check_below(r, 10) ? 0 : SX_TILE_FLAT);
}

/*
 * Fills blocks of 32 x 24 px. Each block has a disparity, a share of set bits, a share of wrong bits, and a
 * share of pixels without a disparity. `winner`: U16, 1/16 px. `descriptor`: left, right. `bits`: bits of a
 * descriptor.
 */
static inline void chance_case_fill(const struct sx_image *winner, const struct sx_image descriptor[2],
				    int bits, int min_disparity, struct check_rng *r)
{
	for (int y = 0; y < winner->height; y++)
		for (int x = 0; x < winner->width; x++)
			chance_case_set(&descriptor[1], x, y, chance_case_word(r, bits, 4));
	for (int y0 = 0; y0 < winner->height; y0 += 24)
		for (int x0 = 0; x0 < winner->width; x0 += 32) {
			const int d = check_below(r, 40), wrong = check_below(r, 6), none = check_below(r, 8);

			for (int i = 0; i < 24 * 32; i++) {
				const int y = y0 + i / 32, x = x0 + i % 32, at = x - d - min_disparity;
				const bool inside = at >= 0 && at < winner->width;
				uint64_t word = chance_case_word(r, bits, wrong);

				if (x >= winner->width || y >= winner->height)
					continue;
				if (inside && descriptor[1].pixel == SX_PIXEL_U32)
					word ^= ((const uint32_t *)sx_image_row(&descriptor[1], y))[at];
				else if (inside)
					word ^= ((const uint64_t *)sx_image_row(&descriptor[1], y))[at];
				chance_case_set(&descriptor[0], x, y, word);
				((uint16_t *)sx_image_row(winner, y))[x] =
					check_below(r, 8) < none
						? SX_DISPARITY_INVALID
						: (uint16_t)(16 * d + (d > 0 ? check_below(r, 16) - 8 : 0));
			}
		}
}

/* Fills the tiles of a pyramid search, of which one in three is crowded. search: U64. */
static inline void chance_case_search(const struct sx_image *search, struct check_rng *r)
{
	for (int y = 0; y < search->height; y++)
		for (int x = 0; x < search->width; x++)
			((struct sx_search_tile *)sx_image_row(search, y))[x] = (struct sx_search_tile){
				.count = (uint8_t)(check_below(r, 3)
							   ? 1 + check_below(r, SX_SEARCH_TILE_BLOCKS - 1)
							   : SX_SEARCH_TILE_BLOCKS)};
}

#endif
