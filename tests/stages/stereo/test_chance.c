/*
 * Areas matched by chance: against their definition, and on images as cameras deliver them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stages/stereo/chance.h"
#include "tests/chance_case.h"

struct chance_images {
	struct check_image winner, descriptor[2], flat, search;
	bool is_pyramid;
	struct sx_stereo_params p;
};

static void images_init(struct chance_images *c, enum sx_cost cost, int width, int height, int min_disparity)
{
	c->p = (struct sx_stereo_params){.cost = cost, .min_disparity = min_disparity};
	check_image_init(&c->winner, SX_PIXEL_U16, width, height, 3);
	for (int side = 0; side < 2; side++)
		check_image_init(&c->descriptor[side], sx_census_pixel(cost), width, height, 1);
	check_image_init(&c->flat, SX_PIXEL_U8, SX_FLAT_TILES(width), SX_FLAT_TILES(height), 2);
	check_image_init(&c->search, SX_PIXEL_U64, SX_SEARCH_TILES_X(width), SX_SEARCH_TILES_Y(height), 1);
	c->is_pyramid = false;
}

static void images_finish(struct chance_images *c)
{
	check_image_finish(&c->winner);
	check_image_finish(&c->descriptor[0]);
	check_image_finish(&c->descriptor[1]);
	check_image_finish(&c->flat);
	check_image_finish(&c->search);
}

static void find(struct chance_images *c)
{
	const struct sx_image descriptor[2] = {c->descriptor[0].image, c->descriptor[1].image}, none = {0};
	struct sx_chance_sums *sums =
		calloc((size_t)c->flat.image.width * (size_t)c->flat.image.height, sizeof(*sums));

	assert_non_null(sums);
	sx_chance(&c->winner.image, descriptor, &c->flat.image, c->is_pyramid ? &c->search.image : &none,
		  &c->p, sums);
	assert_true(check_guards(&c->flat, "flat"));
	free(sums);
}

static uint64_t word_at(const struct sx_image *descriptor, int x, int y)
{
	const void *row = sx_image_row(descriptor, y);

	return descriptor->pixel == SX_PIXEL_U32 ? ((const uint32_t *)row)[x] : ((const uint64_t *)row)[x];
}

static int bits_set(uint64_t word)
{
	int n = 0;

	for (; word; word &= word - 1)
		n++;
	return n;
}

static int holes; /* for marked_of(): each column of this number has no disparity; 0: all have one */

#define DOUBT 256 /* half of the difference of unrelated descriptors */

/* Returns the bits of the square that begins at tile i, j, computed pixel by pixel. */
static int square_bits(const struct chance_images *c, int bits, int i, int j)
{
	const int width = c->winner.image.width, height = c->winner.image.height;
	int64_t n = 0, differ = 0, left = 0, right = 0, unrelated;

	if (i < 0 || j < 0 || i + 5 > c->flat.image.width || j + 5 > c->flat.image.height)
		return 0;
	for (int y = 4 * j; y < 4 * j + 20 && y < height - 3; y++)
		for (int x = 4 * i; x < 4 * i + 20 && x < width - 4; x++) {
			const int v = ((const uint16_t *)sx_image_row(&c->winner.image, y))[x];
			const int partner = x - (v + 8) / 16 - c->p.min_disparity;
			uint64_t l, r;

			if (y % 2 || y < 3 || x < 4 || v == 0xffff || partner < 4 || partner >= width - 4)
				continue;
			l = word_at(&c->descriptor[0].image, x, y);
			r = word_at(&c->descriptor[1].image, partner, y);
			n += bits, differ += bits_set(l ^ r), left += bits_set(l), right += bits_set(r);
		}
	unrelated = left * (n - right) + right * (n - left);
	return n < 60 * bits ? 0
			     : (n < 150 * bits && 2 * differ * n >= unrelated ? DOUBT : 0) |
				       (4 * differ * n >= 3 * unrelated ? SX_TILE_FLAT : 0) |
				       (5 * differ * n >= 4 * unrelated ? SX_TILE_CHANCE : 0);
}

static int tile_bits(const struct chance_images *c, int bits, int i, int j)
{
	int found = 0;

	for (int y = j - 3; y < j; y++)
		for (int x = i - 3; x < i; x++)
			found |= square_bits(c, bits, x, y);
	return found;
}

/* Returns the number of blocks that the tile of pyramid search around tile i, j searches. */
static int blocks_at(const struct chance_images *c, int i, int j)
{
	const struct sx_search_tile *row = sx_image_row(&c->search.image, 4 * j / 8);

	return row[4 * i / 16].count;
}

