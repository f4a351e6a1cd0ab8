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

/*
 * How costs of ZNCC come to the pass to the right, with the same bytes; chosen: by gpu/fastdt/fastdt_zncc.cu. Float knows one way: fused.
 * The others know separate alone where A may be above 255 (sigma_space above 5.5).
 */
enum sx_fastdt_costs {
	SX_FASTDT_COSTS_CHOSEN,
	SX_FASTDT_COSTS_SEPARATE, /* through a volume */
	SX_FASTDT_COSTS_FUSED	  /* made by the pass */
};
struct sx_fastdt_cuda;
int sx_fastdt_cuda_create(struct sx_fastdt_cuda **ret, struct sx_cuda_memory *m,
			  const struct sx_context_config *c, enum sx_fastdt_costs costs, int sms);
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
