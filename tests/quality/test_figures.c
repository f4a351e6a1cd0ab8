/*
 * Tests the figures of lidar.py and the scores of small things, on cases small enough to count by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "capture/scene/scene_world.h"
#include "tests/quality/lidar_figures.h"
#include "tests/quality/small_things.h"

#define W 32
#define H 40
#define COLUMN 4 /* px, width of a stixel column */
#define COLUMNS (W / COLUMN)
#define LAST (COLUMNS - 1)

/*
 * The truth: sky in rows 0..7, white left of x 16; then a wall 5 m away; ground from row 24 on. The stixels
 * agree.
 */
struct fixture {
	float disparity[W * H], ground[W * H];
	uint8_t kind[W * H], visible[W * H], through[W * H], grey[W * H];
	uint16_t object[W * H];
	struct sx_scene_truth t;
	struct stixel stixels[COLUMNS * 5];
	uint32_t offsets[COLUMNS + 1];
	struct stixel_list got;
	struct sx_image left;
};

static void init(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	memset(f->visible, 1, sizeof(f->visible));
	f->t = (struct sx_scene_truth){
		.width = W,
		.height = H,
		.disparity = f->disparity,
		.ground = f->ground,
		.kind = f->kind,
		.visible = f->visible,
		.through = f->through,
		.object = f->object,
		.road_slope = 0.5,
		.road_offset = -2.25,
		.camera = {.fx = 100, .fy = 100, .cx = 16, .cy = 4.5, .baseline_m = 0.5, .height_m = 1},
	};
	for (int i = 0; i < W * H; i++) {
		int y = i / W;

		f->kind[i] = y < 8 ? STIXEL_SKY : y < 24 ? STIXEL_OBJECT : STIXEL_GROUND;
		f->disparity[i] = y < 8 ? 0 : y < 24 ? 10 : 0.5f * (float)y - 2.25f;
		f->grey[i] = i % W < 16 ? 255 : 100;
	}
	f->left = (struct sx_image){f->grey, W, H, W, SX_PIXEL_U8};
	for (int u = 0; u < COLUMNS; u++) {
		struct stixel *s = f->stixels + 3 * u;

		f->offsets[u + 1] = 3 * (uint32_t)(u + 1);
		s[0] = (struct stixel){.row_top = 24, .row_bottom = 39, .kind = STIXEL_GROUND};
		s[1] = (struct stixel){
			.row_top = 8, .row_bottom = 23, .kind = STIXEL_OBJECT, .disparity_q7 = 1280};
		s[2] = (struct stixel){.row_top = 0, .row_bottom = 7, .kind = STIXEL_SKY};
	}
	f->got = (struct stixel_list){f->stixels, f->offsets};
}

static void check(const struct fixture *f, const uint64_t bad[FIGURES], const uint64_t all[FIGURES])
{
	struct lidar_figures s = {0};

	score_figures(&s, &f->t, &f->left, COLUMN, 2, LAST, &f->got);
	for (int i = 0; i < FIGURES; i++) {
		assert_int_equal(s.all[i], all[i]);
		assert_int_equal(s.bad[i], bad[i]);
	}
}

/*
 * Candidates of each figure in 24 px of width: 16 rows of ground, 5 low (0.175 to 0.375 m), 9 of obstacle; 6
 * columns; 8x8 px of white; 8 px of edge.
 */
static const uint64_t all[FIGURES] = {24 * 16, 24 * 9, 24 * 5, 24 * 9, 6, 6, 64, 8 * 16};

static void test_all_is_well(void **state)
{
	static const uint64_t none[FIGURES] = {0};
	struct fixture f;

	init(&f);
	check(&f, none, all);
}

static void test_each_figure(void **state)
{
	struct fixture f;

	init(&f);
	f.stixels[3 * 2 + 2].kind = STIXEL_OBJECT; /* the white sky of column 2 is an object */
	/* the ground of column 3 is an object, at half of the wall's distance */
	f.stixels[3 * 3].kind = STIXEL_OBJECT;
	f.stixels[3 * 3].disparity_q7 = 2560;
	f.stixels[3 * 4 + 1].kind = STIXEL_GROUND;    /* the wall of column 4 is missing */
	f.stixels[3 * 5 + 1].disparity_q7 = 14 * 128; /* 4 px off */
	f.stixels[0].kind = STIXEL_OBJECT;
	check(&f, (const uint64_t[FIGURES]){4 * 16, 4 * 9, 4 * 5, 4 * 9, 1, 1, 32, 4 * 16},
	      (const uint64_t[FIGURES]){24 * 16, 24 * 9, 24 * 5, 20 * 9, 6, 6, 64, 8 * 16});
}

static void test_what_counts_nowhere(void **state)
{
	static const uint64_t none[FIGURES] = {0};
	static const uint64_t less[FIGURES] = {20 * 16, 20 * 9, 20 * 5, 20 * 9, 5, 5, 64, 8 * 16};
	struct fixture f;

	init(&f);
	for (int i = 0; i < W * H; i++)
		if (i % W / COLUMN == 7)
			f.through[i] = 1;
	check(&f, none, less);
	init(&f);
	for (int i = 0; i < W * H; i++)
		if (i % W / COLUMN == 7)
			f.visible[i] = 0;
	check(&f, none, less);
}

static void test_limits(void **state)
{
	struct lidar_figures s = {.bad = {1}, .all = {100}};
	double max[FIGURES] = {1};

	assert_true(judge_figures(&s, max));
	max[0] = 0.9;
	assert_false(judge_figures(&s, max));
}

static void test_small_things(void **state)
{
	static const double all_near[2] = {100, 0}, all_far[2] = {0, 100};
	static struct sx_scene scene;
	uint16_t q4[W * H];
	struct sx_image map = {q4, W, H, W * sizeof(*q4), SX_PIXEL_U16};
	struct small_things s = {0};
	struct fixture f;

	init(&f);
	scene.cargo_count = 1;
	scene.cargo[0] = (struct sx_cargo){.size = 2, .distance = 0, .object = 5};
	for (int y = 20; y < 24; y++)
		for (int x = 8; x < 16; x++)
			f.object[y * W + x] = 5;
	for (int i = 0; i < W * H; i++) {
		f.ground[i] = 8;
		/* half of the thing has no disparity */
		q4[i] = i % W < 12 ? SX_DISPARITY_INVALID : 9 * 16 + 1;
	}
	score_small(&s, &scene, &f.t, COLUMN, &f.got, &map);
	assert_true(judge_small(&s, all_near));
	assert_false(judge_small(&s, all_far)); /* no thing is far, so the limit is missed */
	assert_int_equal(s.matched[2][0], 0);
	q4[20 * W + 8] = 9 * 16 + 1;
	f.stixels[3 * 2 + 1].disparity_q7 = 1152; /* 9 px instead of 10: more than 10 % of the distance off */
	score_small(&s, &scene, &f.t, COLUMN, &f.got, &map);
	f.stixels[3 * 3 + 1].kind = STIXEL_GROUND;
	q4[20 * W + 9] = 9 * 16; /* equally near to the ground */
	score_small(&s, &scene, &f.t, COLUMN, &f.got, &map);
	assert_int_equal(s.asked[2][0], 3);
	assert_int_equal(s.touched[2][0], 2);
	assert_int_equal(s.detected[2][0], 1);
	assert_int_equal(s.matched[2][0], 2);
	assert_false(judge_small(&s, all_near));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_is_well),	    cmocka_unit_test(test_each_figure),
		cmocka_unit_test(test_what_counts_nowhere), cmocka_unit_test(test_limits),
		cmocka_unit_test(test_small_things),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