static void as_defined(void **state)
{
	static const struct {
		enum sx_cost cost;
		int bits;
	} costs[] = {
		{SX_COST_CSCT, 31}, {SX_COST_CENSUS, 62}, {SX_COST_CENSUS48, 48}, {SX_COST_CENSUS63, 62}};
	int flat = 0, chance = 0, all = 0;

	for (uint64_t seed = 0; seed < 60; seed++) {
		struct check_rng r = check_rng_seed(seed);
		const int bits = costs[seed % 4].bits;
		struct check_image before;
		struct chance_images c;

		images_init(&c, costs[seed % 4].cost, 32 + check_below(&r, 120), 32 + check_below(&r, 90),
			    check_below(&r, 3) ? 0 : check_below(&r, 40) - 20);
		chance_case_fill(&c.winner.image,
				 (const struct sx_image[]){c.descriptor[0].image, c.descriptor[1].image},
				 bits, c.p.min_disparity, &r);
		chance_case_tiles(&c.flat.image, &r);
		chance_case_search(&c.search.image, &r);
		c.is_pyramid = check_below(&r, 2);
		check_image_init(&before, SX_PIXEL_U8, c.flat.image.width, c.flat.image.height, 0);
		for (int y = 0; y < c.flat.image.height; y++)
			memcpy(sx_image_row(&before.image, y), sx_image_row(&c.flat.image, y),
			       (size_t)c.flat.image.width);
		find(&c);
		for (int y = 0; y < c.flat.image.height; y++)
			for (int x = 0; x < c.flat.image.width; x++, all++) {
				const int got = ((uint8_t *)sx_image_row(&c.flat.image, y))[x];
				const int was = ((uint8_t *)sx_image_row(&before.image, y))[x];
				const int found = tile_bits(&c, bits, x, y);

				const bool crowded =
					c.is_pyramid && blocks_at(&c, x, y) == SX_SEARCH_TILE_BLOCKS;

				assert_int_equal(
					got, was |
						     (was & SX_TILE_DIM || crowded ? found & ~DOUBT
										   : found & SX_TILE_CHANCE) |
						     (crowded && found & DOUBT ? SX_TILE_CHANCE : 0));
				flat += (got & ~was & SX_TILE_FLAT) != 0;
				chance += (got & SX_TILE_CHANCE) != 0;
			}
		check_image_finish(&before);
		images_finish(&c);
	}
	assert_in_range(flat, all / 20, all * 9 / 10);
	assert_in_range(chance, all / 10, all * 9 / 10);
}

/*
 * Returns the share of tiles that have `mark` away from the borders. All tiles have `bits`, and the left grey
 * image is matched with disparity 8. blocks: of each tile of pyramid search; 0: full search.
 */
static double marked_of(const struct sx_image *left, const struct sx_image *right, uint8_t bits, uint8_t mark,
			int blocks)
{
	struct chance_images c;
	int marked = 0, all = 0;

	images_init(&c, SX_COST_CSCT, left->width, left->height, 0);
	sx_census(left, &c.descriptor[0].image, SX_COST_CSCT);
	sx_census(right, &c.descriptor[1].image, SX_COST_CSCT);
	for (int y = 0; y < left->height; y++)
		for (int x = 0; x < left->width; x++)
			((uint16_t *)sx_image_row(&c.winner.image, y))[x] =
				holes && x % holes == 0 ? SX_DISPARITY_INVALID : 16 * 8;
	for (int y = 0; y < c.flat.image.height; y++)
		for (int x = 0; x < c.flat.image.width; x++)
			((uint8_t *)sx_image_row(&c.flat.image, y))[x] = bits;
	c.is_pyramid = blocks > 0;
	for (int y = 0; y < c.search.image.height; y++)
		for (int x = 0; x < c.search.image.width; x++)
			((struct sx_search_tile *)sx_image_row(&c.search.image, y))[x] =
				(struct sx_search_tile){.count = (uint8_t)blocks};
	find(&c);
	for (int y = 2; y < c.flat.image.height - 2; y++)
		for (int x = 4; x < c.flat.image.width - 3; x++, all++)
			marked += (((uint8_t *)sx_image_row(&c.flat.image, y))[x] & mark) != 0;
	images_finish(&c);
	return (double)marked / all;
}

/*
 * Returns the marked share for grey 100 with independent noise of up to `noise` levels to each side, on a
 * texture of that contrast.
 */
