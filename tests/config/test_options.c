/*
 * Tests the option table: each row at its default, at its limits and beyond them, and written to a file and
 * read back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>

#include "config/text/number.h"
#include "stages/context.h"
#include "tests/config/fixture.h"

static struct sx_settings defaults(void)
{
	struct sx_settings s;

	assert_int_equal(sx_settings_init(&s), 0);
	return s;
}

static bool is_number(const struct sx_option *o)
{
	return o->kind == SX_OPTION_INT || o->kind == SX_OPTION_UNSIGNED || o->kind == SX_OPTION_REAL;
}

static void accept(const struct sx_option *o, const char *text, const char *back)
{
	struct sx_settings s = defaults();
	char written[SX_OPTION_TEXT_BYTES];
	struct sx_why why = {""};

	if (sx_option_read(o, &s, text, &why) < 0)
		fail_msg("%s.%s = %s refused: %s", o->section, o->key, text, why.text);
	sx_option_write(o, &s, written);
	if (strcmp(written, back))
		fail_msg("%s.%s = %s came back as %s", o->section, o->key, text, written);
	sx_settings_finish(&s);
}

/* Checks that a value is refused, with the value and the allowed values, and that the field is unchanged. */
static void refuse(const struct sx_option *o, const char *text)
{
	struct sx_settings s = defaults(), untouched = defaults();
	char found[128];
	struct sx_why why = {""};

	if (sx_option_read(o, &s, text, &why) != -EINVAL)
		fail_msg("%s.%s = %s accepted", o->section, o->key, text);
	snprintf(found, sizeof(found), "found '%.80s", text);
	if (strncmp(why.text, found, strlen(found)) || !strstr(why.text, ", allowed "))
		fail_msg("%s.%s = %s: %s", o->section, o->key, text, why.text);
	assert_true(sx_option_equal(o, &s, &untouched));
	sx_settings_finish(&s);
	sx_settings_finish(&untouched);
}

static void names_are_unique_and_in_order(void **state)
{
	int section = 0;

	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];

		while (section < sx_section_count && strcmp(sx_sections[section].name, o->section))
			section++;
		if (section == sx_section_count)
			fail_msg("%s.%s is not in a section, or not beside its others", o->section, o->key);
		assert_ptr_equal(sx_option_find(o->section, o->key), o);
		assert_true(strlen(o->help) > 0 && strlen(o->help) <= 110);
		for (int j = 0; j < i; j++)
			assert_true(sx_options[j].offset != o->offset);
	}
	assert_null(sx_option_find("stereo", "width"));
	assert_null(sx_option_find("stereo", ""));
}

static void defaults_come_back_as_written(void **state)
{
	for (int i = 0; i < sx_option_count; i++)
		if (sx_options[i].initial)
			accept(&sx_options[i], sx_options[i].initial, sx_options[i].initial);
		else
			assert_string_equal(sx_options[i].key,
					    "kind"); /* a vehicle must not run on a synthetic street */
}

/* Engines compute with the default of the row, except for keys that the row leaves open. */
static void engines_replace_only_open_defaults(void **state)
{
	static const char *const open[] = {"search",	  "p1",	    "p2",	   "p1_vertical",
					   "p2_vertical", "fastdt", "sigma_space", "sigma_range"};
	char text[SX_OPTION_TEXT_BYTES];
	struct sx_settings s;
	size_t replaced = 0;

	assert_int_equal(sx_settings_init(&s), 0);
	sx_context_resolve(&s.params);
	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];

		sx_option_write(o, &s, text);
		if (!o->initial || !strcmp(text, o->initial))
			continue;
		if (replaced == sizeof(open) / sizeof(*open))
			fail_msg("engines make %s of the default %s of %s.%s", text, o->initial, o->section,
				 o->key);
		assert_string_equal(o->key, open[replaced++]);
		assert_true(!strcmp(o->initial, "0") || !strcmp(o->initial, "auto"));
	}
	assert_int_equal(replaced, sizeof(open) / sizeof(*open));
	sx_settings_finish(&s);
}

static void limits_are_in_and_beyond_is_out(void **state)
{
	char text[64];

	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];

		if (!is_number(o))
			continue;
		assert_true(o->min < o->max);
		for (int end = 0; end < 2; end++) {
			double limit = end ? o->max : o->min;
			double beyond = o->kind != SX_OPTION_REAL
						? limit + (end ? 1 : -1)
						: nextafter(limit, end ? INFINITY : -INFINITY);

			sx_number_print(limit, text, sizeof(text));
			accept(o, text, text);
			sx_number_print(beyond, text, sizeof(text));
			refuse(o, text);
		}
		refuse(o, "99999999999999999999999");
		refuse(o, "-99999999999999999999999");
	}
}

