/*
 * The command line of stixeld.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "config/cli/usage.h"
#include "ipc/instance.h"

static bool take_frames(void *target, const char *text, struct sx_why *why)
{
	struct sx_command_line *l = target;
	char *end;

	errno = 0;
	l->common.frames = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && l->common.frames > 0)
		return true;
	sx_why_set(why, "needs a number from 1");
	return false;
}

static bool take_override(void *target, const char *text, struct sx_why *why)
{
	struct sx_options *o = &((struct sx_command_line *)target)->common;

	if (o->override_count < SX_OVERRIDES_MAX) {
		o->overrides[o->override_count++] = text;
		return true;
	}
	sx_why_set(why, "may be given %d times: put settings into a file", SX_OVERRIDES_MAX);
	return false;
}

static bool take_preset(void *target, const char *text, struct sx_why *why)
{
	struct sx_command_line *l = target;

	return sx_preset_take(text, l->preset, why) && take_override(l, l->preset, why);
}

static bool take_word(const char *words[SX_INSTANCES_MAX], int *count, const char *text, struct sx_why *why)
{
	if (*count < SX_INSTANCES_MAX) {
		words[(*count)++] = text;
		return true;
	}
	sx_why_set(why, "may be given %d times: a process has room for as many instances", SX_INSTANCES_MAX);
	return false;
}

static bool take_file(void *target, const char *text, struct sx_why *why)
{
	struct sx_command_line *l = target;

	return take_word(l->files, &l->file_count, text, why);
}

static bool take_name(void *target, const char *text, struct sx_why *why)
{
	struct sx_command_line *l = target;

	return take_word(l->names, &l->name_count, text, why);
}

#define TO(field) offsetof(struct sx_command_line, common.field)

static const struct sx_usage_option options[] = {
	{"config", 'c', "FILE", SX_USAGE_CALL, .take = take_file, .offer = SX_OFFER_FILE, .many = true,
	 .help = "configuration file; default: /etc/stixeld/NAME.conf if it exists; then "
		 "FILE.d/*.conf is read; /dev/null: no file; several files: one instance each, "
		 "named as the file without .conf"},
	{"set", 's', "SECTION.KEY=VALUE", SX_USAGE_CALL, .take = take_override, .offer = SX_OFFER_SETTING,
	 .many = true,
	 .help = "override one key; may be repeated; for the same key the last one counts; of several "
		 "instances, NAME:SECTION.KEY=VALUE is for one"},
	{"preset", 0, "NAME", SX_USAGE_CALL, .take = take_preset, .offer = SX_OFFER_PRESET,
	 .help = SX_PRESET_HELP},
	{"instance", 'i', "NAME", SX_USAGE_CALL, .take = take_name, .offer = SX_OFFER_INSTANCE, .many = true,
	 .help = "name of the instance, its ring and its sockets: letters, digits, \"_\", "
		 "\".\", \"-\"; default: default; several names: one instance each, with "
		 "/etc/stixeld/NAME.conf or the -c in the same place"},
	{"frames", 0, "N", SX_USAGE_CALL, .take = take_frames,
	 .help = "exit after N published frames; of several instances each ends after N"},
	{"check-config", 0, NULL, SX_USAGE_FLAG, TO(check),
	 .help = "check the configuration, check that its files exist, compare the camera "
		 "model with the first pair of image files, report all errors, and exit; no "
		 "camera is opened"},
	{"print-config", 0, NULL, SX_USAGE_FLAG, TO(print),
	 .help = "print the configuration with range and default of every key, and exit; "
		 "without a file it is a template"},
	{"all", 0, NULL, SX_USAGE_FLAG, TO(all),
	 .help = "with --print-config: print the section [model] (constants of the models) "
		 "even if all values are defaults"},
};

static const struct sx_usage_exit exits[] = {
	{0, "done"},
	{SX_EXIT_USAGE, "wrong usage"},
	{SX_EXIT_DATA, "input data cannot be read"},
	{SX_EXIT_GPU, "the configuration asks for a GPU and none is usable"},
	{SX_EXIT_FAILED, "the engine failed, an internal error occurred, or memory or file "
			 "descriptors do not suffice"},
	{EX_OSERR, "not enough memory to read the command line"},
	{SX_EXIT_CREATE, "shared memory, a socket or the lock file cannot be created; or another "
			 "instance has this name or took the ring"},
	{SX_EXIT_CONFIG,
	 "wrong configuration; stderr lists all errors; or two instances have one name or one "
	 "camera"},
};

static const struct sx_usage usage = {
	.program = "stixeld",
	.about = "Reads stereo pairs, computes stixels and publishes them in shared memory, "
		 "/dev/shm/stixeld.NAME.\n"
		 "SIGTERM or SIGINT ends it in order, a second signal at once. SIGHUP rereads "
		 "the configuration.",
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.own = {.operands = ""},
	.exits = exits,
	.exit_count = sizeof(exits) / sizeof(exits[0]),
	.settings = true,
};

/* Returns the name of the instance with this file: front for /etc/stixeld/front.conf. */
static const char *name_of_file(const char *file, char name[SX_INSTANCE_NAME_BYTES])
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
	const char *end = strrchr(base, '.');

	snprintf(name, SX_INSTANCE_NAME_BYTES, "%.*s",
		 end && strcmp(end, ".conf") == 0 ? (int)(end - base) : (int)strlen(base), base);
	return name;
}

