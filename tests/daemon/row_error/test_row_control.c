/*
 * Tests row corrections with cameras that stand still, drift, are hit, see nothing, or see nonsense.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/row_error/row_control.h"
#include "tests/check.h"

#define WIDTH 1280
#define NIGHT ((double)NAN)

/*
 * Two cameras with a vertical disparity, and its measurement. `shift` is the error of the whole image. `end`
 * is added in the middle of the right third and subtracted on the left. Each third is measured with its own
 * noise and `gain` times too large.
 */
struct world {
	struct sx_row_control control;
	struct check_rng random;
	uint64_t frame;
	double shift, end, bend, noise, gain, spread;
	bool middle_unknown;
	int since, changes; /* frames since the correction was wanted */
};

static struct world still(double shift, double end)
{
	return (struct world){.random = {1}, .shift = shift, .end = end, .gain = 1, .spread = 0.3};
}

static double end_of(double rotation_deg)
{
	return tan(rotation_deg * M_PI / 180) * WIDTH / 3;
}

/* Returns about normally distributed noise with this standard deviation. */
static double noise(struct world *w)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += check_random(&w->random) / 4294967295.0;
	return w->noise * (sum - 6);
}

static void see(struct world *w, double left, double middle, double right)
{
	struct sx_image_stats p = {.frame = ++w->frame,
				   .row_error = {left, middle, right, middle},
				   .row_spread = {w->spread, w->spread, w->spread, w->spread}};

	sx_row_control_see(&w->control, &p, WIDTH);
}

/*
 * Runs `frames` new frames. A wanted correction is applied three frames later, because contexts take time to
 * create.
 */
static void run(struct world *w, int frames)
{
	for (int i = 0; i < frames; i++) {
		const struct sx_row_correction *c = &w->control.applied;
		const double shift = w->gain * (w->shift - c->shift_px);
		const double end = w->gain * (w->end - end_of(c->rotation_deg));
		const double left = shift - end + noise(w), right = shift + end + noise(w);

		see(w, left, w->middle_unknown ? NIGHT : shift + w->bend + noise(w), right);
		w->since = w->control.wants ? w->since + 1 : 0;
		if (w->since < 3)
			continue;
		w->changes++;
		sx_row_control_apply(&w->control, &w->control.wanted, w->frame + 1);
		w->since = 0;
	}
}

static void check_left(const struct world *w, double most)
{
	const struct sx_row_correction *c = &w->control.applied;
	const double shift = fabs(w->shift - c->shift_px), end = fabs(w->end - end_of(c->rotation_deg));

	if (shift + end > most)
		fail_msg("after %d changes %.3f px and %.3f px are left", w->changes, shift, end);
}

static void small_errors_stay(void **state)
{
	struct world w = still(0.07, -0.03);

	w.noise = 0.2;
	run(&w, 5000);
	assert_int_equal(w.changes, 0);
	assert_string_equal(w.control.why, "");
}

static void errors_go_in_one_step(void **state)
{
	static const double errors[][2] = {{1.3, 0.4}, {-1.3, 0.4}, {0.3, 0},
					   {0, -0.9},  {0.12, 0.1}, {2.9, 0}};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct world w = still(errors[i][0], errors[i][1]);

		w.noise = 0.1;
		run(&w, 1000);
		assert_int_equal(w.changes, 1);
		check_left(&w, 0.08);
	}
}

/* A large error is corrected earlier than a small one. Neither is corrected at once. */
static void when(void **state)
{
	struct world w = still(1, 0);

	run(&w, SX_ROW_CONTROL_ENOUGH_FAR + 1);
	assert_int_equal(w.changes, 0);
	run(&w, 2);
	assert_int_equal(w.changes, 1);
	w = still(0.4, 0);
	run(&w, SX_ROW_CONTROL_ENOUGH + 1);
	assert_int_equal(w.changes, 0);
	run(&w, 2);
	assert_int_equal(w.changes, 1);
}

/* The measurement is too large or too small. The control still takes few steps and does not oscillate. */
static void gains(void **state)
{
	static const double gains[] = {0.6, 0.8, 1.3};

	for (int i = 0; i < 3; i++) {
		struct world w = still(1.5, -0.6);

		w.gain = gains[i];
		w.noise = 0.15;
		run(&w, 400);
		assert_in_range(w.changes, 1, 3);
		run(&w, 3000);
		assert_in_range(w.changes, 1, 4);
		check_left(&w, 0.3);
	}
}

/* The control does not chase an error that no rotation removes. */
static void a_lens_that_bends(void **state)
{
	struct world w = still(0.6, 0.2);

	w.bend = 0.4;
	run(&w, 3000);
	assert_in_range(w.changes, 1, 2);
	w = still(0.1, 0); /* a middle that is hardly ever known does not count */
	w.middle_unknown = true;
	for (int i = 0; i < 30; i++) {
		see(&w, 0.1, 6, 0.1);
		run(&w, 100);
	}
	assert_int_equal(w.changes, 0);
}

/* The error drifts by half a pixel in ten minutes, as when cameras warm up. */
static void drift(void **state)
{
	struct world w = still(0, 0);

	w.noise = 0.1;
	for (int i = 0; i < 240; i++) {
		w.shift += 0.5 / 240;
		w.end -= 0.25 / 240;
		run(&w, 10);
		check_left(&w, 0.35);
	}
	run(&w, 1000);
	check_left(&w, 0.2);
	assert_in_range(w.changes, 2, 6);
}

