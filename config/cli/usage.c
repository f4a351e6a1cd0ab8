/*
 * Parses a command line with its table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "config/cli/usage_priv.h"
#include "config/text/number.h"

enum { ROWS_MAX = 96, LONG = 1000 };

/* An option of the command line, with its words. */
struct given {
	const struct sx_usage_option *row; /* first row of that name */
	const char *text, *second;
};

/* Chooses the nearest of the offered words for ", did you mean X?". best NULL: no word is near. */
struct guess {
	const char *word, *best;
	int least;
};

static void guess_offer(struct guess *g, const char *name)
{
	int distance = sx_word_distance(g->word, name);

	if (sx_word_near(g->word, distance) && (!g->best || distance < g->least)) {
		g->best = name;
		g->least = distance;
	}
}

static int usage_unknown(const struct sx_usage *u, const struct sx_usage_command *command, const char *what,
			 const char *word, const struct guess *g, const char *dashes)
{
	return g->best ? sx_usage_fail(u, command, "unknown %s %s, did you mean %s%s?", what, word, dashes,
				       g->best)
		       : sx_usage_fail(u, command, "unknown %s %s", what, word);
}

/* ---- one option ---------------------------------------------------------------------------------------- */

static bool read_number(const char *text, double min, double max, bool whole, double *ret)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(text, &end);
	if (end == text || *end || errno || !(v >= min && v <= max) || (whole && v != floor(v)))
		return false;
	*ret = v;
	return whole ? strspn(text, "-0123456789") == strlen(text) : true;
}

static bool read_choice(const struct sx_usage_option *o, const char *text, int *ret, struct sx_why *why)
{
	sx_why_set(why, "needs");
	for (int i = 0; o->words[i]; i++) {
		if (strcmp(o->words[i], text) == 0) {
			*ret = i;
			return true;
		}
		sx_why_add(why, "%s %s", i ? "," : "", o->words[i]);
	}
	return false;
}

/* Stores the value of an option. False: why says what is expected. */
static bool store(const struct sx_usage_option *o, const struct given *g, void *target, struct sx_why *why)
{
	void *field = (char *)target + o->offset;
	double v = 0.0;

	switch (o->kind) {
	case SX_USAGE_FLAG:
		*(bool *)field = true;
		return true;
	case SX_USAGE_TEXT:
		*(const char **)field = g->text;
		return true;
	case SX_USAGE_TWO:
		((const char **)field)[0] = g->text;
		((const char **)field)[1] = g->second;
		return true;
	case SX_USAGE_INT:
		sx_why_set(why, "needs a whole number in %.0f..%.0f", o->min, o->max);
		if (read_number(g->text, o->min, o->max, true, &v))
			*(int *)field = (int)v;
		else
			return false;
		return true;
	case SX_USAGE_SECONDS:
		sx_why_set(why, "needs seconds in %g..%.0f", o->min, o->max);
		if (read_number(g->text, o->min, o->max, false, &v))
			*(int *)field = (int)lrint(v * 1000.0);
		else
			return false;
		return true;
	case SX_USAGE_METRES:
		sx_why_set(why, "needs metres in %g..%g", o->min, o->max);
		return read_number(g->text, o->min, o->max, false, field);
	case SX_USAGE_CHOICE:
		return read_choice(o, g->text, field, why);
	case SX_USAGE_CALL:
		return o->take(target, g->text, why);
	}
	return false;
}

/* Returns the row with the name of `any` that belongs to command; NULL: none. */
static const struct sx_usage_option *resolve(const struct sx_usage *u, const struct sx_usage_option *any,
					     const struct sx_usage_command *command)
{
	for (int i = 0; i < u->option_count; i++)
		if (strcmp(u->options[i].name, any->name) == 0 &&
		    sx_usage_belongs(u, &u->options[i], command))
			return &u->options[i];
	return NULL;
}

static int apply(const struct sx_usage *u, const struct sx_usage_command *command, const struct given *given,
		 int count, void *target)
{
	for (int i = 0; i < count; i++) {
		const struct given *g = &given[i];
		const struct sx_usage_option *o = resolve(u, g->row, command);
		struct sx_why why = {""};

		if (!o)
			return sx_usage_fail(u, command, "%s has no option --%s", command->name,
					     g->row->name);
		if (!store(o, g, target, &why))
			return sx_usage_fail(u, command, "--%s %s, not '%s'", o->name, why.text, g->text);
	}
	return -1;
}

