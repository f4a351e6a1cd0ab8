/*
 * Pyramid search against its definition: scales, hits, evidence, favourites and the choice of blocks, each
 * computed for one tile at a time from costs and sums.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stages/pyramid/pyramid.h"
#include "stages/stereo/sgm.h"
#include "tests/check.h"

#define BLOCKS_MAX 64

static void scales(void **state)
{
	static const struct {
		int disparities, scales, coarsest;
	} want[] = {{32, 1, 32},  {64, 2, 32},	{96, 2, 48},  {128, 3, 32}, {160, 3, 40},
		    {256, 4, 32}, {288, 4, 40}, {416, 4, 56}, {480, 5, 32}, {512, 5, 32}};
	const struct sx_stereo_params p = {.disparities = 512, .min_disparity = -5};
	struct sx_pyramid_scale s;

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		const struct sx_stereo_params of = {.disparities = want[i].disparities};

		assert_int_equal(sx_pyramid_scales(want[i].disparities), want[i].scales);
		s = sx_pyramid_scale(&of, 1242, 375, want[i].scales - 1);
		assert_int_equal(s.disparities, want[i].coarsest);
	}
	s = sx_pyramid_scale(&p, 1242, 375, 3); /* 621 x 188, 311 x 94, 156 x 47 */
	assert_int_equal(s.width, 156);
	assert_int_equal(s.height, 47);
	assert_int_equal(s.disparities, 64);
	assert_int_equal(s.min_disparity, -1); /* -5, -3, -2, -1 */
	assert_int_equal(s.tiles_x, 10);
	assert_int_equal(s.tiles_y, 6);
	assert_int_equal(s.first_row, 47 + 24 + 12);
}

static void halves(void **state)
{
	static uint8_t from[3][5] = {{0, 1, 255, 255, 7}, {0, 0, 255, 253, 9}, {10, 11, 3, 4, 200}};
	static const uint8_t want[2][3] = {{0, 255, 8}, {11, 4, 200}};
	uint8_t to[2][3];
	const struct sx_image a = {from, 5, 3, 5, SX_PIXEL_U8}, b = {to, 3, 2, 3, SX_PIXEL_U8};

	sx_pyramid_halve(&a, &b);
	assert_memory_equal(to, want, sizeof(want));
}

/* A candidate hits the blocks of all disparities up to 2 px around the two that it stands for. */
static void candidates_hit(void **state)
{
	for (int min = -6; min <= 6; min++)
		for (int n = 64; n <= 96; n += 32) {
			const struct sx_stereo_params p = {.disparities = n, .min_disparity = min};
			const struct sx_pyramid_scale coarse = sx_pyramid_scale(&p, 64, 64, 1);

			for (int d = 0; d < coarse.disparities; d++) {
				int first = BLOCKS_MAX, last = -1;
				int shift = 2 * coarse.min_disparity - min;

				for (int e = -2; e <= 3; e++) {
					int fine = 2 * (coarse.min_disparity + d) + e - min;
					int block = (fine < 0 ? 0 : fine >= n ? n - 1 : fine) / 8;

					first = block < first ? block : first;
					last = block > last ? block : last;
				}
				assert_int_equal(sx_pyramid_hit_first(d, shift, n), first);
				assert_int_equal(sx_pyramid_hit_last(d, shift, n), last);
				assert_true(last - first <= 1);
			}
		}
}

/* Chooses by definition: the weakest goes, the lowest one of equals, until six are left. */
static struct sx_search_tile choose(const uint16_t *strength, int blocks)
{
	struct sx_search_tile t = {0};
	bool in[BLOCKS_MAX];
	int count = 0;

	for (int b = 0; b < blocks; b++)
		count += in[b] = strength[b] > 0;
	for (; count > SX_SEARCH_TILE_BLOCKS; count--) {
		int weakest = -1;

		for (int b = 0; b < blocks; b++)
			if (in[b] && (weakest < 0 || strength[b] < strength[weakest]))
				weakest = b;
		in[weakest] = false;
	}
	for (int b = 0; b < blocks; b++)
		if (in[b])
			t.block[t.count++] = (uint8_t)b;
	return t;
}

