/*
 * Tests the findings about a rig from its statistics: each fault, faults that hide another one, and unknown
 * statistics.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/pairs/faults.h"

static struct sx_pair_stats sound(void)
{
	struct sx_pair_stats f;

	sx_pair_stats_init(&f);
	f.pairs = 4;
	f.width = 640;
	f.height = 400;
	f.factor = 1;
	f.density = 0.8;
	f.dark[0] = 0.1;
	f.dark[1] = 0.2;
	f.grey[0] = 100;
	f.grey[1] = 90;
	f.sharp[0] = 0.45;
	f.sharp[1] = 0.4;
	f.difference = 25;
	f.matches = 1000;
	f.still = 0.02;
	f.agree = 0.97;
	f.behind = 0.03;
	f.disparity = 14;
	f.rows = 0.3;
	f.turn = 0.03;
	f.stretch = 0.001;
	f.off = 0.6;
	f.bent = 0.3;
	f.late_ms = 0.5;
	f.late_miss = 0.99;
	f.late_px = 0.02;
	f.late_places = 200;
	f.skew_ms = 0.1;
	return f;
}

/* Checks that there is exactly one finding, whose sentence begins like this. NULL: no finding. */
static void assert_finds(const struct sx_pair_stats *f, enum sx_pair_fault fault, const char *begin)
{
	struct sx_pair_finding found[SX_PAIR_FAULTS];
	const int n = sx_pair_faults(f, found);

	if (!begin) {
		if (n)
			fail_msg("found '%s'", found[0].text);
		return;
	}
	if (n != 1 || strncmp(found[0].text, begin, strlen(begin)) != 0)
		fail_msg("%d found, the first '%s', not '%s'", n, n ? found[0].text : "", begin);
	assert_int_equal(found[0].fault, fault);
	assert_int_equal(found[0].useless, fault <= SX_PAIR_EXCHANGED);
	assert_true(found[0].advice && *found[0].advice);
}

static void sound_pairs(void **state)
{
	struct sx_pair_stats f = sound();

	(void)state;
	assert_finds(&f, 0, NULL);
	sx_pair_stats_init(&f); /* no value is known */
	assert_finds(&f, 0, NULL);
}

static void black(void **state)
{
	struct sx_pair_stats f = sound();

	(void)state;
	f.dark[0] = 0.97;
	assert_finds(&f, 0, NULL);
	f.dark[0] = 0.98;
	assert_finds(&f, SX_PAIR_BLACK, "the left image is black");
	f.grey[0] = 2; /* there must be no second sentence about the same camera */
	f.sharp[0] = (double)NAN;
	assert_finds(&f, SX_PAIR_BLACK, "the left image is black");
	f.dark[1] = 1;
	assert_finds(&f, SX_PAIR_BLACK, "both images are black");
	f.dark[0] = 0;
	assert_finds(&f, SX_PAIR_BLACK, "the right image is black");
}

static void white(void **state)
{
	struct sx_pair_stats f = sound();

	(void)state;
	f.saturated[1] = 0.97;
	assert_finds(&f, 0, NULL);
	f.saturated[1] = 0.98;
	assert_finds(&f, SX_PAIR_WHITE, "the right image is white");
	f.saturated[0] = 1;
	assert_finds(&f, SX_PAIR_WHITE, "both images are white");
	f.dark[0] = 1; /* black and white together give one finding: black */
	assert_finds(&f, SX_PAIR_BLACK, "the left image is black");
}

static void covered(void **state)
{
	struct sx_pair_stats f = sound();

	(void)state;
	f.flat[0] = 1; /* both images show the same places, so they are not blind */
	assert_finds(&f, 0, NULL);
	f.off = (double)NAN;
	assert_finds(&f, SX_PAIR_COVERED, "the left image shows nothing");
	f.flat[1] = 0.99;
	assert_finds(&f, SX_PAIR_COVERED, "both images show nothing");
	f.flat[0] = f.flat[1] = 0.97;
	assert_finds(&f, 0, NULL);
}

static void frozen(void **state)
{
	struct sx_pair_stats f = sound();

	(void)state;
	f.frozen[0] = 1.0 / 3; /* one repeated image in four pairs: a camera that gives some images twice */
	assert_finds(&f, 0, NULL);
	f.frozen[0] = 1;
	assert_finds(&f, SX_PAIR_FROZEN, "the left image stands still while the other one goes on");
}

