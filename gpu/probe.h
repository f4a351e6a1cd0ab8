/*
 * Probe kernel: tests whether the device runs the code of this build.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_PROBE_H
#define SX_GPU_PROBE_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SX_PROBE_WORD 0x53746978u

/* Writes SX_PROBE_WORD to *word. */
cudaError_t sx_probe_cuda_run(uint32_t *word, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
