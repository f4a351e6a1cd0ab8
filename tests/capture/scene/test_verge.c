/*
 * Tests the scenes "verge" and "cargo": objects have the stated height, size and distance. Tests the light of
 * "night", "rain" and "glass".
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

/* Number of pixels of each part of the road's edge. */
struct verge_count {
	long road, raised, bank, rail, through, white;
};

static void count_verge(const struct street *s, struct verge_count *n)
{
	const struct sx_street *st = &s->scene->street;
	const struct sx_scene_truth *t = &s->truth;

	for (int i = 0; i < W * H; i++) {
		struct sx_scene_point p = sx_scene_point(t, i % W, i / W);
		uint8_t grey = ((uint8_t *)sx_image_row(&s->left, i / W))[i % W];

		n->white += t->kind[i] == STIXEL_SKY && grey == 255;
		n->through += t->through[i];
		if (t->kind[i] != STIXEL_GROUND) {
			const struct sx_facet *f = t->kind[i] == STIXEL_SKY
							   ? NULL
							   : &s->scene->facets[s->scene->view[0].id[i] - 1];

			if (!f || f->material != SX_MATERIAL_RAIL)
				continue;
			n->rail++;
			assert_true(p.height > st->verge.rail_top - 0.31 &&
				    p.height < st->verge.rail_top + 1e-3);
			continue;
		}
		/* on the road, at or on the kerb's height, or on the bank, whatever the roll of the road */
		assert_true(p.height > -1e-3 && p.height < st->kerb_height + st->verge.bank_rise + 1e-3);
		n->road += p.height < 1e-3;
		n->raised += p.height > st->kerb_height - 1e-3 && p.height < st->kerb_height + 1e-3;
		n->bank += p.height > st->kerb_height + 1e-3;
		assert_true(t->label[i] != 0 || p.height < 1e-3);
	}
}

static void test_verges_are_verges(void **state)
{
	struct verge_count n = {0};
	double least = 1, most = 0;

	if (EMULATED(SAME_BYTES))
		return;
	for (unsigned seed = 1; seed <= 8; seed++) {
		struct street s;
		double cross;

		open_street(&s, "verge", seed, W, H);
		draw(&s, 23 * seed);
		count_verge(&s, &n);
		cross = s.truth.road_cross * s.truth.camera.height_m / s.truth.camera.baseline_m;
		cross = cross < 0 ? -cross : cross;
		assert_true(cross < 0.0525); /* tan(3 deg) */
		least = cross < least ? cross : least;
		most = cross > most ? cross : most;
		assert_true(s.scene->mirrored_to > s.scene->count && s.scene->mirrored_to < SX_FACETS_MAX);
		assert_true(s.scene->count < SX_FACETS_MAX / 2);
		close_street(&s);
	}
	print_message(
		"# road %ld, pavement and grass %ld, bank %ld, rail %ld, through a fence %ld, white %ld\n",
		n.road, n.raised, n.bank, n.rail, n.through, n.white);
	assert_true(n.road > W * H && n.raised > W * H / 10 && n.bank > W * H / 10);
	assert_true(n.rail > W * H / 100 && n.through > W * H / 200 && n.white > W * H / 4);
	assert_true(least < 0.02 && most > 0.03);
}

/* Light, and its effects in a lens and on a wet road, is no surface. The truth does not contain it. */
static void test_light_is_not_in_the_truth(void **state)
{
	struct street lit, dull;
	long spots[2] = {0}, wet = 0;

	open_street(&lit, "verge", 3, W, H);
	open_street(&dull, "verge", 3, W, H);
	put_out_light(&dull);
	draw(&lit, 4);
	draw(&dull, 4);
	assert_true(hash_truth(&lit) == hash_truth(&dull));
	for (int i = 0; i < W * H; i++) {
		const uint8_t *a[2] = {sx_image_row(&lit.left, i / W), sx_image_row(&lit.right, i / W)};
		const uint8_t *b[2] = {sx_image_row(&dull.left, i / W), sx_image_row(&dull.right, i / W)};

		for (int side = 0; side < 2; side++)
			spots[side] +=
				lit.truth.kind[i] == STIXEL_GROUND && a[side][i % W] > b[side][i % W] + 15;
		wet += lit.truth.label[i] == 0 && abs(a[0][i % W] - b[0][i % W]) > 8;
	}
	print_message("# brighter: %ld, %ld; other road: %ld\n", spots[0], spots[1], wet);
	assert_true(spots[0] > 50 && spots[1] > 50 && wet > W * H / 200);
	close_street(&lit);
	close_street(&dull);
}

/* Returns the number of pixels of one side that differ by more than `by`. */
static long count_other(const struct street *a, const struct street *b, int side, int by)
{
	long n = 0;

	for (int y = 0; y < H; y++) {
		const uint8_t *p = sx_image_row(side ? &a->right : &a->left, y);
		const uint8_t *q = sx_image_row(side ? &b->right : &b->left, y);

		for (int x = 0; x < W; x++)
			n += abs(p[x] - q[x]) > by;
	}
	return n;
}