/* ---- the whole line ------------------------------------------------------------------------------------ */

struct table {
	const struct sx_usage_option *rows[ROWS_MAX + 1];
	struct option longs[ROWS_MAX + 1];
	char shorts[2 * ROWS_MAX + 2];
	int count;
};

static void add_row(struct table *t, const struct sx_usage_option *o, char **letters)
{
	for (int i = 0; i < t->count; i++)
		if (strcmp(t->rows[i]->name, o->name) == 0)
			return;
	if (t->count == ROWS_MAX)
		abort(); /* a program has too many options: raise ROWS_MAX */
	t->rows[t->count] = o;
	t->longs[t->count] = (struct option){o->name,
					     sx_usage_optional(o) ? optional_argument
					     : o->argument	  ? required_argument
								  : no_argument,
					     NULL, LONG + t->count};
	t->count++;
	if (!o->letter)
		return;
	*(*letters)++ = o->letter;
	if (o->argument)
		*(*letters)++ = ':';
}

/* Builds the tables for getopt_long(). */
static void make_table(const struct sx_usage *u, struct table *t)
{
	char *letters = t->shorts;

	memset(t, 0, sizeof(*t));
	*letters++ = ':'; /* getopt_long() then reports a missing word with ':', an unknown option with '?' */
	for (int i = 0; i < u->option_count; i++)
		add_row(t, &u->options[i], &letters);
	for (int i = 0; i < SX_USAGE_BUILTINS; i++)
		if (i != SX_USAGE_KEYS || u->settings)
			add_row(t, &sx_usage_builtins[i], &letters);
}

static const struct sx_usage_option *row_of(const struct table *t, int value)
{
	for (int i = 0; i < t->count; i++)
		if (value == LONG + i || value == t->rows[i]->letter)
			return t->rows[i];
	return NULL;
}

static const struct sx_usage_command *find_command(const struct sx_usage *u, const char *name)
{
	for (int i = 0; i < u->command_count; i++)
		if (strcmp(u->commands[i].name, name) == 0)
			return &u->commands[i];
	return NULL;
}

/* Returns the first word that is a command; its help lists the options that it takes. */
static const struct sx_usage_command *command_of_line(const struct sx_usage *u, char **argv)
{
	const struct sx_usage_command *c = NULL;

	for (int i = 1; argv[i] && !c; i++)
		c = find_command(u, argv[i]);
	return c;
}

/* Reports an unknown long option. text: "--confg=FILE". */
static int unknown_option(const struct sx_usage *u, const struct table *t, const char *text,
			  const struct sx_usage_command *command)
{
	struct guess g = {0};
	char word[64];

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(text + 2, "="), text + 2);
	g.word = word;
	for (int i = 0; i < t->count; i++)
		if (t->rows[i] != &sx_usage_builtins[SX_USAGE_GENERATE])
			guess_offer(&g, t->rows[i]->name);
	return usage_unknown(u, command, "option", text, &g, "--");
}

/* Prints a message about the word that getopt_long() refused. */
static int usage_refuse(const struct sx_usage *u, const struct table *t, int result, char **argv)
{
	const struct sx_usage_option *o = optopt ? row_of(t, optopt) : NULL;

	if (result == ':' && o)
		return sx_usage_fail(u, NULL, "--%s needs %s", o->name, o->argument);
	if (o)
		return sx_usage_fail(u, NULL, "--%s takes no argument", o->name);
	if (optopt && strncmp(argv[optind - 1], "--", 2) != 0)
		return sx_usage_fail(u, command_of_line(u, argv), "unknown option -%c", optopt);
	return unknown_option(u, t, argv[optind - 1], command_of_line(u, argv));
}

/* Collects the options. Returns -1, or an exit code. */
static int collect(const struct sx_usage *u, const struct table *t, int argc, char **argv,
		   struct given *given, int *count)
{
	int c;

	opterr = 0;
	optind = 0; /* 0 also resets the state left by a refused command line */
	while ((c = getopt_long(argc, argv, t->shorts, t->longs, NULL)) != -1) {
		struct given *g = &given[*count];

		if (c == '?' || c == ':')
			return usage_refuse(u, t, c, argv);
		g->row = row_of(t, c);
		g->text = optarg;
		if (g->row->kind == SX_USAGE_TWO) {
			if (!argv[optind] || argv[optind][0] == '-')
				return sx_usage_fail(u, NULL, "--%s needs %s", g->row->name,
						     g->row->argument);
			g->second = argv[optind++];
		}
		++*count;
	}
	return -1;
}

