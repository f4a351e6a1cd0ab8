/*
 * Tests which problems of pictures are reported, and until when.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/telemetry/image_stats.h"

static const struct sx_image_rules files = {.matched = true, .noticed = 0.1},
				   cameras = {.live = true, .matched = true, .noticed = 0.1};

static struct sx_image_stats sound(void)
{
	return (struct sx_image_stats){.density = 0.8,
				       .infinity = 0.2,
				       .blind = 0.01,
				       .row_error = {0.1, 0.2, -0.1, 0.1},
				       .dark = {0.1, 0.2},
				       .flat = {0.3, 0.4},
				       .sharpness = {10, 11}};
}

/* Shows `frames` new frames that look like p. */
static void see(struct sx_image_watch *w, struct sx_image_stats p, int frames)
{
	for (int i = 0; i < frames; i++) {
		p.frame = w->taken + 1;
		sx_image_watch(w, &p);
	}
}

static void assert_says(const struct sx_image_watch *w, const char *begin)
{
	if (*begin ? strncmp(w->why, begin, strlen(begin)) != 0 : *w->why)
		fail_msg("after %llu samples: '%s', not '%s'", (unsigned long long)w->taken, w->why, begin);
}

static void stats_of_a_frame(void **state)
{
	struct sx_diagnostics m = {.samples = 200,
				   .measured = 3000,
				   .near = 600,
				   .blind = 2,
				   .image = {{20, 10, 1000, 50, 10, 7}, {0, 50, 400, 50, 20, 8}}};
	struct sx_image_stats p;

	for (int j = 0; j < SX_DIAGNOSTICS_ROWS; j++)
		for (int i = 0; i < SX_DIAGNOSTICS_COLUMNS; i++)
			m.vote[j][i] = i < 16	? (int16_t)(j % 2 ? 24 : 20)
				       : i < 32 ? SX_DIAGNOSTICS_NO_VOTE
						: -32;
	sx_image_stats_of(&p, &m, 7, 4000, 40, NULL, &files);
	assert_int_equal(p.frame, 7);
	assert_float_equal(p.density, 0.75, 0);
	assert_float_equal(p.infinity, 0.2, 0);
	assert_float_equal(p.blind, 0.05, 0);
	assert_float_equal(p.row_error[SX_ROW_ERROR_LEFT], 1.25, 0);
	assert_float_equal(p.row_spread[SX_ROW_ERROR_LEFT], 0, 0);
	assert_true(isnan(p.row_error[SX_ROW_ERROR_MIDDLE]) && isnan(p.row_spread[SX_ROW_ERROR_MIDDLE]));
	assert_float_equal(p.row_error[SX_ROW_ERROR_RIGHT], -2, 0);
	assert_float_equal(p.dark[0], 0.1, 0);
	assert_float_equal(p.saturated[1], 0.25, 0);
	assert_float_equal(p.sharpness[0], 5, 0);
	assert_float_equal(p.flat[1], 0.4, 0);
	assert_float_equal(p.empty[1], 0, 0);
	sx_image_stats_of(&p, &(struct sx_diagnostics){.samples = 9}, 8, 4000, 40, NULL, &files);
	assert_true(isnan(p.infinity) && isnan(p.flat[0]) && p.density == 0);
	assert_true(isnan(p.raw_min) && isnan(p.raw_max));
}

/* ---- a single frame ---- */

/* Returns two images of a street with disparities for half of it. */
static struct sx_diagnostics seen(uint32_t left, uint32_t right)
{
	struct sx_diagnostics m = {.samples = 1000,
				   .measured = 2000,
				   .near = 100,
				   .image = {{100, 20, 9000, 100, 30, left}, {90, 10, 9000, 100, 40, right}}};

	for (int j = 0; j < SX_DIAGNOSTICS_ROWS; j++)
		for (int i = 0; i < SX_DIAGNOSTICS_COLUMNS; i++)
			m.vote[j][i] = (int16_t)(i % 2);
	return m;
}

/* Returns true if m, the frame after `before`, is blind. Without `before`, m is the first frame. */
static bool is_blind(const struct sx_diagnostics *m, const struct sx_diagnostics *before,
		     const struct sx_image_rules *rules)
{
	struct sx_image_stats p, q;

	if (before)
		sx_image_stats_of(&q, before, 3, 4000, 40, NULL, rules);
	sx_image_stats_of(&p, m, 4, 4000, 40, before ? &q : NULL, rules);
	return sx_images_are_blind(&p, rules);
}

