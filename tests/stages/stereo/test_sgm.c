/*
 * Path aggregation against its recursive definition, evaluated for each pixel and path on its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "stages/stereo/census.h"
#include "stages/stereo/cost.h"
#include "stages/stereo/sgm.h"
#include "tests/check.h"

#define D_MOST 64

struct problem {
	int width, height;
	uint8_t *cost; /* cost volume [y][x][d] */
	const struct sx_image *grey;
	const struct sx_stereo_params *p;
	const struct sx_image *tiles; /* NULL: all cells are searched */
};

/* Path cost of a cell that is not searched. */
#define NONE 100000

static bool is_searched(const struct problem *q, int x, int y, int d)
{
	const struct sx_search_tile *t;

	if (!q->tiles)
		return true;
	t = (const struct sx_search_tile *)sx_image_row(q->tiles, y / 8) + x / 16;
	for (int i = 0; i < t->count; i++)
		if (t->block[i] == d / 8)
			return true;
	return false;
}

static int p1_of(const struct problem *q, int ry)
{
	return ry == 0 ? q->p->p1 : q->p->p1_vertical;
}

static int p2_most(const struct problem *q, int ry)
{
	return ry == 0 ? q->p->p2 : q->p->p2_vertical;
}

/* Returns P2 of a step from (qx, qy), by its formula in real numbers. */
static int p2_of(const struct problem *q, int x, int y, int qx, int qy)
{
	const struct sx_stereo_params *p = q->p;
	int edge = abs(((const uint8_t *)sx_image_row(q->grey, y))[x] -
		       ((const uint8_t *)sx_image_row(q->grey, qy))[qx]);
	int most = p2_most(q, y - qy), p1 = p1_of(q, y - qy), p2;

	if (!p->p2_edge)
		return most;
	p2 = (int)floor(most * floor(256 / (1 + (double)edge / p->p2_edge) + 0.5) / 256);
	p2 = p2 > p1 ? p2 : p1 + 1;
	return p2 < most ? p2 : most;
}

/* Computes L_r(x, y, .) by recursion along the path, in plain integers. */
static void path_cost(const struct problem *q, int x, int y, int rx, int ry, int *l)
{
	const uint8_t *c = q->cost + (size_t)(y * q->width + x) * (size_t)q->p->disparities;
	int before[D_MOST], least, p1 = p1_of(q, ry), p2, n = q->p->disparities;

	if (x - rx < 0 || x - rx >= q->width || y - ry < 0 || y - ry >= q->height) {
		for (int d = 0; d < n; d++)
			l[d] = is_searched(q, x, y, d) ? c[d] : NONE;
		return;
	}
	path_cost(q, x - rx, y - ry, rx, ry, before);
	p2 = p2_of(q, x, y, x - rx, y - ry);
	least = before[0];
	for (int d = 1; d < n; d++)
		if (before[d] < least)
			least = before[d];
	for (int d = 0; d < n; d++) {
		int best = before[d] - least;

		if (d > 0 && before[d - 1] - least + p1 < best)
			best = before[d - 1] - least + p1;
		if (d < n - 1 && before[d + 1] - least + p1 < best)
			best = before[d + 1] - least + p1;
		if (p2 < best)
			best = p2;
		l[d] = c[d] + best;
		assert_true(l[d] <= sx_cost_max(q->p->cost) + p2_most(q, ry));
		if (!is_searched(q, x, y, d))
			l[d] = NONE;
	}
}

static void define_sum(const struct problem *q, const struct sx_image *want)
{
	static const int r[8][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, -1}, {1, -1}, {-1, 1}};
	int l[D_MOST];

	for (int y = 0; y < q->height; y++) {
		for (int x = 0; x < q->width; x++) {
			uint16_t *s = (uint16_t *)sx_image_row(want, y) + x * q->p->disparities;

			for (int d = 0; d < q->p->disparities; d++)
				s[d] = 0;
			for (int i = 0; i < q->p->paths; i++) {
				path_cost(q, x, y, r[i][0], r[i][1], l);
				for (int d = 0; d < q->p->disparities; d++)
					s[d] = l[d] == NONE ? SX_SUM_ABSENT : (uint16_t)(s[d] + l[d]);
			}
		}
	}
}

/*
 * Fills the descriptors directly. `extreme`: the left descriptors have all bits set, the right ones form a
 * checkerboard of all bits and none.
 */
