/*
 * Implements stixelctl set and get: changes and shows settings of a running instance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/printable.h"
#include "config/option.h"
#include "tools/ctl/ctl_ask.h"
#include "tools/ctl/settings.h"

#define SET_ANSWER_MS 90000 /* creating GPU contexts may take long */
#define KEY_COLUMNS 40

/*
 * Returns the operands, one per line, as the daemon reads them. The caller frees the text. On an error prints
 * it, sets the exit code and returns NULL.
 */
static char *request_of(const struct ctl *c, int *code)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	for (int i = 0; to && i < c->operand_count; i++)
		fprintf(to, "%s\n", c->operands[i]);
	if (to && fclose(to) == 0)
		return text;
	free(text);
	*code = ctl_fail(EX_SOFTWARE, "out of memory");
	return NULL;
}

/* Prints the daemon's answer, one sentence per line: a refusal, or a report of what was done. */
static void print_answer(char *body, bool refused)
{
	char *rest = NULL;

	for (char *line = strtok_r(body, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		sx_make_printable(line);
		if (refused)
			ctl_fail(0, "%s", line);
		else
			puts(line);
	}
}

int ctl_set_words(const struct ctl *c)
{
	for (int i = 0; i < c->operand_count; i++)
		if (!strchr(c->operands[i], '=') || strpbrk(c->operands[i], "\r\n"))
			return ctl_fail(EX_USAGE, "set: found '%s', expected SECTION.KEY=VALUE",
					c->operands[i]);
	return 0;
}

int ctl_set(const struct ctl *c)
{
	int code = 0, r;
	char *request = request_of(c, &code);
	const struct sx_question q = {
		.name = c->instance, .target = "/settings", .post = request, .timeout_ms = SET_ANSWER_MS};
	struct sx_reply reply;

	if (!request)
		return code;
	r = sx_socket_ask(&q, &reply);
	free(request);
	if (r < 0)
		return ctl_ask_failed(c, &reply);
	code = sx_settings_code(r);
	if (r == 404 || r == 405)
		ctl_fail(0, "instance '%s' is of a version that takes no settings", c->instance);
	else
		print_answer(reply.body, code != 0);
	if (!code && fflush(stdout) != 0)
		code = ctl_fail(EX_CANTCREAT, "cannot print: %s", strerror(errno));
	sx_reply_finish(&reply);
	return code;
}

/* Returns true if wanted means the key: "stixels" and "stixels.width" both mean "stixels.width". */
static bool key_matches(const char *key, const char *wanted)
{
	const size_t n = strlen(wanted);

	return strncmp(key, wanted, n) == 0 && (key[n] == 0 || key[n] == '.');
}

static bool key_wanted(const struct ctl *c, const char *key)
{
	for (int i = 0; i < c->operand_count; i++)
		if (key_matches(key, c->operands[i]))
			return true;
	return c->operand_count == 0;
}

/*
 * Checks that every operand matches a key. Returns 0, or prints an error with the nearest key and returns
 * EX_USAGE.
 */
static int check_wanted(const struct ctl *c, json_t *keys)
{
	for (int i = 0; i < c->operand_count; i++) {
		const char *wanted = c->operands[i], *dot = strchr(wanted, '.'), *key;
		const struct sx_option *elsewhere = sx_option_find(NULL, dot ? dot + 1 : wanted);
		bool found = false;
		json_t *row;

		json_object_foreach(keys, key, row) found = found || key_matches(key, wanted);
		if (found)
			continue;
		if (elsewhere)
			return ctl_fail(EX_USAGE, "get: there is no '%s', did you mean %s.%s?", wanted,
					elsewhere->section, elsewhere->key);
		return ctl_fail(EX_USAGE, "get: there is no '%s', expected SECTION or SECTION.KEY", wanted);
	}
	return 0;
}

static const char *row_text(json_t *row, const char *name, const char *none)
{
	const char *text = json_string_value(json_object_get(row, name));

	return text ? text : none;
}

/* Prints "stixels.width = 8  # default 4, set live". */
static void print_key(const char *key, json_t *row)
{
	const char *from = row_text(row, "from", "?"), *initial = row_text(row, "default", NULL);
	int n = printf("%s = %s", key, row_text(row, "value", ""));

	printf("%*s  # ", n < KEY_COLUMNS ? KEY_COLUMNS - n : 0, "");
	if (!initial)
		fputs("no default", stdout);
	else
		printf("default %s", *initial ? initial : "empty");
	if (json_is_true(json_object_get(row, "live")))
		fputs(", set live", stdout);
	else if (strcmp(from, "default") != 0)
		printf(", from %s", from);
	puts(json_is_true(json_object_get(row, "restart")) ? ", needs a restart" : "");
}

/*
 * Selects the keys of the text output. An old name of a key is shown only if an operand names it. A model
 * constant at its default is shown only if an operand names it or its section.
 */
static bool key_shown(const struct ctl *c, const char *key, json_t *row)
{
	const bool model = strncmp(key, SX_SECTION_MODEL ".", sizeof(SX_SECTION_MODEL)) == 0;
	bool named = false;

	for (int i = 0; i < c->operand_count; i++)
		named = named || strcmp(key, c->operands[i]) == 0;
	if (json_object_get(row, "now"))
		return named;
	return c->operand_count > 0 || !model ||
	       strcmp(row_text(row, "value", ""), row_text(row, "default", "")) != 0;
}

static void print_keys(const struct ctl *c, json_t *keys)
{
	const char *key;
	json_t *row;

	json_object_foreach(keys, key, row)
	{
		if (key_wanted(c, key) && key_shown(c, key, row) && !sx_unprintable(key))
			print_key(key, row);
	}
}

/* Prints the selected keys as a JSON object. */
static void settings_json(const struct ctl *c, json_t *keys)
{
	json_t *wanted = json_object(), *row;
	const char *key;

	json_object_foreach(keys, key, row)
	{
		if (key_wanted(c, key))
			json_object_set(wanted, key, row);
	}
	json_dumpf(wanted, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(wanted);
}

int ctl_get(const struct ctl *c)
{
	int code = 0;
	json_t *j = sx_settings_ask(c, &code), *keys;

	if (!j)
		return code;
	keys = json_object_get(j, "keys");
	code = check_wanted(c, keys);
	if (!code && c->json) {
		settings_json(c, keys);
	} else if (!code) {
		sx_json_make_printable(keys);
		print_keys(c, keys);
	}
	if (!code && fflush(stdout) != 0)
		code = ctl_fail(EX_CANTCREAT, "cannot print: %s", strerror(errno));
	json_decref(j);
	return code;
}