static void a_hit(void **state)
{
	struct world w = still(0.1, 0);

	w.noise = 0.1;
	run(&w, 500);
	w.shift = -0.9;
	w.end = 0.5;
	run(&w, SX_ROW_CONTROL_WINDOW / 2 - 10);
	assert_int_equal(w.changes, 0);
	run(&w, 500);
	assert_in_range(w.changes, 1, 2);
	check_left(&w, 0.2);
}

/* A quarter of all frames have wrong values, and for twenty seconds all frames have them. */
static void nonsense(void **state)
{
	struct world w = still(0.05, 0);

	w.noise = 0.1;
	for (int i = 0; i < 1000; i++) {
		run(&w, 3);
		see(&w, 5, 4, -6);
	}
	run(&w, 300);
	for (int i = 0; i < 80; i++)
		see(&w, 3, 3, 3);
	run(&w, 300);
	/* values that contradict each other do not count at all */
	w.spread = 2;
	for (int i = 0; i < 500; i++)
		see(&w, 3, 3, 3);
	assert_int_equal(w.changes, 0);
	assert_false(w.control.wants);
}

static void night(void **state)
{
	struct world w = still(1.2, 0.3);
	struct sx_row_correction before;

	run(&w, 300);
	assert_int_equal(w.changes, 1);
	before = w.control.applied;
	w.shift = 0;
	for (int i = 0; i < 1000; i++)
		/* a single end cannot separate shift from rotation */
		see(&w, NIGHT, 0.9, i % 2 ? NIGHT : 0.9);
	assert_int_equal(w.changes, 1);
	assert_memory_equal(&before, &w.control.applied, sizeof(before));
	run(&w, 300);
	assert_int_equal(w.changes, 2);
	check_left(&w, 0.05);
}

/*
 * The correction stops at its limits. The control reports this while it lasts, and takes no step for the
 * remaining error.
 */
static void limits(void **state)
{
	struct world w = still(4, 0.3);

	w.noise = 0.1;
	run(&w, 2000);
	assert_int_equal(w.changes, 1);
	assert_float_equal(w.control.applied.shift_px, SX_ROW_CONTROL_SHIFT, 0);
	assert_non_null(strstr(w.control.why, "calibrate again"));
	assert_non_null(strstr(w.control.why, "(+4.0"));
	for (int i = 0; i < 1000; i++)
		see(&w, NIGHT, NIGHT, NIGHT);
	assert_non_null(strstr(w.control.why, "calibrate again"));
	w.shift = 1;
	run(&w, 500);
	assert_string_equal(w.control.why, "");
	check_left(&w, 0.1);
	w.shift = SX_ROW_CONTROL_SHIFT + 0.06; /* a remaining error this small is never corrected */
	run(&w, 500);
	assert_float_equal(w.control.applied.shift_px, SX_ROW_CONTROL_SHIFT, 0);
	assert_string_equal(w.control.why, "");
	w.end = -end_of(0.6);
	run(&w, 500);
	assert_float_equal(w.control.applied.rotation_deg, -SX_ROW_CONTROL_ROTATION, 0);
	assert_non_null(strstr(w.control.why, "-0.6"));
}

/* An error slightly beyond a limit raises no alarm, whatever the noise. A real alarm stays on. */
static void at_a_limit(void **state)
{
	static const struct {
		double shift;
		bool alarm;
	} cases[] = {{SX_ROW_CONTROL_SHIFT + 0.15, false}, {SX_ROW_CONTROL_SHIFT + 0.7, true}};

	for (int i = 0; i < 2; i++) {
		struct world w = still(cases[i].shift, 0);
		int turns = 0;

		w.noise = 0.5;
		run(&w, 1000);
		for (int k = 0; k < 3000; k++) {
			const bool before = w.control.why[0];

			run(&w, 1);
			turns += before != (w.control.why[0] != 0);
		}
		assert_int_equal(turns, 0);
		assert_int_equal(w.control.why[0] != 0, cases[i].alarm);
	}
}

static void frames_of_another_correction(void **state)
{
	const struct sx_row_correction none = {0}, one = {1, 0};
	struct world w = still(1, 0);

	run(&w, SX_ROW_CONTROL_ENOUGH_FAR);
	assert_true(w.control.wants);
	sx_row_control_apply(&w.control, &none, w.frame + 1); /* same correction: the measured values stay */
	assert_true(w.control.wants);
	sx_row_control_apply(&w.control, &one, w.frame + 500);
	assert_false(w.control.wants);
	for (int i = 0; i < 499; i++)
		see(&w, 1, 1, 1);
	assert_int_equal(w.control.taken, 0);
	see(&w, 0, 0, 0);
	assert_int_equal(w.control.taken, 1);
	w.frame--; /* no new frame */
	see(&w, 0, 0, 0);
	assert_int_equal(w.control.taken, 1);
}

static void refused(void **state)
{
	struct world w = still(1, 0);

	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < SX_ROW_CONTROL_ENOUGH_FAR; k++) {
			assert_false(w.control.wants);
			see(&w, 1, 1, 1);
		}
		assert_true(w.control.wants);
		sx_row_control_refused(&w.control);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_errors_stay),
		cmocka_unit_test(errors_go_in_one_step),
		cmocka_unit_test(when),
		cmocka_unit_test(gains),
		cmocka_unit_test(a_lens_that_bends),
		cmocka_unit_test(drift),
		cmocka_unit_test(a_hit),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(night),
		cmocka_unit_test(limits),
		cmocka_unit_test(at_a_limit),
		cmocka_unit_test(refused),
		cmocka_unit_test(frames_of_another_correction),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
