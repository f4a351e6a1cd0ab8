/*
 * Mask of the confidence.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "stages/stereo/confidence.h"

#define NONE SX_DISPARITY_INVALID

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
		cmocka_unit_test(confidence_is_masked),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
