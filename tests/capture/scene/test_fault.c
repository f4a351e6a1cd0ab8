/*
 * Tests faults in pairs of the synthetic street: their names and their effects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/scene/scene.h"
#include "capture/scene/scene_fault.h"

enum { WIDTH = 96, HEIGHT = 64 };

struct pair {
	struct sx_image left, right, scratch;
};

static void pair_init(struct pair *p)
{
	assert_int_equal(sx_image_init(&p->left, SX_PIXEL_U8, WIDTH, HEIGHT), 0);
	assert_int_equal(sx_image_init(&p->right, SX_PIXEL_U8, WIDTH, HEIGHT), 0);
	assert_int_equal(sx_image_init(&p->scratch, SX_PIXEL_U8, WIDTH, HEIGHT), 0);
}

static void pair_finish(struct pair *p)
{
	sx_image_finish(&p->left);
	sx_image_finish(&p->right);
	sx_image_finish(&p->scratch);
}

static uint8_t at(const struct sx_image *img, int x, int y)
{
	return ((const uint8_t *)sx_image_row(img, y))[x];
}

static bool same(const struct sx_image *a, const struct sx_image *b)
{
	for (int y = 0; y < HEIGHT; y++)
		if (memcmp(sx_image_row(a, y), sx_image_row(b, y), WIDTH) != 0)
			return false;
	return true;
}

static void draw(struct pair *p, const char *fault, uint32_t frame)
{
	const struct sx_scene_params params = {.seed = 4, .width = WIDTH, .height = HEIGHT};
	struct sx_scene *s;
	struct sx_fault f;
	struct sx_why why;

	assert_int_equal(sx_fault_parse(&f, fault, &why), 0);
	assert_int_equal(sx_scene_create(&s, &params, &why), 0);
	sx_fault_render(&f, s, frame, &p->left, &p->right, &p->scratch);
	sx_scene_destroy(s);
}

static void names(void **state)
{
	static const char *const wrong[] = {
		"swap",		"swapped:1",	  "rows",	   "rows:",	  "rows:x",
		"rows:65",	"rotated:10.1",	  "dark-right:-1", "blurred:0.4", "blurred:nan",
		"late-right:0", "late-right:1.5", "rows:3px",	   "none:"};
	struct sx_fault f = {SX_FAULT_SAME, 1};
	struct sx_why why;

	(void)state;
	assert_int_equal(sx_fault_parse(&f, "rows:-2.5", &why), 0);
	assert_int_equal(f.kind, SX_FAULT_ROWS);
	assert_float_equal(f.amount, -2.5, 0);
	assert_int_equal(sx_fault_parse(&f, NULL, &why), 0);
	assert_int_equal(f.kind, SX_FAULT_NONE);
	f.kind = SX_FAULT_SAME;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (sx_fault_parse(&f, wrong[i], &why) != -EINVAL)
			fail_msg("'%s' was taken", wrong[i]);
		assert_non_null(strstr(why.text, wrong[i]));
		assert_int_equal(f.kind, SX_FAULT_SAME);
	}
}

static void what_they_do(void **state)
{
	struct pair sound, p;

	(void)state;
	pair_init(&sound);
	pair_init(&p);
	draw(&sound, "none", 5);
	draw(&p, "swapped", 5);
	assert_true(same(&p.left, &sound.right) && same(&p.right, &sound.left));
	draw(&p, "same", 5);
	assert_true(same(&p.left, &sound.left) && same(&p.right, &sound.left));
	draw(&p, "rows:3", 5);
	assert_true(same(&p.left, &sound.left));
	for (int x = 0; x < WIDTH; x++)
		assert_int_equal(at(&p.right, x, 40), at(&sound.right, x, 37));
	draw(&p, "dark-right:0.5", 5);
	assert_in_range(2 * at(&p.right, 30, 30), at(&sound.right, 30, 30) - 1, at(&sound.right, 30, 30) + 1);
	draw(&p, "late-right:2", 5);
	assert_true(same(&p.left, &sound.left));
	assert_false(same(&p.right, &sound.right));
	draw(&sound, "none", 7);
	assert_true(same(&p.right, &sound.right));
	pair_finish(&p);
	pair_finish(&sound);
}

/* Turns the image clockwise: a dot right of the middle moves down. Blurring spreads the dot. */
static void a_dot_that_is_turned(void **state)
{
	struct pair p;
	int sum = 0;

	(void)state;
	pair_init(&p);
	*((uint8_t *)sx_image_row(&p.right, 32) + 84) = 255;
	sx_fault_plant(&(struct sx_fault){SX_FAULT_ROTATED, 10}, &p.left, &p.right, &p.scratch);
	for (int y = 37; y <= 40; y++)
		for (int x = 82; x <= 85; x++)
			sum += at(&p.right, x, y);
	assert_in_range(sum, 200, 310);
	assert_int_equal(at(&p.right, 84, 32), 0);
	memset(p.left.data, 0, p.left.pitch * HEIGHT);
	*((uint8_t *)sx_image_row(&p.left, 32) + 40) = 255;
	sx_fault_plant(&(struct sx_fault){SX_FAULT_BLURRED, 1}, &p.left, &p.right, &p.scratch);
	assert_in_range(at(&p.left, 40, 32), 30, 45); /* 255 / (2 pi) */
	assert_int_equal(at(&p.left, 39, 32), at(&p.left, 40, 33));
	assert_true(at(&p.left, 39, 32) < at(&p.left, 40, 32));
	pair_finish(&p);
}

/*
 * Blurs an image that is half black and half white. The result at the step is the sum of the filter's
 * weights.
 */
static void a_step_that_is_blurred(void **state)
{
	static const struct {
		double sigma, variance; /* sigma, px; variance sigma^2, px^2, in steps of 1/2 */
	} cases[] = {{0.5, 0.5}, {2, 4}, {3, 9}, {8, 64}};
	struct pair p;

	(void)state;
	pair_init(&p);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct sx_fault fault = {SX_FAULT_BLURRED, cases[i].sigma};
		double variance = 0;

		for (int y = 0; y < HEIGHT; y++) {
			memset(sx_image_row(&p.left, y), 0, WIDTH / 2);
			memset((uint8_t *)sx_image_row(&p.left, y) + WIDTH / 2, 255, WIDTH / 2);
			memset(sx_image_row(&p.right, y), 201, WIDTH);
		}
		sx_fault_plant(&fault, &p.left, &p.right, &p.scratch);
		for (int x = 1; x < WIDTH; x++) {
			const int step = at(&p.left, x, 5) - at(&p.left, x - 1, 5), from = 2 * x - WIDTH;

			assert_true(step >= 0);
			variance += step / 255.0 * from * from / 4.0;
			assert_int_equal(at(&p.left, x, HEIGHT - 1), at(&p.left, x, 5));
			assert_int_equal(at(&p.right, x, 0), 201);
		}
		assert_int_equal(at(&p.left, 0, 5), 0);
		assert_int_equal(at(&p.left, WIDTH - 1, 5), 255);
		assert_float_equal(variance, cases[i].variance, 0.03 * cases[i].variance);
	}
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(what_they_do),
		cmocka_unit_test(a_dot_that_is_turned),
		cmocka_unit_test(a_step_that_is_blurred),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