static void one_image_twice(void **state)
{
	struct sx_pair_stats f = sound();

	(void)state;
	f.still = 0.96;
	assert_finds(&f, 0, NULL); /* everything is far away, but two cameras see it */
	f.difference = 2;
	assert_finds(&f, SX_PAIR_SAME, "both images are the same");
	f.still = 0.94;
	assert_finds(&f, 0, NULL);
	f.still = 0.96;
	f.difference = (double)NAN; /* unknown in the status */
	assert_finds(&f, SX_PAIR_SAME, "both images are the same");
}

static void exchanged(void **state)
{
	struct sx_pair_stats f = sound();

	(void)state;
	f.behind = 0.79;
	assert_finds(&f, 0, NULL);
	f.behind = 0.96;
	f.rows = f.off = 5; /* if left may be right, the direction is unknown */
	assert_finds(&f, SX_PAIR_EXCHANGED,
		     "left and right are exchanged: 96 % of what is not far away has a negative disparity");
	f.density = 0.21;
	f.exchanged = 0.78;
	assert_finds(&f, SX_PAIR_EXCHANGED,
		     "left and right are exchanged: density 21 % as it is, 78 % exchanged");
}

static void not_of_one_time(void **state)
{
	struct sx_pair_stats f = sound();

	(void)state;
	f.skew_ms = -4.9;
	assert_finds(&f, 0, NULL);
	f.skew_ms = -5.1;
	assert_finds(&f, SX_PAIR_LATE,
		     "images are not of the same time: the right one is taken 5 ms earlier, by");
	f = sound();
	f.late_ms = 33.4;
	f.late_miss = 0.2;
	f.late_px = 0.49; /* may be noise */
	assert_finds(&f, 0, NULL);
	f.late_px = 2;
	f.late_miss = 0.61; /* motion explains only a small part */
	assert_finds(&f, 0, NULL);
	f.late_miss = 0.6;
	f.stretch = 0.03;
	f.off = 3; /* caused by driving ahead, not by the lenses */
	assert_finds(
		&f, SX_PAIR_LATE,
		"images are not of the same time: things that move show the right one 33 ms later; their "
		"capture times say 0.1 ms");
	f.factor = 5;
	f.off = 0.9;
	assert_finds(&f, 0, NULL); /* with a fifth of the view it may be noise */
	f.factor = 4;
	f.late_ms = -33.4;
	f.skew_ms = (double)NAN;
	assert_finds(&f, SX_PAIR_LATE,
		     "images are not of the same time: things that move show the right one 33 ms earlier");
}

static void rows_out_of_line(void **state)
{
	struct sx_pair_stats f = sound();

	(void)state;
	f.rows = -0.8;
	f.off = 0.99;
	assert_finds(&f, 0, NULL);
	f.off = 1;
	assert_finds(&f, SX_PAIR_ROW_ERROR, "rows are out of line: the right image is 0.8 px higher");
	f.rows = 3;
	assert_finds(&f, SX_PAIR_ROW_ERROR, "rows are out of line: the right image is 3.0 px lower");
	f.turn = -1.5;
	assert_finds(&f, SX_PAIR_ROW_ERROR,
		     "rows are out of line: the right image is 3.0 px lower, turned by 1.50 degrees "
		     "anticlockwise");
	f.rows = 0.1;
	f.turn = 0.2; /* 1.1 px at the border */
	assert_finds(&f, SX_PAIR_ROW_ERROR,
		     "rows are out of line: the right image is turned by 0.20 degrees clockwise");
	f.turn = 0;
	f.stretch = -0.02;
	assert_finds(&f, SX_PAIR_ROW_ERROR, "rows are out of line: the right image is 2.0 % smaller");
	f.stretch = (double)NAN; /* unknown in the status */
	f.rows = 1.2;
	assert_finds(&f, SX_PAIR_ROW_ERROR, "rows are out of line: the right image is 1.2 px lower");
}

static void rows_that_are_bent(void **state)
{
	struct sx_pair_stats f = sound();

	(void)state;
	f.bent = 1.4;
	assert_finds(&f, 0, NULL);
	f.agree = 0.89;
	assert_finds(
		&f, SX_PAIR_ROW_ERROR,
		"rows are out of line, and bent: the right image is 0.3 px lower, in places 1.4 px more");
	f.bent = 0.7;
	assert_finds(&f, 0, NULL);
	f.agree = 0.97;
	f.bent = 1.5;
	assert_finds(&f, SX_PAIR_ROW_ERROR, "rows are out of line, and bent:");
}

