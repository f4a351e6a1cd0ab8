/*
 * Delivers stamps of the device's clock to the host. sx_cuda_mark() (stages_cuda.h) takes a stamp.
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
 * Copies stamps[0 .. count-2] to host, a device address, and writes the current time to host[count-1]. count:
 * 1..1024.
 */
cudaError_t sx_stamps_cuda_deliver(const uint64_t *stamps, int count, uint64_t *host, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
