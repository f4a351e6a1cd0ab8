/*
 * Tests the figures of rooms on a drawn truth that is small enough to count by hand.
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
#include "tests/quality/room_figures.h"

#define W 64
#define H 100
#define COLUMN 4 /* px, width of a stixel column */
#define COLUMNS (W / COLUMN)
#define FOOT 30	     /* row: the ground begins below the wall there */
#define WALL_PX 12.5 /* disparity of the wall, 4 m away */
#define SEEN 12	     /* columns whose obstacle the right camera sees: from x 16.5 on */

/*
 * A floor, and a wall 4 m away that reaches to the top of the image. The camera is 1 m above the floor, and
 * its horizon is row 4.5. The result agrees with the truth.
 */
struct fixture {
	float disparity[W * H];
	uint8_t kind[W * H], visible[W * H], through[W * H];
	uint16_t object[W * H], id[W * H], q4[W * H];
	struct sx_facet facets[3];
	struct sx_scene scene;
	struct sx_scene_truth t;
	struct stixel stixels[COLUMNS * 2];
	uint32_t offsets[COLUMNS + 1];
	struct sx_params params;
	struct sx_result result;
	struct sx_image map;
	struct room_figures s;
};

enum { ON_FLOOR, ON_WALL, ON_OTHER };

static double ground_px(int y)
{
	return 0.5 * y - 2.25;
}

static void init(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	memset(f->visible, 1, sizeof(f->visible));
	f->facets[ON_FLOOR] = (struct sx_facet){.part = SX_PART_FLOOR, .material = SX_MATERIAL_LINO};
	f->facets[ON_WALL] = (struct sx_facet){.part = SX_PART_WALL, .material = SX_MATERIAL_PAINT};
	f->scene.room.on = true;
	f->scene.facets = f->facets;
	f->scene.view[0].id = f->id;
	f->t = (struct sx_scene_truth){
		.width = W,
		.height = H,
		.disparity = f->disparity,
		.kind = f->kind,
		.visible = f->visible,
		.through = f->through,
		.object = f->object,
		.road_slope = 0.5,
		.road_offset = -2.25,
		.camera = {.fx = 100, .fy = 100, .cx = 32, .cy = 4.5, .baseline_m = 0.5, .height_m = 1},
	};
	f->params.camera = f->t.camera;
	f->params.stereo.disparities = 128;
	f->params.stixels.width = COLUMN;
	for (int i = 0; i < W * H; i++) {
		const bool wall = i / W < FOOT;

		f->kind[i] = wall ? STIXEL_OBJECT : STIXEL_GROUND;
		f->disparity[i] = wall ? (float)WALL_PX : (float)ground_px(i / W);
		f->object[i] = wall;
		f->id[i] = wall ? ON_WALL + 1 : ON_FLOOR + 1;
		f->q4[i] = 100;
	}
	for (int u = 0; u < COLUMNS; u++) {
		f->offsets[u + 1] = 2 * ((uint32_t)u + 1);
		f->stixels[2 * u] = (struct stixel){.column = (uint16_t)u,
						    .row_bottom = H - 1,
						    .row_top = FOOT,
						    .kind = STIXEL_GROUND,
						    .slope_q14 = -8192,
						    .disparity_q7 = (uint16_t)(128 * ground_px(H - 1))};
		f->stixels[2 * u + 1] = (struct stixel){.column = (uint16_t)u,
							.row_bottom = FOOT - 1,
							.kind = STIXEL_OBJECT,
							.disparity_q7 = (uint16_t)(128 * WALL_PX)};
	}
	f->map = (struct sx_image){f->q4, W, H, W * sizeof(*f->q4), SX_PIXEL_U16};
	f->result = (struct sx_result){.stixels = f->stixels,
				       .offsets = f->offsets,
				       .columns = COLUMNS,
				       .count = 2 * COLUMNS,
				       .road = {.slope = 0.5,
						.offset = -2.25,
						.axis = 32,
						.horizon_row = 4.5,
						.height_m = 1,
						.origin = SX_ROAD_MEASURED}};
}

