/*
 * stixel-bench: the standard cases. docs/use/peers.md lists what other programs reach on the same work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>
#include <sysexits.h>

#include "tools/bench/bench.h"

/* Same work as the stereo and stixel programs of docs/use/peers.md, which have no speckle filter. */
#define CHAIN "filters.speckle_size=0"
#define DP "stixels.method=dp", "stixels.width=5"
#define RDP_BY_PIXEL "stixels.method=rdp", "stixels.width=1"
/*
 * A case with one of the two matching costs and one of the two aggregations of Chang et al., in the image
 * size that they time.
 */
#define SYSTEM(name, sms, cost, aggregation)                                                           \
	{                                                                                              \
		name, 1280, 384, sms, {CHAIN, "stereo.cost=" cost, "stereo.aggregation=" aggregation}, \
			BENCH_MATCHER                                                                  \
	}

const struct bench_case bench_cases[] = {
	{"chain 1024x440", 1024, 440, 0, {CHAIN}, BENCH_CHAIN},
	{"chain 1024x440", 1024, 440, 16, {CHAIN}, BENCH_CHAIN},
	{"chain 1024x440", 1024, 440, 8, {CHAIN}, BENCH_CHAIN},
	{"chain 2048x1024", 2048, 1024, 16, {CHAIN}, BENCH_CHAIN},
	{"matcher 1280x720, 8 paths", 1280, 720, 0, {CHAIN, "stereo.paths=8"}, BENCH_MATCHER},
	{"stixels by dp, 1024x440", 1024, 440, 16, {CHAIN, DP}, BENCH_SEGMENT},
	{"stixels by rdp, 1242 columns of 1024", 1242, 1024, 8, {CHAIN, RDP_BY_PIXEL}, BENCH_SEGMENT},
	SYSTEM("S1 matcher, zncc and sgm, 1280x384", 0, "zncc", "sgm"),
	SYSTEM("S2 matcher, csct and sgm, 1280x384", 0, "csct", "sgm"),
	SYSTEM("S3 matcher, csct and fastdt, 1280x384", 0, "csct", "fastdt"),
	SYSTEM("S4 matcher, zncc and fastdt, 1280x384", 0, "zncc", "fastdt"),
	SYSTEM("S1 matcher, zncc and sgm, 1280x384", 8, "zncc", "sgm"),
	SYSTEM("S2 matcher, csct and sgm, 1280x384", 8, "csct", "sgm"),
	SYSTEM("S3 matcher, csct and fastdt, 1280x384", 8, "csct", "fastdt"),
	SYSTEM("S4 matcher, zncc and fastdt, 1280x384", 8, "zncc", "fastdt"),
};
const int bench_case_count = sizeof(bench_cases) / sizeof(bench_cases[0]);

static int run_case(const struct bench_options *o, const struct bench_case *c, int *rows)
{
	struct bench_run b = {0};
	struct bench_result r = {0};
	int code = bench_run_open(&b, o, c);

	if (!code && bench_result_init(&r, o->frames) < 0)
		code = bench_fail(EX_SOFTWARE, "out of memory", NULL);
	if (!code)
		code = bench_run_measure(&b, &r);
	if (!code && *rows == 0 && !o->json) {
		printf("engine %s (%s), %d frames a case; chain: pair in host memory to record in host "
		       "memory\n\n",
		       b.engine.backend->name, b.device, r.frames);
		bench_print_row_head(stdout);
	}
	if (!code && o->json) {
		puts(*rows ? "," : "[");
		code = bench_print_json(&b, &r, stdout) < 0 ? EX_SOFTWARE : 0;
	} else if (!code) {
		bench_print_row(&b, &r, stdout);
	}
	*rows += !code;
	bench_result_finish(&r);
	bench_run_close(&b);
	return code;
}

int bench_table(const struct bench_options *o)
{
	int rows = 0, skipped = 0;

	for (int i = 0; i < bench_case_count; i++) {
		int code = run_case(o, &bench_cases[i], &rows);

		if (code != BENCH_SKIPPED && code)
			return code;
		skipped += code == BENCH_SKIPPED;
		fflush(stdout);
	}
	if (o->json)
		puts("]");
	else if (skipped)
		printf("\n%d cases limit a GPU's multiprocessors: only the cuda engine has them\n", skipped);
	return ferror(stdout) ? bench_fail(EX_SOFTWARE, "cannot print the result", strerror(errno)) : 0;
}
