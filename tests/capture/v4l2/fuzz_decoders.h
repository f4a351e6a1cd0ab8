/*
 * Decoders without threads, for the fuzz target of cameras.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_CAPTURE_V4L2_FUZZ_DECODERS_H
#define SX_TESTS_CAPTURE_V4L2_FUZZ_DECODERS_H

#include "capture/decoders.h"

/* Runs `count` of the waiting tasks, oldest first. INT_MAX runs all. */
void fuzz_decode(int count);

#endif
