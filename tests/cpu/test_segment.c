/*
 * The cpu engine's segmenter with dp and rdp against the reference, byte for byte, on every
 * kernel that this machine has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/kernel_sets.h"
#include "cpu/segment.h"
#include "stages/stixels/rdp.h"
#include "stages/stixels/stixel_dp.h"
#include "tests/stixel_case.h"

static const char *const simds[] = {"plain", "avx2"};

/* Returns NULL if this machine does not support the kernels. */
static const struct sx_segment_kernels *kernels_of(const char *simd)
{
	const struct sx_kernels *k = sx_kernels_choose(simd);

	return k ? k->segment : NULL;
}

struct rig {
	struct sx_dp_tables *tables;
	struct sx_dp *dp;
	struct sx_rdp_tables *rdp_tables;
	struct sx_rdp *rdp;
	struct sx_image columns;
	struct sx_segments want, got;
};

static void rig_init(struct rig *g, const struct sx_params *p, int columns, int h, int range)
{
	memset(g, 0, sizeof(*g));
	assert_int_equal(sx_dp_tables_create(&g->tables, p, h, range), 0);
	assert_int_equal(sx_dp_create(&g->dp, g->tables), 0);
	assert_int_equal(sx_rdp_tables_create(&g->rdp_tables, p, h, range), 0);
	assert_int_equal(sx_rdp_create(&g->rdp, g->rdp_tables), 0);
	assert_int_equal(sx_segments_init(&g->want, columns, h), 0);
	assert_int_equal(sx_segments_init(&g->got, columns, h), 0);
	assert_int_equal(sx_image_init(&g->columns, SX_PIXEL_U16, h, columns), 0);
}

static void rig_finish(struct rig *g)
{
	sx_dp_destroy(g->dp);
	sx_dp_tables_destroy(g->tables);
	sx_rdp_destroy(g->rdp);
	sx_rdp_tables_destroy(g->rdp_tables);
	sx_segments_finish(&g->want);
	sx_segments_finish(&g->got);
	sx_image_finish(&g->columns);
}

static void compare(const struct rig *g, const char *what, int range, int vhor)
{
	for (int u = 0; u < g->columns.height; u++) {
		const struct sx_segment *want = sx_segments_column(&g->want, u);
		const struct sx_segment *got = sx_segments_column(&g->got, u);
		int i = 0;

		if (g->want.total[u] != g->got.total[u])
			fail_msg("%s %d rows, range %d, vhor %d, column %d: total %d, want %d", what,
				 g->columns.width, range, vhor, u, g->got.total[u], g->want.total[u]);
		while (i < g->want.count[u] && i < g->got.count[u] &&
		       memcmp(&want[i], &got[i], sizeof(*want)) == 0)
			i++;
		if (i < g->want.count[u] || i < g->got.count[u])
			fail_msg("%s %d rows, range %d, vhor %d, column %d: segment %d of %d differs: "
				 "rows %d..%d kind %d, want %d..%d kind %d",
				 what, g->columns.width, range, vhor, u, i, g->want.count[u], got[i].v_bottom,
				 got[i].v_top, got[i].kind, want[i].v_bottom, want[i].v_top, want[i].kind);
	}
}

/* Two workers take turns, so that a difference shows if scratch memory keeps data of a column. */
static void run_cpu(struct rig *g, const struct sx_params *p, int h, int range, const struct sx_road *road,
		    const struct sx_segment_kernels *k)
{
	struct sx_segmenter *s;
	const int n = g->columns.height;

	memset(g->got.count, 0xaa, (size_t)n * sizeof(*g->got.count));
	assert_int_equal(sx_segmenter_create(&s, p, h, range, 2, k), 0);
	assert_true(sx_segmenter_bytes(s) > 0);
	for (int round = 0; round < 2; round++) {
		sx_segmenter_begin(s, road, NULL, NULL);
		for (int u = n - 1; u >= 0; u--)
			sx_segmenter_columns(s, &g->columns, u, u + 1, (u + round) % 2, &g->got);
	}
	sx_segmenter_destroy(s);
}

