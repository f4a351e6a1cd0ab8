/*
 * Tests the table of classes: what a user may write, and the sentence about an invalid text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/classes.h"
#include "config/config.h"
#include "stixel.h"

static void good_tables(void **state)
{
	struct sx_semantic_params p;
	struct sx_class_names names;
	struct sx_why why;

	assert_int_equal(sx_classes_parse("road:ground, car\tsky:sky  pole:object ", &p, &names, &why), 0);
	assert_int_equal(p.classes, 4);
	assert_int_equal(p.kind[0], STIXEL_GROUND);
	assert_int_equal(p.kind[1], STIXEL_OBJECT);
	assert_int_equal(p.kind[2], STIXEL_SKY);
	assert_int_equal(p.kind[3], STIXEL_OBJECT);
	assert_string_equal(names.name[0], "road");
	assert_string_equal(names.name[1], "car");
	assert_string_equal(names.name[3], "pole");
	assert_int_equal(sx_classes_parse("1234567890123456789012345678901", &p, NULL, &why), 0);
	assert_int_equal(p.classes, 1);
	assert_int_equal(p.kind[1], 0); /* no values of an earlier table remain */
}

static void refuse(const char *text, const char *want)
{
	struct sx_semantic_params p = {.classes = 77};
	struct sx_why why = {""};

	assert_int_equal(sx_classes_parse(text, &p, NULL, &why), -EINVAL);
	assert_string_equal(why.text, want);
	assert_int_equal(p.classes, 77);
}

static void bad_tables(void **state)
{
	char many[33 * 3 + 1] = "";
	struct sx_semantic_params p;

	refuse("", "no class is given");
	refuse(NULL, "no class is given");
	refuse(" , ", "no class is given");
	refuse("road car:vehicle", "entry 2 'car:vehicle': kind 'vehicle', allowed ground, object, sky");
	refuse("road:", "entry 1 'road:': kind '', allowed ground, object, sky");
	refuse("road:Ground", "entry 1 'road:Ground': kind 'Ground', allowed ground, object, sky");
	refuse("road:sky:sky", "entry 1 'road:sky:sky': kind 'sky:sky', allowed ground, object, sky");
	refuse("a b c b:sky", "entry 4 'b:sky': this class is already listed");
	refuse("a :sky",
	       "entry 2 ':sky': allowed is NAME or NAME:KIND, names of 1 to 31 of A-Z a-z 0-9 _ . -");
	refuse("a b=c", "entry 2 'b=c': allowed is NAME or NAME:KIND, names of 1 to 31 of A-Z a-z 0-9 _ . -");
	refuse("12345678901234567890123456789012", "entry 1 '12345678901234567890123456789012': allowed is "
						   "NAME or NAME:KIND, names of 1 to 31 of A-Z "
						   "a-z 0-9 _ . -");
	for (int i = 0; i < 33; i++) {
		many[3 * i] = (char)('0' + i / 10);
		many[3 * i + 1] = (char)('0' + i % 10);
		many[3 * i + 2] = ' ';
	}
	refuse(many, "entry 33 '32': at most 32 classes are allowed");
	assert_int_equal(sx_classes_parse("road car:vehicle", &p, NULL, NULL), -EINVAL);
}

static void load(const char *const *overrides, int count, struct sx_settings *s, const char *want)
{
	struct sx_errors errors = {0};
	int r = sx_settings_load(s, NULL, overrides, count, false, &errors);

	if (!want) {
		assert_int_equal(r, 0);
		assert_int_equal(errors.count, 0);
	} else {
		assert_int_equal(r, -EINVAL);
		assert_int_equal(errors.count, 1);
		assert_string_equal(errors.text[0], want);
	}
	sx_errors_finish(&errors);
}

/* The engines get classes only if their scores may come. */
static void parameters_follow_the_source(void **state)
{
	const char *const words[] = {"semantics.source=front", "semantics.classes=a b:sky"};
	struct sx_settings s;

	load(NULL, 0, &s, NULL);
	assert_int_equal(s.params.semantics.classes, 0);
	sx_settings_finish(&s);
	load(words, 1, &s, NULL); /* the table of Cityscapes */
	assert_int_equal(s.params.semantics.classes, 19);
	for (int i = 0; i < 19; i++)
		assert_int_equal(s.params.semantics.kind[i], i == 0 || i == 1 || i == 9 ? STIXEL_GROUND
							     : i == 10			? STIXEL_SKY
											: STIXEL_OBJECT);
	sx_settings_finish(&s);
	load(words, 2, &s, NULL);
	assert_int_equal(s.params.semantics.classes, 2);
	sx_settings_finish(&s);
}

static void mistakes_name_their_place(void **state)
{
	static const char *const bad[][2] = {
		{"semantics.classes=a a",
		 "-s semantics.classes=a a: [semantics] classes: entry 2 'a': this class is already listed"},
		{"semantics.classes=", "-s semantics.classes=: [semantics] classes: no class is given"},
		{"semantics.source=a/b",
		 "-s semantics.source=a/b: [semantics] source: found 'a/b', allowed 1 to 64 of "
		 "A-Z a-z 0-9 _ . - and no leading dot"},
		{"semantics.source=.a",
		 "-s semantics.source=.a: [semantics] source: found '.a', allowed 1 to 64 of A-Z a-z 0-9 _ . "
		 "- and no leading dot"},
	};
	struct sx_settings s;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		load(&bad[i][0], 1, &s, bad[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_tables),
		cmocka_unit_test(bad_tables),
		cmocka_unit_test(parameters_follow_the_source),
		cmocka_unit_test(mistakes_name_their_place),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
