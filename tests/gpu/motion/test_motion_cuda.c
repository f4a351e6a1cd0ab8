/*
 * Motion in the CUDA engine against the reference, byte for byte: views, and whole pairs of drawn images, sizes and
 * stixels, and of streets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpu/motion/motion_cuda.h"
#include "stages/motion/pair.h"
#include "stages/motion/view.h"
#include "tests/check.h"
#include "tests/emulated.h"
#include "tests/gpu/on_device.h"
#include "tests/stages/motion/motion_world.h"

#define STIXELS 4096
#define DRAWN ENOUGH_OF(24)

/* A chain on the device, and the memory of a frame. */
struct twin {
	struct on_device x;
	struct sx_motion_cuda *chain;
	struct sx_motion_cuda_frame frame;
	struct sx_motion_turn *turn;
	struct sx_cuda_road *road;
	struct sx_image left, disparity;
	uint32_t *count, *offsets, *done, number;
	struct stixel *stixels;
	int cells, columns;
};

static void create(struct twin *t, const struct sx_camera *camera, int width, int height, int stixel_width)
{
	const struct sx_motion_cells cells = sx_motion_cells(width, height);
	struct sx_cuda_memory *m = &t->x.memory;
	struct sx_motion_cuda_size size = {.camera = *camera,
					   .image_width = width,
					   .image_height = height,
					   .columns = (width + stixel_width - 1) / stixel_width,
					   .width = stixel_width,
					   .most = STIXELS,
					   .sms = 3};

	memset(t, 0, sizeof(*t));
	on_device_init(&t->x);
	t->cells = cells.columns * cells.rows;
	t->columns = size.columns;
	assert_int_equal(sx_motion_cuda_create(&t->chain, m, &size), 0);
	t->left = on_device_image(&t->x, SX_PIXEL_U8, width, height);
	t->disparity = on_device_image(&t->x, SX_PIXEL_U16, width, height);
	t->turn = sx_cuda_take(m, sizeof(*t->turn));
	t->road = sx_cuda_take(m, sizeof(*t->road));
	t->count = sx_cuda_take(m, sizeof(*t->count));
	t->done = sx_cuda_take(m, 2 * sizeof(*t->done));
	t->offsets = sx_cuda_take(m, ((size_t)size.columns + 1) * sizeof(*t->offsets));
	t->stixels = sx_cuda_take(m, STIXELS * sizeof(*t->stixels));
	t->frame = (struct sx_motion_cuda_frame){
		.turn = t->turn,
		.number = t->done + 1,
		.done = t->done,
		.left = &t->left,
		.disparity = &t->disparity,
		.road = t->road,
		.count = t->count,
		.offsets = t->offsets,
		.stixels = t->stixels,
		.features = sx_cuda_take(m, (size_t)t->cells * sizeof(struct sx_motion_feature)),
		.flows = sx_cuda_take(m, (size_t)t->cells * sizeof(struct sx_motion_flow)),
		.ego = sx_cuda_take(m, sizeof(struct sx_motion_ego)),
		.velocities = sx_cuda_take(m, STIXELS * sizeof(struct sx_motion_velocity)),
	};
}

static void destroy(struct twin *t)
{
	sx_motion_cuda_destroy(t->chain);
	on_device_finish(&t->x);
}

/* Computes a frame. stixels: by column. */
static void run_twin(struct twin *t, const struct sx_motion_turn *turn, const struct sx_motion_frame *frame)
{
	const struct sx_cuda_road road = {.road = *frame->road};
	uint32_t *offsets = calloc((size_t)t->columns + 1, sizeof(*offsets)), done;

	assert_non_null(offsets);
	for (uint32_t i = 0; i < frame->stixel_count; i++)
		offsets[frame->stixels[i].column + 1]++;
	for (int u = 0; u < t->columns; u++)
		offsets[u + 1] += offsets[u];
	on_device_put(&t->x, &frame->view->grey, &t->left);
	on_device_put(&t->x, &frame->view->disparity, &t->disparity);
	on_device_write(&t->x, turn, t->turn, sizeof(*turn));
	t->number++;
	on_device_write(&t->x, &t->number, t->done + 1, sizeof(t->number));
	on_device_write(&t->x, &road, t->road, sizeof(road));
	on_device_write(&t->x, &frame->stixel_count, t->count, sizeof(*t->count));
	on_device_write(&t->x, offsets, t->offsets, ((size_t)t->columns + 1) * sizeof(*offsets));
	on_device_write(&t->x, frame->stixels, t->stixels, frame->stixel_count * sizeof(*frame->stixels));
	ON_DEVICE(sx_motion_cuda_run(t->chain, &t->frame, t->x.stream));
	ON_DEVICE(cudaStreamSynchronize(t->x.stream));
	on_device_read(&t->x, t->done, &done, sizeof(done));
	assert_int_equal(done, t->number);
	free(offsets);
}

