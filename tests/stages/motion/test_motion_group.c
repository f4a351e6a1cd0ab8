/*
 * Velocities of stixels: boxes that stand, cross, come nearer and drive ahead, seen by a camera that moves.
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

/* Values are selected as sorting finds them, one after the other from the same array. */
static void selection(void **state)
{
	struct check_rng r = check_rng_seed(9);
	int32_t v[100], sorted[100];

	(void)state;
	for (int round = 0; round < 2000; round++) {
		const int n = 1 + check_below(&r, 100), values = 1 + check_below(&r, 200);

		for (int i = 0; i < n; i++) {
			int at = i;

			v[i] = check_below(&r, values);
			for (; at > 0 && sorted[at - 1] > v[i]; at--)
				sorted[at] = sorted[at - 1];
			sorted[at] = v[i];
		}
		assert_int_equal(sx_motion_median(v, n), sorted[(n - 1) / 2]);
		assert_int_equal(sx_motion_select(v, n, n / 10), sorted[n / 10]);
		assert_int_equal(sx_motion_select(v, n, n - 1 - n / 10), sorted[n - 1 - n / 10]);
	}
}

static const struct mw_pose before_pose = {0, 0, 0, 0}, now_pose = {0, 1.0, 0, 0.1};

struct seen {
	int stixels, state[3];
	double vx, vz;	    /* mean of the stixels that move */
	double worst_sigma; /* largest error of a moving stixel, in standard deviations */
};

/* Collects the stixels of a box. true_x, true_z: its velocity in this frame's axes. */
static struct seen look_at(const struct mw_frame *f, const struct sx_motion_pair *m, int box, double true_x,
			   double true_z)
{
	struct seen s = {0};

	for (uint32_t i = 0; i < f->count; i++) {
		const struct sx_motion_velocity *v = &m->velocities[i];
		const double x = v->vx - true_x, z = v->vz - true_z;

		if (f->owner_box[i] != box)
			continue;
		s.stixels++;
		s.state[v->state]++;
		if (!v->measured) {
			assert_true(v->state == SX_MOTION_STATE_UNKNOWN && v->vx == 0 && v->vz == 0 &&
				    v->sxx == 0);
			continue;
		}
		assert_true(v->sxx > 0 && v->szz > 0 && v->sxx * v->szz > v->sxz * v->sxz);
		if (v->state != SX_MOTION_STATE_MOVES)
			continue;
		s.vx += v->vx;
		s.vz += v->vz;
		s.worst_sigma =
			fmax(s.worst_sigma, sqrt((v->szz * x * x - 2 * v->sxz * x * z + v->sxx * z * z) /
						 (v->sxx * v->szz - v->sxz * v->sxz)));
	}
	if (s.state[SX_MOTION_STATE_MOVES]) {
		s.vx /= s.state[SX_MOTION_STATE_MOVES];
		s.vz /= s.state[SX_MOTION_STATE_MOVES];
	}
	return s;
}

static void check_moves(const struct seen *s, double vx, double vz, double most_x, double most_z)
{
	if (s->stixels < 5 || s->state[SX_MOTION_STATE_MOVES] < 0.8 * s->stixels ||
	    s->state[SX_MOTION_STATE_STANDS] > 0 || !(fabs(s->vx - vx) < most_x) ||
	    !(fabs(s->vz - vz) < most_z) || !(s->worst_sigma < 4.0))
		fail_msg(
			"%d stixels, %d unknown, %d stand, %d move: %.2f %.2f m/s, true %.2f %.2f, worst %.1f sigma",
			s->stixels, s->state[0], s->state[1], s->state[2], s->vx, s->vz, vx, vz,
			s->worst_sigma);
}

static void boxes_move_or_stand(void **state)
{
	/* crosses; comes nearer; drives ahead, faster than the camera's 10 m/s */
	const struct mw_box movers[] = {{0.5, 12, 1.8, 4, 1.5, 2.5, 0},
					{-2.5, 20, 1.8, 4, 1.5, 0, -8},
					{0.2, 16, 1.8, 4, 1.5, 0, 14}};
	static struct mw_frame now, before;

	(void)state;
	for (uint32_t n = 0; n < (IS_EMULATED ? 1 : 3); n++) {
		struct mw_world w = mw_street(300 + n);
		struct sx_motion_pair m;
		struct seen s;

		w.boxes[w.box_count++] = movers[n];
		mw_draw(&w, &now_pose, 2, &now);
		mw_draw(&w, &before_pose, 1, &before);
		mw_run(&w, &now, &before, &m);
		assert_int_equal(m.ego.verdict, SX_MOTION_STEP_FOUND);
		s = look_at(&now, &m, 2, movers[n].vx, movers[n].vz);
		check_moves(&s, movers[n].vx, movers[n].vz, 0.15, 0.6);
		for (int box = 0; box < 2; box++) {
			s = look_at(&now, &m, box, 0, 0);
			assert_true(s.stixels > 5);
			assert_int_equal(s.state[SX_MOTION_STATE_MOVES], 0);
			/* the box at 20 m is too far to say that it stands: 1.5 m/s along z */
			assert_true(box == 1 || s.state[SX_MOTION_STATE_STANDS] >= 0.5 * s.stixels);
		}
		sx_motion_pair_finish(&m);
		sx_motion_view_finish(&now.view);
		sx_motion_view_finish(&before.view);
	}
}

