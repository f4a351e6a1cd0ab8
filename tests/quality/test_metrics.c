/*
 * Tests the scores on cases small enough to count by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/quality/metrics.h"
#include "tests/quality/road_score.h"

#define W 30
#define H 40

struct fixture {
	float disparity[W * H], ground[W * H];
	uint8_t kind[W * H], visible[W * H], scratch[W * H];
	uint16_t object[W * H];
	struct sx_scene_truth t;
};

/* Ground everywhere, seen by both cameras. The plane is so steep that all of it is in the corridor. */
static void init(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	memset(f->visible, 1, sizeof(f->visible));
	for (int i = 0; i < W * H; i++)
		f->disparity[i] = 100, f->ground[i] = 100 + (float)(i / W);
	f->t = (struct sx_scene_truth){
		.width = W,
		.height = H,
		.disparity = f->disparity,
		.ground = f->ground,
		.kind = f->kind,
		.visible = f->visible,
		.object = f->object,
		.camera = {.fx = 100, .fy = 100, .cx = 15, .cy = 0, .baseline_m = 0.5, .height_m = 1},
	};
}

static void test_d1_needs_both_limits(void **state)
{
	struct fixture f;
	uint16_t q4[W * H];
	struct sx_image map = {q4, W, H, W * sizeof(*q4), SX_PIXEL_U16};
	struct disparity_score s = {0};

	init(&f);
	for (int i = 0; i < W * H; i++)
		q4[i] = 100 * 16;
	q4[0] = 104 * 16;	      /* 4 px, but 4 %: good */
	q4[1] = 106 * 16;	      /* 6 px and 6 %: wrong */
	q4[2] = 94 * 16;	      /* 6 px and 6 % below */
	q4[3] = SX_DISPARITY_INVALID; /* no estimate */
	q4[4] = 0;		      /* a valid 0: wrong */
	f.disparity[5] = 10;	      /* truth 10, given 100, hidden: only in ALL */
	f.visible[5] = 0;
	f.disparity[6] = 0; /* sky is not scored */
	f.disparity[7] = 2; /* 2 px off is 100 %, but below 3 px: good */
	q4[7] = 4 * 16;
	score_disparity(&s, &f.t, &map);
	assert_int_equal(s.truth[NOC], W * H - 2);
	assert_int_equal(s.truth[ALL], W * H - 1);
	assert_int_equal(s.given[NOC], W * H - 3);
	assert_int_equal(s.wrong[NOC], 3);
	assert_int_equal(s.wrong[ALL], 4);
	assert_true(s.error_sum > 5.99 && s.error_sum < 6.01); /* 4 + 2 */
}

/*
 * Scores six columns of 5 px. The truth has ground in rows 20..39 and an object above. The estimated object
 * reaches down to row bottom[u].
 */
static struct stixel_score score(struct fixture *f, const int bottom[6], int truth_bottom)
{
	struct stixel truth[12], got[12];
	uint32_t offsets[7];
	struct stixel_list a = {truth, offsets}, b = {got, offsets};
	struct stixel_score s = {0};

	for (int u = 0; u < 6; u++) {
		for (int k = 0; k < 2; k++) {
			int edge = k ? bottom[u] : truth_bottom;
			struct stixel *list = k ? got : truth;
			struct stixel ground = {
				.column = (uint16_t)u, .row_top = (uint16_t)(edge + 1), .row_bottom = H - 1};
			struct stixel object = {
				.column = (uint16_t)u, .row_bottom = (uint16_t)edge, .kind = STIXEL_OBJECT};

			list[2 * u] = ground;
			list[2 * u + 1] = object;
		}
		offsets[u] = (uint32_t)(2 * u);
	}
	offsets[6] = 12;
	score_stixels(&s, &f->t, 5, 0, 5, &a, &b, f->scratch);
	return s;
}

