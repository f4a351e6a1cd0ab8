/*
 * stixel-bench: prints an error sentence.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>

#include "tools/bench/bench.h"
#include "tools/common/progress.h"

int bench_fail(int code, const char *text, const char *detail)
{
	sx_progress_hide();
	fflush(stdout);
	fprintf(stderr, SX_PROGRAM ": %s%s%s\n", text, detail && *detail ? ": " : "", detail ? detail : "");
	return code;
}