static void frames_that_show_something(void **state)
{
	const struct sx_diagnostics before = seen(1, 2);
	struct sx_diagnostics m = seen(3, 4);

	assert_false(is_blind(&m, NULL, &cameras));
	assert_false(is_blind(&m, &before, &cameras));
	/* a street at night: nearly all of both images is dark and flat, but a fifth has disparities */
	for (int side = 0; side < 2; side++) {
		m.image[side].dark = 999;
		m.image[side].flat = 99;
	}
	m.measured = 800;
	assert_false(is_blind(&m, &before, &cameras));
	m.image[1].dark = 979;
	assert_false(is_blind(&m, &before, &cameras));
	/* fog, or much sky: much is flat, and few disparities are measured */
	m = seen(3, 4);
	m.image[0].flat = m.image[1].flat = 95;
	m.measured = 300;
	m.near = 0;
	assert_false(is_blind(&m, &before, &cameras));
	/* everything is far away, and the cameras are slightly out of line */
	m = seen(3, 4);
	m.near = m.measured;
	for (int j = 0; j < SX_DIAGNOSTICS_ROWS; j++)
		for (int i = 0; i < SX_DIAGNOSTICS_COLUMNS; i++)
			m.vote[j][i] = 3;
	assert_false(is_blind(&m, &before, &cameras));
	/* an engine that reports no counts */
	m = (struct sx_diagnostics){.measured = 2000};
	assert_false(is_blind(&m, &m, &cameras));
}

static void covered_lenses(void **state)
{
	for (int bad = 1; bad <= 3; bad++) /* left, right, both */
		for (int kind = 0; kind < 4; kind++) {
			struct sx_diagnostics m = seen(3, 4);

			m.measured = 190; /* 5 %: the share that noise leaves */
			m.near = 0;
			for (int side = 0; side < 2; side++) {
				struct sx_diagnostics_image *i = &m.image[side];

				if (!(bad & 1 << side))
					continue;
				i->dark = kind == 0 ? 985 : 0;
				i->bright = kind == 1 ? 1000 : 0;
				i->flat = kind == 2 ? 99 : 100;
			}
			if (!is_blind(&m, NULL, &files))
				fail_msg("kind %d of images %d", kind, bad);
			/* some settings match a flat image to infinity */
			m.measured = m.near = 4000;
			if (!is_blind(&m, NULL, &files))
				fail_msg("kind %d of images %d, all at infinity", kind, bad);
		}
}

/* One image is black or white and the other is not. Disparities between the two do not count. */
static void one_that_is_black_whatever_is_measured(void **state)
{
	struct sx_diagnostics m = seen(3, 4);

	m.image[1].dark = 990;
	assert_true(is_blind(&m, NULL, &files));
	m.image[1].dark = 0;
	m.image[0].bright = 990;
	assert_true(is_blind(&m, NULL, &files));
}

static void one_image_frozen(void **state)
{
	const struct sx_diagnostics before = seen(1, 2), left = seen(1, 4), right = seen(3, 2),
				    both = seen(1, 2);
	struct sx_diagnostics dark = seen(0, 4);

	assert_true(is_blind(&left, &before, &files));
	assert_true(is_blind(&right, &before, &files));
	assert_true(is_blind(&left, &before, &cameras));
	assert_true(is_blind(&both, &before, &cameras));
	assert_false(is_blind(&both, &before, &files)); /* a still picture */
	assert_false(is_blind(&both, NULL, &cameras));
	for (int side = 0; side < 2; side++)
		dark.image[side].dark = 1000;
	/* equal black images are not frozen ones: only disparities show that they are not blind */
	dark.measured = 800;
	assert_false(is_blind(&dark, &dark, &cameras));
}

static void one_image_in_both_places(void **state)
{
	struct sx_diagnostics m = seen(5, 5);

	assert_true(is_blind(&m, NULL, &files)); /* both images are identical */
	m = seen(5, 6);
	m.near = m.measured;
	assert_true(is_blind(&m, NULL, &files)); /* one image was read twice, with different noise */
}

/*
 * Tests disparity maps of another process, with a camera that sees in the dark, and with the left image
 * alone.
 */
