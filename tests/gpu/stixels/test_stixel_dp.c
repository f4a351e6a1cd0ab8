/*
 * The stixel DP of gpu/ on the emulator against the reference: every list, every total.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/stages_cuda.h"
#include "stages/stixels/stixel_dp.h"
#include "tests/stixel_case.h"

/*
 * One height and range with both engines. Columns lie in host memory (the emulator's device memory is host
 * memory).
 */
struct rig {
	struct sx_params params;
	struct sx_dp_tables *tables;
	struct sx_dp *reference;
	struct sx_cuda_memory memory;
	struct sx_dp_cuda *dp;
	struct sx_cuda_road road;
	struct sx_image columns;
	struct sx_segments want, got;
	cudaStream_t stream;
};

static void rig_init(struct rig *g, const struct sx_params *p, int columns, int h, int range, int sms)
{
	memset(g, 0, sizeof(*g));
	g->params = *p;
	g->params.stereo.disparities = range;
	assert_int_equal(sx_disparity_range(&g->params.stereo), range);
	assert_int_equal(sx_dp_tables_create(&g->tables, p, h, range), 0);
	assert_int_equal(sx_dp_create(&g->reference, g->tables), 0);
	assert_int_equal(sx_segments_init(&g->want, columns, h), 0);
	assert_int_equal(sx_segments_init(&g->got, columns, h), 0);
	assert_int_equal(cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking), cudaSuccess);
	g->memory.stream = g->stream;
	sx_cuda_take_image(&g->memory, &g->columns, SX_PIXEL_U16, h, columns);
	g->road.ground_q4 = sx_cuda_take(&g->memory, (size_t)h * sizeof(int32_t));
	assert_int_equal(sx_dp_cuda_create(&g->dp, &g->memory, &g->params, h, columns, sms), 0);
	assert_int_equal(g->memory.error, cudaSuccess);
}

static void rig_finish(struct rig *g)
{
	sx_dp_cuda_destroy(g->dp);
	sx_cuda_memory_finish(&g->memory);
	sx_dp_destroy(g->reference);
	sx_dp_tables_destroy(g->tables);
	sx_segments_finish(&g->want);
	sx_segments_finish(&g->got);
	assert_int_equal(cudaStreamDestroy(g->stream), cudaSuccess);
}

static void compare(const struct rig *g, const char *what, int range, int vhor)
{
	for (int u = 0; u < g->columns.height; u++) {
		const struct sx_segment *want = sx_segments_column(&g->want, u);
		const struct sx_segment *got = sx_segments_column(&g->got, u);
		int i = 0;

		if (g->want.total[u] != g->got.total[u] || g->want.count[u] != g->got.count[u])
			fail_msg("%s %d rows, range %d, vhor %d, column %d: total %d in %d, want %d in %d",
				 what, g->columns.width, range, vhor, u, g->got.total[u], g->got.count[u],
				 g->want.total[u], g->want.count[u]);
		while (i < g->want.count[u] && memcmp(&want[i], &got[i], sizeof(*want)) == 0)
			i++;
		if (i < g->want.count[u])
			fail_msg("%s %d rows, range %d, vhor %d, column %d: segment %d of %d differs: "
				 "rows %d..%d kind %d, want %d..%d kind %d",
				 what, g->columns.width, range, vhor, u, i, g->want.count[u], got[i].v_bottom,
				 got[i].v_top, got[i].kind, want[i].v_bottom, want[i].v_top, want[i].kind);
	}
}

static void check_columns(struct rig *g, const struct sx_road *road, int vhor, const char *what)
{
	const int h = g->columns.width, n = g->columns.height;

	g->road.road = *road;
	sx_road_ground(road, h, g->road.ground_q4);
	assert_int_equal(sx_road_column_ground(g->road.ground_q4, h, 0, g->road.ground_q4), vhor);
	sx_dp_run(g->reference, road, &g->columns, &g->want);
	memset(g->got.count, 0xaa, (size_t)n * sizeof(*g->got.count));
	assert_int_equal(sx_dp_cuda_run(g->dp, &g->road, &g->columns, &g->got, g->stream), cudaSuccess);
	assert_int_equal(cudaStreamSynchronize(g->stream), cudaSuccess);
	compare(g, what, g->tables->range, vhor);
}

/*
 * sms: with many multiprocessors each column gets a block of 8 warps; with few, blocks of 4 warps take one
 * column after another.
 */
static void check_size(int h, int range, int vhor, int columns, int sms, bool random, struct check_rng *r)
{
	struct sx_params p = random ? stixel_case_random_params(h, r) : stixel_case_params(h);
	struct sx_road road = stixel_case_road(h, vhor, range * (0.3 + check_below(r, 100) / 100.0));
	struct rig g;

	stixel_case_place(&p, &road, columns, r);
	rig_init(&g, &p, columns, h, range, sms);
	for (int u = 0; u < columns; u++)
		stixel_case_column((enum stixel_case)(u % CASE_COUNT), &road, range, h,
				   sx_image_row(&g.columns, u), r);
	check_columns(&g, &road, vhor, "cases");
	rig_finish(&g);
}

static void test_heights_and_horizons(void **state)
{
	static const int heights[] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 97};
	struct check_rng r = check_rng_seed(41);

	for (size_t i = 0; i < sizeof(heights) / sizeof(*heights); i++) {
		const int h = heights[i];

		check_size(h, 32, 0, CASE_COUNT, 1, false, &r);
		check_size(h, 32, h, CASE_COUNT, 16, true, &r);
		check_size(h, 64, h < 32 ? h : 32, CASE_COUNT, 1, true, &r);
		check_size(h, 64, h < 31 ? h : 31, CASE_COUNT, 16, false, &r);
		for (int round = 0; round < 4; round++)
			check_size(h, 32 + 32 * check_below(&r, 3), check_below(&r, h + 1), CASE_COUNT,
				   1 + 15 * (round % 2), round > 0, &r);
	}
}

