/*
 * FastDT and its winner on the device. stages/stereo/fastdt.h and stages/stereo/winner.h define the results.
 * The functions follow the rules of stages_cuda.h.
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
 * FastDT on the device. A frame runs weights, costs into the cost volume (gpu/host/cost.c), passes and
 * winner, in this order. gain may run at any time between weights and winner, also on another stream: it
 * reads only the weights and has few threads.
 */
struct sx_fastdt_cuda;
/* Returns the bytes of the cost volume: all rows of the image, and the rest of the last batch after them. */
size_t sx_fastdt_cuda_cost_bytes(const struct sx_context_config *c);
/* Creates the stage. costs: the cost volume, which belongs to the caller. passes overwrites it. */
int sx_fastdt_cuda_create(struct sx_fastdt_cuda **ret, struct sx_cuda_memory *m,
			  const struct sx_context_config *c, uint8_t *costs);
void sx_fastdt_cuda_destroy(struct sx_fastdt_cuda *s);
/*
 * Returns the bytes of device memory read and written per frame, computed from the layout. The figure is only
 * reported.
 */
size_t sx_fastdt_cuda_traffic(const struct sx_fastdt_cuda *s);

/* Computes the weights of all edges of the left image. */
cudaError_t sx_fastdt_cuda_weights(const struct sx_fastdt_cuda *s, const struct sx_image *grey,
				   cudaStream_t stream);
/* Computes what the largest cost would sum up to in each pixel. Dividing by it makes sums comparable. */
cudaError_t sx_fastdt_cuda_gain(const struct sx_fastdt_cuda *s, cudaStream_t stream);
/* Runs the passes to the right, to the left and down. */
cudaError_t sx_fastdt_cuda_passes(const struct sx_fastdt_cuda *s, cudaStream_t stream);
/* Runs the pass up and finds the winner from its sums, which are in registers: one kernel. */
cudaError_t sx_fastdt_cuda_winner(const struct sx_fastdt_cuda *s, const struct sx_image *winner,
				  const struct sx_image *winner_right, const struct sx_image *confidence,
				  cudaStream_t stream);
/* Writes S for SX_TAP_SUM (keep_volume) from the volume that the last winner left. */
cudaError_t sx_fastdt_cuda_sum(const struct sx_fastdt_cuda *s, const struct sx_image *sum,
			       cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