static void numbers_are_read_strictly(void **state)
{
	static const char *const bad[] = {"",	  "x",	   "1x",  "0x10",  "nan", "inf",
					  "-inf", "1e999", "1,5", "1 2",   "--1", "+",
					  ".",	  "e5",	   "1e",  "1.2.3", "1 #", "1 cubit"};

	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];

		if (!is_number(o))
			continue;
		for (size_t b = 0; b < sizeof(bad) / sizeof(bad[0]); b++)
			refuse(o, bad[b]);
		if (o->kind != SX_OPTION_REAL)
			refuse(o, "64.5");
	}
}

static void units_may_follow(void **state)
{
	char with[96], without[64];

	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];

		if (!is_number(o))
			continue;
		sx_number_print(o->max, without, sizeof(without));
		snprintf(with, sizeof(with), "%s %s", without, o->unit ? o->unit : "px");
		if (!o->unit) {
			refuse(o, with);
			continue;
		}
		accept(o, with, without);
		snprintf(with, sizeof(with), "%s%s", without, o->unit);
		accept(o, with, without);
		snprintf(with, sizeof(with), "%s%s", without, strcmp(o->unit, "m") ? "m" : "mm");
		refuse(o, with);
	}
}

static void rules_of_whole_numbers(void **state)
{
	const struct sx_option *paths = sx_option_find("stereo", "paths"),
			       *disparities = sx_option_find("stereo", "disparities"),
			       *slots = sx_option_find("output", "slots");

	accept(paths, "4", "4");
	refuse(paths, "3");
	refuse(paths, "6");
	accept(disparities, "96", "96");
	refuse(disparities, "100");
	accept(slots, "512", "512");
	refuse(slots, "12");
}

static void words_are_read_exactly(void **state)
{
	char text[64];

	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];

		if (o->kind == SX_OPTION_BOOL) {
			accept(o, "true", "yes");
			accept(o, "Off", "no");
			refuse(o, "2");
			refuse(o, "");
		}
		if (o->kind != SX_OPTION_CHOICE)
			continue;
		for (int w = 0; o->words[w]; w++) {
			accept(o, o->words[w], o->words[w]);
			snprintf(text, sizeof(text), "%sx", o->words[w]);
			refuse(o, text);
		}
		refuse(o, "");
	}
}

static void sizes(void **state)
{
	static const char *const bad[] = {"1280",      "1280*720", "x720",	"1280x",   "1280x720x3",
					  "31x32",     "32x31",	   "4097x32",	"32x2161", "-64x64",
					  "640x480 m", "AUTO",	   "1280 x 720"};
	const struct sx_option *o = sx_option_find("source", "size");
	struct sx_settings s = defaults();
	struct sx_why why;

	for (size_t b = 0; b < sizeof(bad) / sizeof(bad[0]); b++)
		refuse(o, bad[b]);
	accept(o, "32x32", "32x32");
	accept(o, "4096x2160", "4096x2160");
	accept(o, "640x480 px", "640x480");
	assert_int_equal(sx_option_read(o, &s, "1280x720", &why), 0);
	assert_int_equal(s.source.width, 1280);
	assert_int_equal(s.source.height, 720);
	sx_settings_finish(&s);
}

static void texts_that_a_file_cannot_hold(void **state)
{
	const struct sx_option *o = sx_option_find("source", "path");
	char big[SX_OPTION_TEXT_BYTES + 1];

	memset(big, 'x', sizeof(big));
	big[SX_OPTION_TEXT_BYTES] = 0;
	refuse(o, big);
	big[SX_OPTION_TEXT_BYTES - 1] = 0;
	accept(o, big, big);
	accept(o, "/a b/\xc3\xa9;c#d", "/a b/\xc3\xa9;c#d");
	refuse(o, " a");
	refuse(o, "a ");
	refuse(o, "a ;b");
	refuse(o, ";b");
	refuse(o, "a\nb");
	refuse(o, "a\xff");
	refuse(o, "\xed\xa0\x80"); /* a UTF-8 surrogate */
	refuse(o, "\xc0\xaf");	   /* an overlong encoding of '/' */
}

static uint64_t random_state = 88172645463325252u;

static uint64_t random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Returns limits between which the checks of the whole settings accept any value. */
static void random_limits(const struct sx_option *o, double *min, double *max)
{
	*min = o->min;
	*max = o->max;
	if (!strncmp(o->key, "p1", 2))
		*max = 80;
	if (!strcmp(o->key, "epsilon_px"))
		*max = 16;
	if (!strcmp(o->key, "slanted_offset_px"))
		*min = 4; /* 1/16 of the largest sigma */
	if (!strcmp(o->key, "step_m"))
		*max = 1.9; /* below 2 m, the lowest automatic height of the vehicle */
	if (!strcmp(o->section, "vehicle") && !strcmp(o->key, "height_m"))
		*min = 2;
}