static double marked_by(uint8_t bits, uint8_t mark, int contrast, int noise, int blocks)
{
	struct check_rng r = check_rng_seed(7);
	struct check_image left, right, texture;
	double marked;

	check_image_init(&texture, SX_PIXEL_U8, 168, 96, 0);
	check_fill(&texture.image, CHECK_NOISE, &r);
	check_image_init(&left, SX_PIXEL_U8, 160, 96, 0);
	check_image_init(&right, SX_PIXEL_U8, 160, 96, 0);
	for (int y = 0; y < 96; y++)
		for (int x = 0; x < 160; x++) {
			const uint8_t *t = sx_image_row(&texture.image, y);
			const int base = 100 - noise;

			((uint8_t *)sx_image_row(&left.image, y))[x] =
				(uint8_t)(base + t[x] * contrast / 256 + check_below(&r, 2 * noise + 1));
			((uint8_t *)sx_image_row(&right.image, y))[x] =
				(uint8_t)(base + t[x + 8] * contrast / 256 + check_below(&r, 2 * noise + 1));
		}
	marked = marked_of(&left.image, &right.image, bits, mark, blocks);
	check_image_finish(&texture);
	check_image_finish(&left);
	check_image_finish(&right);
	return marked;
}

static double marked_in(uint8_t bits, uint8_t mark, int contrast, int noise)
{
	return marked_by(bits, mark, contrast, noise, 0);
}

static double marked_with(int contrast, int noise)
{
	return marked_in(SX_TILE_DIM, SX_TILE_FLAT, contrast, noise);
}

static void bright_areas_are_not_flat_but_no_ground(void **state)
{
	assert_true(marked_in(0, SX_TILE_FLAT, 0, 3) == 0);
	assert_true(marked_in(0, SX_TILE_CHANCE, 0, 1) == 1);
	assert_true(marked_in(0, SX_TILE_CHANCE, 0, 3) == 1);
	assert_true(marked_in(0, SX_TILE_CHANCE, 60, 6) == 0);
	assert_true(marked_in(0, SX_TILE_CHANCE, 8, 1) == 0);
}

/* As behind a covered lens: there pyramid search finds many disparities, and nearly all its tiles are crowded. */
static void bright_areas_of_crowded_tiles_are_flat(void **state)
{
	for (int blocks = 1; blocks <= SX_SEARCH_TILE_BLOCKS; blocks++) {
		const bool crowded = blocks == SX_SEARCH_TILE_BLOCKS;

		assert_true(marked_by(0, SX_TILE_FLAT, 0, 3, blocks) == crowded);
		assert_true(marked_by(0, SX_TILE_CHANCE, 0, 3, blocks) == 1);
		assert_true(marked_by(0, SX_TILE_FLAT, 60, 6, blocks) == 0);
	}
}

/* A piece of tape leaves few matches, whose descriptors differ by half as much as unrelated ones. */
static void doubtful_areas_of_crowded_tiles_are_no_ground(void **state)
{
	/* only squares at the border, where pixels have no descriptors */
	assert_true(marked_by(0, SX_TILE_CHANCE, 60, 25, SX_SEARCH_TILE_BLOCKS) < 0.3);
	holes = 3;
	for (int blocks = 1; blocks <= SX_SEARCH_TILE_BLOCKS; blocks++) {
		const bool crowded = blocks == SX_SEARCH_TILE_BLOCKS;

		assert_true(marked_by(0, SX_TILE_CHANCE, 60, 25, blocks) == crowded);
		assert_true(marked_by(0, SX_TILE_FLAT, 60, 25, blocks) == 0);
		assert_true(marked_by(0, SX_TILE_CHANCE, 60, 3, blocks) == 0);
	}
	holes = 0;
}

static void noise_is_chance(void **state)
{
	assert_true(marked_with(0, 1) == 1);
	assert_true(marked_with(0, 3) == 1);
	assert_true(marked_with(0, 20) == 1);
}

static void a_weak_texture_is_none(void **state)
{
	assert_true(marked_with(60, 0) == 0);
	assert_true(marked_with(60, 6) == 0); /* levels of noise: a fifth of the texture's contrast */
	assert_true(marked_with(8, 1) == 0);
}

/* Costs are equal because neither image shows anything. sx_flat() finds such areas. */
static void nothing_is_chance_of_bits_that_are_not_set(void **state)
{
	assert_true(marked_with(0, 0) == 1);
}

static void looks_where_there_are_bits(void **state)
{
	struct sx_stereo_params p = {.cost = SX_COST_CSCT};

	assert_true(sx_chance_looks(&p));
	p.matcher = SX_MATCH_EXTERNAL;
	assert_false(sx_chance_looks(&p));
	p = (struct sx_stereo_params){.cost = SX_COST_ZNCC};
	assert_false(sx_chance_looks(&p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_defined),
		cmocka_unit_test(bright_areas_are_not_flat_but_no_ground),
		cmocka_unit_test(bright_areas_of_crowded_tiles_are_flat),
		cmocka_unit_test(doubtful_areas_of_crowded_tiles_are_no_ground),
		cmocka_unit_test(noise_is_chance),
		cmocka_unit_test(a_weak_texture_is_none),
		cmocka_unit_test(nothing_is_chance_of_bits_that_are_not_set),
		cmocka_unit_test(looks_where_there_are_bits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
