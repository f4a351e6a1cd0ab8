/*
 * Motion in the cpu engine against the reference, byte for byte: each kernel over drawn images, sizes, features and
 * guesses, also at borders, and whole pairs; with every kind of vectors that this machine has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/kernel_sets.h"
#include "cpu/motion/motion.h"
#include "cpu/motion/motion_terms.h"
#include "cpu/pool.h"
#include "stages/motion/guess.h"
#include "stages/motion/refine.h"
#include "stages/motion/step.h"
#include "tests/check.h"
#include "tests/cpu/simd_case.h"
#include "tests/emulated.h"
#include "tests/stages/motion/motion_world.h"

#define DRAWN ENOUGH_OF(60)

/* Smooth noise, whose parts can be found again: waves of grey with some noise. */
static void fill_waves(const struct sx_image *img, int dx, int dy, int noise, struct check_rng *r)
{
	for (int y = 0; y < img->height; y++) {
		uint8_t *row = sx_image_row(img, y);

		for (int x = 0; x < img->width; x++) {
			const unsigned u = (unsigned)(x + dx + 500), v = (unsigned)(y + dy + 500);
			const unsigned h = (u / 3 * 0x9e3779b1u ^ v / 3 * 0x85ebca6bu) >> 7;

			row[x] = (uint8_t)((h * h >> 5) % 200 + u % 3 * 9 + v % 3 * 7 +
					   (unsigned)check_below(r, noise + 1));
		}
	}
}

/* Draws a pair of views. before: moved by a few px, or of another kind. */
static void draw_views(struct check_rng *r, int width, int height, struct sx_motion_view *now,
		       struct sx_motion_view *before)
{
	const bool waves = check_below(r, 4) > 0;
	const int noise = check_below(r, 12);
	struct sx_image grey, disparity;

	assert_int_equal(sx_image_init(&grey, SX_PIXEL_U8, width, height), 0);
	assert_int_equal(sx_image_init(&disparity, SX_PIXEL_U16, width, height), 0);
	check_fill_disparity(&disparity, 400, check_below(r, 60), r);
	if (check_below(r, 2)) /* whole areas that are alike, so that features have a disparity */
		for (int y = 0; y < height; y++)
			for (int x = 0; x < width; x++)
				((uint16_t *)sx_image_row(&disparity, y))[x] =
					check_below(r, 50) ? (uint16_t)(300 - x / 8) : SX_DISPARITY_INVALID;
	for (int i = 0; i < 2; i++) {
		if (waves)
			fill_waves(&grey, i * (check_below(r, 21) - 10), i * (check_below(r, 9) - 4), noise,
				   r);
		else
			check_fill(&grey, (enum check_fill)check_below(r, CHECK_FILL_COUNT), r);
		assert_int_equal(sx_motion_view_init(i ? before : now, &grey, &disparity), 0);
	}
	sx_image_finish(&grey);
	sx_image_finish(&disparity);
}

static void finish_views(struct sx_motion_view *a, struct sx_motion_view *b)
{
	sx_motion_view_finish(a);
	sx_motion_view_finish(b);
}

static bool same_image(const struct sx_image *a, const struct sx_image *b)
{
	for (int y = 0; y < a->height; y++)
		if (memcmp(sx_image_row(a, y), sx_image_row(b, y),
			   (size_t)a->width * sx_pixel_bytes(a->pixel)))
			return false;
	return a->width == b->width && a->height == b->height;
}

/* The twin with a pool, and a call of one of its functions, which a job of the pool makes. */
struct twin {
	struct sx_pool *pool;
	struct sx_cpu_motion *motion;
	struct sx_motion_view *view;
	const struct sx_image *grey, *disparity;
	struct sx_motion_pair *pair;
	const struct sx_motion_frame *now;
	const struct sx_motion_view *before;
	const struct sx_motion_step *expected;
	const struct sx_motion_range *prior;
};

