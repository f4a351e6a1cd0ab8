/*
 * Corners, match and refine: what they find in drawn pictures, and which of equal candidates wins.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "stages/motion/corners.h"
#include "stages/motion/guess.h"
#include "stages/motion/match.h"
#include "stages/motion/refine.h"
#include "stages/motion/step.h"
#include "stages/motion/view.h"
#include "stixel.h"
#include "tests/check.h"

enum { W = 200, H = 120 };

static const struct sx_motion_guess stays = {0, 0, 1024, 0, 1024};

/* A smooth picture without repetition: waves in many directions. */
static double level(double x, double y)
{
	double sum = 0;

	for (int k = 0; k < 24; k++) {
		const double angle = 2.4 * k, wave = 0.15 + 0.03 * k;

		sum += sin(wave * (x * cos(angle) + y * sin(angle)) + 1.7 * k * k);
	}
	return 128 + 18 * (sum < -7 ? -7 : sum > 7 ? 7 : sum);
}

static void make(struct sx_motion_view *v, double mx, double my, double scale, uint16_t d)
{
	struct sx_image grey, disparity;

	assert_int_equal(sx_image_init(&grey, SX_PIXEL_U8, W, H), 0);
	assert_int_equal(sx_image_init(&disparity, SX_PIXEL_U16, W, H), 0);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++) {
			((uint8_t *)sx_image_row(&grey, y))[x] = (uint8_t)lrint(
				level((x - W / 2 - mx) / scale + W / 2, (y - H / 2 - my) / scale + H / 2));
			((uint16_t *)sx_image_row(&disparity, y))[x] = d;
		}
	assert_int_equal(sx_motion_view_init(v, &grey, &disparity), 0);
	sx_image_finish(&grey);
	sx_image_finish(&disparity);
}

static void put_grey(struct sx_motion_view *v, int x, int y, int level_of)
{
	((uint8_t *)sx_image_row(&v->grey, y))[x] = (uint8_t)level_of;
}

/* Owners of an image without stixels. */
static void no_owners(struct sx_image *owner, int width, int height)
{
	assert_int_equal(sx_image_init(owner, SX_PIXEL_U32, width, height), 0);
	sx_motion_owners(NULL, 0, 4, owner);
}

static void cells_fit_the_slots(void **state)
{
	const int sizes[][3] = {
		{1242, 375, 8}, {1280, 720, 16}, {1920, 1080, 16}, {4096, 3000, 40}, {1, 1, 8}};

	(void)state;
	for (int i = 0; i < 5; i++) {
		const struct sx_motion_cells c = sx_motion_cells(sizes[i][0], sizes[i][1]);

		assert_int_equal(c.size, sizes[i][2]);
		assert_true(c.columns * c.size >= sizes[i][0] && (c.columns - 1) * c.size < sizes[i][0]);
		assert_true(c.rows * c.size >= sizes[i][1] && c.columns * c.rows <= SX_MOTION_FEATURES_MAX);
	}
}

/* Equal corners in one cell: the uppermost, then the leftmost. Elsewhere, empty slots. */
static void first_of_equal_corners_wins(void **state)
{
	struct sx_motion_feature features[W * H / 64];
	const struct sx_road road = {.origin = SX_ROAD_NONE};
	const struct sx_camera camera = {.fx = 100, .fy = 100, .baseline_m = 1};
	struct sx_motion_view v;
	struct sx_image owner;

	(void)state;
	make(&v, 0, 0, 1, 160);
	memset(v.grey.data, 50, v.grey.pitch * H);
	/* bright pixels in the cell at (40, 40): the windows around each have the same content */
	put_grey(&v, 41, 41, 250);
	put_grey(&v, 47, 47, 250);
	no_owners(&owner, W, H);
	sx_motion_corners(&v, &owner, &road, &camera, features);
	for (int i = 0; i < W * H / 64; i++) {
		const bool here = i == 5 * (W / 8) + 5;

		if (here) {
			/* a pixel scores highest beside the bright one; of the four, the upper left one */
			assert_true(features[i].score > SX_MOTION_SCORE_LEAST);
			assert_true(features[i].x <= 42 && features[i].y <= 42);
			assert_int_equal(features[i].disparity_q8, 2560);
		} else if (features[i].score) {
			/* neighbours see the same pixels from the side */
			assert_true(abs(i % (W / 8) - 5) <= 1 && abs(i / (W / 8) - 5) <= 1);
		} else {
			const struct sx_motion_feature none = {0};

			assert_memory_equal(&features[i], &none, sizeof(none));
		}
	}
	/* a pixel without a disparity is no feature */
	memset(v.disparity.data, 0xff, v.disparity.pitch * H);
	sx_motion_corners(&v, &owner, &road, &camera, features);
	for (int i = 0; i < W * H / 64; i++)
		assert_int_equal(features[i].score, 0);
	sx_image_finish(&owner);
	sx_motion_view_finish(&v);
}

