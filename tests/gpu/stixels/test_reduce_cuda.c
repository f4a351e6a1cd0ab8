/*
 * Columns of rows one pixel high: the reduction of the CUDA engine against stages/, byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "gpu/stages_cuda.h"
#include "stages/stixels/reduce.h"
#include "tests/check.h"
#include "tests/gpu/on_device.h"

static void check_reduce(int w, int h, int width_px, enum sx_reduction how, bool with_confidence,
			 struct check_rng *r)
{
	const int columns = sx_reduce_columns(w, width_px);
	struct sx_image d, c, want, want_c, got, got_c, dev_d, dev_c, dev, dev_conf;
	struct on_device x;
	char what[80];

	on_device_init(&x);
	assert_int_equal(sx_image_init(&d, SX_PIXEL_U16, w, h), 0);
	assert_int_equal(sx_image_init(&c, SX_PIXEL_U8, w, h), 0);
	assert_int_equal(sx_image_init(&want, SX_PIXEL_U16, h, columns), 0);
	assert_int_equal(sx_image_init(&want_c, SX_PIXEL_U8, h, columns), 0);
	assert_int_equal(sx_image_init(&got, SX_PIXEL_U16, h, columns), 0);
	assert_int_equal(sx_image_init(&got_c, SX_PIXEL_U8, h, columns), 0);
	check_fill_disparity(&d, 128, check_below(r, 80), r);
	if (check_below(r, 2))
		check_fill(&d, CHECK_NOISE, r); /* values far outside the range */
	check_fill(&c, CHECK_NOISE, r);
	dev_d = on_device_copy(&x, &d);
	dev_c = on_device_copy(&x, &c);
	dev = on_device_image(&x, SX_PIXEL_U16, h, columns);
	dev_conf = on_device_image(&x, SX_PIXEL_U8, h, columns);

	sx_reduce(&d, with_confidence ? &c : NULL, width_px, how, &want, &want_c);
	ON_DEVICE(sx_reduce_cuda_run(&dev_d, with_confidence ? &dev_c : NULL, width_px, how, &dev, &dev_conf,
				     x.stream));
	on_device_fetch(&x, &dev, &got);
	on_device_fetch(&x, &dev_conf, &got_c);
	snprintf(what, sizeof(what), "reduce %dx%d by %d", w, h, width_px);
	assert_true(check_same(what, 0, &want, &got, 0));
	assert_true(check_same(what, 0, &want_c, &got_c, 0));
	sx_image_finish(&d);
	sx_image_finish(&c);
	sx_image_finish(&want);
	sx_image_finish(&want_c);
	sx_image_finish(&got);
	sx_image_finish(&got_c);
	on_device_finish(&x);
}

static void test_reduce(void **state)
{
	static const int sizes[][2] = {{32, 32}, {33, 1}, {65, 31}, {130, 33}, {257, 64}, {321, 97}};
	struct check_rng r = check_rng_seed(1);

	for (int width = 1; width <= 32; width++) {
		const int *size = sizes[width % 6];

		check_reduce(size[0], size[1], width, SX_REDUCTION_MEDIAN, true, &r);
		check_reduce(size[0] + 1, size[1], width, SX_REDUCTION_MEAN, width % 3, &r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reduce),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
