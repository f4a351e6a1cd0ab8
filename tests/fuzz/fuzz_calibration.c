/*
 * Fuzz target for calibration files. The input up to its first zero byte is a calibration file. The rest is
 * the second file of a pair, and the values of the configuration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/calibration/calibration.h"
#include "tests/fuzz/fuzz.h"

static void check(const struct sx_calibration *c)
{
	const double values[] = {c->fx, c->fy, c->cx, c->cy, c->baseline_m};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (!isfinite(values[i]))
			fuzz_fail("value %zu is %g", i, values[i]);
	if (c->fx <= 0 || c->fy <= 0 || c->baseline_m < 0 || c->width < 0 || c->height < 0)
		fuzz_fail("fx %g fy %g baseline %g size %dx%d", c->fx, c->fy, c->baseline_m, c->width,
			  c->height);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_input in = {data, bytes};
	char *first = fuzz_text(&in), *second = fuzz_text(&in), path[96];
	struct sx_why why;
	const unsigned bits = (unsigned)fuzz_number(&in, 1);
	struct sx_calibration_wish wish = {
		.rectify = {.choice = bits % 3,
			    .alpha = (double)fuzz_number(&in, 1) / 255.0,
			    .width = bits & 4 ? (int)fuzz_number(&in, 2) : 0,
			    .height = bits & 4 ? (int)fuzz_number(&in, 2) : 0},
		.width = bits & 8    ? (int)fuzz_number(&in, 2)
			 : bits & 16 ? 64
				     : 0,
		.height = bits & 8    ? (int)fuzz_number(&in, 2)
			  : bits & 16 ? 48
				      : 0,
		.baseline_m = bits & 32 ? 0.5 : 0,
		.baseline_overrides = (bits & 96) == 96,
		.images = bits & 128 ? SX_PAIR_GREY : SX_PAIR_UNKNOWN,
	};
	struct sx_calibration c = {0};
	int r;

	if (first) {
		snprintf(path, sizeof(path), "%s%s%s", fuzz_file(0, first, strlen(first)),
			 second && *second ? "," : "",
			 second && *second ? fuzz_file(1, second, strlen(second)) : "");
		r = sx_calibration_read(&c, path, &wish, &why);
		if (r >= 0)
			check(&c);
	}
	free(first);
	free(second);
	return 0;
}