static struct twin create(int simd, int threads)
{
	struct twin t = {NULL};

	assert_int_equal(sx_pool_create(&t.pool, threads), 0);
	assert_int_equal(sx_cpu_motion_create(&t.motion, sx_kernels_choose(simds[simd]), t.pool), 0);
	return t;
}

static void destroy(struct twin *t)
{
	sx_cpu_motion_destroy(t->motion);
	sx_pool_destroy(t->pool);
}

static void call_twin(void *arg)
{
	const struct twin *t = arg;
	const struct sx_motion_by by = sx_cpu_motion_by(t->motion);

	if (t->pair)
		by.pair(by.arg, t->pair, t->now, t->before, t->expected, t->prior);
	else
		by.view(by.arg, t->view, t->grey, t->disparity);
}

static void call(struct twin *t)
{
	struct sx_pool_job job = {.run = call_twin, .arg = t};

	sx_pool_submit(t->pool, &job);
	sx_pool_drain(t->pool);
}

/* Views of all sizes from 1x1 on, also in a view that had other images. */
static void views(void **state)
{
	struct check_rng r = check_rng_seed(1);

	(void)state;
	for (int s = 0; s < simd_count; s++) {
		struct twin twin = create(s, 1 + s % 3);
		struct sx_motion_view got = {0}, want, unused;

		for (int i = 0; i < DRAWN; i++) {
			draw_views(&r, 1 + check_below(&r, i < 30 ? 12 : 180), 1 + check_below(&r, 100),
				   &want, &unused);
			assert_int_equal(sx_motion_view_take(&got, want.grey.width, want.grey.height), 0);
			twin.view = &got;
			twin.grey = &want.grey;
			twin.disparity = &want.disparity;
			for (int turn = 0; turn < 2; turn++) {
				call(&twin);
				assert_true(same_image(&got.grey, &want.grey) &&
					    same_image(&got.half, &want.half) &&
					    same_image(&got.census, &want.census) &&
					    same_image(&got.half_census, &want.half_census) &&
					    same_image(&got.disparity, &want.disparity));
			}
			finish_views(&want, &unused);
		}
		sx_motion_view_finish(&got);
		destroy(&twin);
	}
}

static struct sx_motion_guess draw_guess(struct check_rng *r, int far)
{
	const int kind = check_below(r, 3);
	struct sx_motion_guess g = {check_below(r, 2 * far + 1) - far, check_below(r, far + 1) - far / 2,
				    1024, 0, 1024};

	if (kind == 1) {
		g.across = 900 + check_below(r, 300);
		g.shear = check_below(r, 301) - 150;
		g.down = 900 + check_below(r, 300);
	} else if (kind == 2) { /* every value that sx_motion_expect() may give */
		g.across =
			SX_MOTION_WARP_LEAST + check_below(r, SX_MOTION_WARP_MOST - SX_MOTION_WARP_LEAST + 1);
		g.shear = check_below(r, 2049) - 1024;
		g.down =
			SX_MOTION_WARP_LEAST + check_below(r, SX_MOTION_WARP_MOST - SX_MOTION_WARP_LEAST + 1);
	}
	return g;
}

/* A feature anywhere that corners may be, often next to a border. */
static struct sx_motion_feature draw_feature(struct check_rng *r, int width, int height)
{
	const int w = width - 2 * SX_MOTION_MARGIN, h = height - 2 * SX_MOTION_MARGIN;
	struct sx_motion_feature f = {.score = 1000, .disparity_q8 = 2560};

	f.x = SX_MOTION_MARGIN + (check_below(r, 4) ? check_below(r, w) : check_below(r, 2) * (w - 1));
	f.y = SX_MOTION_MARGIN + (check_below(r, 4) ? check_below(r, h) : check_below(r, 2) * (h - 1));
	f.kind = check_below(r, 2) ? SX_MOTION_OBJECT : 0;
	return f;
}