static int unknown_command(const struct sx_usage *u, const char *word)
{
	struct guess g = {.word = word};

	for (int i = 0; i < u->command_count; i++)
		guess_offer(&g, u->commands[i].name);
	return usage_unknown(u, NULL, "command", word, &g, "");
}

static int generate(const struct sx_usage *u, const char *what)
{
	if (strcmp(what, "table") != 0)
		return sx_usage_fail(u, NULL, "--generate needs table, not '%s'", what);
	sx_usage_table(u, stdout);
	return fflush(stdout) == 0 ? 0 : EX_IOERR;
}

static bool was_given(const struct given *given, int count, int builtin, const char **text)
{
	for (int i = 0; i < count; i++) {
		if (given[i].row != &sx_usage_builtins[builtin])
			continue;
		*text = given[i].text;
		return true;
	}
	return false;
}

/* Serves --help-keys SECTION and --help-keys=SECTION. */
static int serve_keys(const struct sx_usage *u, const char *text, char **operands, int operand_count)
{
	const char *section = text ? text : operand_count ? operands[0] : NULL;
	int code;

	if (operand_count > !text)
		return sx_usage_fail(u, NULL, "--help-keys: unexpected argument '%s'", operands[!text]);
	code = sx_usage_keys(u, section);
	return code || fflush(stdout) == 0 ? code : EX_IOERR;
}

/* Serves --help, --version and --generate at any place of the command line. Returns -1 if none was given. */
static int serve_builtins(const struct sx_usage *u, const struct sx_usage_command *command,
			  const struct given *given, int count, char **operands, int operand_count)
{
	const char *text;

	if (was_given(given, count, SX_USAGE_HELP, &text)) {
		sx_usage_help(u, command, stdout);
		return 0;
	}
	if (was_given(given, count, SX_USAGE_VERSION, &text)) {
		printf("%s %s\n", u->program, SX_VERSION);
		return 0;
	}
	if (was_given(given, count, SX_USAGE_KEYS, &text))
		return serve_keys(u, text, operands, operand_count);
	return was_given(given, count, SX_USAGE_GENERATE, &text) ? generate(u, text) : -1;
}

static int check_operands(const struct sx_usage *u, const struct sx_usage_words *w)
{
	const struct sx_usage_command *c = w->command;

	if (w->operand_count < c->least)
		return sx_usage_fail(u, c, "%s%sneeds %s", c->name ? c->name : "", c->name ? " " : "",
				     c->operands);
	if (w->operand_count > c->most)
		return sx_usage_fail(u, c, "%s%sunexpected argument '%s'", c->name ? c->name : "",
				     c->name ? ": " : "", w->operands[c->most]);
	return -1;
}

static int usage_finish(const struct sx_usage *u, void *target, char **argv, int argc,
			const struct given *given, int count, struct sx_usage_words *ret)
{
	const struct sx_usage_command *command = u->commands ? NULL : &u->own;
	int code;

	if (u->commands && optind < argc)
		command = find_command(u, argv[optind]);
	code = serve_builtins(u, command, given, count, argv + optind, argc - optind);
	if (code >= 0)
		return code;
	if (!command && optind < argc)
		return unknown_command(u, argv[optind]);
	if (!command)
		return sx_usage_fail(u, NULL, "no command");
	optind += u->commands != NULL;
	*ret = (struct sx_usage_words){command, argv + optind, argc - optind};
	code = check_operands(u, ret);
	return code >= 0 ? code : apply(u, command, given, count, target);
}

int sx_usage_parse(const struct sx_usage *u, void *target, int argc, char **argv, struct sx_usage_words *ret)
{
	struct given *given = calloc((size_t)argc + 1, sizeof(*given));
	struct table t;
	int count = 0, code;

	if (!given) {
		fprintf(stderr, "%s: not enough memory\n", u->program);
		return EX_OSERR;
	}
	make_table(u, &t);
	code = collect(u, &t, argc, argv, given, &count);
	if (code < 0)
		code = usage_finish(u, target, argv, argc, given, count, ret);
	free(given);
	return code;
}
