/*
 * Mutator for targets whose calls may fail. The end of the input that selects a failure is short, but must
 * change often.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/fuzz/fails.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t most, unsigned seed)
{
	return seed % 8 == 0 ? fails_mutate(data, bytes, most, seed >> 3, fails_kinds)
			     : LLVMFuzzerMutate(data, bytes, most);
}
