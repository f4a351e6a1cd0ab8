/*
 * Tests the scene "room": floors, kerbs, ramps and steps have the stated heights, and glass shows what is
 * behind it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stixel.h>

#include "tests/capture/scene/scene_case.h"
#include "tests/emulated.h"

#define ROOM_W 320
#define ROOM_H 240
#define SEEDS (IS_SLOW ? 16 : 40)
#define FLOORS (SX_ROOM_STEP_DOWN + 1)
#define EXACT 1e-4 /* m */

static void open_room(struct street *s, unsigned seed)
{
	open_street(s, "room", seed, ROOM_W, ROOM_H);
}

static void test_the_camera_is_a_small_robots(void **state)
{
	double least = 1, most = 0;
	int width, height;

	sx_scene_usual_size("room", &width, &height);
	assert_true(width == 640 && height == 480);
	sx_scene_usual_size("street", &width, &height);
	assert_true(width == SX_SCENE_WIDTH && height == SX_SCENE_HEIGHT);
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct sx_camera c;

		sx_scene_camera(&(struct sx_scene_params){"room", seed, 640, 480}, &c);
		assert_true(c.fx == 430 && c.fy == 430 && c.cx == 319.5 && c.cy == 239.5);
		assert_true(c.baseline_m == 0.06 && c.height_m >= 0.2 && c.height_m < 0.5);
		least = c.height_m < least ? c.height_m : least;
		most = c.height_m > most ? c.height_m : most;
	}
	assert_true(least < 0.25 && most > 0.45);
}

/* The lowest and the highest point of a part of a room, m above the floor, and its pixels. */
struct part {
	double low, high;
	long pixels, objects;
};

static void look_at(const struct street *s, struct part parts[SX_PART_THING + 1])
{
	for (int k = 0; k <= SX_PART_THING; k++)
		parts[k] = (struct part){9, -9, 0, 0};
	for (int i = 0; i < ROOM_W * ROOM_H; i++) {
		const uint16_t id = s->scene->view[0].id[i];
		const struct sx_scene_point p = sx_scene_point(&s->truth, i % ROOM_W, i / ROOM_W);
		struct part *part;

		assert_true(id > 0); /* rooms are closed */
		part = &parts[s->scene->facets[id - 1].part];
		part->low = p.height < part->low ? p.height : part->low;
		part->high = p.height > part->high ? p.height : part->high;
		part->pixels++;
		part->objects += s->truth.kind[i] == STIXEL_OBJECT;
	}
}

static void check_room(const struct street *s)
{
	struct part parts[SX_PART_THING + 1];
	const struct part *floor = &parts[SX_PART_FLOOR], *kerb = &parts[SX_PART_KERB],
			  *ramp = &parts[SX_PART_RAMP], *lower = &parts[SX_PART_LOWER];

	look_at(s, parts);
	assert_true(floor->pixels > ROOM_W * ROOM_H / 50 && floor->objects == 0);
	/* a carpet is 7 mm high */
	assert_true(floor->low > -EXACT &&
		    floor->high < (s->scene->room.floor == SX_ROOM_CARPET ? 0.007 + EXACT : EXACT));
	assert_true(parts[SX_PART_WALL].pixels > 0 &&
		    parts[SX_PART_WALL].objects == parts[SX_PART_WALL].pixels);
	assert_int_equal(kerb->objects, kerb->pixels);
	assert_true(!kerb->pixels || (kerb->low > -EXACT && kerb->high < SX_ROOM_KERB_M + EXACT));
	assert_int_equal(ramp->objects, 0);
	assert_true(!ramp->pixels || (ramp->low > -EXACT && ramp->high < 0.35 + EXACT));
	assert_int_equal(lower->objects, 0);
	assert_true(!lower->pixels || (lower->low > -0.2 - EXACT && lower->high < -0.08 + EXACT));
	assert_true(s->scene->count < SX_FACETS_MAX / 2 && s->scene->shadow_count < SX_SHADOWS_MAX / 2);
}

