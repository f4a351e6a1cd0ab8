/*
 * Tests the command line, which follows a table: stored values, refusals and their words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "config/cli/usage.h"

enum { FIRST, SECOND };

struct target {
	bool flag;
	const char *text, *two[2];
	int number, milliseconds, choice, many;
	double metres;
};

static bool take(void *target, const char *text, struct sx_why *why)
{
	sx_why_set(why, "needs no x");
	((struct target *)target)->many++;
	return strchr(text, 'x') == NULL;
}

#define TO(field) offsetof(struct target, field)
static const char *const words[] = {"red", "green", NULL};
static const struct sx_usage_option options[] = {
	{"text", 't', "WORD", SX_USAGE_TEXT, TO(text), .help = "a word"},
	{"flag", 0, NULL, SX_USAGE_FLAG, TO(flag), .commands = SX_USAGE_OF(FIRST), .help = "a flag"},
	{"number", 'n', "N", SX_USAGE_INT, TO(number), -5, 100, .commands = SX_USAGE_OF(FIRST),
	 .help = "small"},
	{"number", 'n', "N", SX_USAGE_INT, TO(number), 1000, 2000, .commands = SX_USAGE_OF(SECOND),
	 .help = "large"},
	{"seconds", 0, "S", SX_USAGE_SECONDS, TO(milliseconds), 0.1, 60, .help = "time"},
	{"metres", 0, "M", SX_USAGE_METRES, TO(metres), 0.01, 5, .help = "length"},
	{"choice", 0, "COLOUR", SX_USAGE_CHOICE, TO(choice), .words = words, .help = "a colour"},
	{"two", 0, "LEFT RIGHT", SX_USAGE_TWO, TO(two), .help = "two words"},
	{"many", 'm', "M", SX_USAGE_CALL, .take = take, .many = true, .help = "often"},
};
static const struct sx_usage_command commands[] = {
	[FIRST] = {"first", "", .help = "the first one"},
	[SECOND] = {"second", "A [B]", 1, 2, .help = "the second one", .more = "Has more.\n\nMuch more."},
};
static const struct sx_usage_exit exits[] = {{0, "done"}, {64, "wrong usage"}};
static const struct sx_usage usage = {.program = "prog",
				      .about = "Does things.",
				      .options = options,
				      .option_count = sizeof(options) / sizeof(options[0]),
				      .commands = commands,
				      .command_count = 2,
				      .exits = exits,
				      .exit_count = 2};
/* A program that takes a configuration and reads two of its sections. */
static const char *const sections[] = {"log", "road", NULL};
static const struct sx_usage computing = {.program = "prog",
					  .about = "Computes.",
					  .options = options,
					  .option_count = 1,
					  .own = {.operands = "FILE...", .least = 1, .most = 9},
					  .exits = exits,
					  .exit_count = 2,
					  .settings = true,
					  .sections = sections};
static const struct sx_usage *parsed = &usage;

/* Text printed to a stream while a line was parsed. */
static char printed[8192];

/* Parses a command line. `line` has one space between words; two spaces have an empty word between them. */
static int parse(struct target *t, struct sx_usage_words *w, const char *line, FILE *stream)
{
	static char *argv[32], text[256], *rest;
	int argc = 0, saved, code;
	FILE *f = tmpfile();
	size_t n;

	snprintf(text, sizeof(text), "prog%s%s", *line ? " " : "", line);
	rest = text;
	while ((argv[argc] = strsep(&rest, " ")))
		argc++;
	assert_non_null(f);
	fflush(stream);
	saved = dup(fileno(stream));
	dup2(fileno(f), fileno(stream));
	memset(t, 0, sizeof(*t));
	code = sx_usage_parse(parsed, t, argc, argv, w);
	fflush(stream);
	dup2(saved, fileno(stream));
	close(saved);
	rewind(f);
	n = fread(printed, 1, sizeof(printed) - 1, f);
	printed[n] = 0;
	fclose(f);
	return code;
}

