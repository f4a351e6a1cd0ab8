/*
 * The table of objects of a frame: which objects are in it, in which numbers, and what their stixels say.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/motion/object_table.h"
#include "ipc/check.h"
#include "tests/check.h"

enum { STIXELS = 6 };

static const struct sx_camera camera = {.fx = 500, .fy = 400, .cx = 300, .cy = 100, .baseline_m = 0.5};

static const struct stixel_frame_header header = {
	.stixel_count = STIXELS, .image_width = 600, .image_height = 200};

struct given {
	struct sx_motion_objects objects;
	uint32_t of[STIXELS];
	struct stixel stixels[STIXELS];
	uint8_t object_of[STIXELS];
	struct sx_object_source source;
	struct sx_object_table table;
};

/* Makes three objects at 10 m, of which the second is not shown. */
static void give(struct given *g)
{
	*g = (struct given){.objects = {.count = 3}, .of = {9, 0, 3, 9, 9, 5}};
	for (uint32_t k = 0; k < 3; k++)
		g->objects.objects[k] = (struct sx_motion_object){.id = k ? 1 + 4 * k : 3,
								  .state = SX_MOTION_STATE_MOVES,
								  .shown = k != 1,
								  .estimate = {2, -4, 0.1, 0.1, 0.3},
								  .biased = {2, -4, 0.25, 0.125, 0.5},
								  .left = 320,
								  .right = 360,
								  .top = 60,
								  .bottom = 139,
								  .disparity = 25,
								  .age = 3.5,
								  .frames = 70000,
								  .stixels = 12};
	for (int i = 0; i < STIXELS; i++)
		g->stixels[i] = (struct stixel){.row_top = 10, .row_bottom = 19, .label = STIXEL_LABEL_NONE};
	g->source = (struct sx_object_source){.objects = &g->objects,
					      .object_of = g->of,
					      .stixels = g->stixels,
					      .header = &header,
					      .camera = &camera};
	g->table.object_of = g->object_of;
}

/* Fills the table, which readers must take. */
static void fill(struct given *g)
{
	memset(g->object_of, 0xff, sizeof(g->object_of));
	sx_object_table_fill(&g->table, &g->source);
	assert_true(sx_objects_agree(&header, g->table.objects, g->table.count, g->object_of));
}

static void objects_become_records(void **state)
{
	static struct given g;
	const struct stixel_object *o = &g.table.objects[0];
	const struct stixel_place p = stixel_place_at(500, 300, 0.5, 339.5, 25);

	give(&g);
	fill(&g);
	assert_int_equal(g.table.count, 2);
	assert_true(o->id == 3 && g.table.objects[1].id == 9);
	assert_memory_equal(g.object_of, ((uint8_t[STIXELS]){2, 0, 1, 2, 2, 0}), STIXELS);
	assert_true(o->state == STIXEL_MOTION_MOVES && o->label == STIXEL_LABEL_NONE && o->frames == 65535);
	assert_true(o->x == (float)p.x && o->z == 10 && o->pxx == (float)p.sxx && o->pzz == (float)p.szz);
	assert_float_equal(o->y, 39 / 400.0 * 10, 1e-6); /* the lowest row is 139 */
	assert_float_equal(o->width, 0.8, 1e-6);
	assert_float_equal(o->height, 2, 1e-6);
	/* the velocity that decided the state */
	assert_true(o->vx == 2 && o->vz == -4 && o->sxx == 0.25f && o->sxz == 0.125f && o->szz == 0.5f);
	assert_true(o->age_s == 3.5f && o->unseen_s == 0 && o->stixels == 1);
	assert_int_equal(g.table.objects[1].stixels, 3);
	assert_true(o->left == 320 && o->right == 359 && o->top == 60 && o->bottom == 139);
	/* the frame's disparities lack half a pixel of the object's: both say the same distance */
	g.source.offset_px = 0.5;
	fill(&g);
	assert_float_equal(o->z, 250 / 24.5, 1e-5);
	assert_true(o->szz == 0.5f);
	assert_float_equal(o->width, 0.8 * 25 / 24.5, 1e-6);
	/* other chains had objects before: stixels without an object still have none */
	g.source.base_id = 3;
	fill(&g);
	assert_true(g.table.count == 2 && o->id == 6 && g.table.objects[1].id == 12);
	assert_memory_equal(g.object_of, ((uint8_t[STIXELS]){2, 0, 1, 2, 2, 0}), STIXELS);
}

static void extents_end_at_the_image(void **state)
{
	static struct given g;
	struct sx_motion_object *from = &g.objects.objects[0];
	const struct stixel_object *o = &g.table.objects[0];

	give(&g);
	from->left = -20, from->top = -7, from->bottom = 4000, from->right = 601;
	fill(&g);
	assert_true(o->left == 0 && o->right == 599 && o->top == 0 && o->bottom == 199);
	for (int i = 0; i < 4; i++) {
		give(&g);
		if (i == 0)
			from->left = -40, from->right = 0;
		else if (i == 1)
			from->left = 600, from->right = 640;
		else if (i == 2)
			from->top = -80, from->bottom = -1;
		else
			from->top = 200, from->bottom = 240;
		fill(&g);
		assert_int_equal(g.table.count, 1);
		assert_memory_equal(g.object_of, ((uint8_t[STIXELS]){1, 0, 0, 1, 1, 0}), STIXELS);
	}
}

