/*
 * Planted faults, selected by the word with which an input begins: a reader that trusts a length, one that
 * never ends, one that leaks memory. The check of replays must find each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static bool planted_is(const uint8_t *data, size_t bytes, const char *word)
{
	return bytes >= 3 && memcmp(data, word, 3) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	volatile bool endless = planted_is(data, bytes, "END");
	uint8_t *copy = bytes ? malloc(bytes) : NULL;

	while (endless)
		;
	if (!copy)
		return 0;
	memcpy(copy, data, bytes);
	fuzz_touch(copy, bytes + planted_is(data, bytes, "LEN"));
	if (!planted_is(data, bytes, "LEA"))
		free(copy);
	return 0;
}
