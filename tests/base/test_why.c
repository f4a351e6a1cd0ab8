/*
 * Tests the sentence about a failure: it is replaced, added to and cut, and may be absent.
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

#include "base/why.h"

static void test_texts(void **state)
{
	struct sx_why why = {""};

	assert_true(sx_why_is_empty(&why));
	sx_why_set(&why, "%s: %d pairs", "left.png", 3);
	assert_string_equal(why.text, "left.png: 3 pairs");
	assert_int_equal(sx_why_fail(-ENOENT, &why, "%s does not exist", "/x"), -ENOENT);
	assert_string_equal(why.text, "/x does not exist");
	sx_why_add(&why, " (%s)", "seen from /");
	assert_string_equal(why.text, "/x does not exist (seen from /)");
	assert_false(sx_why_is_empty(&why));
	sx_why_clear(&why);
	assert_true(sx_why_is_empty(&why));
}

/* A text that is too long is cut, and nothing behind the buffer changes. */
static void test_long_texts(void **state)
{
	static char path[2 * SX_WHY_BYTES];
	struct {
		struct sx_why why;
		char behind[8];
	} s = {.behind = "behind"};

	memset(path, 'p', sizeof(path) - 1);
	for (size_t n = SX_WHY_BYTES - 3; n < SX_WHY_BYTES + 3; n++) {
		const size_t want = n < SX_WHY_BYTES ? n : SX_WHY_BYTES - 1;

		sx_why_set(&s.why, "%.*s", (int)n, path);
		assert_int_equal(strlen(s.why.text), want);
		sx_why_set(&s.why, "pp");
		sx_why_add(&s.why, "%.*s", (int)n - 2, path);
		assert_int_equal(strlen(s.why.text), want);
	}
	sx_why_add(&s.why, "more");
	assert_int_equal(strlen(s.why.text), SX_WHY_BYTES - 1);
	assert_string_equal(s.behind, "behind");
}

static void test_no_buffer(void **state)
{
	sx_why_set(NULL, "%d", 1);
	sx_why_add(NULL, "%d", 1);
	sx_why_clear(NULL);
	assert_int_equal(sx_why_fail(-EINVAL, NULL, "%d", 1), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_no_buffer),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
