/*
 * Motion of a pair of frames: steps and offsets of a drawn street, and pictures that show no motion.
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

#include "tests/check.h"
#include "tests/emulated.h"
#include "tests/stages/motion/motion_world.h"

#define DEGREE (acos(-1) / 180)

static const struct mw_pose stands = {0, 0, 0, 0};

/* Checks a step against the truth: share of the way, and degrees. */
static void check_step(const struct sx_motion_ego *e, const struct mw_pose *now, const struct mw_pose *before,
		       double most_m, double most_deg)
{
	double way[3], turn, off = 0.0;

	mw_truth(now, before, way, &turn);
	assert_int_equal(e->verdict, SX_MOTION_STEP_FOUND);
	for (int i = 0; i < 3; i++)
		off += (e->way_m[i] - way[i]) * (e->way_m[i] - way[i]);
	if (!(sqrt(off) <= most_m) || !(fabs(mw_turn(&e->step) - turn) <= most_deg * DEGREE))
		fail_msg("way %.4f %.4f %.4f m, turn %.4f deg; true %.4f %.4f %.4f, %.4f; offset %.3f",
			 e->way_m[0], e->way_m[1], e->way_m[2], mw_turn(&e->step) / DEGREE, way[0], way[1],
			 way[2], turn / DEGREE, e->range.px);
}

static void steps_are_found(void **state)
{
	const struct mw_pose nows[] = {
		{0, 0.4, 0, 0.1},	{0, 1.2, 0, 0.1},
		{0.02, 1.9, 0.01, 0.1}, {0, 0.9, 2.5 * DEGREE, 0.1},
		{0, -0.3, 0, 0.1},	{0, 0.5, -5 * DEGREE, 0.1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(nows) / sizeof(nows[0]); i += IS_EMULATED ? 3 : 1) {
		const struct mw_world w = mw_street(100 + (uint32_t)i);
		struct sx_motion_pair m;

		mw_drive(&w, &nows[i], &stands, &m);
		check_step(&m.ego, &nows[i], &stands, 0.004 + 0.005 * fabs(nows[i].z), 0.03);
		sx_motion_pair_finish(&m);
	}
}

static void still_camera_stands(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < (IS_EMULATED ? 1 : 4); seed++) {
		const struct mw_world w = mw_street(seed);
		struct sx_motion_pair m;

		mw_drive(&w, &stands, &stands, &m);
		check_step(&m.ego, &stands, &stands, 0.003, 0.01);
		assert_int_equal(m.ego.offset_verdict, SX_MOTION_OFFSET_VAGUE);
		assert_true(m.ego.range.px == 0.0 && m.ego.range.sigma_px == 1.0);
		sx_motion_pair_finish(&m);
	}
}

static void offset_is_found(void **state)
{
	const double offsets[] = {0.0, 0.5, 1.0, 2.0, -0.5};
	const struct mw_pose now = {0, 1.2, 0, 0.1};

	(void)state;
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i += IS_EMULATED ? 3 : 1) {
		struct mw_world w = mw_street(200 + (uint32_t)i);
		struct sx_motion_pair m;

		w.offset_px = offsets[i];
		mw_drive(&w, &now, &stands, &m);
		assert_int_equal(m.ego.offset_verdict, SX_MOTION_OFFSET_FOUND);
		if (!(fabs(m.ego.measured.px - offsets[i]) <= 0.15))
			fail_msg("offset %.3f (+-%.3f), true %.3f", m.ego.measured.px,
				 m.ego.measured.sigma_px, offsets[i]);
		/* the prior says 0 +- 1 px: a wide one, so a single pair is near the offset */
		check_step(&m.ego, &now, &stands, 0.02 + 0.02 * fabs(offsets[i]), 0.05);
		sx_motion_pair_finish(&m);
	}
}

