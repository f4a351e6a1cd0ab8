/*
 * Median by sorting, left-right check by hand and by definition, speckles by flood fill, confidence mask.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "stages/stereo/confidence.h"
#include "stages/stereo/left_right.h"
#include "stages/stereo/median.h"
#include "stages/stereo/speckle.h"
#include "tests/check.h"

#define NONE SX_DISPARITY_INVALID

static const int shapes[][3] = {{1, 1, 0},  {1, 6, 2},	{6, 1, 0},  {2, 2, 1},	  {3, 3, 0},
				{7, 5, 13}, {33, 4, 0}, {64, 9, 1}, {101, 31, 27}};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static uint16_t at(const struct sx_image *img, int x, int y)
{
	return ((const uint16_t *)sx_image_row(img, y))[x];
}

static void put(const struct sx_image *img, int x, int y, uint16_t v)
{
	((uint16_t *)sx_image_row(img, y))[x] = v;
}

static int by_value(const void *a, const void *b)
{
	return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

static uint16_t sorted_median(const struct sx_image *img, int x, int y, enum sx_median_border border)
{
	uint16_t v[9];

	if (x == 0 || y == 0 || x == img->width - 1 || y == img->height - 1)
		return border == SX_MEDIAN_BORDER_ZERO ? 0 : at(img, x, y);
	for (int i = 0; i < 9; i++)
		v[i] = at(img, x + i % 3 - 1, y + i / 3 - 1);
	qsort(v, 9, sizeof(v[0]), by_value);
	return v[4];
}

static void median_sorts(void **state)
{
	for (uint64_t seed = 0; seed < SHAPES * 12; seed++) {
		const int *s = shapes[seed % SHAPES];
		enum sx_median_border border =
			seed / SHAPES % 2 ? SX_MEDIAN_BORDER_ZERO : SX_MEDIAN_BORDER_COPY;
		struct check_rng r = check_rng_seed(seed);
		struct check_image in, want, got;

		check_image_init(&in, SX_PIXEL_U16, s[0], s[1], s[2]);
		check_image_init(&want, SX_PIXEL_U16, s[0], s[1], 0);
		check_image_init(&got, SX_PIXEL_U16, s[0], s[1], 1);
		if (seed / SHAPES < 6)
			check_fill_disparity(&in.image, 256, (int)(seed / SHAPES) * 20, &r);
		else
			check_fill(&in.image, (enum check_fill)(seed / SHAPES - 6), &r);
		for (int y = 0; y < s[1]; y++)
			for (int x = 0; x < s[0]; x++)
				put(&want.image, x, y, sorted_median(&in.image, x, y, border));
		sx_median(&in.image, &got.image, border);
		assert_true(check_same("median", seed, &want.image, &got.image, 0));
		assert_true(check_guards(&got, "median") && check_guards(&in, "median input"));
		check_image_finish(&in);
		check_image_finish(&want);
		check_image_finish(&got);
	}
}

/* One row through the check. */
#define ROW 8
struct row {
	uint16_t left[ROW], right[ROW], out[ROW];
};

static void check_row(struct row *row, int tolerance, bool keep, int min_disparity)
{
	struct sx_filter_params f = {.left_right = tolerance, .left_right_keep = keep};
	struct sx_image l = {row->left, ROW, 1, sizeof(row->left), SX_PIXEL_U16};
	struct sx_image r = {row->right, ROW, 1, sizeof(row->right), SX_PIXEL_U16};
	struct sx_image o = {row->out, ROW, 1, sizeof(row->out), SX_PIXEL_U16};

	sx_left_right(&l, &r, &o, &f, min_disparity);
}

static void expect(const struct row *row, const int *want)
{
	for (int i = 0; i < ROW; i++)
		assert_int_equal(row->out[i], want[i] < 0 ? (int)NONE : want[i]);
}

/* Disparity 3 everywhere, left as 3 + 5/16; the right map says 3, 4, 5, 2, 1 in columns 0..4. */
static struct row slanted(void)
{
	return (struct row){{53, 53, 53, 53, 53, 53, 53, 53}, {3, 4, 5, 2, 1, 3, 3, 3}, {0}};
}

