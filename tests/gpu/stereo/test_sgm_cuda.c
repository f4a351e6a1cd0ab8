/*
 * Path aggregation on the device against sx_sgm(): both flows, every number of disparities, paths and
 * descriptor width, penalties at their limits, P2 that falls at edges, costs of windows, narrow and wide
 * images.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/gpu/stereo/aggregation_case.h"
#include "tests/gpu/stereo/sgm_flows.h"

static void check(struct sx_stereo_params p, int width, int height, uint64_t seed)
{
	sgm_flows_check(p, width, height, seed, false);
}

static void test_disparities(void **state)
{
	for (int d = 32; d <= 256; d += 32)
		check(aggregation_case_params(d, 4), 41, 33, (uint64_t)d);
}

static void test_paths(void **state)
{
	check(aggregation_case_params(32, 2), 67, 35, 1);
	check(aggregation_case_params(64, 8), 32, 50, 2);
	check(aggregation_case_params(128, 8), 75, 32, 3);
	check(aggregation_case_params(96, 8), 33, 33, 4);
}

static void test_costs(void **state)
{
	for (int cost = SX_COST_CENSUS; cost <= SX_COST_CENSUS63; cost++) {
		struct sx_stereo_params p = aggregation_case_params(64, 4);

		p.cost = (enum sx_cost)cost;
		p.p1 = p.p2 = p.p1_vertical = p.p2_vertical = 0;
		p.min_disparity = cost == SX_COST_CENSUS ? -17 : 9;
		p.out_of_view = cost == SX_COST_CENSUS48 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
		sx_stereo_resolve(&p);
		check(p, 45, 32, (uint64_t)cost);
	}
}

/* P2 below Cmax, P1 = P2, and both at the upper limit. Penalties are the same in all directions or not. */
static void test_penalties(void **state)
{
	enum { COUNT = 5 };
	static const int penalties[COUNT][2] = {{1, 1}, {7, 7}, {1, 223}, {112, 112}, {5, 20}};

	for (size_t i = 0; i < 2 * COUNT; i++) {
		struct sx_stereo_params p = aggregation_case_params(32, i % 2 ? 4 : 8);
		const int *vertical = penalties[(i + (i < COUNT ? 0 : 3)) % COUNT];

		p.p1 = penalties[i % COUNT][0];
		p.p2 = penalties[i % COUNT][1];
		p.p1_vertical = vertical[0];
		p.p2_vertical = vertical[1];
		check(p, 39, 34, 10 + i);
	}
}

/*
 * Checks p2_edge from 1, at which every difference of grey levels is an edge, to 255, at which none is. In two
 * cases P1 is near P2, so that P2 cannot fall. The ring buffers hold 4 or 8 pixels.
 */
static void test_edges(void **state)
{
	static const int edges[] = {1, 8, 16, 60, 255};

	for (size_t i = 0; i < 2 * sizeof(edges) / sizeof(edges[0]); i++) {
		struct sx_stereo_params p = aggregation_case_params(i % 3 == 0	 ? 32
								    : i % 3 == 1 ? 64
										 : 160,
								    i % 2 ? 4 : 8);

		p.cost = i % 4 == 1 ? SX_COST_CENSUS : SX_COST_CSCT;
		p.p2_edge = edges[i / 2];
		p.p2 = i == 4 ? p.p1 : i == 5 ? p.p1 + 1 : p.p2;
		p.p2_vertical = i == 4 ? p.p1_vertical + 1 : i == 5 ? p.p1_vertical : p.p2_vertical;
		check(p, i % 2 ? 41 : 53, i == 3 ? 66 : 32, 20 + i);
	}
}

static void test_windows(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct sx_stereo_params p = aggregation_case_params(i % 2 ? 64 : 96, i % 2 ? 8 : 4);

		p.cost = SX_COST_ZNCC;
		p.p1 = p.p2 = p.p1_vertical = p.p2_vertical = 0;
		p.zncc_window = i < 2 ? 3 : 7;
		p.p2_edge = i % 2 ? 16 : 0;
		p.min_disparity = i == 2 ? -9 : 3;
		p.out_of_view = i % 2 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
		sx_stereo_resolve(&p);
		check(p, 45, 33, 40 + (uint64_t)i);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disparities), cmocka_unit_test(test_paths),
		cmocka_unit_test(test_costs),	    cmocka_unit_test(test_penalties),
		cmocka_unit_test(test_edges),	    cmocka_unit_test(test_windows),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