static void test_floors_have_their_heights(void **state)
{
	int floors[FLOORS] = {0}, things = 0, materials[SX_MATERIAL_LAMP + 1] = {0};

	if (EMULATED(SAME_BYTES))
		return;
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct street s;

		open_room(&s, seed);
		draw(&s, seed * 41);
		check_room(&s);
		floors[s.scene->room.floor]++;
		for (int i = 0; i < s.scene->count; i++)
			materials[s.scene->facets[i].material] |= 1;
		for (int i = 0; i < ROOM_W * ROOM_H; i++)
			if (s.scene->facets[s.scene->view[0].id[i] - 1].part == SX_PART_THING) {
				things++;
				break;
			}
		close_street(&s);
	}
	for (int k = 0; k < FLOORS; k++)
		assert_in_range(floors[k], SEEDS / 13, SEEDS / 2);
	assert_true(things > SEEDS * 3 / 4);
	for (int k = SX_MATERIAL_PLANKS; k <= SX_MATERIAL_LAMP; k++)
		assert_true(materials[k]);
}

/* The steepest point of a ramp is at most 10 degrees above its foot. */
static void test_ramps_are_not_steep(void **state)
{
	int ramps = 0;

	if (EMULATED(SAME_BYTES))
		return;
	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		struct street s;

		open_room(&s, seed);
		draw(&s, 7);
		for (int i = 0; i < s.scene->count; i++) {
			const struct sx_facet *f = &s.scene->facets[i];

			if (f->part != SX_PART_RAMP)
				continue;
			ramps++;
			assert_true(f->v[1] > 0.04 && f->v[1] < 0.1737); /* sin(10 deg) */
		}
		close_street(&s);
	}
	assert_in_range(ramps, 3, SEEDS / 2);
}

/*
 * The truth of a pane of glass is the surface seen through it, which is farther away. The frame of the pane
 * is opaque.
 */
static void test_glass_shows_what_is_behind(void **state)
{
	long through = 0, frame = 0, panes = 0;

	if (EMULATED(SAME_BYTES))
		return;
	for (unsigned seed = 1; seed <= 3 * SEEDS; seed++) {
		struct street s;

		open_room(&s, seed);
		draw(&s, 0);
		panes += s.scene->room.pane_count;
		for (int i = 0; s.scene->room.pane_count && i < ROOM_W * ROOM_H; i++) {
			const int pane = s.scene->room.panes[0];
			const double d =
				sx_affine(s.scene->view[0].projection[pane].d, i % ROOM_W, i / ROOM_W);

			through += s.truth.through[i];
			frame += s.scene->view[0].id[i] == pane + 1;
			assert_true(!s.truth.through[i] || (double)s.truth.disparity[i] < d);
		}
		close_street(&s);
	}
	assert_true(panes > 3 && through > 2000 * panes && frame > 200 * panes);
}

/* The robot drives into a room. Then the next room begins. */
static void test_rooms_follow_each_other(void **state)
{
	struct street s;
	int rooms = 1;
	double before;

	open_room(&s, 3);
	draw(&s, 0);
	before = s.scene->room.pose.z;
	for (uint32_t frame = 1; frame < 400; frame += 3) {
		sx_scene_build(s.scene, frame);
		assert_true(s.scene->room.pose.z >= 0 && s.scene->room.pose.z < 1.2);
		rooms += s.scene->room.pose.z < before;
		before = s.scene->room.pose.z;
	}
	assert_in_range(rooms, 2, 7);
	close_street(&s);
}

/* Only ground is road. Rooms have no sky. */
static void test_labels_of_rooms(void **state)
{
	if (EMULATED(SAME_BYTES))
		return;
	for (unsigned seed = 1; seed <= ENOUGH_OF(10); seed++) {
		struct street s;

		open_room(&s, seed);
		draw(&s, 8);
		for (int i = 0; i < ROOM_W * ROOM_H; i++) {
			assert_true(s.truth.label[i] < 19 && s.truth.label[i] != 10);
			if (s.truth.kind[i] == STIXEL_GROUND)
				assert_int_equal(s.truth.label[i], 0);
		}
		close_street(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_camera_is_a_small_robots),
		cmocka_unit_test(test_floors_have_their_heights),
		cmocka_unit_test(test_ramps_are_not_steep),
		cmocka_unit_test(test_glass_shows_what_is_behind),
		cmocka_unit_test(test_rooms_follow_each_other),
		cmocka_unit_test(test_labels_of_rooms),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