static void left_right_by_hand(void **state)
{
	struct row row = slanted();

	check_row(&row, 1, false, 0); /* columns 0..2 look out of view */
	expect(&row, (int[]){-1, -1, -1, 53, 53, -1, 53, -1});
	check_row(&row, 1, true, 0);
	expect(&row, (int[]){53, 53, 53, 53, 53, -1, 53, -1});
	check_row(&row, 0, false, 0);
	expect(&row, (int[]){-1, -1, -1, 53, -1, -1, -1, -1});
	check_row(&row, 2, false, 0);
	expect(&row, (int[]){-1, -1, -1, 53, 53, 53, 53, 53});
	check_row(&row, -1, false, 0);
	expect(&row, (int[]){53, 53, 53, 53, 53, 53, 53, 53});
	row.left[3] = NONE;
	check_row(&row, -1, true, 0);
	expect(&row, (int[]){53, 53, 53, -1, 53, 53, 53, 53});
}

static void left_right_shifted(void **state)
{
	struct row row = slanted();

	/* +2: the partner is x - 5; columns 3 and 4 have a right(k) but no partner in view */
	check_row(&row, 2, false, 2);
	expect(&row, (int[]){-1, -1, -1, -1, -1, 85, 85, 85});
	check_row(&row, 2, true, 2);
	expect(&row, (int[]){85, 85, 85, 85, 85, 85, 85, 85});
	check_row(&row, 1, true, 2); /* libSGM's rule still compares where right(k) exists */
	expect(&row, (int[]){85, 85, 85, 85, 85, -1, 85, -1});
	/* -2: the partner is x - 1; columns 1, 2 see it, but the shifted map does not reach there */
	check_row(&row, 2, false, -2);
	expect(&row, (int[]){-1, -1, -1, 21, 21, 21, 21, 21});
	/* -5: the partner is x + 2, beyond the right border for the last two */
	check_row(&row, 2, false, -5);
	expect(&row, (int[]){-1, -1, -1, 0, 0, 0, -1, -1}); /* 53 - 80 < 0: at infinity */
	check_row(&row, 2, true, -5);
	expect(&row, (int[]){0, 0, 0, 0, 0, 0, 0, 0});
}

static void left_right_in_place(void **state)
{
	for (uint64_t seed = 0; seed < SHAPES * 8; seed++) {
		const int *s = shapes[seed % SHAPES];
		struct check_rng r = check_rng_seed(seed);
		struct check_image left, right, out;
		int minima[] = {0, 16, -16, -128};
		struct sx_filter_params f = {.left_right = (int)(seed % 4) - 1,
					     .left_right_keep = seed % 3 == 0};

		check_image_init(&left, SX_PIXEL_U16, s[0], s[1], s[2]);
		check_image_init(&right, SX_PIXEL_U16, s[0], s[1], 0);
		check_image_init(&out, SX_PIXEL_U16, s[0], s[1], 3);
		check_fill_disparity(&left.image, 32, 20, &r);
		check_fill_disparity(&right.image, 32, 0, &r);
		for (int y = 0; y < s[1]; y++) /* integers, mostly consistent */
			for (int x = 0; x < s[0]; x++)
				put(&right.image, x, y, at(&right.image, x, y) % 6);
		for (int y = 0; y < s[1]; y++)
			for (int x = 0; x < s[0]; x++)
				if (at(&left.image, x, y) != NONE)
					put(&left.image, x, y, at(&left.image, x, y) % 90);
		sx_left_right(&left.image, &right.image, &out.image, &f, minima[seed % 4]);
		sx_left_right(&left.image, &right.image, &left.image, &f, minima[seed % 4]);
		assert_true(check_same("left-right in place", seed, &out.image, &left.image, 0));
		assert_true(check_guards(&out, "left-right") && check_guards(&left, "left-right in place"));
		check_image_finish(&left);
		check_image_finish(&right);
		check_image_finish(&out);
	}
}