static uint32_t vote_of(const struct sx_motion_view *now, const struct sx_motion_view *before,
			const struct sx_motion_feature *f, const struct sx_motion_guess *g)
{
	const int x = f->x >> 1, y = f->y >> 1;
	const struct sx_motion_place p =
		sx_motion_find(&now->half_census, &before->half_census, x, y, x + ((g->dx + 1) >> 1),
			       y + ((g->dy + 1) >> 1), (struct sx_motion_reach){3, 2}, g);

	return p.cost < SX_MOTION_VOTE_MOST ? p.cost : SX_MOTION_VOTE_MOST;
}

static void search(void **state)
{
	int found = 0, lost = 0, ambiguous = 0, clear = 0;

	(void)state;
	for (int i = 0; i < DRAWN; i++) {
		struct check_rng r = check_rng_seed(100 + (uint64_t)i);
		const int width = 2 * SX_MOTION_MARGIN + 1 + check_below(&r, 150);
		const int height = 2 * SX_MOTION_MARGIN + 1 + check_below(&r, 80);
		struct sx_motion_view now, before;

		draw_views(&r, width, height, &now, &before);
		for (int n = 0; n < 80; n++) {
			const struct sx_motion_feature f = draw_feature(&r, width, height);
			struct sx_motion_guess g[SX_MOTION_PAIR_GUESSES];
			const int count = 1 + check_below(&r, SX_MOTION_PAIR_GUESSES);
			struct sx_motion_flow want, matched;
			struct sx_motion_place around, near;

			for (int k = 0; k < count; k++)
				g[k] = draw_guess(&r, check_below(&r, 4) ? 12 : 4096);
			sx_motion_match(&now, &before, &f, g, count, &matched);
			want = matched;
			sx_motion_refine(&now, &before, &f, &g[want.guess], &want);
			around = sx_motion_by_reference.find->again(&now.census, &before.census, f.x, f.y,
								    f.x + g[0].dx, f.y + g[0].dy, &g[0]);
			clear += sx_motion_is_clear(around.cost, around.second);
			found += want.search == SX_MOTION_FOUND;
			lost += want.search == SX_MOTION_UNREFINED || want.search == SX_MOTION_NOT_BACK;
			ambiguous += want.search == SX_MOTION_AMBIGUOUS;
			for (int s = 0; s < simd_count; s++) {
				const struct sx_motion_kernels *k = sx_kernels_choose(simds[s])->motion;
				struct sx_motion_flow got;

				k->find.match(&now, &before, &f, g, count, &got);
				assert_memory_equal(&got, &matched, sizeof(got));
				k->find.refine(&now, &before, &f, &g[got.guess], &got);
				assert_memory_equal(&got, &want, sizeof(got));
				near = k->find.again(&now.census, &before.census, f.x, f.y, f.x + g[0].dx,
						     f.y + g[0].dy, &g[0]);
				assert_int_equal(near.cost, around.cost);
				if (near.cost != SX_MOTION_COST_NONE)
					assert_memory_equal(&near, &around, sizeof(near));
				assert_int_equal(k->vote(&now, &before, &f, &g[0]),
						 vote_of(&now, &before, &f, &g[0]));
			}
		}
		finish_views(&now, &before);
	}
	assert_true(found > 4 * DRAWN && lost > DRAWN && ambiguous > DRAWN && clear > DRAWN);
}

