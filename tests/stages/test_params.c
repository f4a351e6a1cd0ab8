/*
 * Parameter checks: a wrong value is refused with a sentence that names it. Values at the limits are
 * accepted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stages/context.h"
#include "stages/params_check.h"
#include "tests/stages/sound_params.h"

static int check(const struct sx_params *p, int width, int height, const char *named)
{
	struct sx_why why = {""};
	int r = sx_params_check(p, width, height, &why);

	if (r < 0 && named && !strstr(why.text, named))
		fail_msg("'%s' does not say '%s'", why.text, named);
	if (r == 0)
		assert_string_equal(why.text, "");
	return r;
}

#define REFUSED(named, change)                                         \
	do {                                                           \
		struct sx_params p = sound_params();                   \
		change;                                                \
		assert_int_equal(check(&p, 640, 480, named), -EINVAL); \
	} while (0)
#define ACCEPTED(change)                                        \
	do {                                                    \
		struct sx_params p = sound_params();            \
		change;                                         \
		assert_int_equal(check(&p, 640, 480, NULL), 0); \
	} while (0)

static void stereo_is_checked(void **state)
{
	REFUSED("disparities = 48", p.stereo.disparities = 48);
	REFUSED("disparities = 0", p.stereo.disparities = 0);
	REFUSED("search = pyramid allows 512", p.stereo.disparities = 288);
	REFUSED("search = pyramid allows 512", (p.stereo.search = SX_SEARCH_AUTO, p.stereo.disparities = 288,
						p.stereo.cost = SX_COST_ZNCC, p.stereo.zncc_window = 9));
	REFUSED("from 32 to 512", (p.stereo.search = SX_SEARCH_PYRAMID, p.stereo.disparities = 544));
	REFUSED("beyond 512 px together", (p.stereo.search = SX_SEARCH_PYRAMID, p.stereo.disparities = 512,
					   p.stereo.min_disparity = 1));
	REFUSED("search = pyramid",
		(p.stereo.search = SX_SEARCH_PYRAMID, p.stereo.aggregation = SX_AGGREGATION_FASTDT));
	ACCEPTED((p.stereo.search = SX_SEARCH_PYRAMID, p.stereo.disparities = 512));
	ACCEPTED((p.stereo.search = SX_SEARCH_AUTO, p.stereo.disparities = 512));
	ACCEPTED((p.stereo.search = SX_SEARCH_PYRAMID, p.stereo.disparities = 480,
		  p.stereo.min_disparity = 32));
	REFUSED("min_disparity = 129", p.stereo.min_disparity = 129);
	REFUSED("min_disparity = -129", p.stereo.min_disparity = -129);
	REFUSED("paths = 3", p.stereo.paths = 3);
	REFUSED("p1 = -1", p.stereo.p1 = -1);
	REFUSED("p2 = 6", (p.stereo.p1 = 7, p.stereo.p2 = 6));
	REFUSED("uniqueness = 0", p.stereo.uniqueness = 0);
	REFUSED("uniqueness = 101", p.stereo.uniqueness = 101);
	ACCEPTED((p.stereo.min_disparity = -128, p.stereo.disparities = 256, p.stereo.uniqueness = 1));
	ACCEPTED((p.stereo.min_disparity = 128, p.stereo.disparities = 32, p.stereo.uniqueness = 100));
}

static void zncc_and_fastdt_are_checked(void **state)
{
	for (int window = 3; window <= 15; window += 2)
		ACCEPTED((p.stereo.cost = SX_COST_ZNCC, p.stereo.zncc_window = window));
	REFUSED("window = 4", (p.stereo.cost = SX_COST_ZNCC, p.stereo.zncc_window = 4));
	REFUSED("window = 1", (p.stereo.cost = SX_COST_ZNCC, p.stereo.zncc_window = 1));
	REFUSED("window = 17", (p.stereo.cost = SX_COST_ZNCC, p.stereo.zncc_window = 17));
	REFUSED("p2_edge = -1", p.stereo.p2_edge = -1);
	REFUSED("p2_edge = 256", p.stereo.p2_edge = 256);
	ACCEPTED(p.stereo.p2_edge = 255);
	for (int cost = SX_COST_CSCT; cost <= SX_COST_ZNCC; cost++)
		ACCEPTED((p.stereo.cost = cost, p.stereo.aggregation = SX_AGGREGATION_FASTDT));
	/* 62 x 7.51^4 */
	REFUSED("sigma_space = 7: sums of the largest matching cost 62 would reach 197420",
		(p.stereo.cost = SX_COST_CENSUS, p.stereo.aggregation = SX_AGGREGATION_FASTDT,
		 p.stereo.fastdt_sigma_space = 7));
	REFUSED("sigma_space = -1",
		(p.stereo.aggregation = SX_AGGREGATION_FASTDT, p.stereo.fastdt_sigma_space = -1));
	REFUSED("sigma_range = -2",
		(p.stereo.aggregation = SX_AGGREGATION_FASTDT, p.stereo.fastdt_sigma_range = -2));
	ACCEPTED(p.stereo.fastdt_sigma_space = -1); /* sgm does not use this value */
}

