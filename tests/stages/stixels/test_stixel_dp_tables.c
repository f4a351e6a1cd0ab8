/*
 * Tables and priors of the stixel DP against their formulas, in double.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <stixel.h>
#include <cmocka.h>

#include "stages/stixels/stixel_dp.h"
#include "tests/stixel_case.h"

static void near_q12(int32_t got, double nats)
{
	if (fabs(got - 4096.0 * nats) > 1.01)
		fail_msg("table has %d, the formula says %.3f", got, 4096.0 * nats);
}

static double formula(double d, double f, double sigma, double outlier, double range)
{
	const double mass = 0.5 * (erf((range - f) / (sqrt(2) * sigma)) - erf(-f / (sqrt(2) * sigma)));
	const double gauss = log(mass) + log(sigma * sqrt(2 * acos(-1))) - log(1 - outlier) +
			     (d - f) * (d - f) / (2 * sigma * sigma);

	return fmin(log(range) - log(outlier), gauss);
}

static void test_pixel_costs(void **state)
{
	const struct sx_params p = stixel_case_params(375);
	const struct sx_stixel_params *s = &p.stixels;
	const double fb = 707.09 * 0.54, hc = 1.65, log_valid_g = log(1 - 0.21), log_valid_o = log(1 - 0.33);
	struct sx_dp_tables *t;

	assert_int_equal(sx_dp_tables_create(&t, &p, 375, 128), 0);
	for (int fn = 0; fn < 128; fn += 3)
		for (int dq = 0; dq < 128; dq++) {
			const double noise = fn * fn * s->depth_noise_m / fb;

			near_q12(t->object[dq * 128 + fn],
				 formula(dq, fn, sqrt(1 + noise * noise), 0.15, 128) - log_valid_o);
		}
	near_q12(t->object[128 * 128 + 5], -log(0.33));
	for (int g = 0; g <= 16 * 128; g += 7)
		for (int d = 0; d < 2048; d += 61) {
			const double f = g / 16.0, a = f / hc * 0.05, b = fb / hc * 0.005;
			const double want =
				formula(fmax(d / 16.0, f), f, sqrt(1.5 * 1.5 + a * a + b * b), 0.15, 128);

			/* the precision has 20 bits: an error of up to 6 px^2 * 256 * 2^-21 * 4096 units */
			assert_true(fabs(sx_dp_ground_cost(t, g, (uint16_t)d) - 4096 * (want - log_valid_g)) <
				    8);
		}
	/* parameters of the paper: object 1.081, sky -1.566 with sigma 0.1: costs may be negative */
	near_q12(t->base_sky, formula(0, 0, 0.5, 0.4, 128));
	near_q12(sx_dp_ground_cost(t, 50, SX_DISPARITY_INVALID), -log(0.21));
	near_q12(sx_dp_sky_cost(t, SX_DISPARITY_INVALID), -log(0.21));
	assert_int_equal(sx_dp_ground_cost(t, -999, 3), sx_dp_ground_cost(t, 0, 3));
	/* disparities below the ground are noise; the table ends beyond the range */
	assert_int_equal(sx_dp_ground_cost(t, 16 * 60, 16 * 20), sx_dp_ground_cost(t, 16 * 60, 16 * 60));
	assert_int_equal(sx_dp_ground_cost(t, 16 * 128 + 400, 2040), sx_dp_ground_cost(t, 16 * 128, 2040));
	sx_dp_tables_destroy(t);
}

static void test_priors(void **state)
{
	const struct sx_params p = stixel_case_params(100);
	const double fb = 707.09 * 0.54;
	const struct sx_road road = stixel_case_road(100, 60, 40);
	struct sx_dp_tables *t;
	struct sx_dp_frame f;
	struct sx_dp_place at;

	assert_int_equal(sx_dp_tables_create(&t, &p, 100, 64), 0);
	assert_int_equal(sx_dp_frame_init(&f, 100), 0);
	assert_int_equal(sx_dp_place_init(&at, 100), 0);
	sx_dp_frame_set(&f, t, &road);
	sx_dp_place_set(&at, t, &f, 0);
	assert_int_equal(at.vhor, 60);
	for (int m = 16; m < 1024; m++) {
		const double mp = m / 16.0, r = mp - fb / (fb / mp + 3.0);
		const int q = (int)floor(16 * r + 0.5);

		assert_int_equal(t->order[m].hi, m + q);
		assert_int_equal(t->order[m].lo, m - q);
		assert_true(abs(t->order[m].cost_hi -
				(int)(4096 * (log(fmax(64 - mp - q / 16.0, 1 / 16.0)) - log(0.2)))) <= 2);
		assert_true(abs(t->order[m].cost_lo -
				(int)(4096 * (log(fmax(mp - q / 16.0, 1 / 16.0)) - log(0.8)))) <= 2);
	}
	assert_int_equal(t->order[0].hi, 0);
	near_q12(t->first_ground, log(100) + log(2));
	near_q12(t->first_object, log(100) + log(64));
	near_q12(t->first_object_low, log(100) + log(64) + log(2));
	for (int v = 1; v < 100; v++) {
		const struct sx_dp_row *r = &at.rows[v];
		const double len = log(100 - v), g = at.ground_q4[v - 1] / 16.0;

		assert_true(fabs(r->object_on_object - 4096 * (len + (v < 60 ? -log(0.7) : log(2)))) <= 2);
		assert_int_equal(r->ground < SX_DP_INF, v < 60);
		assert_int_equal(r->sky_on_object < SX_DP_INF, v >= 60);
		assert_int_equal(r->sky_on_ground < SX_DP_INF, v >= 60 && at.ground_q4[v - 1] < 16);
		if (v <= 60) {
			assert_int_equal(r->hi, at.ground_q4[v - 1] + 16);
			assert_true(fabs(r->cost_hi - 4096 * (len - log(0.7) - log(0.1) + log(63 - g))) <= 3);
			assert_true(fabs(r->cost_on - 4096 * (len - log(0.7) - log(0.86) + log(2))) <= 3);
			assert_true(fabs(r->cost_lo - 4096 * (len - log(0.7) - log(0.04) +
							      log(fmax(g - 1, 1 / 16.0)))) <= 3);
		} else {
			assert_int_equal(r->hi, 16);
			assert_true(fabs(r->cost_hi - 4096 * (len + log(63))) <= 2);
			assert_int_equal(r->cost_on, SX_DP_INF);
		}
	}
	sx_dp_place_finish(&at);
	sx_dp_frame_finish(&f);
	sx_dp_tables_destroy(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pixel_costs),
		cmocka_unit_test(test_priors),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