/* Corners of images of all sizes; also with cells of 16 px and more, which are cut into pieces. */
static void corners(void **state)
{
	static struct sx_motion_feature want[SX_MOTION_FEATURES_MAX], got[SX_MOTION_FEATURES_MAX];
	const int large[][2] = {{1300, 700}, {2300, 40}, {40, 2000}, {1600, 1100}};
	const struct sx_road road = {.origin = SX_ROAD_NONE};
	const struct sx_camera camera = {.fx = 100, .fy = 100, .baseline_m = 1};
	int features = 0;

	(void)state;
	for (int i = 0; i < DRAWN + 4; i++) {
		struct check_rng r = check_rng_seed(200 + (uint64_t)i);
		const int width = i < 4 ? large[i][0] : 1 + check_below(&r, 200);
		const int height = i < 4 ? large[i][1] : 1 + check_below(&r, 80);
		const struct sx_motion_cells cells = sx_motion_cells(width, height);
		struct sx_motion_view now, before;
		struct sx_image owner;

		draw_views(&r, width, height, &now, &before);
		assert_int_equal(sx_image_init(&owner, SX_PIXEL_U32, width, height), 0);
		sx_motion_owners(NULL, 0, 4, &owner);
		sx_motion_corners(&now, &owner, &road, &camera, want);
		for (int s = 0; s < simd_count; s++) {
			const struct sx_motion_kernels *k = sx_kernels_choose(simds[s])->motion;

			memset(got, 0xa5, sizeof(got));
			for (int row = 0; row < cells.rows; row++)
				k->corner_row(&now, &cells, row, &got[row * cells.columns]);
			sx_motion_kinds(&owner, &road, &camera, got, cells.rows * cells.columns);
			assert_memory_equal(got, want, (size_t)(cells.rows * cells.columns) * sizeof(got[0]));
		}
		for (int k = 0; k < cells.rows * cells.columns; k++)
			features += want[k].score > 0;
		sx_image_finish(&owner);
		finish_views(&now, &before);
	}
	assert_true(features > 20 * DRAWN);
}

/* Pairs of noise, waves and flat images of any size with any stixels, and of streets. */
static void check_pair(const struct sx_camera *camera, const struct sx_motion_frame *frame,
		       const struct sx_motion_view *before, const struct sx_motion_step *expected,
		       int threads, int only, enum sx_motion_verdict *verdict)
{
	const struct sx_motion_range prior = SX_MOTION_RANGE_FIRST;
	const int width = frame->view->grey.width, height = frame->view->grey.height;
	struct sx_motion_pair want, got;

	assert_int_equal(sx_motion_pair_init(&want, camera, width, height, frame->stixel_count), 0);
	assert_int_equal(sx_motion_pair_init(&got, camera, width, height, frame->stixel_count), 0);
	sx_motion_pair(&want, frame, before, expected, &prior);
	for (int s = 0; s < simd_count; s++) {
		struct twin twin;

		if (only >= 0 && s != only % simd_count)
			continue;
		twin = create(s, threads);
		twin.pair = &got;
		twin.now = frame;
		twin.before = before;
		twin.expected = expected;
		twin.prior = &prior;
		call(&twin);
		assert_memory_equal(got.features, want.features,
				    (size_t)want.cells * sizeof(want.features[0]));
		assert_memory_equal(got.flows, want.flows, (size_t)want.cells * sizeof(want.flows[0]));
		assert_memory_equal(&got.ego, &want.ego, sizeof(want.ego));
		assert_memory_equal(got.velocities, want.velocities,
				    frame->stixel_count * sizeof(want.velocities[0]));
		destroy(&twin);
	}
	*verdict = want.ego.verdict;
	sx_motion_pair_finish(&want);
	sx_motion_pair_finish(&got);
}