static void sum_of_penalties_fits_8_bits(void **state)
{
	static const int most[] = {31, 62, 48, 62, 42};

	for (int cost = SX_COST_CSCT; cost <= SX_COST_ZNCC; cost++) {
		int p1 = 90, p2 = 255 - most[cost] - p1;

		assert_int_equal(sx_cost_max(cost), most[cost]);
		ACCEPTED((p.stereo.cost = cost, p.stereo.p1 = p1, p.stereo.p2 = p2));
		REFUSED("255", (p.stereo.cost = cost, p.stereo.p1 = p1, p.stereo.p2 = p2 + 1));
		ACCEPTED((p.stereo.cost = cost, p.stereo.p1_vertical = p1, p.stereo.p2_vertical = p2));
		REFUSED("stereo.p2_vertical",
			(p.stereo.cost = cost, p.stereo.p1_vertical = p1, p.stereo.p2_vertical = p2 + 1));
	}
	/* the check must not overflow */
	REFUSED("255", (p.stereo.p1 = 0x7fffffff, p.stereo.p2 = 0x7fffffff));
}

static void zero_penalties_are_resolved(void **state)
{
	for (int cost = SX_COST_CSCT; cost <= SX_COST_ZNCC; cost++) {
		for (int paths = 2; paths <= 8; paths *= 2) {
			struct sx_stereo_params chosen = {.cost = cost, .paths = paths}, own = chosen, again;

			ACCEPTED((p.stereo.cost = cost, p.stereo.paths = paths,
				  p.stereo.p1 = p.stereo.p2 = p.stereo.p1_vertical = p.stereo.p2_vertical =
					  0));
			sx_stereo_resolve(&chosen);
			assert_in_range(chosen.p1, 1, chosen.p2);
			assert_true(sx_cost_max(cost) + chosen.p1 + chosen.p2 <= 255);
			assert_in_range(chosen.p1_vertical, 1, chosen.p2_vertical);
			assert_true(sx_cost_max(cost) + chosen.p1_vertical + chosen.p2_vertical <= 255);
			/* a value set by the user stays, in every direction; the other one is filled in */
			own.p1 = 3;
			sx_stereo_resolve(&own);
			assert_int_equal(own.p1, 3);
			assert_int_equal(own.p1_vertical, 3);
			assert_int_equal(own.p2, chosen.p2);
			assert_int_equal(own.p2_vertical, chosen.p2_vertical);
			again = own;
			sx_stereo_resolve(&again); /* every parameter is already resolved */
			assert_memory_equal(&again, &own, sizeof(own));
			own = again =
				(struct sx_stereo_params){.cost = cost, .paths = paths, .p2_vertical = 90};
			sx_stereo_resolve(&own);
			/* this value does not change the other three either */
			assert_int_equal(own.p2_vertical, 90);
			assert_int_equal(own.p1, chosen.p1);
			assert_int_equal(own.p2, chosen.p2);
			assert_int_equal(own.p1_vertical, chosen.p1_vertical);
		}
	}
	REFUSED("p2 = 60: p1 must", (p.stereo.p1 = 101, p.stereo.p2 = 0));
	REFUSED("p2_vertical = 86: p1_vertical must be at least 1 and at most p2_vertical",
		(p.stereo.p1_vertical = 87, p.stereo.p2 = p.stereo.p2_vertical = 0));
}