static void out_of_focus(void **state)
{
	struct sx_pair_stats f = sound();

	(void)state;
	f.sharp[0] = 0.31;
	assert_finds(&f, 0, NULL);
	f.sharp[0] = 0.29;
	assert_finds(&f, SX_PAIR_FOCUS,
		     "the left image is out of focus: sharpness 0.29, that of the right one is 0.40");
	f.sharp[0] = 0.21;
	f.sharp[1] = 0.2;
	assert_finds(&f, SX_PAIR_FOCUS,
		     "both images are out of focus: sharpness 0.21 and 0.20, at least 0.22 is");
	f.sharp[0] = f.sharp[1] = (double)NAN;
	f.laplacian[0] = 10;
	f.laplacian[1] = 5;
	assert_finds(&f, 0, NULL);
	f.laplacian[1] = 4.9;
	assert_finds(&f, SX_PAIR_FOCUS,
		     "the right image is less sharp: mean Laplacian 4.9, that of the left one is");
}

static void exposed_differently(void **state)
{
	struct sx_pair_stats f = sound();

	(void)state;
	f.grey[1] = 60;
	assert_finds(&f, 0, NULL);
	f.grey[1] = 59;
	assert_finds(&f, SX_PAIR_EXPOSURE,
		     "the right image is darker: mean grey level 59, that of the left one is 100");
	f.grey[0] = 15;
	f.grey[1] = 3; /* at night */
	assert_finds(&f, 0, NULL);
}

static void few_disparities(void **state)
{
	struct sx_pair_stats f = sound();
	struct sx_pair_finding found[SX_PAIR_FAULTS];

	(void)state;
	f.density = 0.4;
	assert_finds(&f, 0, NULL);
	f.density = 0.39;
	assert_finds(&f, SX_PAIR_THIN, "only 39 % of the pixels have a disparity");
	f.rows = f.off = 3; /* this is the reason */
	assert_finds(&f, SX_PAIR_ROW_ERROR, "rows are out of line: the right image is 3.0 px lower");
	f.sharp[1] = 0.2;
	f.grey[0] = 40;
	assert_int_equal(sx_pair_faults(&f, found), 3);
	assert_int_equal(found[0].fault, SX_PAIR_ROW_ERROR);
	assert_int_equal(found[1].fault, SX_PAIR_FOCUS);
	assert_int_equal(found[2].fault, SX_PAIR_EXPOSURE);
}

static void rows_of_thirds(void **state)
{
	struct sx_pair_stats f;

	(void)state;
	sx_pair_stats_init(&f);
	f.width = 600;
	sx_pair_rows_of_thirds(&f, (const double[4]){1, 3, 5, 2.9});
	assert_float_equal(f.rows, 3, 1e-9);
	assert_float_equal(f.off, 5, 0);
	assert_float_equal(f.turn, 0.573, 0.001); /* 4 px over 400 px */
	assert_finds(
		&f, SX_PAIR_ROW_ERROR,
		"rows are out of line: the right image is 3.0 px lower, turned by 0.57 degrees clockwise");
	sx_pair_rows_of_thirds(&f, (const double[4]){1, (double)NAN, 5, 2.9});
	assert_float_equal(f.rows, 2.9, 1e-9);
	assert_float_equal(f.turn, 0, 0);
	sx_pair_rows_of_thirds(&f, (const double[4]){(double)NAN, 0.1, 2, 0.15});
	assert_finds(&f, SX_PAIR_ROW_ERROR, "rows are out of line: the right image is 2.0 px lower");
	sx_pair_rows_of_thirds(&f, (const double[4]){1.5, -1.5, 1.5, 0.5});
	assert_finds(&f, SX_PAIR_ROW_ERROR, "rows are out of line: the right image is 1.5 px lower");
	f.width = 0;
	sx_pair_rows_of_thirds(&f, (const double[4]){-1.5, 0, 1.5, 0});
	assert_finds(&f, SX_PAIR_ROW_ERROR, "rows are out of line: the right image is 1.5 px higher");
	f.width = 600;
	sx_pair_rows_of_thirds(&f, (const double[4]){(double)NAN, (double)NAN, (double)NAN, (double)NAN});
	assert_finds(&f, 0, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound_pairs),
		cmocka_unit_test(black),
		cmocka_unit_test(white),
		cmocka_unit_test(covered),
		cmocka_unit_test(frozen),
		cmocka_unit_test(one_image_twice),
		cmocka_unit_test(exchanged),
		cmocka_unit_test(not_of_one_time),
		cmocka_unit_test(rows_out_of_line),
		cmocka_unit_test(rows_that_are_bent),
		cmocka_unit_test(out_of_focus),
		cmocka_unit_test(exposed_differently),
		cmocka_unit_test(few_disparities),
		cmocka_unit_test(rows_of_thirds),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
