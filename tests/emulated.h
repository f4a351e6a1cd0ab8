/*
 * Tests run through an emulator of another processor, too (tests/arm64; SX_EMULATED is set there). What such
 * a processor cannot show returns at once, with a reason that tools/test repeats. It is not skipped: cmocka
 * before 1.1.6 calls that "not ok".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_EMULATED_H
#define SX_TESTS_EMULATED_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Whether an emulator runs this, which takes ten times as long: of many cases alike some are enough there. */
#define IS_EMULATED (getenv("SX_EMULATED") != NULL)
/* So many of n cases that differ by what a generator drew. */
#define ENOUGH_OF(n) (IS_EMULATED ? ((n) + 3) / 4 : (n))
/* The same, or a sanitizer does. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SLOW true
#else
#define IS_SLOW IS_EMULATED
#endif
/* Pictures of scenes and their truth have stored hashes (tests/capture/scene), so what they show is the same. */
#define SAME_BYTES "the pictures and their truth have the same bytes there"
/* IS_EMULATED for what is skipped; then it says so, and why. */
#define EMULATED(why) (IS_EMULATED && printf("# not with an emulator: %s: %s\n", __func__, why) > 0)

#endif
