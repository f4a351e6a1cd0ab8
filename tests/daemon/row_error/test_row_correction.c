/*
 * Tests row corrections of rigs: image rows move by the correction, and the identity rig of a rectified pair
 * moves no pixel.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/row_error/row_correction.h"
#include "stages/rectify/rectify.h"
#include "stages/rectify/rig.h"
#include "tests/check.h"
#include "tests/stages/rectify/rig_case.h"

static void check_near(double want, double got, double tolerance, const char *what)
{
	if (!(fabs(want - got) <= tolerance))
		fail_msg("%s: want %.6g, got %.6g", what, want, got);
}

/* Checks where the right image now shows the point that was in the middle row at column x. */
static void check_column(const struct sx_rig *before, const struct sx_rig *after,
			 const struct sx_row_correction *c, double x)
{
	const double rows = c->shift_px + tan(c->rotation_deg * M_PI / 180) * (x - (before->width - 1) / 2.0);
	double raw_x, raw_y, u, v;

	assert_true(sx_rig_project(before, 1, x, before->cy, &raw_x, &raw_y));
	assert_true(sx_rig_unproject(after, 1, raw_x, raw_y, &u, &v));
	check_near(before->cy - rows, v, 0.01, "row");
	check_near(x, u, 0.03, "column");
}

static void rows_move(void **state)
{
	static const struct sx_row_correction corrections[] = {{1.5, 0}, {-3, 0}, {0, 0.5}, {0.7, -0.3}};
	struct check_rng random = {7};

	for (int i = 0; i < 12; i++) {
		const struct sx_rig rig = rig_case_of((enum sx_lens)(i % 3), &random);
		struct sx_rig corrected = rig;
		struct sx_why why;

		sx_rig_correct_rows(&corrected, &corrections[i / 3]);
		assert_int_equal(sx_rig_check(&corrected, &why), 0);
		for (int x = 100; x <= 500; x += 50)
			check_column(&rig, &corrected, &corrections[i / 3], x);
		/* everything but the right camera's rotation is unchanged */
		memcpy(corrected.rotation[1], rig.rotation[1], sizeof(rig.rotation[1]));
		assert_memory_equal(&corrected, &rig, sizeof(rig));
	}
}

/* Applying two corrections in sequence gives the same rig as applying their sum. */
static void corrections_add_up(void **state)
{
	const struct sx_row_correction one = {1, 0.2}, two = {0.5, -0.1}, both = {1.5, 0.1};
	struct sx_rig twice = rig_case_identity(640, 480), once = twice;

	sx_rig_correct_rows(&twice, &one);
	sx_rig_correct_rows(&twice, &two);
	sx_rig_correct_rows(&once, &both);
	for (int i = 0; i < 9; i++)
		check_near(once.rotation[1][i], twice.rotation[1][i], 1e-5, "rotation");
}

/* Each pixel maps to itself, except in the last column and row: there it maps 1/256 px before itself. */
static void a_rectified_pair(void **state)
{
	const int width = 75, height = 41;
	const struct sx_rig rig = sx_rig_of_rectified(width, height, 61.3, 60.9, 37.7, 19.2, 0.1);
	const int radius[2] = {4, 3};
	struct sx_why why;

	assert_int_equal(sx_rig_check(&rig, &why), 0);
	assert_true(sx_rig_is_rectified(&rig));
	for (int side = 0; side < 2; side++) {
		struct sx_rectify_map map;

		assert_int_equal(sx_rectify_map_init(&map, &rig, side, radius), 0);
		assert_true(sx_views_are_whole(map.view, map.width, map.height));
		for (int y = 0; y < height; y++)
			for (int x = 0; x < width; x++) {
				const size_t i = (size_t)y * (size_t)map.stride + (size_t)x;
				const unsigned column = (map.place[i] & 0xffff) * 256 + (map.part[i] & 255);
				const unsigned row = (map.place[i] >> 16) * 256 + (map.part[i] >> 8);

				assert_int_equal(column, 256 * x - (x == width - 1));
				assert_int_equal(row, 256 * y - (y == height - 1));
			}
		sx_rectify_map_finish(&map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_move),
		cmocka_unit_test(corrections_add_up),
		cmocka_unit_test(a_rectified_pair),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
