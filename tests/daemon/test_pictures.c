/*
 * What is said to be wrong with the pictures, and until when.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/pictures.h"

static struct sx_pictures sound(void)
{
	return (struct sx_pictures){.density = 0.8,
				    .infinity = 0.2,
				    .blind = 0.01,
				    .row_error = {0.1, 0.2, -0.1, 0.1},
				    .dark = {0.1, 0.2},
				    .sharpness = {10, 11}};
}

/* So many new frames that look like p. */
static void see(struct sx_pictures_watch *w, struct sx_pictures p, int frames)
{
	for (int i = 0; i < frames; i++) {
		p.frame = w->taken + 1;
		sx_pictures_watch(w, &p);
	}
}

static void assert_says(const struct sx_pictures_watch *w, const char *begin)
{
	if (*begin ? strncmp(w->why, begin, strlen(begin)) != 0 : *w->why)
		fail_msg("after %llu samples: '%s', not '%s'", (unsigned long long)w->taken, w->why, begin);
}

static void figures_of_a_frame(void **state)
{
	struct sx_monitor m = {.samples = 200,
			       .measured = 3000,
			       .near = 600,
			       .blind = 2,
			       .image = {{20, 10, 1000}, {0, 50, 400}}};
	struct sx_pictures p;

	for (int j = 0; j < SX_MONITOR_ROWS; j++)
		for (int i = 0; i < SX_MONITOR_COLUMNS; i++)
			m.vote[j][i] = i < 16	? (int16_t)(j % 2 ? 24 : 20)
				       : i < 32 ? SX_MONITOR_NO_VOTE
						: -32;
	sx_pictures_of(&p, &m, 7, 4000, 40);
	assert_int_equal(p.frame, 7);
	assert_float_equal(p.density, 0.75, 0);
	assert_float_equal(p.infinity, 0.2, 0);
	assert_float_equal(p.blind, 0.05, 0);
	assert_float_equal(p.row_error[SX_ROWS_LEFT], 1.25, 0);
	assert_float_equal(p.row_spread[SX_ROWS_LEFT], 0, 0);
	assert_true(isnan(p.row_error[SX_ROWS_MIDDLE]) && isnan(p.row_spread[SX_ROWS_MIDDLE]));
	assert_float_equal(p.row_error[SX_ROWS_RIGHT], -2, 0);
	assert_float_equal(p.dark[0], 0.1, 0);
	assert_float_equal(p.saturated[1], 0.25, 0);
	assert_float_equal(p.sharpness[0], 5, 0);
	sx_pictures_of(&p, &(struct sx_monitor){.samples = 9}, 8, 4000, 40);
	assert_true(isnan(p.infinity) && p.density == 0);
}

static void single_frames_do_not_count(void **state)
{
	struct sx_pictures_watch w = {0};
	struct sx_pictures bad = sound();

	bad.dark[0] = bad.dark[1] = 1;
	bad.density = 0;
	for (int i = 0; i < SX_ROWS_PARTS; i++)
		bad.row_error[i] = 5;
	for (int i = 0; i < 100; i++) {
		see(&w, sound(), 2);
		see(&w, bad, 1);
		assert_says(&w, "");
	}
}

static void a_frame_is_one_sample(void **state)
{
	struct sx_pictures_watch w = {0};
	struct sx_pictures black = sound();

	black.dark[1] = 1;
	see(&w, black, 1);
	black.frame = 2;
	for (int i = 0; i < 100; i++)
		sx_pictures_watch(&w, &black);
	assert_int_equal(w.taken, 2);
	assert_says(&w, "");
}