static void compare_records(struct twin *t, const char *what, const void *want, const void *device,
			    size_t bytes)
{
	void *got = malloc(bytes + 1);

	assert_non_null(got);
	on_device_read(&t->x, device, got, bytes);
	for (size_t i = 0; i < bytes / 4; i++)
		if (((const uint32_t *)want)[i] != ((const uint32_t *)got)[i])
			fail_msg("%s: word %zu is %#x, not %#x", what, i, ((const uint32_t *)got)[i],
				 ((const uint32_t *)want)[i]);
	free(got);
}

static void compare_view(struct twin *t, const struct sx_motion_view *want, int place)
{
	const struct sx_motion_view *got = sx_motion_cuda_view(t->chain, place);

	on_device_compare(&t->x, "grey", 0, &want->grey, &got->grey, 0);
	on_device_compare(&t->x, "half", 0, &want->half, &got->half, 0);
	on_device_compare(&t->x, "census", 0, &want->census, &got->census, 0);
	on_device_compare(&t->x, "half census", 0, &want->half_census, &got->half_census, 0);
	on_device_compare(&t->x, "disparity", 0, &want->disparity, &got->disparity, 0);
}

static void compare_frame(struct twin *t, const struct sx_motion_pair *want, uint32_t stixels)
{
	compare_records(t, "features", want->features, t->frame.features,
			(size_t)want->cells * sizeof(*want->features));
	compare_records(t, "flows", want->flows, t->frame.flows, (size_t)want->cells * sizeof(*want->flows));
	compare_records(t, "ego", &want->ego, t->frame.ego, sizeof(want->ego));
	compare_records(t, "velocities", want->velocities, t->frame.velocities,
			stixels * sizeof(*want->velocities));
}

/*
 * Measures `now` against `before`, and then once more, so that the step of the first pair is expected. Returns what
 * was found last.
 */
static enum sx_motion_verdict check_pair(const struct sx_camera *camera, const struct sx_motion_frame *now,
					 const struct sx_motion_frame *before)
{
	const int width = now->view->grey.width, height = now->view->grey.height;
	struct sx_motion_learned learned = sx_motion_nothing_learned();
	struct sx_motion_turn turn = {.now = 0, .before = -1, .captured_ns = 5};
	enum sx_motion_verdict verdict = SX_MOTION_STEP_FIRST;
	struct sx_motion_pair want;
	struct twin t;

	create(&t, camera, width, height, now->stixel_width);
	assert_int_equal(sx_motion_pair_init(&want, camera, width, height, STIXELS), 0);
	for (int i = 0; i < 4; i++) {
		const struct sx_motion_frame *frame = i ? now : before;
		const struct sx_motion_range prior = sx_motion_range_next(&learned.range);

		run_twin(&t, &turn, frame);
		compare_view(&t, frame->view, turn.now);
		sx_motion_pair(&want, frame,
			       i == 0	? NULL
			       : i == 3 ? now->view
					: before->view,
			       learned.has_step ? &learned.step : NULL, &prior);
		compare_frame(&t, &want, frame->stixel_count);
		if (i == 2)
			verdict = want.ego.verdict;
		sx_motion_learn(&learned, &want.ego, turn.captured_ns);
		/* the last frame repeats the one before it */
		turn = (struct sx_motion_turn){.now = i + 1,
					       .before = i == 2 ? 2 : 0,
					       .captured_ns = 5 + 100000000 * (i + 1),
					       .span_ns = 100000000};
		if (i == 2)
			turn.now = 3;
	}
	sx_motion_pair_finish(&want);
	destroy(&t);
	return verdict;
}

static int by_column(const void *a, const void *b)
{
	return (int)((const struct stixel *)a)->column - (int)((const struct stixel *)b)->column;
}

/* Grey levels that can be found again, moved by (dx, dy). */
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

static void draw_views(struct check_rng *r, int width, int height, struct sx_motion_view *now,
		       struct sx_motion_view *before)
{
	const bool waves = check_below(r, 4) > 0;
	const int noise = check_below(r, 12);
	struct sx_image grey, disparity;

