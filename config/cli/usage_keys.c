/*
 * Prints --help-keys: the keys of the configuration, section by section.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "config/cli/usage_priv.h"
#include "config/config.h"
#include "config/option.h"
#include "config/text/number.h"
#include "config/wrap.h"

/* Returns true if the program uses keys of that section. Constants of [model] count as used. */
static bool reads_section(const struct sx_usage *u, const char *section)
{
	if (!u->sections || sx_section_is_model(section))
		return true;
	for (int i = 0; u->sections[i]; i++)
		if (strcmp(u->sections[i], section) == 0)
			return true;
	return false;
}

size_t sx_usage_list_sections(const struct sx_usage *u, bool read, char *text, size_t bytes)
{
	size_t n = 0;

	*text = 0;
	for (int i = 0; i < sx_section_count && n < bytes; i++)
		if (reads_section(u, sx_sections[i].name) == read &&
		    !sx_section_is_model(sx_sections[i].name))
			n += (size_t)snprintf(text + n, bytes - n, "%s%s", n ? ", " : "",
					      sx_sections[i].name);
	return n;
}

/* Returns the section that was probably meant. If text is a key, returns its section. */
static const char *probably(const char *text)
{
	const struct sx_option *key = sx_option_find(NULL, text);
	const char *words[32] = {0};

	if (key)
		return key->section;
	for (int i = 0; i < sx_section_count && i < 31; i++)
		words[i] = sx_sections[i].name;
	return sx_nearest_word(text, words);
}

static int refuse_section(const struct sx_usage *u, const char *text)
{
	const char *meant = probably(text);
	char all[256], near[64] = "";
	size_t n = 0;

	for (int i = 0; i < sx_section_count && n < sizeof(all); i++)
		if (!sx_section_is_model(sx_sections[i].name))
			n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", i ? ", " : "",
					      sx_sections[i].name);
	if (meant)
		snprintf(near, sizeof(near), " (did you mean '%s'?)", meant);
	return sx_usage_fail(u, NULL, "--help-keys: unknown section '%s'%s, allowed %s", text, near, all);
}

static int print_section(const struct sx_usage *u, const char *text)
{
	for (int i = 0; i < sx_section_count; i++) {
		if (strcmp(sx_sections[i].name, text) != 0)
			continue;
		sx_config_help(text, stdout);
		if (!reads_section(u, text))
			printf("\nAccepted, but not used by %s.\n", u->program);
		return 0;
	}
	return refuse_section(u, text);
}

int sx_usage_keys(const struct sx_usage *u, const char *section)
{
	char rest[256];
	bool first = true;

	if (section)
		return print_section(u, section);
	for (int i = 0; i < sx_section_count; i++) {
		if (!reads_section(u, sx_sections[i].name) || sx_section_is_model(sx_sections[i].name))
			continue;
		if (!first)
			putchar('\n');
		sx_config_help(sx_sections[i].name, stdout);
		first = false;
	}
	if (sx_usage_list_sections(u, false, rest, sizeof(rest))) {
		printf("\nAccepted, but not used by %s: ", u->program);
		sx_wrap(stdout, rest, 31 + (int)strlen(u->program), 0);
	}
	return 0;
}