static void black_images(void **state)
{
	struct sx_pictures_watch w = {0};
	struct sx_pictures black = sound();

	see(&w, sound(), 50);
	black.dark[1] = 0.99;
	black.density = 0;
	see(&w, black, 8);
	assert_says(&w, "the right image is black");
	black.dark[1] = 0.95; /* not quite: it stays */
	see(&w, black, 20);
	assert_says(&w, "the right image is black");
	black.dark[0] = 1;
	black.dark[1] = 1;
	see(&w, black, 8);
	assert_says(&w, "both images are black");
	see(&w, sound(), 8);
	assert_says(&w, "");
	black.dark[1] = 0.95; /* and does not begin */
	black.dark[0] = 0.97;
	black.density = 0.8;
	see(&w, black, 40);
	assert_says(&w, "");
}

static void one_image_twice(void **state)
{
	struct sx_pictures_watch w = {0};
	struct sx_pictures same = sound();

	same.infinity = 1;
	for (int i = 0; i < SX_ROWS_PARTS; i++)
		same.row_error[i] = 0;
	see(&w, same, 7);
	assert_says(&w, "");
	see(&w, same, 1);
	assert_says(&w, "both images are the same");
	see(&w, sound(), 8);
	assert_says(&w, "");
	same.row_error[SX_ROWS_ALL] = 0.5; /* far things, seen by two cameras */
	see(&w, same, 30);
	assert_says(&w, "");
	same.row_error[SX_ROWS_ALL] = (double)NAN;
	see(&w, same, 30);
	assert_says(&w, "");
}

static void rows_out_of_line(void **state)
{
	struct sx_pictures_watch w = {0};
	struct sx_pictures off = sound();

	see(&w, sound(), 50);
	off.row_error[SX_ROWS_LEFT] = -1.2; /* rolled: the whole says 0 */
	off.row_error[SX_ROWS_MIDDLE] = (double)NAN;
	off.row_error[SX_ROWS_RIGHT] = 1.5;
	see(&w, off, 9);
	assert_says(&w, "");
	see(&w, off, 2);
	assert_string_equal(w.why,
			    "images are up to 1.5 rows out of line (left -1.2, middle +0.2, right +1.5, "
			    "right image lower: +): calibrate anew");
	see(&w, off, 20);
	assert_string_equal(w.why,
			    "images are up to 1.5 rows out of line (left -1.2, right +1.5, right image "
			    "lower: +): calibrate anew");
	off.row_error[SX_ROWS_LEFT] = off.row_error[SX_ROWS_RIGHT] = -0.8;
	see(&w, off, 30);
	assert_says(&w, "images are up to 0.8 rows");
	off.row_error[SX_ROWS_LEFT] = off.row_error[SX_ROWS_RIGHT] = -0.6;
	see(&w, off, 20);
	assert_says(&w, "");
	off.row_error[SX_ROWS_LEFT] = off.row_error[SX_ROWS_RIGHT] = -0.8;
	see(&w, off, 30);
	assert_says(&w, "");
}

/* Nobody can say so any more: neither can the daemon. */
static void rows_that_are_not_known(void **state)
{
	struct sx_pictures_watch w = {0};
	struct sx_pictures off = sound();

	for (int i = 0; i < SX_ROWS_PARTS; i++)
		off.row_error[i] = 3;
	see(&w, off, 7);
	assert_says(&w, "");
	see(&w, off, 1);
	assert_says(&w, "images are up to 3.0 rows");
	for (int i = 0; i < SX_ROWS_PARTS; i++)
		off.row_error[i] = (double)NAN;
	see(&w, off, 12);
	assert_says(&w, "images are up to 3.0 rows");
	see(&w, off, 1);
	assert_says(&w, "");
}

/* A correction of rows takes back what was said of rows, and nothing else. */
static void rows_that_are_corrected(void **state)
{
	struct sx_pictures_watch w = {0};
	struct sx_pictures low = sound(), tilted = sound();

	low.density = 0.3;
	see(&w, sound(), 300);
	see(&w, low, 12);
	sx_pictures_forget_rows(&w);
	see(&w, low, 400);
	assert_says(&w, "only 30 % of the pixels are measured, usually 7");
	w = (struct sx_pictures_watch){0};
	for (int i = 0; i < SX_ROWS_PARTS; i++)
		tilted.row_error[i] = 2;
	see(&w, tilted, 20);
	assert_says(&w, "images are up to 2.0 rows out of line");
	sx_pictures_forget_rows(&w);
	assert_says(&w, "");
	see(&w, sound(), 20);
	assert_says(&w, "");
}