#define GOOD(line) assert_int_equal(parse(&t, &w, line, stderr), -1)
#define BAD(said, line)                                                  \
	do {                                                             \
		assert_int_equal(parse(&t, &w, line, stderr), 64);       \
		assert_string_equal(printed, "prog: " said " --help\n"); \
	} while (0)

static void test_values(void **state)
{
	struct sx_usage_words w;
	struct target t;

	GOOD("--text=a first --flag -n -5 --seconds 0.25 --metres 1.5 --choice green -mab -m c");
	assert_ptr_equal(w.command, &commands[FIRST]);
	assert_true(t.flag);
	assert_string_equal(t.text, "a");
	assert_int_equal(t.number, -5);
	assert_int_equal(t.milliseconds, 250);
	assert_float_equal(t.metres, 1.5, 0);
	assert_int_equal(t.choice, 1);
	assert_int_equal(t.many, 2);
	assert_int_equal(w.operand_count, 0);
	GOOD("second --num 2000 x --two l r y");
	assert_int_equal(t.number, 2000);
	assert_string_equal(t.two[0], "l");
	assert_string_equal(t.two[1], "r");
	assert_int_equal(w.operand_count, 2);
	assert_string_equal(w.operands[0], "x");
	assert_string_equal(w.operands[1], "y");
	GOOD("second -- --flag");
	assert_string_equal(w.operands[0], "--flag");
}

static void test_refused(void **state)
{
	struct sx_usage_words w;
	struct target t;

	assert_int_equal(parse(&t, &w, "", stderr), 64);
	BAD("unknown command third; try prog", "third");
	BAD("unknown option --none; try prog first", "first --none");
	BAD("unknown command frist, did you mean first?; try prog", "frist");
	BAD("unknown option --sceonds=3, did you mean --seconds?; try prog first", "first --sceonds=3");
	BAD("unknown option --hepl, did you mean --help?; try prog", "--hepl");
	BAD("unknown option --generator; try prog", "--generator"); /* this option is not shown to users */
	BAD("unknown option -q; try prog", "-q");
	BAD("--text needs WORD; try prog", "first --text");
	BAD("--flag takes no argument; try prog", "first --flag=1");
	BAD("first: unexpected argument 'x'; try prog first", "first x");
	BAD("second needs A [B]; try prog second", "second");
	BAD("second: unexpected argument 'c'; try prog second", "second a b c");
	BAD("second has no option --flag; try prog second", "second a --flag");
	BAD("--number needs a whole number in -5..100, not '101'; try prog first", "first -n 101");
	BAD("--number needs a whole number in 1000..2000, not '5'; try prog second", "second a -n 5");
	BAD("--seconds needs seconds in 0.1..60, not 'nan'; try prog first", "first --seconds nan");
	BAD("--metres needs metres in 0.01..5, not '0'; try prog first", "first --metres 0");
	BAD("--choice needs red, green, not 'blue'; try prog first", "first --choice blue");
	BAD("--two needs LEFT RIGHT; try prog", "first --two l");
	BAD("--two needs LEFT RIGHT; try prog", "first --two l -n 3");
	BAD("--many needs no x, not 'x'; try prog first", "first -m x");
	for (int i = 0; i < 7; i++) {
		static const char *const bad[7] = {"", "1.5", "1e1", "0x5", "--5", "5x", "nan"};
		char line[64];

		snprintf(line, sizeof(line), "first -n %s", bad[i]);
		assert_int_equal(parse(&t, &w, line, stderr), 64);
	}
}

