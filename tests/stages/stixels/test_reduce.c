/*
 * Column reduction against a sort.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stages/stixels/reduce.h"
#include "tests/check.h"

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int half_up(int a, int b)
{
	return (int)((double)a / b + 0.5);
}

static void check_cell(const struct check_image *d, const struct check_image *c, int u, int y, int width,
		       enum sx_reduction how, uint16_t got, uint8_t got_confidence)
{
	const uint16_t *row = sx_image_row(&d->image, y);
	const uint8_t *weight = sx_image_row(&c->image, y);
	int values[32], n = 0, sum = 0, confidence = 0, want = SX_DISPARITY_INVALID;

	for (int x = u * width; x < (u + 1) * width; x++)
		if (row[x] != SX_DISPARITY_INVALID) {
			sum += values[n++] = row[x];
			confidence += weight[x];
		}
	qsort(values, (size_t)n, sizeof(*values), by_value);
	if (2 * n >= width)
		want = how == SX_REDUCTION_MEDIAN ? values[n / 2] : half_up(sum, n);
	if (got != want || got_confidence != half_up(confidence, width))
		fail_msg("width %d, cell %d of row %d: %d and %d, want %d and %d", width, u, y, got,
			 got_confidence, want, half_up(confidence, width));
}

static void check_size(int w, int h, int width, int invalid_percent, struct check_rng *r)
{
	const int columns = sx_reduce_columns(w, width);
	struct check_image d, c, out, out_c;

	check_image_init(&d, SX_PIXEL_U16, w, h, 3);
	check_image_init(&c, SX_PIXEL_U8, w, h, 5);
	check_image_init(&out, SX_PIXEL_U16, h, columns, 1);
	check_image_init(&out_c, SX_PIXEL_U8, h, columns, 2);
	check_fill_disparity(&d.image, 128, invalid_percent, r);
	check_fill(&c.image, CHECK_NOISE, r);
	for (enum sx_reduction how = SX_REDUCTION_MEDIAN; how <= SX_REDUCTION_MEAN; how++) {
		sx_reduce(&d.image, &c.image, width, how, &out.image, &out_c.image);
		for (int u = 0; u < columns; u++)
			for (int y = 0; y < h; y++)
				check_cell(&d, &c, u, y, width, how,
					   ((uint16_t *)sx_image_row(&out.image, u))[h - 1 - y],
					   ((uint8_t *)sx_image_row(&out_c.image, u))[h - 1 - y]);
		assert_true(check_guards(&out, "columns"));
		assert_true(check_guards(&out_c, "confidence"));
	}
	check_image_finish(&d);
	check_image_finish(&c);
	check_image_finish(&out);
	check_image_finish(&out_c);
}

static void test_every_width(void **state)
{
	struct check_rng r = check_rng_seed(2);

	for (int width = 1; width <= 32; width++)
		for (int invalid = 0; invalid <= 100; invalid += 50)
			check_size(width * 3 + check_below(&r, width), 9, width, invalid, &r);
	check_size(101, 40, 5, 30, &r);
}

static void test_known_cells(void **state)
{
	uint16_t pixels[] = {9, 3, 0xffff, 0xffff, 5, 7, 0xffff, 0xffff, 0xffff, 1, 2, 0xffff};
	uint16_t cell[3];
	struct sx_image d = {pixels, 12, 1, sizeof(pixels), SX_PIXEL_U16};
	struct sx_image out = {cell, 1, 3, sizeof(*cell), SX_PIXEL_U16};

	/* two valid values of four are enough, one is not; the upper median of two is the larger */
	sx_reduce(&d, NULL, 4, SX_REDUCTION_MEDIAN, &out, NULL);
	assert_int_equal(cell[0], 9);
	assert_int_equal(cell[1], 7);
	assert_int_equal(cell[2], 2);
	pixels[10] = 0xffff;
	sx_reduce(&d, NULL, 4, SX_REDUCTION_MEAN, &out, NULL);
	assert_int_equal(cell[0], 6);
	assert_int_equal(cell[2], SX_DISPARITY_INVALID);
}

/*
 * Checks every pixel of a cell, with any content. Cells count from the bottom; the remainder at the top and
 * right is not used.
 */
