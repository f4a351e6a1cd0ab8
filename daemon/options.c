/*
 * The command line of stixeld.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

#include "config/cli/usage.h"
#include "ipc/instance.h"

static bool take_frames(void *target, const char *text, struct sx_why *why)
{
	struct sx_options *o = target;
	char *end;

	errno = 0;
	o->frames = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && o->frames > 0)
		return true;
	sx_why_set(why, "needs a number from 1");
	return false;
}

static bool take_override(void *target, const char *text, struct sx_why *why)
{
	struct sx_options *o = target;

	if (o->override_count < SX_OVERRIDES_MAX) {
		o->overrides[o->override_count++] = text;
		return true;
	}
	sx_why_set(why, "may be given %d times: put settings into a file", SX_OVERRIDES_MAX);
	return false;
}

static bool take_preset(void *target, const char *text, struct sx_why *why)
{
	struct sx_options *o = target;

	return sx_preset_take(text, o->preset, why) && take_override(o, o->preset, why);
}

#define TO(field) offsetof(struct sx_options, field)

static const struct sx_usage_option options[] = {
	{"config", 'c', "FILE", SX_USAGE_TEXT, TO(file), .offer = SX_OFFER_FILE,
	 .help = "configuration file; default: /etc/stixeld/NAME.conf if it exists; then "
		 "FILE.d/*.conf is read; /dev/null: no file"},
	{"set", 's', "SECTION.KEY=VALUE", SX_USAGE_CALL, .take = take_override, .offer = SX_OFFER_SETTING,
	 .many = true, .help = "override one key; may be repeated; for the same key the last one counts"},
	{"preset", 0, "NAME", SX_USAGE_CALL, .take = take_preset, .offer = SX_OFFER_PRESET,
	 .help = SX_PRESET_HELP},
	{"instance", 'i', "NAME", SX_USAGE_TEXT, TO(instance), .offer = SX_OFFER_INSTANCE,
	 .help = "name of the instance, its ring and its sockets: letters, digits, \"_\", "
		 "\".\", \"-\"; default: default"},
	{"frames", 0, "N", SX_USAGE_CALL, .take = take_frames, .help = "exit after N published frames"},
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
	{SX_EXIT_CONFIG, "wrong configuration; stderr lists all errors"},
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

int sx_options_parse(struct sx_options *o, int argc, char **argv)
{
	struct sx_usage_words words;
	struct sx_why why;
	int code;

	*o = (struct sx_options){.instance = "default"};
	code = sx_usage_parse(&usage, o, argc, argv, &words);
	if (code < 0 && sx_instance_check(o->instance, &why) < 0)
		code = sx_usage_fail(&usage, NULL, "--instance: %s", why.text);
	if (code < 0 && o->all && !o->print)
		code = sx_usage_fail(&usage, NULL, "--all: needs --print-config");
	return code;
}