static void kinds_follow_stixels_and_road(void **state)
{
	struct sx_motion_feature features[W * H / 64];
	const struct sx_camera camera = {
		.fx = 100, .fy = 100, .cx = W / 2, .cy = 40, .baseline_m = 0.5, .height_m = 1};
	const struct stixel stixels[] = {
		{.column = 10, .row_top = 20, .row_bottom = 90, .kind = STIXEL_OBJECT, .disparity_q7 = 1280},
		{.column = 20,
		 .row_top = 20,
		 .row_bottom = 90,
		 .kind = STIXEL_OBJECT,
		 .disparity_q7 = STIXEL_DISPARITY_UNKNOWN},
		{.column = 30, .row_top = 20, .row_bottom = 90, .kind = STIXEL_GROUND, .disparity_q7 = 1280},
	};
	struct sx_motion_view v;
	struct sx_image owner;
	struct sx_road road;
	int objects = 0, roads = 0;

	(void)state;
	make(&v, 0, 0, 1, 0);
	sx_road_calibrated(&camera, &road);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			((uint16_t *)sx_image_row(&v.disparity, y))[x] =
				(uint16_t)lrint(16 * fmax(3.0, road.slope * y + road.offset));
	assert_int_equal(sx_image_init(&owner, SX_PIXEL_U32, W, H), 0);
	sx_motion_owners(stixels, 3, 4, &owner);
	sx_motion_corners(&v, &owner, &road, &camera, features);
	for (int i = 0; i < W * H / 64; i++) {
		const struct sx_motion_feature *f = &features[i];
		const bool inside = f->x >= 40 && f->x < 44 && f->y >= 20 && f->y <= 90;

		if (!f->score)
			continue;
		assert_int_equal(f->owner, inside ? 0 : SX_MOTION_NO_OWNER);
		assert_int_equal(f->kind == SX_MOTION_OBJECT, inside);
		/* the road is nearer than 12 heights from the row on where fy / 12 lies below the horizon */
		assert_int_equal(f->kind == SX_MOTION_ROAD, !inside && f->y >= 49);
		assert_int_equal(f->slope_q14, f->kind == SX_MOTION_ROAD ? 8192 : 0);
		objects += f->kind == SX_MOTION_OBJECT;
		roads += f->kind == SX_MOTION_ROAD;
	}
	assert_true(objects > 3 && roads > 50);
	sx_image_finish(&owner);
	sx_motion_view_finish(&v);
}

static void first_of_equal_places_wins(void **state)
{
	struct sx_motion_view v;
	struct sx_motion_place p;

	(void)state;
	make(&v, 0, 0, 1, 160);
	memset(v.census.data, 0, v.census.pitch * H);
	p = sx_motion_find(&v.census, &v.census, 100, 60, 98, 61, (struct sx_motion_reach){8, 5}, &stays);
	assert_int_equal(p.x, 90);
	assert_int_equal(p.y, 56);
	assert_int_equal(p.cost, 0);
	assert_int_equal(p.second, 0);
	/* at the corner only places whose block is inside count, and none if the feature is outside */
	p = sx_motion_find(&v.census, &v.census, 100, 60, 4, 4, (struct sx_motion_reach){8, 5}, &stays);
	assert_true(p.x == 5 && p.y == 5);
	p = sx_motion_find(&v.census, &v.census, 100, 60, -20, 4, (struct sx_motion_reach){8, 5}, &stays);
	assert_int_equal(p.cost, SX_MOTION_COST_NONE);
	p = sx_motion_find(&v.census, &v.census, 4, 60, 100, 60, (struct sx_motion_reach){8, 5}, &stays);
	assert_int_equal(p.cost, SX_MOTION_COST_NONE);
	sx_motion_view_finish(&v);
}