static void score(struct fixture *f)
{
	const struct room_result r = {&f->params, &f->result, &f->map};

	memset(&f->s, 0, sizeof(f->s));
	assert_int_equal(score_room(&f->s, &f->scene, &f->t, &r), 0);
}

/* Sets the part of the wall, such as thing or kerb, and its material. */
static void make_wall(struct fixture *f, enum sx_part part, enum sx_material material)
{
	f->facets[ON_WALL].part = (uint8_t)part;
	f->facets[ON_WALL].material = (uint8_t)material;
}

static void check_verdicts(struct fixture *f, enum room_first what)
{
	score(f);
	assert_int_equal(f->s.columns[what][ROOM_FOUND], SEEN - 2);
	assert_int_equal(f->s.columns[what][ROOM_TOO_NEAR], 1);
	assert_int_equal(f->s.columns[what][ROOM_TOO_FAR], 1);
}

static void test_all_is_well(void **state)
{
	static const double none[ROOM_FIGURES];
	struct fixture f;

	init(&f);
	score(&f);
	assert_int_equal(f.s.columns[FIRST_PLAIN_WALL][ROOM_FOUND], SEEN);
	assert_int_equal(f.s.all[ROOM_NEAR], SEEN);
	assert_int_equal(f.s.all[ROOM_PLAIN], W * (H - FOOT));
	assert_int_equal(f.s.all[ROOM_GAP], COLUMNS);
	assert_true(judge_room(&f.s, none));
	f.scene.room.on = false;
	score(&f);
	assert_int_equal(f.s.all[ROOM_GAP], 0);
}

static void test_walls_too_near_and_too_far(void **state)
{
	static const enum sx_material materials[] = {SX_MATERIAL_PAINT, SX_MATERIAL_BRICK};
	struct fixture f;

	for (int i = 0; i < 2; i++) {
		init(&f);
		make_wall(&f, SX_PART_WALL, materials[i]);
		f.stixels[2 * 8 + 1].disparity_q7 = 128 * 20; /* 2.5 m */
		f.stixels[2 * 9 + 1].disparity_q7 =
			128 * 8; /* 6.25 m, and the ground below it ends earlier */
		f.stixels[2 * 9].row_top = f.stixels[2 * 9 + 1].row_bottom + 1 - 15;
		f.stixels[2 * 9 + 1].row_bottom -= 15;
		check_verdicts(&f, i ? FIRST_WALL : FIRST_PLAIN_WALL);
		assert_int_equal(f.s.bad[i ? ROOM_PAPER : ROOM_NEAR], 1);
		assert_int_equal(f.s.bad[ROOM_SURE], !i);
		f.stixels[2 * 8 + 1].flags = STIXEL_FLAG_FILLED;
		score(&f);
		assert_int_equal(f.s.bad[ROOM_SURE], 0);
		assert_int_equal(f.s.all[i ? ROOM_NEAR : ROOM_PAPER], 0);
		assert_int_equal(f.s.bad[ROOM_BEYOND], 1);
		f.scene.room.floor = SX_ROOM_RAMP;
		score(&f);
		assert_int_equal(f.s.all[i ? ROOM_PAPER : ROOM_NEAR], 0);
	}
}

static void test_things(void **state)
{
	struct fixture f;

	init(&f);
	make_wall(&f, SX_PART_THING, SX_MATERIAL_CARD);
	f.stixels[2 * 8 + 1].kind = STIXEL_SKY;
	score(&f);
	assert_int_equal(f.s.columns[FIRST_THING][ROOM_FOUND] + f.s.columns[FIRST_THING][ROOM_TOO_FAR], SEEN);
	/* rows of the band of the vehicle, up to the top of the image: 0.08 to 1.36 m */
	assert_int_equal(f.s.all[ROOM_MISSED], W * (FOOT - 2));
	assert_int_equal(f.s.bad[ROOM_MISSED], COLUMN * (FOOT - 2));
	make_wall(&f, SX_PART_KERB, SX_MATERIAL_PAINT);
	score(&f);
	assert_int_equal(f.s.all[ROOM_KERB], 0); /* farther than 2 m */
	assert_int_equal(f.s.all[ROOM_MISSED], 0);
	for (int i = 0; i < W * FOOT; i++)
		f.disparity[i] = 26; /* 1.92 m */
	score(&f);
	assert_int_equal(f.s.all[ROOM_KERB], 0); /* kerbs on a plain floor are not scored */
	f.facets[ON_FLOOR].material = SX_MATERIAL_PLANKS;
	score(&f);
	assert_int_equal(f.s.all[ROOM_KERB], SEEN - 3);
	assert_int_equal(f.s.bad[ROOM_KERB], SEEN - 3); /* the wall is found 4 m away */
}

