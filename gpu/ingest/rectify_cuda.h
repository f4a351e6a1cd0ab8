/*
 * Rectification on the GPU. It follows the rules of gpu/stages_cuda.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_INGEST_RECTIFY_CUDA_H
#define SX_GPU_INGEST_RECTIFY_CUDA_H

#include <cuda_runtime_api.h>

#include "gpu/frame.h"
#include "gpu/memory.h"
#include "stages/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sx_rectify_cuda;
struct sx_stretch_range; /* gpu/ingest/stretch.cuh */

/* Creates the stage and uploads the maps. c->rectify must be set. */
int sx_rectify_cuda_create(struct sx_rectify_cuda **ret, struct sx_cuda_memory *m,
			   const struct sx_context_config *c);
void sx_rectify_cuda_destroy(struct sx_rectify_cuda *s);
/*
 * Rectifies raw pixels, read in place, to grey levels; both images in one launch. raw, range: pixels and
 * range of a Y16 pair, which must be complete. They are read only for Y16.
 */
cudaError_t sx_rectify_cuda_run(const struct sx_rectify_cuda *s, enum sx_pixel pixel,
				const struct sx_cuda_input *in, const struct sx_image raw[2],
				const struct sx_stretch_range *range, const struct sx_image grey[2],
				cudaStream_t stream);
/* Runs sx_views_hide() on the left winner. Launches nothing if both cameras see everything. */
cudaError_t sx_rectify_cuda_hide(const struct sx_rectify_cuda *s, const struct sx_image *winner,
				 cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