static void filters_and_camera_are_checked(void **state)
{
	REFUSED("left_right = -2", p.filters.left_right = -2);
	REFUSED("speckle_size = -1", p.filters.speckle_size = -1);
	REFUSED("speckle_range = -3", p.filters.speckle_range = -3);
	REFUSED("fy = 0", p.camera.fy = 0);
	REFUSED("baseline_m = -0.5", p.camera.baseline_m = -0.5);
	REFUSED("height_m = 0", p.camera.height_m = 0);
	REFUSED("fx = nan", p.camera.fx = NAN);
	REFUSED("cx = inf", p.camera.cx = INFINITY);
	REFUSED("pitch_deg = 90", p.camera.pitch_deg = 90);
	REFUSED("roll_deg = 31", p.camera.roll_deg = 31);
	REFUSED("roll_deg = nan", p.camera.roll_deg = NAN);
	ACCEPTED(p.camera.roll_deg = -30);
	ACCEPTED((p.camera = (struct sx_camera){0}));
	REFUSED("road.mode", (p.camera = (struct sx_camera){0}, p.road.mode = SX_ROAD_CALIBRATED));
	REFUSED("min_height_m = 0.5 must be below road.max_height_m = 0.2",
		(p.road.min_height_m = 0, p.camera.height_m = 1.65, p.road.max_height_m = 0.2));
	REFUSED("camera.height_m = 0.3 is outside of road.min_height_m .. max_height_m, 0.5..3",
		(p.camera.height_m = 0.3, p.road.min_height_m = 0.5, p.road.max_height_m = 3));
	ACCEPTED((p.camera.height_m = 0.3, p.road.min_height_m = p.road.max_height_m = 0));
	REFUSED("max_roll_deg = 46", p.road.max_roll_deg = 46);
	REFUSED("top = 91", p.road.top = 91);
	REFUSED("vehicle.step_m = 2 must be below vehicle.height_m = 2", p.vehicle.step_m = 2);
	ACCEPTED((p.vehicle.step_m = 2, p.vehicle.height_m = 2.1));
}

static void stixels_are_checked(void **state)
{
	REFUSED("width = 33", p.stixels.width = 33);
	REFUSED("width = 0", p.stixels.width = 0);
	REFUSED("sigma_sky_px = 0", p.stixels.sigma_sky_px = 0);
	REFUSED("epsilon_px = 64.5", p.stixels.epsilon_px = 64.5);
	REFUSED("not 1.2", p.stixels.p_invalid_sky += 0.2);
	REFUSED("p_invalid_sky = nan", p.stixels.p_invalid_sky = NAN);
	REFUSED("p_gravity = 0.96", p.stixels.p_gravity = 0.96);
	ACCEPTED(p.stixels.epsilon_px = 64);
}

#define SLANTED(change) (p.stixels.method = SX_STIXEL_SLANTED, change)

static void slanted_stixels_are_checked(void **state)
{
	REFUSED("cell_height = 33", SLANTED(p.stixels.cell_height = 33));
	REFUSED("cell_height = -1", SLANTED(p.stixels.cell_height = -1));
	REFUSED("slanted_sigma_sky_px = 0.001", SLANTED(p.stixels.slanted.sigma_sky_px = 0.001));
	REFUSED("slanted_offset_px = 0.05", SLANTED(p.stixels.slanted.offset_px = 0.05));
	REFUSED("slanted_slope_px = 0", SLANTED(p.stixels.slanted.slope_px = 0));
	REFUSED("slanted_bent_px = 0", SLANTED(p.stixels.slanted.bent_px = 0));
	REFUSED("slanted_confidence_full = 0", SLANTED(p.stixels.slanted.confidence_full = 0));
	REFUSED("slanted_roughness = 1.5", SLANTED(p.stixels.slanted.roughness = 1.5));
	REFUSED("slanted_sky_outlier = -1", SLANTED(p.stixels.slanted.sky_outlier = -1));
	REFUSED("slanted_class_cut = 1001", SLANTED(p.stixels.slanted.class_cut = 1001));
	REFUSED("slanted_semantic = nan", SLANTED(p.stixels.slanted.semantic = NAN));
	REFUSED("slanted_cut = -1", SLANTED(p.stixels.slanted.cut = -1));
	REFUSED("slanted_above = 101", SLANTED(p.stixels.slanted.above = 101));
	REFUSED("slanted_below = 1.5", SLANTED(p.stixels.slanted.below = 1.5));
	REFUSED("slanted_below = nan", SLANTED(p.stixels.slanted.below = NAN));
	REFUSED("sky_grey = 257", p.stixels.sky_grey = 257);
	REFUSED("sky_grey = -1", p.stixels.sky_grey = -1);
	REFUSED("saturated = 257", p.stixels.saturated = 257);
	REFUSED("saturated = -1", p.stixels.saturated = -1);
	REFUSED("slanted_fill_px = 513", SLANTED(p.stixels.slanted.fill_px = 513));
	REFUSED("slanted_fill_px = -1", SLANTED(p.stixels.slanted.fill_px = -1));
	REFUSED("slanted_feet_px = 513", SLANTED(p.stixels.slanted.feet_px = 513));
	REFUSED("slanted_feet_px = -1", SLANTED(p.stixels.slanted.feet_px = -1));
	ACCEPTED(SLANTED((p.stixels.slanted.below = 1, p.stixels.sky_grey = 256)));
	REFUSED("33 semantic classes", SLANTED(p.semantics.classes = 33));
	REFUSED("class 1: its kind 3", SLANTED((p.semantics.classes = 2, p.semantics.kind[1] = 3)));
	ACCEPTED(SLANTED(p.stixels.cell_height = 32));
	ACCEPTED(SLANTED(p.semantics.classes = 32));
	/* parameters that other methods do not read */
	ACCEPTED(p.stixels.slanted.slope_px = 0);
}

