/*
 * What the fuzz targets share: the input taken piece by piece, and its pieces as files.
 *
 * A target is a LLVMFuzzerTestOneInput() of its own. What it does follows from the input alone as far as
 * it can; it takes nothing from the disk and leaves nothing there.
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
/* Of a target with changes of its own: new bytes in data, of most; how many. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t most, unsigned seed);
/* libFuzzer's changes, for these. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t most);

/* What was not taken yet. Behind the end all is 0. */
struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

/* The next number of so many bytes, 1 to 8, the lowest first. */
uint64_t fuzz_number(struct fuzz_input *in, int bytes);
/* One of 0 .. count - 1, of one byte. */
unsigned fuzz_choice(struct fuzz_input *in, unsigned count);
/* Copies as many as there are; the rest of to stays as it is. How many. */
size_t fuzz_copy(struct fuzz_input *in, void *to, size_t bytes);
/*
 * Up to the next zero byte, which is passed over, or the end: text of its own, to be freed. NULL: nothing
 * is left.
 */
char *fuzz_text(struct fuzz_input *in);

/*
 * Path of a file in memory with these bytes; the same path, and other bytes, at the next call for it.
 * which: 0 or 1
 */
const char *fuzz_file(int which, const void *data, size_t bytes);
/* What takes all that is printed. */
FILE *fuzz_null(void);
/* What may be anything, but must be memory that can be read. */
void fuzz_touch(const void *data, size_t bytes);
/* Ends the program, so that the input is kept, with a sentence. */
void fuzz_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
