/*
 * stixelctl: command line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "ipc/instance.h"
#include "tools/args.h"
#include "tools/ctl.h"

enum { OPT_JSON = 256, OPT_WATCH, OPT_INTERVAL, OPT_FRAMES, OPT_TIMEOUT, OPT_VERSION };

/* Which options a command takes, as bits. */
enum {
	TAKES_JSON = 1,
	TAKES_WATCH = 2,
	TAKES_FRAMES = 4,
	TAKES_TIMEOUT = 8,
	TAKES_FILE = 16,
	TAKES_CONFIG = 32
};

static const struct command {
	const char *name, *arguments, *help;
	unsigned takes;
	int (*run)(const struct ctl *c);
} commands[] = {
	{"status", "[--json] [--watch [--interval S]]",
	 "how the instance is doing; --watch refreshes every second", TAKES_JSON | TAKES_WATCH | TAKES_FRAMES,
	 ctl_status},
	{"dump", "[--frames N] [--json]",
	 "stixels of the next N frames as CSV or JSON lines; 0 = without end",
	 TAKES_FRAMES | TAKES_JSON | TAKES_TIMEOUT, ctl_dump},
	{"wait", "[--timeout S]", "returns when a new frame was published; also waits for the daemon",
	 TAKES_TIMEOUT, ctl_wait},
	{"snapshot", "FILE.png", "draws the newest frame", TAKES_FILE | TAKES_TIMEOUT, ctl_snapshot},
	{"metrics", "", "figures in OpenMetrics text, for Prometheus", 0, ctl_metrics},
	{"doctor", "[-c FILE] [--json]",
	 "what is wrong with configuration, cameras, GPU, service and limits, and what to do about it",
	 TAKES_CONFIG | TAKES_JSON, ctl_doctor},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

volatile sig_atomic_t ctl_stopped;

static void on_signal(int number)
{
	ctl_stopped = 1;
}

int ctl_fail(int code, const char *format, ...)
{
	va_list args;

	fputs(SX_PROGRAM ": ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return code;
}

static void print_help(void)
{
	puts("Usage: stixelctl [-i NAME] COMMAND [OPTIONS]\n"
	     "\n"
	     "Looks at a running stixeld, as a client like any other: it cannot slow the daemon.\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %s %s\n      %s\n", commands[i].name, commands[i].arguments, commands[i].help);
	puts("\n"
	     "  -i, --instance NAME  default: default\n"
	     "  -c, --config FILE    doctor: configuration, default /etc/stixeld/NAME.conf\n"
	     "      --json           for programs\n"
	     "      --frames N       dump: frames; status --watch: refreshes; 0 = without end\n"
	     "      --interval S     seconds between refreshes, default 1\n"
	     "      --timeout S      give up after S seconds; default: dump and snapshot 5, wait never\n"
	     "  -h, --help           this text\n"
	     "      --version\n"
	     "\n"
	     "Exit: 0 done, 1 no such instance, it ended, no frame in time, or doctor found a problem, 64 "
	     "wrong\n"
	     "usage, 65 a damaged frame or answer, 73 a file cannot be written.");
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

/* Exit code, or -1 to go on. */
static int take_option(struct ctl *c, unsigned *given, int option)
{
	switch (option) {
	case 'i':
		c->instance = optarg;
		return -1;
	case 'c':
		c->config = optarg;
		*given |= TAKES_CONFIG;
		return -1;
	case OPT_JSON:
		c->json = true;
		*given |= TAKES_JSON;
		return -1;
	case OPT_WATCH:
		c->watch = true;
		*given |= TAKES_WATCH;
		return -1;
	case OPT_INTERVAL:
		*given |= TAKES_WATCH;
		return sx_parse_seconds(optarg, 3600, &c->interval_ms) && c->interval_ms >= 100
			       ? -1
			       : ctl_fail(EX_USAGE, "--interval wants seconds, 0.1..3600, not %s", optarg);
	case OPT_FRAMES:
		*given |= TAKES_FRAMES;
		return sx_parse_int(optarg, 0, 1000000000, &c->frames)
			       ? -1
			       : ctl_fail(EX_USAGE, "--frames wants a number, 0 = without end, not %s",
					  optarg);
	case OPT_TIMEOUT:
		*given |= TAKES_TIMEOUT;
		c->timeout_given = true;
		return sx_parse_seconds(optarg, 1000000, &c->timeout_ms)
			       ? -1
			       : ctl_fail(EX_USAGE, "--timeout wants seconds, not %s", optarg);
	case 'h':
		print_help();
		return 0;
	case OPT_VERSION:
		puts(SX_PROGRAM " " SX_VERSION);
		return 0;
	default:
		return ctl_fail(EX_USAGE, "wrong option; try --help");
	}
}

static int check_instance(const char *name)
{
	char why[256];

	return sx_instance_check(name, why, sizeof(why)) == 0 ? -1 : ctl_fail(EX_USAGE, "%s", why);
}

static int parse(struct ctl *c, const struct command **command, int argc, char **argv)
{
	static const struct option options[] = {
		{"instance", required_argument, NULL, 'i'},
		{"config", required_argument, NULL, 'c'},
		{"json", no_argument, NULL, OPT_JSON},
		{"watch", no_argument, NULL, OPT_WATCH},
		{"interval", required_argument, NULL, OPT_INTERVAL},
		{"frames", required_argument, NULL, OPT_FRAMES},
		{"timeout", required_argument, NULL, OPT_TIMEOUT},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, OPT_VERSION},
		{0},
	};
	unsigned given = 0;
	int option, code = -1;

	while (code < 0 && (option = getopt_long(argc, argv, "i:c:h", options, NULL)) != -1)
		code = take_option(c, &given, option);
	if (code >= 0)
		return code;
	if (optind == argc)
		return ctl_fail(EX_USAGE, "no command; try --help");
	*command = find_command(argv[optind]);
	if (!*command)
		return ctl_fail(EX_USAGE, "unknown command %s; try --help", argv[optind]);
	optind++;
	if ((*command)->takes & TAKES_FILE && optind < argc)
		c->file = argv[optind++];
	if ((*command)->takes & TAKES_FILE && !c->file)
		return ctl_fail(EX_USAGE, "%s wants a file name", (*command)->name);
	if (optind < argc)
		return ctl_fail(EX_USAGE, "%s takes no %s", (*command)->name, argv[optind]);
	if (given & ~(*command)->takes)
		return ctl_fail(EX_USAGE, "%s %s: one of the options is for another command; try --help",
				(*command)->name, (*command)->arguments);
	return check_instance(c->instance);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct ctl c = {.instance = "default", .interval_ms = 1000, .frames = -1, .timeout_ms = -1};
	const struct command *command = NULL;
	int code;

	code = parse(&c, &command, argc, argv);
	if (code >= 0)
		return code;
	/* no SA_RESTART: a wait in progress returns at once */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return command->run(&c);
}
