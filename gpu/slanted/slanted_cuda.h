/*
 * Slanted stixels of the CUDA engine: the column recurrence. Where columns are few for the multiprocessors,
 * several warps share each. Rules for create, run and destroy:
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
 * height: image rows; columns: how many. in: device address; NULL: no pair has scores. scores: what
 * sx_reduce_cells_cuda_scores() (gpu/stixels/reduce_cells_cuda.h) made of them.
 */
struct sx_slanted_cuda;
int sx_slanted_cuda_create(struct sx_slanted_cuda **ret, struct sx_cuda_memory *m, const struct sx_params *p,
			   int height, int columns, int sms);
void sx_slanted_cuda_destroy(struct sx_slanted_cuda *s);
cudaError_t sx_slanted_cuda_run(const struct sx_slanted_cuda *s, const struct sx_cuda_road *road,
				const struct sx_cuda_scores *in, const struct sx_image *columns,
				const struct sx_image *confidence, const struct sx_image *scores,
				const struct sx_segments *out, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