/* Writes a value of this row that the checks of the whole settings accept. */
static void random_value(const struct sx_option *o, char *text, size_t bytes)
{
	double unit = (double)(random_u64() >> 11) * 0x1p-53, min, max;
	int words = 0;

	random_limits(o, &min, &max);
	if (o->initial &&
	    (!strncmp(o->key, "p_", 2) || strstr(o->key, "_height_m") || !strcmp(o->key, "max_pitch_deg") ||
	     !strcmp(o->key, "levels") || !strcmp(o->key, "calibration") ||
	     !strncmp(o->key, "rectify", 7))) { /* these keys need a calibration: test_raw_cameras.c */
		snprintf(text, bytes, "%s", o->initial);
		return;
	}
	switch (o->kind) {
	case SX_OPTION_BOOL:
		snprintf(text, bytes, "%s", random_u64() & 1 ? "yes" : "no");
		break;
	case SX_OPTION_REAL:
		sx_number_print(min + unit * (max - min), text, bytes);
		break;
	case SX_OPTION_TEXT:
		if (!strcmp(o->section, SX_SECTION_PRESET))
			snprintf(text, bytes, "%s", random_u64() & 1 ? "robot" : "");
		else if (!strcmp(o->key, "classes"))
			snprintf(text, bytes, "%s", random_u64() & 1 ? "a:ground b c:sky" : o->initial);
		else if (!strcmp(o->section, "semantics") || !strcmp(o->section, "external"))
			snprintf(text, bytes, "%s", random_u64() & 1 ? "front" : "");
		else
			snprintf(text, bytes, "%s", random_u64() & 1 ? "/dev/a b#c" : "");
		break;
	case SX_OPTION_CHOICE:
		while (o->words[words])
			words++;
		snprintf(text, bytes, "%s", o->words[random_u64() % (unsigned)words]);
		break;
	case SX_OPTION_SIZE:
		snprintf(text, bytes, "%dx%d", 32 + (int)(random_u64() % 4064),
			 32 + (int)(random_u64() % 2128));
		break;
	default:
		if (!strcmp(o->key, "p2") || !strcmp(o->key, "p2_vertical"))
			snprintf(text, bytes, "%d", 80 + (int)(random_u64() % 30));
		else if (o->rule == SX_RULE_POWER_OF_TWO)
			snprintf(text, bytes, "%d", 2 << random_u64() % 3);
		else if (o->rule == SX_RULE_ODD)
			snprintf(text, bytes, "%d", 3 + 2 * (int)(random_u64() % 7));
		else if (o->rule == SX_RULE_MULTIPLE_OF_32)
			snprintf(text, bytes, "%d", 32 * (1 + (int)(random_u64() % 8)));
		else
			snprintf(text, bytes, "%.0f", floor(o->min + unit * (max - o->min)));
	}
}

static char *printed(const struct sx_settings *s)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	sx_config_print(s, NULL, false, f);
	assert_int_equal(fclose(f), 0);
	return text;
}

static size_t field_bytes(enum sx_option_kind kind)
{
	static const size_t bytes[] = {
		[SX_OPTION_BOOL] = sizeof(bool),	 [SX_OPTION_INT] = sizeof(int),
		[SX_OPTION_UNSIGNED] = sizeof(unsigned), [SX_OPTION_REAL] = sizeof(double),
		[SX_OPTION_CHOICE] = sizeof(int),	 [SX_OPTION_SIZE] = 2 * sizeof(int),
	};

	return bytes[kind];
}

/* Compares settings in memory, instead of their texts, which the table itself writes. */
static void assert_same_settings(const struct sx_settings *a, const struct sx_settings *b)
{
	for (int i = 0; i < sx_option_count; i++) {
		const struct sx_option *o = &sx_options[i];
		const char *x = (const char *)a + o->offset, *y = (const char *)b + o->offset;

		if (o->kind != SX_OPTION_TEXT) {
			if (memcmp(x, y, field_bytes(o->kind)))
				fail_msg("%s.%s differs", o->section, o->key);
			continue;
		}
		x = *(const char *const *)x;
		y = *(const char *const *)y;
		assert_true((x == NULL) == (y == NULL));
		if (x)
			assert_string_equal(x, y);
	}
}

/* Makes search and the number of disparities fit the other settings. */
static void search_what_is_possible(struct sx_stereo_params *p)
{
	if (p->aggregation == SX_AGGREGATION_FASTDT)
		p->search = SX_SEARCH_FULL;
	while (p->disparities > sx_disparities_most(p) || sx_disparity_range(p) > SX_RANGE_MAX)
		p->disparities -= 32;
}

