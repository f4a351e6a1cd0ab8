/*
 * FastDT and its winner on the device. Meaning: stages/stereo/fastdt.h, stages/stereo/winner.h. Used as the
 * stages of stages_cuda.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_FASTDT_FASTDT_CUDA_H
#define SX_GPU_FASTDT_FASTDT_CUDA_H

#include "gpu/stages_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A frame, in this order: weights, costs into the cost volume (gpu/host/cost.c), passes, winner. gain:
 * anywhere between weights and winner, on another stream, too: it needs the weights alone, and few threads.
 */
struct sx_fastdt_cuda;
/* Of the cost volume: rows of the image, and what batches reach behind the last one. */
size_t sx_fastdt_cuda_cost_bytes(const struct sx_context_config *c);
/* costs: the cost volume, of the caller; passes overwrites it. */
int sx_fastdt_cuda_create(struct sx_fastdt_cuda **ret, struct sx_cuda_memory *m,
			  const struct sx_context_config *c, uint8_t *costs);
void sx_fastdt_cuda_destroy(struct sx_fastdt_cuda *s);
/* Bytes of device memory read and written per frame, counted from the layout: reported, not used. */
size_t sx_fastdt_cuda_traffic(const struct sx_fastdt_cuda *s);

/* Weights of all edges of the left image. */
cudaError_t sx_fastdt_cuda_weights(const struct sx_fastdt_cuda *s, const struct sx_image *grey,
				   cudaStream_t stream);
/* What the largest cost would come to in each pixel, which makes sums comparable. */
cudaError_t sx_fastdt_cuda_gain(const struct sx_fastdt_cuda *s, cudaStream_t stream);
/* To the right, to the left, down. */
cudaError_t sx_fastdt_cuda_passes(const struct sx_fastdt_cuda *s, cudaStream_t stream);
/* Up, and the winner of what it leaves in registers: one kernel. */
cudaError_t sx_fastdt_cuda_winner(const struct sx_fastdt_cuda *s, const struct sx_image *winner,
				  const struct sx_image *winner_right, const struct sx_image *confidence,
				  cudaStream_t stream);
/* S for SX_TAP_SUM (keep_volume), from what the last winner left. */
cudaError_t sx_fastdt_cuda_sum(const struct sx_fastdt_cuda *s, const struct sx_image *sum,
			       cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
