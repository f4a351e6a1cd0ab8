/*
 * Cells of gpu/ against the reference: disparity, confidence and class scores.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gpu/stixels/reduce_cells_cuda.h"
#include "stages/stixels/reduce.h"
#include "tests/check.h"
#include "tests/gpu/on_device.h"

struct shape {
	int width, height, width_px, cell_height;
};

static void check_cells(const struct shape *s, enum sx_reduction how, bool with_confidence,
			struct check_rng *r)
{
	const int columns = s->width / s->width_px, rows = s->height / s->cell_height;
	struct sx_image d, c, want, want_c, dev_d, dev_c, got, got_c;
	struct on_device x;
	char what[80];

	on_device_init(&x);
	assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, s->width, s->height), 0);
	assert_int_equal(sx_image_init(&c, SX_PIXEL_U8, s->width, s->height), 0);
	assert_int_equal(sx_image_init(&want, SX_PIXEL_U16, rows, columns), 0);
	assert_int_equal(sx_image_init(&want_c, SX_PIXEL_U8, rows, columns), 0);
	check_fill_disparity(&d, 128, check_below(r, 80), r);
	if (check_below(r, 2))
		check_fill(&d, CHECK_NOISE, r); /* values far outside the range */
	check_fill(&c, CHECK_NOISE, r);
	dev_d = on_device_copy(&x, &d);
	dev_c = on_device_copy(&x, &c);
	got = on_device_copy(&x, &want);
	got_c = on_device_copy(&x, &want_c);
	sx_reduce_cells(&d, with_confidence ? &c : NULL, s->width_px, s->cell_height, how, &want, &want_c);
	ON_DEVICE(sx_reduce_cells_cuda_run(&dev_d, with_confidence ? &dev_c : NULL, s->width_px,
					   s->cell_height, how, &got, &got_c, x.stream));
	snprintf(what, sizeof(what), "cells %dx%d of %dx%d, %s", s->width_px, s->cell_height, s->width,
		 s->height, how == SX_REDUCTION_MEAN ? "mean" : "median");
	on_device_compare(&x, what, 0, &want, &got, 0);
	on_device_compare(&x, what, 1, &want_c, &got_c, 0);
	sx_image_finish(&d);
	sx_image_finish(&c);
	sx_image_finish(&want);
	sx_image_finish(&want_c);
	on_device_finish(&x);
}

static void test_cells(void **state)
{
	static const struct shape shapes[] = {
		{64, 64, 4, 4},	 {131, 67, 4, 4},  {140, 75, 8, 8}, {33, 33, 1, 2},   {70, 41, 3, 5},
		{65, 50, 5, 6},	 {100, 40, 8, 4},  {99, 70, 9, 8},  {97, 65, 32, 32}, {64, 64, 31, 3},
		{40, 99, 2, 32}, {66, 64, 16, 16}, {257, 32, 4, 1}, {50, 33, 17, 1},  {32, 32, 32, 32},
	};
	struct check_rng r = check_rng_seed(1);

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		check_cells(&shapes[i], SX_REDUCTION_MEDIAN, i % 3 != 1, &r);
		check_cells(&shapes[i], SX_REDUCTION_MEAN, i % 3 != 2, &r);
	}
}

/* gap: bytes between rows. shift: offset of the first plane. Together they give any alignment. */
static void check_scores(const struct shape *s, int scale, int classes, int gap, int shift,
			 struct check_rng *r)
{
	const int columns = s->width / s->width_px, rows = s->height / s->cell_height;
	struct sx_scores scores = {.classes = classes, .scale = scale};
	struct sx_cuda_scores in = {.scale = scale};
	struct sx_image want, got;
	struct on_device x;
	char what[80];
	uint8_t *memory;
	size_t bytes;

	on_device_init(&x);
	scores.width = in.width = (s->width + scale - 1) / scale;
	scores.height = in.height = (s->height + scale - 1) / scale;
	scores.pitch = in.pitch = (size_t)(scores.width + gap);
	scores.plane_bytes = in.plane_bytes = scores.pitch * (size_t)scores.height;
	bytes = scores.plane_bytes * (size_t)classes + 8;
	memory = calloc(bytes, 1);
	assert_non_null(memory);
	for (size_t i = 0; i < bytes; i++)
		memory[i] = (uint8_t)(check_below(r, 3) ? check_random(r) : check_below(r, 2) ? 255 : 0);
	scores.data = memory + shift;
	in.data = (const uint8_t *)sx_cuda_upload(&x.memory, memory, bytes) + shift;
	assert_int_equal(sx_image_init(&want, SX_PIXEL_U8, rows * classes, columns), 0);
	got = on_device_copy(&x, &want);
	sx_reduce_scores(&scores, s->width, s->height, s->width_px, s->cell_height, &want);
	ON_DEVICE(sx_reduce_cells_cuda_scores(sx_cuda_upload(&x.memory, &in, sizeof(in)), s->width, s->height,
					      s->width_px, s->cell_height, classes, &got, x.stream));
	snprintf(what, sizeof(what), "%d scores, %dx%d of %dx%d, scale %d, gap %d, shift %d", classes,
		 s->width_px, s->cell_height, s->width, s->height, scale, gap, shift);
	on_device_compare(&x, what, 0, &want, &got, 0);
	/* no scores: nothing is written */
	in.data = NULL;
	ON_DEVICE(sx_reduce_cells_cuda_scores(sx_cuda_upload(&x.memory, &in, sizeof(in)), s->width, s->height,
					      s->width_px, s->cell_height, classes, &got, x.stream));
	on_device_compare(&x, "none", 0, &want, &got, 0);
	sx_image_finish(&want);
	free(memory);
	on_device_finish(&x);
}

static void test_scores(void **state)
{
	static const struct shape shapes[] = {{128, 64, 4, 4},	{144, 80, 8, 8}, {70, 43, 4, 4},
					      {71, 45, 8, 8},	{96, 50, 12, 5}, {67, 33, 5, 1},
					      {80, 64, 32, 32}, {33, 35, 7, 3}};
	static const int scales[] = {1, 1, 2, 3, 4, 8, 32}, classes[] = {1, 3, 19, 32};
	struct check_rng r = check_rng_seed(2);
	int n = 0;

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		for (size_t k = 0; k < sizeof(scales) / sizeof(*scales); k++, n++)
			check_scores(&shapes[i], scales[k], classes[(n + k) % 4],
				     n % 3 ? 0 : check_below(&r, 9), n % 4 == 3 ? check_below(&r, 8) : 0, &r);
}

static void test_refuses(void **state)
{
	struct sx_image d = {.width = 64, .height = 64};
	struct on_device x;

	on_device_init(&x);
	assert_int_equal(sx_reduce_cells_cuda_run(&d, NULL, 33, 4, SX_REDUCTION_MEAN, NULL, NULL, x.stream),
			 cudaErrorInvalidValue);
	assert_int_equal(sx_reduce_cells_cuda_run(&d, NULL, 4, 33, SX_REDUCTION_MEAN, NULL, NULL, x.stream),
			 cudaErrorInvalidValue);
	assert_int_equal(sx_reduce_cells_cuda_scores(NULL, 64, 64, 4, 4, 33, NULL, x.stream),
			 cudaErrorInvalidValue);
	on_device_finish(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_scores),
		cmocka_unit_test(test_refuses),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