static void fill_descriptors(const struct sx_image *l, const struct sx_image *r, bool extreme, uint64_t seed)
{
	struct check_rng rng = check_rng_seed(seed);
	uint64_t used = l->pixel == SX_PIXEL_U32 ? UINT64_C(0x7fffffff) : (UINT64_C(1) << 62) - 1;

	for (int y = 0; y < l->height; y++) {
		for (int x = 0; x < l->width; x++) {
			uint64_t a = (uint64_t)check_random(&rng) << 32 | check_random(&rng);
			uint64_t b = (uint64_t)check_random(&rng) << 32 | check_random(&rng);

			if (extreme) {
				a = used;
				b = (x / 3 + y) & 1 ? used : 0;
			}
			if (l->pixel == SX_PIXEL_U32) {
				((uint32_t *)sx_image_row(l, y))[x] = (uint32_t)(a & used);
				((uint32_t *)sx_image_row(r, y))[x] = (uint32_t)(b & used);
			} else {
				((uint64_t *)sx_image_row(l, y))[x] = a & used;
				((uint64_t *)sx_image_row(r, y))[x] = b & used;
			}
		}
	}
}

/* Gives each tile some blocks, one at least. */
static void fill_tiles(const struct sx_image *tiles, int blocks, struct check_rng *rng)
{
	for (int j = 0; j < tiles->height; j++)
		for (int i = 0; i < tiles->width; i++) {
			struct sx_search_tile t = {0};
			int always = check_below(rng, blocks);

			for (int b = 0; b < blocks && t.count < SX_SEARCH_TILE_BLOCKS; b++)
				if (b == always || check_below(rng, 3) == 0)
					t.block[t.count++] = (uint8_t)b;
			if (t.count == 0)
				t.count = 1;
			((struct sx_search_tile *)sx_image_row(tiles, j))[i] = t;
		}
}

static void check_one(int width, int height, const struct sx_stereo_params *p, bool extreme, uint64_t seed)
{
	struct check_image grey, l, r, want, got, tiles;
	struct problem q = {width, height, NULL, &grey.image, p, NULL};
	size_t row = (size_t)width * (size_t)p->disparities;
	size_t bytes = (sx_sgm_scratch_bytes(width, p) + 63) & ~(size_t)63;
	void *scratch = aligned_alloc(64, bytes);
	struct check_rng rng = check_rng_seed(seed);
	struct sx_image noise = {scratch, (int)bytes, 1, bytes, SX_PIXEL_U8};
	struct sx_cost_input in;
	char what[96];

	assert_non_null(scratch);
	check_fill(&noise, CHECK_NOISE, &rng); /* the content of the scratch memory must not matter */
	q.cost = malloc(row * (size_t)height);
	assert_non_null(q.cost);
	check_image_init(&l, sx_census_pixel(p->cost), width, height, 2);
	check_image_init(&r, sx_census_pixel(p->cost), width, height, 0);
	check_image_init(&want, SX_PIXEL_U16, (int)row, height, 0);
	check_image_init(&got, SX_PIXEL_U16, (int)row, height, 11);
	fill_descriptors(&l.image, &r.image, extreme, seed);
	check_image_init(&grey, SX_PIXEL_U8, width, height, 1);
	check_fill(&grey.image, CHECK_NOISE, &rng);
	in = (struct sx_cost_input){.grey = {grey.image}, .descriptor = {l.image, r.image}};
	for (int y = 0; y < height; y++)
		sx_cost_row(&in, y, p, q.cost + (size_t)y * row);
	check_image_init(&tiles, SX_PIXEL_U64, SX_SEARCH_TILES_X(width), SX_SEARCH_TILES_Y(height), 1);
	fill_tiles(&tiles.image, p->disparities / 8, &rng);
	for (int some = 0; some < 2; some++) {
		q.tiles = some ? &tiles.image : NULL;
		define_sum(&q, &want.image);
		sx_sgm(&in, &got.image, p, q.tiles, scratch);
		snprintf(what, sizeof(what), "sgm paths %d p1 %d %d p2 %d %d cost %d%s%s", p->paths, p->p1,
			 p->p1_vertical, p->p2, p->p2_vertical, (int)p->cost, extreme ? " extreme" : "",
			 some ? " some cells" : "");
		assert_true(check_same(what, seed, &want.image, &got.image, p->disparities));
		assert_true(check_guards(&got, what));
	}
	check_image_finish(&tiles);
	check_image_finish(&grey);
	check_image_finish(&l);
	check_image_finish(&r);
	check_image_finish(&want);
	check_image_finish(&got);
	free(q.cost);
	free(scratch);
}

