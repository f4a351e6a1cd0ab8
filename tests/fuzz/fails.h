/*
 * Simulates a system whose calls fail. An input may end with the word FAIL and three bytes: the kind of call,
 * the number of the call, counted from 0, and the error. Without this end all calls succeed as usual.
 *
 * Calls are counted only between fails_begin() and fails_end(), and only in the thread that calls these. So
 * calls of the fuzzer itself and of the code around the parser do not fail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_FUZZ_FAILS_H
#define SX_TESTS_FUZZ_FAILS_H

#include "tests/fuzz/fuzz.h"

/*
 * Kinds of failures. Memory: ENOMEM. System: one of several errors. Each target defines the other kinds: what
 * the peer does, what the caller does wrong, and what is wrong with a header.
 */
enum fails_kind { FAILS_MEMORY, FAILS_SYSTEM, FAILS_PEER, FAILS_CALLER, FAILS_HEADER, FAILS_KINDS };

/*
 * Changes the end of the input for LLVMFuzzerCustomMutator(), so that another call fails, or none. kinds:
 * bits 1u << enum fails_kind; one of these kinds is chosen.
 */
size_t fails_mutate(uint8_t *data, size_t bytes, size_t most, unsigned seed, unsigned kinds);
/* Kinds that a target supports. For targets without a mutator (fails_mutator.c). */
extern const unsigned fails_kinds;

/* Returns the input without the end that selects a failure. */
struct fuzz_input fails_input(const uint8_t *data, size_t bytes);
/* True if the input selects this kind. which: 0 to 255. error: error of the system; may be NULL. */
bool fails_is(enum fails_kind kind, unsigned *which, int *error);
void fails_begin(void);
/* Ends the counting. True if a call has failed since fails_begin(). */
bool fails_end(void);
/* True if a call has failed at any time in this input. */
bool fails_done(void);
/* For replacements of calls: true, with errno set, if this call must fail. */
bool fails_now(enum fails_kind kind);

#endif
