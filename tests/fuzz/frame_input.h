/*
 * Frames of a fuzzer's making whose sizes, order and checksum agree, so that what reads them gets them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_FUZZ_FRAME_INPUT_H
#define SX_TESTS_FUZZ_FRAME_INPUT_H

#include "include/stixel.h"
#include "tests/fuzz/fuzz.h"

/*
 * One frame, with values of the header, stixels and images as the input has them. Memory of just its size,
 * to be freed; at most some 100 kB.
 */
struct stixel_frame_header *frame_input_make(struct fuzz_input *in, size_t *bytes);
/* That frame_input_break() takes, at most. */
#define FRAME_INPUT_BREAK_BYTES 28
/*
 * Changes up to three words of a frame of so many bytes, sizes and places first of all, and makes its
 * checksum right again where its sizes let it have one: so that only what compares these can refuse it.
 */
void frame_input_break(struct fuzz_input *in, struct stixel_frame_header *frame, size_t bytes);
/* Reads whatever a frame that was found good points to, and checks that its lists agree. */
void frame_input_touch(const struct stixel_frame *frame);

#endif
