/*
 * Slanted stixels of the CUDA engine: the column recurrence. If there are few columns for the
 * multiprocessors, several warps share each column. create, run and destroy follow the rules of
 * gpu/stages_cuda.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_SLANTED_SLANTED_CUDA_H
#define SX_GPU_SLANTED_SLANTED_CUDA_H

#include "gpu/stages_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Slanted stixels. height: rows of the image. columns: number of columns. in: device address; NULL if pairs
 * never have scores. scores: output of sx_reduce_cells_cuda_scores() (gpu/stixels/reduce_cells_cuda.h).
 * sx_slanted_cuda_set_road() comes before each sx_slanted_cuda_run(). It needs the road alone, so that it can run
 * on the stream that finds the road.
 */
struct sx_slanted_cuda;
int sx_slanted_cuda_create(struct sx_slanted_cuda **ret, struct sx_cuda_memory *m, const struct sx_params *p,
			   int height, int columns, int sms);
void sx_slanted_cuda_destroy(struct sx_slanted_cuda *s);
cudaError_t sx_slanted_cuda_set_road(const struct sx_slanted_cuda *s, const struct sx_cuda_road *road,
				     const struct sx_cuda_scores *in, cudaStream_t stream);
cudaError_t sx_slanted_cuda_run(const struct sx_slanted_cuda *s, const struct sx_image *columns,
				const struct sx_image *confidence, const struct sx_image *scores,
				const struct sx_segments *out, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
