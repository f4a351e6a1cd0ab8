/*
 * FastDT and its winner on the device. Meaning: stages/stereo/fastdt.h, stages/stereo/winner.h. Used as the stages of stages_cuda.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_FASTDT_FASTDT_CUDA_H
#define SX_GPU_FASTDT_FASTDT_CUDA_H

#include "gpu/stages_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sx_fastdt_cuda;
int sx_fastdt_cuda_create(struct sx_fastdt_cuda **ret, struct sx_cuda_memory *m,
			  const struct sx_context_config *c);
void sx_fastdt_cuda_destroy(struct sx_fastdt_cuda *s);
/* Bytes of device memory read and written per frame, counted from the layout: reported, not used. */
size_t sx_fastdt_cuda_traffic(const struct sx_fastdt_cuda *s);
/* grey[0]: guides. streams: NULL: all on stream. */
cudaError_t sx_fastdt_cuda_run(const struct sx_fastdt_cuda *s, const struct sx_image grey[2],
			       const struct sx_image census[2], const struct sx_image *winner,
			       const struct sx_image *winner_right, const struct sx_image *confidence,
			       const struct sx_sgm_cuda_streams *streams, cudaStream_t stream);
/* S for SX_TAP_SUM (keep_volume), from what the last run left. */
cudaError_t sx_fastdt_cuda_sum(const struct sx_fastdt_cuda *s, const struct sx_image *sum,
			       cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