static void density_that_falls(void **state)
{
	struct sx_pictures_watch w = {0};
	struct sx_pictures low = sound();

	low.density = 0.35;
	see(&w, sound(), 35); /* too early to know what is usual */
	see(&w, low, 4);
	assert_says(&w, "");
	see(&w, sound(), 300);
	see(&w, low, 12);
	assert_says(&w, "only 35 % of the pixels are measured, usually 7");
	low.density = 0.42; /* more than half of it, less than 60 % */
	see(&w, low, 60);
	assert_says(&w, "only 42 % of the pixels are measured, usually 7");
	low.density = 0.5;
	see(&w, low, 8);
	assert_says(&w, "");
	see(&w, low, 2000);
	low.density = 0.3; /* what is usual now is 50 % */
	see(&w, low, 60);
	assert_says(&w, "");
	low.density = 0.02; /* for good: in the end that is what it does here */
	see(&w, low, 12);
	assert_says(&w, "only 2 %");
	see(&w, low, 20000);
	assert_says(&w, "");
}

/* Four samples a second fill 32 bits in 34 years. */
static void samples_of_a_long_life(void **state)
{
	struct sx_pictures_watch w = {0};
	struct sx_pictures p = sound();

	see(&w, p, 300);
	w.taken += UINT32_MAX - 400 - UINT32_MAX % SX_PICTURES_SAMPLES;
	see(&w, p, 200 + SX_PICTURES_SAMPLES);
	assert_says(&w, "");
	p.density = 0.3;
	see(&w, p, 20);
	assert_says(&w, "only 30 %");
}

static void limits(void **state)
{
	struct sx_pictures_watch w = {0};
	struct sx_pictures_limits l;
	struct sx_pictures bad = sound();

	see(&w, sound(), 39);
	sx_pictures_limits(&l, &w);
	assert_true(isnan(l.density)); /* not known yet what is usual */
	see(&w, sound(), 1);
	sx_pictures_limits(&l, &w);
	assert_float_equal(l.density, 0.4, 1e-9);
	assert_float_equal(l.infinity, 0.98, 0);
	assert_float_equal(l.row_error, 1, 0);
	assert_float_equal(l.dark, 0.98, 0);
	/* while it is wrong: where it ends */
	bad.row_error[SX_ROWS_RIGHT] = 1.5;
	bad.dark[1] = 1;
	see(&w, bad, 20);
	sx_pictures_limits(&l, &w);
	assert_float_equal(l.row_error, 0.7, 0);
	assert_float_equal(l.dark, 0.9, 0);
	see(&w, sound(), 20);
	sx_pictures_limits(&l, &w);
	assert_float_equal(l.row_error, 1, 0);
	bad = sound();
	bad.density = 0.2;
	see(&w, bad, 8);
	sx_pictures_limits(&l, &w);
	assert_float_equal(l.density, 0.6 * w.usual, 1e-9);
	assert_true(bad.density < l.density && l.density < 0.48);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_of_a_frame),	   cmocka_unit_test(single_frames_do_not_count),
		cmocka_unit_test(a_frame_is_one_sample),   cmocka_unit_test(black_images),
		cmocka_unit_test(one_image_twice),	   cmocka_unit_test(rows_out_of_line),
		cmocka_unit_test(rows_that_are_not_known), cmocka_unit_test(rows_that_are_corrected),
		cmocka_unit_test(density_that_falls),	   cmocka_unit_test(limits),
		cmocka_unit_test(samples_of_a_long_life),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
