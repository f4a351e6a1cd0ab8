/*
 * Tests sizes of images in memory, and copies between pitches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/image.h"

static void test_layout(void **state)
{
	static const int bad[][2] = {{0, 1}, {1, 0}, {-5, 4}, {4, -5}, {65536, 1}, {1, 65536}};
	struct sx_image image = {.width = 7};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(sx_image_layout(&image, SX_PIXEL_U8, bad[i][0], bad[i][1]), 0);
		assert_int_equal(sx_image_init(&image, SX_PIXEL_U8, bad[i][0], bad[i][1]), -EINVAL);
		assert_int_equal(image.width, 7);
	}
	assert_int_equal(sx_image_layout(&image, SX_PIXEL_U8, 65535, 1), 65536);
	assert_int_equal(sx_image_layout(&image, SX_PIXEL_U8, 1, 65535), 64 * 65535);
	assert_int_equal(sx_image_layout(&image, SX_PIXEL_U16, 33, 3), 3 * 128);
	assert_int_equal(image.pitch, 128);
	/* below the Y plane are half as many rows of pairs of U and V, rounded up */
	assert_int_equal(sx_image_layout(&image, SX_PIXEL_NV12, 64, 5), 64 * (5 + 3));
}

static void test_copy(void **state)
{
	uint8_t bytes[3 * 10];
	struct sx_image narrow = {.data = bytes, .width = 3, .height = 3, .pitch = 10, .pixel = SX_PIXEL_U16};
	struct sx_image image = {0};

	assert_int_equal(sx_image_init(&image, SX_PIXEL_U16, 3, 3), 0);
	memset(bytes, 0xee, sizeof(bytes));
	for (int i = 0; i < 6; i++)
		((uint8_t *)sx_image_row(&image, 2))[i] = (uint8_t)(i + 1);
	sx_image_copy(&narrow, &image);
	for (int y = 0; y < 3; y++)
		for (int i = 0; i < 10; i++)
			assert_int_equal(bytes[10 * y + i], i >= 6 ? 0xee : y == 2 ? i + 1 : 0);
	sx_image_finish(&image);
	assert_null(image.data);
	sx_image_finish(&image);
}

static void test_names(void **state)
{
	assert_string_equal(sx_pixel_name(SX_PIXEL_NV12), "nv12");
	assert_int_equal(sx_pixel_bytes(SX_PIXEL_RGB24), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