static void test_detection_is_more_than_half(void **state)
{
	struct fixture f;
	struct stixel_score s;

	init(&f);
	/* 10 of 20 true rows are just half, 11 are more than half */
	s = score(&f, (const int[]){19, 19, 9, 10, 19, 0}, 19);
	assert_int_equal(s.truth, 6);
	assert_int_equal(s.detected, 4);
	assert_int_equal(s.false_positives[LITERAL], 0);
	assert_int_equal(s.pixels, W * H);
	assert_int_equal(s.stixels, 12);
	/* 5 rows of 5 px are less than 30 px and not scored */
	s = score(&f, (const int[]){4, 4, 4, 4, 4, 4}, 4);
	assert_int_equal(s.truth, 0);
}

static void test_false_positive_is_more_than_30_pixels(void **state)
{
	struct fixture f;
	struct stixel_score s;

	init(&f);
	/* 6 rows of 5 px are 30 px, which is allowed; 7 rows are not */
	s = score(&f, (const int[]){25, 26, 39, 19, 19, 19}, 19);
	assert_int_equal(s.false_positives[LITERAL], 2);
	assert_int_equal(s.false_positives[MEASURABLE], 2);
	assert_int_equal(s.false_positives[CORRIDOR], 2);
	assert_int_equal(s.pairs_with_false[LITERAL], 1);
}

static void test_hidden_ground_and_far_aside_are_other_spaces(void **state)
{
	struct fixture f;
	struct stixel_score s;

	init(&f);
	for (int y = 0; y < H; y++) /* three of five pixels of column 2 are hidden */
		memset(f.visible + y * W + 10, 0, 3);
	s = score(&f, (const int[]){39, 39, 39, 39, 39, 39}, 19);
	assert_int_equal(s.false_positives[LITERAL], 6);
	/* column 2 and its neighbours are not measurable */
	assert_int_equal(s.false_positives[MEASURABLE], 3);
	assert_int_equal(s.false_positives[CORRIDOR], 3);
	for (int i = 0; i < W * H; i++)
		f.ground[i] = 5; /* the ground is far: 15 px to the side are 1.5 m */
	memset(f.visible, 1, sizeof(f.visible));
	s = score(&f, (const int[]){39, 39, 39, 39, 39, 39}, 19);
	assert_int_equal(s.false_positives[MEASURABLE], 6);
	assert_int_equal(s.false_positives[CORRIDOR],
			 2); /* columns 2 and 3; their neighbours 1 and 4 still count as near */
}

/* Roads with an error of sigma, of more than 2 sigma, and of a fifth of sigma. */
static void roads_are_as_sure_as_they_say(void **state)
{
	const struct sx_camera truth = {.height_m = 1.5};

	for (int k = 0; k < 3; k++) {
		const double off = k == 0 ? 1 : k == 1 ? 2.5 : 0.2;
		struct sx_road road = {.origin = SX_ROAD_MEASURED,
				       .pitch_rad = 0.01 * off,
				       .roll_rad = -0.02 * off,
				       .height_m = 1.5 + 0.03 * off,
				       .pitch_sigma_rad = 0.01,
				       .roll_sigma_rad = 0.02,
				       .height_sigma_m = 0.03};
		struct road_score s = {0};

		for (int i = 0; i < 20; i++) {
			assert_true(judge_road(&s)); /* too few frames for a verdict */
			score_road(&s, &truth, &road);
		}
		assert_int_equal(judge_road(&s), k == 0);
		road.origin = SX_ROAD_PREVIOUS;
		score_road(&s, &truth, &road);
		assert_int_equal(s.frames, 21);
		assert_int_equal(s.measured, 20);
		assert_int_equal(s.within[ROAD_ROLL], k == 1 ? 0 : 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roads_are_as_sure_as_they_say),
		cmocka_unit_test(test_d1_needs_both_limits),
		cmocka_unit_test(test_detection_is_more_than_half),
		cmocka_unit_test(test_false_positive_is_more_than_30_pixels),
		cmocka_unit_test(test_hidden_ground_and_far_aside_are_other_spaces),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