/* Size of the component of (x, y) by flood fill with an explicit stack; seen is cleared by the caller. */
static int flood(const struct sx_image *img, int x, int y, int range, uint8_t *seen, int *stack)
{
	static const int step[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
	int n = 0, size = 0;

	stack[n++] = y * img->width + x;
	seen[stack[0]] = 1;
	while (n) {
		int i = stack[--n], px = i % img->width, py = i / img->width;

		size++;
		for (int k = 0; k < 4; k++) {
			int qx = px + step[k][0], qy = py + step[k][1];

			if (qx < 0 || qy < 0 || qx >= img->width || qy >= img->height ||
			    seen[qy * img->width + qx] || at(img, qx, qy) == NONE ||
			    abs(at(img, qx, qy) - at(img, px, py)) > 16 * range)
				continue;
			seen[qy * img->width + qx] = 1;
			stack[n++] = qy * img->width + qx;
		}
	}
	return size;
}

static void define_speckle(const struct sx_image *in, const struct sx_image *want, int size, int range)
{
	size_t n = (size_t)in->width * (size_t)in->height;
	uint8_t *seen = malloc(n);
	int *stack = malloc(n * sizeof(*stack));

	assert_true(seen && stack);
	for (int y = 0; y < in->height; y++) {
		for (int x = 0; x < in->width; x++) {
			uint16_t v = at(in, x, y);

			for (size_t i = 0; i < n; i++)
				seen[i] = 0;
			if (v != NONE && flood(in, x, y, range, seen, stack) <= size)
				v = NONE;
			put(want, x, y, v);
		}
	}
	free(seen);
	free(stack);
}

static void check_speckle(const struct check_image *in, int size, int range, uint64_t seed)
{
	int w = in->image.width, h = in->image.height;
	struct sx_filter_params f = {.speckle_size = size, .speckle_range = range};
	struct check_image want, got;
	uint32_t *scratch = malloc(sx_speckle_scratch_bytes(w, h));
	char what[64];

	assert_non_null(scratch);
	for (size_t i = 0; i < sx_speckle_scratch_bytes(w, h) / sizeof(*scratch); i++)
		scratch[i] = (uint32_t)(i * 2654435761u); /* its content must not matter */
	snprintf(what, sizeof(what), "speckle size %d range %d", size, range);
	check_image_init(&want, SX_PIXEL_U16, w, h, 0);
	check_image_init(&got, SX_PIXEL_U16, w, h, 5);
	check_copy(&in->image, &got.image);
	define_speckle(&in->image, &want.image, size, range);
	sx_speckle(&got.image, &f, scratch);
	assert_true(check_same(what, seed, &want.image, &got.image, 0));
	assert_true(check_guards(&got, what));
	check_image_finish(&want);
	check_image_finish(&got);
	free(scratch);
}

static void speckle_floods(void **state)
{
	static const int sizes[] = {0, 1, 2, 5, 20, 100, 10000}, ranges[] = {0, 1, 4};

	for (uint64_t seed = 0; seed < SHAPES * 7; seed++) {
		const int *s = shapes[seed % SHAPES];
		struct check_rng r = check_rng_seed(seed);
		struct check_image in;

		check_image_init(&in, SX_PIXEL_U16, s[0], s[1] > 12 ? 12 : s[1], s[2]);
		check_fill_disparity(&in.image, 20, (int)(seed * 7 % 101), &r);
		check_speckle(&in, sizes[seed / SHAPES], ranges[seed % 3], seed);
		check_image_finish(&in);
	}
}

/* One path that winds through the whole image, and a comb whose teeth meet in the last row only. */
static void speckle_winds(void **state)
{
	struct check_image in;
	enum { W = 31, H = 13, SNAKE = 7 * W + 6 };

	check_image_init(&in, SX_PIXEL_U16, W, H, 0);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			put(&in.image, x, y, y % 2 == 0 || x == (y % 4 == 1 ? W - 1 : 0) ? 160 : NONE);
	check_speckle(&in, SNAKE - 1, 1, 1);
	check_speckle(&in, SNAKE, 1, 2);
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			put(&in.image, x, y, y == H - 1 || x % 2 == 0 ? (uint16_t)(160 + y) : NONE);
	check_speckle(&in, 100, 1, 3);
	check_speckle(&in, 16 * (H - 1) + W - 1, 1, 4);
	check_speckle(&in, 16 * (H - 1) + W, 1, 5);
	check_image_finish(&in);
}

static void confidence_is_masked(void **state)
{
	uint16_t d[2][3] = {{0, NONE, 5}, {NONE, 0xfffe, 0}};
	uint8_t c[2][3] = {{1, 2, 3}, {4, 255, 0}};
	struct sx_image di = {d, 3, 2, sizeof(d[0]), SX_PIXEL_U16}, ci = {c, 3, 2, sizeof(c[0]), SX_PIXEL_U8};

	sx_confidence(&di, &ci);
	assert_memory_equal(c, ((uint8_t[]){1, 0, 3, 0, 255, 0}), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(median_sorts),		cmocka_unit_test(left_right_by_hand),
		cmocka_unit_test(left_right_shifted),	cmocka_unit_test(left_right_in_place),
		cmocka_unit_test(speckle_floods),	cmocka_unit_test(speckle_winds),
		cmocka_unit_test(confidence_is_masked),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
