/*
 * stixel-bench: how long an engine takes with a configuration, stage by stage.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/bench.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <sysexits.h>

#include "tools/args.h"

int bench_fail(int code, const char *text, const char *detail)
{
	fflush(stdout);
	fprintf(stderr, SX_PROGRAM ": %s%s%s\n", text, detail && *detail ? ": " : "", detail ? detail : "");
	return code;
}

static void print_help(void)
{
	puts("Usage: stixel-bench [-c FILE] [-s SECTION.KEY=VALUE]... [--size WxH]... [--frames N] [--json]\n"
	     "       stixel-bench --table [-s SECTION.KEY=VALUE]... [--frames N] [--json]\n"
	     "\n"
	     "Measures how long an engine takes, stage by stage: median, 99th percentile and maximum, in\n"
	     "milliseconds. The chain is from pair in host memory to record in host memory, one frame at a\n"
	     "time; then as many frames as there are contexts (engine.contexts) are kept in flight.\n"
	     "\n"
	     "  -c, --config FILE            configuration, as of stixeld\n"
	     "  -s, --set SECTION.KEY=VALUE  one setting: -s engine.backend=reference, -s\n"
	     "                               stixels.method=rdp\n"
	     "      --size WxH               of the synthetic street, any number of times; default:\n"
	     "                               source.size, else 1242x375\n"
	     "      --pair LEFT RIGHT        these two images instead of the synthetic street\n"
	     "      --table                  the standard cases, beside what others reach\n"
	     "      --frames N               measured frames, 1..100000; default 100\n"
	     "      --warm-up N              frames before that, not counted; default 5\n"
	     "      --sms N                  use only N multiprocessors (cuda)\n"
	     "      --asleep                 sleep until a frame is done, as the daemon does, instead of "
	     "asking\n"
	     "                               the device again and again (cuda)\n"
	     "      --timeline FILE          when each frame was captured, computed and collected, as CSV\n"
	     "      --json                   one JSON object; several sizes: an array\n"
	     "  -h, --help                   this text\n"
	     "      --version\n"
	     "\n"
	     "Exit: 0 done, 64 wrong usage, 65 an image is not usable, 69 no usable GPU, 70 engine failed,\n"
	     "73 the timeline cannot be written, 78 wrong configuration.\n"
	     "\n"
	     "Settings:\n");
	sx_config_help(stdout);
}

enum {
	OPT_SIZE = 256,
	OPT_PAIR,
	OPT_TABLE,
	OPT_FRAMES,
	OPT_WARM_UP,
	OPT_SMS,
	OPT_ASLEEP,
	OPT_TIMELINE,
	OPT_JSON,
	OPT_VERSION
};

static int take_size(struct bench_options *o, const char *text)
{
	if (o->size_count == BENCH_SIZES_MAX)
		return bench_fail(EX_USAGE, "too many --size", NULL);
	if (!sx_parse_size(text, &o->size[o->size_count].width, &o->size[o->size_count].height))
		return bench_fail(EX_USAGE, "--size wants WIDTHxHEIGHT, such as 1280x720, not", text);
	o->size_count++;
	return -1;
}

static int take_number(const char *option, const char *text, int min, int *ret)
{
	if (sx_parse_int(text, min, 100000, ret))
		return -1;
	fprintf(stderr, SX_PROGRAM ": %s wants a number in %d..100000, not: %s\n", option, min, text);
	return EX_USAGE;
}

/* Exit code, or -1 to go on. */
static int take_option(struct bench_options *o, int c, char **argv)
{
	switch (c) {
	case 'c':
		o->args.file = optarg;
		return -1;
	case 's':
		return sx_settings_args_add(&o->args, optarg) ? -1
							      : bench_fail(EX_USAGE, "too many -s", NULL);
	case OPT_SIZE:
		return take_size(o, optarg);
	case OPT_PAIR:
		if (!argv[optind] || argv[optind][0] == '-')
			return bench_fail(EX_USAGE, "--pair wants two images: LEFT RIGHT", NULL);
		o->left = optarg;
		o->right = argv[optind++];
		return -1;
	case OPT_TABLE:
		o->table = true;
		return -1;
	case OPT_FRAMES:
		return take_number("--frames", optarg, 1, &o->frames);
	case OPT_WARM_UP:
		return take_number("--warm-up", optarg, 0, &o->warm_up);
	case OPT_SMS:
		return take_number("--sms", optarg, 1, &o->sms);
	case OPT_ASLEEP:
		o->asleep = true;
		return -1;
	case OPT_TIMELINE:
		o->timeline = optarg;
		return -1;
	case OPT_JSON:
		o->json = true;
		return -1;
	case 'h':
		print_help();
		return 0;
	case OPT_VERSION:
		puts(SX_PROGRAM " " SX_VERSION);
		return 0;
	default:
		return bench_fail(EX_USAGE, "wrong option; try --help", NULL);
	}
}