/* If the configuration uses scores, the scores of a pair must match it. */
static void scores_are_checked(void **state)
{
	static uint8_t grey[640 * 480];
	const struct sx_image image = {grey, 640, 480, 640, SX_PIXEL_U8};
	const struct sx_scores good = {grey, 80, 80 * 60, 19, 80, 60, 8, 0};
	struct sx_context_config c = {640, 480, SX_PIXEL_U8, sound_params(), false};
	struct sx_scores s = good;
	struct sx_pair pair = {.left = image, .right = image, .scores = &s};

	c.params.semantics.classes = 19;
	s.classes = 3;
	assert_null(sx_context_scores(&c, &pair));
	assert_int_equal(sx_context_check_pair(&c, &pair), 0); /* dp reads no scores */
	c.params.stixels.method = SX_STIXEL_SLANTED;
	assert_ptr_equal(sx_context_scores(&c, &pair), &s);
	assert_int_equal(sx_context_check_pair(&c, &pair), -EINVAL);
	for (int i = 0; i < 8; i++) {
		s = good;
		s.data = i == 1 ? NULL : grey;
		s.scale = i == 2 ? 0 : i == 3 ? 4 : 8;
		s.width -= i == 4;
		s.height += i == 5;
		s.pitch -= i == 6;
		s.plane_bytes -= i == 7;
		assert_int_equal(sx_context_check_pair(&c, &pair), i ? -EINVAL : 0);
	}
	c.params.semantics.classes = 0;
	assert_null(sx_context_scores(&c, &pair));
	assert_int_equal(sx_context_check_pair(&c, &pair), 0);
}

static void sizes_are_checked(void **state)
{
	struct sx_params p = sound_params();

	assert_int_equal(check(&p, 31, 32, "31x32"), -EINVAL);
	assert_int_equal(check(&p, 32, 31, "32x31"), -EINVAL);
	assert_int_equal(check(&p, 4097, 2160, "4097x2160"), -EINVAL);
	assert_int_equal(check(&p, 4096, 2161, "4096x2161"), -EINVAL);
	assert_int_equal(check(&p, 32, 32, NULL), 0);
	assert_int_equal(check(&p, 4096, 2160, NULL), 0);
}

static void sentence_is_optional(void **state)
{
	struct sx_params p = sound_params();

	p.stereo.disparities = 48;
	assert_int_equal(sx_params_check(&p, 640, 480, NULL), -EINVAL);
}

static void range_of_finished_maps(void **state)
{
	struct sx_stereo_params p = {.disparities = 64, .min_disparity = 10};

	assert_int_equal(sx_disparity_range(&p), 74);
	p.min_disparity = -10;
	assert_int_equal(sx_disparity_range(&p), 64);
}

static int check_context(const struct sx_context_config *c, unsigned abilities, const char *want)
{
	struct sx_why why = {""};
	int r = sx_context_check(c, "test", abilities, &why);

	assert_string_equal(why.text, want);
	return r;
}