static const struct {
	enum sx_cost cost;
	int p1, p2, p1_vertical, p2_vertical, min_disparity, out_of_view, p2_edge;
} settings[] = {
	{SX_COST_CSCT, 7, 86, 7, 86, 0, SX_OUT_OF_VIEW_ZERO, 0},
	{SX_COST_CSCT, 14, 60, 8, 86, 0, SX_OUT_OF_VIEW_ZERO, 0},
	{SX_COST_CSCT, 1, 1, 1, 1, -3, SX_OUT_OF_VIEW_MAX, 0},
	{SX_COST_CSCT, 112, 112, 1, 223, 2, SX_OUT_OF_VIEW_ZERO, 0},
	{SX_COST_CENSUS, 10, 120, 30, 60, 0, SX_OUT_OF_VIEW_MAX, 0},
	{SX_COST_CENSUS, 1, 192, 1, 192, 0, SX_OUT_OF_VIEW_ZERO, 0},
	{SX_COST_CENSUS, 96, 97, 96, 97, -16, SX_OUT_OF_VIEW_ZERO, 0},
	{SX_COST_CSCT, 7, 86, 3, 120, 0, SX_OUT_OF_VIEW_ZERO, 16},
	{SX_COST_CSCT, 1, 1, 5, 90, 0, SX_OUT_OF_VIEW_ZERO, 3},
	{SX_COST_CENSUS, 60, 120, 2, 40, -5, SX_OUT_OF_VIEW_MAX, 1},
	{SX_COST_CENSUS, 1, 192, 1, 192, 0, SX_OUT_OF_VIEW_ZERO, 255},
};

static void equals_definition(void **state)
{
	static const int shapes[][2] = {{1, 1}, {1, 9}, {9, 1}, {2, 2}, {5, 3}, {12, 9}, {40, 6}};

	for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
		for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
			for (int paths = 2; paths <= 8; paths *= 2)
				for (int extreme = 0; extreme < 2; extreme++) {
					struct sx_stereo_params p = {.cost = settings[i].cost,
								     .paths = paths,
								     .disparities = s % 2 ? 64 : 32,
								     .min_disparity =
									     settings[i].min_disparity,
								     .p1 = settings[i].p1,
								     .p2 = settings[i].p2,
								     .p1_vertical = settings[i].p1_vertical,
								     .p2_vertical = settings[i].p2_vertical,
								     .p2_edge = settings[i].p2_edge,
								     .out_of_view = settings[i].out_of_view};

					check_one(shapes[s][0], shapes[s][1], &p, extreme, 10 * s + i);
				}
}

/* Symmetry: if the image and the penalties are transposed, the sum of four paths is the transposed sum. */
static void transposes(void **state)
{
	enum { N = 11, D = 32 };
	const struct sx_stereo_params p = {.cost = SX_COST_CSCT,
					   .paths = 4,
					   .disparities = D,
					   .p1 = 7,
					   .p2 = 86,
					   .p1_vertical = 5,
					   .p2_vertical = 90};
	struct sx_stereo_params turned_p = p;
	static uint32_t flat[N][N], zero[N][N], turned[N][N];
	static uint16_t a[N][N * D], b[N][N * D];
	struct sx_image l = {flat, N, N, sizeof(flat[0]), SX_PIXEL_U32};
	struct sx_image lt = {turned, N, N, sizeof(turned[0]), SX_PIXEL_U32};
	struct sx_image r = {zero, N, N, sizeof(zero[0]), SX_PIXEL_U32};
	struct sx_image sa = {a, N * D, N, sizeof(a[0]), SX_PIXEL_U16},
			sb = {b, N * D, N, sizeof(b[0]), SX_PIXEL_U16};
	const struct sx_cost_input in = {.descriptor = {l, r}}, turned_in = {.descriptor = {lt, r}};
	struct check_rng rng = check_rng_seed(5);
	void *scratch = aligned_alloc(64, (sx_sgm_scratch_bytes(N, &p) + 63) & ~(size_t)63);

	assert_non_null(scratch);
	/* right descriptors are all 0, so C depends only on the left pixel, and x and y can be exchanged */
	for (int y = 0; y < N; y++)
		for (int x = 0; x < N; x++)
			turned[x][y] = flat[y][x] = check_random(&rng) >> 1;
	sx_sgm(&in, &sa, &p, NULL, scratch);
	turned_p.p1 = p.p1_vertical, turned_p.p1_vertical = p.p1;
	turned_p.p2 = p.p2_vertical, turned_p.p2_vertical = p.p2;
	sx_sgm(&turned_in, &sb, &turned_p, NULL, scratch);
	for (int y = 0; y < N; y++)
		for (int x = 0; x < N; x++)
			for (int d = 0; d < D; d++)
				assert_int_equal(a[y][x * D + d], b[x][y * D + d]);
	free(scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_definition),
		cmocka_unit_test(transposes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