static void test_help(void **state)
{
	struct sx_usage_words w;
	struct target t;

	assert_int_equal(parse(&t, &w, "--help", stdout), 0);
	assert_non_null(strstr(printed, "\n  second A [B]  the second one\n"));
	assert_non_null(strstr(printed, "\n  -t, --text WORD       a word\n"));
	assert_null(strstr(printed, "--flag"));
	assert_int_equal(parse(&t, &w, "second -h", stdout), 0);
	assert_non_null(strstr(
		printed, "Usage: prog second [-n N] A [B]\n\nThe second one.\n\nHas more.\n\nMuch more.\n"));
	assert_non_null(strstr(printed, "large"));
	assert_null(strstr(printed, "small"));
	assert_int_equal(parse(&t, &w, "first --version", stdout), 0);
	assert_string_equal(printed, "prog " SX_VERSION "\n");
	for (char *line = printed; line; line = strchr(line + 1, '\n'))
		assert_true(strcspn(line + 1, "\n") < 80);
}

/*
 * Prints the keys of the sections that the program reads, or of one section. The rest of the line is ignored.
 */
static void test_keys(void **state)
{
	struct sx_usage_words w;
	struct target t;

	parsed = &computing;
	assert_int_equal(parse(&t, &w, "--help-keys", stdout), 0);
	assert_non_null(
		strstr(printed, "[road] the ground plane\n  mode           plane: the engine measures"));
	assert_non_null(strstr(printed, "\n\n[log] what the daemon"));
	assert_null(strstr(printed, "[stereo]"));
	assert_non_null(strstr(printed, "\nAccepted, but not used by prog: preset, source, camera, stereo,"));
	for (char *line = printed; line; line = strchr(line + 1, '\n'))
		assert_true(strcspn(line + 1, "\n") < 80);
	assert_int_equal(parse(&t, &w, "--help-keys log", stdout), 0);
	assert_int_equal(strncmp(printed, "[log] ", 6), 0);
	assert_null(strstr(printed, "not used"));
	assert_int_equal(parse(&t, &w, "-t x --help-keys=power", stdout), 0);
	assert_int_equal(strncmp(printed, "[power] ", 8), 0);
	assert_non_null(strstr(printed, "\nAccepted, but not used by prog.\n"));
	assert_int_equal(parse(&t, &w, "--help-keys rode", stderr), 64);
	assert_non_null(
		strstr(printed, "unknown section 'rode' (did you mean 'road'?), allowed preset, source, "));
	BAD("--help-keys: unexpected argument 'log'; try prog", "--help-keys road log");
	BAD("--help-keys: unexpected argument 'log'; try prog", "--help-keys=road log");
	GOOD("-t a file");
	assert_int_equal(w.operand_count, 1);
	assert_int_equal(parse(&t, &w, "--help", stdout), 0);
	assert_non_null(strstr(
		printed, "\nKeys: prog --help-keys [SECTION] prints them, of the sections road, log\n"));
	parsed = &usage;
	BAD("unknown option --help-keys; try prog", "--help-keys");
	assert_int_equal(parse(&t, &w, "--help", stdout), 0);
	assert_null(strstr(printed, "eys"));
}

static void test_table(void **state)
{
	static char out[1 << 18];
	FILE *to = fmemopen(out, sizeof(out), "w");

	sx_usage_table(&usage, to);
	fclose(to);
	assert_non_null(
		strstr(out, "{\"name\":\"number\",\"letter\":\"n\",\"argument\":\"N\",\"offer\":\"nothing\","
			    "\"words\":1,\"optional\":false,\"many\":false,\"choices\":[],"
			    "\"commands\":[\"second\"],\"help\":\"large\"}"));
	assert_non_null(strstr(
		out, "\"most\":2,\"offer\":\"nothing\",\"help\":\"the second one\",\"more\":\"Has more"));
	assert_non_null(strstr(out, ",[64,\"wrong usage\"]"));
	assert_non_null(strstr(out, "\"places\":{\"system\":\"/run/stixeld\""));
	assert_int_equal(out[strlen(out) - 1], '\n');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values), cmocka_unit_test(test_refused), cmocka_unit_test(test_help),
		cmocka_unit_test(test_keys),   cmocka_unit_test(test_table),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