static void test_floors(void **state)
{
	struct fixture f;

	init(&f);
	f.stixels[2 * 8].kind = STIXEL_OBJECT;
	f.stixels[2 * 9].kind = STIXEL_UNKNOWN;
	score(&f);
	assert_int_equal(f.s.bad[ROOM_PLAIN], COLUMN * (H - FOOT));
	f.facets[ON_FLOOR].material = SX_MATERIAL_CARPET;
	score(&f);
	assert_int_equal(f.s.bad[ROOM_FLOOR], COLUMN * (H - FOOT));
	assert_int_equal(f.s.bad[ROOM_LOST], COLUMN * (H - FOOT));
	assert_int_equal(f.s.all[ROOM_PLAIN], 0);
	f.scene.room.dark = true;
	score(&f);
	assert_int_equal(f.s.bad[ROOM_DARK], COLUMN * (H - FOOT));
	assert_int_equal(f.s.all[ROOM_FLOOR], 0);
	f.facets[ON_FLOOR].part = SX_PART_RAMP;
	score(&f);
	assert_int_equal(f.s.bad[ROOM_RAMP], COLUMN * (H - FOOT));
	assert_int_equal(f.s.all[ROOM_DARK], 0);
}

/* Ends the floor in row `edge`. The floor behind it lies 1 m lower. */
static void step_down(struct fixture *f, int edge)
{
	for (int i = FOOT * W; i < edge * W; i++) {
		f->id[i] = ON_OTHER + 1;
		f->disparity[i] = (float)(0.5 * ground_px(i / W));
	}
	f->facets[ON_OTHER] = (struct sx_facet){.part = SX_PART_LOWER, .material = SX_MATERIAL_LINO};
}

static void test_steps_down(void **state)
{
	struct fixture f;

	init(&f);
	step_down(&f, 60); /* 1.8 m */
	for (int u = 0; u < COLUMNS; u++) {
		f.stixels[2 * u].row_top = u == 8 ? FOOT : 60;
		f.stixels[2 * u + 1].row_bottom = u == 8 ? FOOT - 1 : 59;
	}
	score(&f);
	assert_int_equal(f.s.bad[ROOM_DOWN], 1);
	assert_int_equal(f.s.all[ROOM_DOWN], f.s.columns[FIRST_DOWN][ROOM_FOUND] + 1);
	assert_true(f.s.all[ROOM_DOWN] >= 7);
	init(&f);
	step_down(&f, 50); /* 2.2 m */
	score(&f);
	assert_int_equal(f.s.all[ROOM_DOWN], 0);
	assert_true(f.s.columns[FIRST_FAR_DOWN][ROOM_TOO_FAR] >= 7);
}

static void test_gaps(void **state)
{
	struct fixture f;

	init(&f);
	for (int y = 45; y < 84; y++)
		for (int x = 0; x < W; x++)
			f.q4[y * W + x] = SX_DISPARITY_INVALID;
	score(&f);
	assert_int_equal(f.s.bad[ROOM_GAP], 0); /* 39 rows */
	memcpy(f.q4 + (size_t)84 * W, f.q4 + (size_t)83 * W, 32 * sizeof(*f.q4));
	score(&f);
	/* 8 columns have a gap of 40 rows, but the neighbour of the last one is measured */
	assert_int_equal(f.s.bad[ROOM_GAP], 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_is_well), cmocka_unit_test(test_walls_too_near_and_too_far),
		cmocka_unit_test(test_things),	    cmocka_unit_test(test_floors),
		cmocka_unit_test(test_steps_down),  cmocka_unit_test(test_gaps),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