/* Takes file and name of each instance from the words of -c and -i. */
static int pair_words(struct sx_command_line *l)
{
	l->count = l->file_count > l->name_count ? l->file_count : l->name_count;
	l->count = l->count > 0 ? l->count : 1;
	if (l->count > 1 && l->file_count && l->name_count && l->file_count != l->name_count)
		return sx_usage_fail(&usage, NULL,
				     "%d times --instance and %d times --config: give one of each for every "
				     "instance, or only one of the two",
				     l->name_count, l->file_count);
	for (int i = 0; i < l->count; i++) {
		struct sx_options *o = &l->instance[i];

		*o = l->common;
		o->file = l->file_count ? l->files[i] : NULL;
		o->instance = l->name_count  ? l->names[i]
			      : l->count > 1 ? name_of_file(o->file, l->name_of_file[i])
					     : "default";
	}
	return -1;
}

static int check_names(const struct sx_command_line *l)
{
	struct sx_why why;

	for (int i = 0; i < l->count; i++) {
		if (sx_instance_check(l->instance[i].instance, &why) == 0)
			continue;
		if (l->name_count)
			return sx_usage_fail(&usage, NULL, "--instance: %s", why.text);
		return sx_usage_fail(&usage, NULL, "--config %s: %s: name the instances by --instance",
				     l->files[i], why.text);
	}
	for (int i = 0; i < l->count; i++)
		for (int k = 0; k < i; k++)
			if (strcmp(l->instance[i].instance, l->instance[k].instance) == 0) {
				fprintf(stderr,
					"stixeld: two instances are named '%s': each needs a name of its own\n",
					l->instance[i].instance);
				return SX_EXIT_CONFIG;
			}
	return -1;
}

/* Gives the override to the instances that it is for: NAME:SECTION.KEY=VALUE to one, the others to all. */
static int deal_override(struct sx_command_line *l, const char *text)
{
	const size_t name = strcspn(text, ":=");
	const bool named = text[name] == ':';
	int taken = 0;

	for (int i = 0; i < l->count; i++) {
		struct sx_options *o = &l->instance[i];

		if (named && (strlen(o->instance) != name || memcmp(o->instance, text, name) != 0))
			continue;
		o->overrides[o->override_count++] = named ? text + name + 1 : text;
		taken++;
	}
	return taken ? -1
		     : sx_usage_fail(&usage, NULL, "--set %s: no instance is named '%.*s'", text, (int)name,
				     text);
}

static int deal_overrides(struct sx_command_line *l)
{
	int code = -1;

	if (l->count == 1)
		return -1;
	for (int i = 0; i < l->count; i++)
		l->instance[i].override_count = 0;
	for (int i = 0; i < l->common.override_count && code < 0; i++)
		code = deal_override(l, l->common.overrides[i]);
	return code;
}

int sx_options_parse(struct sx_command_line *l, int argc, char **argv)
{
	struct sx_usage_words words;
	int code;

	memset(l, 0, sizeof(*l));
	code = sx_usage_parse(&usage, l, argc, argv, &words);
	if (code < 0)
		code = pair_words(l);
	if (code < 0)
		code = check_names(l);
	if (code < 0)
		code = deal_overrides(l);
	if (code < 0 && l->common.all && !l->common.print)
		code = sx_usage_fail(&usage, NULL, "--all: needs --print-config");
	if (code < 0 && l->common.print && l->count > 1)
		code = sx_usage_fail(&usage, NULL, "--print-config: prints one instance at a time");
	return code;
}
