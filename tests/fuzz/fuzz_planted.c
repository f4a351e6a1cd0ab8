/*
 * Faults on purpose: a reader that believes a length, and one that never ends. The check of the runner has to
 * see them found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	volatile bool endless = bytes >= 3 && memcmp(data, "END", 3) == 0;
	uint8_t *copy;

	while (endless)
		;
	if (bytes < 3 || memcmp(data, "LN", 2) != 0)
		return 0;
	copy = malloc(bytes);
	memcpy(copy, data, bytes);
	fuzz_touch(copy, copy[2]);
	free(copy);
	return 0;
}