/* Every place of a search, against the plain definition. */
static void cost_counts_bits(void **state)
{
	struct sx_motion_view a, b;
	struct check_rng r = check_rng_seed(3);

	(void)state;
	make(&a, 0, 0, 1, 160);
	make(&b, 3, 1, 1, 160);
	for (int run = 0; run < 50; run++) {
		const int x = 20 + check_below(&r, W - 40), y = 20 + check_below(&r, H - 40);
		const int gx = x + check_below(&r, 9) - 4, gy = y + check_below(&r, 5) - 2;
		const struct sx_motion_place p = sx_motion_find(&a.census, &b.census, x, y, gx, gy,
								(struct sx_motion_reach){4, 3}, &stays);
		unsigned best = 1000, second = 1000;
		int bx = 0, by = 0;

		for (int pass = 0; pass < 2; pass++)
			for (int py = gy - 3; py <= gy + 3; py++)
				for (int px = gx - 4; px <= gx + 4; px++) {
					unsigned cost = 0;

					for (int j = -3; j <= 3; j += 3)
						for (int i = -3; i <= 3; i += 3)
							cost += (unsigned)__builtin_popcount(
								((uint32_t *)sx_image_row(&a.census,
											  y + j))[x + i] ^
								((uint32_t *)sx_image_row(&b.census,
											  py + j))[px + i]);
					if (pass == 0 && cost < best) {
						best = cost;
						bx = px;
						by = py;
					}
					if (pass == 1 && (abs(px - bx) > 2 || abs(py - by) > 2) &&
					    cost < second)
						second = cost;
				}
		assert_true(p.x == bx && p.y == by);
		assert_int_equal(p.cost, best);
		assert_int_equal(p.second, second);
	}
	sx_motion_view_finish(&a);
	sx_motion_view_finish(&b);
}

/* Features of a picture that moved, and grew or shrank, are found again to a fraction of a pixel. */
static void moved_pictures_are_found(void **state)
{
	const double moves[][3] = {
		{0, 0, 1}, {2.3, -1.6, 1}, {-7.75, 3.4, 1}, {0.5, 0.5, 0.9}, {-2, 1, 1.15}};

	(void)state;
	for (int n = 0; n < 5; n++) {
		const double mx = moves[n][0], my = moves[n][1], scale = moves[n][2];
		struct sx_motion_feature features[W * H / 64];
		const struct sx_road road = {.origin = SX_ROAD_NONE};
		const struct sx_camera camera = {.fx = 100, .fy = 100, .baseline_m = 1};
		struct sx_motion_view now, before;
		struct sx_image owner;
		int found = 0, all = 0, near = 0;

		make(&now, 0, 0, 1, 160);
		make(&before, mx, my, scale, 200);
		no_owners(&owner, W, H);
		sx_motion_corners(&now, &owner, &road, &camera, features);
		for (int i = 0; i < W * H / 64; i++) {
			const struct sx_motion_feature *f = &features[i];
			const double x = (f->x - W / 2) * scale + W / 2 + mx,
				     y = (f->y - H / 2) * scale + H / 2 + my;
			const struct sx_motion_guess guess = {
				(int32_t)lrint(x - f->x) + 3, (int32_t)lrint(y - f->y) - 2,
				(int32_t)lrint(1024 * scale), 0, (int32_t)lrint(1024 * scale)};
			struct sx_motion_flow flow;

			if (!f->score || x < 24 || y < 24 || x > W - 24 || y > H - 24)
				continue;
			all++;
			sx_motion_match(&now, &before, f, &guess, 1, &flow);
			sx_motion_refine(&now, &before, f, &guess, &flow);
			if (flow.search != SX_MOTION_FOUND)
				continue;
			found++;
			assert_int_equal(flow.disparity_q8, 3200);
			near += fabs(flow.x_q6 / 64.0 - x) < 0.08 && fabs(flow.y_q6 / 64.0 - y) < 0.08;
		}
		assert_true(all > 40);
		assert_true(found > 0.95 * all && near > 0.98 * found);
		sx_image_finish(&owner);
		sx_motion_view_finish(&now);
		sx_motion_view_finish(&before);
	}
}

/* A fence repeats itself: the place is ambiguous, and refine leaves it so. */
static void repeated_pictures_are_ambiguous(void **state)
{
	const struct sx_motion_feature f = {.x = 100, .y = 60, .disparity_q8 = 2560, .score = 1000};
	struct sx_motion_view v, w;
	struct sx_motion_flow flow;
	struct sx_image grey;

	(void)state;
	make(&v, 0, 0, 1, 160);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			put_grey(&v, x, y, x % 8 < 4 ? 200 : 50 + y % 6);
	grey = v.grey;
	assert_int_equal(sx_motion_view_init(&w, &grey, &v.disparity), 0);
	sx_motion_match(&w, &w, &f, &stays, 1, &flow);
	assert_int_equal(flow.search, SX_MOTION_AMBIGUOUS);
	sx_motion_refine(&w, &w, &f, &stays, &flow);
	assert_int_equal(flow.search, SX_MOTION_AMBIGUOUS);
	sx_motion_view_finish(&v);
	sx_motion_view_finish(&w);
}

