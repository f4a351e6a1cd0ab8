/*
 * Kernels that reduce maps and class scores to columns and to cells against the reference, byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cpu/kernel_sets.h"
#include "stages/stixels/reduce.h"
#include "tests/check.h"

static const char *const simds[] = {"plain", "avx2"};

/* Returns NULL if this machine does not support the kernels. */
static const struct sx_segment_kernels *kernels_of(const char *simd)
{
	const struct sx_kernels *k = sx_kernels_choose(simd);

	return k ? k->segment : NULL;
}

/* A map with its confidences, and the results of the definition and of a kernel. */
struct reduced {
	struct check_image d, c, want, want_c, got, got_c;
};

/* w, h: size of the map. cells: rows of cells in each of the columns. */
static void reduced_init(struct reduced *m, int w, int h, int cells, int columns, int invalid_percent,
			 struct check_rng *r)
{
	check_image_init(&m->d, SX_PIXEL_U16, w, h, 3);
	check_image_init(&m->c, SX_PIXEL_U8, w, h, 5);
	check_image_init(&m->want, SX_PIXEL_U16, cells, columns, 0);
	check_image_init(&m->want_c, SX_PIXEL_U8, cells, columns, 0);
	check_image_init(&m->got, SX_PIXEL_U16, cells, columns, 1);
	check_image_init(&m->got_c, SX_PIXEL_U8, cells, columns, 2);
	check_fill_disparity(&m->d.image, 4095, invalid_percent, r);
	check_fill(&m->c.image, CHECK_NEAR_255, r);
}

static void reduced_finish(struct reduced *m)
{
	check_image_finish(&m->d);
	check_image_finish(&m->c);
	check_image_finish(&m->want);
	check_image_finish(&m->want_c);
	check_image_finish(&m->got);
	check_image_finish(&m->got_c);
}

static void check_reduce(int w, int h, int width, int invalid_percent, struct check_rng *r)
{
	const int columns = sx_reduce_columns(w, width);
	struct reduced m;

	reduced_init(&m, w, h, h, columns, invalid_percent, r);
	for (size_t i = 0; i < 2 * sizeof(simds) / sizeof(*simds); i++) {
		const struct sx_segment_kernels *k = kernels_of(simds[i / 2]);
		const enum sx_reduction how = i % 2 ? SX_REDUCTION_MEAN : SX_REDUCTION_MEDIAN;

		if (!k)
			continue;
		sx_reduce(&m.d.image, &m.c.image, width, how, &m.want.image, &m.want_c.image);
		k->reduce(&m.d.image, &m.c.image, width, how, &m.got.image, &m.got_c.image);
		assert_true(check_same("reduce", (uint64_t)width, &m.want.image, &m.got.image, 0));
		assert_true(
			check_same("reduce confidence", (uint64_t)width, &m.want_c.image, &m.got_c.image, 0));
		k->reduce(&m.d.image, NULL, width, how, &m.got.image, NULL);
		assert_true(check_same("reduce alone", (uint64_t)width, &m.want.image, &m.got.image, 0));
		assert_true(check_guards(&m.got, "columns") && check_guards(&m.got_c, "confidence"));
	}
	reduced_finish(&m);
}

static void test_reduction(void **state)
{
	struct check_rng r = check_rng_seed(35);

	for (int width = 1; width <= 32; width++)
		for (int invalid = 0; invalid <= 100; invalid += 25)
			check_reduce(width * 4 + check_below(&r, width), 1 + check_below(&r, 50), width,
				     invalid, &r);
	check_reduce(1242, 33, 5, 30, &r);
}

static void check_cells(int w, int h, int width, int rows, int invalid_percent, struct check_rng *r)
{
	const int columns = w / width, cells = h / rows;
	struct reduced m;

	reduced_init(&m, w, h, cells, columns, invalid_percent, r);
	for (size_t i = 0; i < 2 * sizeof(simds) / sizeof(*simds); i++) {
		const struct sx_segment_kernels *k = kernels_of(simds[i / 2]);
		const enum sx_reduction how = i % 2 ? SX_REDUCTION_MEAN : SX_REDUCTION_MEDIAN;

		if (!k)
			continue;
		sx_reduce_cells(&m.d.image, &m.c.image, width, rows, how, &m.want.image, &m.want_c.image);
		k->reduce_cells(&m.d.image, &m.c.image, width, rows, how, &m.got.image, &m.got_c.image);
		assert_true(check_same("cells", (uint64_t)width, &m.want.image, &m.got.image, 0));
		assert_true(
			check_same("cells' confidence", (uint64_t)width, &m.want_c.image, &m.got_c.image, 0));
		k->reduce_cells(&m.d.image, NULL, width, rows, how, &m.got.image, NULL);
		assert_true(check_same("cells alone", (uint64_t)width, &m.want.image, &m.got.image, 0));
		assert_true(check_guards(&m.got, "columns") && check_guards(&m.got_c, "confidence"));
	}
	reduced_finish(&m);
}

static void test_cells(void **state)
{
	struct check_rng r = check_rng_seed(53);

	for (int i = 0; i < 64; i++) {
		const int width = i < 32 ? i + 1 : 1 + check_below(&r, 32), rows = 1 + check_below(&r, 32);

		check_cells(width * 2 + check_below(&r, width), rows * 3 + check_below(&r, rows), width, rows,
			    20 * (i % 6), &r);
	}
	check_cells(33, 1100, 3, 5, 30, &r);
	check_cells(64, 64, 32, 32, 0, &r);
}

static void test_scores(void **state)
{
	struct check_rng r = check_rng_seed(54);

	for (int i = 0; i < 80; i++) {
		const int w = i ? 32 + check_below(&r, 90) : 4096, h = 32 + check_below(&r, 90);
		const int n = 1 + check_below(&r, SX_CLASSES_MAX), width = 1 + check_below(&r, 32);
		const int rows = 1 + check_below(&r, 32), scale = i % 3 ? 1 + check_below(&r, 32) : 1;
		const int sw = (w + scale - 1) / scale, sh = (h + scale - 1) / scale, cells = h / rows;
		struct check_image planes, want, got;
		struct sx_scores s;

		check_image_init(&planes, SX_PIXEL_U8, sw, sh * n, 7);
		check_image_init(&want, SX_PIXEL_U8, cells * n, w / width, 0);
		check_image_init(&got, SX_PIXEL_U8, cells * n, w / width, 3);
		check_fill(&planes.image, i % 4 ? CHECK_NOISE : CHECK_NEAR_255, &r);
		s = (struct sx_scores){.data = planes.image.data,
				       .pitch = planes.image.pitch,
				       .plane_bytes = planes.image.pitch * (size_t)sh,
				       .classes = n,
				       .width = sw,
				       .height = sh,
				       .scale = scale};
		sx_reduce_scores(&s, w, h, width, rows, &want.image);
		for (size_t k = 0; k < sizeof(simds) / sizeof(*simds); k++) {
			const struct sx_segment_kernels *kernels = kernels_of(simds[k]);

			if (!kernels)
				continue;
			kernels->reduce_scores(&s, w, h, width, rows, cells / 2, cells, &got.image);
			kernels->reduce_scores(&s, w, h, width, rows, 0, cells / 2, &got.image);
			assert_true(check_same("scores", (uint64_t)i, &want.image, &got.image, 0));
			assert_true(check_guards(&got, "scores"));
		}
		check_image_finish(&planes);
		check_image_finish(&want);
		check_image_finish(&got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reduction),
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_scores),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