static void offset_needs_near_road(void **state)
{
	const struct mw_pose now = {0, 1.2, 0, 0.1};
	struct mw_world w = mw_street(7);
	struct sx_motion_pair m;

	(void)state;
	w.plain_road = true;
	w.noise = 1;
	mw_drive(&w, &now, &stands, &m);
	assert_int_equal(m.ego.verdict, SX_MOTION_STEP_FOUND);
	assert_int_equal(m.ego.offset_verdict, SX_MOTION_OFFSET_FEW_ROAD);
	assert_true(m.ego.range.px == 0.0 && m.ego.range.sigma_px == 1.0);
	sx_motion_pair_finish(&m);
}

/* Mirrored pictures: the way to the right and the turn to the right change their signs. */
static void mirrored_pictures_mirror(void **state)
{
	const struct mw_pose now = {0.1, 1.0, 1.5 * DEGREE, 0.1}, other = {-0.1, 1.0, -1.5 * DEGREE, 0.1};
	struct mw_world w = mw_street(11);
	struct sx_motion_pair a, b;

	(void)state;
	if (EMULATED(SAME_MOTION))
		return;
	mw_drive(&w, &now, &stands, &a);
	w.mirrored = true;
	mw_drive(&w, &other, &stands, &b);
	assert_int_equal(a.ego.verdict, SX_MOTION_STEP_FOUND);
	assert_int_equal(b.ego.verdict, SX_MOTION_STEP_FOUND);
	assert_true(fabs(a.ego.way_m[0] + b.ego.way_m[0]) < 0.003);
	assert_true(fabs(a.ego.way_m[2] - b.ego.way_m[2]) < 0.005);
	assert_true(fabs(mw_turn(&a.ego.step) + mw_turn(&b.ego.step)) < 0.01 * DEGREE);
	sx_motion_pair_finish(&a);
	sx_motion_pair_finish(&b);
}

/* The same pictures with twice the baseline: twice the way, and all else byte by byte. */
static void baseline_scales(void **state)
{
	static struct mw_frame now, before;
	const struct mw_pose pose = {0, 1.1, 0.5 * DEGREE, 0.1};
	struct mw_world w = mw_street(13);
	struct sx_motion_pair a, b;

	(void)state;
	mw_draw(&w, &pose, 2, &now);
	mw_draw(&w, &stands, 1, &before);
	mw_run(&w, &now, &before, &a);
	w.camera.baseline_m *= 2.0;
	mw_run(&w, &now, &before, &b);
	assert_memory_equal(&a.ego.step, &b.ego.step, sizeof(a.ego.step));
	assert_memory_equal(&a.ego.range, &b.ego.range, sizeof(a.ego.range));
	for (int i = 0; i < 3; i++) {
		assert_true(b.ego.way_m[i] == 2.0 * a.ego.way_m[i]);
		assert_true(b.ego.way_sigma_m[i] == 2.0 * a.ego.way_sigma_m[i]);
		assert_true(b.ego.turn_sigma_rad[i] == a.ego.turn_sigma_rad[i]);
	}
	sx_motion_pair_finish(&a);
	sx_motion_pair_finish(&b);
	sx_motion_view_finish(&now.view);
	sx_motion_view_finish(&before.view);
}

/* The range is the prior if there is no step. */
static void check_unknown(const struct sx_motion_ego *e, enum sx_motion_verdict verdict)
{
	assert_int_equal(e->verdict, verdict);
	assert_int_equal(e->offset_verdict, SX_MOTION_OFFSET_NO_STEP);
	assert_true(e->range.px == 0.0 && e->range.sigma_px == 1.0);
	for (int i = 0; i < 3; i++)
		assert_true(e->way_m[i] == 0.0 && e->way_sigma_m[i] == 0.0);
}

static void fill(struct mw_frame *f, enum check_fill how, uint64_t seed)
{
	struct check_rng r = check_rng_seed(seed);
	struct sx_motion_view old = f->view;

	check_fill(&old.grey, how, &r);
	assert_int_equal(sx_motion_view_init(&f->view, &old.grey, &old.disparity), 0);
	sx_motion_view_finish(&old);
}