static void chooses_the_strongest(void **state)
{
	struct check_rng rng = check_rng_seed(3);
	uint16_t strength[BLOCKS_MAX];

	for (int n = 0; n < 20000; n++) {
		const int blocks = 8 + check_below(&rng, BLOCKS_MAX - 7), most = 1 + check_below(&rng, 97);
		struct sx_search_tile want, got;

		for (int b = 0; b < blocks; b++)
			strength[b] = (uint16_t)(check_below(&rng, 4) ? 0
								      : check_below(&rng, most) +
										256 * check_below(&rng, 2));
		want = choose(strength, blocks);
		got = sx_pyramid_choose(strength, blocks);
		assert_memory_equal(&got, &want, sizeof(want));
	}
}

/* One scale by its definition. */
struct scale {
	struct sx_pyramid_scale s;
	struct sx_stereo_params p;
	struct check_image grey[2], descriptor[2], sum, tiles;
	struct sx_cost_input in;
	uint8_t *cost; /* [y][x][d] */
};

static int votes_of(const struct scale *fine, const struct scale *coarse, int q, int j, int block)
{
	int votes = 0, n = coarse->s.disparities;
	int shift = 2 * coarse->s.min_disparity - fine->s.min_disparity;

	for (int y = 4 * j - 2; y <= 4 * j + 5; y++)
		for (int x = 8 * q - 2; x <= 8 * q + 9; x++) {
			const uint16_t *s;
			bool hit = false;
			int least = 65535;

			if (x < 0 || y < 0 || x >= coarse->s.width || y >= coarse->s.height)
				continue;
			s = (const uint16_t *)sx_image_row(&coarse->sum.image, y) + x * n;
			for (int d = 0; d < n; d++)
				least = s[d] < least ? s[d] : least;
			for (int d = 0; d < n; d++)
				hit |= s[d] <= 130 * least / 100 &&
				       (sx_pyramid_hit_first(d, shift, fine->s.disparities) == block ||
					sx_pyramid_hit_last(d, shift, fine->s.disparities) == block);
			votes += hit;
		}
	return votes;
}

/* Returns the sum of the costs of the even rows in columns x0 .. x1 and rows y0 .. y1; -1: there are none. */
static int strip_sum(const struct scale *f, int x0, int x1, int y0, int y1, int d)
{
	int sum = 0, pixels = 0;

	for (int y = y0; y <= y1; y++)
		for (int x = x0; x <= x1; x++)
			if (x >= 0 && x < f->s.width && y >= 0 && y < f->s.height && y % 2 == 0) {
				sum += f->cost[(size_t)(y * f->s.width + x) * (size_t)f->s.disparities +
					       (size_t)d];
				pixels++;
			}
	return pixels ? sum : -1;
}

static void keep_strip(const struct scale *f, int x0, int x1, int y0, int y1, uint16_t *strength)
{
	int best = 0, rival = -1, n = f->s.disparities, a[512];

	for (int d = 0; d < n; d++) {
		a[d] = strip_sum(f, x0, x1, y0, y1, d);
		if (a[d] < a[best])
			best = d;
	}
	for (int d = 0; d < n; d++)
		if (abs(d - best) > 3 && (rival < 0 || a[d] < rival))
			rival = a[d];
	if (a[best] < 0 || 100 * a[best] >= 90 * rival)
		return;
	for (int d = best - 2; d <= best + 2; d++)
		if (d >= 0 && d < n)
			strength[d / 8] |= 256;
}

/* Chooses the tiles of a scale. 16 px are a tile's width, 8 px its height, 4 px those of a group. */
static void define_tiles(const struct scale *f, const struct scale *coarse, const struct sx_image *tiles)
{
	const int blocks = f->s.disparities / 8;

	for (int j = 0; j < f->s.tiles_y; j++) {
		uint16_t strength[BLOCKS_MAX][BLOCKS_MAX] = {{0}};
		int favourite = -1, most = 0;

		for (int b = 0; b < blocks; b++) {
			int all = 0;

			for (int q = 0; q < f->s.tiles_x; q++)
				all += strength[q][b] = (uint16_t)votes_of(f, coarse, q, j, b);
			if (all > most) {
				most = all;
				favourite = b;
			}
		}
		for (int q = 0; q < f->s.tiles_x; q++) {
			for (int s = 0; s < 4; s++)
				keep_strip(f, 16 * q + 4 * s, 16 * q + 4 * s + 3, 8 * j - 4, 8 * j + 11,
					   strength[q]);
			for (int s = 0; s < 2; s++)
				keep_strip(f, 16 * q, 16 * q + 15, 8 * j + 4 * s, 8 * j + 4 * s + 3,
					   strength[q]);
			if (j >= f->s.tiles_y * 40 / 100 && favourite >= 0)
				strength[q][favourite] |= 256;
			((struct sx_search_tile *)sx_image_row(tiles, j))[q] = choose(strength[q], blocks);
		}
	}
}

