/*
 * Pyramid search on the GPU. Must equal stages/pyramid/pyramid.h byte for byte.
 *
 * A frame runs on two streams. The coarsest scale is walked on the main stream, which leaves most of the
 * device idle. The evidence of all finer scales needs no path, so it runs beside it:
 *
 *   main   halves | coarsest scale: descriptors, costs, paths | per scale: hits, tiles, costs, paths | winner
 *   side          | descriptors and evidence of the finer scales |
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_PYRAMID_PYRAMID_CUDA_H
#define SX_GPU_PYRAMID_PYRAMID_CUDA_H

#include "gpu/memory.h"
#include "stages/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Images of the pair, [0] left, [1] right, and the maps that the winner writes. tiles: SX_TAP_TILES. All are
 * in device memory.
 */
struct sx_pyramid_images {
	const struct sx_image *grey, *descriptor, *tiles;
	const struct sx_image *left, *right, *confidence;
};

struct sx_pyramid_cuda;
/*
 * Takes the memory of a context whose images have this size. c: resolved, with more than one scale. sms:
 * multiprocessors that the context uses. Returns 0 or -ENOMEM; m->error says more.
 */
int sx_pyramid_cuda_create(struct sx_pyramid_cuda **ret, struct sx_cuda_memory *m,
			   const struct sx_context_config *c, int sms);
void sx_pyramid_cuda_destroy(struct sx_pyramid_cuda *s);

/* Halves both images until the coarsest scale. */
cudaError_t sx_pyramid_cuda_halve(const struct sx_pyramid_cuda *s, const struct sx_pyramid_images *i,
				  cudaStream_t stream);
/* Finds the evidence of thin objects on all scales but the coarsest one. Needs the halves. */
cudaError_t sx_pyramid_cuda_evidence(const struct sx_pyramid_cuda *s, const struct sx_pyramid_images *i,
				     cudaStream_t stream);
/* Walks the paths of the coarsest scale. Needs the halves; may run beside the evidence. */
cudaError_t sx_pyramid_cuda_coarsest(const struct sx_pyramid_cuda *s, const struct sx_pyramid_images *i,
				     cudaStream_t stream);
/* Chooses tiles and walks paths from scale to scale. Needs coarsest scale and evidence. */
cudaError_t sx_pyramid_cuda_finer(const struct sx_pyramid_cuda *s, const struct sx_pyramid_images *i,
				  cudaStream_t stream);
/* Finds the winners of scale 0: sx_winner(). */
cudaError_t sx_pyramid_cuda_winner(const struct sx_pyramid_cuda *s, const struct sx_pyramid_images *i,
				   cudaStream_t stream);
/* Writes S in the layout of SX_TAP_SUM. Only with keep_volume, after a frame. */
cudaError_t sx_pyramid_cuda_sum(const struct sx_pyramid_cuda *s, const struct sx_pyramid_images *i,
				const struct sx_image *sum, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
