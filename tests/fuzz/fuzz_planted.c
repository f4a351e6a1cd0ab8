/*
 * A fault on purpose: a reader that believes a length. The test of the runner has to see it found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t *copy;

	if (bytes < 3 || memcmp(data, "LN", 2) != 0)
		return 0;
	copy = malloc(bytes);
	memcpy(copy, data, bytes);
	fuzz_touch(copy, copy[2]);
	free(copy);
	return 0;
}