static void maps_of_others(void **state)
{
	struct sx_params params = {.filters = {.left_right = 2, .speckle_size = 100}};
	struct sx_image_rules rules;
	struct sx_diagnostics m = seen(3, 4);

	rules = sx_image_rules(&params, true);
	assert_true(rules.live && rules.matched && rules.noticed == 0.1);
	/* without this filter, half of the disparities that noise gives remain */
	params.filters.speckle_size = 0;
	assert_true(sx_image_rules(&params, false).noticed > 1);
	params.stereo.matcher = SX_MATCH_EXTERNAL;
	rules = sx_image_rules(&params, true);
	assert_true(rules.noticed == 0.1);
	m.image[1] = (struct sx_diagnostics_image){.dark = 1000, .areas = 100, .flat = 100};
	assert_false(is_blind(&m, NULL, &rules));
	m.measured = 0;
	m.near = 0;
	assert_true(is_blind(&m, NULL, &rules));
	/* if no filter separates noise from sight, flat images are judged by their look */
	m = seen(3, 4);
	m.image[0].flat = 99;
	assert_false(is_blind(&m, NULL, &files));
	assert_true(is_blind(&m, NULL, &(struct sx_image_rules){.matched = true, .noticed = 2}));
}

static void single_frames_do_not_count(void **state)
{
	struct sx_image_watch w = {0};
	struct sx_image_stats bad = sound();

	bad.dark[0] = bad.dark[1] = 1;
	bad.density = 0;
	for (int i = 0; i < SX_ROW_ERROR_PARTS; i++)
		bad.row_error[i] = 5;
	for (int i = 0; i < 100; i++) {
		see(&w, sound(), 2);
		see(&w, bad, 1);
		assert_says(&w, "");
	}
}

static void a_frame_is_one_sample(void **state)
{
	struct sx_image_watch w = {0};
	struct sx_image_stats black = sound();

	black.dark[1] = 1;
	see(&w, black, 1);
	black.frame = 2;
	for (int i = 0; i < 100; i++)
		sx_image_watch(&w, &black);
	assert_int_equal(w.taken, 2);
	assert_says(&w, "");
}

static void black_images(void **state)
{
	struct sx_image_watch w = {0};
	struct sx_image_stats black = sound();

	see(&w, sound(), 50);
	black.dark[1] = 0.99;
	black.density = 0;
	see(&w, black, 8);
	assert_says(&w, "the right image is black");
	black.dark[1] = 0.95; /* slightly below the limit: the problem stays */
	see(&w, black, 20);
	assert_says(&w, "the right image is black");
	black.dark[0] = 1;
	black.dark[1] = 1;
	see(&w, black, 8);
	assert_says(&w, "both images are black");
	see(&w, sound(), 8);
	assert_says(&w, "");
	black.dark[1] = 0.95; /* at this value a new problem does not begin */
	black.dark[0] = 0.97;
	black.density = 0.8;
	see(&w, black, 40);
	assert_says(&w, "");
}

static void white_images(void **state)
{
	struct sx_image_watch w = {0};
	struct sx_image_stats white = sound();
	struct sx_image_limits l;

	see(&w, sound(), 50);
	white.saturated[0] = 0.99;
	see(&w, white, 4);
	assert_says(&w, "");
	see(&w, white, 4);
	assert_string_equal(w.why, "the left image is white");
	sx_image_limits(&l, &w);
	assert_float_equal(l.saturated, 0.9, 0);
	white.saturated[1] = 1;
	see(&w, white, 8);
	assert_string_equal(w.why, "both images are white");
	see(&w, sound(), 8);
	assert_says(&w, "");
	sx_image_limits(&l, &w);
	assert_float_equal(l.saturated, 0.98, 0);
}

static void images_that_show_nothing(void **state)
{
	struct sx_image_watch w = {0};
	struct sx_image_stats flat = sound();

	flat.flat[1] = 1; /* flat, but with the usual density of disparities: no problem */
	see(&w, flat, 50);
	assert_says(&w, "");
	flat.empty[1] = 0.995;
	see(&w, flat, 8);
	assert_string_equal(w.why,
			    "the right image shows nothing (99 % of it is flat): is the lens covered?");
	flat.empty[1] = 0.96; /* the problem stays */
	flat.empty[0] = 1;
	see(&w, flat, 8);
	assert_string_equal(w.why,
			    "both images show nothing (96 % of them is flat): are the lenses covered?");
	flat.dark[0] = 1;
	see(&w, flat, 8);
	assert_string_equal(w.why, "the left image is black");
	see(&w, sound(), 8);
	assert_says(&w, "");
}

