/*
 * Path aggregation from checkpoints on the device against sx_sgm(): eight paths.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/gpu/stereo/aggregation_case.h"
#include "tests/gpu/stereo/sgm_flows.h"

/*
 * Diagonals: images narrower and wider than a block of 16, higher than wide and wider than high, heights
 * around bands of 8. Paths begin and end in any row of a band.
 */
static void test_diagonals(void **state)
{
	static const int heights[] = {1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 33, 40, 41};

	for (int width = 1; width <= 40; width++) {
		struct sx_stereo_params p = aggregation_case_params(width % 4 == 0 ? 64 : 32, 8);

		p.p2_edge = width % 3 == 1 ? width : 0;
		p.out_of_view = width % 5 < 2 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
		p.min_disparity = width % 7 - 3;
		sgm_flows_check(p, width, width % 2 ? heights[width % 14] : 42 - width, 200 + (uint64_t)width,
				true);
	}
	for (int i = 0; i < 14; i++) {
		struct sx_stereo_params p = aggregation_case_params(32 + 32 * (i % 8), 8);

		p.p2_edge = i % 4 == 1 ? 16 : 0;
		p.out_of_view = i % 4 > 1 ? SX_OUT_OF_VIEW_MAX : SX_OUT_OF_VIEW_ZERO;
		p.min_disparity = 7 * (i % 3 - 1);
		p.p2 = i % 5 == 0 ? 96 : p.p2;
		p.p2_vertical = i % 5 < 2 ? 96 : p.p2_vertical;
		sgm_flows_check(p, i % 2 ? 97 + i : 17 + i, heights[i], 400 + (uint64_t)i, true);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diagonals),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
