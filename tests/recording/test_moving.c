/*
 * Tests what a scene shows of motion, and how much memory that takes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "recording/messages/moving.h"

enum { STIXELS = 1000, OBJECTS = 4, MOVING = 500 };

/* A frame of 10 columns of stixels, 12 m away. Stixel MOVING moves, the others stand. */
static struct whole_frame {
	struct stixel_frame_header h;
	uint32_t offsets[11];
	struct stixel stixels[STIXELS];
	struct stixel_object objects[OBJECTS];
	uint8_t object_of[STIXELS];
	struct stixel_motion motion[STIXELS];
} whole;
static struct stixel_frame frame = {
	.header = &whole.h, .offsets = whole.offsets, .stixels = whole.stixels, .bytes = &whole};
static struct sx_moving moving;

static int setup(void **state)
{
	(void)state;
	memset(&whole, 0, sizeof(whole));
	whole.h = (struct stixel_frame_header){
		.header_bytes = sizeof(whole.h),
		.frame_bytes = sizeof(whole),
		.image_width = 100,
		.image_height = 120,
		.columns = 10,
		.column_width = 10,
		.fx = 300,
		.fy = 300,
		.cx = 25,
		.cy = 40,
		.baseline_m = 0.4,
		.stixel_count = STIXELS,
		.motion_offset = offsetof(struct whole_frame, motion),
	};
	for (uint32_t i = 0; i < STIXELS; i++) {
		whole.stixels[i] = (struct stixel){
			.column = (uint16_t)(i / 100), .row_bottom = 80, .disparity_q7 = 10 * 128};
		whole.motion[i] = (struct stixel_motion){
			.vx = 300, .vz = -400, .sigma_x = 9, .sigma_z = 9, .state = STIXEL_MOTION_STANDS};
	}
	whole.motion[MOVING].state = STIXEL_MOTION_MOVES;
	for (uint32_t k = 0; k < OBJECTS; k++)
		whole.objects[k] = (struct stixel_object){.id = 70 + k,
							  .state = (uint8_t)(k % 3),
							  .x = -1,
							  .y = 1.5f,
							  .z = 20,
							  .width = 2,
							  .height = 1,
							  .vx = 3,
							  .vz = -4};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sx_moving_finish(&moving);
	assert_null(moving.arrows);
	return 0;
}

static Foxglove__SceneEntity fill(void)
{
	Foxglove__SceneEntity entity = FOXGLOVE__SCENE_ENTITY__INIT;

	assert_int_equal(sx_moving_fill(&moving, &frame, &entity), 0);
	assert_string_equal(entity.id, "moving");
	return entity;
}

/* Compares with a tolerance of the rounding of a scene, 1/1024 m. */
static void check_place(const Foxglove__Vector3 *v, double x, double y, double z)
{
	assert_float_equal(v->x, x, 1e-3);
	assert_float_equal(v->y, y, 1e-3);
	assert_float_equal(v->z, z, 1e-3);
}

/* Checks an arrow to the place in 0.5 s, at 3 m/s to the right and 4 m/s towards the camera. */
static void check_arrow(const Foxglove__ArrowPrimitive *a, double x, double y, double z)
{
	const Foxglove__Quaternion *q = a->pose->orientation;

	check_place(a->pose->position, x, y, z);
	assert_float_equal(a->shaft_length + a->head_length, 2.5, 2e-3);
	/* where the arrow's own x points: it turns about y, and positive turns lead from x to -z */
	assert_true(q->x == 0.0 && q->z == 0.0);
	assert_float_equal(1.0 - 2.0 * q->y * q->y, 0.6, 1e-9);
	assert_float_equal(-2.0 * q->y * q->w, -0.8, 1e-9);
}

/* Without objects, each stixel that moves has an arrow from its foot. Memory is taken for no other stixel. */
static void test_stixels(void **state)
{
	Foxglove__SceneEntity e = fill();

	(void)state;
	assert_true(e.n_arrows == 1 && e.n_cubes == 0 && e.n_texts == 0);
	check_arrow(e.arrows[0], (54.5 - 25) * 12 / 300, (80 - 40) * 12.0 / 300, 12);
	assert_int_equal(moving.arrow_room, 1);
	assert_int_equal(moving.box_room, 0);
	whole.stixels[MOVING].disparity_q7 = 76; /* 202 m */
	assert_int_equal(fill().n_arrows, 0);
	whole.stixels[MOVING].disparity_q7 = STIXEL_DISPARITY_UNKNOWN;
	assert_int_equal(fill().n_arrows, 0);
	for (int i = 0; i < STIXELS; i++)
		whole.motion[i].state = STIXEL_MOTION_MOVES;
	e = fill();
	assert_int_equal(e.n_arrows, STIXELS - 1);
	assert_int_equal(moving.arrow_room, STIXELS - 1);
	assert_int_equal(moving.box_room, 0);
	check_place(e.arrows[0]->pose->position, (4.5 - 25) * 12 / 300, 1.6, 12);
	check_place(e.arrows[STIXELS - 2]->pose->position, (94.5 - 25) * 12 / 300, 1.6, 12);
}

/* An object of unknown state has a box, one that moves also an arrow. Memory is taken for these alone. */
static void test_objects(void **state)
{
	Foxglove__SceneEntity e;

	(void)state;
	whole.h.objects_offset = offsetof(struct whole_frame, objects);
	whole.h.object_of_offset = offsetof(struct whole_frame, object_of);
	whole.h.object_bytes = sizeof(struct stixel_object);
	whole.h.object_count = OBJECTS;
	e = fill();
	assert_true(e.n_arrows == 1 && e.n_cubes == 3 && e.n_texts == 3);
	check_arrow(e.arrows[0], -1, 1.5, 20);
	for (int i = 0; i < 3; i++) {
		check_place(e.cubes[i]->pose->position, -1, 1, 20.1);
		check_place(e.cubes[i]->size, 2, 1, 0.2);
		check_place(e.texts[i]->pose->position, -1, 0.5, 20);
	}
	assert_string_equal(e.texts[0]->text, "70 ?");
	assert_string_equal(e.texts[1]->text, "72 \xc2\xb7 5.0 m/s");
	assert_int_equal(moving.arrow_room, 1);
	assert_int_equal(moving.box_room, 3);
	/* more of one kind and less of the other: the room only grows */
	for (int k = 0; k < OBJECTS; k++)
		whole.objects[k].state = k < 2 ? STIXEL_MOTION_MOVES : STIXEL_MOTION_STANDS;
	e = fill();
	assert_true(e.n_arrows == 2 && e.n_cubes == 2);
	assert_int_equal(moving.arrow_room, 2);
	assert_int_equal(moving.box_room, 3);
	whole.objects[0].z = 201;
	e = fill();
	assert_true(e.n_arrows == 1 && e.n_cubes == 1);
	assert_string_equal(e.texts[0]->text, "71 \xc2\xb7 5.0 m/s");
	whole.h.flags = STIXEL_FRAME_BLIND;
	e = fill();
	assert_true(e.n_arrows == 0 && e.n_cubes == 0 && e.n_texts == 0);
	/* a table without objects: the publisher follows them, so stixels have no arrows */
	whole.h.flags = 0;
	whole.h.object_count = 0;
	e = fill();
	assert_true(e.n_arrows == 0 && e.n_cubes == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_stixels, setup, teardown),
		cmocka_unit_test_setup_teardown(test_objects, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