static void cameras_that_repeat(void **state)
{
	struct sx_image_watch w = {0};
	struct sx_image_stats frozen = sound();

	see(&w, sound(), 8);
	frozen.frozen[0] = 1;
	/* a camera that delivers each image twice: old images, but not for long */
	for (int i = 0; i < 100; i++) {
		see(&w, frozen, 1);
		see(&w, sound(), 1);
		assert_says(&w, "");
	}
	see(&w, frozen, 8);
	assert_string_equal(w.why, "the left camera repeats the same image");
	frozen.frozen[1] = 1;
	see(&w, frozen, 8);
	assert_string_equal(w.why, "both cameras repeat the same images");
	see(&w, sound(), 8);
	assert_says(&w, "");
}

static void one_image_twice(void **state)
{
	struct sx_image_watch w = {0};
	struct sx_image_stats same = sound();

	same.infinity = 1;
	for (int i = 0; i < SX_ROW_ERROR_PARTS; i++)
		same.row_error[i] = 0;
	see(&w, same, 7);
	assert_says(&w, "");
	see(&w, same, 1);
	assert_says(&w, "both images are the same");
	see(&w, sound(), 8);
	assert_says(&w, "");
	same.row_error[SX_ROW_ERROR_ALL] = 0.5; /* two cameras that see far objects */
	see(&w, same, 30);
	assert_says(&w, "");
	same.row_error[SX_ROW_ERROR_ALL] = (double)NAN;
	see(&w, same, 30);
	assert_says(&w, "");
	same.twice = 1; /* both images are identical */
	see(&w, same, 8);
	assert_says(&w, "both images are the same");
}

static void rows_out_of_line(void **state)
{
	struct sx_image_watch w = {0};
	struct sx_image_stats off = sound();

	see(&w, sound(), 50);
	off.row_error[SX_ROW_ERROR_LEFT] = -1.2; /* rolled: the error of the whole image is 0 */
	off.row_error[SX_ROW_ERROR_MIDDLE] = (double)NAN;
	off.row_error[SX_ROW_ERROR_RIGHT] = 1.5;
	see(&w, off, 9);
	assert_says(&w, "");
	see(&w, off, 2);
	assert_string_equal(w.why,
			    "images are up to 1.5 rows out of line (left -1.2, middle +0.2, right +1.5, "
			    "right image lower: +): calibrate again");
	see(&w, off, 20);
	assert_string_equal(w.why,
			    "images are up to 1.5 rows out of line (left -1.2, right +1.5, right image "
			    "lower: +): calibrate again");
	off.row_error[SX_ROW_ERROR_LEFT] = off.row_error[SX_ROW_ERROR_RIGHT] = -0.8;
	see(&w, off, 30);
	assert_says(&w, "images are up to 0.8 rows");
	off.row_error[SX_ROW_ERROR_LEFT] = off.row_error[SX_ROW_ERROR_RIGHT] = -0.6;
	see(&w, off, 20);
	assert_says(&w, "");
	off.row_error[SX_ROW_ERROR_LEFT] = off.row_error[SX_ROW_ERROR_RIGHT] = -0.8;
	see(&w, off, 30);
	assert_says(&w, "");
}

/* If row errors are no longer known, the daemon reports none. */
static void rows_that_are_not_known(void **state)
{
	struct sx_image_watch w = {0};
	struct sx_image_stats off = sound();

	for (int i = 0; i < SX_ROW_ERROR_PARTS; i++)
		off.row_error[i] = 3;
	see(&w, off, 7);
	assert_says(&w, "");
	see(&w, off, 1);
	assert_says(&w, "images are up to 3.0 rows");
	for (int i = 0; i < SX_ROW_ERROR_PARTS; i++)
		off.row_error[i] = (double)NAN;
	see(&w, off, 12);
	assert_says(&w, "images are up to 3.0 rows");
	see(&w, off, 1);
	assert_says(&w, "");
}

/* A row correction clears what was reported about rows, and nothing else. */
static void rows_that_are_corrected(void **state)
{
	struct sx_image_watch w = {0};
	struct sx_image_stats low = sound(), tilted = sound();

	low.density = 0.3;
	see(&w, sound(), 300);
	see(&w, low, 12);
	sx_image_watch_forget_row_error(&w);
	see(&w, low, 400);
	assert_says(&w, "only 30 % of the pixels are measured, usually 7");
	w = (struct sx_image_watch){0};
	for (int i = 0; i < SX_ROW_ERROR_PARTS; i++)
		tilted.row_error[i] = 2;
	see(&w, tilted, 20);
	assert_says(&w, "images are up to 2.0 rows out of line");
	sx_image_watch_forget_row_error(&w);
	assert_says(&w, "");
	see(&w, sound(), 20);
	assert_says(&w, "");
}

