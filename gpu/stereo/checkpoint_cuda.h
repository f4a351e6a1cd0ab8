/*
 * SGM and its winner with little memory and traffic, for devices whose memory is slow: the checkpoint flow.
 *
 * Recomputation instead of memory, and exact. Paths down run once and keep their state every eight rows; from
 * the bottom, band by band, they run again on the chip, the paths up join them, and one byte, the sum of
 * both, is written. Paths to the left likewise keep their state every eight columns; from the left, segment
 * by segment, they run again, and the paths to the right join them with the vertical sum: the sum of all four
 * is never in memory, and the winner is found at once. Costs are formed anew from descriptors in all six runs
 * (gpu/stereo/match.cuh). 2.8 bytes of traffic and 1.3 of memory a cell; stored: 13 and 5. Stages and their
 * bytes are those of sx_sgm_cuda_run() and sx_winner_cuda_run().
 *
 * Diagonals are columns that lean, their paths go down and up like vertical ones. With 8 paths, with other
 * D than 128, and where sums are too large for it, the sum of the horizontal paths is written too, and the
 * winner is found in memory, from a volume for two paths.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_CHECKPOINT_CUDA_H
#define SX_GPU_STEREO_CHECKPOINT_CUDA_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/image.h"
#include "gpu/memory.h"
#include "gpu/stereo/winner_cuda.h"
#include "stages/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * As described in gpu/stages_cuda.h. sms: rows are walked in parts by it. -EINVAL where the flow is not for
 * the settings (sx_predict_checkpoint_refuses() in predict/predict.h): SGM on costs of csct with penalties
 * such that the sum of two paths' costs fits a byte.
 */
struct sx_checkpoint_cuda;
int sx_checkpoint_cuda_create(struct sx_checkpoint_cuda **ret, struct sx_cuda_memory *m,
			      const struct sx_context_config *c, int sms);
void sx_checkpoint_cuda_destroy(struct sx_checkpoint_cuda *s);
/* Bytes of device memory read and written per frame, counted from the layout: reported, not used. */
size_t sx_checkpoint_cuda_traffic(const struct sx_checkpoint_cuda *s);

/* left: grey, read for p2_edge. descriptors: the right ones of sx_descriptors_cuda_take(). */
struct sx_checkpoint_images {
	const struct sx_image *left, *descriptors;
	const struct sx_image *winner, *winner_right, *confidence;
};

/* Everything but the paths to the right, and these and the winner, in this order. */
cudaError_t sx_checkpoint_cuda_paths(const struct sx_checkpoint_cuda *s, const struct sx_checkpoint_images *i,
				     cudaStream_t stream);
cudaError_t sx_checkpoint_cuda_winner(const struct sx_checkpoint_cuda *s,
				      const struct sx_checkpoint_images *i, cudaStream_t stream);

/*
 * Sums of pairs of paths, where they are in memory: with c->keep_volume, or where the winner is found in
 * memory; NULL elsewhere. Belongs to s.
 */
const struct sx_cuda_volumes *sx_checkpoint_cuda_volumes(const struct sx_checkpoint_cuda *s);

#ifdef __cplusplus
}
#endif

#endif