static int check_options(const struct bench_options *o)
{
	if (o->left && o->size_count)
		return bench_fail(EX_USAGE,
				  "--size and --pair exclude each other: images have their own size", NULL);
	if (o->table && (o->left || o->size_count || o->sms || o->timeline))
		return bench_fail(EX_USAGE,
				  "--table has its own sizes: no --size, --pair, --sms or --timeline", NULL);
	if (o->timeline && o->size_count > 1)
		return bench_fail(EX_USAGE, "--timeline shows one size", NULL);
	return -1;
}

static int parse_options(struct bench_options *o, int argc, char **argv)
{
	static const struct option options[] = {
		{"config", required_argument, NULL, 'c'},
		{"set", required_argument, NULL, 's'},
		{"size", required_argument, NULL, OPT_SIZE},
		{"pair", required_argument, NULL, OPT_PAIR},
		{"table", no_argument, NULL, OPT_TABLE},
		{"frames", required_argument, NULL, OPT_FRAMES},
		{"warm-up", required_argument, NULL, OPT_WARM_UP},
		{"sms", required_argument, NULL, OPT_SMS},
		{"asleep", no_argument, NULL, OPT_ASLEEP},
		{"timeline", required_argument, NULL, OPT_TIMELINE},
		{"json", no_argument, NULL, OPT_JSON},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, OPT_VERSION},
		{0},
	};
	int c, code = -1;

	/* "+": images after --pair are not to be moved behind later options */
	while (code < 0 && (c = getopt_long(argc, argv, "+c:s:h", options, NULL)) != -1)
		code = take_option(o, c, argv);
	if (code < 0 && optind < argc)
		return bench_fail(EX_USAGE, "not an option", argv[optind]);
	return code < 0 ? check_options(o) : code;
}

static int report(struct bench_run *b, const struct bench_result *r)
{
	if (!b->options->json)
		bench_print_text(b, r, stdout);
	else if (bench_print_json(b, r, stdout) < 0)
		return bench_fail(EX_SOFTWARE, "cannot print the result", NULL);
	return fflush(stdout) == 0 ? 0 : bench_fail(EX_SOFTWARE, "cannot print the result", strerror(errno));
}

static int run_one(const struct bench_options *o, const struct bench_case *c)
{
	struct bench_run b = {0};
	struct bench_result r = {0};
	int code = bench_run_open(&b, o, c);

	if (!code && bench_result_init(&r, o->frames) < 0)
		code = bench_fail(EX_SOFTWARE, "out of memory", NULL);
	if (!code)
		code = bench_run_measure(&b, &r);
	if (!code)
		code = report(&b, &r);
	if (!code && o->timeline)
		code = bench_timeline(&b, o->json ? NULL : stdout);
	bench_result_finish(&r);
	bench_run_close(&b);
	if (code == BENCH_SKIPPED)
		return bench_fail(EX_USAGE,
				  "--sms limits a GPU's multiprocessors: only the cuda engine has them",
				  NULL);
	return code;
}

static int run_sizes(const struct bench_options *o)
{
	bool array = o->json && o->size_count > 1;
	int code = 0;

	for (int i = 0; !code && i < (o->size_count ? o->size_count : 1); i++) {
		const struct bench_case c = {
			.width = o->size[i].width, .height = o->size[i].height, .sms = o->sms};

		if (array || i)
			puts(!o->json ? "" : i ? "," : "[");
		code = run_one(o, &c);
	}
	if (array && !code)
		puts("]");
	return code;
}

int main(int argc, char **argv)
{
	struct bench_options o = {.frames = 100, .warm_up = 5};
	int code = parse_options(&o, argc, argv);

	if (code < 0)
		code = o.table ? bench_table(&o) : run_sizes(&o);
	return code;
}