static void disparity_is_a_mean_of_alike(void **state)
{
	struct sx_motion_view v;
	uint16_t *row;

	(void)state;
	make(&v, 0, 0, 1, 100);
	assert_int_equal(sx_motion_disparity_q8(&v.disparity, 50, 50), 1600);
	row = sx_image_row(&v.disparity, 50);
	row[50] = 104;
	assert_int_equal(sx_motion_disparity_q8(&v.disparity, 50, 50), 1607); /* (8 * 100 + 104) * 16 / 9 */
	row[50] = 116;							      /* the others differ by 1 px */
	assert_int_equal(sx_motion_disparity_q8(&v.disparity, 50, 50), 1856);
	row[50] = SX_DISPARITY_INVALID;
	assert_int_equal(sx_motion_disparity_q8(&v.disparity, 50, 50), 0);
	assert_int_equal(sx_motion_disparity_q8(&v.disparity, 49, 50), 1600);
	assert_int_equal(sx_motion_disparity_q8(&v.disparity, 0, 50), 0);
	assert_int_equal(sx_motion_disparity_q8(&v.disparity, W - 1, 50), 0);
	sx_motion_view_finish(&v);
}

/* A guess is the place of the geometry: straight on, things grow about the axis, the road with its slope. */
static void guess_follows_geometry(void **state)
{
	const struct sx_camera c = {
		.fx = 400, .fy = 400, .cx = 320, .cy = 100, .baseline_m = 0.5, .height_m = 1.5};
	const double none[3] = {0, 0, 0}, shift[3] = {1.0, 0, 0};
	struct sx_motion_step s = sx_motion_no_step();
	struct sx_motion_feature f = {.x = 400, .y = 200, .disparity_q8 = 20 * 256, .score = 1};
	struct sx_motion_guess g = sx_motion_expect(&c, &s, &f, 0.0, none);

	(void)state;
	assert_memory_equal(&g, &stays, sizeof(g));
	s.t[2] = 20.0; /* its distance grows from 20 to 40 baselines: half of the size */
	g = sx_motion_expect(&c, &s, &f, 0.0, none);
	assert_true(g.dx == -40 && g.dy == -50 && g.across == 512 && g.down == 512 && g.shear == 0);
	f.slope_q14 = (int32_t)lrint(16384 * 0.2); /* 20 px of disparity in 100 rows: the road */
	g = sx_motion_expect(&c, &s, &f, 0.0, none);
	assert_true(g.dx == -40 && g.dy == -50 && g.across == 512);
	assert_int_equal(g.down, 512); /* a quarter, limited */
	assert_true(g.shear > -220 && g.shear < -150);
	/* what moved to the right by one baseline since then was 20 px farther left at 20 px of disparity */
	s = sx_motion_no_step();
	g = sx_motion_expect(&c, &s, &f, 0.0, shift);
	assert_true(g.dx == -20 && g.dy == 0);
	/* an offset of the disparity makes it nearer */
	assert_int_equal(sx_motion_expect(&c, &s, &f, 10.0, shift).dx, -30);
	/* a point behind the camera has no picture */
	s.t[2] = -30.0;
	g = sx_motion_expect(&c, &s, &f, 0.0, none);
	assert_memory_equal(&g, &stays, sizeof(g));
}

static void fan_covers_both_sides(void **state)
{
	const struct sx_camera c = {.fx = 400, .fy = 400, .cx = 320, .cy = 100, .baseline_m = 0.5};
	double left = 0, right = 0, least = 0, most = 0;

	(void)state;
	for (int i = 0; i < SX_MOTION_FAN; i++) {
		const struct sx_motion_step s = sx_motion_fan_step(&c, i);
		const double turn = 2 * atan2(s.q[2], s.q[0]) * c.fx;

		left = fmin(left, turn);
		right = fmax(right, turn);
		least = fmin(least, s.t[2]);
		most = fmax(most, s.t[2]);
		assert_true(fabs(s.q[0] * s.q[0] + s.q[2] * s.q[2] - 1.0) < 1e-12 && s.t[0] == 0 &&
			    s.t[1] == 0);
	}
	assert_true(fabs(left + 72) < 0.5 && fabs(right - 72) < 0.5 && least == -1.0 && most == 16.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_fit_the_slots),
		cmocka_unit_test(first_of_equal_corners_wins),
		cmocka_unit_test(kinds_follow_stixels_and_road),
		cmocka_unit_test(first_of_equal_places_wins),
		cmocka_unit_test(cost_counts_bits),
		cmocka_unit_test(moved_pictures_are_found),
		cmocka_unit_test(repeated_pictures_are_ambiguous),
		cmocka_unit_test(disparity_is_a_mean_of_alike),
		cmocka_unit_test(guess_follows_geometry),
		cmocka_unit_test(fan_covers_both_sides),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
