/*
 * Tests names of result files: they come from the left file, and no two are equal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tools/process/pair_names.h"

static void expect(const char *const *left, const char *const *want, int count)
{
	char **names;

	assert_int_equal(sx_pair_names(&names, left, count), 0);
	for (int i = 0; i < count; i++)
		assert_string_equal(names[i], want[i]);
	sx_pair_names_free(names, count);
}

static void test_plain(void **state)
{
	const char *left[] = {"/no/where/000001_10.png", "/no/where/000002_10.png", "/no/where/a.b.pgm",
			      "/x/noext", "/x/.hidden"};
	const char *want[] = {"000001_10", "000002_10", "a.b", "noext", ".hidden"};

	expect(left, want, 5);
}

static void test_folder_in_front(void **state)
{
	const char *left[] = {"/k/000012/left.png", "/k/000031/left.png", "/k/000031/other.png"};
	const char *want[] = {"000012_left", "000031_left", "other"};

	expect(left, want, 3);
}

static void test_several_folders(void **state)
{
	const char *left[] = {"/day1/cam/left.png", "/day2/cam/left.png", "/day2/cam2/left.png"};
	const char *want[] = {"day1_cam_left", "day2_cam_left", "cam2_left"};

	expect(left, want, 3);
}

static void test_numbered_when_nothing_else_helps(void **state)
{
	const char *left[] = {"/a/left.png", "/a/left.pgm", "/a/left.png"};
	const char *want[] = {"a_left", "a_left-2", "a_left-3"};

	expect(left, want, 3);
}

/* An extended name may equal another name. All names must still differ. */
static void test_grown_name_meets_other(void **state)
{
	const char *left[] = {"/p/a/left.png", "/q/b/left.png", "/r/a_left.png"};
	char **names;

	assert_int_equal(sx_pair_names(&names, left, 3), 0);
	assert_string_not_equal(names[0], names[1]);
	assert_string_not_equal(names[0], names[2]);
	assert_string_not_equal(names[1], names[2]);
	assert_string_equal(names[1], "b_left");
	sx_pair_names_free(names, 3);
}

static void test_many(void **state)
{
	enum { COUNT = 500 };
	static char text[COUNT][32];
	const char *left[COUNT];
	char **names;

	for (int i = 0; i < COUNT; i++) {
		snprintf(text[i], sizeof(text[i]), "/s/%03d/x/left.png", i);
		left[i] = text[i];
	}
	assert_int_equal(sx_pair_names(&names, left, COUNT), 0);
	for (int i = 0; i < COUNT; i++) {
		char want[32];

		snprintf(want, sizeof(want), "%03d_x_left", i);
		assert_string_equal(names[i], want);
	}
	sx_pair_names_free(names, COUNT);
}

static void test_dots_are_resolved(void **state)
{
	const char *left[] = {"../left.png", "./left.png"};
	char **names;

	assert_int_equal(sx_pair_names(&names, left, 2), 0);
	assert_string_not_equal(names[0], names[1]);
	assert_null(strstr(names[0], ".."));
	sx_pair_names_free(names, 2);
}

static void test_none(void **state)
{
	char **names;

	assert_int_equal(sx_pair_names(&names, NULL, 0), 0);
	sx_pair_names_free(names, 0);
	sx_pair_names_free(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_folder_in_front),
		cmocka_unit_test(test_several_folders),
		cmocka_unit_test(test_numbered_when_nothing_else_helps),
		cmocka_unit_test(test_grown_name_meets_other),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_dots_are_resolved),
		cmocka_unit_test(test_none),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
