/*
 * Stamps of the device's clock on their way to the host. A stamp itself is made by sx_cuda_mark()
 * (stages_cuda.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STAMP_H
#define SX_GPU_STAMP_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Copies stamps[0 .. count-2] to host, as the device addresses it, and stamps host[count-1]. count: 1..1024.
 */
cudaError_t sx_stamps_cuda_deliver(const uint64_t *stamps, int count, uint64_t *host, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
