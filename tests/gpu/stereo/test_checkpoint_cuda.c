/*
 * Path aggregation from checkpoints on the device against sx_sgm(), along rows and columns: every number of
 * disparities, bands and segments that end early, and unsupported parameters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "gpu/stereo/checkpoint_cuda.h"
#include "predict/predict.h"
#include "tests/gpu/stereo/aggregation_case.h"
#include "tests/gpu/stereo/sgm_flows.h"

/*
 * Shapes that matter to this flow only: bands and segments that end early, blocks of 32 columns, warps of 4
 * rows.
 */
static void test_checkpoints(void **state)
{
	static const struct {
		int disparities, paths, width, height, min_disparity, edge, p2, p2_vertical;
		enum sx_out_of_view view;
	} cases[] = {
		{128, 4, 363, 33, 0, 0, 0, 0, SX_OUT_OF_VIEW_ZERO},
		{128, 4, 160, 40, -37, 0, 0, 0, SX_OUT_OF_VIEW_MAX},
		{128, 4, 33, 41, 21, 0, 0, 0, SX_OUT_OF_VIEW_MAX},
		{128, 4, 400, 32, 5, 0, 60, 60, SX_OUT_OF_VIEW_ZERO},
		{128, 2, 135, 34, 0, 0, 0, 0, SX_OUT_OF_VIEW_ZERO},
		{128, 4, 47, 39, 0, 30, 0, 0, SX_OUT_OF_VIEW_ZERO},
		{128, 2, 47, 32, 3, 9, 0, 0, SX_OUT_OF_VIEW_ZERO},
		/* sums above 254, which do not fit the narrow form */
		{128, 4, 134, 35, 0, 0, 96, 96, SX_OUT_OF_VIEW_ZERO},
		{128, 4, 40, 37, 0, 12, 96, 96, SX_OUT_OF_VIEW_MAX},
		{64, 4, 97, 43, -3, 0, 96, 20, SX_OUT_OF_VIEW_MAX},
		{192, 4, 64, 32, 0, 0, 0, 0, SX_OUT_OF_VIEW_ZERO},
		{256, 4, 70, 36, 0, 0, 0, 0, SX_OUT_OF_VIEW_MAX},
		{32, 4, 90, 33, 7, 0, 96, 96, SX_OUT_OF_VIEW_MAX}, /* words one at a time: odd D / 32 */
		{32, 2, 77, 35, 0, 8, 0, 0, SX_OUT_OF_VIEW_ZERO},
		{96, 4, 300, 39, -5, 20, 0, 0, SX_OUT_OF_VIEW_MAX}, /* one pass around the ring buffers */
		{160, 4, 301, 32, 0, 0, 96, 1, SX_OUT_OF_VIEW_ZERO},
		{160, 2, 49, 34, 100, 0, 0, 0, SX_OUT_OF_VIEW_MAX},
		{224, 4, 330, 35, -2, 0, 0, 96, SX_OUT_OF_VIEW_ZERO},
		{224, 4, 65, 41, 0, 40, 0, 0, SX_OUT_OF_VIEW_MAX},
		{32, 4, 90, 33, -128, 0, 0, 0, SX_OUT_OF_VIEW_ZERO}, /* right rows begin before their lead */
		{64, 2, 131, 34, -127, 9, 0, 0, SX_OUT_OF_VIEW_MAX},
		{96, 4, 150, 33, 128, 0, 0, 0, SX_OUT_OF_VIEW_ZERO},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sx_stereo_params p = aggregation_case_params(cases[i].disparities, cases[i].paths);

		p.min_disparity = cases[i].min_disparity;
		p.p2_edge = cases[i].edge;
		p.p2 = cases[i].p2 ? cases[i].p2 : p.p2;
		p.p2_vertical = cases[i].p2_vertical ? cases[i].p2_vertical : p.p2_vertical;
		p.out_of_view = cases[i].view;
		p.uniqueness = i % 3 == 2 ? 100 : 95;
		p.subpixel = (enum sx_subpixel)(i % 3);
		sgm_flows_check(p, cases[i].width, cases[i].height, 60 + i, true);
	}
}

/* Checks that predict/, which may not include gpu/, agrees with the flow about the supported parameters. */
static void assert_takes(const struct sx_stereo_params *p, bool takes)
{
	struct sx_context_config c = {.width = 64, .height = 32};
	struct sx_cuda_memory m = {.counting = true};
	struct sx_checkpoint_cuda *s = NULL;

	c.params.stereo = *p;
	assert_int_equal(!sx_predict_checkpoint_refuses(p), takes);
	assert_int_equal(sx_checkpoint_cuda_create(&s, &m, &c, 1), takes ? 0 : -EINVAL);
	sx_checkpoint_cuda_destroy(s);
}

static void test_checkpoints_refused(void **state)
{
	struct sx_stereo_params p;

	for (int paths = 2; paths <= 8; paths *= 2)
		for (int p2 = 95; p2 <= 98; p2++) {
			p = aggregation_case_params(128, paths);
			p.p2 = p2;
			assert_takes(&p, p2 <= 96);
			p = aggregation_case_params(96, paths);
			p.p2_vertical = p2;
			assert_takes(&p, p2 <= 96 || paths == 2);
		}
	p = aggregation_case_params(128, 4);
	p.cost = SX_COST_CENSUS;
	assert_takes(&p, false);
	p = aggregation_case_params(128, 4);
	p.aggregation = SX_AGGREGATION_FASTDT;
	assert_takes(&p, false);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_checkpoints),
		cmocka_unit_test(test_checkpoints_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
