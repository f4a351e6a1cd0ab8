/*
 * Tests presets: which value counts, what a preset may not do, and the list of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "config/preset.h"
#include "tests/config/fixture.h"

#define SOURCE "[source]\nkind = synthetic\n"

static const char *const *words(const char *a, const char *b)
{
	static const char *list[3];

	list[0] = a;
	list[1] = a ? b : NULL;
	return list;
}

static int setup(void **state)
{
	int r = fixture_setup(state);

	fixture_text("presets/tall.conf",
		     "# Tall: for \"giants\"\n[camera]\nheight_m = 3 m\n[stereo]\np1 = 3\np2 = 30\n");
	fixture_text("presets/wrong.conf", "# Wrong\n[stereo]\np3 = 1\np1 = 900\n");
	setenv("STIXEL_PRESET_PATH", fixture_path("presets"), 1);
	return r;
}

static int teardown(void **state)
{
	unsetenv("STIXEL_PRESET_PATH");
	return fixture_teardown(state);
}

static void files_and_overrides_count_more(void **state)
{
	struct sx_settings *s = fixture_load(
		fixture_text("a.conf", "[preset]\nname = tall\n" SOURCE "[stereo]\np1 = 4\np2 = 40\n"),
		words("stereo.p2=50", NULL), "");

	assert_string_equal(s->preset, "tall");
	assert_true(s->params.camera.height_m == 3);
	assert_int_equal(s->params.stereo.p1, 4);
	assert_int_equal(s->params.stereo.p2, 50);
	/* the daemon's status names the first file as the main one */
	assert_string_equal(strchr(s->files, '\n'), "\n");
	s = fixture_load(fixture_path("a.conf"), words("preset.name=", NULL), "");
	assert_true(s->params.camera.height_m == 1.65);
	s = fixture_load(fixture_text("b.conf", SOURCE), words("preset.name=tall", NULL), "");
	assert_int_equal(s->params.stereo.p1, 3);
}

static void origins_name_the_preset(void **state)
{
	static struct sx_origins origins;
	const char *const overrides[] = {"preset.name=tall", "stereo.p1=9"};
	struct sx_errors e = {0};
	struct sx_settings s;

	assert_int_equal(sx_settings_template(&s, &origins, overrides, 2, &e), 0);
	assert_non_null(
		strstr(sx_origin_text(&origins, sx_option_find("stereo", "p2")), "presets/tall.conf:6"));
	assert_string_equal(sx_origin_text(&origins, sx_option_find("stereo", "p1")), "-s stereo.p1=9");
	sx_settings_finish(&s);
}

/* A path is relative to the file that names it. */
static void a_file_of_ones_own(void **state)
{
	struct sx_settings *s;

	fixture_text("sub/mine.conf", "[stereo]\np1 = 7\n");
	s = fixture_load(fixture_text("sub/a.conf", SOURCE "[preset]\nname = ./mine.conf\n"), NULL, "");
	assert_int_equal(s->params.stereo.p1, 7);
	assert_string_equal(s->preset, fixture_path("sub/./mine.conf"));
	fixture_load(
		fixture_text("b.conf", SOURCE "[preset]\nname = sub/none.conf\n"), NULL,
		"DIR/b.conf:4: [preset] name: found 'DIR/sub/none.conf', allowed a file that can be read "
		"(No such file or directory)\n");
}

static void faults(void **state)
{
	fixture_load(
		fixture_text("a.conf", SOURCE), words("preset.name=small", NULL),
		"-s preset.name=small: [preset] name: found 'small', allowed tall, wrong of DIR/presets, "
		"or a path such as ./FILE\n");
	/* a value that has no effect is checked, too */
	fixture_load(fixture_path("a.conf"), words("preset.name=wrong", "stereo.p1=5"),
		     "DIR/presets/wrong.conf:3: [stereo] p3: unknown key, did you mean p1?\n"
		     "DIR/presets/wrong.conf:4: [stereo] p1: found '900', allowed 0..255\n");
	fixture_text("presets/nested.conf", "[preset]\nname = tall\n");
	fixture_load(fixture_path("a.conf"), words("preset.name=nested", NULL),
		     "DIR/presets/nested.conf:2: a preset cannot name another preset\n");
}

static void the_list(void **state)
{
	char *text = NULL, expected[1024];
	size_t size;
	FILE *f = open_memstream(&text, &size);

	sx_presets_json(f);
	fclose(f);
	snprintf(expected, sizeof(expected),
		 "[{\"name\":\"tall\",\"path\":\"%s\",\"help\":\"Tall: for \\\"giants\\\"\",\"keys\":{"
		 "\"camera.height_m\":\"3\",\"stereo.p1\":\"3\",\"stereo.p2\":\"30\"}},",
		 fixture_path("presets/tall.conf"));
	assert_int_equal(strncmp(text, expected, strlen(expected)), 0);
	assert_non_null(strstr(text, "\"help\":\"Wrong\",\"error\":\""));
	free(text);
	setenv("STIXEL_PRESET_PATH", fixture_path("none"), 1);
	f = open_memstream(&text, &size);
	sx_presets_json(f);
	fclose(f);
	assert_string_equal(text, "[]\n");
	free(text);
}

/* The installed presets are valid, and the first line of each describes it. */
static void those_that_are_installed(void **state)
{
	struct sx_preset_names names;
	char override[SX_PRESET_OVERRIDE_BYTES];
	struct sx_why why;

	unsetenv("STIXEL_PRESET_PATH");
	sx_preset_names(&names);
	assert_int_equal(names.count, 4);
	for (int i = 0; i < names.count; i++) {
		assert_true(sx_preset_take(names.name[i], override, &why));
		fixture_load(fixture_text("a.conf", SOURCE), words(override, NULL), "");
	}
	assert_false(sx_preset_take("tall", override, &why));
	assert_int_equal(strncmp(why.text, "needs car, fast, indoor, robot of ", 34), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_and_overrides_count_more, setup, teardown),
		cmocka_unit_test_setup_teardown(origins_name_the_preset, setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_of_ones_own, setup, teardown),
		cmocka_unit_test_setup_teardown(faults, setup, teardown),
		cmocka_unit_test_setup_teardown(the_list, setup, teardown),
		cmocka_unit_test_setup_teardown(those_that_are_installed, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