static void print_and_load_gives_the_same(void **state)
{
	char value[SX_OPTION_TEXT_BYTES];
	struct sx_why why;

	for (int round = 0; round < 200; round++) {
		struct sx_settings s = defaults(), *loaded;
		char *text;

		s.source.kind = SX_SOURCE_SYNTHETIC;
		s.source_given = true;
		for (int i = 0; round && i < sx_option_count; i++) {
			random_value(&sx_options[i], value, sizeof(value));
			if (sx_option_read(&sx_options[i], &s, value, &why) < 0)
				fail_msg("%s.%s: %s", sx_options[i].section, sx_options[i].key, why.text);
		}
		s.source.kind = SX_SOURCE_SYNTHETIC; /* the other kinds need names that match */
		if (!s.external.source)
			s.params.stereo.matcher = SX_MATCH_INTERNAL; /* the external matcher needs a source */
		s.params.camera.fx += 1; /* fx alone, with the others 0, is no camera */
		s.params.camera.fy += 1;
		s.params.camera.baseline_m = s.params.camera.baseline_m / 2 + 0.01;
		if (s.params.camera.fx > 100000)
			s.params.camera.fx = 100000;
		if (s.params.camera.fy > 100000)
			s.params.camera.fy = 100000;
		search_what_is_possible(&s.params.stereo);
		text = printed(&s);
		loaded = fixture_load(fixture_text("a.conf", text), NULL, "");
		assert_same_settings(&s, loaded);
		free(text);
		sx_settings_finish(&s);
	}
}

static void differences_are_listed(void **state)
{
	struct sx_settings a = defaults(), b = defaults();
	struct sx_settings_diff d;
	struct sx_why why;

	sx_settings_diff(&a, &b, &d);
	assert_int_equal(d.changed, 0);
	assert_string_equal(d.restart_keys, "");
	b.params.stereo.p1 = 8;
	b.params.stereo.paths = 8;
	b.source.height = 64;
	b.source.width = 64;
	assert_int_equal(sx_option_read(sx_option_find("log", "levels"), &b, "debug", &why), 0);
	sx_settings_diff(&a, &b, &d);
	assert_int_equal(d.changed, 4);
	assert_int_equal(d.restart, 2);
	assert_string_equal(d.live_keys, "stereo.p1, log.levels");
	assert_string_equal(d.restart_keys, "source.size, stereo.paths");
	sx_settings_take_live(&a, &b);
	assert_string_equal(a.log_levels, "debug");
	/* the texts were exchanged: none is lost, and none is freed twice */
	assert_string_equal(b.log_levels, "info");
	assert_int_equal(a.params.stereo.p1, 8);
	assert_int_equal(a.params.stereo.paths, 4);
	assert_int_equal(sx_option_read(sx_option_find("log", "levels"), &b, "debug", &why), 0);
	sx_settings_diff(&a, &b, &d);
	assert_int_equal(d.changed, 2);
	assert_string_equal(d.live_keys, "");
	for (int i = 0; i < sx_option_count; i++) /* a list that is too long ends with a note */
		if (sx_options[i].kind == SX_OPTION_REAL)
			*(double *)((char *)&b + sx_options[i].offset) += 1;
	sx_settings_diff(&a, &b, &d);
	assert_int_equal(strlen(d.live_keys), sizeof(d.live_keys) - 1);
	assert_string_equal(d.live_keys + sizeof(d.live_keys) - 4, "...");
	sx_settings_finish(&a);
	sx_settings_finish(&b);
}

static void nearest_words(void **state)
{
	static const char *const words[] = {"csct", "census", "census48", "zncc", NULL};

	assert_int_equal(sx_word_distance("abc", "abc"), 0);
	assert_int_equal(sx_word_distance("abc", "acb"), 1);
	assert_int_equal(sx_word_distance("kitten", "sitting"), 3);
	assert_int_equal(sx_word_distance("", "abc"), 3);
	assert_string_equal(sx_nearest_word("cenuss", words), "census");
	assert_string_equal(sx_nearest_word("sct", words), "csct");
	assert_null(sx_nearest_word("hamming", words));
	assert_null(sx_nearest_word("", words));
	assert_null(sx_nearest_word("a word that is much longer than anything in the table", words));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_unique_and_in_order),
		cmocka_unit_test(defaults_come_back_as_written),
		cmocka_unit_test(engines_replace_only_open_defaults),
		cmocka_unit_test(limits_are_in_and_beyond_is_out),
		cmocka_unit_test(numbers_are_read_strictly),
		cmocka_unit_test(units_may_follow),
		cmocka_unit_test(rules_of_whole_numbers),
		cmocka_unit_test(words_are_read_exactly),
		cmocka_unit_test(sizes),
		cmocka_unit_test(texts_that_a_file_cannot_hold),
		cmocka_unit_test_setup_teardown(print_and_load_gives_the_same, fixture_setup,
						fixture_teardown),
		cmocka_unit_test(differences_are_listed),
		cmocka_unit_test(nearest_words),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
