/*
 * Cutting of ground at borders of its classes: the CUDA engine against stages/, byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "gpu/stixels/class_cut_cuda.h"
#include "tests/gpu/stixels/segments_case.h"
#include "tests/unmeasured_case.h"

static struct sx_class_cut table_of(int classes, double cost, struct check_rng *r)
{
	struct sx_params p = {
		.stixels = {.method = SX_STIXEL_SLANTED,
			    .width = 4,
			    .cell_height = 1 + check_below(r, 8),
			    .max_per_column = check_below(r, 2) ? SX_CLASS_CUT_ROWS : 1 + check_below(r, 30)},
		.semantics = {.classes = classes}};
	struct sx_class_cut t;

	for (int k = 0; k < classes; k++)
		p.semantics.kind[k] = check_below(r, 4) ? STIXEL_GROUND : STIXEL_OBJECT;
	p.stixels.slanted.class_cut = cost;
	sx_class_cut_set(&t, &p);
	return t;
}

/* Runs of a class with noise, so that some borders pay and others do not. */
static void draw_scores(const struct sx_image *scores, int classes, struct check_rng *r)
{
	for (int u = 0; u < scores->height; u++) {
		uint8_t *row = sx_image_row(scores, u);

		for (int v = 0, left = 0, now = 0; v < scores->width / classes; v++, left--) {
			if (left == 0) {
				now = check_below(r, classes);
				left = 1 + check_below(r, 12);
			}
			for (int k = 0; k < classes; k++)
				row[v * classes + k] = (uint8_t)check_below(
					r, k == now || check_below(r, 8) == 0 ? 256 : 60);
		}
	}
}

static void check_cut(int rows, int columns, int classes, double cost, bool scored, uint64_t seed)
{
	struct check_rng r = check_rng_seed(seed);
	const struct sx_class_cut t = table_of(classes, cost, &r);
	struct sx_cuda_scores in = {0};
	struct sx_image in_bytes = {&in, sizeof(in), 1, sizeof(in), SX_PIXEL_U8}, cells, dev_cells, scores,
			dev_scores;
	struct sx_segments want, got, dev;
	struct on_device x;

	on_device_init(&x);
	assert_int_equal(sx_segments_init(&want, columns, rows), 0);
	assert_int_equal(sx_segments_init(&got, columns, rows), 0);
	assert_int_equal(sx_image_init(&scores, SX_PIXEL_U8, rows * classes, columns), 0);
	assert_int_equal(sx_image_init(&cells, SX_PIXEL_U16, rows, columns), 0);
	draw_scores(&scores, classes, &r);
	unmeasured_case_cells(&cells, &r);
	for (int u = 0; u < columns; u++)
		want.count[u] = (uint16_t)unmeasured_case_list(sx_segments_column(&want, u), rows, &r);
	dev = segments_case_upload(&x, &want);
	dev_cells = on_device_copy(&x, &cells);
	dev_scores = on_device_copy(&x, &scores);
	in.data = scored ? dev_scores.data : NULL;
	ON_DEVICE(sx_class_cut_cuda_run(&t, on_device_copy(&x, &in_bytes).data, &dev_cells, &dev_scores, &dev,
					x.stream));
	ON_DEVICE(cudaStreamSynchronize(x.stream));
	on_device_read(&x, dev.list, got.list, (size_t)columns * (size_t)rows * sizeof(*got.list));
	on_device_read(&x, dev.count, got.count, (size_t)columns * sizeof(*got.count));
	for (int u = 0; u < columns; u++) {
		struct sx_segment *list = sx_segments_column(&want, u);

		if (scored)
			want.count[u] = (uint16_t)sx_class_cut_column(
				&t, sx_image_row(&cells, u), sx_image_row(&scores, u), list, want.count[u]);
		if (got.count[u] != want.count[u] ||
		    memcmp(sx_segments_column(&got, u), list, want.count[u] * sizeof(*list)))
			fail_msg("column %d of %d differs, %d rows, %d classes, seed %llu", u, columns, rows,
				 classes, (unsigned long long)seed);
	}
	sx_segments_finish(&want);
	sx_segments_finish(&got);
	sx_image_finish(&cells);
	sx_image_finish(&scores);
	on_device_finish(&x);
}

static void test_class_cut(void **state)
{
	static const double costs[] = {16, 4, 0.25, 0};

	for (uint64_t seed = 0; seed < 12; seed++)
		check_cut(5 + (int)seed * 17, 1 + (int)seed * 7, 1 + (int)(seed * 5) % SX_CLASSES_MAX,
			  costs[seed % 4], true, seed);
	check_cut(SX_CLASS_CUT_ROWS, 3, 19, 2, true, 100);
	check_cut(SX_CLASS_CUT_ROWS, 3, 30, 1000, true, 101); /* the widest image of scores */
	check_cut(90, 40, SX_CLASSES_MAX, 1, true, 102);
	check_cut(90, 40, 19, 4, false, 103);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_class_cut),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
