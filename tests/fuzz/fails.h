/*
 * The system that fails: an input may end with the word FAIL and three bytes: which kind of call it is, which
 * of them, counted from 0, and with which error. Without that, all calls are answered as ever.
 *
 * Calls are counted between fails_begin() and fails_end() alone, and in the thread that calls these: the
 * fuzzer itself and what is around the parser go on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_FUZZ_FAILS_H
#define SX_TESTS_FUZZ_FAILS_H

#include "tests/fuzz/fuzz.h"

/*
 * Memory: with ENOMEM. The system: with one of some errors. Of the others a target says itself what they are:
 * who plays the other end, who asks, and what is wrong with a header.
 */
enum fails_kind { FAILS_MEMORY, FAILS_SYSTEM, FAILS_PEER, FAILS_CALLER, FAILS_HEADER, FAILS_KINDS };

/*
 * Of LLVMFuzzerCustomMutator(): another end of the input, so that something else fails, or nothing. kinds:
 * bits 1u << enum fails_kind, of which one is taken.
 */
size_t fails_mutate(uint8_t *data, size_t bytes, size_t most, unsigned seed, unsigned kinds);
/* What the target knows of these, which has no mutator of its own (fails_mutator.c). */
extern const unsigned fails_kinds;

/* The input without what says that something fails. */
struct fuzz_input fails_input(const uint8_t *data, size_t bytes);
/* True when it is this kind; which: 0 to 255. error: of the system; may be NULL. */
bool fails_is(enum fails_kind kind, unsigned *which, int *error);
void fails_begin(void);
/* True: a call has failed since fails_begin(). */
bool fails_end(void);
/* Or before, of this input. */
bool fails_done(void);
/* For what is linked in place of a call: true, with errno, when this one fails. */
bool fails_now(enum fails_kind kind);

#endif
