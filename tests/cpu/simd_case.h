/*
 * Engines under test, opened with each kind of vectors that this machine has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_CPU_SIMD_CASE_H
#define SX_TESTS_CPU_SIMD_CASE_H

#include <stdbool.h>

#include "stages/engine.h"

#define SIMD_COUNT 5
/* All kinds of vectors, by their names in SX_SIMD. */
extern const char *const simd_names[SIMD_COUNT];
/* The kinds of this machine, after find_simds(). */
extern const char *simds[SIMD_COUNT];
extern int simd_count;

struct run {
	const struct sx_backend *backend;
	struct sx_device *device;
	struct sx_context *context;
};

/*
 * Opens an engine. simd: kind of vectors; NULL: the engine chooses. Returns false if the machine does not have
 * these vectors. Any other error fails the test.
 */
bool run_open(struct run *r, const struct sx_backend *backend, const char *simd, int threads);
/* Fills simds. For the setup of a group of tests: returns 0, or -1 if the machine has no kind. */
int find_simds(void **state);

#endif