static void scale_init(struct scale *f, const struct sx_stereo_params *p, int width, int height, int k)
{
	size_t row;

	f->s = sx_pyramid_scale(p, width, height, k);
	f->p = sx_pyramid_params(p, &f->s);
	row = (size_t)f->s.width * (size_t)f->s.disparities;
	for (int side = 0; side < 2; side++) {
		check_image_init(&f->grey[side], SX_PIXEL_U8, f->s.width, f->s.height, k);
		check_image_init(&f->descriptor[side], sx_descriptor_pixel(p->cost), f->s.width, f->s.height,
				 0);
		f->in.grey[side] = f->grey[side].image;
		f->in.descriptor[side] = f->descriptor[side].image;
	}
	check_image_init(&f->sum, SX_PIXEL_U16, (int)row, f->s.height, 3);
	check_image_init(&f->tiles, SX_PIXEL_U64, f->s.tiles_x, f->s.tiles_y, 0);
	f->cost = malloc(row * (size_t)f->s.height);
	assert_non_null(f->cost);
}

static void scale_finish(struct scale *f)
{
	for (int side = 0; side < 2; side++) {
		check_image_finish(&f->grey[side]);
		check_image_finish(&f->descriptor[side]);
	}
	check_image_finish(&f->sum);
	check_image_finish(&f->tiles);
	free(f->cost);
}

static void describe(struct scale *f)
{
	const size_t row = (size_t)f->s.width * (size_t)f->s.disparities;

	for (int side = 0; side < 2; side++)
		sx_describe(&f->grey[side].image, &f->descriptor[side].image, &f->p);
	for (int y = 0; y < f->s.height; y++)
		sx_cost_row(&f->in, y, &f->p, f->cost + (size_t)y * row);
}

static void aggregate(struct scale *f, const struct sx_image *tiles)
{
	void *scratch = aligned_alloc(64, (sx_sgm_scratch_bytes(f->s.width, &f->p) + 63) & ~(size_t)63);

	assert_non_null(scratch);
	sx_sgm(&f->in, &f->sum.image, &f->p, tiles, scratch);
	free(scratch);
}

static void define_pyramid(struct scale *scale, int count)
{
	for (int k = 0; k < count; k++) {
		for (int side = 0; k > 0 && side < 2; side++)
			sx_pyramid_halve(&scale[k - 1].grey[side].image, &scale[k].grey[side].image);
		describe(&scale[k]);
	}
	aggregate(&scale[count - 1], NULL);
	for (int k = count - 2; k >= 0; k--) {
		define_tiles(&scale[k], &scale[k + 1], &scale[k].tiles.image);
		aggregate(&scale[k], &scale[k].tiles.image);
	}
}

static void check_pyramid(int width, int height, const struct sx_stereo_params *p, enum check_fill fill,
			  uint64_t seed)
{
	struct scale scale[SX_PYRAMID_SCALES_MAX];
	const int count = sx_pyramid_scales(p->disparities);
	struct check_rng rng = check_rng_seed(seed);
	struct check_image sum, tiles;
	struct sx_pyramid *own;
	size_t bytes = 0;
	char what[96];

	for (int k = 0; k < count; k++)
		scale_init(&scale[k], p, width, height, k);
	check_fill_pair(&scale[0].grey[0].image, &scale[0].grey[1].image, fill, p->min_disparity + 19, 9,
			&rng);
	define_pyramid(scale, count);
	check_image_init(&sum, SX_PIXEL_U16, width * p->disparities, height, 5);
	check_image_init(&tiles, SX_PIXEL_U64, scale[0].s.tiles_x,
			 count > 1 ? scale[count - 1].s.first_row : 1, 1);
	assert_int_equal(sx_pyramid_create(&own, p, width, height, &bytes), 0);
	assert_true(bytes > 0);
	snprintf(what, sizeof(what), "pyramid %s D %d min %d cost %d paths %d", check_fill_name(fill),
		 p->disparities, p->min_disparity, (int)p->cost, p->paths);
	for (int again = 0; again < 2; again++) { /* nothing is left from the frame before */
		sx_pyramid_sgm(own, &scale[0].in, &sum.image, &tiles.image);
		assert_true(check_same(what, seed, &scale[0].sum.image, &sum.image, p->disparities));
	}
	for (int k = 0; k + 1 < count; k++) {
		struct sx_image view = tiles.image;

		view.data = sx_image_row(&tiles.image, scale[k].s.first_row);
		view.width = scale[k].s.tiles_x;
		view.height = scale[k].s.tiles_y;
		assert_true(check_same(what, seed, &scale[k].tiles.image, &view, 0));
	}
	assert_true(check_guards(&sum, what) && check_guards(&tiles, what));
	sx_pyramid_destroy(own);
	check_image_finish(&sum);
	check_image_finish(&tiles);
	for (int k = 0; k < count; k++)
		scale_finish(&scale[k]);
}

