/*
 * Rectification on the GPU, as gpu/stages_cuda.h has it for the other stages.
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

/* c->rectify is set. Maps are uploaded. */
int sx_rectify_cuda_create(struct sx_rectify_cuda **ret, struct sx_cuda_memory *m,
			   const struct sx_context_config *c);
void sx_rectify_cuda_destroy(struct sx_rectify_cuda *s);
/*
 * Raw pixels where they lie to rectified grey levels, both images in one launch. raw, range: of a Y16 pair,
 * whose pixels have been kept and whose range is known; read for no other format.
 */
cudaError_t sx_rectify_cuda_run(const struct sx_rectify_cuda *s, enum sx_pixel pixel,
				const struct sx_cuda_input *in, const struct sx_image raw[2],
				const struct sx_stretch_range *range, const struct sx_image grey[2],
				cudaStream_t stream);
/* sx_views_hide() of the left winner; launches nothing where both cameras see everything. */
cudaError_t sx_rectify_cuda_hide(const struct sx_rectify_cuda *s, const struct sx_image *winner,
				 cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
