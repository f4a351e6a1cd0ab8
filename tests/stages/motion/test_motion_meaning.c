/*
 * What ego-motion means for a user: sentences and percent of known offsets, with several cameras, and turns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "stages/motion/meaning.h"
#include "stages/motion/step.h"

static const struct sx_camera car = {.fx = 721.5, .fy = 721.5, .baseline_m = 0.54};
static const struct sx_camera robot = {.fx = 433, .fy = 433, .baseline_m = 0.06};

static void expect(const struct sx_camera *camera, double px, double sigma, const char *want)
{
	const struct sx_motion_range range = {px, sigma};
	char text[SX_RANGE_TEXT_BYTES];

	sx_range_describe(camera, &range, 0, text);
	assert_string_equal(text, want);
}

static void sentences(void **state)
{
	expect(&car, 0.86, 0.06,
	       "at 20 m distances are 4.6 % (+-0.3) too long: offset 0.86 px (+-0.06); the cameras are rotated by "
	       "0.068 degrees (+-0.005) against their calibration");
	expect(&car, -0.5, 0.1,
	       "at 20 m distances are 2.5 % (+-0.5) too short: offset -0.50 px (+-0.10); the cameras are rotated "
	       "by 0.040 degrees (+-0.008) against their calibration");
	expect(&car, 0.1, 0.1,
	       "no error found: offset 0.10 px (+-0.10); distances at 20 m are right within 1.0 %");
	expect(&robot, 0.5, 0.05,
	       "at 1 m distances are 2.0 % (+-0.2) too long: offset 0.50 px (+-0.05); the cameras are rotated by "
	       "0.066 degrees (+-0.007) against their calibration");
}

static void what_is_wrong(void **state)
{
	static const struct {
		double px, sigma;
		bool known, found, wrong;
	} cases[] = {
		{0.86, 0.06, true, true, true}, {-0.86, 0.06, true, true, true},
		{0.1, 0.02, true, true, false}, {0.4, 0.3, true, false, false},
		{2.0, 0.51, false, true, true}, {0.0, 0.0, false, true, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct sx_motion_range range = {cases[i].px, cases[i].sigma};
		const struct sx_range_error e = sx_range_error_of(&car, &range);

		assert_int_equal(sx_range_is_known(&range), cases[i].known);
		assert_int_equal(e.found, cases[i].found);
		assert_int_equal(e.wrong, cases[i].wrong);
		/* 20 m measured are 20 m (1 - percent) in truth: the true disparity is the measured one and px */
		assert_true(fabs(e.at_m - 20) < 1e-9);
		assert_true(fabs(car.fx * car.baseline_m / (20 * (1 + e.percent / 100)) -
				 (car.fx * car.baseline_m / 20 - cases[i].px)) < 1e-9);
	}
}

static void turns(void **state)
{
	const double none[3] = {0, 0, 0};

	for (int axis = 0; axis < 3; axis++) {
		/* the Cayley map of v turns by 2 atan(v / 2) */
		double turn[3] = {0, 0, 0}, deg[3];
		struct sx_motion_step step = sx_motion_no_step();

		sx_motion_turn_deg(&step, deg);
		assert_true(deg[0] == 0 && deg[1] == 0 && deg[2] == 0);
		turn[axis] = 2 * tan(0.05);
		sx_motion_change(&step, turn, none);
		sx_motion_turn_deg(&step, deg);
		for (int i = 0; i < 3; i++)
			assert_true(fabs(deg[i] - (i == axis ? 0.1 * 180 / acos(-1) : 0)) < 1e-9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(sentences), cmocka_unit_test(what_is_wrong),
					   cmocka_unit_test(turns)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