/* An object without stixels has the state that the chain says. */
static void objects_that_are_not_seen(void **state)
{
	static struct given g;

	give(&g);
	g.objects.objects[0].state = SX_MOTION_STATE_UNKNOWN;
	g.objects.objects[2].unseen = 0.2;
	memset(g.of, 0, sizeof(g.of));
	fill(&g);
	assert_int_equal(g.table.count, 2);
	assert_true(g.table.objects[0].state == STIXEL_MOTION_UNKNOWN && g.table.objects[0].stixels == 0);
	assert_true(g.table.objects[1].state == STIXEL_MOTION_MOVES && g.table.objects[1].unseen_s == 0.2f);
}

/* The class of most rows wins, of equal ones the least; classes beyond the scores are none. */
static void objects_have_the_class_of_their_stixels(void **state)
{
	static struct given g;

	give(&g);
	g.stixels[0].label = 7; /* 10 rows */
	g.stixels[3].label = 4; /* 10 rows */
	g.stixels[1].label = 2; /* of no object */
	g.stixels[2].label = 40;
	fill(&g);
	assert_true(g.table.objects[0].label == STIXEL_LABEL_NONE && g.table.objects[1].label == 4);
	g.stixels[4].label = 7;
	fill(&g);
	assert_int_equal(g.table.objects[1].label, 7);
}

/* An object with a number that readers refuse is left out, and a covariance at its limit is not. */
static void no_object_costs_the_frame(void **state)
{
	static struct given g;
	struct sx_motion_object *from = &g.objects.objects[0];

	for (int i = 0; i < 11; i++) {
		give(&g);
		switch (i) {
		case 0:
			from->biased.vx = (double)NAN;
			break;
		case 1:
			from->biased.szz = (double)INFINITY;
			break;
		case 2:
			from->disparity = 0;
			break;
		case 3:
			from->biased.vz = 1e300;
			break;
		case 4:
			from->age = -1;
			break;
		case 5:
			g.source.offset_px = 24.9;
			from->disparity = 24.5;
			break;
		case 6:
			from->biased.sxx = -1e9;
			break;
		case 7:
			from->biased.sxz = -(double)INFINITY;
			break;
		case 8:
			from->biased.sxz = (double)NAN;
			break;
		case 9:
			from->id = 0;
			break;
		default:
			from->id = 10;
		}
		fill(&g);
		assert_int_equal(g.table.count, 1);
	}
	give(&g);
	from->biased = (struct sx_motion_estimate){0, 0, 1e6, 1e6, 1e6};
	fill(&g);
	assert_int_equal(g.table.count, 2);
	assert_true(g.table.objects[0].sxz > 0.99e6f);
}

/*
 * In a full table each stixel has its object. Without objects there is nothing to write: readers do not read it.
 */
static void many_objects_and_none(void **state)
{
	static struct sx_motion_objects objects;
	static uint32_t of[3 * STIXEL_OBJECTS_MAX];
	static struct stixel stixels[3 * STIXEL_OBJECTS_MAX];
	static uint8_t object_of[3 * STIXEL_OBJECTS_MAX];
	static struct given g;
	const struct stixel_frame_header full = {
		.stixel_count = 3 * STIXEL_OBJECTS_MAX, .image_width = 600, .image_height = 200};

	give(&g);
	objects = (struct sx_motion_objects){.count = STIXEL_OBJECTS_MAX};
	for (uint32_t k = 0; k < STIXEL_OBJECTS_MAX; k++) {
		objects.objects[k] = g.objects.objects[0];
		objects.objects[k].id = 3 * k + 2;
	}
	for (uint32_t i = 0; i < 3 * STIXEL_OBJECTS_MAX; i++)
		of[i] = i; /* 2, 5 and so on are in the table */
	g.source.objects = &objects;
	g.source.object_of = of;
	g.source.stixels = stixels;
	g.source.header = &full;
	g.table.object_of = object_of;
	sx_object_table_fill(&g.table, &g.source);
	assert_int_equal(g.table.count, STIXEL_OBJECTS_MAX);
	assert_true(sx_objects_agree(&full, g.table.objects, g.table.count, object_of));
	for (uint32_t i = 0; i < 3 * STIXEL_OBJECTS_MAX; i++)
		assert_int_equal(object_of[i], i % 3 == 2 ? i / 3 + 1 : 0);
	for (uint32_t k = 0; k < STIXEL_OBJECTS_MAX; k++)
		assert_true(g.table.objects[k].stixels == 1 && g.table.objects[k].label == 0);
	memset(object_of, 0x5a, sizeof(object_of));
	objects.count = 0;
	sx_object_table_fill(&g.table, &g.source);
	assert_true(g.table.count == 0 && object_of[0] == 0x5a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(objects_become_records),
					   cmocka_unit_test(extents_end_at_the_image),
					   cmocka_unit_test(objects_that_are_not_seen),
					   cmocka_unit_test(objects_have_the_class_of_their_stixels),
					   cmocka_unit_test(no_object_costs_the_frame),
					   cmocka_unit_test(many_objects_and_none)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
