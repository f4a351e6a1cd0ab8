/*
 * stixel-bench: measures how long an engine takes with a configuration, stage by stage.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tools/bench/bench.h"

#include <errno.h>
#include <string.h>
#include <sysexits.h>

#include "config/cli/usage.h"
#include "tools/common/args.h"

static bool take_setting(void *target, const char *text, struct sx_why *why)
{
	struct bench_options *o = target;

	if (sx_settings_args_add(&o->args, text))
		return true;
	sx_why_set(why, "was given too often: put settings into a file");
	return false;
}

static bool take_size(void *target, const char *text, struct sx_why *why)
{
	struct bench_options *o = target;

	if (o->size_count == BENCH_SIZES_MAX)
		sx_why_set(why, "may be given %d times", BENCH_SIZES_MAX);
	else if (!sx_parse_size(text, &o->size[o->size_count].width, &o->size[o->size_count].height))
		sx_why_set(why, "needs WIDTHxHEIGHT, such as 1280x720");
	else {
		o->size_count++;
		return true;
	}
	return false;
}

#define TO(field) offsetof(struct bench_options, field)

static const struct sx_usage_option options[] = {
	{"config", 'c', "FILE", SX_USAGE_TEXT, TO(args.file), .offer = SX_OFFER_FILE,
	 .help = "configuration file, as for stixeld"},
	{"set", 's', "SECTION.KEY=VALUE", SX_USAGE_CALL, .take = take_setting, .offer = SX_OFFER_SETTING,
	 .many = true,
	 .help = "override one key, such as engine.backend=reference or stixels.method=rdp; "
		 "may be repeated"},
	{"size", 0, "WxH", SX_USAGE_CALL, .take = take_size, .many = true,
	 .help = "size of the synthetic street; may be repeated, up to 16 times; default: "
		 "source.size, else 1242x375"},
	{"pair", 0, "LEFT RIGHT", SX_USAGE_TWO, TO(images), .offer = SX_OFFER_FILE,
	 .help = "measure with these two images instead of the synthetic street"},
	{"table", 0, NULL, SX_USAGE_FLAG, TO(table),
	 .help = "measure the standard cases, one row per case; cases on a slice of a GPU "
		 "need the cuda engine"},
	{"frames", 0, "N", SX_USAGE_INT, TO(frames), 1, 100000,
	 .help = "number of measured frames, default 100"},
	{"warm-up", 0, "N", SX_USAGE_INT, TO(warm_up), 0, 100000,
	 .help = "number of frames before the measured ones, default 5"},
	{"sms", 0, "N", SX_USAGE_INT, TO(sms), 1, 100000,
	 .help = "use only N multiprocessors of a GPU (CUDA 12.5 or newer), such as 8 to "
		 "imitate an Orin NX"},
	{"asleep", 0, NULL, SX_USAGE_FLAG, TO(asleep),
	 .help = "sleep until a frame is done, as the daemon does; without it, the program "
		 "polls the device, and the chain does not include the time that the system "
		 "takes to wake a process"},
	{"timeline", 0, "FILE", SX_USAGE_TEXT, TO(timeline), .offer = SX_OFFER_FILE,
	 .help = "also run with a capture thread beside the computation, write when each "
		 "frame was captured, submitted, computed and collected (CSV, microseconds), "
		 "and draw some of the frames"},
	{"report", 0, "FILE", SX_USAGE_TEXT, TO(report), .offer = SX_OFFER_FILE,
	 .help = "measure the standard cases, or --size, on every engine, and write board, "
		 "clocks, power and times to FILE"},
	{"board", 0, "NAME", SX_USAGE_CHOICE, TO(board), .words = bench_board_words,
	 .help = "predict the times of the cuda engine on a Jetson from counted instructions "
		 "and bytes, and state the error of such predictions; measures nothing, needs "
		 "no GPU. list: print the boards"},
	{"json", 0, NULL, SX_USAGE_FLAG, TO(json),
	 .help = "print one JSON object; for several sizes and the table an array"},
};

static const struct sx_usage_exit exits[] = {
	{0, "done"},
	{EX_USAGE, "wrong usage"},
	{EX_DATAERR, "an image is not usable"},
	{EX_UNAVAILABLE, "no usable GPU"},
	{EX_SOFTWARE, "the engine failed"},
	{EX_CANTCREAT, "timeline or report cannot be written, or the report's file exists"},
	{EX_CONFIG, "wrong configuration"},
};

static const char *const sections[] = {"preset",  "source", "camera", "stereo", "filters", "road",
				       "stixels", "motion", "engine", "power",	NULL};

static const struct sx_usage usage = {
	.program = SX_PROGRAM,
	.about = "Measures the time of each stage of an engine: median, 99th percentile and "
		 "maximum, in milliseconds. The chain begins with a pair in host memory and "
		 "ends with a record in host memory. The program first computes one frame at "
		 "a time, then keeps as many frames in flight as there are contexts "
		 "(engine.contexts).",
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.own = {.operands = ""},
	.exits = exits,
	.exit_count = sizeof(exits) / sizeof(exits[0]),
	.settings = true,
	.sections = sections,
};

/*
 * Rejects options that would change the cases, because reports must be comparable. Returns -1 if the options
 * are valid, else an exit code.
 */
static int check_report(const struct bench_options *o)
{
	if (o->table || o->images[0] || o->sms || o->timeline || o->asleep || o->json || o->args.file)
		return bench_fail(
			EX_USAGE,
			"--report has its own cases: no --table, --pair, --sms, --timeline, --asleep, "
			"--json or --config",
			NULL);
	return -1;
}

/*
 * Rejects options of a measurement, because --board measures nothing. Returns -1 if the options are valid,
 * else an exit code.
 */
static int check_board(const struct bench_options *o)
{
	if (o->report || o->table || o->images[0] || o->sms || o->timeline || o->asleep || o->frames ||
	    o->warm_up >= 0)
		return bench_fail(
			EX_USAGE,
			"--board predicts and measures nothing: no --report, --table, --pair, --sms, "
			"--timeline, --asleep, --frames or --warm-up",
			NULL);
	return -1;
}

static int check_options(const struct bench_options *o)
{
	if (o->board >= 0)
		return check_board(o);
	if (o->report)
		return check_report(o);
	if (o->images[0] && o->size_count)
		return bench_fail(EX_USAGE,
				  "--size and --pair exclude each other: images have their own size", NULL);
	if (o->table && (o->images[0] || o->size_count || o->sms || o->timeline))
		return bench_fail(EX_USAGE,
				  "--table has its own sizes: no --size, --pair, --sms or --timeline", NULL);
	if (o->timeline && o->size_count > 1)
		return bench_fail(EX_USAGE, "--timeline shows one size", NULL);
	return -1;
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
	struct bench_options o = {.warm_up = -1, .board = -1};
	struct sx_usage_words words;
	int code = sx_usage_parse(&usage, &o, argc, argv, &words);

	if (code < 0)
		code = check_options(&o);
	if (o.frames == 0)
		o.frames = 100;
	if (o.warm_up < 0)
		o.warm_up = 5;
	if (code < 0)
		code = o.board >= 0 ? bench_board(&o)
		       : o.report   ? bench_file(&o)
		       : o.table    ? bench_table(&o)
				    : run_sizes(&o);
	return code;
}