static void drawn_pairs(void **state)
{
	struct stixel stixels[60];
	enum sx_motion_verdict verdict;

	(void)state;
	for (int i = 0; i < DRAWN / 3; i++) {
		struct check_rng r = check_rng_seed(300 + (uint64_t)i);
		const int width = 1 + check_below(&r, 200), height = 1 + check_below(&r, 90);
		const struct sx_camera camera = {.fx = 50 + check_below(&r, 300),
						 .fy = 50 + check_below(&r, 300),
						 .cx = width / 2.0,
						 .cy = height / 3.0,
						 .baseline_m = 0.3};
		struct sx_road road = {.origin = SX_ROAD_NONE};
		struct sx_motion_view now, before;
		struct sx_motion_frame frame = {.view = &now,
						.stixels = stixels,
						.stixel_count = (uint32_t)check_below(&r, 61),
						.stixel_width = 4,
						.seconds = 0.1,
						.road = &road};
		struct sx_motion_step step = sx_motion_no_step();

		for (uint32_t n = 0; n < frame.stixel_count; n++)
			stixels[n] =
				(struct stixel){.column = (uint16_t)check_below(&r, width / 4 + 1),
						.row_top = (uint16_t)check_below(&r, height),
						.kind = check_below(&r, 4) ? STIXEL_OBJECT : STIXEL_GROUND,
						.disparity_q7 = (uint16_t)(check_below(&r, 2400) + 100)};
		for (uint32_t n = 0; n < frame.stixel_count; n++)
			stixels[n].row_bottom = (uint16_t)(stixels[n].row_top + check_below(&r, 20));
		draw_views(&r, width, height, &now, &before);
		if (check_below(&r, 2))
			sx_road_calibrated(&(struct sx_camera){.fx = camera.fx,
							       .fy = camera.fy,
							       .cx = camera.cx,
							       .cy = camera.cy,
							       .baseline_m = 0.3,
							       .height_m = 1.2},
					   &road);
		check_pair(&camera, &frame, check_below(&r, 8) ? &before : NULL,
			   check_below(&r, 2) ? &step : NULL, 1 + i % 3, i, &verdict);
		check_pair(&camera, &frame, &now, NULL, 1, i, &verdict);
		finish_views(&now, &before);
	}
}

static void streets(void **state)
{
	static struct mw_frame now, before;
	const struct mw_pose poses[] = {{0, 1.1, 0.008, 0.1}, {0.02, 1.9, -0.01, 0.1}, {0, 0, 0, 0.1}},
			     first = {0, 0, 0, 0};

	(void)state;
	for (int i = 0; i < ENOUGH_OF(3); i++) {
		struct mw_world w = mw_street(40 + (uint32_t)i);
		struct sx_motion_frame frame = {.view = &now.view,
						.stixels = now.stixels,
						.stixel_width = MW_STIXEL,
						.seconds = 0.1,
						.road = &now.road};
		enum sx_motion_verdict verdict;
		struct sx_motion_step expected = sx_motion_no_step();

		w.offset_px = 0.4 * i;
		w.boxes[w.box_count++] = (struct mw_box){1, 9, 1.8, 4, 1.5, 0, 8};     /* goes ahead */
		w.boxes[w.box_count++] = (struct mw_box){-2, 14, 0.6, 0.5, 1.7, 2, 0}; /* crosses */
		mw_draw(&w, &poses[i], 2, &now);
		mw_draw(&w, &first, 1, &before);
		frame.stixel_count = now.count;
		check_pair(&w.camera, &frame, &before.view, NULL, 1 + i, -1, &verdict);
		assert_int_equal(verdict, SX_MOTION_STEP_FOUND);
		expected.t[2] = poses[i].z / w.camera.baseline_m;
		check_pair(&w.camera, &frame, &before.view, &expected, 2, -1, &verdict);
		assert_int_equal(verdict, SX_MOTION_STEP_FOUND);
		sx_motion_view_finish(&now.view);
		sx_motion_view_finish(&before.view);
	}
}

