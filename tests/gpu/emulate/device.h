/*
 * Inside of the emulated runtime: what its files share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_TESTS_GPU_EMULATE_DEVICE_H
#define SX_TESTS_GPU_EMULATE_DEVICE_H

#include <functional>

#include <cuda_runtime_api.h>

#include "tests/gpu/emulate/emulate.h"

/*
 * First line of a runtime function: counts the call and returns the error that was ordered for it, or that of
 * a lost device. Thread: any.
 */
cudaError_t sx_emulate_enter(const char *function, const void *caller);
/* The error that the work of this thread's last call was ordered to lose the device with; once. */
cudaError_t sx_emulate_doom(void);
/* While it lives, what the thread does is the runtime's own: emulate.h. */
struct sx_emulate_inside {
	sx_emulate_inside();
	~sx_emulate_inside();
};
/* Remembers an error for cudaGetLastError and returns it; some errors lose the device. */
cudaError_t sx_emulate_error(cudaError_t error);
cudaError_t sx_emulate_lost(void);
#define SX_ENTER                                                                                \
	do {                                                                                    \
		const cudaError_t e_ = sx_emulate_enter(__func__, __builtin_return_address(0)); \
		if (e_ != cudaSuccess)                                                          \
			return e_;                                                              \
	} while (0);                                                                            \
	const sx_emulate_inside inside_

/* Properties by name ("sms", "cc", "integrated", ...), see faults.cc. */
long long sx_emulate_property(const char *name);
/* Shared memory that a block may have when its kernel asks for it. */
size_t sx_emulate_shared_max(void);

/* kind: "kernel", "copy", "set" or "host", counted when it runs. Recorded when the stream captures. */
cudaError_t sx_emulate_enqueue(const char *kind, std::function<void()> run, cudaStream_t stream);
/*
 * Until the stream has done all it was given, as a part of another call: it cannot be made to fail by itself.
 */
cudaError_t sx_emulate_wait(cudaStream_t stream);
/* Waits for what streams have so far, as giving memory back does; counted when there was something. */
void sx_emulate_drain(void);
/* A capture is going on that forbids calls such as cudaMalloc. */
bool sx_emulate_forbidden(void);
bool sx_emulate_capturing(cudaStream_t stream);

#endif
