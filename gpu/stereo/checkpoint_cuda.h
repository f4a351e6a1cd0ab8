/*
 * The checkpoint flow: SGM and its winner with little memory and traffic, for devices with slow memory.
 *
 * It recomputes instead of storing, and its result is exact. Paths down run once and keep their state every
 * eight rows. Then they run again on the chip, band by band from the bottom; the paths up join them, and one
 * byte, the sum of both, is written. Paths to the left also keep their state every eight columns. Then they
 * run again, segment by segment from the left; the paths to the right join them together with the vertical
 * sum. So the sum of all four paths is never in memory, and the winner is found at once. All six runs
 * recompute costs from descriptors (gpu/stereo/match.cuh). Traffic is 2.8 bytes a cell and memory 1.3 bytes a
 * cell; the stored flow has 13 and 5. Stages and their bytes are the same as with
 * sx_sgm_cuda_run() and sx_winner_cuda_run().
 *
 * Diagonal paths are columns with a skew; they go down and up like vertical paths. With 8 paths, with D other
 * than 128, and if sums are too large for one byte, the sum of the horizontal paths is written too. The
 * winner is then found in memory, from a volume for two paths.
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
 * The checkpoint flow, see gpu/stages_cuda.h. sms: decides into how many parts rows are split. Returns
 * -EINVAL if the flow does not support the settings (sx_predict_checkpoint_refuses() in predict/predict.h).
 * It supports SGM on csct costs, if the sum of two paths' costs fits a byte.
 */
struct sx_checkpoint_cuda;
int sx_checkpoint_cuda_create(struct sx_checkpoint_cuda **ret, struct sx_cuda_memory *m,
			      const struct sx_context_config *c, int sms);
void sx_checkpoint_cuda_destroy(struct sx_checkpoint_cuda *s);
/*
 * Returns the bytes of device memory read and written per frame, computed from the layout. The figure is only
 * reported.
 */
size_t sx_checkpoint_cuda_traffic(const struct sx_checkpoint_cuda *s);

/*
 * Images of the flow. left: grey image, read for p2_edge. descriptors: of both images, the right ones in
 * memory of sx_descriptors_cuda_take().
 */
struct sx_checkpoint_images {
	const struct sx_image *left, *descriptors;
	const struct sx_image *winner, *winner_right, *confidence;
};

/*
 * paths runs all paths except the paths to the right. winner runs these and finds the winner. Call them in
 * this order.
 */
cudaError_t sx_checkpoint_cuda_paths(const struct sx_checkpoint_cuda *s, const struct sx_checkpoint_images *i,
				     cudaStream_t stream);
cudaError_t sx_checkpoint_cuda_winner(const struct sx_checkpoint_cuda *s,
				      const struct sx_checkpoint_images *i, cudaStream_t stream);

/*
 * Returns the sums of pairs of paths. They are in memory with c->keep_volume or if the winner is found in
 * memory; else returns NULL. The result belongs to s.
 */
const struct sx_cuda_volumes *sx_checkpoint_cuda_volumes(const struct sx_checkpoint_cuda *s);

#ifdef __cplusplus
}
#endif

#endif
