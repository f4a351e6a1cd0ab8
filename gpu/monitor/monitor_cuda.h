/*
 * What a pair says about its cameras, on the GPU: sx_monitor() (stages/monitor/monitor.h). Conventions are
 * those of gpu/stages_cuda.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_MONITOR_CUDA_H
#define SX_GPU_STEREO_MONITOR_CUDA_H

#include "gpu/memory.h"
#include "stages/monitor/monitor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Words of device memory, zero between frames: the sums of one, and how many blocks have added to them. */
#define SX_MONITOR_CUDA_WORDS 16
uint32_t *sx_monitor_cuda_take(struct sx_cuda_memory *m);
/*
 * In two launches, in this order: votes and samples of the images, which need the checked map alone; then all
 * that is counted of finished map and columns, after which *out is complete. out: as the device addresses it;
 * may be pinned memory of the host. in: images of the device.
 */
cudaError_t sx_monitor_cuda_votes(uint32_t *words, const struct sx_monitor_input *in, struct sx_monitor *out,
				  cudaStream_t stream);
cudaError_t sx_monitor_cuda_counts(uint32_t *words, const struct sx_monitor_input *in, struct sx_monitor *out,
				   cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