static void equals_definition(void **state)
{
	static const int shapes[][2] = {{32, 32}, {70, 43}, {97, 50}};
	static const int counts[] = {32, 64, 96, 128, 256};
	uint64_t seed = 0;

	for (size_t s = 0; s < 3; s++)
		for (size_t n = 0; n < 5; n++) {
			struct sx_stereo_params p = {.cost = (enum sx_cost)(seed % 5),
						     .search = SX_SEARCH_PYRAMID,
						     .disparities = counts[n],
						     .min_disparity = (int)(seed * 7 % 23) - 11,
						     .paths = 2 << seed % 3,
						     .out_of_view = seed % 2,
						     .zncc_window = 5,
						     .p2_edge = seed % 4 == 3 ? 20 : 0};

			sx_stereo_resolve(&p);
			check_pyramid(shapes[s][0], shapes[s][1], &p,
				      seed % 3 == 2 ? CHECK_STEPS : CHECK_NOISE, seed);
			seed++;
		}
}

/* Without a coarser scale all cells are searched, and S is that of full search. */
static void one_scale_is_full_search(void **state)
{
	struct sx_stereo_params p = {
		.search = SX_SEARCH_PYRAMID, .disparities = 32, .paths = 4, .cost = SX_COST_CSCT};

	sx_stereo_resolve(&p);
	check_pyramid(64, 40, &p, CHECK_NOISE, 1);
}

/* Rows without descriptors have the winners of the nearest row with some, unless the search is full or by ZNCC. */
static void edges_follow(void **state)
{
	enum { W = 5, H = 32 };
	static const struct {
		struct sx_stereo_params p;
		int edge;
	} of[] = {{{.cost = SX_COST_CSCT, .disparities = 64}, 3},
		  {{.cost = SX_COST_CENSUS, .disparities = 128}, 3},
		  {{.cost = SX_COST_ZNCC, .disparities = 64}, 0},
		  {{.cost = SX_COST_CSCT, .disparities = 32}, 0}};

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		uint16_t left[H][W], right[H][W];
		uint8_t confidence[H][W];
		const struct sx_image maps[] = {{left, W, H, sizeof(left[0]), SX_PIXEL_U16},
						{right, W, H, sizeof(right[0]), SX_PIXEL_U16},
						{confidence, W, H, sizeof(confidence[0]), SX_PIXEL_U8}};

		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++) {
				left[y][x] = (uint16_t)(1000 * y + x);
				right[y][x] = (uint16_t)(1000 * y + x + 10);
				confidence[y][x] = (uint8_t)(6 * y + x);
			}
		sx_pyramid_edges(&of[i].p, &maps[0], &maps[1], &maps[2]);
		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++) {
				const int last = H - 1 - of[i].edge;
				const int from = y < of[i].edge ? of[i].edge : y > last ? last : y;

				assert_int_equal(left[y][x], 1000 * from + x);
				assert_int_equal(right[y][x], 1000 * from + x + 10);
				assert_int_equal(confidence[y][x], 6 * from + x);
			}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scales),
		cmocka_unit_test(halves),
		cmocka_unit_test(candidates_hit),
		cmocka_unit_test(chooses_the_strongest),
		cmocka_unit_test(equals_definition),
		cmocka_unit_test(one_scale_is_full_search),
		cmocka_unit_test(edges_follow),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
