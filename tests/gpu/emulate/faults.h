/*
 * Internals of the emulated runtime: checks before the device works, and counters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_EMULATE_FAULTS_H
#define SX_TESTS_GPU_EMULATE_FAULTS_H

#include "tests/gpu/emulate/device.h"

/* Counts the work. Returns false if the device is lost, is lost by this work, or skips it. Thread: device. */
bool sx_emulate_may_run(const char *kind);
/* Loses the device from now on. Thread: device. */
void sx_emulate_lose(cudaError_t error);
/* Changes a count. what: "... bytes" or "... held" for a resource in use, or any other name to count. */
void sx_emulate_taken(const char *what, long long more);
/*
 * First line of a function that frees something. Such a function always frees and returns given_ at its end.
 */
cudaError_t sx_emulate_enter_always(const char *function, const void *caller);
#define SX_ENTER_ALWAYS                                                                            \
	const cudaError_t given_ = sx_emulate_enter_always(__func__, __builtin_return_address(0)); \
	const sx_emulate_inside inside_

#endif
