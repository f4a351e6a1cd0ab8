/*
 * Tests run through an emulator of another processor, too (tests/arm64; SX_EMULATED is set there). What such
 * a processor cannot show is left out with its reason, which tools/test repeats: by return and not by skip(),
 * which cmocka before 1.1.6 tells as "not ok".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_EMULATED_H
#define SX_TESTS_EMULATED_H

#include <stdio.h>
#include <stdlib.h>

/* Whether it is so; then it says what is skipped and why. */
#define EMULATED(why) (getenv("SX_EMULATED") && printf("# not with an emulator: %s: %s\n", __func__, why) > 0)

#endif
