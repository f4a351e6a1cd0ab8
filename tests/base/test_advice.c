/*
 * Tests the advice about paths that do not exist.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/advice.h"

static char folder[64];
static struct sx_why why;

static const char *in_folder(const char *name)
{
	static char path[4][256];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[0]), "%s/%s", folder, name);
	return path[turn];
}

static int setup(void **state)
{
	snprintf(folder, sizeof(folder), "/tmp/missing-XXXXXX");
	return mkdtemp(folder) && mkdir(in_folder("there"), 0700) == 0 &&
			       symlink("/nowhere", in_folder("link")) == 0
		       ? 0
		       : -1;
}

static int teardown(void **state)
{
	return unlink(in_folder("link")) + rmdir(in_folder("there")) + rmdir(folder);
}

static void what_exists(void **state)
{
	const char *const names[] = {"there",	   "there/", "there/*.png", "there/%06d.png",
				     "th{ere|at}", "*",	     "[ab]/x",	    "th%d"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(sx_missing(in_folder(names[i]), &why));
	assert_false(sx_missing("/", &why));
	assert_false(sx_missing("*.png", &why));
	assert_false(sx_missing("image_%d.png", &why));
}

static void what_does_not(void **state)
{
	const char *const names[] = {"none", "none/", "none//", "none/*.png", "none/{left|right}/%d.png"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_true(sx_missing(in_folder(names[i]), &why));
		assert_non_null(strstr(why.text, in_folder("none")));
		assert_non_null(strstr(why.text, " does not exist, though "));
		assert_non_null(strstr(why.text, " does: correct the path"));
	}
	assert_true(sx_missing(in_folder("there/a/b/c"), &why));
	assert_non_null(strstr(why.text, "there/a/b/c does not exist, though "));
	assert_non_null(strstr(why.text, "/there does: "));
	assert_true(sx_missing("/nowhere/at/all", &why));
	assert_string_equal(
		why.text, "/nowhere/at/all does not exist, though / does: correct the path, or make or mount "
			  "what is missing");
	assert_true(sx_missing("no-such-name", &why));
	assert_non_null(strstr(why.text, "no-such-name does not exist, seen from /"));
	assert_true(sx_missing(in_folder("link"), &why));
	assert_non_null(strstr(why.text, "link is a link to /nowhere, which does not exist"));
	assert_true(sx_missing("/dev/null/x", &why));
	assert_non_null(strstr(why.text, "/dev/null/x does not exist: a part of the path is a file"));
}

static void of_a_reason(void **state)
{
	assert_string_equal(
		sx_advice_on_reason("engine too slow: 9 of the last 10 pairs dropped by overload"),
		sx_advice_too_slow());
	assert_null(sx_advice_on_reason("both images are black"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_exists), cmocka_unit_test(what_does_not),
					   cmocka_unit_test(of_a_reason)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
