/*
 * Tests which parts of a text are printed, and which would control a terminal.
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

#include "base/printable.h"

static void test_seen(void **state)
{
	static const char *const texts[] = {"", "gain=3, hue=1", "/maps/j\u00fcrgen/\u5de6\u53f3.yml",
					    "e\u0301 \u0939\u093f \U0001f697 \u00a1", "\u05d0\u05d1 \u0627"};
	char copy[64];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(sx_unprintable(texts[i]), 0);
		snprintf(copy, sizeof(copy), "%s", texts[i]);
		sx_make_printable(copy);
		assert_string_equal(copy, texts[i]);
	}
}

static void test_unseen(void **state)
{
	static const struct {
		const char *text;
		uint32_t code;
	} cases[] = {
		{"a\tb", 0x9},	      {"a\033b", 0x1b},		 {"a\177b", 0x7f},
		{"a\302\200b", 0x80}, {"a\302\233b", 0x9b},	 {"a\302\237b", 0x9f},
		{"a\u00a0b", 0xa0},   {"a\u00adb", 0xad},	 {"a\u061cb", 0x61c},
		{"a\u200bb", 0x200b}, {"a\u200eb", 0x200e},	 {"a\u2028b", 0x2028},
		{"a\u202eb", 0x202e}, {"a\u2066b", 0x2066},	 {"a\u2069b", 0x2069},
		{"a\ufeffb", 0xfeff}, {"a\ufff9b", 0xfff9},	 {"a\ue000b", 0xe000},
		{"a\uffffb", 0xffff}, {"a\U000e0041b", 0xe0041}, {"a\U0010fffeb", 0x10fffe},
	};
	char copy[16];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(sx_utf8_valid(cases[i].text, strlen(cases[i].text)));
		assert_int_equal(sx_unprintable(cases[i].text), cases[i].code);
		snprintf(copy, sizeof(copy), "%s", cases[i].text);
		sx_make_printable(copy);
		assert_string_equal(copy, "a?b");
	}
}

/* Texts are cut to the buffer size, which may be within a character. */
static void test_cut(void **state)
{
	char cut[] = "sch\303\266n \342\202", foreign[] = "sch\366n \233m",
	     both[] = "\303\266\377\033\342\202";

	sx_make_printable(cut);
	assert_string_equal(cut, "sch\303\266n ");
	sx_make_printable(foreign);
	assert_string_equal(foreign, "sch?n ?m");
	sx_make_printable(both);
	assert_string_equal(both, "??????");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seen),
		cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_cut),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
