/*
 * Generates frames from fuzzer input. Sizes, order and checksum agree, so that readers accept the frames.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_FUZZ_FRAME_INPUT_H
#define SX_TESTS_FUZZ_FRAME_INPUT_H

#include "include/stixel.h"
#include "tests/fuzz/fuzz.h"

/*
 * Makes a frame. The input gives the values of the header, stixels and images. The memory has exactly the
 * size of the frame, at most some 100 kB. The caller frees it.
 */
struct stixel_frame_header *frame_input_make(struct fuzz_input *in, size_t *bytes);
/* Maximum number of bytes that frame_input_break() takes from the input. */
#define FRAME_INPUT_BREAK_BYTES 28
/*
 * Changes up to three words of a frame of `bytes` bytes, mostly sizes and offsets. Then corrects the checksum
 * if the sizes have room for it, so that only checks of sizes and offsets can refuse the frame.
 */
void frame_input_break(struct fuzz_input *in, struct stixel_frame_header *frame, size_t bytes);
/* Reads all data that an accepted frame points to, and checks that its lists agree. */
void frame_input_touch(const struct stixel_frame *frame);

#endif