static void check_cells(int w, int h, int width, int rows, int invalid_percent, struct check_rng *r)
{
	const int columns = w / width, cells = h / rows;
	struct check_image d, c, out, out_c;
	int values[32 * 32];

	check_image_init(&d, SX_PIXEL_U16, w, h, 3);
	check_image_init(&c, SX_PIXEL_U8, w, h, 5);
	check_image_init(&out, SX_PIXEL_U16, cells, columns, 1);
	check_image_init(&out_c, SX_PIXEL_U8, cells, columns, 2);
	check_fill_disparity(&d.image, 128, invalid_percent, r);
	check_fill(&c.image, CHECK_NOISE, r);
	for (enum sx_reduction how = SX_REDUCTION_MEDIAN; how <= SX_REDUCTION_MEAN; how++) {
		sx_reduce_cells(&d.image, &c.image, width, rows, how, &out.image, &out_c.image);
		for (int i = 0; i < columns * cells; i++) {
			const int u = i / cells, v = i % cells;
			int n = 0, sum = 0, confidence = 0, want = SX_DISPARITY_INVALID;

			for (int k = 0; k < width * rows; k++) {
				const int y = h - 1 - v * rows - k / width, x = u * width + k % width;
				const int value = ((uint16_t *)sx_image_row(&d.image, y))[x];

				if (value == SX_DISPARITY_INVALID)
					continue;
				sum += values[n++] = value;
				confidence += ((uint8_t *)sx_image_row(&c.image, y))[x];
			}
			qsort(values, (size_t)n, sizeof(*values), by_value);
			if (2 * n >= width * rows)
				want = how == SX_REDUCTION_MEDIAN ? values[n / 2] : half_up(sum, n);
			assert_int_equal(((uint16_t *)sx_image_row(&out.image, u))[v], want);
			assert_int_equal(((uint8_t *)sx_image_row(&out_c.image, u))[v],
					 half_up(confidence, width * rows));
		}
		assert_true(check_guards(&out, "columns"));
		assert_true(check_guards(&out_c, "confidence"));
	}
	check_image_finish(&d);
	check_image_finish(&c);
	check_image_finish(&out);
	check_image_finish(&out_c);
}

static void test_every_cell(void **state)
{
	struct check_rng r = check_rng_seed(3);

	for (int i = 0; i < 64; i++) {
		const int width = i < 32 ? i + 1 : 1 + check_below(&r, 32), rows = 1 + check_below(&r, 32);

		check_cells(width * 3 + check_below(&r, width), rows * 2 + check_below(&r, rows), width, rows,
			    20 * (i % 6), &r);
	}
	check_cells(65, 66, 32, 32, 20, &r);
}

/* Each pixel has the score at its position in the smaller planes. */
static void test_scores(void **state)
{
	struct check_rng r = check_rng_seed(4);

	for (int i = 0; i < 60; i++) {
		const int w = 32 + check_below(&r, 70), h = 32 + check_below(&r, 70), classes = 1 + i % 5;
		const int width = 1 + check_below(&r, 32), rows = 1 + check_below(&r, 32);
		const int scale = i % 4 ? 1 + check_below(&r, 12) : 1, sw = (w + scale - 1) / scale,
			  sh = (h + scale - 1) / scale;
		struct sx_scores s = {.classes = classes, .width = sw, .height = sh, .scale = scale};
		struct check_image planes, out;

		check_image_init(&planes, SX_PIXEL_U8, sw, sh * classes + 3 * classes, 7);
		check_image_init(&out, SX_PIXEL_U8, h / rows * classes, w / width, 2);
		check_fill(&planes.image, i % 3 ? CHECK_NOISE : CHECK_NEAR_255, &r);
		s.data = planes.image.data;
		s.pitch = planes.image.pitch;
		s.plane_bytes = s.pitch * (size_t)(sh + 3);
		sx_reduce_scores(&s, w, h, width, rows, &out.image);
		for (int u = 0; u < w / width; u++)
			for (int k = 0; k < h / rows * classes; k++) {
				const int c = k % classes, v = k / classes;
				int sum = 0;

				for (int p = 0; p < width * rows; p++) {
					const int y = h - 1 - v * rows - p / width, x = u * width + p % width;

					sum += s.data[(size_t)c * s.plane_bytes +
						      (size_t)(y / scale) * s.pitch + (size_t)(x / scale)];
				}
				assert_int_equal(((uint8_t *)sx_image_row(&out.image, u))[k],
						 half_up(sum, width * rows));
			}
		assert_true(check_guards(&out, "scores"));
		check_image_finish(&planes);
		check_image_finish(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_width),
		cmocka_unit_test(test_known_cells),
		cmocka_unit_test(test_every_cell),
		cmocka_unit_test(test_scores),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