static void test_real_sizes(void **state)
{
	struct check_rng r = check_rng_seed(42);

	check_size(375, 128, 200, 8, 1, false, &r);
	check_size(375, 256, 180, 7, 16, true, &r);
	check_size(440, 128, 223, 7, 1, true, &r);
	check_size(440, 384, 225, 4, 4, false, &r);
}

/* GPUs with 64 KB and 99 KB of shared memory per block: larger tables lie elsewhere. */
static void test_little_shared_memory(void **state)
{
	struct check_rng r = check_rng_seed(45);

	setenv("SX_EMULATE_DEVICE", "cc=75", 1);
	check_size(440, 128, 223, 7, 1, true, &r);
	check_size(375, 256, 180, 7, 16, true, &r);
	check_size(300, 384, 140, 7, 2, false, &r);
	setenv("SX_EMULATE_DEVICE", "cc=86", 1);
	check_size(2160, 384, 1100, 1, 1, true, &r);
	unsetenv("SX_EMULATE_DEVICE");
}

/*
 * Blocks of 4 warps: columns that fit side by side have their tables in shared memory, larger ones do not.
 * Also little scratch memory.
 */
static void test_places(void **state)
{
	struct check_rng r = check_rng_seed(47);

	check_size(440, 128, 223, 4, 1, true, &r);
	check_size(440, 128, 223, 9, 1, false, &r);
	check_size(97, 96, 50, 9, 1, true, &r);
	check_size(160, 192, 70, 5, 1, false, &r);
	check_size(160, 256, 70, 5, 1, true, &r);
}

/* Too little memory to keep every row of prefix sums, depending on how many means the columns have. */
static void test_little_scratch(void **state)
{
	struct check_rng r = check_rng_seed(46);

	check_size(160, 96, 70, 24, 16, true, &r);
	check_size(200, 256, 90, 24, 16, false, &r);
	check_size(97, 384, 50, 12, 16, true, &r);
}

/* The tallest columns, and sums too large for float: quotients by division. */
static void test_tall(void **state)
{
	struct check_rng r = check_rng_seed(43);

	check_size(1100, 256, 600, 3, 1, false, &r);
	check_size(2160, 128, 1300, 1, 1, true, &r);
	check_size(2160, 384, 1100, 1, 1, false, &r);
}

static void draw(struct rig *g, int kind, struct check_rng *r)
{
	const int h = g->columns.width, range = g->tables->range;

	for (int u = 0; u < g->columns.height; u++) {
		uint16_t *d = sx_image_row(&g->columns, u);
		int value = check_below(r, 16 * range);

		for (int v = 0; v < h; v++) {
			if (check_below(r, kind == 0 ? 2 : 9) == 0)
				value = kind == 2   ? 16 * range - 1 - check_below(r, 20)
					: kind == 3 ? check_below(r, 40)
						    : check_below(r, 16 * range);
			d[v] = kind == 4 && check_below(r, 3) ? SX_DISPARITY_INVALID
			       : kind == 5 && value > 8 * range
				       ? (uint16_t)(16 * range + check_below(r, 60000 - 16 * range))
				       : (uint16_t)value;
		}
	}
}

/* Steps everywhere, the ends of the range, values beyond the range, almost no valid cell. */
static void test_odd_columns(void **state)
{
	struct check_rng r = check_rng_seed(44);

	for (int kind = 0; kind < 6; kind++) {
		const int h = 90 + check_below(&r, 40), vhor = check_below(&r, h + 1);
		struct sx_params p = stixel_case_random_params(h, &r);
		struct sx_road road = stixel_case_road(h, vhor, 40);
		struct rig g;

		stixel_case_place(&p, &road, 6, &r);
		if (kind % 2)
			p.stixels.p_order = kind == 1 ? 0.999999 : 0.000001;
		if (kind == 2)
			p.stixels.sigma_object_px = p.stixels.sigma_sky_px = 0.01;
		rig_init(&g, &p, 6, h, 64, 1 + kind);
		draw(&g, kind, &r);
		check_columns(&g, &road, vhor, "odd");
		/* compute it again in the scratch memory of other columns */
		draw(&g, (kind + 1) % 6, &r);
		check_columns(&g, &road, vhor, "odd again");
		rig_finish(&g);
	}
}

static void test_bad_sizes(void **state)
{
	struct sx_params p = stixel_case_params(100);
	struct sx_cuda_memory m = {0};
	struct sx_dp_cuda *dp = NULL;

	assert_int_equal(sx_dp_cuda_create(&dp, &m, &p, 2161, 10, 1), -EINVAL);
	assert_int_equal(sx_dp_cuda_create(&dp, &m, &p, 0, 10, 1), -EINVAL);
	m.error = cudaErrorMemoryAllocation;
	assert_int_equal(sx_dp_cuda_create(&dp, &m, &p, 100, 10, 1), -ENOMEM);
	assert_null(dp);
	sx_dp_cuda_destroy(NULL);
	sx_cuda_memory_finish(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heights_and_horizons), cmocka_unit_test(test_real_sizes),
		cmocka_unit_test(test_little_shared_memory), cmocka_unit_test(test_places),
		cmocka_unit_test(test_little_scratch),	     cmocka_unit_test(test_tall),
		cmocka_unit_test(test_odd_columns),	     cmocka_unit_test(test_bad_sizes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