static void useless_pictures_are_refused(void **state)
{
	static struct mw_frame now, before;
	const struct mw_pose pose = {0, 1.1, 0, 0.1};
	const struct mw_world w = mw_street(17);
	struct sx_motion_pair m;

	(void)state;
	mw_draw(&w, &pose, 2, &now);
	mw_draw(&w, &stands, 1, &before);
	mw_run(&w, &now, NULL, &m);
	check_unknown(&m.ego, SX_MOTION_STEP_FIRST);
	sx_motion_pair_finish(&m);
	/* the camera repeats a picture */
	mw_run(&w, &now, &now, &m);
	check_unknown(&m.ego, SX_MOTION_STEP_REPEATS);
	sx_motion_pair_finish(&m);
	/* noise: other noise in each picture, with any disparities */
	for (uint64_t seed = 0; seed < ENOUGH_OF(4); seed++) {
		fill(&now, CHECK_NOISE, 2 * seed);
		fill(&before, CHECK_NOISE, 2 * seed + 1);
		mw_run(&w, &now, &before, &m);
		assert_int_not_equal(m.ego.verdict, SX_MOTION_STEP_FOUND);
		sx_motion_pair_finish(&m);
	}
	/* covered or black: there is nothing to see, now or before */
	sx_motion_view_finish(&now.view);
	mw_draw(&w, &pose, 2, &now);
	fill(&before, CHECK_FLAT, 0);
	mw_run(&w, &now, &before, &m);
	check_unknown(&m.ego, SX_MOTION_STEP_FEW);
	sx_motion_pair_finish(&m);
	mw_run(&w, &before, &now, &m);
	check_unknown(&m.ego, SX_MOTION_STEP_FEW);
	sx_motion_pair_finish(&m);
	/* left equals right: the disparity is 0 everywhere */
	memset(now.view.disparity.data, 0, now.view.disparity.pitch * MW_HEIGHT);
	mw_run(&w, &now, &before, &m);
	check_unknown(&m.ego, SX_MOTION_STEP_FEW);
	sx_motion_pair_finish(&m);
	sx_motion_view_finish(&now.view);
	sx_motion_view_finish(&before.view);
}

/* Exposure: the same street, darker by a third, moves alike. */
static void exposure_does_not_move(void **state)
{
	static struct mw_frame now, before;
	const struct mw_pose pose = {0, 1.1, 0, 0.1};
	const struct mw_world w = mw_street(19);
	struct sx_motion_view old;
	struct sx_motion_pair m;

	(void)state;
	if (EMULATED(SAME_MOTION))
		return;
	mw_draw(&w, &pose, 2, &now);
	mw_draw(&w, &stands, 1, &before);
	old = now.view;
	for (int y = 0; y < MW_HEIGHT; y++) {
		uint8_t *row = sx_image_row(&old.grey, y);

		for (int x = 0; x < MW_WIDTH; x++)
			row[x] = (uint8_t)(row[x] > 25 ? row[x] - 25 : 0);
	}
	assert_int_equal(sx_motion_view_init(&now.view, &old.grey, &old.disparity), 0);
	sx_motion_view_finish(&old);
	mw_run(&w, &now, &before, &m);
	check_step(&m.ego, &pose, &stands, 0.01, 0.03);
	sx_motion_pair_finish(&m);
	sx_motion_view_finish(&now.view);
	sx_motion_view_finish(&before.view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_are_found),
		cmocka_unit_test(still_camera_stands),
		cmocka_unit_test(offset_is_found),
		cmocka_unit_test(offset_needs_near_road),
		cmocka_unit_test(mirrored_pictures_mirror),
		cmocka_unit_test(baseline_scales),
		cmocka_unit_test(useless_pictures_are_refused),
		cmocka_unit_test(exposure_does_not_move),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
