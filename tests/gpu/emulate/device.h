/*
 * Internals of the emulated runtime, shared by its files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_EMULATE_DEVICE_H
#define SX_TESTS_GPU_EMULATE_DEVICE_H

#include <functional>

#include <cuda_runtime_api.h>

#include "tests/gpu/emulate/emulate.h"

/*
 * First line of a runtime function. Counts the call. Returns the error that a test ordered for it, or the
 * error of a lost device. Thread: any.
 */
cudaError_t sx_emulate_enter(const char *function, const void *caller);
/* Returns, once, the error with which the work of this thread's last call must lose the device. */
cudaError_t sx_emulate_doom(void);
/* While this object exists, the thread acts for the runtime itself: emulate.h. */
struct sx_emulate_inside {
	sx_emulate_inside();
	~sx_emulate_inside();
};
/* Remembers an error for cudaGetLastError and returns it. Some errors lose the device. */
cudaError_t sx_emulate_error(cudaError_t error);
cudaError_t sx_emulate_lost(void);
#define SX_ENTER                                                                                \
	do {                                                                                    \
		const cudaError_t e_ = sx_emulate_enter(__func__, __builtin_return_address(0)); \
		if (e_ != cudaSuccess)                                                          \
			return e_;                                                              \
	} while (0);                                                                            \
	const sx_emulate_inside inside_

/* Returns a property by name ("sms", "cc", "integrated", ...), see faults.cc. */
long long sx_emulate_property(const char *name);
/* Returns the shared memory that a block may have if its kernel asks for it, bytes. */
size_t sx_emulate_shared_max(void);

/*
 * Queues work. kind: "kernel", "copy", "set" or "host", counted when the work runs. If the stream captures,
 * the work is recorded.
 */
cudaError_t sx_emulate_enqueue(const char *kind, std::function<void()> run, cudaStream_t stream);
/*
 * Waits until the stream has done all its work. This wait is a part of another call, so a test cannot order
 * it to fail.
 */
cudaError_t sx_emulate_wait(cudaStream_t stream);
/* Waits for all work queued so far on all streams, as freeing memory does. Counted if there was any work. */
void sx_emulate_drain(void);
/* Returns true during a capture that forbids calls such as cudaMalloc. */
bool sx_emulate_forbidden(void);
bool sx_emulate_capturing(cudaStream_t stream);

#endif
