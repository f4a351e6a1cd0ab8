/*
 * Inside of the emulated runtime: what the device asks before it works, and what is counted there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_EMULATE_FAULTS_H
#define SX_TESTS_GPU_EMULATE_FAULTS_H

#include "tests/gpu/emulate/device.h"

/* Counts; false when the device is lost, is lost by this, or skips it. Thread: device. */
bool sx_emulate_may_run(const char *kind);
/* The device is lost from now on. Thread: device. */
void sx_emulate_lose(cudaError_t error);
/* what: "... bytes" or "... held", what is there now; or a name to count. */
void sx_emulate_taken(const char *what, long long more);
/* Of calls that give back, which they do in any case, whatever they return in the end: given_. */
cudaError_t sx_emulate_enter_always(const char *function, const void *caller);
#define SX_ENTER_ALWAYS                                                                            \
	const cudaError_t given_ = sx_emulate_enter_always(__func__, __builtin_return_address(0)); \
	const sx_emulate_inside inside_

#endif