	assert_int_equal(sx_image_init(&grey, SX_PIXEL_U8, width, height), 0);
	assert_int_equal(sx_image_init(&disparity, SX_PIXEL_U16, width, height), 0);
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

static void drawn_pairs(void **state)
{
	(void)state;
	for (int i = 0; i < DRAWN; i++) {
		struct check_rng r = check_rng_seed(300 + (uint64_t)i);
		const bool large = i == 0; /* cells of 16 px */
		const int width = large ? 1300 : 1 + check_below(&r, 200);
		const int height = large ? 420 : 1 + check_below(&r, 90);
		const struct sx_camera camera = {.fx = 50 + check_below(&r, 300),
						 .fy = 50 + check_below(&r, 300),
						 .cx = width / 2.0,
						 .cy = height / 3.0,
						 .baseline_m = 0.3};
		struct sx_road road = {.origin = SX_ROAD_NONE};
		struct sx_motion_view now, before;
		struct stixel stixels[60];
		struct sx_motion_frame frame = {.view = &now,
						.stixels = stixels,
						.stixel_count = (uint32_t)check_below(&r, 61),
						.stixel_width = 4,
						.seconds = 0.1,
						.road = &road};
		struct sx_motion_frame first;

		memset(stixels, 0, sizeof(stixels));
		for (uint32_t n = 0; n < frame.stixel_count; n++) {
			stixels[n].column = (uint16_t)check_below(&r, (width + 3) / 4);
			stixels[n].row_top = (uint16_t)check_below(&r, height);
			stixels[n].row_bottom = (uint16_t)(stixels[n].row_top + check_below(&r, 20));
			stixels[n].kind = check_below(&r, 4) ? STIXEL_OBJECT : STIXEL_GROUND;
			stixels[n].disparity_q7 = (uint16_t)(check_below(&r, 2400) + 100);
		}
		qsort(stixels, frame.stixel_count, sizeof(stixels[0]), by_column);
		draw_views(&r, width, height, &now, &before);
		if (check_below(&r, 2))
			sx_road_calibrated(&(struct sx_camera){.fx = camera.fx,
							       .fy = camera.fy,
							       .cx = camera.cx,
							       .cy = camera.cy,
							       .baseline_m = 0.3,
							       .height_m = 1.2},
					   &road);
		first = frame;
		first.view = &before;
		check_pair(&camera, &frame, &first);
		sx_motion_view_finish(&now);
		sx_motion_view_finish(&before);
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
		struct sx_motion_frame earlier = frame;

		w.offset_px = 0.4 * i;
		w.boxes[w.box_count++] = (struct mw_box){1, 9, 1.8, 4, 1.5, 0, 8};     /* goes ahead */
		w.boxes[w.box_count++] = (struct mw_box){-2, 14, 0.6, 0.5, 1.7, 2, 0}; /* crosses */
		mw_draw(&w, &poses[i], 2, &now);
		mw_draw(&w, &first, 1, &before);
		frame.stixel_count = now.count;
		earlier.view = &before.view;
		earlier.stixels = before.stixels;
		earlier.stixel_count = before.count;
		earlier.road = &before.road;
		assert_int_equal(check_pair(&w.camera, &frame, &earlier), SX_MOTION_STEP_FOUND);
		sx_motion_view_finish(&now.view);
		sx_motion_view_finish(&before.view);
	}
}

/*
 * A drive with a step that no other one leads to expect: the expected step is tried, is not good enough, and votes
 * choose another one. In the second drive things that go ahead have a third of the features.
 */
static void jumps(void **state)
{
	static struct mw_frame frames[2];
	const struct mw_pose poses[] = {{0, 0, 0, 0},
					{0, 0.8, 0, 0.1},
					{0, 1.6, 0.002, 0.2},
					{0, 5.4, 0.09, 0.3},
					{0, 6.2, 0.09, 0.4}};
	const int count = sizeof(poses) / sizeof(poses[0]);

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sx_motion_learned learned = sx_motion_nothing_learned();
		struct mw_world w = mw_street(60 + (uint32_t)i);
		struct sx_motion_pair want;
		struct twin t;
		int steps = 0;

		if (i) { /* walls of cars */
			w.boxes[w.box_count++] = (struct mw_box){-1.9, 8, 3.6, 4, 4.5, 0, 8};
			w.boxes[w.box_count++] = (struct mw_box){1.9, 8, 3.6, 4, 4.5, 0, 8};
		}
		create(&t, &w.camera, MW_WIDTH, MW_HEIGHT, MW_STIXEL);
		assert_int_equal(sx_motion_pair_init(&want, &w.camera, MW_WIDTH, MW_HEIGHT, STIXELS), 0);
		for (int n = 0; n < count; n++) {
			const struct sx_motion_range prior = sx_motion_range_next(&learned.range);
			const struct sx_motion_turn turn = {.now = n % 2,
							    .before = n ? (n + 1) % 2 : -1,
							    .captured_ns = 100000000 * n,
							    .span_ns = n ? 100000000 : 0};
			struct mw_frame *now = &frames[n % 2];
			struct sx_motion_frame frame;

			sx_motion_view_finish(&now->view);
			mw_draw(&w, &poses[n], (uint32_t)n, now);
			frame = (struct sx_motion_frame){&now->view, now->stixels, now->count,
							 MW_STIXEL,  0.1,	   &now->road};
			run_twin(&t, &turn, &frame);
			sx_motion_pair(&want, &frame, n ? &frames[(n + 1) % 2].view : NULL,
				       learned.has_step ? &learned.step : NULL, &prior);
			compare_frame(&t, &want, frame.stixel_count);
			sx_motion_learn(&learned, &want.ego, turn.captured_ns);
			steps += want.ego.verdict == SX_MOTION_STEP_FOUND;
		}
		assert_true(steps >= 3);
		sx_motion_pair_finish(&want);
		destroy(&t);
		for (int n = 0; n < 2; n++)
			sx_motion_view_finish(&frames[n].view);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(drawn_pairs), cmocka_unit_test(streets),
					   cmocka_unit_test(jumps)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