static void density_that_falls(void **state)
{
	struct sx_image_watch w = {0};
	struct sx_image_stats low = sound();

	low.density = 0.35;
	see(&w, sound(), 35); /* too early to know the usual density */
	see(&w, low, 4);
	assert_says(&w, "");
	see(&w, sound(), 300);
	see(&w, low, 12);
	assert_says(&w, "only 35 % of the pixels are measured, usually 7");
	low.density = 0.42; /* more than half, but less than 60 % of the usual density */
	see(&w, low, 60);
	assert_says(&w, "only 42 % of the pixels are measured, usually 7");
	low.density = 0.5;
	see(&w, low, 8);
	assert_says(&w, "");
	see(&w, low, 2000);
	low.density = 0.3; /* the usual density is 50 % now */
	see(&w, low, 60);
	assert_says(&w, "");
	low.density = 0.02; /* permanent: in the end this becomes the usual density */
	see(&w, low, 12);
	assert_says(&w, "only 2 %");
	see(&w, low, 20000);
	assert_says(&w, "");
}

/* Four samples a second fill 32 bits in 34 years. */
static void samples_of_a_long_life(void **state)
{
	struct sx_image_watch w = {0};
	struct sx_image_stats p = sound();

	see(&w, p, 300);
	w.taken += UINT32_MAX - 400 - UINT32_MAX % SX_IMAGE_WATCH_SAMPLES;
	see(&w, p, 200 + SX_IMAGE_WATCH_SAMPLES);
	assert_says(&w, "");
	p.density = 0.3;
	see(&w, p, 20);
	assert_says(&w, "only 30 %");
}

static void limits(void **state)
{
	struct sx_image_watch w = {0};
	struct sx_image_limits l;
	struct sx_image_stats bad = sound();

	see(&w, sound(), 39);
	sx_image_limits(&l, &w);
	assert_true(isnan(l.density)); /* the usual density is not known yet */
	see(&w, sound(), 1);
	sx_image_limits(&l, &w);
	assert_float_equal(l.density, 0.4, 1e-9);
	assert_float_equal(l.infinity, 0.98, 0);
	assert_float_equal(l.row_error, 1, 0);
	assert_float_equal(l.dark, 0.98, 0);
	/* while the images are wrong, the limits are the values at which the problem ends */
	bad.row_error[SX_ROW_ERROR_RIGHT] = 1.5;
	bad.dark[1] = 1;
	see(&w, bad, 20);
	sx_image_limits(&l, &w);
	assert_float_equal(l.row_error, 0.7, 0);
	assert_float_equal(l.dark, 0.9, 0);
	see(&w, sound(), 20);
	sx_image_limits(&l, &w);
	assert_float_equal(l.row_error, 1, 0);
	bad = sound();
	bad.density = 0.2;
	see(&w, bad, 8);
	sx_image_limits(&l, &w);
	assert_float_equal(l.density, 0.6 * w.usual, 1e-9);
	assert_true(bad.density < l.density && l.density < 0.48);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stats_of_a_frame),
		cmocka_unit_test(single_frames_do_not_count),
		cmocka_unit_test(a_frame_is_one_sample),
		cmocka_unit_test(black_images),
		cmocka_unit_test(one_image_twice),
		cmocka_unit_test(rows_out_of_line),
		cmocka_unit_test(rows_that_are_not_known),
		cmocka_unit_test(rows_that_are_corrected),
		cmocka_unit_test(white_images),
		cmocka_unit_test(images_that_show_nothing),
		cmocka_unit_test(cameras_that_repeat),
		cmocka_unit_test(frames_that_show_something),
		cmocka_unit_test(covered_lenses),
		cmocka_unit_test(one_that_is_black_whatever_is_measured),
		cmocka_unit_test(one_image_frozen),
		cmocka_unit_test(one_image_in_both_places),
		cmocka_unit_test(maps_of_others),
		cmocka_unit_test(density_that_falls),
		cmocka_unit_test(limits),
		cmocka_unit_test(samples_of_a_long_life),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
