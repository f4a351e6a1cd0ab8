/*
 * Arguments of the kernels of gpu/stereo/sgm_recompute.cu.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SX_GPU_STEREO_SGM_RECOMPUTE_CUH
#define SX_GPU_STEREO_SGM_RECOMPUTE_CUH

#include "gpu/stereo/checkpoint.cuh"

/* Arguments. w: only descriptors, sizes, penalties and the P2 table are read. path: see struct aggregate. */
struct sx_recompute_work {
	struct sx_checkpoint_work w;
	uint8_t *path;
	size_t path_bytes;
	int paths;	 /* 2 or 4 */
	int along, down; /* blocks of a horizontal and of a vertical direction; prepare sets them */
};

/* prepare: call once, before a run with the same c is captured. */
cudaError_t sx_recompute_prepare(struct sx_recompute_work *c, int disparities);
cudaError_t sx_recompute_run(const struct sx_recompute_work *c, int disparities, cudaStream_t stream);

#endif
