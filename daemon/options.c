/*
 * The command line of stixeld.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "daemon/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"
#include "ipc/instance.h"

static const char usage[] =
	"usage: stixeld [-c FILE] [-s SECTION.KEY=VALUE]... [--instance NAME] [--frames N]\n"
	"               [--check-config] [--print-config]\n";

static void print_help(void)
{
	printf("%s\n"
	       "Stereo pairs in, stixels out: into shared memory, /dev/shm/stixeld.NAME.\n\n"
	       "  -c, --config FILE        configuration (default /etc/stixeld/NAME.conf, if it is there);\n"
	       "                           FILE.d/*.conf is read after it\n"
	       "  -s, --set SECTION.KEY=VALUE\n"
	       "                           overrides one key; may be given often\n"
	       "  -i, --instance NAME      name of ring and sockets (default \"default\")\n"
	       "      --frames N           end after N published frames\n"
	       "      --check-config       say what is wrong with the configuration and end\n"
	       "      --print-config       print the configuration with every key and end\n"
	       "  -h, --help               this text\n"
	       "  -V, --version            print the version\n\n"
	       "Signals: SIGTERM, SIGINT end in order, a second one hurries; SIGHUP rereads the "
	       "configuration.\n"
	       "Exit codes: 0 done, 64 usage, 65 unreadable input, 69 no GPU, 70 engine failed, 73 ring or "
	       "socket\n"
	       "cannot be made, 78 configuration.\n\n"
	       "Keys of the configuration:\n\n",
	       usage);
	sx_config_help(stdout);
}

static int wrong(const char *format, const char *value)
{
	fputs("stixeld: ", stderr);
	fprintf(stderr, format, value);
	fprintf(stderr, "\n%s", usage);
	return SX_EXIT_USAGE;
}

static int parse_frames(struct sx_options *o, const char *text)
{
	char *end;

	errno = 0;
	o->frames = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno && o->frames > 0)
		return -1;
	return wrong("--frames %s: wanted is a number from 1", text);
}

static int set_instance(struct sx_options *o, const char *name)
{
	char why[160];

	if (sx_instance_check(name, why, sizeof(why)) < 0)
		return wrong("--instance: %s", why);
	o->instance = name;
	return -1;
}

static int add_override(struct sx_options *o, const char *text)
{
	if (o->override_count == SX_OVERRIDES_MAX)
		return wrong("more than 256 times -s: put them into a file%s", "");
	o->overrides[o->override_count++] = text;
	return -1;
}

int sx_options_parse(struct sx_options *o, int argc, char **argv)
{
	enum { FRAMES = 256, CHECK, PRINT };
	static const struct option longs[] = {
		{"config", required_argument, NULL, 'c'},
		{"set", required_argument, NULL, 's'},
		{"instance", required_argument, NULL, 'i'},
		{"frames", required_argument, NULL, FRAMES},
		{"check-config", no_argument, NULL, CHECK},
		{"print-config", no_argument, NULL, PRINT},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{0},
	};
	int c, r = -1;

	*o = (struct sx_options){.instance = "default"};
	while (r < 0 && (c = getopt_long(argc, argv, "c:s:i:hV", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			o->file = optarg;
			break;
		case 's':
			r = add_override(o, optarg);
			break;
		case 'i':
			r = set_instance(o, optarg);
			break;
		case FRAMES:
			r = parse_frames(o, optarg);
			break;
		case CHECK:
			o->check = true;
			break;
		case PRINT:
			o->print = true;
			break;
		case 'h':
			print_help();
			return 0;
		case 'V':
			printf("stixeld %s\n", SX_VERSION);
			return 0;
		default: /* getopt has said which */
			fputs(usage, stderr);
			return SX_EXIT_USAGE;
		}
	}
	if (r < 0 && optind < argc)
		return wrong("'%s' is not an option", argv[optind]);
	return r;
}