static void check_both(struct rig *g, struct sx_params *p, int h, int range, const struct sx_road *road,
		       int vhor, const char *what)
{
	char name[64];

	for (size_t i = 0; i < sizeof(simds) / sizeof(*simds); i++) {
		const struct sx_segment_kernels *k = kernels_of(simds[i]);

		if (!k)
			continue;
		p->stixels.method = SX_STIXEL_DP;
		sx_dp_run(g->dp, road, &g->columns, &g->want);
		run_cpu(g, p, h, range, road, k);
		snprintf(name, sizeof(name), "dp %s %s", simds[i], what);
		compare(g, name, range, vhor);
		p->stixels.method = SX_STIXEL_RDP;
		sx_rdp_run(g->rdp, road, &g->columns, 0, &g->want);
		run_cpu(g, p, h, range, road, k);
		snprintf(name, sizeof(name), "rdp %s %s", simds[i], what);
		compare(g, name, range, vhor);
	}
}

static void check_size(int h, int range, int vhor, int columns, bool random, struct check_rng *r)
{
	struct sx_params p = random ? stixel_case_random_params(h, r) : stixel_case_params(h);
	struct sx_road road = stixel_case_road(h, vhor, range * (0.3 + check_below(r, 100) / 100.0));
	struct rig g;

	stixel_case_place(&p, &road, columns, r);
	rig_init(&g, &p, columns, h, range);
	for (int how = 0; how < CASE_COUNT; how++) {
		stixel_case_columns((enum stixel_case)how, &road, range, &g.columns, r);
		check_both(&g, &p, h, range, &road, vhor, stixel_case_name((enum stixel_case)how));
	}
	rig_finish(&g);
}

static void test_heights_and_horizons(void **state)
{
	static const int heights[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 101, 200};
	struct check_rng r = check_rng_seed(31);

	for (size_t i = 0; i < sizeof(heights) / sizeof(*heights); i++) {
		const int h = heights[i];

		check_size(h, 64, 0, 3, false, &r);
		check_size(h, 64, h, 3, true, &r);
		for (int round = 0; round < 6; round++)
			check_size(h, 32 + check_below(&r, 40), check_below(&r, h + 1), 4, round % 3 > 0, &r);
	}
}

static void test_real_sizes(void **state)
{
	struct check_rng r = check_rng_seed(32);

	check_size(375, 128, 200, 6, false, &r);
	check_size(480, 128, 250, 3, true, &r);
	check_size(375, 256, 180, 3, false, &r);
	check_size(513, 64, 300, 3, false, &r);
	check_size(720, 133, 400, 2, true, &r);
}

/* SX_RANGE_MAX and 2160 rows: sums are larger than a float can count exactly. */
static void test_largest_size(void **state)
{
	struct check_rng r = check_rng_seed(33);
	const struct sx_road road = stixel_case_road(2160, 1200, 300);
	struct sx_params p = stixel_case_params(2160);
	static const enum stixel_case cases[] = {CASE_NOISE, CASE_SCENE, CASE_FLAT};
	struct rig g;

	rig_init(&g, &p, 1, 2160, SX_RANGE_MAX);
	for (size_t i = 0; i < 3; i++) {
		stixel_case_columns(cases[i], &road, SX_RANGE_MAX, &g.columns, &r);
		check_both(&g, &p, 2160, SX_RANGE_MAX, &road, 1200, stixel_case_name(cases[i]));
	}
	rig_finish(&g);
}

/* Parameters for which costs are largest, negative, or all equal. */
static void test_extreme_parameters(void **state)
{
	struct check_rng r = check_rng_seed(34);
	const int h = 150;
	const struct sx_road road = stixel_case_road(h, 80, 60);

	for (int kind = 0; kind < 4; kind++) {
		struct sx_params p = stixel_case_params(h);
		struct rig g;

		if (kind == 0)
			p.stixels.sigma_object_px = p.stixels.sigma_ground_px = p.stixels.sigma_sky_px = 1e-9;
		if (kind == 1)
			p.stixels.p_outlier = p.stixels.p_order = p.stixels.p_gravity = 1e-300;
		if (kind == 2)
			p.stixels.depth_order_m = 1e6;
		if (kind == 3)
			p.camera.fx = p.camera.fy = p.camera.baseline_m = 0;
		rig_init(&g, &p, 2, h, 64);
		for (int how = 0; how < CASE_COUNT; how++) {
			stixel_case_columns((enum stixel_case)how, &road, 64, &g.columns, &r);
			((uint16_t *)g.columns.data)[h / 2] = 0xfffe;
			check_both(&g, &p, h, 64, &road, 80, stixel_case_name((enum stixel_case)how));
		}
		rig_finish(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_heights_and_horizons),
		cmocka_unit_test(test_real_sizes),
		cmocka_unit_test(test_largest_size),
		cmocka_unit_test(test_extreme_parameters),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