static void sums(void **state)
{
	static struct sx_motion_columns columns;
	const struct sx_camera camera = {.fx = 700, .fy = 690, .cx = 600, .cy = 180, .baseline_m = 0.5};
	struct check_rng r = check_rng_seed(9);
	int outside = 0;

	(void)state;
	for (int i = 0; i < 400; i++) {
		struct sx_motion_sums want = {.found = 0}, got;
		struct sx_motion_round round = {.offset = check_below(&r, 9) - 4,
						.scale = 3 + check_below(&r, 21)};
		const double turn[3] = {0.01 * check_below(&r, 9), 0.01 * check_below(&r, 9), 0};
		const double way[3] = {check_below(&r, 9) - 4, check_below(&r, 3), check_below(&r, 40) - 20};
		const int count = 1 + check_below(&r, 40);

		round.step = sx_motion_no_step();
		sx_motion_change(&round.step, turn, way);
		round.rotation = sx_motion_rotation_of(&round.step);
		for (int n = 0; n < count; n++) {
			const struct sx_motion_feature f = {
				.x = check_below(&r, 1242),
				.y = check_below(&r, 375),
				.disparity_q8 =
					SX_MOTION_LEAST_Q8 + check_below(&r, 256 * (i % 3 ? 60 : 2000)),
				.score = 200,
				.kind = check_below(&r, 2) ? SX_MOTION_ROAD : 0};
			const struct sx_motion_flow flow = {.x_q6 = 64 * f.x + check_below(&r, 1000),
							    .y_q6 = 64 * f.y + check_below(&r, 300),
							    .disparity_q8 =
								    f.disparity_q8 + check_below(&r, 50)};
			const int64_t inside = want.a[5];

			sx_motion_columns_put(&columns, &camera, n, &f, &flow);
			sx_motion_add(&camera, &round, &f, &flow, &want);
			outside += want.a[5] == inside;
		}
		columns.count = count;
		sx_motion_columns_fill(&columns);
		for (int s = 0; s < simd_count; s++) {
			sx_kernels_choose(simds[s])->motion->ego_sums(
				&camera, &round, &columns, 0, sx_motion_columns_whole(&columns), &got);
			assert_memory_equal(&got, &want, sizeof(got));
		}
	}
	assert_true(outside > 100);
}

/* Expected places, also of features that have none. */
static void expectations(void **state)
{
	static const double stands[3] = {0, 0, 0};
	const struct sx_camera camera = {.fx = 700, .fy = 690, .cx = 600, .cy = 180, .baseline_m = 0.5};
	const struct sx_motion_guess none = {0, 0, 1024, 0, 1024};
	struct check_rng r = check_rng_seed(12);
	int nowhere = 0;

	(void)state;
	for (int i = 0; i < 400; i++) {
		const double turn[3] = {0.01 * check_below(&r, 9), 0.05 * check_below(&r, 9), 0.01};
		const double way[3] = {check_below(&r, 9) - 4, check_below(&r, 3),
				       check_below(&r, 200) - 100};
		const double offset = check_below(&r, 5) - 3;
		const int count = 1 + check_below(&r, 32);
		const struct sx_motion_feature *list[32];
		struct sx_motion_step step = sx_motion_no_step();
		struct sx_motion_feature f[32];
		struct sx_motion_guess got[32];

		sx_motion_change(&step, turn, way);
		for (int n = 0; n < count; n++) {
			f[n] = (struct sx_motion_feature){
				.x = check_below(&r, 1242),
				.y = check_below(&r, 375),
				.disparity_q8 = SX_MOTION_LEAST_Q8 + check_below(&r, i % 2 ? 256 * 60 : 400),
				.slope_q14 = check_below(&r, 3) ? 0 : check_below(&r, 20000) - 10000};
			list[n] = &f[n];
		}
		for (int s = 0; s < simd_count; s++) {
			sx_kernels_choose(simds[s])->motion->expect(&camera, &step, offset, list, count, got);
			for (int n = 0; n < count; n++) {
				const struct sx_motion_guess want =
					sx_motion_expect(&camera, &step, &f[n], offset, stands);

				assert_memory_equal(&got[n], &want, sizeof(want));
				nowhere += memcmp(&want, &none, sizeof(want)) == 0;
			}
		}
	}
	assert_true(nowhere > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views),	cmocka_unit_test(corners),     cmocka_unit_test(search),
		cmocka_unit_test(sums),		cmocka_unit_test(drawn_pairs), cmocka_unit_test(streets),
		cmocka_unit_test(expectations),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, find_simds, NULL);
}
