/*
 * Macros for tests that also run in an emulator of another processor (tests/arm64 sets SX_EMULATED). A test
 * that can show nothing there returns at once and prints a reason, which tools/test repeats. The test is not
 * skipped, because cmocka before 1.1.6 reports a skipped test as "not ok".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_EMULATED_H
#define SX_TESTS_EMULATED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * True if an emulator runs this program. An emulator takes ten times as long, so tests run only some of many
 * similar cases there.
 */
#define IS_EMULATED (getenv("SX_EMULATED") != NULL)
/*
 * True if a GPU has judged exactly the kernels that this program runs on the emulator of a GPU. tools/test
 * sets SX_JUDGED. One case in four then shows that the test and the emulator work; the others would repeat
 * what the GPU has shown.
 */
#define IS_JUDGED (getenv("SX_JUDGED") != NULL)
/*
 * True if this build shows only that another compiler translates the code correctly (tests/toolchains/cell
 * sets SX_FEWER). A part of many similar cases shows that.
 */
#define IS_FEWER (getenv("SX_FEWER") != NULL)
/* True in an emulator, with AddressSanitizer or ThreadSanitizer, and for another compiler. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SLOW true
#else
#define IS_SLOW (IS_EMULATED || IS_FEWER)
#endif
/* Number of cases to run out of n cases that a generator draws: a quarter of them if IS_SLOW. */
#define ENOUGH_OF(n) (IS_SLOW ? ((n) + 3) / 4 : (n))
/*
 * Reason to leave out scene tests: stored hashes (tests/capture/scene) already show that the pictures and
 * their truth are the same.
 */
#define SAME_BYTES "the pictures and their truth have the same bytes there"
/* IS_EMULATED for a test that is left out. Prints the reason if true. */
#define EMULATED(why) (IS_EMULATED && printf("# not with an emulator: %s: %s\n", __func__, why) > 0)
/* IS_SLOW for a test that is left out. Prints the reason if true. */
#define TOO_SLOW(why) \
	(IS_SLOW &&   \
	 printf("# not with %s: %s: %s\n", IS_EMULATED ? "an emulator" : "a slow build", __func__, why) > 0)

#endif