/* Drops change the picture of one lens, falling rain changes both pictures, and the truth has neither. */
static void test_rain_is_not_in_the_truth(void **state)
{
	long dark = 0;

	if (EMULATED(SAME_BYTES))
		return;
	for (unsigned seed = 1; seed <= 8; seed++) {
		struct street rain, drops, dry;
		int side;

		open_street(&rain, "rain", seed, W, H);
		open_street(&drops, "rain", seed, W, H);
		open_street(&dry, "rain", seed, W, H);
		side = rain.scene->weather.side;
		dark += rain.scene->weather.dark;
		drops.scene->weather.streaks = dry.scene->weather.streaks = 0;
		dry.scene->weather.drops = 0;
		draw(&rain, 3);
		draw(&drops, 3);
		draw(&dry, 3);
		assert_true(hash_truth(&rain) == hash_truth(&dry));
		assert_true(count_other(&drops, &dry, side, 0) > 20);
		assert_int_equal(count_other(&drops, &dry, !side, 0), 0);
		assert_true(count_other(&rain, &drops, 0, 5) > 100 && count_other(&rain, &drops, 1, 5) > 100);
		close_street(&rain);
		close_street(&drops);
		close_street(&dry);
	}
	assert_true(dark > 0 && dark < 8);
}

/* Windows of shops mirror the street, and nothing else does. The truth has the windows, not what they mirror. */
static void test_windows_mirror(void **state)
{
	long windows = 0, other = 0;

	if (EMULATED(SAME_BYTES))
		return;
	for (unsigned seed = 1; seed <= 8; seed++) {
		struct street glass, dull;

		open_street(&glass, "glass", seed, W, H);
		open_street(&dull, "glass", seed, W, H);
		dull.scene->weather.glass = 1e-6f;
		draw(&glass, 9);
		draw(&dull, 9);
		assert_true(hash_truth(&glass) == hash_truth(&dull));
		for (int i = 0; i < W * H; i++) {
			const uint8_t *a = sx_image_row(&glass.left, i / W),
				      *b = sx_image_row(&dull.left, i / W);
			const int id = glass.scene->view[0].id[i];
			const bool window = id && glass.scene->facets[id - 1].material == SX_MATERIAL_WINDOW;

			assert_true(!window || glass.truth.kind[i] == STIXEL_OBJECT);
			if (abs(a[i % W] - b[i % W]) <= 12)
				continue;
			windows += window;
			other += !window;
		}
		assert_true(glass.scene->mirrored_to < SX_FACETS_MAX);
		close_street(&glass);
		close_street(&dull);
	}
	print_message("# pixels that mirror: %ld in windows, %ld at their edges\n", windows, other);
	assert_true(windows > W * H / 20 && other < windows / 10);
}

/* Headlights show what is near and low; lamps are white, and hardly anything else is bright. */
static void test_nights_are_dark(void **state)
{
	long white = 0, dark = 0;

	if (EMULATED(SAME_BYTES))
		return;
	for (unsigned seed = 1; seed <= 8; seed++) {
		struct street s;

		open_street(&s, "night", seed, W, H);
		draw(&s, 9);
		for (int i = 0; i < W * H; i++) {
			const int grey = ((uint8_t *)sx_image_row(&s.left, i / W))[i % W];

			white += grey >= 250;
			dark += grey < 64;
		}
		close_street(&s);
	}
	print_message("# white %ld, dark %ld\n", white, dark);
	assert_true(white > 100 && dark > 8L * W * H / 2);
}

/* Checks that an object has the stated size and distance, is complete, and is in both pictures. */
static void check_thing(const struct street *s, const struct sx_cargo *thing)
{
	const struct sx_scene_truth *t = &s->truth;
	const struct sx_cargo_size *size = &sx_cargo_sizes[thing->size];
	double want = sx_cargo_distances[thing->distance], high = 0, px = t->camera.fx / want;
	int left = t->width, right = -1, hidden = 0, pixels = 0;

	for (int i = 0; i < t->width * t->height; i++) {
		struct sx_scene_point p;

		if (t->object[i] != thing->object)
			continue;
		p = sx_scene_point(t, i % t->width, i / t->width);
		assert_true(p.distance > 0.979 * want && p.distance < 1.021 * want + size->height);
		assert_true(p.height > -1e-3 && p.height < size->height + 1e-3);
		high = p.height > high ? p.height : high;
		left = i % t->width < left ? i % t->width : left;
		right = i % t->width > right ? i % t->width : right;
		pixels++;
		hidden += !t->visible[i];
	}
	assert_true(pixels >= (int)(size->width * px * 0.97) * (int)(size->height * px * 0.97));
	assert_true(right - left + 1 >= (int)(size->width * px * 0.97));
	assert_true(high > size->height - 1.5 / px);
	assert_int_equal(hidden, 0);
}

static void test_cargo_is_where_it_is_said_to_be(void **state)
{
	const unsigned seeds = 3;
	long things = 0;

	if (EMULATED(SAME_BYTES))
		return;
	for (unsigned seed = 1; seed <= seeds; seed++) {
		struct street s;

		open_street(&s, "cargo", seed, 1242, 375);
		for (uint32_t frame = 0; frame < 3; frame++) {
			draw(&s, frame);
			things += s.scene->cargo_count;
			for (int i = 0; i < s.scene->cargo_count; i++)
				check_thing(&s, &s.scene->cargo[i]);
		}
		close_street(&s);
	}
	assert_in_range(things, 3 * seeds * SX_CARGO_MAX * 8 / 10, 3 * seeds * SX_CARGO_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verges_are_verges),
		cmocka_unit_test(test_light_is_not_in_the_truth),
		cmocka_unit_test(test_rain_is_not_in_the_truth),
		cmocka_unit_test(test_windows_mirror),
		cmocka_unit_test(test_nights_are_dark),
		cmocka_unit_test(test_cargo_is_where_it_is_said_to_be),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