/* The two frames exchanged: the velocity has the other sign. */
static void time_reversed_reverses(void **state)
{
	static struct mw_frame now, before;
	struct mw_world w = mw_street(310);
	struct sx_motion_pair m, back;
	struct seen s, reversed;

	(void)state;
	if (EMULATED(SAME_MOTION))
		return;
	w.boxes[w.box_count++] = (struct mw_box){0.5, 12, 1.8, 4, 1.5, 2.5, 0};
	mw_draw(&w, &now_pose, 2, &now);
	mw_draw(&w, &before_pose, 1, &before);
	mw_run(&w, &now, &before, &m);
	mw_run(&w, &before, &now, &back);
	s = look_at(&now, &m, 2, 2.5, 0);
	reversed = look_at(&before, &back, 2, -2.5, 0);
	check_moves(&s, 2.5, 0, 0.15, 0.6);
	check_moves(&reversed, -2.5, 0, 0.15, 0.6);
	sx_motion_pair_finish(&m);
	sx_motion_pair_finish(&back);
	sx_motion_view_finish(&now.view);
	sx_motion_view_finish(&before.view);
}

/* A camera that stands or turns sees standing boxes stand, with other noise each time. */
static void standing_boxes_stand(void **state)
{
	static struct mw_frame now, before;
	const struct mw_pose poses[] = {{0, 0, 0, 0.1}, {0, 0, 2 * DEGREE, 0.1}, {0, 1.5, -1 * DEGREE, 0.1}};
	int stixels = 0, moving = 0, stands = 0;

	(void)state;
	for (uint32_t n = 0; n < (IS_EMULATED ? 3 : 6); n++) {
		const struct mw_world w = mw_street(320 + n);
		struct sx_motion_pair m;

		mw_draw(&w, &poses[n % 3], 2, &now);
		mw_draw(&w, &before_pose, 1, &before);
		mw_run(&w, &now, &before, &m);
		for (int box = 0; box < 2; box++) {
			const struct seen s = look_at(&now, &m, box, 0, 0);

			stixels += s.stixels;
			moving += s.state[SX_MOTION_STATE_MOVES];
			stands += s.state[SX_MOTION_STATE_STANDS];
		}
		sx_motion_pair_finish(&m);
		sx_motion_view_finish(&now.view);
		sx_motion_view_finish(&before.view);
	}
	assert_true(stixels > (IS_EMULATED ? 50 : 100) && stands > 0.5 * stixels);
	assert_int_equal(moving, 0);
}

/* Half the time between the frames: twice the velocity. Without a step nothing is measured. */
static void times_scale_and_unknown_steps_say_nothing(void **state)
{
	static struct mw_frame now, before;
	struct mw_world w = mw_street(330);
	struct sx_motion_pair m;
	struct sx_motion_cells cells;
	struct sx_motion_velocity twice[MW_STIXELS_MAX];
	uint32_t work[2 * MW_STIXELS_MAX];

	(void)state;
	w.boxes[w.box_count++] = (struct mw_box){0.5, 12, 1.8, 4, 1.5, 2.5, 0};
	mw_draw(&w, &now_pose, 2, &now);
	mw_draw(&w, &before_pose, 1, &before);
	mw_run(&w, &now, &before, &m);
	cells = sx_motion_cells(MW_WIDTH, MW_HEIGHT);
	sx_motion_group(&w.camera, &cells, m.features, m.flows, now.stixels, now.count, MW_STIXEL, 0.05,
			&m.ego, work, twice);
	for (uint32_t i = 0; i < now.count; i++)
		if (twice[i].measured && m.velocities[i].measured) {
			assert_true(fabs(twice[i].vx - 2 * m.velocities[i].vx) < 1e-9);
			assert_true(fabs(twice[i].vz - 2 * m.velocities[i].vz) < 1e-9);
			assert_true(fabs(twice[i].sxx - 4 * m.velocities[i].sxx) < 1e-9);
		}
	assert_true(fabs(sx_motion_farthest(&w.camera, 0.1) -
			 sqrt(2.0) * sx_motion_farthest(&w.camera, 0.05)) < 1e-9);
	m.ego.verdict = SX_MOTION_STEP_SPLIT;
	sx_motion_group(&w.camera, &cells, m.features, m.flows, now.stixels, now.count, MW_STIXEL, 0.1,
			&m.ego, work, twice);
	for (uint32_t i = 0; i < now.count; i++)
		assert_true(!twice[i].measured && twice[i].state == SX_MOTION_STATE_UNKNOWN);
	sx_motion_pair_finish(&m);
	sx_motion_view_finish(&now.view);
	sx_motion_view_finish(&before.view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(selection),
		cmocka_unit_test(boxes_move_or_stand),
		cmocka_unit_test(time_reversed_reverses),
		cmocka_unit_test(standing_boxes_stand),
		cmocka_unit_test(times_scale_and_unknown_steps_say_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
