/*
 * Fuzz target for files with the time stamps of recorded images. The first byte selects the format, the rest is the
 * file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "capture/recorded_times.h"
#include "tests/fuzz/fuzz.h"

static void check(const struct sx_recorded_times *t, enum sx_times_format format)
{
	const bool named = format == SX_TIMES_CSV || format == SX_TIMES_NAMED;

	for (size_t i = 0; i < t->count; i++) {
		const struct sx_recorded_time *one = &t->image[i];

		if (one->ns < 0 || (i && one->ns <= t->image[i - 1].ns))
			fuzz_fail("time %zu is %lld ns", i, (long long)one->ns);
		if (named != (one->name != NULL))
			fuzz_fail("image %zu has %s name", i, named ? "no" : "a");
		if (named && (!*one->name || strchr(one->name, '/') || !strcmp(one->name, ".") ||
			      !strcmp(one->name, "..")))
			fuzz_fail("image %zu has the name '%s'", i, one->name);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct fuzz_input in = {data, bytes};
	const enum sx_times_format format = fuzz_choice(&in, SX_TIMES_DATES + 1);
	struct sx_recorded_times t = {0};
	struct sx_why why = {""};
	const int r = sx_recorded_times_read(&t, fuzz_file(0, in.at, in.left), format, &why);

	if (r != 0 && r != -EBADMSG)
		fuzz_fail("%d: %s", r, why.text);
	if (r != 0 && (sx_why_is_empty(&why) || t.count))
		fuzz_fail("no sentence, or images after an error");
	check(&t, format);
	sx_recorded_times_finish(&t);
	return 0;
}
