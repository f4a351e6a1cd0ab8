/*
 * Shared by the fuzz targets: takes the input piece by piece, and makes files of its pieces.
 *
 * A target defines LLVMFuzzerTestOneInput(). As far as possible its actions follow from the input alone. A
 * target reads no files from the disk and leaves none there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_FUZZ_FUZZ_H
#define SX_TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
/*
 * Defined by a target with its own mutator. Writes new bytes to data, at most `most`. Returns their number.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t most, unsigned seed);
/* libFuzzer's own mutator, for these targets. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t most);

/* Remaining input. All bytes after its end are 0. */
struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

/* Takes a number of `bytes` bytes, 1 to 8, least significant byte first. */
uint64_t fuzz_number(struct fuzz_input *in, int bytes);
/* Takes one byte and returns a number from 0 to count - 1. */
unsigned fuzz_choice(struct fuzz_input *in, unsigned count);
/* Copies up to `bytes` bytes and returns their number. The rest of `to` stays as it is. */
size_t fuzz_copy(struct fuzz_input *in, void *to, size_t bytes);
/*
 * Takes a text up to the next zero byte, which is skipped, or to the end. The caller frees it. NULL: no input
 * is left.
 */
char *fuzz_text(struct fuzz_input *in);

/*
 * Returns the path of a file in memory with these bytes. The next call for the same `which`, 0 or 1, replaces
 * the content under the same path.
 */
const char *fuzz_file(int which, const void *data, size_t bytes);
/* Returns a stream that discards its output. */
FILE *fuzz_null(void);
/* Reads the bytes, which may have any value, to check that the memory is readable. */
void fuzz_touch(const void *data, size_t bytes);
/* Prints a message and ends the program, so that the fuzzer keeps the input. */
void fuzz_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