static void search_auto_is_the_pyramid_from_256_disparities_on(void **state)
{
	static const struct {
		int disparities;
		enum sx_cost cost;
		enum sx_aggregation aggregation;
		enum sx_search want;
	} cases[] = {
		{224, SX_COST_CSCT, SX_AGGREGATION_SGM, SX_SEARCH_FULL},
		{256, SX_COST_CSCT, SX_AGGREGATION_SGM, SX_SEARCH_PYRAMID},
		{512, SX_COST_CENSUS, SX_AGGREGATION_SGM, SX_SEARCH_PYRAMID},
		{256, SX_COST_ZNCC, SX_AGGREGATION_SGM, SX_SEARCH_FULL},
		{256, SX_COST_CSCT, SX_AGGREGATION_FASTDT, SX_SEARCH_FULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sx_stereo_params p = {.search = SX_SEARCH_AUTO,
					     .disparities = cases[i].disparities,
					     .cost = cases[i].cost,
					     .aggregation = cases[i].aggregation,
					     .paths = 4};

		assert_int_equal(sx_is_pyramid(&p), cases[i].want == SX_SEARCH_PYRAMID);
		sx_stereo_resolve(&p);
		assert_int_equal(p.search, cases[i].want);
		assert_int_equal(sx_is_pyramid(&p), cases[i].want == SX_SEARCH_PYRAMID);
	}
}

static void pyramid_search_with_zncc_is_an_ability(void **state)
{
	struct sx_context_config c = {640, 480, SX_PIXEL_U8, sound_params(), false};

	c.params.stereo.search = SX_SEARCH_PYRAMID;
	assert_int_equal(check_context(&c, 0, ""), 0);
	c.params.stereo.cost = SX_COST_ZNCC;
	assert_int_equal(check_context(&c, SX_CAN_PYRAMID_ZNCC, ""), 0);
	assert_int_equal(
		check_context(&c, SX_CAN_SLANTED_EXACT,
			      "stereo.search = pyramid with stereo.cost = zncc: only engine.backend = "
			      "cpu or reference computes it"),
		-ENOTSUP);
	c.params.stereo.matcher = SX_MATCH_EXTERNAL; /* nothing is searched */
	assert_int_equal(check_context(&c, 0, ""), 0);
}

static void contexts_are_refused_by_name(void **state)
{
	struct sx_context_config c = {640, 480, SX_PIXEL_U8, sound_params(), false};

	assert_int_equal(check_context(&c, 0, ""), 0);
	c.params.stereo.fastdt = SX_FASTDT_FLOAT; /* sgm does not read this value */
	assert_int_equal(check_context(&c, 0, ""), 0);
	c.params.stereo.aggregation = SX_AGGREGATION_FASTDT;
	assert_int_equal(check_context(&c, SX_CAN_SLANTED_EXACT,
				       "stereo.fastdt = float: only engine.backend = reference computes it"),
			 -ENOTSUP);
	assert_int_equal(check_context(&c, SX_CAN_FASTDT_WIDE, ""), 0);
	c.params.stereo.fastdt = SX_FASTDT_INT32;
	assert_int_equal(check_context(&c, SX_CAN_SLANTED_EXACT,
				       "stereo.fastdt = int32: only engine.backend = reference computes it"),
			 -ENOTSUP);
	for (int i = 0; i < 3; i++) {
		c.params.stereo.fastdt =
			(enum sx_fastdt[]){SX_FASTDT_AUTO, SX_FASTDT_INT16, SX_FASTDT_INT8}[i];
		assert_int_equal(check_context(&c, 0, ""), 0);
	}
	c.params.stixels.method = SX_STIXEL_SLANTED;
	assert_int_equal(check_context(&c, 0, ""), 0);
	c.params.stixels.method = SX_STIXEL_SLANTED_EXACT;
	assert_int_equal(
		check_context(
			&c, SX_CAN_FASTDT_WIDE,
			"stixels.method = slanted-exact: only engine.backend = cpu or reference computes it"),
		-ENOTSUP);
	assert_int_equal(check_context(&c, SX_CAN_SLANTED_EXACT, ""), 0);
	c.pixel = SX_PIXEL_U32;
	assert_int_equal(
		check_context(&c, SX_CAN_SLANTED_EXACT, "engine test cannot read images in format u32"),
		-EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stereo_is_checked),
		cmocka_unit_test(zncc_and_fastdt_are_checked),
		cmocka_unit_test(sum_of_penalties_fits_8_bits),
		cmocka_unit_test(zero_penalties_are_resolved),
		cmocka_unit_test(filters_and_camera_are_checked),
		cmocka_unit_test(stixels_are_checked),
		cmocka_unit_test(slanted_stixels_are_checked),
		cmocka_unit_test(scores_are_checked),
		cmocka_unit_test(sizes_are_checked),
		cmocka_unit_test(sentence_is_optional),
		cmocka_unit_test(range_of_finished_maps),
		cmocka_unit_test(contexts_are_refused_by_name),
		cmocka_unit_test(search_auto_is_the_pyramid_from_256_disparities_on),
		cmocka_unit_test(pyramid_search_with_zncc_is_an_ability),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
